"""A layer: the stateful operator that holds all nodes with state of one depth."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, Final

import attrs

from beamlike.machine.clocks import Clocks
from beamlike.machine.input_clocks import (
    InputClock,
    ShardWatermark,
    StageClock,
)
from beamlike.model.graph import (
    GroupNode,
)
from beamlike.runtime.clock import ShardInput, jump_of
from beamlike.runtime.graph.keyed_tables import noted_of
from beamlike.runtime.graph.layers import Layers, Spread
from beamlike.runtime.graph.machine_node import MachineNode
from beamlike.runtime.graph.mail import Mail, NodeDrop
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.graph.side_inputs import SideInputWorker
from beamlike.runtime.graph.side_shards import InputClocks, SideInputStage, side_clocks
from beamlike.runtime.graph.stage import Stage, StageStepped, plan_of
from beamlike.runtime.graph.stateful import StatefulWorker
from beamlike.runtime.logs import (
    log_effects,
    log_jump,
    log_merges,
    logs_all,
    logs_drops,
)
from beamlike.runtime.store.blobs import explaining_overflow
from beamlike.runtime.tally import Tally
from beamlike.runtime.work import HostReport, HostSays, Stores, Work

NOTED: Final = (GroupNode, MachineNode)
"""The nodes of scripts whose inside is noted."""


@attrs.frozen
class Placed:
    """A node in its layer.

    Args:
        stage: The node on its shards.
        inputs: The clocks of the sources and stateful nodes whose watermarks are its own.
    """

    stage: Stage | SideInputStage
    inputs: InputClocks


@attrs.frozen(slots=False)
class Layer(Work):
    """What the shards of a layer do. The state of each node is under its number.

    Args:
        spread: The graph, and how it is spread.
        layer: The number of the layer.
    """

    columns = ("blob",)
    host_says: ClassVar[HostSays] = "never"
    spread: Spread
    layer: int

    @property
    def layers(self) -> Layers:
        """The graph."""
        return self.spread.layers

    @cached_property
    def stateful_nodes(self) -> Sequence[int]:
        """The numbers of its nodes."""
        return self.layers.stateful_nodes(self.layer)

    @property
    def stages(self) -> Mapping[int, Placed]:
        """All of its nodes."""
        return {node: self._stage(node) for node in self.stateful_nodes}

    @cached_property
    def _stages(self) -> dict[int, Placed]:
        """Its nodes, as far as they had something to do."""
        return {}

    def _stage(self, number: int) -> Placed:
        if number not in self._stages:
            self._stages[number] = self._placed(number)
        return self._stages[number]

    def _placed(self, number: int) -> Placed:
        node = self.layers.nodes[number]
        worker = worker_of(node)
        origins = self.layers.origins[number]
        places = {origin: place for place, origin in enumerate(origins)}
        spread, wire, of_origins = self.spread, self.layers.wire, tuple(map(self._clock, origins))
        if isinstance(worker, SideInputWorker):
            main, *sides = map(self.layers.origins_of, node.sources)
            of_machines = side_clocks(origins, main, sides, self._clock)
            looking = SideInputStage(worker, wire, spread.shards, of_machines)
            of_sides = frozenset(map(origins.index, chain.from_iterable(sides)))
            return Placed(looking, InputClocks(Clocks(of_origins, of_sides), places))
        assert isinstance(worker, StatefulWorker), "a node of a layer has a machine"
        clocks = Clocks(of_origins)
        plan = plan_of(node, worker.machine, wire, spread.shards, spread.buckets, clocks=clocks)
        notes = spread.notes and isinstance(node, NOTED)
        return Placed(Stage(worker, plan, wire, notes), InputClocks(clocks, places))

    def _clock(self, origin: int) -> InputClock:
        return self.layers.clocks.get(origin, StageClock(self.spread.shards))

    def step(
        self, group: int, stores: Stores, blobs: Iterable[bytes], report: HostReport
    ) -> list[tuple[Any, ...]]:
        shard, received = self.spread.ids.index(group), Mail.opened(blobs, self.stateful_nodes)
        after = self._after(shard, received, stores, self.layers.resolution.from_ms(report.clock))
        return [(blob,) for blob in self.layers.sent(after, shard)]

    def _after(self, shard: int, received: Mail, stores: Stores, clock: int) -> Mail:
        """What leaves a shard in a micro-batch.

        Args:
            clock: Processing time, if nothing that was received says another.
        """
        after = Mail(
            bundles=received.bundles, passing=received.passing, for_the_end=received.for_the_end
        )
        if shard == 0:
            # All shards got the same; one of them hands it on.
            after.reached, after.delivered = [*received.reached], received.delivered
            after.clock = received.clock
        report = after.report
        for number in self.stateful_nodes:
            sources = self.layers.roots[number]
            clocks = [received.clock[source] for source in sources if source in received.clock]
            if self.spread.notes and not clocks:
                continue  # its scripts are over
            placed = self._stage(number)
            stage = placed.stage
            arrived = received.tables.get(number, ())
            tables = stage.together(arrived)
            now = max(clocks, default=clock)
            updates = list(placed.inputs.updates(received.reached))
            room = explaining_overflow(stage.plan, shard, lambda: tables)  # noqa: B023
            with report.metrics.step(str(number)), stage.worker.errors_name_this_node(), room:
                stepped = stage.step(stores(number), ShardInput(tables, updates, now))
            jump = None
            if shard == 0:  # the others see the same
                delivered = placed.inputs.delivered(received.delivered)
                jump = jump_of(stage.plan, placed.inputs.clocks, delivered, stepped.status)
            if jump is not None:
                log_jump(stage.plan.name, jump)
            drops, status = stepped.drops, stepped.status
            panes = [pane for bundle in stepped.out.values() for pane in bundle.panes]
            resolution, elements = self.layers.resolution, stage.count(tables)
            report.count(number, Tally.of(resolution, elements, drops, panes, status, jump))
            _log(stage.plan.name, stepped)
            report.lost += (NodeDrop(number, key, drop) for key, drop in drops)
            for tag, bundle in stepped.out.items():
                self.layers.put(after, number, tag, bundle)
            after.reached.append(
                ShardWatermark(number, shard, status.output_watermark, status.output_before)
            )
            if stage.notes:
                assert isinstance(stage, Stage), "only groupings are traced"
                noted = noted_of(arrived, self.layers.wire)
                report.traces.append(stage.trace(stepped, noted, now, number, shard))
        return after

    def close(self) -> None:
        for placed in self._stages.values():
            placed.stage.worker.teardown()

    def __getstate__(self) -> dict[str, Any]:
        # Derived values stay behind: workers derive them again.
        return {"spread": self.spread, "layer": self.layer}


def _log(name: str, stepped: StageStepped) -> None:
    if logs_all():
        log_merges(name, (({"key": key}, merged) for key, merged in stepped.merges))
    if logs_drops():
        log_effects(name, [*stepped.drops, *(stepped.panes if logs_all() else ())])
