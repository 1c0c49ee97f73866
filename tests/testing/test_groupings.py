"""What is known of the grouping that an assertion about a collection is about."""

from typing import Any

import pytest

import beamlike as bl
from beamlike.api.pipelines.elements import Create, Map
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.model.graph import Edge
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.script import Arrive
from beamlike.scio import ScioContext
from beamlike.testing import TestPipeline, TestStream
from beamlike.testing.assertions.failures import AssertedGrouping, asserted_in, listening

WORDS = TestStream().add_elements_at_time("00:00:00", "foo", "bar").advance_watermark_to_infinity()


def about(build: Any) -> AssertedGrouping | None:
    """What is known of the grouping of the collection that a function makes of the words."""
    pipeline = TestPipeline()
    collection = build(ScioContext(pipeline).test_stream(WORDS))
    return asserted_in(pipeline.run().outputs, collection.edge)


@pytest.mark.parametrize(
    "build",
    [
        lambda words: words.with_sliding_windows("2 minutes", "1 minute").count_by_value(),
        lambda words: words.with_sliding_windows("2 minutes", "1 minute").count_by_value().map(str),
    ],
    ids=["its panes", "what is made of them"],
)
def test_a_grouping_is_known_with_its_keys_and_without_the_windows_that_it_assigns(build: Any):
    asserted = about(build)

    assert asserted is not None
    assert asserted.label == "count_by_value/Combine"
    # Each word came once for each of its two windows.
    arrivals = tuple((word, Element(word, 0)) for word in ("foo", "bar"))
    assert asserted.run.script == (Arrive(arrivals), AdvanceWatermark(MAX_TIMESTAMP))
    assert [(pane.key, pane.effect.value) for pane in asserted.run.panes] == [
        ("foo", 1),
        ("foo", 1),
        ("bar", 1),
        ("bar", 1),
    ]
    assert {shown.key for shown in asserted.run.trace} == {"foo", "bar"}


def test_what_was_never_grouped_has_no_grouping() -> None:
    assert about(lambda words: words.map(str)) is None

    pipeline = TestPipeline()
    numbers = pipeline | Create([1]) | Map(str)
    assert pipeline.run().outputs.inside(numbers.edge.node) is None
    assert asserted_in(pipeline.run().outputs, Edge(numbers.edge.node)) is None


def test_anyone_who_listens_hears_of_the_last_stream_that_ran() -> None:
    one = TestStream().add_elements_at_time("00:00:00", ("joe", 1)).advance_watermark_to_infinity()
    two = TestStream().add_elements_at_time("00:00:00", ("joe", 2)).advance_watermark_to_infinity()
    window = {"window": bl.FixedWindows("1 minute")}

    with listening() as outer:
        one.run(**window)
        with listening() as inner:
            assert not inner
            results = two.run(**window)
        assert list(inner) == list(outer) == list(results.groupings)
        again = one.run(**window)
    assert list(inner) == list(results.groupings)
    assert list(outer) == list(again.groupings)
    two.run(**window)
    assert list(outer) == list(again.groupings)
