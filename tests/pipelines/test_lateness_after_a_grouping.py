"""The allowed lateness never shrinks when panes are put into windows anew.

Source: Beam Java, ``Window.getOutputStrategyInternal``.
"""

import warnings
from typing import Any

import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.errors import PipelineError, UnwiseStrategyWarning, WindowingError
from beamlike.scio import ScioContext, WindowOptions
from beamlike.testing import QueryTest, TestStream
from tests.support.refusals import refusal

TENS = beam.FixedWindows(10)
LATE = "00:00:05"


def visits(pipeline: beam.Pipeline) -> beam.PCollection[Any]:
    """Counts of windows of ten seconds, which wait a minute for one that comes late."""
    stream = (
        TestStream()
        .add_elements_at_time("00:00:01", ("ann", 1))
        .advance_watermark_to("00:00:15")
        .add_elements_at_time(LATE, ("ann", 1))
        .advance_watermark_to_infinity()
    )
    windows = beam.WindowInto(TENS, accumulation_mode="discarding", allowed_lateness=60)
    return pipeline | stream | windows | "Visits" >> beam.CombinePerKey(sum)


def regrouped(**parts: Any) -> list[Any]:
    pipeline = beam.Pipeline()
    again = visits(pipeline) | "Again" >> beam.WindowInto(TENS, **parts)
    sums = again | "Sums" >> beam.CombinePerKey(sum)
    return [it.element.value for it in pipeline.run().out_of(sums.edge)]


def test_a_late_pane_is_not_dropped_by_windows_that_say_nothing_of_lateness() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert regrouped() == [("ann", 1), ("ann", 1)]


@pytest.mark.parametrize("lateness", [0, 30])
def test_a_shorter_lateness_leaves_the_longer_one_and_is_warned_of(lateness: int) -> None:
    with pytest.warns(UnwiseStrategyWarning, match="'Again': the allowed lateness stays 1m"):
        assert regrouped(allowed_lateness=lateness) == [("ann", 1), ("ann", 1)]


def test_the_same_transform_may_be_applied_twice() -> None:
    pipeline = beam.Pipeline()
    into = beam.WindowInto(TENS)
    late, plain = visits(pipeline), pipeline | beam.Create([("ann", 1)])
    found = [(it | name >> into).windowing for name, it in (("a", late), ("b", plain))]
    assert [it.allowed_lateness for it in found] == [60_000, 0]


def test_a_trigger_that_ends_with_the_window_is_refused_with_what_can_be_done() -> None:
    with (
        pytest.warns(UnwiseStrategyWarning, match="stays 1m"),
        pytest.raises(PipelineError) as refused,
    ):
        regrouped(trigger=beam.AfterWatermark(), accumulation_mode="discarding", allowed_lateness=0)
    assert str(refused.value) == (
        "'Sums': Unsafe trigger: AfterWatermark() finishes at the end of the window, and data "
        "within the allowed lateness of 1m would be dropped; write "
        "AfterWatermark(late=AfterCount(1)), or allowed_lateness=0 where 1m was set, as it never "
        "shrinks"
    )


def test_scio_windows_keep_the_longer_lateness() -> None:
    sc = ScioContext()
    long = WindowOptions(allowed_lateness="1 hour", accumulation_mode="discarding")
    rows = sc.parallelize([1]).with_fixed_windows("10 s", options=long)
    with pytest.warns(UnwiseStrategyWarning, match="the allowed lateness stays 1h"):
        again = rows.with_fixed_windows("1 minute", options=WindowOptions(allowed_lateness=0))
    assert again.windowing.allowed_lateness == 3_600_000


# -- streams of rows ---------------------------------------------------------------------------


def counted(events: Any, **later: Any) -> Any:
    rows = bl.stream(events, timestamp="at", watermark="0 s")
    rows = rows.window(
        bl.FixedWindows("10 s"), allowed_lateness="1 minute", accumulation="discarding"
    )
    grouped = rows.group("k", {"n": bl.count()}, shards=1, buckets=1)
    return grouped.window(**later).group("k", {"n": bl.sum("n")}, shards=1, buckets=1)


def late_counts(**later: Any) -> list[int]:
    query = QueryTest(lambda events: counted(events, **later), "k string, at timestamp")
    query.send({"k": "a", "at": "00:00:01"})
    query.advance_watermark_to("00:00:15")
    query.send({"k": "a", "at": LATE})
    query.advance_watermark_to_infinity()
    return [row["n"] for row in query.rows]


def test_a_shorter_lateness_of_a_stream_is_refused_with_what_to_write() -> None:
    assert refusal(WindowingError, lambda: late_counts(allowed_lateness="30 s")) == (
        "allowed_lateness='30 s' is shorter than the 1m that the stream has already, and the "
        "allowed lateness never shrinks, as in Beam; leave it out, or give all parts of the "
        "strategy in one value: strategy=WindowingStrategy(...)"
    )


def test_a_strategy_in_one_value_may_have_a_shorter_lateness() -> None:
    windowing_strategy = bl.WindowingStrategy(bl.FixedWindows("10 s"), allowed_lateness=0)
    assert late_counts(allowed_lateness="2 minutes") == [1, 1]
    assert late_counts(allowed_lateness="1 minute") == [1, 1]
    assert [n for n in late_counts(strategy=windowing_strategy) if n] == [1]
