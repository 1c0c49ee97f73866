"""A window operator of Flink: what it is in the model, in memory and over a DataFrame.

In memory elements, watermarks and the clock go in, and rows come out.

Source: Flink ``WindowOperator``, ``KeyedOneInputStreamOperatorTestHarness``.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import attrs

from beamlike.api.arguments import A_KEY, column_names
from beamlike.dialects import frames
from beamlike.dialects.flink_triggers import Trigger
from beamlike.dialects.flink_words import Assigner, Evictor
from beamlike.dialects.stages import DialectRun, Row, answer_of
from beamlike.errors import UnsupportedError, WindowingError
from beamlike.machine.events import AdvanceClock, Drop, Pane, refuse_going_back
from beamlike.model.combine import CombineFn
from beamlike.model.interval_triggers import EveryEventTime, EveryProcessingTime
from beamlike.model.options import ClosingBehavior
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import (
    MAX_TIMESTAMP,
    DurationLike,
    InstantLike,
    event_time_ms,
    instant_ms,
)
from beamlike.model.windowfns import GlobalWindows
from beamlike.model.windows import GlobalWindow, Window
from beamlike.runtime.script import Output

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WindowFunction = Callable[[Any, Window, Any], Any]
"""From a key, a window and what came of its elements to the value of a row."""


@attrs.frozen
class Windowed:
    """What a windowed stream says of its windows."""

    assigner: Assigner
    when: Trigger
    lateness: int = 0
    late_output: bool = False
    eviction: Evictor | None = None
    keyed: bool = True


@attrs.frozen
class WindowedOperator:
    """Windows with their function. Source: Flink ``WindowOperator``."""

    windowed: Windowed
    combine: CombineFn
    window_function: WindowFunction | None = None

    @property
    def strategy(self) -> WindowingStrategy:
        """The windowing in the words of the model.

        Where the trigger does not fire at the end of a window, what is left then comes out as the
        window's last pane; Flink drops it, and so does `harness`.
        """
        when, lateness = self.windowed.when, self.windowed.lateness
        again = not when.purging
        cleanup = self._fires_at_cleanup and not (when.forgets_end and lateness == 0)
        return WindowingStrategy(
            self.windowed.assigner.window_fn,
            when.trigger,
            "discarding" if when.purging else "accumulating",
            lateness,
            closing_behavior="fire_always" if again and cleanup else "fire_if_non_empty",
            on_time_behavior="fire_always" if again and when.refires else "fire_if_non_empty",
            late_check="merged",
        )

    @property
    def fires_at_end(self) -> bool:
        """Whether what is left of a window at its end is emitted. If not, it is dropped."""
        return self.windowed.when.at_end or self._fires_at_cleanup

    @property
    def _fires_at_cleanup(self) -> bool:
        # The global window is never cleaned up.
        in_global = isinstance(self.windowed.assigner.window_fn, GlobalWindows)
        return self.windowed.when.at_cleanup and not in_global

    @frames.called_by_name("WindowedOperator", key=A_KEY, value=frames.A_VALUE)
    def on_dataframe(
        self,
        df: "DataFrame",
        *,
        key: str | Sequence[str],
        value: str | Sequence[str],
        timestamp: str | None = None,
        returns: str | None = None,
        watermark: DurationLike | None = None,
        tick: DurationLike = "1 second",
        **options: Unpack[frames.GroupOptions],
    ) -> "DataFrame":
        """The operator over a DataFrame, streaming or bounded; see `beamlike.dialects.frames`.

        ``end`` is the first instant after a window, and ``timestamp`` the millisecond before it.
        Elements that are in none of their windows have the kind ``late`` if they are asked for,
        and else ``dropped``; their ``timestamp`` is their own. Those between sliding windows, which
        Flink asks whether they are late, are in no row.

        Args:
            key: The key's columns, ``()`` after `window_all`. Rows without a key are dropped.
            value: The column of the elements; of several, elements are tuples.
            timestamp: The column with the event time. In processing time the time of arrival, or
                None for that of the micro-batch.
            returns: The type of the result as DDL; not needed for the combine functions of this
                package whose type is known.
            watermark: How far event time may be out of order, as in ``forBoundedOutOfOrderness``.
            tick: In processing time: after how long without a row time follows the clock.
            options: See `Stream.group`.

        Raises:
            WindowingError: ``timestamp`` or ``watermark`` is missing.
            CombineError: ``returns`` is missing.
            ColumnError: A column is missing or has a type that cannot be used.
            UnsupportedError: A function of the window, which would run after the query.
        """
        if key and not self.windowed.keyed:
            raise WindowingError(
                f"on_dataframe key={key!r}: window_all(...) has elements without keys; say key=(), "
                "or key_by().window(...)"
            )
        if self.window_function is not None:
            raise UnsupportedError(
                "a function of key and window is not run over a DataFrame; apply(...) a function "
                "of the elements, and compute with the columns key, start and end"
            )

        keys, columns = column_names(key, "key"), column_names(value, "value")
        if self.windowed.assigner.processing_time:
            rows = frames.arriving(df, timestamp, tick)
        elif timestamp is None:
            raise WindowingError(
                "timestamp is missing, because these windows are in event time; name the column "
                "that has it, or use windows in processing time"
            )
        else:
            rows = frames.by_event_time(df, timestamp, watermark)
        parts = self.strategy, self.combine, keys, columns, returns
        everything = frames.grouped(rows, *parts, options)
        if not self.fires_at_end:
            # The last pane of a window is what is left of it: triggers of Flink never finish.
            everything = everything.filter("dropped IS NOT NULL OR NOT pane.is_last")
        is_late = "false"
        if self.windowed.late_output:
            is_late = "dropped.reason IN ('expired', 'closed')"
        return frames.shown(
            everything,
            keys,
            kinds={"late": is_late},
            timestamp=frames.before("window.`end`", 1),
            reason=f"if({is_late}, NULL, {frames.REASON})",
        )

    def harness(self) -> "Harness":
        """The operator in memory, to be fed element by element."""
        return Harness(self)


class Harness(DialectRun):
    """An operator in memory. Make one with ``WindowedOperator.harness``.

    Timers are due when a clock has reached them; those of the model when it is past them. So its
    watermark, and its clock, are a millisecond ahead of Flink's. In processing time the clock is
    the watermark, too, and it runs ahead only where something is due: what still comes in that
    millisecond is in time. If its window has been emitted, it counts as a millisecond later;
    Flink would emit the window once more with nothing else in it, but only in its test
    harness: a task of Flink emits a window one millisecond later.

    For periodic triggers, and for windows that fire at their end and again at cleanup, each
    instant that a clock passes is a step of its own.
    """

    def __init__(self, operator: WindowedOperator) -> None:
        strategy = operator.strategy
        super().__init__(strategy, operator.combine)
        self._operator = operator
        self._processing_time = operator.windowed.assigner.processing_time
        self._clock = 0
        self._needs_clock = strategy.trigger.needs_clock
        rhythms = (EveryEventTime, EveryProcessingTime)
        self._stops = strategy.closing_behavior is ClosingBehavior.FIRE_ALWAYS or any(
            isinstance(node, rhythms) for node in strategy.trigger.walk()
        )
        if self._needs_clock:
            self._stage.advance_clock(1)

    def process_element(
        self, key: Hashable, value: Any, timestamp: InstantLike | None = None
    ) -> list[Row]:
        """What comes out because of an element.

        Args:
            key: None after ``window_all``.
            timestamp: When it happened; not looked at in processing time.

        Raises:
            WindowingError: The key is None, which Flink does not take, or cannot be hashed; in
                event time, without a timestamp.
            TimeError: The timestamp cannot be read.
            UserFunctionError: A function of the user's raised.
        """
        if key is not None and not self._operator.windowed.keyed:
            raise WindowingError(
                f"process_element key must be None, because window_all(...) has elements without "
                f"keys, got {key!r}; use key_by().window(...)"
            )
        if key is None and self._operator.windowed.keyed:
            raise WindowingError(
                "process_element key must not be None, because Flink has no element without a key; "
                "use window_all(...) if the elements have no key"
            )
        if self._processing_time:
            time_ms = self._in_time(value)
        elif timestamp is None:
            raise WindowingError(
                "process_element needs a timestamp, because these windows are in event time; "
                "give one, or use windows in processing time"
            )
        else:
            time_ms = event_time_ms(timestamp, "process_element timestamp")
        outputs = self._stage.arrive(key, value, time_ms)
        why = self._why_late(outputs, value, time_ms)
        if why is None:
            return self._rows(outputs)
        if self._operator.windowed.late_output:
            return [Row("late", key, value, None, time_ms)]
        return [Row("dropped", key, value, None, time_ms, why)]

    def process_watermark(self, timestamp: InstantLike) -> list[Row]:
        """What comes out because nothing at or before this instant will come any more.

        It has no effect on windows in processing time, or if it is not ahead.

        Raises:
            TimeError: The instant cannot be read.
        """
        to = instant_ms(timestamp, "process_watermark timestamp")
        if self._processing_time:
            return []
        return self._rows(self._advance(to, event=True, clock=False))

    def process_watermark_to_infinity(self) -> list[Row]:
        """What comes out because nothing will come any more."""
        return self.process_watermark(MAX_TIMESTAMP)

    def set_processing_time(self, instant: InstantLike) -> list[Row]:
        """What comes out because the clock stands here now. It begins at 0.

        Raises:
            WatermarkError: The clock would go back.
            TimeError: The instant cannot be read.
        """
        to = instant_ms(instant, "set_processing_time instant")
        refuse_going_back(AdvanceClock(to), self._clock)
        self._clock = to
        return self._rows(self._advance(to, event=self._processing_time, clock=self._needs_clock))

    def _why_late(self, outputs: Sequence[Output], value: Any, time_ms: int) -> str | None:
        """Why an element is too late, if it is: no window took it. What one of several windows took
        is in a result. An element between windows is late by its own time, and else nothing."""
        strategy, watermark = self._stage.strategy, self._stage.watermark
        drops = [output for output in outputs if isinstance(output.effect, Drop)]
        if drops:
            is_late = len(drops) == len(strategy.window_fn.assign(time_ms, value))
            return "expired_window" if is_late else None
        is_past = not self._processing_time and time_ms + strategy.allowed_lateness < watermark
        return "no_window" if is_past and not strategy.window_fn.assign(time_ms, value) else None

    def _in_time(self, value: Any) -> int:
        """When it is, for an element that comes now, in processing time (ms)."""
        if self._stage.watermark <= self._clock:
            return self._clock
        windows = self._stage.strategy.window_fn.assign(self._clock, value)
        is_over = any(self._stage.watermark > window.max_timestamp for window in windows)
        return self._clock + 1 if is_over else self._clock

    def _advance(self, to: int, *, event: bool, clock: bool) -> Iterator[Output]:
        """What comes out until event time, the clock, or both of them stand there."""
        stage = self._stage
        # In a window without end a rhythm would never get to the end of time.
        endless = isinstance(stage.strategy.window_fn, GlobalWindows) and to + 1 >= MAX_TIMESTAMP
        while clock or (self._stops and not endless):
            due = stage.due()
            instants = [due.event] * event + [due.clock] * clock
            next_ms = min((instant for instant in instants if instant is not None), default=to)
            if next_ms >= to:
                break
            # The end of a window before a timeout: there is no timeout after it.
            if event and due.event == next_ms:
                yield from stage.advance(next_ms + 1)
            if clock:
                yield from stage.advance_clock(next_ms + 1)
        if event and self._processing_time:
            yield from stage.advance(to)
            event = stage.due().event == to
        if event:
            yield from stage.advance(to + 1)
        if clock:
            yield from stage.advance_clock(to + 1)

    def _rows(self, outputs: Iterable[Output]) -> list[Row]:
        panes = [
            (output.step, output.key, output.effect)
            for output in outputs
            if isinstance(output.effect, Pane)
            # The last pane of a window is what is left of it: triggers of Flink never finish.
            and (self._operator.fires_at_end or not output.effect.info.is_last)
        ]
        # Timers are due in order of time, whatever their keys.
        panes.sort(key=lambda pane: (pane[0], pane[2].window.max_timestamp))
        return [self._row(key, pane) for _, key, pane in panes]

    def _row(self, key: Any, pane: Pane) -> Row:
        function, window, value = self._operator.window_function, pane.window, pane.value
        if function is not None:
            value = answer_of(function, key, window, value, place=f"key {key!r}, window {window}")
        if isinstance(window, GlobalWindow):
            return Row("value", key, value, None, None)
        return Row("value", key, value, (window.start, window.end), window.max_timestamp)
