"""A script for one stage, as a graph of two nodes: a source that plays it, and the stage.

So a scenario runs like a pipeline. The keys of its elements travel as numbers, because in a
scenario keys are equal if ``==`` says so, and need no coder. If all values have one type for which
the combine function has columns, that type is declared, and they are folded as such.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import attrs

from beamlike.errors import UnsupportedError, UserFunctionError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, refuse_going_back
from beamlike.machine.failures import OnFailure
from beamlike.machine.ungrouped import PassThrough
from beamlike.model.combine import CombineFn, Mean, Sum
from beamlike.model.graph import Edge, GroupNode, ReadNode
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.accumulator_columns import as_column, columns_of
from beamlike.runtime.graph.machine_node import MachineNode
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.runtime.graph.stage import plan_of
from beamlike.runtime.graph.stateful import StatefulWorker
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.plan import Plan
from beamlike.runtime.script import Arrive, Machine, Run, Script, ScriptStep
from beamlike.runtime.store.state import StateLayout

Stage = WindowingStrategy | WindowFn | Machine
"""The stage of a scenario. A bare window function only assigns windows and groups nothing."""

_EXACT: Final = 2**53
"""Sums of whole numbers below this are exact in each type."""


@attrs.frozen
class ScriptedGraph:
    """A script and its stage as a graph.

    Args:
        script: The script as it was written.
        node: The stage. It has no label, because its errors are not those of a transform.
        keys: The keys by their numbers.
    """

    script: Script
    node: "ScriptedNode"
    keys: Mapping[int, Hashable]

    @classmethod
    def of(
        cls,
        stage: Stage,
        combine: CombineFn | None,
        script: Script,
        on_error: OnFailure = OnFailure.FAIL,
        first: int = 0,
    ) -> "ScriptedGraph":
        """The graph of a script.

        Args:
            stage: A strategy, a window function that only assigns, or another machine.
            combine: The combine function of a strategy.
            script: What happens.
            on_error: What a strategy or a window function does when a function of the user's
                raises.
            first: The number of the first key. Keys of graphs that run together differ.

        Raises:
            UnsupportedError: A strategy without a combine function, or one whose state has no
                layout; or the script moves the watermark of a side input.
            WatermarkError: The script moves a clock back.
        """
        _check(script)
        bundles = (step.elements for step in script if isinstance(step, Arrive))
        elements = [*chain.from_iterable(bundles)]
        names = {
            key: index for index, key in enumerate(dict.fromkeys(key for key, _ in elements), first)
        }
        source = ReadNode("", (), tuple(_numbered(step, names) for step in script), bounded=False)
        values = [element.value for _, element in elements]
        node = _node(stage, combine, (Edge(source),), values, on_error)
        graph = cls(script, node, {number: key for key, number in names.items()})
        StateLayout(graph.plan)  # refuses here what would otherwise end the query in a worker
        return graph

    @property
    def plan(self) -> Plan:
        """The plan of the only shard of the stage.

        Raises:
            UnsupportedError: The state has no layout.
        """
        worker = worker_of(self.node)
        assert isinstance(worker, StatefulWorker), "the node has a machine"
        return plan_of(self.node, worker.machine, Wire.declared())

    def run_of(self, inside: Run | None) -> Run:
        """The run of the script, from that of its node."""
        if inside is None:
            return Run(self.script, ())
        outputs = (
            attrs.evolve(output, step=inside.steps[output.step], key=self.keys[output.key])
            for output in inside.outputs
        )
        return Run(self.script, tuple(outputs))

    def names(self, error: UserFunctionError) -> bool:
        """Whether an error is about a key of this script."""
        return _number_in(error) in self.keys

    def named(self, error: UserFunctionError) -> UserFunctionError:
        """The error with the key itself in place of its number."""
        number = _number_in(error)
        return error if number is None else error.of_key(self.keys[number])


ScriptedNode = GroupNode | MachineNode


def played(
    stages: Sequence[tuple[Stage, CombineFn | None, Script]],
    run: Callable[[Sequence[ScriptedNode]], Sequence[PipelineRun]],
    on_error: OnFailure,
) -> list[Run]:
    """Scripts played side by side.

    Args:
        stages: The stage of each script, the combine function of a strategy, and the script.
        run: Runs each node, see `ScriptedGraph`, as a pipeline of its own.
        on_error: What a strategy does when a function of the user's raises.

    Raises:
        UnsupportedError: A strategy has no combine function, or its state has no layout; or a
            script moves the watermark of a side input.
        WatermarkError: A script moves a clock back.
        UserFunctionError: A function of the user's raised, and that is to be reported. Its cause is
            of the type of what was raised, with the user's frames.
    """
    graphs: list[ScriptedGraph] = []
    for stage, combine, script in stages:
        first = sum(len(graph.keys) for graph in graphs)
        graphs.append(ScriptedGraph.of(stage, combine, script, on_error, first))
    try:
        runs = run([graph.node for graph in graphs])
    except UserFunctionError as error:
        named = (graph.named(error) for graph in graphs if graph.names(error))
        raise next(named, error) from error.__cause__
    pairs = zip(graphs, runs, strict=True)
    return [graph.run_of(graph_run.inside(graph.node)) for graph, graph_run in pairs]


def _number_in(error: UserFunctionError) -> int | None:
    """The number of the key that an error is about, also if another process raised it."""
    if isinstance(error.known_key, int):
        return error.known_key
    return None if error.key is None else int(error.key)


def _check(script: Script) -> None:
    """Refuse moves that no host makes."""
    stands_at: dict[type, int] = {AdvanceWatermark: MIN_TIMESTAMP, AdvanceClock: 0}
    for step in script:
        if isinstance(step, Arrive):
            continue
        if isinstance(step, AdvanceWatermark) and step.side is not None:
            raise UnsupportedError(
                f"{step} moves the watermark of a side input, and a stage that runs by itself has "
                'one watermark for all inputs; leave side out, or use host="memory"'
            )
        refuse_going_back(step, stands_at[type(step)])
        stands_at[type(step)] = step.to


def _numbered(step: ScriptStep, names: Mapping[Hashable, int]) -> ScriptStep:
    """A step whose elements are pairs of the number of a key and a value."""
    if not isinstance(step, Arrive):
        return step
    return Arrive(
        tuple(
            (key, attrs.evolve(element, value=(names[key], element.value)))
            for key, element in step.elements
        )
    )


def _node(
    stage: Stage,
    combine: CombineFn | None,
    sources: tuple[Edge, ...],
    values: Sequence[Any],
    on_error: OnFailure,
) -> ScriptedNode:
    if isinstance(stage, WindowingStrategy):
        if combine is None:
            raise UnsupportedError("a grouping needs a combine function, got None")
        return GroupNode(
            "",
            sources,
            stage,
            combine,
            _type_of(combine, values),
            assigns=True,
            drops_failures=on_error is OnFailure.DROP,
            max_failures=1.0,  # as in memory, all that fails is dropped, however much that is
        )
    machine = PassThrough(stage, on_error) if isinstance(stage, WindowFn) else stage
    return MachineNode("", sources, machine)


def _type_of(combine: CombineFn, values: Sequence[Any]) -> type | None:
    """The type of all values, if the combine function has columns for it and is exact there."""
    column = as_column(values)
    cls = type(values[0]) if values else None
    if column is None or cls is bool or columns_of(combine, column.type) is None:
        return None
    is_sum = isinstance(combine, Sum | Mean) and cls is int
    return None if is_sum and sum(map(abs, values)) >= _EXACT else cls
