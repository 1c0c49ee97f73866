"""Views by window: which elements of a side input each element of a main input sees.

Originals: ``ValidateWindowedSideInputs`` in ``windowinto.go`` of Beam Go; ``ViewTest`` of Beam
Java (``testWindowedSideInputFixedToGlobal``, ``testWindowedSideInputFixedToFixedWithDefault``) and
its ``CombineTest`` (``testWindowedCombineGloballyAsSingletonView``).
"""

from typing import Any

import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.testing import (
    TestPipeline,
    TestStream,
    TimestampedValue,
    contain_in_any_order,
    expect,
)
from beamlike.testing import TimestampedValue as At
from tests.support.pipelines.files import HOSTS

SECOND, TEN_MS = beam.FixedWindows("1 s"), beam.FixedWindows("10 ms")
TWO_SECONDS = beam.SlidingWindows("2 s", "1 s")


@pytest.mark.parametrize(
    ("main", "side", "sums"),
    [
        pytest.param(SECOND, beam.GlobalWindows(), [7, 8, 9], id="fixed-global"),
        pytest.param(SECOND, SECOND, [2, 4, 6], id="fixed-same"),
        pytest.param(SECOND, beam.FixedWindows("10 s"), [7, 8, 9], id="fixed-big"),
        # Each looks into the earliest window that its own one ends in.
        pytest.param(SECOND, TWO_SECONDS, [2, 5, 8], id="fixed-sliding"),
        # Each window of an element looks into the one that it ends in, the last into none.
        pytest.param(TWO_SECONDS, SECOND, [2, 3, 4, 5, 6, 3], id="sliding-fixed"),
    ],
)
def test_a_number_and_the_sum_of_those_that_it_sees(main: Any, side: Any, sums: list[int]) -> None:
    with TestPipeline() as pipeline:
        numbers = pipeline | beam.Create([TimestampedValue(n, n * 1000 - 10) for n in (1, 2, 3)])
        seen = beam.AsList(numbers | "Side" >> beam.WindowInto(side))
        added = (
            numbers
            | "Main" >> beam.WindowInto(main)
            | beam.Map(lambda number, others: number + sum(others), seen)
        )
        expect(added).to(contain_in_any_order(sums))


def letters(pipeline: beam.Pipeline) -> beam.PCollection[str]:
    given = [TimestampedValue("A", 4), TimestampedValue("B", 15), TimestampedValue("C", 7)]
    return pipeline | "Letters" >> beam.Create(given) | "Windows" >> beam.WindowInto(TEN_MS)


def labelled(letter: str, total: int) -> str:
    return f"{letter}{total}"


def test_all_windows_see_the_one_pane_of_everything() -> None:
    with TestPipeline() as pipeline:
        numbers = [TimestampedValue(1, 1), TimestampedValue(2, 11), TimestampedValue(3, 13)]
        total = pipeline | beam.Create(numbers) | beam.CombineGlobally(sum)
        seen = letters(pipeline) | beam.Map(labelled, beam.AsSingleton(total))
        expect(seen).to(contain_in_any_order(["A6", "B6", "C6"]))


def test_a_window_with_nothing_in_it_has_the_value_of_nothing() -> None:
    with TestPipeline() as pipeline:
        total = (
            pipeline
            | beam.Create([TimestampedValue(2, 11), TimestampedValue(3, 13)])
            | beam.WindowInto(TEN_MS)
            | beam.CombineGlobally(sum).without_defaults()
        )
        seen = letters(pipeline) | beam.Map(labelled, beam.AsSingleton(total, 0))
        expect(seen).to(contain_in_any_order(["A0", "B5", "C0"]))


def test_so_has_the_window_that_time_begins_in() -> None:
    with TestPipeline() as pipeline:
        minute = beam.FixedWindows("1 minute")
        total = (
            pipeline
            | beam.Create([TimestampedValue(1, 100), TimestampedValue(3, 100)])
            | beam.WindowInto(minute)
            | beam.CombineGlobally(sum).without_defaults()
        )
        seen = (
            pipeline
            | "Main" >> beam.Create(["at the beginning of time", TimestampedValue("then", 100)])
            | "Minutes" >> beam.WindowInto(minute)
            | beam.Map(lambda when, number: (when, number), beam.AsSingleton(total, 0))
        )
        expect(seen).to(contain_in_any_order([("at the beginning of time", 0), ("then", 4)]))


EARLY = bl.AfterWatermark(early=bl.AfterCount(1))
COUNT = bl.Repeatedly(bl.AfterCount(1))
CLOCK = bl.Repeatedly(bl.AfterProcessingTime("1 minute"))
WATERMARKS = ("00:00:20", "01:00:00", "02:00:00")


def seen(trigger: bl.Trigger, lateness: str, host: str) -> list[Any]:
    """What elements in three windows see, each with the watermark at which they come out.

    Only the second window of the side input has an element.
    """
    tens = beam.FixedWindows("10 s")
    stream = TestStream().add_elements(
        At(("main", "m1"), "00:00:01"),
        At(("main", "m2"), "00:00:12"),
        At(("side", "s"), "00:00:12"),
        At(("main", "m3"), "01:30:00"),
    )
    for watermark in WATERMARKS:
        stream = stream.advance_watermark_to(watermark)
    pipeline = beam.Pipeline()
    both = pipeline | stream.advance_watermark_to_infinity()
    mains, sides = both | beam.Partition(lambda pair, _: pair[0] == "side", 2)
    side = (
        sides
        | "Side" >> beam.Map(lambda pair: pair[1])
        | beam.WindowInto(
            tens, trigger=trigger, accumulation_mode="accumulating", allowed_lateness=lateness
        )
    )
    main = (
        mains
        | "Main" >> beam.Map(lambda pair: pair[1])
        | "Tens" >> beam.WindowInto(tens)
        | "See" >> beam.Map(lambda element, items: (element, items), beam.AsList(side))
    )
    came = pipeline.run(host=host).out_of(main.edge)
    steps = ["arrival", *WATERMARKS, "infinity"]
    return sorted((*it.element.value, steps[it.step]) for it in came)


@HOSTS
@pytest.mark.parametrize(
    ("trigger", "lateness", "empty_at", "seen_at"),
    [
        pytest.param(EARLY, "0 s", "00:00:20", "arrival", id="early"),
        pytest.param(COUNT, "0 s", "00:00:20", "arrival", id="count"),
        pytest.param(CLOCK, "0 s", "00:00:20", "00:00:20", id="clock"),
        pytest.param(bl.Never(), "0 s", "00:00:20", "00:00:20", id="never"),
        pytest.param(COUNT, "10 minutes", "01:00:00", "arrival", id="count and lateness"),
        pytest.param(CLOCK, "10 minutes", "01:00:00", "01:00:00", id="clock and lateness"),
        pytest.param(bl.Never(), "10 minutes", "01:00:00", "01:00:00", id="never and lateness"),
    ],
)
def test_elements_wait_no_longer_than_the_side_window_lives(
    trigger: bl.Trigger, lateness: str, empty_at: str, seen_at: str, host: str
) -> None:
    assert seen(trigger, lateness, host) == [
        ("m1", [], empty_at),
        ("m2", ["s"], seen_at),
        ("m3", [], "02:00:00"),
    ]
