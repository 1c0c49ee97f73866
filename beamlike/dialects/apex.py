"""Windows in the words of Apex Malhar's windowed operators.

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

Apex looks at watermarks and times at the end of a batch only, and at times by the clock of the
batch: what is replayed comes out again. A window is over when its end is before the watermark, a
millisecond later than in the model. An element is dropped if it is itself before the watermark less
the lateness, even if its window is open. A row has the begin of its window as timestamp, and a
watermark that was taken is passed on.

In the model: ``AfterWatermark`` with early and late counts and times, and a watermark one
millisecond less than Apex's. Elements that Apex drops are dropped before the model sees them.
`PerKey` of `apex_accumulations` says how conditions of all keys of a window are met, `apex_storage`
where state is.

What Apex does and this does not
    * It waits with what comes first to a window that is over, or is the first of its key there, for
      the next watermark or for a late firing. Here that fires at once.
    * It begins to count anew, and to wait, whenever a session grows. Here both go on.
    * The first time of all counts from a millisecond before the first batch. Here it counts from
      the batch; and beside a count, that of the global window from its first element.
    * It takes sessions that come from an operator before apart by their keys. Here windows that
      are inherited are the same if their bounds are.
    * It fails where an operator without keys fires and holds nothing. Here nothing comes out.

Source: Apex Malhar ``AbstractWindowedOperator``, ``KeyedWindowedOperatorImpl``,
``WindowedMergeOperatorImpl``.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import attrs

from beamlike.api.arguments import A_TIMESTAMP, positive_duration
from beamlike.dialects.apex_accumulations import (
    Average,
    CompositeAccumulation,
    FoldFn,
    Group,
    PerKey,
    ReduceFn,
    RemoveDuplicates,
    Sort,
    TopN,
    TopNByKey,
)
from beamlike.dialects.apex_joins import (
    CoGroup,
    FullOuterJoin,
    InnerJoin,
    InnerJoinOn,
    LeftOuterJoin,
    RightOuterJoin,
)
from beamlike.dialects.apex_run import MergeOperatorRun, OperatorRun
from beamlike.dialects.apex_storage import Storage, Storages
from beamlike.dialects.apex_strategy import check_option, strategy_of
from beamlike.dialects.apex_words import (
    FixedDiffEventTimeWatermarkGen,
    FixedDiffProcessingTimeWatermarkGen,
    TriggerOption,
    WatermarkGenerator,
    WindowOption,
)
from beamlike.dialects.arguments import check_combine, check_function, check_kind
from beamlike.dialects.frames import A_VALUE, GROUP_OPTIONS, GroupOptions
from beamlike.errors import UnsupportedError, WindowingError
from beamlike.model.combine import CombineFn, Count, Max, Min, Sum
from beamlike.model.options import AccumulationMode, by_name
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import DurationLike, duration_ms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "Average",
    "CoGroup",
    "CompositeAccumulation",
    "Count",
    "FixedDiffEventTimeWatermarkGen",
    "FixedDiffProcessingTimeWatermarkGen",
    "FoldFn",
    "FullOuterJoin",
    "Group",
    "InnerJoin",
    "InnerJoinOn",
    "LeftOuterJoin",
    "Max",
    "MergeOperatorRun",
    "Min",
    "OperatorRun",
    "ReduceFn",
    "RemoveDuplicates",
    "RightOuterJoin",
    "Sort",
    "Storage",
    "Storages",
    "Sum",
    "TopN",
    "TopNByKey",
    "TriggerOption",
    "WindowOption",
    "WindowedMergeOperator",
    "WindowedOperator",
]


Extract = Callable[[Any], int]
"""From an element's value to its event time (ms)."""

_GENERATORS = (FixedDiffEventTimeWatermarkGen, FixedDiffProcessingTimeWatermarkGen)


