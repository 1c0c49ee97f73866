"""Assertions about collections of a pipeline: ``expect(collection).to(matcher)``.

    with run_with_context() as sc:
        counts = sc.test_stream(lines).count_by_value()
        expect(counts).to(in_on_time_pane("00:00:00", "00:01:00", contain_value(("foo", 1))))

All matchers of `values`, `matchers` and `complete` can be used. Elements that were never
grouped have a pane whose timing is UNKNOWN, and which is the first and the last: the matchers of
on-time, early and late panes do not select it, all others do.

Source: Scio ``SCollectionMatchers``, Beam ``PAssert``.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import attrs

from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.result import PipelineResult
from beamlike.errors import PipelineError, TestStreamError
from beamlike.machine.events import Pane
from beamlike.model.combine import Collect
from beamlike.model.graph import Edge, GroupNode, in_order
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.runtime.script import Output, Run
from beamlike.testing.assertions.failures import asserted_in, grouping_of
from beamlike.testing.pipelines.checks import Ask, Checks
from beamlike.testing.streams.results import NO_KEY, Matcher, Origin, Results, check_matcher

Equal = Callable[[Any, Any], bool]


def results_of(run: PipelineRun, edge: Edge, windowing: WindowingStrategy) -> Results:
    """The output of an edge, ready for matchers: each element in each of its windows."""
    came = [
        Output(output.step, NO_KEY, Pane(window, element.value, element.timestamp, element.pane))
        for output in run.out_of(edge)
        for element in (output.element,)
        for window in element.windows
    ]
    before = {node.label for node in in_order([edge.node])}
    missing = [dropped for dropped in run.lost if dropped.label in before]
    lost = [Output(dropped.step, dropped.key, dropped.drop) for dropped in missing]
    carries_times = bool(came) and all(_carries_its_time(output.effect) for output in came)
    if not carries_times:
        came = [_with_key(output) for output in came]
    # What a step dropped did not come out of it: which was first is not known.
    outputs = sorted([*lost, *came], key=lambda output: output.step)
    node, grouped = edge.node, grouping_of(edge)
    grouping = node.combine if isinstance(node, GroupNode) else None
    label = repr(node.label) + (f", output {edge.tag!r}" if edge.tag else "")
    return Results(
        Run((), tuple(outputs)),
        # What comes after a grouping has the continuation of its trigger, which means little.
        windowing if grouped is None else grouped.strategy,
        grouping if isinstance(grouping, Collect) else None,
        origin=Origin(
            label,
            lambda: _trace(run, edge),
            tuple(dict.fromkeys(dropped.label for dropped in missing)),
            carries_times,
            lambda: asserted_in(run, edge),
        ),
    )


def _carries_its_time(effect: Any) -> bool:
    value = effect.value
    return (
        type(value) is tuple
        and len(value) == 2
        and type(value[1]) is int
        and value[1] == effect.timestamp
    )


def _with_key(output: Output) -> Output:
    """A pair of key and value as a pane of this key: tables show it so."""
    pair = output.effect.value
    if type(pair) is not tuple or len(pair) != 2:
        return output
    assert isinstance(output.effect, Pane), "this is what came out"
    return Output(output.step, pair[0], attrs.evolve(output.effect, value=pair[1]))


def _trace(run: PipelineRun, edge: Edge) -> str:
    """How many elements came out of each node on the way to an edge."""
    lines = []
    for node in in_order([edge.node]):
        number = sum(len(came) for out, came in run.came.items() if out.node is node)
        lines.append(f"  {number:4} of {node.label!r}")
    return "\n".join(lines)


@attrs.frozen(eq=False, repr=False)
class Expectation:
    """A collection about which something is asserted. See `expect`."""

    _collection: PCollection[Any]
    _assert_with: Callable[[Ask], None]
    _view: Callable[[Results], Results] = attrs.field(default=lambda results: results)

    def to(self, matcher: Matcher) -> None:
        """Assert that the matcher holds, when the pipeline has run.

        Raises:
            TestStreamError: It is no matcher.
        """
        self._ask("to", matcher, negated=False)

    def not_to(self, matcher: Matcher) -> None:
        """Assert that the matcher does not hold for what it selects.

        Raises:
            TestStreamError: It is no matcher.
        """
        self._ask("not_to", matcher, negated=True)

    should = to
    should_not = not_to

    def with_timestamp(self) -> Self:
        """The same collection with elements ``(element, timestamp in ms)``."""
        return self._viewed(stamped=True)

    def with_equality(self, equal: Equal) -> Self:
        """The same collection, where ``equal(expected, actual)`` says what is the same.

        Source: Scio ``Eq``.
        """
        return self._viewed(equal=equal, aggregate=None)

    def _viewed(self, **changes: Any) -> Self:
        view = self._view
        return attrs.evolve(self, view=lambda results: attrs.evolve(view(results), **changes))

    def _ask(self, verb: str, matcher: Matcher, *, negated: bool) -> None:
        check_matcher(f"expect(...).{verb}", matcher)
        self._assert_with(asked(self._collection, matcher, self._view, negated=negated))


def asked(
    collection: PCollection[Any],
    matcher: Matcher,
    view: Callable[[Results], Results],
    *,
    negated: bool = False,
) -> Ask:
    """What a matcher says of a collection, as a view shows it; or the opposite."""
    edge, windowing = collection.edge, collection.windowing

    def problem(run: PipelineRun) -> str | None:
        results = view(results_of(run, edge, windowing))
        failure = matcher.failure(results, negated=negated)
        return None if failure is None else results.text_of(failure)

    return problem


def expect(collection: PCollection[Any]) -> Expectation:
    """Begin an assertion about a collection: ``expect(collection).to(matcher)``.

    Nothing is checked before the pipeline has run.

    Raises:
        PipelineError: It is no collection, or its pipeline has run.
    """
    return Expectation(collection, asking(collection, "expect"))


def asking(collection: PCollection[Any], verb: str) -> Callable[[Ask], None]:
    """The function that takes what is asserted about a collection."""
    if not isinstance(collection, PCollection):
        raise PipelineError(f"{verb} needs a collection of a pipeline, got {collection!r}")
    pipeline = collection.pipeline
    checks = getattr(pipeline, "checks", None)
    if not isinstance(checks, Checks):
        checks = Checks("run it")
        if pipeline.result is not None:
            checks.give_up()
        pipeline.checks = checks  # type: ignore[attr-defined]
        pipeline.on_end.append(partial(_evaluated, checks))
    return checks.open(about=collection.edge)


def _evaluated(checks: Checks, result: PipelineResult) -> None:
    __tracebackhide__ = True
    checks.evaluate(result.outputs)


def inside(of: Any, grouping: str | PCollection[Any] | None = None) -> Results:
    """What happened inside of a grouping of a pipeline, as if it had been run by itself.

    ``inside(result).timeline()`` shows it; ``figure``, ``explain``, ``save_page``, all matchers
    and `compare` take it likewise. The steps are those of the grouping: the elements that reached
    it, in its windows, and the moves of its watermark and of its clock.

    Args:
        of: What `Pipeline.run` returned, or a pipeline or context that has run: in memory, or on
            Spark with test streams and created elements as its sources.
        grouping: Which one: its label, or the end of it if no other label ends so; or the
            collection of its panes, or one that was made of them element by element. Not needed
            if there is one only.

    Raises:
        TestStreamError: It has not run, or without a trace; or there is no such
            grouping, or there are several. The message lists them.
    """
    run = _run_of(of)
    known = run.groupings
    if not known:
        if run.kept is not None:
            raise TestStreamError(
                "inside: no record was kept of what happened inside of this pipeline; call "
                "pipeline.keep() before run(), or make a TestPipeline"
            )
        raise TestStreamError(
            "inside: there is no record of a grouping of this pipeline: it has none, or ended with "
            "an error, or reads or writes DataFrames; give it test streams or created elements"
        )
    node = _chosen(known, grouping)
    asserted = asserted_in(run, Edge(node))
    assert asserted is not None, "it is one of those that are known"
    return Results(asserted.run, asserted.strategy, asserted.combine)


def _run_of(of: Any) -> PipelineRun:
    if isinstance(of, PipelineRun):
        return of
    of = getattr(of, "pipeline", of)
    result = of.result if isinstance(of, Pipeline) else of
    if isinstance(result, PipelineResult):
        return result.outputs
    if isinstance(of, Pipeline):
        raise TestStreamError("inside: the pipeline has not run; call run(), or leave its block")
    raise TestStreamError(
        f"inside needs what Pipeline.run returned, or a pipeline that has run, got {of!r}"
    )


def _chosen(known: tuple[GroupNode, ...], wanted: str | PCollection[Any] | None) -> GroupNode:
    if wanted is None:
        if len(known) == 1:
            return known[0]
        raise TestStreamError(f"inside: name one of {len(known)} groupings: {_labels(known)}")
    if isinstance(wanted, PCollection):
        node = grouping_of(wanted.edge)
        if node in known:
            return node
        raise TestStreamError(
            f"inside: {wanted!r} is not made of the panes of a grouping element by element; the "
            f"groupings are {_labels(known)}"
        )
    if not isinstance(wanted, str):
        raise TestStreamError(
            f"inside: a grouping is named by its label or its collection, got {wanted!r}; the "
            f"labels are {_labels(known)}"
        )
    # "Count" rather means "Words/Count" than "Recount".
    for ending in (None, f"/{wanted}", wanted):
        named = [
            node
            for node in known
            if node.label == wanted or (ending and node.label.endswith(ending))
        ]
        if len(named) == 1:
            return named[0]
        if named:
            raise TestStreamError(
                f"inside: {len(named)} groupings end with {wanted!r}: {_labels(named)}; write more "
                "of the label"
            )
    raise TestStreamError(f"inside: there is no grouping {wanted!r}; there are {_labels(known)}")


def _labels(of: "tuple[GroupNode, ...] | list[GroupNode]") -> str:
    return ", ".join(repr(node.label) for node in of)
