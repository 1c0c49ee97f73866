"""A pipeline through the layers of the Spark host, without Spark: its letters go by hand.

A letter is what a shard sends, or a step of a script: batches that Spark leaves together until the
next shuffle. Between any two layers letters are dealt out and shuffled as Spark may do it, and the
layers forget everything but their stores between micro-batches.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final

import cloudpickle
import pyarrow as pa

from beamlike.hosts.spark.graph.query import Answers, Scripted
from beamlike.hosts.spark.graph.scripts import mails_of
from beamlike.hosts.spark.graph.stages import fanout_stage, fused_stage, has_fanout, output_stage
from beamlike.model.graph import Edge, Node
from beamlike.runtime.graph.layer_work import Layer
from beamlike.runtime.graph.layers import Layers, Spread
from beamlike.runtime.graph.mail import Mail
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.runtime.plan import spread_shards
from beamlike.runtime.store.stores import DictStore
from beamlike.runtime.work import HostReport

_SPARKS_CLOCK: Final = 1_900_000_000_000
"""Processing time (ms) where no script says one."""


def run_in_letters(
    ends: Sequence[Node],
    *,
    dice: Random,
    wanted: Sequence[Edge] = (),
    shards: int = 2,
    buckets: int = 2,
) -> PipelineRun:
    """Play the scripts of a pipeline through its layers, a step in each micro-batch.

    Args:
        ends: The nodes that are to be reached.
        dice: Says how letters are cut and shuffled.
        wanted: Outputs whose elements are wanted although nothing reads them.
        shards: The groups that share the keys of a layer.
        buckets: See `beamlike.runtime.plan.Plan`.
    """
    (run,) = run_side_by_side([Scripted(ends, wanted)], dice=dice, shards=shards, buckets=buckets)
    return run


def run_side_by_side(
    pipelines: Sequence[Scripted], *, dice: Random, shards: int = 2, buckets: int = 2
) -> list[PipelineRun]:
    """The same of pipelines that share nothing but the query."""
    ends = [node for pipeline in pipelines for node in pipeline.ends]
    wanted = [edge for pipeline in pipelines for edge in pipeline.edges]
    layers = Layers.of(ends, wanted)
    spread = Spread(layers, shards, buckets, notes=True)
    stores: dict[tuple[int, int, int], DictStore] = defaultdict(DictStore)
    answers = Answers(layers, pipelines)
    for mail in mails_of(layers, *answers.sources):
        letters = [layers.sent(mail)]
        for index in range(layers.depth):
            fused = fused_stage(_sent(spread), index)
            sent = _through(fused, letters, dice)
            if has_fanout(layers, index):
                sent = _combined_further(fanout_stage(_sent(spread)), sent)
            layer = _sent(Layer(spread, index + 1))
            letters = list(_stepped(layer, sent, stores, shards))
        left = _through(output_stage(_sent(layers)), letters, dice)
        answers.add(Mail.opened(blob for _, blob, _ in left))
    return answers.runs()


def _sent(thing: Any) -> Any:
    """As a worker gets it."""
    return cloudpickle.loads(cloudpickle.dumps(thing))


def _through(
    function: Callable[[Any], Any], letters: Sequence[Sequence[bytes]], dice: Random
) -> list[tuple[int | None, bytes, int]]:
    """What the tasks of a stage make of some letters, in any order: shard, letter and way."""
    tasks: list[list[bytes]] = [[], []]
    for letter in letters:
        dice.choice(tasks).extend(letter)
    found: list[tuple[int | None, bytes, int]] = []
    for task in tasks:
        batch = pa.RecordBatch.from_arrays([pa.array(task, pa.binary())], ["blob"])
        for out in function(iter([batch] if task else [])):
            columns = out.to_pydict()
            none = [0] * out.num_rows
            named = (columns.get(name, none) for name in ("shard", "blob", "way"))
            found += zip(*named, strict=True)
    dice.shuffle(found)
    return found


def _combined_further(
    function: Callable[[Any], Any], sent: Sequence[tuple[int | None, bytes, int]]
) -> list[tuple[int | None, bytes, int]]:
    """What the tasks of a fanout make of what goes their way."""
    found: list[tuple[int | None, bytes, int]] = []
    for way in dict.fromkeys(way for _, _, way in sent):
        letters = [(shard, blob) for shard, blob, at in sent if at == way]
        shards, blobs = zip(*letters, strict=True)
        columns = [pa.array(shards, pa.int32()), pa.array(blobs, pa.binary())]
        batch = pa.RecordBatch.from_arrays(columns, ["shard", "blob"])
        for out in function(iter([batch])):
            of_out = out.to_pydict()
            found += (
                (to, blob, way) for to, blob in zip(of_out["shard"], of_out["blob"], strict=True)
            )
    return found


def _stepped(
    layer: Layer,
    sent: Sequence[tuple[int | None, bytes, int]],
    stores: dict[tuple[int, int, int], DictStore],
    shards: int,
) -> Iterator[Sequence[bytes]]:
    for shard, group in enumerate(spread_shards(shards)):
        own = {stage: stores[layer.layer, shard, stage] for stage in layer.stages}
        blobs = [blob for to, blob, _ in sent if to == group]
        rows = layer.step(group, own.__getitem__, blobs, HostReport([], _SPARKS_CLOCK))
        yield [blob for (blob,) in rows]
