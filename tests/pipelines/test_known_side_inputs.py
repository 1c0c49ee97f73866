"""Side inputs that come to an end are computed first: then nothing waits, and no state is kept."""

from collections.abc import Sequence
from random import Random
from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

import beamlike.beam as beam
from beamlike.beam.pvalue import AsDict, AsList, AsSingleton
from beamlike.errors import PipelineError, TransformError
from beamlike.hosts.in_process import run_pipeline
from beamlike.model.bundle import Bundle
from beamlike.model.graph import Edge, KnownSideInputNode, Node, SideInputNode, rebuilt
from beamlike.runtime.graph.known_sides import computable_first, known
from beamlike.runtime.graph.mail import Mail, Parcel
from beamlike.runtime.graph.wire import Wire
from tests.support.examples import examples
from tests.support.pipelines.in_layers import run_in_letters
from tests.support.refusals import refusal


def blobs_of(came: dict[Edge, Any], edge: Edge, wire: Wire) -> list[bytes]:
    """What came out of an edge, as a job leaves it."""
    bundle = Bundle.of(output.element for output in came.get(edge, ()))
    return [*Mail(bundles={0: Parcel(added=bundle)}).handed_on(wire, 0)][:1] if bundle else []


def with_known_sides(ends: Sequence[Node]) -> list[Node]:
    """The graph in which side inputs are known, as the memory host computes them."""
    nodes = computable_first(ends)
    sides = [edge.node for node in nodes for edge in node.sources[1:]]
    came, wire = run_pipeline(sides).came, Wire.declared()
    others = {node: known(node, lambda edge: blobs_of(came, edge, wire), wire) for node in nodes}
    new = rebuilt(ends, others)
    return [new[end] for end in ends]


def elements_of(ends: Sequence[Node], edge: Edge, shards: int = 2) -> list[Any]:
    run = run_in_letters(ends, dice=Random(1), wanted=[edge], shards=shards)
    elements = [output.element for output in run.came.get(edge, ())]
    return sorted((attrs.astuple(element, recurse=False) for element in elements), key=repr)


def looks(value: int, *seen: Any) -> tuple[Any, ...]:
    lists = (view.items() if isinstance(view, dict) else view for view in seen)
    return (value, *(tuple(sorted(items)) for items in lists))


def stamped(values: Sequence[int]) -> Any:
    return beam.Create([beam.window.TimestampedValue(value, value) for value in values])


@settings(max_examples=examples(60), deadline=None)
@given(
    mains=st.lists(st.integers(0, 60), max_size=12),
    items=st.lists(st.integers(0, 60), max_size=8),
    others=st.lists(st.integers(0, 60), max_size=8),
    sizes=st.tuples(*[st.sampled_from([None, 10, 20])] * 3),
)
def test_elements_see_in_known_side_inputs_what_they_see_in_those_of_shards(
    mains: list[int], items: list[int], others: list[int], sizes: tuple[int | None, ...]
) -> None:
    of_main, *of_sides = sizes
    if of_main is None and any(of_sides):
        return  # an element of the global window looks into no other
    windows = [
        beam.window.GlobalWindows() if size is None else beam.window.FixedWindows(size)
        for size in sizes
    ]
    pipeline = beam.Pipeline()
    main, *sides = (
        pipeline | f"Read{place}" >> stamped(values) | f"Window{place}" >> beam.WindowInto(window)
        for place, (values, window) in enumerate(zip([mains, items, others], windows, strict=True))
    )
    views = (AsList(sides[0]), AsDict(sides[1] | beam.Map(lambda value: (value, "other"))))
    named = main | "Look" >> beam.Map(looks, *views)

    (end,) = with_known_sides([named.edge.node])

    assert isinstance(end, KnownSideInputNode)
    assert elements_of([end], Edge(end)) == elements_of([named.edge.node], named.edge)


def test_the_last_pane_of_a_known_side_input_is_seen() -> None:
    pipeline = beam.Pipeline()
    early = beam.WindowInto(
        beam.window.GlobalWindows(),
        trigger=beam.transforms.trigger.AfterWatermark(early=beam.transforms.trigger.AfterCount(1)),
        accumulation_mode=beam.transforms.trigger.AccumulationMode.ACCUMULATING,
    )
    side = pipeline | "Side" >> stamped([5, 7]) | early
    named = pipeline | "Main" >> stamped([1, 2]) | "Look" >> beam.Map(looks, AsList(side))

    (end,) = with_known_sides([named.edge.node])

    assert [value for value, *_ in elements_of([end], Edge(end))] == [(1, (5, 7)), (2, (5, 7))]


