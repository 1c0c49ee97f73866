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
`PerKey` of `apex_accumulations` says how conditions of all keys of a window are met.

Source: Apex Malhar ``AbstractWindowedOperator``, ``KeyedWindowedOperatorImpl``,
``WindowedMergeOperatorImpl``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

import attrs

from beamlike.api.arguments import A_TIMESTAMP, column_names, positive_duration
from beamlike.dialects import frames
from beamlike.dialects.apex_accumulations import (
    Average,
    CoGroup,
    CompositeAccumulation,
    FoldFn,
    FullOuterJoin,
    Group,
    InnerJoin,
    InnerJoinOn,
    LeftOuterJoin,
    ReduceFn,
    RemoveDuplicates,
    RightOuterJoin,
    Sort,
    TopN,
    TopNByKey,
)
from beamlike.dialects.apex_operator import (
    Extract,
    FixedDiffEventTimeWatermarkGen,
    FixedDiffProcessingTimeWatermarkGen,
    Operator,
    Storage,
    Storages,
    TriggerOption,
    WindowOption,
    check_extractor,
)
from beamlike.dialects.apex_run import MergeOperatorRun, OperatorCheckpoint, OperatorRun
from beamlike.errors import UnsupportedError
from beamlike.model.combine import Count, Max, Min, Sum
from beamlike.model.options import AccumulationMode
from beamlike.model.time import DurationLike

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
    "OperatorCheckpoint",
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


@attrs.frozen
class WindowedOperator(Operator):
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
        storages: Where its state is, see `Storages`; None: it has what it needs.

    Raises:
        UnsupportedError: A combination that Apex has and this has not; the message says which.
        WindowingError: Sessions without keys; a storage is missing that the trigger needs; panes
            are discarded, and only updated ones are to be fired; an argument of another kind.
        CombineError: The accumulation is no combine function, or an extractor no function.
        TimeError: The lateness cannot be read.
    """

    def run(self, batch_interval: DurationLike = 500) -> OperatorRun:
        """The operator in memory, to be fed element by element and batch by batch.

        Raises:
            WindowingError: The interval is 0, or 1 ms and there are firings by time.
            TimeError: It cannot be read.
        """
        return OperatorRun(self, positive_duration("batch_interval", batch_interval))

    @frames.called_by_name("WindowedOperator", value=frames.A_VALUE, timestamp=A_TIMESTAMP)
    def on_dataframe(
        self,
        df: "DataFrame",
        *,
        value: str | Sequence[str],
        timestamp: str,
        key: str | Sequence[str] = (),
        returns: str | None = None,
        watermark: DurationLike | None = None,
        **options: Unpack[frames.GroupOptions],
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
        trigger = self.trigger
        retracts = trigger.mode is AccumulationMode.RETRACTING
        self._check_on_spark(retracts)
        generator = self.watermark_generator
        if isinstance(generator, FixedDiffEventTimeWatermarkGen) and watermark is None:
            # Its watermark says what is over; ours, a millisecond less, what nothing comes before.
            watermark = f"{generator.fixed_diff + 1} ms"
        columns, keys = column_names(value, "value"), column_names(key, "key")
        rows = frames.by_event_time(df, timestamp, watermark)
        strategy = self.strategy.configured(late_check="element")
        everything = frames.grouped(rows, strategy, self.combine, keys, columns, returns, options)
        is_retraction = "retraction" if "retraction" in everything.columns else "false"
        # Apex drops windows silently, and fires at their end only if the trigger says so.
        asked_for = (
            f"CASE WHEN dropped IS NOT NULL THEN true WHEN {is_retraction} THEN {retracts} "
            f"WHEN pane.timing = 'ON_TIME' THEN {trigger.on_time} ELSE NOT pane.is_last END"
        )
        return frames.shown(
            everything.filter(asked_for),
            keys,
            kinds={"retract": f"dropped IS NULL AND {is_retraction}"},
            timestamp="window.start",
            reason=f"if(dropped.reason = 'expired', 'element_behind_horizon', {frames.REASON})",
        )

    def _check_on_spark(self, retracts: bool) -> None:
        trigger = self.trigger
        if self.window is None or self.holds_all_keys or trigger.times:
            raise UnsupportedError(
                "on Spark an operator has windows of its own, counts the elements of each key and "
                "fires by no batch clock; use run() for windows that are inherited, for counts of "
                "all keys and for times, or Repeatedly(AfterProcessingTime(...)) of this package"
            )
        silent_end = not trigger.on_time and trigger.early_count != 1
        silent_last = self.allowed_lateness != 0 and trigger.late_count is None
        if retracts and (silent_end or silent_last):
            raise UnsupportedError(
                "on Spark, panes that are withdrawn need a firing at the watermark and one for "
                "what is late, or the last pane would be withdrawn with no row; add at_watermark() "
                "and with_late_firings_at_every(1), or say allowed_lateness=0"
            )

    def recover(
        self, checkpoint: OperatorCheckpoint, batch_interval: DurationLike = 500
    ) -> OperatorRun:
        """A run that continues from a checkpoint, see `OperatorRun.checkpoint`.

        Raises:
            StateError: It is not a checkpoint, or one of another operator or batch interval.
            WindowingError: The interval is 0, or 1 ms and there are firings by time.
            TimeError: It cannot be read.
        """
        return self.run(batch_interval).recovered(checkpoint)


@attrs.frozen
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

    timestamp_extractor2: Extract | None = attrs.field(
        default=None, validator=attrs.validators.optional(check_extractor), kw_only=True
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.watermark_generator is not None:
            raise UnsupportedError(
                "the watermark of two streams is the smaller of both, and a generator reads only "
                "one of them; give each stream its own with process_watermark and "
                "process_watermark2"
            )

    @property
    def extractors(self) -> tuple[Extract | None, ...]:
        """What says when an element happened, for each of its streams."""
        return self.timestamp_extractor, self.timestamp_extractor2

    def run(self, batch_interval: DurationLike = 500) -> MergeOperatorRun:
        """As `WindowedOperator.run`."""
        return MergeOperatorRun(self, positive_duration("batch_interval", batch_interval))

    def recover(
        self, checkpoint: OperatorCheckpoint, batch_interval: DurationLike = 500
    ) -> MergeOperatorRun:
        """As `WindowedOperator.recover`."""
        return self.run(batch_interval).recovered(checkpoint)
