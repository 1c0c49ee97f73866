"""What all dialects share in memory: their rows, checks of what users pass, and one grouping.

A row has bounds and timestamps as its system shows them. An `ElementwiseGrouping` is the machine,
with its watermark where the dialect says.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from types import UnionType
from typing import Any, Literal

import attrs

from beamlike.errors import BeamlikeError, CombineError, UserFunctionError, WindowingError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.state import KeyState, WindowState
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CombineFn
from beamlike.model.fingerprint import stable_repr
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.windows import Window, bounds
from beamlike.runtime.memory import MemoryStage
from beamlike.runtime.script import Arrive, Output, Run
from beamlike.safe_text import USER_RAISED, problem_of


def check_kind(argument: str, value: object, cls: type | UnionType, example: str) -> None:
    """Raise a `WindowingError`, with the example, for what is of none of these kinds."""
    if not isinstance(value, cls):
        raise WindowingError(f"{argument} must be such as {example}, got {value!r}")


def kind_of(
    cls: type | UnionType, example: str, argument: str | None = None
) -> Callable[[object, "attrs.Attribute[Any]", object], None]:
    """What checks a field of attrs as `check_kind` does, by its name or that of an argument."""

    def check(_: object, field: "attrs.Attribute[Any]", value: object) -> None:
        check_kind(argument or field.name, value, cls, example)

    return check


def check_key(key: object) -> None:
    """Raise a `WindowingError` for a key that cannot be hashed."""
    try:
        hash(key)
    except TypeError as cause:
        raise WindowingError(
            f"a key must be a value that can be hashed, got {key!r}; let it be a text, a number, "
            "or a tuple of such"
        ) from cause


def check_function(
    argument: str, value: Any, takes: str, error: type[BeamlikeError] = CombineError
) -> None:
    """Raise an error of that class, with what the function is of, for what cannot be called."""
    if not callable(value):
        raise error(f"{argument} must be a function of {takes}, got {value!r}")


def check_combine(argument: str, value: object) -> None:
    """Raise a `CombineError` for what is not a combine function."""
    if not isinstance(value, CombineFn):
        hint = f"; write {value.__name__}()" if isinstance(value, type) else ""
        raise CombineError(
            f"{argument} must be a combine function such as Sum(), got {value!r}{hint}"
        )


def answer_of(function: Callable[..., Any], *arguments: Any, place: str) -> Any:
    """What a function of the user's returns. What it raises becomes a `UserFunctionError`, which
    says for what it was called."""
    try:
        return function(*arguments)
    except USER_RAISED as cause:
        raise UserFunctionError(stable_repr(function), problem_of(cause), place) from cause


Kind = Literal["value", "tombstone", "retract", "late", "dropped", "watermark"]
"""``value``: a result. ``tombstone``: there is no longer a result of this key and window.
``retract``: the result with this value is withdrawn. ``late``: an element that came too late, where
the program asked for those. ``dropped``: one that got into no result. ``watermark``: one that is
passed on, in ``timestamp``."""

Bounds = tuple[int, int]
"""Start and end of a window (ms), as the system counts the end."""


@attrs.frozen
class Row:
    """One row of a dialect's output.

    ``value`` and ``timestamp`` (ms) are the element's own in rows of the kinds ``late`` and
    ``dropped``. ``window`` is ``"global"`` for a global window that the system shows; it and
    ``timestamp`` are None where the system has none. ``reason`` says why an element was dropped,
    or why a session ended. ``old`` is the result that this one replaces, where it is asked for.
    """

    kind: Kind
    key: Any
    value: Any
    window: Bounds | Literal["global"] | None
    timestamp: int | None
    reason: str | None = None
    old: Any = None


SavedGrouping = tuple[Mapping[Hashable, KeyState], int, int]
"""The state of a stage: of every key, and of its watermark and its clock (ms)."""


class ElementwiseGrouping(MemoryStage):
    """One grouping that takes elements one by one.

    The other systems ask their triggers after every element. So each element is a bundle of its
    own here.
    """

    def __init__(self, strategy: WindowingStrategy, combine: CombineFn) -> None:
        self.strategy, self.combine = strategy, combine
        super().__init__(Grouping(strategy, combine))

    def arrive(
        self,
        key: Hashable,
        value: Any,
        timestamp: int,
        windows: Sequence[Window] | None = None,
    ) -> tuple[Output, ...]:
        """What comes out because of one element.

        Args:
            windows: Those that it comes in; None: the window function assigns.
        """
        check_key(key)
        parts = (None,) if windows is None else windows
        elements = tuple((key, Element(value, timestamp, window)) for window in parts)
        return self.play(Arrive(elements))

    def advance(self, watermark: int) -> tuple[Output, ...]:
        """What comes out because of a watermark (ms). One that is not news changes nothing."""
        to = min(max(watermark, MIN_TIMESTAMP), MAX_TIMESTAMP)
        return self.play(AdvanceWatermark(to)) if to > self.watermark else ()

    def advance_clock(self, clock: int) -> tuple[Output, ...]:
        """What comes out because processing time becomes so much (ms)."""
        return self.play(AdvanceClock(clock)) if clock > self.clock else ()

    def saved(self) -> SavedGrouping:
        """The whole state, without its history."""
        return self.states, self.watermark, self.clock

    def resume(self, saved: SavedGrouping) -> None:
        """Go on from there."""
        super().__init__(self._machine, *saved)

    def due(self) -> NextTimers:
        """When something happens next although no element comes, to any key."""
        timers = [self._machine.next_timers(state) for state in self._states.values()]
        return NextTimers(
            min((timer.event for timer in timers if timer.event is not None), default=None),
            min((timer.clock for timer in timers if timer.clock is not None), default=None),
        )

    def windows(self) -> Iterator[tuple[Any, Window, WindowState]]:
        """Every open window with its key and its state."""
        return (window for key in self._states for window in self.windows_of(key))

    def windows_of(self, key: Hashable) -> Iterator[tuple[Any, Window, WindowState]]:
        """Every open window of a key, with the key and its state."""
        check_key(key)
        windows = self._states[key].windows if key in self._states else {}
        return ((key, window, windows[window]) for window in sorted(windows, key=bounds))


class DialectRun:
    """A dialect in memory: one grouping, fed as the test harness of its system is."""

    def __init__(self, strategy: WindowingStrategy, combine: CombineFn) -> None:
        self._stage = ElementwiseGrouping(strategy, combine)

    @property
    def machine_run(self) -> Run:
        """What came in as a script of the machine, and its panes and drops."""
        return self._stage.run
