"""Groupings that count elements several times, as in Beam: they do, and it is said."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import beamlike.beam as beam
import beamlike.scio as scio
from beamlike.errors import RepeatedElementsWarning
from beamlike.testing import TestPipeline, TestStream, TimestampedValue, run_with_context
from tests.support.pipelines.results_of_runs import values

pytestmark = pytest.mark.filterwarnings("error::beamlike.errors.RepeatedElementsWarning")

TEN, HOUR = beam.FixedWindows("10 minutes"), beam.FixedWindows("1 hour")
EARLY = beam.AfterWatermark(early=beam.AfterCount(1), late=beam.AfterCount(1))
SESSIONS = beam.Sessions("10 minutes")

HITS = (
    TestStream()
    .add_elements_at_time("00:01:00", ("ann", 1))
    .add_elements_at_time("00:02:00", ("ann", 1))
    .advance_watermark_to("00:20:00")
    .add_elements_at_time("00:03:00", ("ann", 1))
    .advance_watermark_to_infinity()
)
SAYS = (
    "{after!r} may count elements several times, as in Beam: it is given the panes of {before!r}, "
    "which is accumulating, and {because}; before {before!r} write "
    "accumulation_mode=AccumulationMode.DISCARDING, so that a pane holds what is new, or "
    "trigger=AfterWatermark(), allowed_lateness=0, so that each window has one pane"
)
OFTEN = (
    "AfterWatermark(early=AfterCount(1), late=AfterCount(1)) can fire several times for a window"
)


def windowed(given: Any, mode: str = "accumulating", **parts: Any) -> Any:
    into: dict[str, Any] = {"trigger": EARLY, "allowed_lateness": "1 hour", **parts}
    name = into.pop("name", "Windows")
    return given | name >> beam.WindowInto(
        into.pop("windowfn", TEN), accumulation_mode=mode, **into
    )


def counted(given: Any, mode: str = "accumulating", **parts: Any) -> Any:
    return windowed(given, mode, **parts) | "Visits" >> beam.CombinePerKey(sum)


def stamped() -> list[Any]:
    return [TimestampedValue(("ann", 1), f"00:0{minute}:00") for minute in (1, 2, 3)]


@contextmanager
def said(*expected: tuple[str, str, str]) -> Iterator[None]:
    """What is warned of in the block, and that each warning points at this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    assert [str(it.message) for it in caught] == [
        SAYS.format(after=after, before=before, because=because)
        for after, before, because in expected
    ]
    assert {it.category for it in caught} <= {RepeatedElementsWarning}
    assert {it.filename for it in caught} <= {__file__}


@pytest.mark.parametrize("windowfn", [TEN, SESSIONS], ids=str)
def test_what_a_second_grouping_counts_is_beams_and_is_warned_of(windowfn: Any) -> None:
    pipeline = TestPipeline()
    with said(("Hour", "Visits", OFTEN)):
        visits = counted(pipeline | HITS, windowfn=windowfn)
        hours = visits | beam.WindowInto(HOUR) | "Hour" >> beam.CombinePerKey(sum)
    # Three hits; the panes 1, 2, the on-time one, which repeats 2, and 3 make 8.
    assert values(hours)[-1] == ("ann", 8)


def test_each_pair_of_groupings_is_warned_of_once() -> None:
    pipeline = TestPipeline()
    visits = counted(pipeline | HITS)
    with said(("All", "Visits", OFTEN), ("Twice/GroupByKey", "All", OFTEN)):
        odd = visits | "Odd" >> beam.Filter(lambda pair: pair[1] % 2)
        even = visits | "Even" >> beam.Map(lambda pair: pair)
        every = (odd, even) | beam.Flatten() | "All" >> beam.CombinePerKey(sum)
        {"a": every, "b": every} | "Twice" >> beam.CoGroupByKey()


def test_two_groupings_before_one_are_two_warnings() -> None:
    pipeline = TestPipeline()
    visits = counted(pipeline | HITS)
    sales = windowed(pipeline | "Till" >> HITS, name="More") | "Sales" >> beam.CombinePerKey(max)
    with said(("Both/GroupByKey", "Visits", OFTEN), ("Both/GroupByKey", "Sales", OFTEN)):
        (visits, sales) | "Both" >> beam.CoGroupByKey()


def test_a_side_input_of_such_panes_is_warned_of() -> None:
    # Beam: of a side input whose trigger fires several times the latest firing is seen. Where it
    # accumulates, that one holds every pane of the grouping before.
    def seen(mode: str | None) -> Any:
        pipeline = TestPipeline()
        visits = counted(pipeline | HITS)
        if mode is not None:
            visits = visits | "Again" >> beam.WindowInto(accumulation_mode=mode)
        main = pipeline | beam.Create([TimestampedValue("main", "00:05:00")])
        main = main | "Main" >> beam.WindowInto(TEN)
        main | "See" >> beam.Map(lambda _, panes: list(panes), beam.AsIter(visits))

    with said(("See/View0/Items", "Visits", OFTEN)):
        seen(None)
    with said():
        seen("discarding")


def test_in_the_words_of_scio_too() -> None:
    options = scio.WindowOptions(
        trigger=EARLY, accumulation_mode="accumulating", allowed_lateness="1 hour"
    )
    with said(("Hours/Combine", "sum_by_key/Combine", OFTEN)), run_with_context() as sc:
        hits = sc.test_stream(HITS).with_session_windows("10 minutes", options=options)
        hits.sum_by_key().with_fixed_windows("1 hour").with_name("Hours").sum_by_key()


ALLOWED: dict[str, Callable[[Any], Any]] = {
    "discarding": lambda p: counted(p | HITS, "discarding"),
    "on time only": lambda p: counted(
        p | HITS, trigger=beam.AfterWatermark(), allowed_lateness="0 s"
    ),
    "at the end": lambda p: counted(p | HITS, trigger=beam.Never()),
    "bounded": lambda p: counted(
        p | beam.Create(stamped()),
        trigger=beam.AfterWatermark(early=beam.AfterProcessingTime("1 s"), late=beam.AfterCount(1)),
    ),
    "distinct": lambda p: windowed(p | HITS) | beam.Distinct(),
    "default of nothing": lambda p: (
        windowed(p | HITS | beam.Values(), windowfn=beam.GlobalWindows(), trigger=beam.Never())
        | beam.CombineGlobally(sum)
    ),
}


def test_a_value_for_no_elements_does_not_look_at_how_many_panes_there_are() -> None:
    pipeline = TestPipeline()
    with said():
        hits = windowed(pipeline | HITS | beam.Values(), windowfn=beam.GlobalWindows())
        hits | beam.CombineGlobally(sum)


@pytest.mark.parametrize("name", ALLOWED)
def test_what_counts_each_element_once_is_not_warned_of(name: str) -> None:
    pipeline = TestPipeline()
    with said():
        once = ALLOWED[name](pipeline) | "Pair" >> beam.Map(lambda it: ("all", it))
        once | beam.GroupByKey()


def test_in_bounded_data_elements_alone_can_bring_out_a_pane_before_the_end() -> None:
    pipeline = TestPipeline()
    with said(("Hour", "Visits", OFTEN)):
        visits = counted(pipeline | beam.Create(stamped()))
        hours = visits | beam.WindowInto(HOUR) | "Hour" >> beam.CombinePerKey(sum)
    assert values(visits) == [("ann", 3), ("ann", 3)]
    assert values(hours)[-1] == ("ann", 6)
