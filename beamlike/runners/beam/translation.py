"""A pipeline of Beam, as its proto, as nodes of the graph.

ParDos and window transforms that follow each other become one `Stage`. Groupings, side inputs and
functions with states are nodes of their own.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs

from beamlike.errors import UnsupportedError
from beamlike.model.combine import Collect, CombineFn
from beamlike.model.graph import (
    Edge,
    FlattenNode,
    GroupNode,
    Node,
    ParDoNode,
    SideInputNode,
    StatefulParDoNode,
)
from beamlike.model.strategy import WindowingStrategy
from beamlike.runners.beam.combines import Combining
from beamlike.runners.beam.elements import Form
from beamlike.runners.beam.keys import Keys
from beamlike.runners.beam.sdk import CombineFn as BeamCombineFn
from beamlike.runners.beam.sdk import (
    DoFnSignature,
    PipelineContext,
    Urn,
    dofn_of,
    pickler,
    proto,
    side_inputs_of,
)
from beamlike.runners.beam.side_inputs import check_sides, side_strategy
from beamlike.runners.beam.sources import ended, impulse, test_stream
from beamlike.runners.beam.splittable import SplittableFn, Splitting
from beamlike.runners.beam.stage import OneKey, Stage, Untagged
from beamlike.runners.beam.stateful import BeamStatefulFn
from beamlike.runners.beam.steps import Step
from beamlike.runners.beam.strategies import Strategy, strategy_of

_KEYED: Final = "/keyed"


@attrs.frozen
class _Produced:
    """Where a collection comes out.

    Args:
        stage: The stage that makes it, and its node; None: it comes out of a node of another kind.
        edge: What comes out of that node.
        form: The form of that.
    """

    stage: Stage | None
    node: Node | None
    edge: Edge | None = None
    form: Form | None = None


class Translation:
    """The nodes of a pipeline, made transform by transform.

    Args:
        pipeline: The proto.
        transforms: Beam's transforms by their full labels, for those that are more than a proto.
        is_drain: Whether sources end where they are.
        on_spark: Whether it is to run there.

    Attributes:
        nodes: All of them.
        sinks: Where elements go as rows.
        has_script: Whether a test stream is played.
    """

    def __init__(
        self,
        pipeline: Any,
        transforms: Mapping[str, Any],
        *,
        is_drain: bool = False,
        on_spark: bool = False,
    ) -> None:
        self._components = pipeline.components
        self._context = PipelineContext(pipeline.components)
        self._transforms, self._is_drain = transforms, is_drain
        self._on_spark = on_spark
        self.sinks: list[Any] = []
        self.has_script = False
        self.streams = self._has_streams()
        self._produced: dict[str, _Produced] = {}
        self._edges: dict[tuple[str, str], Edge] = {}
        self._strategies: dict[str, Strategy] = {}
        self.nodes: list[Node] = []
        for name in pipeline.root_transform_ids:
            self._visit(name)

    def _has_streams(self) -> bool:
        """Whether a source has no end of its own: a splittable function, or rows of a stream."""
        unbounded = proto.IsBounded.UNBOUNDED
        return any(it.is_bounded == unbounded for it in self._components.pcollections.values())

    # -- visiting --------------------------------------------------------------------------------

    def _visit(self, name: str) -> None:
        transform = self._components.transforms[name]
        make = self._maker(transform)
        if make is not None:
            make(transform)
        elif transform.subtransforms:
            for part in transform.subtransforms:
                self._visit(part)
        elif not set(transform.outputs.values()) <= set(transform.inputs.values()):
            urn = transform.spec.urn or "no URN"
            raise UnsupportedError(
                f"{transform.unique_name!r} is a transform that BeamlikeRunner does not know, "
                f"{urn}; write it with ParDo, GroupByKey and Flatten, or run the pipeline on a "
                "runner that knows it"
            )

    def _maker(self, transform: Any) -> Callable[[Any], None] | None:
        """What makes the nodes of a transform; None if its parts are looked at."""
        match transform.spec.urn:
            case Urn.IMPULSE:
                return self._impulse
            case Urn.TEST_STREAM:
                return self._test_stream
            case Urn.PAR_DO:
                return self._pardo
            case Urn.WINDOW:
                return self._window
            case Urn.FLATTEN:
                return self._flatten
            case Urn.GROUP_BY_KEY:
                return self._group_by_key
            case Urn.RESHUFFLE:
                return self._reshuffle
            case Urn.COMBINE_PER_KEY if len(transform.inputs) == 1:
                return self._combine
        return None

    # -- collections -----------------------------------------------------------------------------

    def strategy(self, collection: str, label: str) -> Strategy:
        """How a collection is windowed."""
        name = self._components.pcollections[collection].windowing_strategy_id
        if name not in self._strategies:
            declared = self._components.windowing_strategies[name]
            self._strategies[name] = strategy_of(declared, self._context, label)
        return self._strategies[name]

    def _keys(self, collection: str) -> Keys:
        coder = self._components.pcollections[collection].coder_id
        return Keys.of(self._context.coders.get_by_id(coder))

    def _form(self, collection: str, label: str, keys: Keys | None = None) -> Form:
        return Form(self.strategy(collection, label).windows, keys)

    def _add(self, node: Node) -> Node:
        self.nodes.append(node)
        return node

    def _comes_from(self, collection: str, edge: Edge, form: Form) -> None:
        self._produced[collection] = _Produced(None, None, edge, form)

    def _edge(self, collection: str, label: str, keys: Keys | None = None) -> Edge:
        """What brings a collection, plain or with keys in the form of the graph."""
        suffix = _KEYED if keys is not None else ""
        known = self._edges.get((collection, suffix))
        if known is not None:
            return known
        form = self._form(collection, label, keys)
        produced = self._produced[collection]
        if produced.stage is None and produced.edge is not None and produced.form == form:
            edge = produced.edge
        else:
            stage, node = self._stage(collection, label)
            edge = Edge(node, stage.output(collection, form, suffix))
        self._edges[collection, suffix] = edge
        return edge

    def _stage(self, collection: str, label: str) -> tuple[Stage, Node]:
        """The stage that makes a collection; one is added that takes it if there is none."""
        produced = self._produced[collection]
        if produced.stage is None or produced.node is None:
            assert produced.edge is not None, "it comes out somewhere"
            assert produced.form is not None, "and in a form"
            stage = Stage(label, produced.form, collection)
            node = self._add(ParDoNode(f"{label}/Stage", (produced.edge,), stage))
            produced = attrs.evolve(produced, stage=stage, node=node)
            self._produced[collection] = produced
            return stage, node
        return produced.stage, produced.node

    def _add_step(self, step: Step, stage: Stage, node: Node) -> None:
        stage.steps.append(step)
        for collection in step.outputs.values():
            self._produced[collection] = _Produced(stage, node)

    # -- primitives ------------------------------------------------------------------------------

    def _impulse(self, transform: Any) -> None:
        (collection,) = transform.outputs.values()
        label = transform.unique_name
        node = self._add(impulse(label))
        self._comes_from(collection, Edge(node), self._form(collection, label))

    def _test_stream(self, transform: Any) -> None:
        label = transform.unique_name
        stream = self._transforms.get(label)
        self.has_script = True
        for tag, node in test_stream(transform, stream, self._context).items():
            collection = transform.outputs[tag]
            self._comes_from(collection, Edge(self._add(node)), self._form(collection, label))

    def _flatten(self, transform: Any) -> None:
        (collection,) = transform.outputs.values()
        label = transform.unique_name
        form = self._form(collection, label)
        sources = tuple(
            self._edge(transform.inputs[tag], label) for tag in sorted(transform.inputs)
        )
        node = FlattenNode(label, sources) if sources else ended(label)
        self._comes_from(collection, Edge(self._add(node)), form)

    def _window(self, transform: Any) -> None:
        (source,), label = transform.inputs.values(), transform.unique_name
        (collection,) = transform.outputs.values()
        fn = self.strategy(collection, label).beam.windowfn
        step = Step(label, source, {"None": collection}, assigns=pickler.dumps(fn))
        self._add_step(step, *self._stage(source, label))

    def _reshuffle(self, transform: Any) -> None:
        (source,), (collection,) = transform.inputs.values(), transform.outputs.values()
        label = transform.unique_name
        # Elements keep their windows, times and panes: nothing is grouped.
        edge, form = self._edge(source, label), self._form(source, label)
        self._comes_from(collection, edge, form)

    def _group_by_key(self, transform: Any) -> None:
        self._group(transform, Collect())

    def _combine(self, transform: Any) -> None:
        payload = proto.CombinePayload.FromString(transform.spec.payload)
        fn = BeamCombineFn.from_runner_api(payload.combine_fn, self._context)
        self._group(transform, Combining(fn, transform.unique_name))

    def _group(self, transform: Any, combine: CombineFn) -> None:
        (source,), (collection,) = transform.inputs.values(), transform.outputs.values()
        label = transform.unique_name
        keys = self._keys(source)
        rules = self.strategy(source, label).rules
        node = GroupNode(label, (self._edge(source, label, keys),), rules, combine)
        form = self._form(collection, label, keys)
        self._comes_from(collection, Edge(self._add(node)), form)

    # -- ParDo -----------------------------------------------------------------------------------

    def _pardo(self, transform: Any) -> None:
        label = transform.unique_name
        payload = proto.ParDoPayload.FromString(transform.spec.payload)
        if payload.do_fn.urn.startswith("beam:dofn:java") or not payload.do_fn.urn:
            raise UnsupportedError(
                f"{label!r} is a function of another language, {payload.do_fn.urn or 'no URN'}, "
                "and BeamlikeRunner runs those of Python"
            )
        (source,) = (
            collection
            for tag, collection in transform.inputs.items()
            if tag not in payload.side_inputs
        )
        fn, args, kwargs = dofn_of(payload)
        sides = side_inputs_of(payload)
        signature = DoFnSignature(fn)
        windowing = self.strategy(source, label).beam
        views = [(data, self._side_keys(transform.inputs[tag], data)) for tag, data in sides]
        outputs = dict(transform.outputs)
        step = Step(
            label,
            source,
            outputs,
            pickled=pickler.dumps((fn, args, kwargs, views, windowing)),
            sides=len(sides),
            splits=signature.is_splittable_dofn(),
            is_drain=self._is_drain,
        )
        if step.splits and self._saves(signature):
            self._splittable(step, sides)
        elif signature.is_stateful_dofn():
            self._stateful(step, transform, sides)
        elif sides:
            self._looking(step, transform, sides)
        else:
            self._add_step(step, *self._stage(source, label))

    def _side_keys(self, collection: str, data: Any) -> Any:
        """The coder of the keys of a side input that is asked for values by key."""
        is_keyed = data.access_pattern == Urn.MULTIMAP
        return self._keys(collection).coder if is_keyed else None

    def _looking(self, step: Step, transform: Any, sides: Sequence[tuple[str, Any]]) -> None:
        """A function with side inputs: a stage of its own, which later steps join."""
        stage = Stage(step.label, self._form(step.source, step.label), step.source)
        self._add_step(step, stage, self._look(step, transform, sides, stage))

    def _look(
        self, step: Step, transform: Any, sides: Sequence[tuple[str, Any]], do: Any
    ) -> SideInputNode:
        """The node of a function that looks into side inputs, which are lists in their windows."""
        label = step.label
        main = self.strategy(step.source, label)
        edges, strategies = [self._edge(step.source, label)], []
        for number, (tag, data) in enumerate(sides):
            collection = transform.inputs[tag]
            side = self.strategy(collection, label)
            check_sides(label, main, side, data)
            rules = side_strategy(main, side, data, all_at_once=not self.streams)
            name = f"{label}/Side {number}"
            items = ParDoNode(f"{name}/Key", (self._edge(collection, label),), OneKey())
            group = GroupNode(name, (Edge(self._add(items)),), rules, Collect())
            edges.append(Edge(self._add(group)))
            strategies.append(rules)
        node = SideInputNode(label, tuple(edges), main.rules, tuple(strategies), do)
        self._add(node)
        return node

    def _stateful(self, step: Step, transform: Any, sides: Sequence[tuple[str, Any]]) -> None:
        label, source = step.label, step.source
        strategy = self.strategy(source, label)
        keys = self._keys(source)
        form = self._form(source, label, None)
        edge = self._edge(source, label)
        forms = {name: self._form(name, label) for name in step.outputs.values()}
        fn = BeamStatefulFn(step, keys, form, forms)
        if sides:
            edge = Edge(self._look(step, transform, sides, fn.attaching()), step.label)
        rules = strategy.rules
        if strategy.is_merging:
            rules = rules._with(already_merged=True)
        node = self._add(StatefulParDoNode(f"{label}/States", (edge,), rules, fn, tagged=True))
        self._untag(node, label, forms)

    def _untag(self, node: Node, label: str, forms: Mapping[str, Form]) -> None:
        untagged = self._add(ParDoNode(f"{label}/Outputs", (Edge(node),), Untagged()))
        for collection, form in forms.items():
            self._comes_from(collection, Edge(untagged, collection), form)

    def _saves(self, signature: Any) -> bool:
        """Whether what a splittable function leaves is saved, and not done at once."""
        return bool(signature.is_unbounded_per_element())

    def _splittable(self, step: Step, sides: Sequence[tuple[str, Any]]) -> None:
        """A node that saves what its function leaves."""
        label, source = step.label, step.source
        if sides:
            raise UnsupportedError(
                f"{label!r} is a splittable function that has no end and looks into side inputs, "
                "which BeamlikeRunner cannot do; look into them in a ParDo after it"
            )
        splitting = Splitting(step, self._form(source, label))
        parts = ParDoNode(f"{label}/Split", (self._edge(source, label),), splitting)
        forms = {name: self._form(name, label) for name in step.outputs.values()}
        fn = SplittableFn(step, forms)
        edge = Edge(self._add(parts))
        rules = WindowingStrategy.unwindowed()
        node = self._add(StatefulParDoNode(f"{label}/Process", (edge,), rules, fn, tagged=True))
        self._untag(node, label, forms)