def test_a_view_that_cannot_be_made_is_an_error() -> None:
    pipeline = beam.Pipeline()
    side = pipeline | "Side" >> beam.Create([1, 2])
    main = pipeline | "Main" >> beam.Create([7])
    named = main | "Look" >> beam.Map(lambda value, only: only, only=AsSingleton(side))

    (end,) = with_known_sides([named.edge.node])
    assert refusal(PipelineError, lambda: elements_of([end], Edge(end))) == (
        "'Look': PCollection with more than one element accessed as a singleton view: "
        "<PCollection of 'Side'> has 2 elements in the window, the first two are 1 and 2; combine "
        "them with CombineGlobally(...), or use AsList(...)"
    )


def test_what_a_function_raises_names_the_transform_and_the_element() -> None:
    pipeline = beam.Pipeline()
    side = pipeline | "Side" >> beam.Create([0])
    main = pipeline | "Main" >> beam.Create([7])
    named = main | "Look" >> beam.Map(lambda value, only: value // only, only=AsSingleton(side))

    (end,) = with_known_sides([named.edge.node])
    assert refusal(TransformError, lambda: elements_of([end], Edge(end))) == refusal(
        TransformError, lambda: elements_of([named.edge.node], named.edge)
    )


# -- which side inputs are computed first -----------------------------------------------------


def labels(*ends: Any) -> list[str]:
    return [node.label for node in computable_first([end.edge.node for end in ends])]


def streaming(pipeline: beam.Pipeline) -> Any:
    return (
        pipeline | "Main" >> beam.testing.test_stream.TestStream().advance_watermark_to_infinity()
    )


def test_a_side_input_that_ends_is_computed_before_a_stream() -> None:
    pipeline = beam.Pipeline()
    side = pipeline | "Side" >> beam.Create([1])

    assert labels(streaming(pipeline) | "Look" >> beam.Map(looks, AsList(side))) == ["Look"]


def test_a_side_input_of_a_stream_is_not() -> None:
    pipeline = beam.Pipeline()
    stream = streaming(pipeline)

    assert labels(pipeline | beam.Create([1]) | "Look" >> beam.Map(looks, AsList(stream))) == []


def test_windows_of_a_stream_end_and_so_do_looks_into_them() -> None:
    pipeline = beam.Pipeline()
    windowed = beam.WindowInto(beam.window.FixedWindows(10))
    side = pipeline | "Side" >> beam.Create([1]) | "Ten" >> windowed
    main = streaming(pipeline) | "Ten too" >> windowed

    assert labels(main | "Look" >> beam.Map(looks, AsList(side))) == []


def test_what_main_and_side_input_share_is_computed_once() -> None:
    pipeline = beam.Pipeline()
    shared = pipeline | beam.Create([1]) | "Count me" >> beam.Map(abs)

    assert labels(shared | "Look" >> beam.Map(looks, AsList(shared))) == []


def test_a_side_input_of_a_side_input_is_computed_with_it() -> None:
    pipeline = beam.Pipeline()
    inner = pipeline | "Inner" >> beam.Create([1])
    side = pipeline | "Side" >> beam.Create([2]) | "Look in" >> beam.Map(looks, AsList(inner))

    named = pipeline | "Main" >> beam.Create([3]) | "Look" >> beam.Map(looks, AsList(side))

    assert labels(named) == ["Look"]


def test_what_reads_a_known_side_input_is_what_read_it_before() -> None:
    pipeline = beam.Pipeline()
    side = pipeline | "Side" >> beam.Create([1])
    main = pipeline | "Main" >> beam.Create([2, 3])
    named = main | "Look" >> beam.Map(lambda value, items: ("key", value), items=AsList(side))
    total = named | beam.CombinePerKey(sum)

    (end,) = with_known_sides([total.edge.node])

    assert not any(isinstance(edge.node, SideInputNode) for edge in end.sources)
    assert [value for value, *_ in elements_of([end], Edge(end))] == [("key", 5)]
