"""An Apex operator in memory: elements and watermarks in, rows out, batch by batch."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import attrs
import cloudpickle

from beamlike.dialects.apex_operator import Operator
from beamlike.dialects.apex_options import (
    FixedDiffEventTimeWatermarkGen,
    FixedDiffProcessingTimeWatermarkGen,
    TriggerOption,
)
from beamlike.dialects.stages import (
    Bounds,
    DialectRun,
    Kind,
    Row,
    SavedGrouping,
    answer_of,
)
from beamlike.errors import StateError, WindowingError
from beamlike.machine.equality import is_same
from beamlike.machine.events import Drop
from beamlike.model.fingerprint import stable_repr
from beamlike.model.options import AccumulationMode
from beamlike.model.panes import Timing
from beamlike.model.time import InstantLike, event_time_ms, instant_ms, show_duration
from beamlike.model.windows import GLOBAL_WINDOW, GlobalWindow, IntervalWindow, Window, bounds
from beamlike.runtime.script import Output

GivenWindow = Bounds | str
"""A window as rows show it: its bounds (ms), or ``"global"``."""


def _fired(
    window: Window,
    values: Mapping[Any, Any],
    withdrawn: Sequence[tuple[Window, Mapping[Any, Any]]],
    trigger: TriggerOption,
) -> Iterator[Row]:
    """The rows of one firing: what it withdraws first, of all keys, and then its results."""
    before = next((results for of, results in withdrawn if of == window), {})
    stands = {
        key
        for key, now in values.items()
        if trigger.only_updated and key in before and is_same(before[key], now)
    }
    if trigger.mode is AccumulationMode.RETRACTING:
        for of, results in withdrawn:
            for key, value in results.items():
                if of != window or key not in stands:
                    yield row("retract", key, of, value)
    for key, value in values.items():
        if key not in stands:
            yield row("value", key, window, value)


def row(kind: Kind, key: Any, window: Window, value: Any) -> Row:
    """A row of a window: its timestamp is the window's begin."""
    if isinstance(window, GlobalWindow):
        return Row(kind, key, value, "global", 0)
    return Row(kind, key, value, (window.start, window.end), window.start)


def given_windows(windows: Sequence[GivenWindow] | None) -> tuple[Window, ...]:
    """The windows that an element comes in, in the model."""
    if not windows:
        raise WindowingError(
            "the operator has no window option, so it takes elements in the windows that they come "
            "in; say windows=[row.window] of the operator before, or give it a WindowOption"
        )
    return tuple(map(_given_window, windows))


def _given_window(window: GivenWindow) -> Window:
    match window:
        case "global":
            return GLOBAL_WINDOW
        case (int(start), int(end)):
            return IntervalWindow(start, end)
    raise WindowingError(
        f'a window that an element comes in must be its start and end (ms) or "global", got '
        f"{window!r}"
    )


