"""Groupings whose panes withdraw earlier ones, by `StrategyOptions`."""

from typing import Any

import apache_beam as beam
import pytest
from apache_beam.testing.test_stream import TestStream
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms import trigger, window

from beamlike.errors import PipelineError
from beamlike.runners.beam import BeamlikeRunner, Retraction, StrategyOptions, retractable
from tests.beam_runner.scenarios.visits import GAP, LikeSessions, TwentySeconds, Visits, click_of


def at(seconds: float, value: Any) -> window.TimestampedValue:
    return window.TimestampedValue(value, seconds)


def retracting(pcoll: Any, window_fn: Any, *, every: int = 1) -> Any:
    """A collection in windows with early panes, each of which withdraws the one before."""
    windows = beam.WindowInto(
        window_fn,
        trigger=trigger.AfterWatermark(early=trigger.AfterCount(every)),
        accumulation_mode=trigger.AccumulationMode.ACCUMULATING,
    )
    options = StrategyOptions(retractions=True, on_time_behavior="fire_if_non_empty")
    return pcoll | "Windows" >> windows | "Options" >> options


def sums(p: beam.Pipeline) -> Any:
    """Sums of sessions: two of them, which a late element makes one."""
    stream = (
        TestStream()
        .add_elements([at(0, ("k", 1))])
        .add_elements([at(15, ("k", 2))])
        .add_elements([at(8, ("k", 4))])
        .advance_watermark_to_infinity()
    )
    return retracting(p | stream, window.Sessions(10)) | beam.CombinePerKey(sum)


def test_sessions_that_become_one_are_withdrawn(host: str) -> None:
    def bounds(pair: Any, w: Any = beam.DoFn.WindowParam) -> Any:
        inner = pair.element if isinstance(pair, Retraction) else pair
        return type(pair).__name__, *inner, int(w.start), int(w.end)

    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        assert_that(
            sums(p) | beam.Map(bounds),
            equal_to(
                [
                    ("tuple", "k", 1, 0, 10),
                    ("tuple", "k", 2, 15, 25),
                    ("Retraction", "k", 1, 0, 10),
                    ("Retraction", "k", 2, 15, 25),
                    ("tuple", "k", 7, 0, 25),
                ]
            ),
        )


def test_a_function_takes_what_is_withdrawn_as_well(host: str) -> None:
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        doubled = sums(p) | beam.Map(retractable(lambda pair: 2 * pair[1]))
        assert_that(doubled, equal_to([2, 4, Retraction(2), Retraction(4), 14]))


PARTS = [
    (False, 1, "phone 1 to 11 in 1"),
    (False, 1, "phone 16 to 26 in 1"),
    (True, 1, "phone 1 to 11 in 1"),
    (True, 1, "phone 16 to 26 in 1"),
    (False, 3, "phone 1 to 26 in 3"),
]
"""A visit that becomes part of another one: whether a count is withdrawn, itself, its window."""
SAME = [(False, n, "any 0 to 20 in 1") for n in (1, 2, 3)]
SAME += [(True, n, "any 0 to 20 in 1") for n in (1, 2)]


@pytest.mark.parametrize(
    ("window_fn", "expected"), [(Visits(), PARTS), (TwentySeconds(), SAME)], ids=["merging", "not"]
)
def test_panes_of_windows_of_a_users_class_are_withdrawn(
    host: str, window_fn: Any, expected: list[Any]
) -> None:
    def shown(count: Any, w: Any = beam.DoFn.WindowParam) -> tuple[bool, int, str]:
        withdrawn = isinstance(count, Retraction)
        return withdrawn, (count.element if withdrawn else count)[1], repr(w)

    stream = TestStream()
    for second, click in (1, "phone:a"), (16, "phone:b"), (8, "phone:c"):
        stream.add_elements([click_of(second, click)])
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        clicks = p | stream.advance_watermark_to_infinity()
        counts = retracting(clicks, window_fn) | beam.combiners.Count.PerKey() | beam.Map(shown)
        assert_that(counts, equal_to(expected))


def signed(count: Any) -> tuple[str, int]:
    """A count that is added up: less than zero if it is withdrawn."""
    if isinstance(count, Retraction):
        return "all", -count.element[1]
    return "all", count[1]


@pytest.mark.parametrize("window_fn", [window.Sessions(GAP), LikeSessions()], ids=["Beam's", "own"])
def test_what_is_withdrawn_long_after_is_not_late_for_a_later_grouping(host: str, window_fn: Any):
    """The watermark waits where a pane stands that may still be withdrawn."""
    stream = TestStream().add_elements([click_of(time, "phone:a") for time in (1, 2, 3, 4)])
    for time in (12, 20, 28, 36):
        stream = stream.advance_watermark_to(time - 1).add_elements([click_of(time, "phone:b")])
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        clicks = p | stream.advance_watermark_to_infinity()
        totals = (
            retracting(clicks, window_fn, every=4)
            | beam.combiners.Count.PerKey()
            | beam.Map(signed)
            | "Tens" >> beam.WindowInto(window.FixedWindows(10))
            | beam.GroupByKey()
            | beam.Map(lambda pair, w=beam.DoFn.WindowParam: (sorted(pair[1]), int(w.start)))
        )
        assert_that(totals, equal_to([([-4, 4], 10), ([8], 40)]))


def unpacked(pcoll: Any) -> Any:
    return pcoll | beam.MapTuple(lambda key, total: total)


def grouped(pcoll: Any) -> Any:
    return pcoll | beam.GroupByKey()


@pytest.mark.parametrize("take", [unpacked, grouped])
def test_what_is_withdrawn_is_not_taken_for_a_pair(take: Any) -> None:
    p = beam.Pipeline(runner=BeamlikeRunner())
    take(sums(p))
    with pytest.raises(PipelineError, match=r"Retraction\(element=\('k', 1\)\)"):
        p.run()


def test_retractions_are_there_or_not() -> None:
    with pytest.raises(PipelineError, match="retractions must be True or False, got 'yes'"):
        StrategyOptions(retractions="yes")  # type: ignore[arg-type]
