"""What a trigger of one's own is given: the moment, and the elements that came.

See `beamlike.model.custom_trigger`.
"""

from collections.abc import Iterable
from typing import Any

import attrs

from beamlike.errors import TriggerError
from beamlike.model.readable import Readable
from beamlike.model.windows import Window


@attrs.frozen
class TriggerContext(metaclass=Readable):
    """What a trigger may know when it is asked, besides what it keeps.

    Args:
        window: The window; of windows that merge the merged one.
        watermark: The input watermark (ms).
        clock: Processing time (ms).

    >>> from beamlike.model.windows import IntervalWindow
    >>> TriggerContext(IntervalWindow(0, 10), watermark=10, clock=0).end_reached
    True
    """

    window: Window
    watermark: int
    clock: int

    @property
    def end_reached(self) -> bool:
        """The watermark is past the window's last instant: at its end, in milliseconds."""
        return self.watermark > self.window.max_timestamp


@attrs.frozen(init=False)
class ArrivedElements(metaclass=Readable):
    """Elements of one bundle that were added to a window, in order of arrival.

    Args:
        count: How many there are.
        timestamps: Their event times (ms), if the trigger looks at them.
        values: Their values, if the trigger looks at them.

    >>> ArrivedElements(2, timestamps=[5, 3]).timestamps
    (5, 3)
    """

    count: int
    _timestamps: tuple[int, ...] | None
    _values: tuple[Any, ...] | None

    def __init__(
        self,
        count: int,
        timestamps: Iterable[int] | None = None,
        values: Iterable[Any] | None = None,
    ) -> None:
        self.__attrs_init__(
            count,
            None if timestamps is None else tuple(timestamps),
            None if values is None else tuple(values),
        )

    @property
    def timestamps(self) -> tuple[int, ...]:
        """The event time (ms) of each.

        Raises:
            TriggerError: The trigger did not ask for them.
        """
        return _asked_for(self._timestamps, "timestamps")

    @property
    def values(self) -> tuple[Any, ...]:
        """The value of each: over a DataFrame that of the columns of ``window_input``.

        Raises:
            TriggerError: The trigger did not ask for them.
        """
        return _asked_for(self._values, "values")


def _asked_for(parts: tuple[Any, ...] | None, name: str) -> tuple[Any, ...]:
    if parts is None:
        raise TriggerError(
            f"the trigger is given no {name} of elements, which may be combined before they "
            f'arrive; write looks_at = "{name}" in its class'
        )
    return parts