@attrs.frozen(init=False)
class WindowedOperator:
    """A windowed operator.

    Args:
        window: Which windows an element is in; None: those that it comes in, which an operator
            before gave it. Windows that come with elements never merge.
        accumulation: How a window's elements become its value: a combine function.
        trigger: When windows fire; by default never.
        allowed_lateness: How long elements are taken after the watermark has passed them; None,
            as in Apex: for ever.
        keyed: Whether elements have keys. Sessions need them.
        timestamp_extractor: From an element's value to its event time (ms), in place of the time
            that it comes with.
        watermark_generator: What makes watermarks besides those that are given: the greater of
            both counts.
        storages: Where its state is, see `apex_storage`; None: it has what it needs.

    Raises:
        UnsupportedError: A combination that Apex has and this has not; the message says which.
        WindowingError: Sessions without keys; a storage is missing that the trigger needs; panes
            are discarded, and only updated ones are to be fired; an argument of another kind.
        CombineError: The accumulation is no combine function, or an extractor no function.
        TimeError: The lateness cannot be read.
    """

    window: WindowOption | None
    accumulation: CombineFn
    trigger: TriggerOption
    allowed_lateness: int | None
    keyed: bool
    timestamp_extractor: Extract | None
    watermark_generator: WatermarkGenerator | None
    storages: Storages | None

    def __init__(
        self,
        window: WindowOption | None,
        accumulation: CombineFn,
        trigger: TriggerOption | None = None,
        *,
        allowed_lateness: DurationLike | None = None,
        keyed: bool = False,
        timestamp_extractor: Extract | None = None,
        watermark_generator: WatermarkGenerator | None = None,
        storages: Storages | None = None,
    ) -> None:
        lateness = (
            None if allowed_lateness is None else duration_ms(allowed_lateness, "allowed_lateness")
        )
        trigger = TriggerOption() if trigger is None else trigger
        if window is not None:
            check_kind("window", window, WindowOption, 'WindowOption.time_windows("1 second")')
        check_kind("trigger", trigger, TriggerOption, "TriggerOption.at_watermark()")
        check_combine("accumulation", accumulation)
        _check_extractor("timestamp_extractor", timestamp_extractor)
        if watermark_generator is not None:
            example = 'FixedDiffEventTimeWatermarkGen("10 seconds")'
            check_kind("watermark_generator", watermark_generator, _GENERATORS, example)
        check_option(window, trigger, keyed=keyed)
        if storages is not None:
            check_kind("storages", storages, Storages, "Storages.all_of(Storage.SPILLABLE)")
            storages.check(trigger)
        self.__attrs_init__(
            window,
            accumulation,
            trigger,
            lateness,
            keyed,
            timestamp_extractor,
            watermark_generator,
            storages,
        )

    # -- in the words of the model -----------------------------------------------------------

    @property
    def strategy(self) -> WindowingStrategy:
        """The windowing, for a watermark one millisecond less.

        `run` leaves out the panes at the end of a window that no trigger asked for.
        """
        return strategy_of(self.window, self.trigger, self.allowed_lateness)

    def strategy_in_batches(self, batch_interval: int) -> WindowingStrategy:
        """The same where times are looked at when a batch ends, which one does so often (ms)."""
        return strategy_of(self.window, self.trigger, self.allowed_lateness, batch_interval)

    @property
    def holds_all_keys(self) -> bool:
        """Whether one group holds all keys, because a condition is of all keys of a window: counts
        and times of an operator with keys. Not in sessions, which are of one key each, and not if
        every element fires and the other keys of its window have nothing new."""
        trigger = self.trigger
        if not self.keyed or self._in_sessions:
            return False
        counts = {trigger.early_count, trigger.late_count} - {None}
        alone = trigger.mode is AccumulationMode.DISCARDING or trigger.only_updated
        return bool(trigger.times) or (bool(counts) and not (alone and counts == {1}))

    @property
    def combine(self) -> CombineFn:
        """The combine function of a group."""
        return PerKey(self.accumulation) if self.holds_all_keys else self.accumulation

    def group(self, key: Hashable) -> Hashable:
        """The group of an element with this key."""
        return None if self.holds_all_keys else key

    def element(self, key: Hashable, value: Any) -> Any:
        """An element of a group, with this key and value."""
        return (key, value) if self.holds_all_keys else value

    def by_key(self, group: Hashable, value: Any) -> Mapping[Any, Any]:
        """The value of each key in what a group says."""
        return value if self.holds_all_keys else {group: value}

    @property
    def _in_sessions(self) -> bool:
        return self.window is not None and isinstance(self.window.window_fn, Sessions)

    # -- in memory ---------------------------------------------------------------------------

    def run(self, batch_interval: DurationLike = 500) -> OperatorRun:
        """The operator in memory, to be fed element by element and batch by batch.

        Raises:
            WindowingError: The interval is 0, or 1 ms and there are firings by time.
            TimeError: It cannot be read.
        """
        return OperatorRun(self, positive_duration("batch_interval", batch_interval))

    @by_name(
        "WindowedOperator.on_dataframe",
        WindowingError,
        GROUP_OPTIONS,
        value=A_VALUE,
        timestamp=A_TIMESTAMP,
    )
    def on_dataframe(
        self,
        df: "DataFrame",
        *,
        value: str | Sequence[str],
        timestamp: str,
        key: str | Sequence[str] = (),
        returns: str | None = None,
        watermark: DurationLike | None = None,
        **options: Unpack[GroupOptions],
    ) -> "DataFrame":
        """The operator over a DataFrame, streaming or bounded; see `beamlike.dialects.frames`.

        A batch is a micro-batch. ``timestamp`` is the begin of a window, and of an element that
        was dropped its own. Values that are withdrawn have the kind ``retract``. An element exactly
        as far behind the watermark as the lateness, which Apex drops, is taken.

        Args:
            value: The column of the elements; of several, elements are tuples.
            timestamp: The column with the event time, in place of an extractor.
            key: The key's columns, of an operator with keys. Rows without a key are dropped.
            returns: The type of the result as DDL; not needed for accumulations of this package
                whose type is known.
            watermark: How far event time may be out of order. A `FixedDiffEventTimeWatermarkGen`
                says it too.
            options: See `Stream.group`.

        Raises:
            UnsupportedError: Windows that are inherited, conditions of all keys, firings by the
                batch clock; what is withdrawn at the end of a window without a late firing.
            WindowingError: A stream without watermark.
            CombineError: ``returns`` is missing.
            ColumnError: A column is missing or has a type that cannot be used.
        """
        from beamlike.dialects import apex_frames

        return apex_frames.on_dataframe(
            self,
            df,
            key=key,
            value=value,
            timestamp=timestamp,
            returns=returns,
            watermark=watermark,
            options=options,
        )

    def recover(
        self, checkpoint: bytes, batch_interval: DurationLike = 500, *, unpickle: bool = False
    ) -> OperatorRun:
        """A run that continues from a checkpoint, see `OperatorRun.checkpoint`.

        Args:
            unpickle: Whether the checkpoint is opened, which runs code that is in it: only for
                those whose writers you trust.

        Raises:
            StateError: The bytes are not to be opened, are no checkpoint, or one of another
                operator or batch interval.
            WindowingError: The interval is 0, or 1 ms and there are firings by time.
            TimeError: It cannot be read.
        """
        interval = positive_duration("batch_interval", batch_interval)
        return OperatorRun(self, interval).recovered(checkpoint, unpickle=unpickle)


