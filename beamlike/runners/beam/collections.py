"""The collections of a pipeline, and where each comes out of the nodes of the graph."""

from typing import Any, Final

import attrs

from beamlike.model.graph import Edge, Node, ParDoNode
from beamlike.runners.beam.elements import ElementForm
from beamlike.runners.beam.keys import Keys
from beamlike.runners.beam.sdk import PipelineContext, coders
from beamlike.runners.beam.stage import Stage
from beamlike.runners.beam.steps import Step
from beamlike.runners.beam.strategies import Strategy, strategy_of
from beamlike.runners.beam.windows import UNIT

_KEYED: Final = "/keyed"


@attrs.frozen
class _Produced:
    """Where a collection comes out that no stage makes, and in which form."""

    edge: Edge
    form: ElementForm


class CollectionTable:
    """What is known of the collections so far.

    Attributes:
        nodes: The nodes that make them.
    """

    def __init__(self, pipeline: Any) -> None:
        self._components = pipeline.components
        self._context = PipelineContext(pipeline.components)
        self._produced: dict[str, _Produced | tuple[Stage, Node]] = {}
        self._edges: dict[tuple[str, str], Edge] = {}
        self._strategies: dict[str, Strategy] = {}
        self._options: dict[str, dict[str, Any]] = {}
        self._retracting: set[str] = set()
        self.nodes: list[Node] = []

    def strategy(self, collection: str, label: str) -> Strategy:
        """How a collection is windowed."""
        name = self._components.pcollections[collection].windowing_strategy_id
        if name not in self._strategies:
            declared = self._components.windowing_strategies[name]
            self._strategies[name] = strategy_of(declared, self._context, label)
        return self._strategies[name].with_parts(self._options.get(collection, {}))

    def _keys(self, collection: str) -> Keys:
        coder = self._components.pcollections[collection].coder_id
        return Keys.of(self._context.coders.get_by_id(coder))

    def _has_whole_numbers(self, collection: str) -> bool:
        """Whether the values of a collection, which are pairs then, are whole numbers."""
        coder = self._context.coders.get_by_id(self._components.pcollections[collection].coder_id)
        return coder.is_kv_coder() and isinstance(coder.value_coder(), coders.VarIntCoder)

    def _form(self, collection: str, label: str, keys: Keys | None = None) -> ElementForm:
        windows = self.strategy(collection, label).windows
        return ElementForm(windows, keys, retracts=collection in self._retracting)

    def _add(self, node: Node) -> Node:
        """A node of the pipeline, which counts what Beam counts."""
        node = attrs.evolve(node, resolution=UNIT)
        self.nodes.append(node)
        return node

    def _comes_from(self, collection: str, edge: Edge, form: ElementForm) -> None:
        self._produced[collection] = _Produced(edge, form)

    def _edge(self, collection: str, label: str, keys: Keys | None = None) -> Edge:
        """What brings a collection, plain or with keys in the form of the graph."""
        suffix = "" if keys is None else f"{_KEYED}/{keys.takes.value}"
        known = self._edges.get((collection, suffix))
        if known is not None:
            return known
        form = self._form(collection, label, keys)
        produced = self._produced[collection]
        if isinstance(produced, _Produced) and produced.form == form:
            edge = produced.edge
        else:
            stage, node = self._stage(collection, label)
            edge = Edge(node, stage.output(collection, form, suffix))
        self._edges[collection, suffix] = edge
        return edge

    def _stage(self, collection: str, label: str) -> tuple[Stage, Node]:
        """The stage that makes a collection; one is added that takes it if there is none."""
        produced = self._produced[collection]
        if isinstance(produced, _Produced):
            stage = Stage(label, produced.form, collection)
            node = self._add(ParDoNode(f"{label}/Stage", (produced.edge,), stage))
            self._produced[collection] = produced = stage, node
        return produced

    def _add_step(self, step: Step, stage: Stage, node: Node) -> None:
        stage.steps.append(step)
        for collection in step.outputs.values():
            self._produced[collection] = stage, node