@attrs.frozen
class _Saved:
    """All that a run continues from: the clock of its batch and its watermark, the watermarks that
    its streams were given last, the latest event time (ms), and the state of the machine."""

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

    streams: ClassVar[int] = 1
    _first_stream: ClassVar[int | None] = None
    """Which stream `process` has elements of, where there are several."""

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
        self._stream_watermarks: list[int | None] = [None] * self.streams
        self._latest: int | None = None
        if operator.trigger.times:
            self._stage.advance_clock(1)  # nothing is due at the time of the first batch

    def process(
        self,
        value: Any,
        timestamp: InstantLike = 0,
        key: Hashable = None,
        windows: Sequence[GivenWindow] | None = None,
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
        return self._process(value, timestamp, key, windows, self._first_stream)

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
            row("value", of, window, value)
            for key, window, state in self._stage.windows()
            for of, value in self._operator.by_key(
                key, self._stage.combine.extract(state.accumulator)
            ).items()
        ]

    def checkpoint(self) -> bytes:
        """The whole state. With what comes after, `WindowedOperator.recover` brings the
        rows that this run brings. Apex takes one when a batch has ended.
        """
        saved = _Saved(
            self._clock,
            self._watermark,
            tuple(self._stream_watermarks),
            self._latest,
            self._stage.saved(),
        )
        return bytes(cloudpickle.dumps((self._name, saved)))

    def recovered(self, checkpoint: bytes, *, unpickle: bool = False) -> Self:
        """This run, continued from a checkpoint, see `WindowedOperator.recover`.

        Raises:
            StateError: The bytes are not to be opened, are no checkpoint, or one of another
                operator or batch interval.
        """
        if not unpickle:
            raise StateError(
                "a checkpoint of a run is a pickle, and opening one runs whatever code is in it; "
                "if you trust its author, call recover(checkpoint, unpickle=True)"
            )
        try:
            name, saved = cloudpickle.loads(checkpoint)
        except Exception:  # whatever broken bytes make of it
            name, saved = None, None
        if not isinstance(saved, _Saved):
            raise StateError(
                "recover needs what checkpoint() of a run returned, and these bytes are something "
                "else"
            )
        if name != self._name:
            raise StateError(
                f"the checkpoint is of another operator: of {name}, and this is {self._name}; "
                "recover it with an operator that says the same"
            )
        self._clock, self._watermark, self._latest = saved.clock, saved.watermark, saved.latest
        self._stream_watermarks = list(saved.stream_watermarks)
        self._stage.resume(saved.stage)
        return self

    @property
    def _name(self) -> str:
        return (
            f"{self._stage.strategy} of {self._stage.combine} every {show_duration(self._interval)}"
        )

    def _process(
        self,
        value: Any,
        given_timestamp: InstantLike,
        key: Hashable,
        windows: Sequence[GivenWindow] | None,
        stream: int | None,
    ) -> list[Row]:
        operator, lateness = self._operator, self._operator.allowed_lateness
        timestamp = _event_time(operator.extractor(stream), value, given_timestamp)
        in_windows = None if operator.window is not None else given_windows(windows)
        self._latest = timestamp if self._latest is None else max(self._latest, timestamp)
        watermark = self._watermark
        if watermark is not None and lateness is not None and timestamp < watermark - lateness:
            return [Row("dropped", key, value, None, timestamp, "element_behind_horizon")]
        element = operator.element(key, value if stream is None else (stream, value))
        return self._rows(self._stage.arrive(operator.group(key), element, timestamp, in_windows))

    def _rows(self, outputs: Sequence[Output]) -> list[Row]:
        """The rows that panes and drops are, in their order. Of one window a pane comes after all
        panes that it withdraws.

        Apex drops windows silently, and fires at their end only if the trigger says so; the
        other panes of the machine are left out.
        """
        operator, trigger = self._operator, self._operator.trigger
        rows, withdrawn = list[Row](), list[tuple[Window, Mapping[Any, Any]]]()
        for output in outputs:
            effect, key = output.effect, output.key
            if isinstance(effect, Drop):
                key, value = effect.value if operator.holds_all_keys else (key, effect.value)
                shown = None if effect.window is None else bounds(effect.window)
                rows.append(Row("dropped", key, value, shown, effect.timestamp, "expired_window"))
                continue
            values = operator.by_key(key, effect.value)
            if effect.retraction:
                withdrawn.append((effect.window, values))
                continue
            at_end = effect.info.timing is Timing.ON_TIME
            if trigger.on_time if at_end else not effect.info.is_last:
                rows += _fired(effect.window, values, withdrawn, trigger)
            withdrawn.clear()
        return rows

    def _next_watermark(self) -> int | None:
        """What the streams were given last, or what a generator makes of the batch if that is more.
        All streams have to have one."""
        of_streams = [mark for mark in self._stream_watermarks if mark is not None]
        of_all = [min(of_streams)] if len(of_streams) == self.streams else []
        return max(of_all + self._generated(), default=None)

    def _generated(self) -> list[int]:
        match self._operator.watermark_generator:
            case FixedDiffEventTimeWatermarkGen(diff) if self._latest is not None:
                return [self._latest - diff]
            case FixedDiffProcessingTimeWatermarkGen(diff):
                return [self._clock - diff]
        return []


class MergeOperatorRun(OperatorRun):
    """An operator of two streams in memory. Make one with `WindowedMergeOperator.run`.

    `process` takes an element of the first stream, `process2` one of the second. Its watermark is
    the smaller of the two that it was given last. There is none before both streams had one.
    """

    streams, _first_stream = 2, 1

    def process2(
        self,
        value: Any,
        timestamp: InstantLike = 0,
        key: Hashable = None,
        windows: Sequence[GivenWindow] | None = None,
    ) -> list[Row]:
        """As `OperatorRun.process`, of an element of the second stream."""
        return self._process(value, timestamp, key, windows, stream=2)

    def process_watermark2(self, timestamp: InstantLike) -> None:
        """As `OperatorRun.process_watermark`, of the second stream.

        Raises:
            TimeError: The timestamp cannot be read.
        """
        self._stream_watermarks[1] = instant_ms(timestamp, "process_watermark2 timestamp")


def _event_time(extract: Callable[[Any], int] | None, value: Any, timestamp: InstantLike) -> int:
    if extract is None:
        return event_time_ms(timestamp, "process timestamp")
    extracted = answer_of(extract, value, place=f"element {value!r}")
    return event_time_ms(extracted, f"what {stable_repr(extract)} returned")