@attrs.frozen(init=False)
class WindowedMergeOperator(WindowedOperator):
    """A windowed operator of two streams.

    Over a DataFrame that has the rows of both, ``value`` names two columns: the number of a row's
    stream, 1 or 2, and its value. The watermark is then one of all rows; that of two streams, the
    smaller of both, is what `run` has.

    Args:
        window: As in `WindowedOperator`, and all others too.
        accumulation: One for elements of two streams, such as `InnerJoin`: they are ``(1, value)``
            and ``(2, value)``.
        timestamp_extractor2: As ``timestamp_extractor``, for the second stream.

    Raises:
        UnsupportedError: Further, a generator of watermarks. Apex's reads the first stream only;
            both streams have to be given theirs.

    Source: Apex Malhar ``WindowedMergeOperatorImpl``, ``KeyedWindowedMergeOperatorImpl``.
    """

    timestamp_extractor2: Extract | None = None

    def __init__(
        self,
        window: WindowOption | None,
        accumulation: CombineFn,
        trigger: TriggerOption | None = None,
        *,
        timestamp_extractor2: Extract | None = None,
        **others: Any,
    ) -> None:
        super().__init__(window, accumulation, trigger, **others)
        _check_extractor("timestamp_extractor2", timestamp_extractor2)
        if self.watermark_generator is not None:
            raise UnsupportedError(
                "the watermark of two streams is the smaller of both, and a generator reads only "
                "one of them; give each stream its own with process_watermark and "
                "process_watermark2"
            )
        object.__setattr__(self, "timestamp_extractor2", timestamp_extractor2)

    def run(self, batch_interval: DurationLike = 500) -> MergeOperatorRun:
        """As `WindowedOperator.run`."""
        return MergeOperatorRun(self, positive_duration("batch_interval", batch_interval))

    def recover(
        self, checkpoint: bytes, batch_interval: DurationLike = 500, *, unpickle: bool = False
    ) -> MergeOperatorRun:
        """As `WindowedOperator.recover`."""
        interval = positive_duration("batch_interval", batch_interval)
        return MergeOperatorRun(self, interval).recovered(checkpoint, unpickle=unpickle)


def _check_extractor(argument: str, given: Extract | None) -> None:
    if given is not None:
        check_function(argument, given, "an element's value")
