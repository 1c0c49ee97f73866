"""The parts of an element that a splittable function is called for, and what is left of them."""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
from apache_beam.utils.timestamp import Duration, Timestamp

from beamlike.runners.beam.sdk import windowed_value
from beamlike.runners.beam.windows import pane_from_beam, pane_to_beam


@attrs.frozen
class Rest:
    """What is left of an element, in plain values.

    Args:
        value: Its value.
        restriction: The part of it that is left.
        estimator: The state of the watermark estimator.
        micros: Its timestamp (us).
        windows: Its windows.
        pane: Its pane.
        sides: The contents of its side inputs, as they were when it came.
    """

    value: Any
    restriction: Any
    estimator: Any
    micros: int
    windows: tuple[Any, ...]
    pane: Any
    sides: Sequence[Sequence[Any]] = ()

    @property
    def sized(self) -> Any:
        """What Beam's operation takes."""
        value = (self.value, (self.restriction, self.estimator)), 1.0
        return windowed_value(value, self.micros, [*self.windows], pane_to_beam(self.pane))

    def left_by(self, residual: Any) -> "Rest":
        """What a call for this part has left."""
        windowed = residual.residual_value
        (value, (restriction, estimator)), _ = windowed.value
        pane = pane_from_beam(windowed.pane_info)
        micros = windowed.timestamp_micros
        windows = tuple(windowed.windows)
        return Rest(value, restriction, estimator, micros, windows, pane, self.sides)


def delay_ms(residual: Any) -> int:
    """How long a function wants to wait before it is called for the rest (ms)."""
    due = residual.deferred_timestamp
    if due is None:
        return 0
    if isinstance(due, Timestamp):
        due = due - Timestamp.now()
    return max(0, int(Duration.of(due).micros // 1_000))


@attrs.frozen
class Restrictions:
    """What a splittable function says of the parts of an element."""

    signature: Any
    is_drain: bool

    def parts(self, windowed: Any, sides: Sequence[Sequence[Any]] = ()) -> Iterator[Rest]:
        """The parts of an element before anything of it is done."""
        provider = self.signature.get_restriction_provider()
        estimators = self.signature.get_watermark_estimator_provider()
        value, pane = windowed.value, pane_from_beam(windowed.pane_info)
        place = windowed.timestamp_micros, tuple(windowed.windows), pane
        for part in provider.split(value, provider.initial_restriction(value)):
            state = estimators.initial_estimator_state(value, part)
            yield Rest(value, part, state, *place, sides)

    def left(self, rest: Rest) -> Rest | None:
        """What is to be done of a part now; None: nothing."""
        if not self.is_drain:
            return rest
        part = self.signature.get_restriction_provider().truncate(rest.value, rest.restriction)
        if part is None:
            return None
        return attrs.evolve(rest, restriction=getattr(part, "restriction", part))
