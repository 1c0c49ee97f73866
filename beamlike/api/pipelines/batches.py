"""Elements in batches, for functions to which many at a time are cheaper than each alone.

Source: Beam Python ``util.GroupIntoBatches``, Beam Java
``GroupIntoBatches.GroupIntoBatchesDoFn``, of which Scio's ``batchByKey`` is made.
"""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from beamlike.api.pipelines.beams_own import OfBeamsSDK
from beamlike.api.pipelines.checks import check_collection
from beamlike.api.pipelines.coders import PickleCoder, VarIntCoder
from beamlike.api.pipelines.dofn import DoFn, TimestampedValue
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.python.reading import in_millis, moment
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.userstate import (
    BagStateSpec,
    ReadModifyWriteStateSpec,
    TimeDomain,
    TimerSpec,
    on_timer,
)
from beamlike.api.pipelines.variables import K, T
from beamlike.errors import PipelineError
from beamlike.model.options import whole_number
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP

__all__ = ["GroupIntoBatches"]


class GroupIntoBatches(PTransform[Any, Any]):
    """Pairs as batches: a key and a list of so many of its values in a window.

    A batch comes out with the pair that completes it. What is left comes out when the window
    expires: its end and the allowed lateness are over. Each batch is at the earliest event time
    in it. This is Beam Java's way; in Beam Python what is left comes out at the
    end of the window.

    The trigger of the collection is not asked, as in Beam. Batches have the
    windowing of the collection.

    Args:
        batch_size: How many values make a batch.
        max_buffering_duration_secs: How long a batch waits at most, in processing time, counted
            from its first value, before it comes out with what it has; None or 0: for as long as
            its window lasts.
        clock: What time it is, in seconds, when a batch begins to wait, such as the fake clock of a
            test; None: what processing time is in the pipeline.

    Raises:
        PipelineError: The size or the duration is none, or there is a clock and no duration; when
            it is applied: the windows merge.
    """

    WithShardedKey: ClassVar[Any] = OfBeamsSDK("GroupIntoBatches.WithShardedKey")

    def __init__(
        self,
        batch_size: int,
        max_buffering_duration_secs: float | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        super().__init__()
        self.size = whole_number(batch_size, 1, "GroupIntoBatches batch_size", PipelineError)
        self.seconds = max_buffering_duration_secs
        if self.seconds is not None and not 0 <= self.seconds < float("inf"):
            raise PipelineError(
                "GroupIntoBatches max_buffering_duration_secs must be a number of seconds, got "
                f"{self.seconds!r}"
            )
        self.wait = in_millis(self.seconds or 0, "GroupIntoBatches max_buffering_duration_secs")
        if clock is not None and not (callable(clock) and self.seconds):
            raise PipelineError(
                "GroupIntoBatches clock must be a function without arguments that returns seconds, "
                "and is asked only together with max_buffering_duration_secs, got "
                f"{clock!r} and {self.seconds!r}; add the duration, or leave the clock out"
            )
        self.clock = clock

    def expand(self, pairs: PCollection[tuple[K, T]]) -> PCollection[tuple[K, list[T]]]:
        check_collection(pairs, self)
        return pairs | "Batches" >> ParDo(BufferedBatches(self.size, self.wait, clock=self.clock))


class BufferedBatches(DoFn[Any, Any]):
    """Pairs as batches: a batch comes out when it is full, when it has waited so long, and when its
    window expires. It is at the earliest event time in it, and holds the watermark there.

    A full batch keeps the pane of the pair that completes it; what is left has none.

    Args:
        enough: How many values make a batch full, or how much they cost.
        wait: How long a batch waits from its first value on, in processing time (ms); 0: for as
            long as its window lasts.
        cost: What a value costs; None to count them. A value that would make a batch cost too much
            begins the next one.
        clock: What time it is, in seconds, when a batch begins to wait; None: what processing time
            is in the pipeline.
    """

    BATCH = BagStateSpec("batch", PickleCoder())
    COSTS = ReadModifyWriteStateSpec("costs", VarIntCoder())
    EARLIEST = ReadModifyWriteStateSpec("earliest", VarIntCoder())
    WAITED = TimerSpec("waited", TimeDomain.REAL_TIME)
    EXPIRED = TimerSpec("expired", TimeDomain.WATERMARK)

    # The watermark waits for the earliest value.
    allowed_timestamp_skew = MAX_TIMESTAMP - MIN_TIMESTAMP

    def __init__(
        self,
        enough: int,
        wait: int,
        cost: Callable[[Any], int] | None = None,
        clock: Callable[[], Any] | None = None,
    ) -> None:
        self.enough, self.wait, self.cost, self.clock = enough, wait, cost, clock

    def process(
        self,
        element: tuple[Any, Any],
        timestamp: Any = DoFn.TimestampParam,
        batch: Any = DoFn.StateParam(BATCH),  # noqa: B008
        costs: Any = DoFn.StateParam(COSTS),  # noqa: B008
        earliest: Any = DoFn.StateParam(EARLIEST),  # noqa: B008
        waited: Any = DoFn.TimerParam(WAITED),  # noqa: B008
        expired: Any = DoFn.TimerParam(EXPIRED),  # noqa: B008
    ) -> Iterable[Any]:
        key, value = element
        cost = 1 if self.cost is None else self.cost(value)
        before, known = costs.read() or 0, earliest.read()
        if before and before + cost > self.enough:
            if timestamp < known:  # in Beam the time of the value that no longer fits counts too
                earliest.write(timestamp)
            yield _flushed(key, batch, costs, earliest)
            before = 0
            known = None
        batch.add(value)
        costs.write(before + cost)
        if known is None and self.wait:
            timer = waited.with_no_output_timestamp()
            if self.clock is None:
                timer.offset(self.wait).set_relative()
            else:
                began = moment(self.clock(), "what the clock of GroupIntoBatches returned")
                timer.set(began.micros // 1000 + self.wait)
        if known is None or timestamp < known:
            earliest.write(timestamp)
            expired.set(expired.latest, output_timestamp=timestamp)
        if before + cost >= self.enough:
            yield _flushed(key, batch, costs, earliest)
            waited.clear()
            expired.clear()

    @on_timer(WAITED)
    @on_timer(EXPIRED)
    def on_end(
        self,
        key: Any = DoFn.KeyParam,
        batch: Any = DoFn.StateParam(BATCH),  # noqa: B008
        costs: Any = DoFn.StateParam(COSTS),  # noqa: B008
        earliest: Any = DoFn.StateParam(EARLIEST),  # noqa: B008
        waited: Any = DoFn.TimerParam(WAITED),  # noqa: B008
        expired: Any = DoFn.TimerParam(EXPIRED),  # noqa: B008
    ) -> Iterable[Any]:
        yield _flushed(key, batch, costs, earliest)
        waited.clear()
        expired.clear()


def _flushed(key: Any, batch: Any, costs: Any, earliest: Any) -> TimestampedValue[Any]:
    """What has been kept, as a batch; nothing is kept any more."""
    flushed = TimestampedValue((key, batch.read()), earliest.read())
    for state in (batch, costs, earliest):
        state.clear()
    return flushed
