"""``strategy=`` where the parts of a strategy are taken: the same panes, and never both."""

from typing import Any

import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.errors import PipelineError, TestStreamError, UnsafeTriggerError, WindowingError
from beamlike.testing import TestStream, TimestampedValue, compare

STREAM = (
    TestStream()
    .add_elements(TimestampedValue(("ann", 1), "00:01:00"))
    .advance_watermark_to("00:12:00")
    .add_elements(TimestampedValue(("ann", 2), "00:02:00"))
    .advance_watermark_to_infinity()
)
PARTS: dict[str, Any] = {
    "trigger": bl.AfterWatermark(late=bl.AfterCount(1)),
    "accumulation": "accumulating",
    "allowed_lateness": "1 hour",
}
STRATEGY = bl.WindowingStrategy(bl.FixedWindows("10 minutes"), **PARTS)
EVENTS = [("ann", 1, "2020-01-01 00:01:00"), ("ann", 2, "2020-01-01 00:12:00")]


@pytest.mark.parametrize("host", ["memory", "local"])
def test_a_test_stream_takes_it(host: Any) -> None:
    by_parts = STREAM.run(window=bl.FixedWindows("10 minutes"), **PARTS, host=host)
    assert [output.effect.value for output in by_parts.panes] == [[1], [1, 2]]
    assert STREAM.run(strategy=STRATEGY, host=host).panes == by_parts.panes


def test_a_pipeline_takes_it() -> None:
    assert beam.WindowInto(strategy=STRATEGY).strategy is STRATEGY
    for into in (
        beam.WindowInto(strategy=STRATEGY),
        beam.WindowInto(
            STRATEGY.window_fn,
            trigger=STRATEGY.trigger,
            accumulation_mode="accumulating",
            allowed_lateness="1 hour",
        ),
    ):
        pipeline = beam.Pipeline()
        words = pipeline | beam.Create([("ann", 1), ("ann", 2)]) | into
        assert words.windowing == STRATEGY


@pytest.mark.spark
def test_dataframes_take_it(spark: Any) -> None:
    frame = spark.createDataFrame(EVENTS, "user string, v int, at string")
    how: dict[str, Any] = {"key": "user", "aggregate": {"all": bl.collect("v")}}
    rows = bl.stream(frame, timestamp="at")
    for panes in (
        bl.windowed(frame, timestamp="at", strategy=STRATEGY, **how),
        bl.windowed(frame, timestamp="at", window=STRATEGY.window_fn, **PARTS, **how),
        rows.window(strategy=STRATEGY).group(**how).rows,
        rows.window(STRATEGY.window_fn, **PARTS).group(**how).rows,
    ):
        assert sorted(row["all"] for row in panes.collect()) == [[1], [2]]


def test_strategies_are_compared() -> None:
    shorter = STRATEGY.configured(accumulation="discarding")
    variants: dict[str, Any] = {"all": {"strategy": STRATEGY}, "new": {"strategy": shorter}}
    assert str(compare(STREAM, variants)).splitlines()[-1] == "with new: 1 pane not the same"
    run = STREAM.run(strategy=STRATEGY)
    again: dict[str, Any] = {"as it is": {}, "new": {"strategy": shorter}}
    assert str(compare(run, again)).splitlines()[-1] == "with new: 1 pane not the same"


def test_a_part_beside_it_is_refused() -> None:
    with pytest.raises(
        WindowingError,
        match=r"^run: a strategy has all parts, and window is given beside it; leave it out, or "
        r"give strategy.configured\(window_fn=...\)$",
    ):
        STREAM.run(strategy=STRATEGY, window=bl.Sessions("00:01:00"))
    with pytest.raises(
        WindowingError,
        match=r"^run: a strategy has all parts, and allowed_lateness is given beside it; leave it "
        r"out, or give strategy.configured\(allowed_lateness=...\)$",
    ):
        STREAM.run(strategy=STRATEGY, allowed_lateness=0, allow_unsafe_trigger=True)
    pipeline = beam.Pipeline()
    with pytest.raises(PipelineError, match="WindowInto: a strategy has all parts"):
        pipeline | beam.Create([1]) | beam.WindowInto(beam.GlobalWindows(), strategy=STRATEGY)


def test_what_is_no_strategy_is_refused() -> None:
    wrong: Any = bl.FixedWindows("1 hour")
    with pytest.raises(WindowingError, match=r"^run: strategy needs a strategy such as Windowing"):
        STREAM.run(strategy=wrong)


def test_a_call_without_windows_says_what_to_give() -> None:
    with pytest.raises(TestStreamError, match=r"^run needs window; give window=FixedWindows"):
        STREAM.run()


def test_a_strategy_that_loses_data_is_refused_as_its_parts_are() -> None:
    unsafe = STRATEGY.configured(trigger=bl.AfterWatermark())
    with pytest.raises(UnsafeTriggerError):
        STREAM.run(strategy=unsafe)
    panes = STREAM.run(strategy=unsafe, allow_unsafe_trigger=True).panes
    assert [output.effect.value for output in panes] == [[1]]
