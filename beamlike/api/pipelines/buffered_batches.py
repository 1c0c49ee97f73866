"""Values of a key in batches that go on from bundle to bundle, as a function with states.

Source: Beam Java ``GroupIntoBatches.GroupIntoBatchesDoFn``, of which Scio's ``batchByKey`` is made.
"""

from collections.abc import Callable, Iterable
from typing import Any

from beamlike.api.pipelines.coders import PickleCoder, VarIntCoder
from beamlike.api.pipelines.dofn import DoFn, TimestampedValue
from beamlike.api.pipelines.python.reading import moment
from beamlike.api.pipelines.userstate import (
    BagStateSpec,
    ReadModifyWriteStateSpec,
    TimeDomain,
    TimerSpec,
    on_timer,
)
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP


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
            self._begin_to_wait(waited.with_no_output_timestamp())
        if known is None or timestamp < known:
            earliest.write(timestamp)
            expired.set(expired.latest, output_timestamp=timestamp)
        if before + cost >= self.enough:
            yield _flushed(key, batch, costs, earliest)
            waited.clear()
            expired.clear()

    def _begin_to_wait(self, waited: Any) -> None:
        if self.clock is None:
            waited.offset(self.wait).set_relative()
        else:
            began = moment(self.clock(), "what the clock of GroupIntoBatches returned")
            waited.set(began.micros // 1000 + self.wait)

    @on_timer(WAITED)
    def on_waited(
        self,
        key: Any = DoFn.KeyParam,
        batch: Any = DoFn.StateParam(BATCH),  # noqa: B008
        costs: Any = DoFn.StateParam(COSTS),  # noqa: B008
        earliest: Any = DoFn.StateParam(EARLIEST),  # noqa: B008
        expired: Any = DoFn.TimerParam(EXPIRED),  # noqa: B008
    ) -> Iterable[Any]:
        yield _flushed(key, batch, costs, earliest)
        expired.clear()

    @on_timer(EXPIRED)
    def on_expired(
        self,
        key: Any = DoFn.KeyParam,
        batch: Any = DoFn.StateParam(BATCH),  # noqa: B008
        costs: Any = DoFn.StateParam(COSTS),  # noqa: B008
        earliest: Any = DoFn.StateParam(EARLIEST),  # noqa: B008
        waited: Any = DoFn.TimerParam(WAITED),  # noqa: B008
    ) -> Iterable[Any]:
        yield _flushed(key, batch, costs, earliest)
        waited.clear()


def _flushed(key: Any, batch: Any, costs: Any, earliest: Any) -> TimestampedValue[Any]:
    """What has been kept, as a batch; nothing is kept any more."""
    flushed = TimestampedValue((key, batch.read()), earliest.read())
    for state in (batch, costs, earliest):
        state.clear()
    return flushed
