"""Windows in the words of Apex Malhar's windowed operator, as far as watermarks and counts go.

    operator = WindowedOperator(
        WindowOption.time_windows("1 second"),
        Sum(),
        TriggerOption.at_watermark().accumulating_fired_panes(),
        allowed_lateness="1 second",
    )
    run = operator.run()
    run.process(2, timestamp=100)
    run.process_watermark(1_001)
    rows = run.end_batch()

Apex looks at watermarks at the end of a batch only. A window is over when its end is before the
watermark, a millisecond later than in the model. An element is dropped if it is itself before the
watermark less the lateness, even if its window is open. A row has the begin of its window as
timestamp, and a watermark that was taken is passed on.

In the model: ``AfterWatermark`` with early and late counts, and a watermark one millisecond less
than Apex's. Elements that Apex drops are dropped before the model sees them.

What Apex does and this does not: it waits with a key's first element in a window that is over, for
the next watermark or for a late firing, where this fires at once; and it begins to count anew
whenever a session grows. A count is of all keys of a window, and refused here where that matters.
Here a count begins anew when the window ends.

Source: Apex Malhar ``AbstractWindowedOperator``, ``KeyedWindowedOperatorImpl``.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import attrs

from beamlike.api.arguments import positive_duration
from beamlike.dialects.apex_words import CoGroup, InnerJoin, TriggerOption, WindowOption
from beamlike.dialects.rows import Kind, Row
from beamlike.dialects.stages import Stage
from beamlike.errors import UnsupportedError, WindowingError
from beamlike.hosts.script import Output, Run
from beamlike.machine.events import Pane
from beamlike.model.combine import CombineFn
from beamlike.model.panes import Timing
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import (
    AccumulationMode,
    LateCheck,
    OnTimeBehavior,
    Unchanged,
    WindowingStrategy,
)
from beamlike.model.time import (
    END_OF_GLOBAL_WINDOW,
    DurationLike,
    InstantLike,
    duration_ms,
    instant_ms,
)
from beamlike.model.triggers import AfterCount, AfterWatermark, Never
from beamlike.model.windows import GlobalWindow, Window

__all__ = [
    "CoGroup",
    "FixedDiffEventTimeWatermarkGen",
    "FixedDiffProcessingTimeWatermarkGen",
    "InnerJoin",
    "OperatorRun",
    "TriggerOption",
    "WindowOption",
    "WindowedOperator",
]


def _fixed_diff(given: DurationLike) -> int:
    return duration_ms(given, "fixed_diff")


@attrs.frozen
class FixedDiffEventTimeWatermarkGen:
    """A watermark that trails the latest element by so much, made at the end of each batch."""

    fixed_diff: int = attrs.field(converter=_fixed_diff)


@attrs.frozen
class FixedDiffProcessingTimeWatermarkGen:
    """A watermark that trails the clock of the batches by so much."""

    fixed_diff: int = attrs.field(converter=_fixed_diff)


WatermarkGenerator = FixedDiffEventTimeWatermarkGen | FixedDiffProcessingTimeWatermarkGen


@attrs.frozen(init=False)
class WindowedOperator:
    """A windowed operator.

    Args:
        window: Which windows an element is in.
        accumulation: How a window's elements become its value: a combine function.
        trigger: When windows fire; by default never.
        allowed_lateness: How long elements are taken after the watermark has passed them; None,
            as in Apex: for ever.
        keyed: Whether elements have keys. Sessions need them.
        timestamp_extractor: From an element's value to its event time (ms), in place of the time
            that it comes with.
        watermark_generator: What makes watermarks; None: they are given.

    Raises:
        UnsupportedError: Keys with counts, which Apex takes over all keys, unless in sessions;
            late firings without `TriggerOption.at_watermark`, or of more than one element.
        WindowingError: Sessions without keys.
        TimeError: The lateness cannot be read.
    """

    window: WindowOption
    accumulation: CombineFn
    trigger: TriggerOption
    allowed_lateness: int | None
    keyed: bool
    timestamp_extractor: Callable[[Any], int] | None
    watermark_generator: WatermarkGenerator | None

    def __init__(
        self,
        window: WindowOption,
        accumulation: CombineFn,
        trigger: TriggerOption | None = None,
        *,
        allowed_lateness: DurationLike | None = None,
        keyed: bool = False,
        timestamp_extractor: Callable[[Any], int] | None = None,
        watermark_generator: WatermarkGenerator | None = None,
    ) -> None:
        lateness = (
            None if allowed_lateness is None else duration_ms(allowed_lateness, "allowed_lateness")
        )
        trigger = trigger or TriggerOption()
        _check(window, trigger, keyed)
        self.__attrs_init__(
            window,
            accumulation,
            trigger,
            lateness,
            keyed,
            timestamp_extractor,
            watermark_generator,
        )

    @property
    def strategy(self) -> WindowingStrategy:
        """The same in the words of the model, for a watermark one millisecond less.

        `run` leaves out the panes at the end of a window that nobody asked for.
        """
        said = self.trigger
        # What compares with the pane before has to keep it.
        keeps_panes = said.only_updated or said.mode is AccumulationMode.RETRACTING
        discarding = said.mode is AccumulationMode.DISCARDING
        early = None if said.early_count is None else AfterCount(said.early_count)
        late = Never() if said.late_count is None else AfterCount(said.late_count)
        return WindowingStrategy(
            self.window.window_fn,
            AfterWatermark(early=early, late=late) if said.on_time or early else Never(),
            AccumulationMode.RETRACTING if keeps_panes else said.mode,
            END_OF_GLOBAL_WINDOW if self.allowed_lateness is None else self.allowed_lateness,
            on_time_behavior=OnTimeBehavior.FIRE_IF_NON_EMPTY
            if discarding or not said.on_time
            else OnTimeBehavior.FIRE_ALWAYS,
            late_check=LateCheck.MERGED,
            unchanged=Unchanged.OMIT if said.only_updated else Unchanged.RE_EMIT,
        )

    def run(self, batch_interval: DurationLike = 500) -> "OperatorRun":
        """The operator in memory, to be fed element by element and batch by batch.

        Raises:
            WindowingError: The interval is 0.
            TimeError: It cannot be read.
        """
        return OperatorRun(self, positive_duration("batch_interval", batch_interval))


def _check(window: WindowOption, trigger: TriggerOption, keyed: bool) -> None:
    in_sessions = isinstance(window.window_fn, Sessions)
    if in_sessions and not keyed:
        raise WindowingError("session_windows need keys, as in Apex; say keyed=True")
    if keyed and not in_sessions and (trigger.early_count or trigger.late_count):
        raise UnsupportedError(
            "Apex counts the elements of all keys of a window together, and this counts those of "
            "each key; leave the counts out, or use session_windows, which are of one key each"
        )
    if trigger.late_count is not None and not trigger.on_time:
        raise UnsupportedError(
            "late firings without a firing at the watermark are not here; begin with "
            "TriggerOption.at_watermark()"
        )
    if trigger.late_count not in (None, 1):
        raise UnsupportedError(
            "Apex goes on counting from the first element of a window, late firings of this begin "
            f"anew; with_late_firings_at_every({trigger.late_count}) must be 1"
        )
    loses = trigger.mode is AccumulationMode.RETRACTING or (
        in_sessions and trigger.mode is AccumulationMode.DISCARDING
    )
    if loses and not trigger.on_time and trigger.early_count not in (None, 1):
        raise UnsupportedError(
            f"with_early_firings_at_every({trigger.early_count}) of panes that are withdrawn, or "
            "of sessions whose panes are discarded, needs a firing at the watermark too; begin "
            "with TriggerOption.at_watermark(), or count 1"
        )


class OperatorRun:
    """An operator in memory. Make one with `WindowedOperator.run`.

    The first batch has the clock 0, each one after it a batch interval more.
    """

    def __init__(self, operator: WindowedOperator, batch_interval: int) -> None:
        self._operator = operator
        self._stage = Stage(operator.strategy, operator.accumulation)
        self._interval = batch_interval
        self._clock = 0
        self._watermark: int | None = None
        self._given: int | None = None
        self._latest: int | None = None

    @property
    def machine_run(self) -> Run:
        """The elements as a script of the machine, and its panes."""
        return self._stage.run

    def process(self, value: Any, timestamp: InstantLike = 0, key: Hashable = None) -> list[Row]:
        """What comes out because of an element.

        Raises:
            TimeError: The timestamp cannot be read.
            UserFunctionError: A function of the user's raised.
        """
        extract = self._operator.timestamp_extractor
        given = timestamp if extract is None else extract(value)
        at, lateness = instant_ms(given, "process timestamp"), self._operator.allowed_lateness
        self._latest = at if self._latest is None else max(self._latest, at)
        taken_until = None if lateness is None else (self._watermark or 0) - lateness
        if self._watermark is not None and taken_until is not None and at < taken_until:
            return [Row("dropped", key, value, None, at, "element_behind_horizon")]
        return self._rows(self._stage.arrive(key, value, at))

    def process_watermark(self, timestamp: InstantLike) -> None:
        """A watermark: what ends before it is over. It is looked at when the batch ends.

        Raises:
            TimeError: The timestamp cannot be read.
        """
        self._given = instant_ms(timestamp, "process_watermark timestamp")

    def end_batch(self) -> list[Row]:
        """What comes out because a batch ends: windows that are over, then the watermark."""
        watermark = self._of_generator() if self._operator.watermark_generator else self._given
        self._given = None
        self._clock += self._interval
        if watermark is None or watermark <= (self._watermark or 0):
            return []
        self._watermark = watermark
        rows = self._rows(self._stage.advance(watermark - 1))
        return [*rows, Row("watermark", None, None, None, watermark)]

    def windows(self) -> list[Row]:
        """What is in the windows that are not forgotten."""
        return [
            _row("value", key, window, self._stage.combine.extract(state.accumulator))
            for key, window, state in self._stage.windows()
        ]

    def _of_generator(self) -> int | None:
        match self._operator.watermark_generator:
            case FixedDiffEventTimeWatermarkGen(diff):
                return None if self._latest is None else self._latest - diff
            case FixedDiffProcessingTimeWatermarkGen(diff):
                return self._clock - diff
        return None

    def _rows(self, outputs: Sequence[Output]) -> list[Row]:
        said, rows, withdrawn = self._operator.trigger, list[Row](), list[Row]()
        for output in outputs:
            pane = output.effect
            assert isinstance(pane, Pane), "what is late was dropped before"
            if pane.retraction:
                withdrawn.append(_row("retract", output.key, pane.window, pane.value))
                continue
            # Apex forgets windows without a word, and fires at their end only if it is told to.
            at_end = pane.info.timing is Timing.ON_TIME
            if said.on_time if at_end else not pane.info.is_last:
                if said.mode is AccumulationMode.RETRACTING:
                    rows += withdrawn
                rows.append(_row("value", output.key, pane.window, pane.value))
            withdrawn.clear()
        return rows


def _row(kind: Kind, key: Any, window: Window, value: Any) -> Row:
    if isinstance(window, GlobalWindow):
        return Row(kind, key, value, "global", 0)
    return Row(kind, key, value, (window.start, window.end), window.start)
