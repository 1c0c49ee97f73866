"""Beam Python's test stream: seconds, lists, tags and an open end."""

from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.testing.test_pipeline import TestPipeline
from beamlike.beam.testing.test_stream import TestStream
from beamlike.beam.testing.util import assert_that, equal_to, equal_to_per_window
from beamlike.beam.transforms.window import FixedWindows, IntervalWindow, TimestampedValue
from beamlike.beam.utils.timestamp import MAX_TIMESTAMP, Timestamp
from beamlike.errors import UnsupportedError
from beamlike.testing import dropped, emit_exactly, expect, late_pane, on_time_pane
from tests.support.refusals import refusal

TIME_OF_EACH = beam.Map(lambda it, at=beam.DoFn.TimestampParam: (it, at))


def test_elements_may_say_when_they_happen() -> None:
    stream = (
        TestStream()
        .advance_watermark_to(0)
        .add_elements(["a", beam.WindowedValue("b", 3, []), TimestampedValue("c", 6)])
        .advance_processing_time(10)
        .advance_watermark_to(8)
        .add_elements(["d"], event_timestamp="00:00:05")
        .advance_watermark_to_infinity()
    )
    with TestPipeline() as pipeline:
        found = [("a", Timestamp(0)), ("b", Timestamp(3)), ("c", Timestamp(6)), ("d", Timestamp(5))]
        assert_that(pipeline | stream | TIME_OF_EACH, equal_to(found))


@pytest.mark.parametrize("host", ["memory", "local"])
def test_elements_happen_in_seconds_and_the_end_may_be_open(host: Any) -> None:
    with TestPipeline(host=host) as pipeline:
        stream = (
            TestStream()
            .advance_watermark_to(10)
            .add_elements(["a", "b"])
            .advance_watermark_to(300)
            .add_elements([TimestampedValue("late", 12)])
        )
        assert_that(
            pipeline | stream | TIME_OF_EACH,
            equal_to([("a", Timestamp(10)), ("b", Timestamp(10)), ("late", Timestamp(12))]),
        )


@pytest.mark.parametrize("host", ["memory", "local"])
def test_lateness_and_panes_in_seconds(host: Any) -> None:
    with TestPipeline(host=host) as pipeline:
        stream = (
            TestStream()
            .add_elements([("k", 1)], event_timestamp=5)
            .advance_watermark_to(10)
            .add_elements([("k", 2)], event_timestamp=6)
            .advance_watermark_to(20)
            .add_elements([("k", 3)], event_timestamp=7)
        )
        panes = (
            pipeline
            | stream
            | beam.WindowInto(
                FixedWindows(10),
                trigger=beam.AfterWatermark(late=beam.AfterCount(1)),
                accumulation_mode=beam.AccumulationMode.ACCUMULATING,
                allowed_lateness=5,
            )
            | beam.GroupByKey()
        )
        ten = ("00:00:00", "00:00:10")
        expect(panes).to(
            emit_exactly(
                on_time_pane("k", [1], *ten, is_last=False),
                late_pane("k", [1, 2], *ten, index=1, is_last=False),
                dropped("k", 3, at="00:00:07", window=ten, reason="expired", missed_by="5s 1ms"),
            )
        )


@pytest.mark.parametrize("host", ["memory", "local"])
def test_the_clock_moves_in_seconds(host: Any) -> None:
    with TestPipeline(host=host) as pipeline:
        stream = (
            TestStream()
            .advance_watermark_to(0)
            .add_elements([("k", 1)])
            .advance_processing_time(9)
            .add_elements([("k", 2)])
            .advance_processing_time(2)
            .add_elements([("k", 3)])
        )
        counted = (
            pipeline
            | stream
            | beam.WindowInto(
                FixedWindows(60),
                trigger=beam.Repeatedly(beam.AfterProcessingTime(10)),
                accumulation_mode=beam.AccumulationMode.DISCARDING,
                allowed_lateness=0,
            )
            | beam.CombinePerKey(sum)
        )
        assert_that(counted, equal_to([("k", 3), ("k", 3)]))


@pytest.mark.parametrize("host", ["memory", "local"])
def test_each_tag_is_an_output_with_a_watermark_of_its_own(host: Any) -> None:
    with TestPipeline(host=host) as pipeline:
        stream = (
            TestStream(output_tags=["none"])
            .advance_watermark_to(20, tag="numbers")
            .advance_watermark_to(5, tag="letters")
            .add_elements(["a", "b"], tag="letters")
            .advance_processing_time(1)
            .add_elements([TimestampedValue("1", 21)], tag="numbers")
            .advance_watermark_to(30, tag="numbers")
            .add_elements([TimestampedValue("2", 7)], tag="numbers")
        )
        outputs = pipeline | stream
        assert sorted(outputs) == ["letters", "none", "numbers"]
        windowed = {
            tag: output | f"{tag} windows" >> beam.WindowInto(FixedWindows(15))
            for tag, output in outputs.items()
        }
        grouped = {
            tag: it | f"{tag} keys" >> beam.WithKeys("k") | f"{tag} grouped" >> beam.GroupByKey()
            for tag, it in windowed.items()
        }
        assert_that(
            grouped["letters"], equal_to_per_window({IntervalWindow(0, 15): [("k", ["a", "b"])]})
        )
        # "2" is late: the watermark of the letters lets it be, that of the numbers does not.
        assert_that(
            grouped["numbers"], equal_to_per_window({IntervalWindow(15, 30): [("k", ["1"])]})
        )
        assert_that(grouped["none"], equal_to([]))


def test_what_no_stream_can_do_is_an_assertion_error_as_in_beam() -> None:
    wrong: list[tuple[Any, str]] = [
        (
            lambda: TestStream().advance_watermark_to(5).advance_watermark_to(4),
            "Watermark must strictly-monotonically advance, got Timestamp(4) after Timestamp(5).",
        ),
        (
            lambda: TestStream().advance_processing_time(-1),
            "Must advance processing time by positive amount, got Duration(-1).",
        ),
        (
            lambda: TestStream().add_elements([TimestampedValue("a", MAX_TIMESTAMP)]),
            "Element timestamp must be before timestamp.MAX_TIMESTAMP.",
        ),
    ]
    for make, shown in wrong:
        assert refusal(AssertionError, make) == shown
    with pytest.raises(UnsupportedError, match=r"^TestStream\(endpoint=...\) is for"):
        TestStream(endpoint="localhost:80")
