"""A layer: the stateful operator that holds all groupings of one depth."""

import reprlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from zlib import crc32

import attrs
import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from beamlike.errors import UserFunctionError
from beamlike.hosts.keys import key_of
from beamlike.hosts.nodes import worker_of
from beamlike.hosts.spark.changes import strategy_words, unnumbered
from beamlike.hosts.spark.columns import AccumulatorColumns, PickledColumn
from beamlike.hosts.spark.graph.layers import Layers
from beamlike.hosts.spark.graph.mail import Arriving, Lost, Mail, Out, Reached
from beamlike.hosts.spark.graph.noting import Noted, NotingShard
from beamlike.hosts.spark.graph.tally import Tally
from beamlike.hosts.spark.index import Standing
from beamlike.hosts.spark.jumps import jump_of_stage
from beamlike.hosts.spark.logs import (
    log_effects,
    log_jump,
    log_merges,
    logs_all,
    logs_drops,
    prepare_logs,
)
from beamlike.hosts.spark.pages import Store
from beamlike.hosts.spark.plan import Plan
from beamlike.hosts.spark.processor import SparkStore, blobs_of, paused_gc
from beamlike.hosts.spark.replay_worker import OverPickles
from beamlike.hosts.spark.room import in_room
from beamlike.hosts.spark.shard import KeyedMerge, Shard
from beamlike.hosts.spark.workers import ease_worker
from beamlike.hosts.staged import StagedWorker
from beamlike.hosts.wire import Wire
from beamlike.machine.clocks import (
    Clocks,
    FromShard,
    FromSource,
    Heard,
    InputClock,
    SourceClock,
    StageClock,
)
from beamlike.machine.events import Drop, Effect, Element
from beamlike.machine.jumps import Jump, longest_wait
from beamlike.model.graph import MAIN, Grouped, Node, Remembered, Seen
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windows import bounds

__all__ = ["Layer", "LayerProcessor"]

_KEYS, _VALUES = {"key": pa.binary()}, {"value": pa.binary()}


@attrs.frozen
class _Does(OverPickles):
    """The machine of a node, which saved state depends on."""

    node: Node
    wire: Wire

    @property
    def accumulator(self) -> AccumulatorColumns:
        return _OverWire(self.wire)

    def elements(self, rows: Iterable[tuple[Any, ...]]) -> Iterable[Any]:
        return (self.wire.loads(blob) for (blob,) in rows)

    @property
    def words(self) -> Mapping[str, str]:
        told = {"machine": type(self.of).__name__, "transform": unnumbered(self.node.label)}
        if isinstance(self.node, Grouped):
            told |= strategy_words(self.node.strategy) | {"combine": str(self.node.combine)}
        elif isinstance(self.node, Seen):
            told |= {"main": str(self.node.main), "side": str(self.node.side)}
        return told

    def fields(self, value: Any) -> Mapping[str, Any]:
        return {"value": value}


@attrs.frozen
class _OverWire(PickledColumn):
    """Any Python value. What it is made of has been on the wire, and was checked there."""

    wire: Wire

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        return [pa.array(self.wire.each(accumulators, checks=False), pa.binary())]

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        return [self.wire.loads(blob) for blob in columns[0].to_pylist()]


@attrs.frozen
class _Stage:
    """A node of a layer: what it is given and shows, and its shards."""

    worker: StagedWorker
    sources: frozenset[int]
    origins: tuple[int, ...]
    clocks: Clocks
    shard: Shard


