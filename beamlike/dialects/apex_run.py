"""An Apex operator in memory: elements and watermarks in, rows out, batch by batch."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import attrs

from beamlike.dialects.apex_operator import (
    FixedDiffEventTimeWatermarkGen,
    FixedDiffProcessingTimeWatermarkGen,
    Operator,
)
from beamlike.dialects.stages import Bounds, DialectRun, Kind, Row, SavedGrouping, answer_of
from beamlike.errors import StateError, WindowingError
from beamlike.machine.equality import is_same
from beamlike.machine.events import Drop
from beamlike.model.fingerprint import stable_repr
from beamlike.model.options import AccumulationMode
from beamlike.model.panes import Timing
from beamlike.model.time import InstantLike, event_time_ms, instant_ms, show_duration
from beamlike.model.windows import GLOBAL_WINDOW, GlobalWindow, IntervalWindow, Window, bounds
from beamlike.runtime.script import Output

ShownWindow = Bounds | str
"""A window as rows show it: its bounds (ms), or ``"global"``."""


@attrs.frozen
class OperatorCheckpoint:
    """All that a run continues from: a value, which can be pickled.

    Of which operator it is; the clock of its batch and its watermark, the watermarks that its
    streams were given last, the latest event time (ms), and the state of the machine.
    """

    operator: str
    clock: int
    watermark: int | None
    stream_watermarks: tuple[int | None, ...]
    latest: int | None
    stage: SavedGrouping


class OperatorRun(DialectRun):
    """An operator in memory. Make one with `WindowedOperator.run`.

    The first batch has the clock 0, each one after it a batch interval more. Nothing else is asked
    for the time: the same elements and watermarks in the same batches bring the same rows.
    """

    def __init__(self, operator: Operator, batch_interval: int) -> None:
        if operator.trigger.times and batch_interval < 2:
            raise WindowingError(
                "firings by time need batches of 2 ms or more, got batch_interval=1 ms: the end of "
                "a batch is a millisecond after its own time"
            )
        self._operator = operator
        self._interval = batch_interval
        super().__init__(operator.strategy_in_batches(batch_interval), operator.combine)
        self._clock = 0
        self._watermark: int | None = None
        self._stream_watermarks: list[int | None] = [None] * len(operator.extractors)
        self._latest: int | None = None
        if operator.trigger.times:
            self._stage.advance_clock(1)  # nothing is due at the time of the first batch

    def process(
        self,
        value: Any,
        timestamp: InstantLike = 0,
        key: Hashable = None,
        windows: Sequence[ShownWindow] | None = None,
    ) -> list[Row]:
        """What comes out because of an element.

        Args:
            timestamp: Its event time; 0 without one, as in Apex. An extractor is asked instead.
            windows: The windows that it comes in, as rows have them. Without a window option they
                are needed; with one they are left aside.

        Raises:
            WindowingError: The operator inherits windows, and the element has none.
            TimeError: The timestamp cannot be read.
            UserFunctionError: A function of the user's raised.
        """
        return self._process(0, value, timestamp, key, windows)

    def process_watermark(self, timestamp: InstantLike) -> None:
        """A watermark: what ends before it is over. It is looked at when the batch ends.

        Raises:
            TimeError: The timestamp cannot be read.
        """
        self._stream_watermarks[0] = instant_ms(timestamp, "process_watermark timestamp")

    def end_batch(self) -> list[Row]:
        """What comes out because a batch ends: windows that are over, then the watermark, then
        firings by time."""
        watermark, rows = self._next_watermark(), list[Row]()
        if watermark is not None and watermark > (self._watermark or 0):
            self._watermark = watermark
            rows += self._rows(self._stage.advance(watermark - 1))
            rows.append(Row("watermark", None, None, None, watermark))
        if self._operator.trigger.times:
            # What is due at the batch's time is due in the model once the clock is past it.
            rows += self._rows(self._stage.advance_clock(self._clock + 1))
            assert not self._stage.advance_clock(self._clock + self._interval), "between batches"
        self._clock += self._interval
        return rows

    def windows(self) -> list[Row]:
        """What is in the windows that are kept."""
        return [
            _row("value", of, window, value)
            for key, window, state in self._stage.windows()
            for of, value in self._by_key(key, self._stage.combine.extract(state.accumulator))
        ]

    def checkpoint(self) -> OperatorCheckpoint:
        """The whole state. With what comes after, `WindowedOperator.recover` brings the
        rows that this run brings. Apex takes one when a batch has ended.
        """
        times = self._clock, self._watermark, tuple(self._stream_watermarks), self._latest
        return OperatorCheckpoint(self._name, *times, self._stage.saved())

    def recovered(self, checkpoint: OperatorCheckpoint) -> Self:
        """This run, continued from a checkpoint, and refused as `WindowedOperator.recover` says."""
        if not isinstance(checkpoint, OperatorCheckpoint):
            raise StateError(
                f"recover needs what checkpoint() of a run returned, got {checkpoint!r}"
            )
        if checkpoint.operator != self._name:
            raise StateError(
                f"the checkpoint is of another operator: of {checkpoint.operator}, and this is "
                f"{self._name}; recover it with an operator that says the same"
            )
        self._clock, self._watermark = checkpoint.clock, checkpoint.watermark
        self._stream_watermarks = list(checkpoint.stream_watermarks)
        self._latest = checkpoint.latest
        self._stage.resume(checkpoint.stage)
        return self

    @property
    def _name(self) -> str:
        return (
            f"{self._stage.strategy} of {self._stage.combine} every {show_duration(self._interval)}"
        )

    def _process(
        self,
        stream: int,
        value: Any,
        own_time: InstantLike,
        key: Hashable,
        windows: Sequence[ShownWindow] | None,
    ) -> list[Row]:
        operator, lateness = self._operator, self._operator.allowed_lateness
        extract = operator.extractors[stream]
        if extract is None:
            timestamp = event_time_ms(own_time, "process timestamp")
        else:
            extracted = answer_of(extract, value, place=f"element {value!r}")
            timestamp = event_time_ms(extracted, f"what {stable_repr(extract)} returned")
        if operator.window is None and not windows:
            raise WindowingError(
                "the operator has no window option, so it takes elements in the windows that they "
                "come in; say windows=[row.window] of the operator before, or give it a "
                "WindowOption"
            )
        in_windows = None if operator.window else tuple(map(_window_of, windows or ()))
        self._latest = timestamp if self._latest is None else max(self._latest, timestamp)
        watermark = self._watermark
        if watermark is not None and lateness is not None and timestamp < watermark - lateness:
            return [Row("dropped", key, value, None, timestamp, "element_behind_horizon")]
        element = value if len(operator.extractors) == 1 else (stream + 1, value)
        group, of_group = (None, (key, element)) if operator.holds_all_keys else (key, element)
        return self._rows(self._stage.arrive(group, of_group, timestamp, in_windows))

    def _rows(self, outputs: Sequence[Output]) -> list[Row]:
        """The rows that panes and drops are, in their order. Of one window a pane comes after all
        panes that it withdraws.

        Apex drops windows silently, and fires at their end only if the trigger says so; the
        other panes of the machine are left out.
        """
        rows, withdrawn = list[Row](), dict[tuple[Window, Any], Any]()
        for output in outputs:
            effect, key = output.effect, output.key
            if isinstance(effect, Drop):
                key, value = effect.value if self._operator.holds_all_keys else (key, effect.value)
                shown = None if effect.window is None else bounds(effect.window)
                rows.append(Row("dropped", key, value, shown, effect.timestamp, "expired_window"))
                continue
            values = {(effect.window, of): value for of, value in self._by_key(key, effect.value)}
            if effect.retraction:
                withdrawn |= values
                continue
            at_end = effect.info.timing is Timing.ON_TIME
            if self._operator.trigger.on_time if at_end else not effect.info.is_last:
                rows += self._fired(values, withdrawn)
            withdrawn.clear()
        return rows

    def _fired(
        self, values: Mapping[tuple[Window, Any], Any], withdrawn: Mapping[tuple[Window, Any], Any]
    ) -> Iterator[Row]:
        """The rows of one firing: what it withdraws first, of all keys, and then its results."""
        trigger, unchanged = self._operator.trigger, set[tuple[Window, Any]]()
        if trigger.only_updated:
            again = values.keys() & withdrawn.keys()
            unchanged = {name for name in again if is_same(values[name], withdrawn[name])}
        if trigger.mode is AccumulationMode.RETRACTING:
            for (window, key), value in withdrawn.items():
                if (window, key) not in unchanged:
                    yield _row("retract", key, window, value)
        for (window, key), value in values.items():
            if (window, key) not in unchanged:
                yield _row("value", key, window, value)

    def _by_key(self, group: Hashable, value: Any) -> Iterable[tuple[Any, Any]]:
        """The keys in a group, each with its value in what the group says."""
        return value.items() if self._operator.holds_all_keys else [(group, value)]

    def _next_watermark(self) -> int | None:
        """What the streams were given last, or what a generator makes of the batch if that is more.
        All streams have to have one."""
        marks = [mark for mark in self._stream_watermarks if mark is not None]
        marks = [min(marks)] if len(marks) == len(self._stream_watermarks) else []
        match self._operator.watermark_generator:
            case FixedDiffEventTimeWatermarkGen(diff) if self._latest is not None:
                marks.append(self._latest - diff)
            case FixedDiffProcessingTimeWatermarkGen(diff):
                marks.append(self._clock - diff)
        return max(marks, default=None)


class MergeOperatorRun(OperatorRun):
    """An operator of two streams in memory. Make one with `WindowedMergeOperator.run`.

    `process` takes an element of the first stream, `process2` one of the second. Its watermark is
    the smaller of the two that it was given last. There is none before both streams had one.
    """

    def process2(
        self,
        value: Any,
        timestamp: InstantLike = 0,
        key: Hashable = None,
        windows: Sequence[ShownWindow] | None = None,
    ) -> list[Row]:
        """As `OperatorRun.process`, of an element of the second stream."""
        return self._process(1, value, timestamp, key, windows)

    def process_watermark2(self, timestamp: InstantLike) -> None:
        """As `OperatorRun.process_watermark`, of the second stream.

        Raises:
            TimeError: The timestamp cannot be read.
        """
        self._stream_watermarks[1] = instant_ms(timestamp, "process_watermark2 timestamp")


def _row(row_kind: Kind, key: Any, window: Window, value: Any) -> Row:
    """A row of a window: its timestamp is the window's begin."""
    if isinstance(window, GlobalWindow):
        return Row(row_kind, key, value, "global", 0)
    return Row(row_kind, key, value, (window.start, window.end), window.start)


def _window_of(window: ShownWindow) -> Window:
    match window:
        case "global":
            return GLOBAL_WINDOW
        case (int(start), int(end)):
            return IntervalWindow(start, end)
    raise WindowingError(
        f'a window that an element comes in must be its start and end (ms) or "global", got '
        f"{window!r}"
    )
