"""All saved windows of a checkpoint, and what holds its watermarks back."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.errors import StateError
from beamlike.inspect.state.checkpoint import Checkpoint, Damage
from beamlike.inspect.state.function_state import SavedFunction
from beamlike.inspect.state.keys import count_keys
from beamlike.inspect.state.stage import COMMON, TIME, SavedStage, columns, times_in_ms
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHARDS: Final = columns(
    "stage string, operator int, shard int, partition int, windows bigint, keys bigint, "
    "bytes bigint, stored bigint, watermark timestamp, output_watermark timestamp, "
    "clock timestamp, next_event timestamp, next_clock timestamp, held_until timestamp, "
    "held_key string, held_start timestamp, held_end timestamp"
)
_PLACE: Final = "stage string, shard int, key string, start timestamp, end timestamp"
_CELLS: Final = columns(
    f"{_PLACE}, state string, kind string, items bigint, bytes bigint, value string"
)
_TIMERS: Final = columns(
    f"{_PLACE}, timer string, tag string, domain string, at timestamp, output timestamp"
)


def _functions(stages: Iterable[SavedStage]) -> Iterator[tuple[tuple[Any, ...], SavedFunction]]:
    """What is saved of each window of functions, with its place."""
    for stage in stages:
        if stage.functions is not None:
            places = times_in_ms(stage.windows.select(["stage", "shard", "key", "start", "end"]))
            columns = (column.to_pylist() for column in places.columns)
            yield from zip(zip(*columns, strict=True), stage.functions, strict=True)


def _table(schema: pa.Schema, rows: Iterable[Sequence[Any]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [
        pa.array(column, pa.int64() if field.type == TIME else field.type).cast(field.type)
        for field, column in zip(schema, columns, strict=True)
    ]
    return pa.table(arrays, schema=schema)


@attrs.frozen(slots=False, eq=False)
class SavedState:
    """The state of a query after a micro-batch, read from its checkpoint. Changes nothing there.

    Args:
        path: The folder that it was read from.
        batch: The micro-batch.
        batches: The first and the last one that there are.
        stages: The groupings, and whatever else keeps windows, from the sources on.
        damaged: What of them cannot be read, and is in no table.
    """

    path: str
    batch: int
    batches: tuple[int, int]
    stages: tuple[SavedStage, ...]
    _spark: "SparkSession" = attrs.field(repr=False)
    damaged: tuple[Damage, ...] = ()

    @classmethod
    def open(cls, spark: "SparkSession", path: str, batch: int | None = None) -> "SavedState":
        """Read a checkpoint; see `beamlike.open_state`."""
        checkpoint = Checkpoint.open(spark, path, batch)
        stages, damaged = checkpoint.read()
        batches = checkpoint.batch, checkpoint.batches
        return cls(checkpoint.path, *batches, stages, spark, damaged)

    def stage(self, name: str) -> SavedStage:
        """A grouping by its name.

        Raises:
            StateError: There is none; names those that there are.
        """
        for stage in self.stages:
            if stage.name == name:
                return stage
        known_names = ", ".join(repr(stage.name) for stage in self.stages) or "none"
        raise StateError(f"there is no stage {name!r} in {self.path}; there are {known_names}")

    def named(self, names: Sequence[str]) -> Sequence[SavedStage]:
        """The groupings of these names; without any, all of them."""
        return [self.stage(name) for name in names] or self.stages

    @cached_property
    def windows(self) -> pa.Table:
        """All windows of all groupings, see `beamlike.inspect.state`.

        Those of one grouping, with the columns of its key and its accumulators, are
        ``state.stage("name").windows``.
        """
        parts = [stage.windows.select(COMMON.names).cast(COMMON) for stage in self.stages]
        return pa.concat_tables([COMMON.empty_table(), *parts]).combine_chunks()

    @cached_property
    def cells(self) -> pa.Table:
        """The states of functions, one row for each that is not empty.

        ==============  =========  =============================================================
        column          type       holds
        ==============  =========  =============================================================
        ``stage`` ...   as in      the place: ``stage``, ``shard``, ``key``, ``start``, ``end``
                        `windows`
        ``state``       string     its name
        ``kind``        string     ``value``, ``bag``, ``set``, ``ordered list``, ``map`` or
                                   ``combined``
        ``items``       int64      how many values are in it
        ``bytes``       int64      their bytes
        ``value``       string     what is in it, as Python writes it; of a map and an ordered
                                   list the pairs, of a combined state its accumulator. Bytes are
                                   what a coder of the user's own made
        ==============  =========  =============================================================

        No code of the checkpoint is run: an object of a class shows only its name.

        Raises:
            StateError: The rows of a function are none that beamlike writes.
        """
        rows = (
            (*place, cell.name, cell.kind, cell.items, cell.bytes, repr(cell.value))
            for place, function in _functions(self.stages)
            for cell in function.cells
        )
        return _table(_CELLS, rows)

    @cached_property
    def timers(self) -> pa.Table:
        """The timers of functions that are set, one row for each.

        ==============  =========  =============================================================
        column          type       holds
        ==============  =========  =============================================================
        ``stage`` ...   as in      the place: ``stage``, ``shard``, ``key``, ``start``, ``end``
                        `windows`
        ``timer``       string     its name
        ``tag``         string     which of its family; empty without tags
        ``domain``      string     ``event`` or ``processing``
        ``at``          timestamp  it fires once its clock is past this
        ``output``      timestamp  where it holds the output watermark, and when what it brings
                                   out happens; null: it holds nothing
        ==============  =========  =============================================================

        Raises:
            StateError: The rows of a function are none that beamlike writes.
        """
        rows = (
            (*place, timer.name, timer.tag, timer.domain, timer.at, timer.output)
            for place, function in _functions(self.stages)
            for timer in function.timers
        )
        return _table(_TIMERS, rows)

    @cached_property
    def shards(self) -> pa.Table:
        """The shards of all groupings, one row for each.

        ====================  =========  ====================================================
        column                type       holds
        ====================  =========  ====================================================
        ``stage``, operator   as windows which grouping
        ``shard``             int32      its number, from 0
        ``partition``         int32      the partition of Spark's state that it lies in
        ``windows``, keys     int64      how many it remembers, closed ones too
        ``bytes``             int64      of its rows in memory
        ``stored``            int64      of its blobs, which are compressed
        ``watermark``         timestamp  its input watermark; null: none yet, or the end of time
        ``output_watermark``  timestamp  its output watermark; likewise
        ``clock``             timestamp  processing time of its last step
        ``next_event``        timestamp  the watermark at which a window changes by itself
        ``next_clock``        timestamp  the clock that has to pass for that
        ``held_until``        timestamp  the earliest hold, if it is behind the watermark
        ``held_key``,         string,    the key and the window that have it; null: nothing
        held_start, held_end  timestamp  holds the output watermark back
        ====================  =========  ====================================================
        """
        rows = chain.from_iterable(self._rows_of_shards.values())
        return _table(SHARDS, ([row[name] for name in SHARDS.names] for row in rows))

    @cached_property
    def _rows_of_shards(self) -> dict[str, list[dict[str, Any]]]:
        return {stage.name: list(_shard_rows(stage)) for stage in self.stages}

    def shards_of(self, stage: SavedStage) -> Sequence[dict[str, Any]]:
        """The rows of `shards` of a grouping, in its order, times in ms."""
        return self._rows_of_shards[stage.name]

    def to_dataframe(self) -> "DataFrame":
        """`windows` as a DataFrame of the session."""
        return self._spark.createDataFrame(self.windows)


def _shard_rows(stage: SavedStage) -> Iterator[dict[str, Any]]:
    windows = stage.windows
    for shard, number in zip(stage.shards, stage.numbers, strict=True):
        of_shard = windows.filter(pc.equal(windows["shard"], number))
        count = of_shard.num_rows
        yield {
            "stage": stage.name,
            "operator": stage.operator,
            "shard": number,
            "partition": shard.partition,
            "windows": count,
            "keys": count_keys([of_shard[f"key_{name}"] for name in stage.key_columns], count),
            "bytes": pc.sum(of_shard["bytes"]).as_py() or 0,
            "stored": shard.stored,
            "watermark": known_instant(shard.clocks.watermark),
            "output_watermark": known_instant(shard.output_watermark),
            "clock": shard.clocks.clock,
            "next_event": known_instant(None if shard.next_event is None else shard.next_event + 1),
            "next_clock": shard.next_clock,
            **_holder(of_shard, shard.clocks.watermark),
        }


def known_instant(instant: int | None) -> int | None:
    """An instant (ms), None for those that stand for the ends of time."""
    return instant if instant is not None and MIN_TIMESTAMP < instant < MAX_TIMESTAMP else None


def _holder(windows: pa.Table, watermark: int) -> dict[str, Any]:
    """The window that holds the output watermark of a shard back, if one does."""
    names = {"held_until": "hold", **{f"held_{name}": name for name in ("key", "start", "end")}}
    times_ms = times_in_ms(windows.select(list(names.values())))
    least = pc.min(times_ms["hold"]).as_py()
    if least is None or least >= watermark:
        return dict.fromkeys(names)
    row = pc.index(times_ms["hold"], least).as_py()
    return {name: times_ms[column][row].as_py() for name, column in names.items()}