@attrs.frozen(slots=False)
class Layer:
    """What the shards of a layer do, wherever their state rests.

    Args:
        layers: The pipeline.
        layer: The number of the layer.
        shards: The groups that share its keys.
        buckets: See `Plan`.
        notes: Whether it is noted what happens inside of groupings, where scripts say so.
    """

    layers: Layers
    layer: int
    shards: int
    buckets: int
    notes: bool = False

    @cached_property
    def stages(self) -> Mapping[int, _Stage]:
        return {at: self._stage(at) for at in self.layers.staged(self.layer)}

    def _stage(self, at: int) -> _Stage:
        node = self.layers.nodes[at]
        worker = worker_of(node)
        assert isinstance(worker, StagedWorker), "a node of a layer has a machine"
        origins = self.layers.origins[at]
        clocks = Clocks(tuple(self._clock(origin) for origin in origins), self._side(node, origins))
        plan = Plan(
            WindowingStrategy.unwindowed(),
            _KEYS,
            _VALUES,
            (),
            shards=self.shards,
            buckets=self.buckets,
            on_error="fail",
            name=node.label,
            clocks=clocks,
            does=_Does(worker.machine, node, self.layers.wire),
        )
        kind = NotingShard if self.notes and isinstance(node, Grouped) else Shard
        return _Stage(worker, self.layers.roots[at], origins, clocks, kind(plan))

    def _side(self, node: Node, origins: Sequence[int]) -> frozenset[int]:
        """Which of a node's origins make up its side input, by their positions."""
        if not isinstance(node, Seen):
            return frozenset()
        _, side = node.sources
        return frozenset(map(origins.index, self.layers.origins_of(side)))

    def _clock(self, origin: int) -> InputClock:
        return self.layers.clocks.get(origin, StageClock(self.shards))

    def step(self, shard: int, mail: Mail, stores: Mapping[int, Store], clock: int) -> Mail:
        """Take one shard through a micro-batch.

        Args:
            shard: Its position.
            mail: What it was sent.
            stores: The state of each node.
            clock: Processing time (ms), if the mail does not tell it.
        """
        after = Mail(
            addressed=mail.addressed,
            # All shards were told the same; one of them hands it on.
            reached=list(mail.reached) if shard == 0 else [],
            delivered=mail.delivered if shard == 0 else [],
            came=mail.came,
            lost=mail.lost,
            metrics=mail.metrics,
            tallies=mail.tallies,
            noted=mail.noted,
            clock=mail.clock if shard == 0 else {},
            order=shard,
        )
        arrived: dict[int, list[Arriving]] = defaultdict(list)
        for it in mail.arriving:
            arrived[it.node].append(it)
        for at, stage in self.stages.items():
            arriving = arrived[at]
            arriving.sort(key=lambda it: not it.comes_first)
            tables = self._tables(arriving)
            told = [mail.clock[source] for source in stage.sources if source in mail.clock]
            now = max(told, default=clock)
            heard = list(_heard(stage, mail.reached))
            with (
                after.metrics.step(str(at)),
                stage.worker.blamed(),
                self._keys_named(arriving),
                in_room(stage.shard.plan, shard),
            ):
                stepped = stage.shard.step(stores[at], tables, heard, now)
            effects = [(self._key_of(key), effect) for (key,), effect in stepped.effects]
            jump = self._jump(at, stage, mail, stepped.standing) if shard == 0 else None
            if jump is not None:
                log_jump(self.layers.nodes[at].label, jump)
            after.count(at, Tally.of(len(arriving), effects, stepped.standing, jump))
            self._log(at, effects, stepped.merges)
            for of_key, effect in effects:
                if isinstance(effect, Drop):
                    after.lost.append(Lost(at, of_key, effect))
                else:
                    after.out.append(Out(at, MAIN, stage.worker.shown(of_key, effect)))
            after.reached.append(Reached(at, shard, stepped.output_watermark))
            if isinstance(stage.shard, NotingShard):
                outputs, story = stage.shard.taken()
                if told:  # else the script is over, and Spark goes on for another pipeline
                    given = [(it.key, it.value, _bare(it)) for it in arriving]
                    stands = stepped.standing.watermark
                    after.noted.append(Noted(at, shard, now, stands, given, outputs, story))
        return after

    def __getstate__(self) -> dict[str, Any]:
        # Derived values stay behind: workers derive them again.
        parts = ("layers", "layer", "shards", "buckets", "notes")
        return {part: getattr(self, part) for part in parts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _jump(self, at: int, stage: _Stage, mail: Mail, standing: Standing) -> Jump | None:
        """The jump of a node's watermark, if rows of its sources made it do one."""
        wait = longest_wait(_windowing(self.layers.nodes[at]))
        if wait is None:
            return None
        own = (it for it in mail.delivered if it.source in stage.origins)
        rows = [attrs.evolve(it, source=stage.origins.index(it.source)) for it in own]
        return jump_of_stage(stage.clocks, rows, standing, wait)

    def _key_of(self, blob: bytes) -> Any:
        return key_of(blob, self.layers.wire.coders)

    def _log(
        self,
        at: int,
        effects: Sequence[tuple[Any, Effect]],
        merges: Sequence[KeyedMerge],
    ) -> None:
        name = self.layers.nodes[at].label
        if logs_all():
            log_merges(name, (({"key": self._key_of(key)}, it) for (key,), it in merges))
        if logs_drops():
            log_effects(name, effects)

    @contextmanager
    def _keys_named(self, arriving: Iterable[Arriving]) -> Iterator[None]:
        """What fails inside the block says the key itself, and not its bytes."""
        try:
            yield
        except UserFunctionError as error:
            said = {reprlib.repr((it.key,)): it.key for it in arriving}
            if error.key not in said:
                raise
            raise error.of_key(self._key_of(said[error.key])) from error.__cause__

    def _tables(self, arriving: list[Arriving]) -> list[pa.Table]:
        if not arriving:
            return []
        spans = [(None, None) if it.window is None else bounds(it.window) for it in arriving]
        number = pa.int64()
        return [
            pa.table(
                {
                    "key_key": pa.array([it.key for it in arriving], pa.binary()),
                    "value_value": pa.array([it.value for it in arriving], pa.binary()),
                    "ts": pa.array([it.timestamp for it in arriving], number),
                    "start": pa.array([start for start, _ in spans], number),
                    "end": pa.array([end for _, end in spans], number),
                    "bucket": pa.array(
                        [crc32(it.key) // self.shards % self.buckets for it in arriving],
                        pa.int32(),
                    ),
                }
            )
        ]


def _windowing(node: Node) -> WindowingStrategy:
    """By which a node judges what is too late."""
    match node:
        case Grouped():
            return node.strategy
        case Seen():
            return node.main
        case Remembered():
            return node.windowing
    raise AssertionError(f"{node.label!r} has no machine")


def _bare(it: Arriving) -> Element:
    return Element(None, it.timestamp, it.window)


def _heard(stage: _Stage, reached: Iterable[Reached]) -> Iterator[Heard]:
    for it in reached:
        if it.node not in stage.origins:
            continue
        at = stage.origins.index(it.node)
        if isinstance(stage.clocks.inputs[at], SourceClock):
            yield FromSource(at, it.watermark)
        else:
            yield FromShard(at, it.shard, it.watermark)


class LayerProcessor(StatefulProcessor):
    """Carries letters to the shards of a layer. State ``blobs``: those of each node, by number."""

    def __init__(self, layer: Layer, ids: tuple[int, ...]) -> None:
        self._layer, self._ids = layer, ids

    def init(self, handle: StatefulProcessorHandle) -> None:
        ease_worker()
        prepare_logs()
        blobs = blobs_of(handle, "node")
        self._stores = {at: SparkStore(blobs, at) for at in self._layer.stages}

    def handleInputRows(self, key: Any, rows: Iterable[Row], timerValues: Any) -> Iterator[Row]:
        layers = self._layer.layers
        clock = timerValues.getCurrentProcessingTimeInMs()
        shard = self._ids.index(key[0])
        with paused_gc():
            mail = layers.load(bytes(row.blob) for row in rows)
            blob = layers.dump(self._layer.step(shard, mail, self._stores, clock))
        yield Row(blob=blob)

    def close(self) -> None:
        pass
