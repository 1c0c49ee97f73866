"""A side window that stays empty is ready once it has expired, whatever the trigger waits for."""

from typing import Any

import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.testing import TestStream
from beamlike.testing import TimestampedValue as At

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


HOSTS = ["memory", "local", pytest.param("spark", marks=pytest.mark.spark)]


@pytest.mark.parametrize("host", HOSTS)
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
