"""A pipeline of Beam, as its proto, as nodes of the graph.

ParDos and window transforms that follow each other become one `Stage`. Groupings, side inputs and
functions with states are nodes of their own.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import attrs
from apache_beam.transforms.combiners import CountCombineFn

from beamlike.errors import UnsupportedError
from beamlike.model.combine import Collect, CombineFn, Count, Sum
from beamlike.model.graph import (
    Edge,
    FlattenNode,
    GroupNode,
    Node,
    ParDoNode,
    SideInputNode,
    StatefulParDoNode,
)
from beamlike.model.options import AccumulationMode
from beamlike.model.strategy import WindowingStrategy
from beamlike.runners.beam.collections import CollectionTable
from beamlike.runners.beam.combines import Combining
from beamlike.runners.beam.elements import ElementForm, Repacking
from beamlike.runners.beam.frames import AsRows, read_node, sink_of
from beamlike.runners.beam.keys import Keys, Values
from beamlike.runners.beam.merging import object_grouping
from beamlike.runners.beam.sdk import CombineFn as BeamCombineFn
from beamlike.runners.beam.sdk import (
    DoFnSignature,
    Urn,
    dofn_of,
    pickler,
    plain_function_of,
    proto,
    side_inputs_of,
)
from beamlike.runners.beam.side_inputs import check_sides, side_strategy
from beamlike.runners.beam.sources import ended, impulse, test_stream
from beamlike.runners.beam.splittable import SplittableFn, Splitting
from beamlike.runners.beam.stage import Stage, Untagged, with_one_key
from beamlike.runners.beam.stateful import Attaching, BeamStatefulFn
from beamlike.runners.beam.steps import Step
from beamlike.runners.beam.strategies import check_known_by_bounds, check_same_windows
from beamlike.runners.beam.transforms import Ours, UpsertInto
from beamlike.runners.beam.windows import UNIT, ObjectWindows
from beamlike.runtime.graph.main_program import MainProgram


class Translation(CollectionTable):
    """The nodes of a pipeline, made transform by transform.

    Args:
        pipeline: The proto.
        transforms: Beam's transforms by their full labels, for those that are more than a proto.
        is_drain: Whether sources end where they are.
        on_spark: Whether it is to run there.
        main: What the main program defines, for processes whose main program is another one.
        clock: Processing time at the beginning, where it passes by itself in this process.

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
        main: MainProgram | None = None,
        clock: int | None = None,
    ) -> None:
        super().__init__(pipeline)
        self._transforms, self._is_drain = transforms, is_drain
        self._on_spark, self._main = on_spark, main
        self.sinks: list[Any] = []
        components, unbounded = self._components, proto.IsBounded.UNBOUNDED
        urns = {transform.spec.urn for transform in components.transforms.values()}
        self.has_script = Urn.TEST_STREAM in urns
        # Whether a source has no end of its own: a splittable function, or rows of a stream.
        self.streams = any(
            pcoll.is_bounded == unbounded for pcoll in components.pcollections.values()
        )
        self._clock = clock if self.streams and not self.has_script else None
        for name in pipeline.root_transform_ids:
            self._visit(name)

    @property
    def _redistributes(self) -> bool:
        """Whether a reshuffle spreads elements over tasks: by the grouping that Beam makes of it,
        which costs a stream a stateful operator, and this process nothing but time."""
        return self._on_spark and not self.streams

    # -- visiting --------------------------------------------------------------------------------

    def _visit(self, name: str) -> None:
        transform = self._components.transforms[name]
        make = self._maker(transform)
        if make is not None:
            if self._retracting.intersection(transform.inputs.values()):
                self._retracting.update(transform.outputs.values())
            make(transform)
            self._hand_on_options(transform)
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
        urn = transform.spec.urn
        if (urn == Urn.RESHUFFLE and self._redistributes) or (
            urn == Urn.COMBINE_PER_KEY and len(transform.inputs) > 1
        ):
            return None
        makers: dict[str, Callable[[Any], None]] = {
            Urn.IMPULSE: self._impulse,
            Urn.TEST_STREAM: self._test_stream,
            Urn.PAR_DO: self._pardo,
            Urn.WINDOW: self._window,
            Urn.FLATTEN: self._flatten,
            Urn.GROUP_BY_KEY: self._group_by_key,
            Urn.RESHUFFLE: self._reshuffle,
            Urn.COMBINE_PER_KEY: self._combine,
            Ours.FROM_DATA_FRAME: self._from_data_frame,
            Ours.WRITE_ROWS: self._write_rows,
            Ours.UPSERT_INTO: self._write_rows,
            Ours.STRATEGY_OPTIONS: self._strategy_options,
        }
        return makers.get(urn)

    # -- primitives ------------------------------------------------------------------------------

    def _impulse(self, transform: Any) -> None:
        (collection,) = transform.outputs.values()
        label = transform.unique_name
        clock, self._clock = self._clock, None  # one source says it for all
        node = self._add(impulse(label, clock))
        self._comes_from(collection, Edge(node), self._form(collection, label))

    def _test_stream(self, transform: Any) -> None:
        label = transform.unique_name
        stream = self._transforms.get(label)
        for tag, node in test_stream(transform, stream, self._context).items():
            collection = transform.outputs[tag]
            self._comes_from(collection, Edge(self._add(node)), self._form(collection, label))

    def _flatten(self, transform: Any) -> None:
        (collection,) = transform.outputs.values()
        label = transform.unique_name
        form = self._form(collection, label)
        inputs = [transform.inputs[tag] for tag in sorted(transform.inputs)]
        for pair in pairwise(self.strategy(source, label) for source in inputs):
            check_same_windows(label, *pair)
        sources = tuple(self._edge(source, label) for source in inputs)
        node = self._add(FlattenNode(label, sources) if sources else ended(label))
        self._comes_from(collection, Edge(node), form)

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
        self._comes_from(collection, self._edge(source, label), self._form(source, label))

    def _group_by_key(self, transform: Any) -> None:
        (source,) = transform.inputs.values()
        self._group(transform, Collect(), self._keys(source))

    def _combine(self, transform: Any) -> None:
        payload = proto.CombinePayload.FromString(transform.spec.payload)
        fn = BeamCombineFn.from_runner_api(payload.combine_fn, self._context)
        (source,), label = transform.inputs.values(), transform.unique_name
        keys = self._keys(source)
        # What the graph computes in columns is computed there, with the same results.
        if type(fn) is CountCombineFn:
            keys = attrs.evolve(keys, takes=Values.COUNTED)
            self._group(transform, Count(), keys, int)
        elif plain_function_of(fn) is sum and self._has_whole_numbers(source):
            keys = attrs.evolve(keys, takes=Values.WHOLE)
            self._group(transform, Sum(), keys, int)
        else:
            self._group(transform, Combining(fn, label, keys.values), keys)

    def _group(
        self, transform: Any, combine: CombineFn, keys: Keys, value_type: type | None = None
    ) -> None:
        (source,), (collection,) = transform.inputs.values(), transform.outputs.values()
        label = transform.unique_name
        strategy = self.strategy(source, label)
        rules = strategy.rules
        self._retracting.discard(collection)
        if rules.accumulation is AccumulationMode.RETRACTING:
            self._retracting.add(collection)
        edge = self._edge(source, label, keys)
        if strategy.is_merging and isinstance(strategy.windows, ObjectWindows):
            node = object_grouping(self._add, label, edge, strategy.windows, rules, combine)
        else:
            node = self._add(GroupNode(label, (edge,), rules, combine, value_type))
        brought = keys if isinstance(combine, Collect) else Keys(keys.coder)
        form = self._form(collection, label, brought)
        self._comes_from(collection, Edge(node), form)

    # -- beamlike's own ---------------------------------------------------------------------------

    def _ours(self, transform: Any) -> Any:
        """The transform itself, which is more than its proto."""
        ours = self._transforms.get(transform.unique_name)
        if ours is None:
            raise UnsupportedError(
                f"{transform.unique_name!r}, {transform.spec.urn}, runs where its pipeline was "
                "built; run it with beam.Pipeline(runner=BeamlikeRunner())"
            )
        return ours

    def _from_data_frame(self, transform: Any) -> None:
        (collection,), label = transform.outputs.values(), transform.unique_name
        node = self._add(read_node(label, self._ours(transform)))
        self._comes_from(collection, Edge(node), self._form(collection, label))

    def _write_rows(self, transform: Any) -> None:
        (source,), label = transform.inputs.values(), transform.unique_name
        ours = self._ours(transform)
        if not self._on_spark:
            raise UnsupportedError(
                f"{label!r} writes rows of Spark, and the pipeline runs in this process; run it "
                "with --beamlike_host=spark"
            )
        is_table = isinstance(ours, UpsertInto)
        if is_table:
            check_known_by_bounds(label, self.strategy(source, label))
        edge = self.rows(source, label, with_panes=is_table)
        self.sinks.append(sink_of(label, ours, edge, retracts=self.retracts(source)))

    def retracts(self, collection: str) -> bool:
        """Whether elements of a collection may withdraw earlier ones."""
        return collection in self._retracting

    def rows(self, collection: str, label: str, *, with_panes: bool = False) -> Edge:
        """What brings the elements of a collection as values that rows are made of."""
        takes = self._form(collection, label)
        as_rows = AsRows(label, takes, with_panes=with_panes, retracts=self.retracts(collection))
        edge = self._edge(collection, label)
        return Edge(self._add(ParDoNode(f"{label}/Rows", (edge,), as_rows)))

    def _strategy_options(self, transform: Any) -> None:
        (source,), (collection,) = transform.inputs.values(), transform.outputs.values()
        label = transform.unique_name
        self._options[collection] = self._options.get(source, {}) | self._ours(transform).parts
        self._comes_from(collection, self._edge(source, label), self._form(source, label))

    def _hand_on_options(self, transform: Any) -> None:
        """Let what was said of the windowing of a collection hold for what is made of it."""
        if transform.spec.urn in (Urn.WINDOW, Ours.STRATEGY_OPTIONS):
            return
        said = [
            self._options[source] for source in transform.inputs.values() if source in self._options
        ]
        for collection in transform.outputs.values() if said else ():
            self._options.setdefault(collection, said[0])

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
        # A side input that is asked for the values of a key knows the coder of its keys.
        views = [
            (data, self._keys(transform.inputs[tag]).coder if is_keyed else None)
            for tag, data in sides
            for is_keyed in [data.access_pattern == Urn.MULTIMAP]
        ]
        outputs = dict(transform.outputs)
        step = Step(
            label,
            source,
            outputs,
            pickled=pickler.dumps((fn, args, kwargs, views, windowing)),
            sides=len(sides),
            splits=signature.is_splittable_dofn(),
            is_drain=self._is_drain,
            main=self._main,
        )
        if step.splits and signature.is_unbounded_per_element():  # what it leaves is saved
            self._splittable(step, transform, sides)
        elif signature.is_stateful_dofn():
            self._stateful(step, transform, sides)
        elif sides:
            # A stage of its own, which later steps join.
            stage = Stage(label, self._form(source, label), source)
            self._add_step(step, stage, self._look(step, transform, sides, stage))
        else:
            self._add_step(step, *self._stage(source, label))

    def _look(self, step: Step, transform: Any, sides: Sequence[tuple[str, Any]], do: Any) -> Node:
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
            items = ParDoNode(
                f"{name}/Key", (self._edge(collection, label),), Repacking(with_one_key)
            )
            group = GroupNode(name, (Edge(self._add(items)),), rules, Collect())
            edges.append(Edge(self._add(group)))
            strategies.append(rules)
        side_rules = tuple(strategies)
        return self._add(SideInputNode(label, tuple(edges), main.rules, side_rules, do))

    def _stateful(self, step: Step, transform: Any, sides: Sequence[tuple[str, Any]]) -> None:
        label, source = step.label, step.source
        strategy = self.strategy(source, label)
        edge, form, forms = self._with_sides(step, transform, sides)
        fn = BeamStatefulFn(step, self._keys(source), form, forms)
        rules = strategy.rules
        if strategy.is_merging:
            rules = rules._with(already_merged=True)
        node = self._add(StatefulParDoNode(f"{label}/States", (edge,), rules, fn, tagged=True))
        self._untag(node, label, forms)

    def _with_sides(
        self, step: Step, transform: Any, sides: Sequence[tuple[str, Any]]
    ) -> tuple[Edge, ElementForm, dict[str, ElementForm]]:
        """What brings a function its elements, with the side inputs that they see, and the forms of
        its elements and of its collections."""
        label, edge = step.label, self._edge(step.source, step.label)
        form = self._form(step.source, label)
        forms = {name: self._form(name, label) for name in step.outputs.values()}
        if sides:
            edge = Edge(self._look(step, transform, sides, Attaching(label)), label)
        return edge, form, forms

    def _untag(self, node: Node, label: str, forms: Mapping[str, ElementForm]) -> None:
        untagged = self._add(ParDoNode(f"{label}/Outputs", (Edge(node),), Untagged()))
        for collection, form in forms.items():
            self._comes_from(collection, Edge(untagged, collection), form)

    def _splittable(self, step: Step, transform: Any, sides: Sequence[tuple[str, Any]]) -> None:
        """A node that saves what its function leaves."""
        label = step.label
        edge, form, forms = self._with_sides(step, transform, sides)
        fn = SplittableFn(step, forms)
        edge = Edge(self._add(ParDoNode(f"{label}/Split", (edge,), Splitting(step, form))))
        rules = WindowingStrategy.unwindowed().in_resolution(UNIT)
        node = self._add(StatefulParDoNode(f"{label}/Process", (edge,), rules, fn, tagged=True))
        self._untag(node, label, forms)
