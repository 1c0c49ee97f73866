"""What all dialects share in memory: their rows, checks of what users pass, and one grouping.

A row has bounds and timestamps as its system shows them. An `ElementwiseGrouping` is the machine,
with its watermark where the dialect says.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
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
from beamlike.runtime.script import Arrive, Output, Run, ScriptStep
from beamlike.safe_text import USER_RAISED, problem_of


def check_kind(argument: str, given: object, kind: type | tuple[type, ...], example: str) -> None:
    """Raise a `WindowingError`, with the example, for what is of none of these kinds."""
    if not isinstance(given, kind):
        raise WindowingError(f"{argument} must be such as {example}, got {given!r}")


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
    argument: str, given: Any, takes: str, error: type[BeamlikeError] = CombineError
) -> None:
    """Raise an error of that class, with what the function is of, for what cannot be called."""
    if not callable(given):
        raise error(f"{argument} must be a function of {takes}, got {given!r}")


def check_combine(argument: str, given: object) -> None:
    """Raise a `CombineError` for what is not a combine function."""
    if not isinstance(given, CombineFn):
        hint = f"; write {given.__name__}()" if isinstance(given, type) else ""
        raise CombineError(
            f"{argument} must be a combine function such as Sum(), got {given!r}{hint}"
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


@attrs.frozen
class SavedGrouping:
    """The state of a stage: of every key, and of its clocks (ms)."""

    states: Mapping[Hashable, KeyState]
    watermark: int
    clock: int


class ElementwiseGrouping:
    """One grouping that takes elements one by one.

    The other systems ask their triggers after every element. So each element is a bundle of its
    own here.
    """

    def __init__(self, strategy: WindowingStrategy, combine: CombineFn) -> None:
        self.strategy = strategy
        self.combine = combine
        self._grouping = Grouping(strategy, combine)
        self._stage = MemoryStage(self._grouping)

    @property
    def watermark(self) -> int:
        """The input watermark (ms)."""
        return self._stage.watermark

    @property
    def run(self) -> Run:
        """The whole script so far, and the panes and drops that came of it."""
        return self._stage.run

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
        given = (None,) if windows is None else windows
        return self._play(Arrive(tuple((key, Element(value, timestamp, it)) for it in given)))

    def advance(self, watermark: int) -> tuple[Output, ...]:
        """What comes out because of a watermark (ms). One that is not news changes nothing."""
        to = min(max(watermark, MIN_TIMESTAMP), MAX_TIMESTAMP)
        if to <= self._stage.watermark:
            return ()
        return self._play(AdvanceWatermark(to))

    def advance_clock(self, clock: int) -> tuple[Output, ...]:
        """What comes out because processing time becomes so much (ms)."""
        return self._play(AdvanceClock(clock)) if clock > self._stage.clock else ()

    def saved(self) -> SavedGrouping:
        """The whole state, without its history."""
        return SavedGrouping(self._stage.states, self._stage.watermark, self._stage.clock)

    def resume(self, saved: SavedGrouping) -> None:
        """Go on from there."""
        self._stage = MemoryStage(
            Grouping(self.strategy, self.combine), saved.states, saved.watermark, saved.clock
        )

    def due(self) -> NextTimers:
        """When something happens next although no element comes, to any key."""
        timers = [self._grouping.next_timers(state) for state in self._stage.states.values()]
        return NextTimers(
            min((timer.event for timer in timers if timer.event is not None), default=None),
            min((timer.clock for timer in timers if timer.clock is not None), default=None),
        )

    def windows(self) -> Iterator[tuple[Any, Window, WindowState]]:
        """Every key with every open window and its state."""
        for key, state in self._stage.states.items():
            for window in sorted(state.windows, key=bounds):
                yield key, window, state.windows[window]

    def _play(self, step: ScriptStep) -> tuple[Output, ...]:
        return self._stage.play(step)


class DialectRun:
    """A dialect in memory: one grouping, fed as the test harness of its system is."""

    def __init__(self, strategy: WindowingStrategy, combine: CombineFn) -> None:
        self._stage = ElementwiseGrouping(strategy, combine)

    @property
    def machine_run(self) -> Run:
        """What came in as a script of the machine, and its panes and drops."""
        return self._stage.run
