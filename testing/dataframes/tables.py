"""A query of a test over tables: its micro-batches, its watermark, and the state of its groupings.

The watermark of the query moves between micro-batches, as Spark's does. A test hands a user's
function frames whose port (see `beamlike.hosts.frames`) notes what it is asked for: the function
describes a query and knows of no test.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

import attrs
import pyarrow as pa

from beamlike.hosts.frames import EventTimes, StageInput
from beamlike.hosts.local.tables.frame import Make, MicroBatch, TableFrame
from beamlike.hosts.local.tables.query import output_of, works_of
from beamlike.hosts.local.tables.verbs import TableFrames
from beamlike.machine.input_clocks import HostWatermark, SourceClock
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.plan import Plan
from beamlike.runtime.store.stores import DictStore
from beamlike.runtime.work import known_watermark


@attrs.frozen
class Source:
    """Rows with an event time."""

    inputs: Collection[str]
    timestamp: str
    clock: SourceClock


@attrs.define
class QueryDescription:
    """A query, as far as a test has to know it: its sources, its groupings in the order in which
    they were described, and frames of panes, each with that which has the dropped rows beside them.
    """

    sources: list[Source] = attrs.field(factory=list)
    groupings: list[Plan] = attrs.field(factory=list)
    with_dropped: list[tuple[Any, Any]] = attrs.field(factory=list)

    def note_source(self, inputs: Collection[str], times: EventTimes) -> None:
        """Note a source, if a watermark follows its rows."""
        if times.delay is not None:
            clock = SourceClock(times.delay, max_ahead=times.max_ahead)
            self.sources.append(Source(inputs, times.column, clock))

    def everything(self, frame: Any) -> Any:
        """The frame with dropped rows beside its panes, if it is one that a call returned."""
        return next((full for panes, full in self.with_dropped if panes is frame), frame)


class RecordingTables(TableFrames):
    """The port of tables, which records what it is asked for."""

    def __init__(self, described: QueryDescription) -> None:
        self._described = described

    def source_rows(self, df: TableFrame, times: EventTimes) -> TableFrame:
        self._described.note_source(df.inputs, times)
        return super().source_rows(df, times)

    def run(self, inputs: Sequence[StageInput], plan: Plan, wake_every_ms: int) -> TableFrame:
        self._described.groupings.append(plan)
        return super().run(inputs, plan, wake_every_ms)

    def panes(self, everything: TableFrame) -> TableFrame:
        panes: TableFrame = super().panes(everything)
        self._described.with_dropped.append((panes, everything))
        return panes


@attrs.frozen
class _State:
    """The saved state of a grouping between micro-batches, by group: what a checkpoint has of it.

    ``fanout`` has that of the groups of its fanout.
    """

    shards: Mapping[int, DictStore] = attrs.field(factory=lambda: defaultdict(DictStore))
    fanout: Mapping[int, DictStore] = attrs.field(factory=lambda: defaultdict(DictStore))


class TableGrouping:
    """A grouping: all its shards, in this process."""

    def __init__(self, plan: Plan, inputs: Sequence[StageInput], state: _State | None) -> None:
        self.plan, self._inputs = plan, inputs
        self.state = state or _State()
        self._works = works_of(plan)

    def table(self, batch: MicroBatch) -> pa.Table:
        """Everything that comes out in a micro-batch, with the hidden column."""
        updates = []
        if batch.ended:
            updates.append(HostWatermark(MAX_TIMESTAMP))
        elif self.plan.clocks is None:
            updates.append(HostWatermark(known_watermark(batch.watermark), begins=True))
        stores = self.state.shards.__getitem__, self.state.fanout.__getitem__
        return output_of(self._works, self._inputs, batch, updates, *stores)


class TableQuery:
    """Where frames come from, and what they keep, with the state of the query before."""

    is_streaming: Final = True
    without_spark: Final = (
        "and this test runs without it; start a session before, such as bl.local_session(), or "
        'test with host="spark"'
    )
    """What to do where only Spark can help."""

    def __init__(
        self,
        schemas: Mapping[str, pa.Schema],
        described: QueryDescription,
        before: "TableQuery | None" = None,
    ) -> None:
        self.port = RecordingTables(described)
        self.frames = {name: self._input(name, schema) for name, schema in schemas.items()}
        self.watermark: int = 0 if before is None else before.watermark
        self._before = before
        self._stages: list[TableGrouping] = []
        self._sources: list[int | None] = []

    def _input(self, name: str, schema: pa.Schema) -> TableFrame:
        nothing = schema.empty_table()
        return TableFrame(
            schema, frozenset((name,)), self, lambda batch: batch.rows.get(name, nothing)
        )

    def source(self, delay: int) -> Callable[[Sequence[int]], None]:
        """What has the watermark of the query trail the event times of some rows (all ms)."""
        index = len(self._sources)
        self._sources.append(None)

        def follow(times: Sequence[int]) -> None:
            known = self._sources[index]
            reached = [time - delay for time in times]
            known_too = [] if known is None else [known]
            self._sources[index] = max([*reached, *known_too], default=None)

        return follow

    def stage(self, plan: Plan, inputs: Sequence[StageInput]) -> Make:
        """What makes the rows of a grouping, with the state of the one in its place before."""
        index, known = len(self._stages), [] if self._before is None else self._before._stages
        state = deepcopy(known[index].state) if index < len(known) else None
        self._stages.append(TableGrouping(plan, inputs, state))
        return self._stages[-1].table

    def step(
        self,
        out: TableFrame,
        rows: Mapping[str, pa.Table],
        moves: Mapping[str, int],
        clock: int,
        *,
        ended: bool = False,
    ) -> list[pa.Table]:
        """A micro-batch, and the one without data that a new watermark causes; their rows.

        If it fails nothing has happened.
        """
        states, sources = [deepcopy(stage.state) for stage in self._stages], list(self._sources)
        watermark = self.watermark
        try:
            came = [out.table(MicroBatch(rows, moves, self.watermark, clock, ended))]
            reached = min((0 if source is None else source for source in self._sources), default=0)
            if reached > self.watermark and not ended:
                self.watermark = reached
                came.append(out.table(MicroBatch({}, {}, reached, clock)))
        except Exception:
            for stage, state in zip(self._stages, states, strict=True):
                stage.state = state
            self._sources, self.watermark = sources, watermark
            raise
        return came
