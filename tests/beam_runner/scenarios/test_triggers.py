# ruff: noqa: B008 (that is how Beam has it)
"""Triggers and timers beside what Beam's own direct runner makes of them.

`OrFinally` is judged alike. What differs follows from rules of windows, whose judge is Beam Java:
``ReduceFnRunner`` merges active windows alone, of which one that has closed is none, and a window
has a last pane as it expires.
"""

from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.direct.direct_runner import BundleBasedDirectRunner
from apache_beam.testing.test_stream import TestStream
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms import trigger, userstate, window

from beamlike.runners.beam import BeamlikeRunner, StrategyOptions

THREE_ONE_BY_ONE = trigger.OrFinally(
    trigger.Repeatedly(trigger.AfterCount(1)), trigger.AfterCount(3)
)


def expecting(runner: Any, window_fn: Any, expected: list[Any]) -> None:
    """Assert the panes of single elements, the last of which come after the third one."""
    stream = TestStream()
    for seconds in (1, 2, 3, 5):
        stream.add_elements([window.TimestampedValue(("k", seconds), seconds)])
    stream.add_elements([window.TimestampedValue(("j", 4), 4)])
    options = PipelineOptions(["--allow_unsafe_triggers", "--streaming"])
    with beam.Pipeline(runner=runner, options=options) as p:
        panes = (
            p
            | stream.advance_watermark_to(100).advance_watermark_to_infinity()
            | beam.WindowInto(
                window_fn,
                trigger=THREE_ONE_BY_ONE,
                accumulation_mode=trigger.AccumulationMode.DISCARDING,
            )
            | beam.GroupByKey()
            | beam.Map(lambda pair, pane=beam.DoFn.PaneInfoParam: (*pair, pane.is_last))
        )
        assert_that(panes, equal_to(expected))


THREE_AND_ONE = [("k", [1], False), ("k", [2], False), ("k", [3], True), ("j", [4], False)]
LAST = ("j", [], True)
"""The window of ``j`` is not ended by its trigger, so it has a last pane as it expires."""


@pytest.mark.parametrize("window_fn", [window.FixedWindows(10), window.GlobalWindows()])
def test_or_finally_closes_a_window_and_another_one_has_a_last_pane(host: str, window_fn: Any):
    expecting(BundleBasedDirectRunner(), window_fn, THREE_AND_ONE)
    expecting(BeamlikeRunner(host), window_fn, [*THREE_AND_ONE, LAST])


def test_a_session_opens_beside_one_that_or_finally_has_closed(host: str) -> None:
    """In Beam Python the closed one swallows what overlaps it: the element is lost."""
    sessions = window.Sessions(4)
    beside = [("k", [5], False), ("k", [], True)]
    expecting(BundleBasedDirectRunner(), sessions, THREE_AND_ONE)
    expecting(BeamlikeRunner(host), sessions, [*THREE_AND_ONE, LAST, *beside])


@pytest.mark.parametrize(
    ("parts", "timings"),
    [({}, [0, 1]), ({"on_time_behavior": "fire_if_non_empty"}, [0])],
    ids=["Beam's", "ours"],
)
def test_an_on_time_pane_without_news_may_be_left_out(
    host: str, parts: dict[str, str], timings: list[int]
) -> None:
    """Beam's SDK cannot say that; `StrategyOptions` can, for the groupings that follow."""
    stream = TestStream().add_elements([window.TimestampedValue(("k", 1), 1)])
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        windowed = (
            p
            | stream.advance_watermark_to(10).advance_watermark_to_infinity()
            | beam.WindowInto(
                window.FixedWindows(10),
                trigger=trigger.AfterWatermark(early=trigger.AfterCount(1)),
                accumulation_mode=trigger.AccumulationMode.DISCARDING,
            )
        )
        if parts:
            windowed |= StrategyOptions(**parts)
        seen = (
            windowed
            | beam.Map(lambda pair: pair)
            | beam.GroupByKey()
            | beam.Map(lambda pair, pane=beam.DoFn.PaneInfoParam: pane.timing)
        )
        assert_that(seen, equal_to(timings))


class Waits(beam.DoFn):
    """Says each second that it is called, three times."""

    ALARM = userstate.TimerSpec("alarm", beam.TimeDomain.REAL_TIME)
    RINGS = userstate.CombiningValueStateSpec("rings", sum)

    def process(self, pair: Any, alarm: Any = beam.DoFn.TimerParam(ALARM)) -> Any:
        if pair[1] == "at 0":
            alarm.set(1)
        yield pair[1]

    @userstate.on_timer(ALARM)
    def rings(
        self, alarm: Any = beam.DoFn.TimerParam(ALARM), rings: Any = beam.DoFn.StateParam(RINGS)
    ) -> Any:
        rings.add(1)
        if rings.read() < 3:
            alarm.set(rings.read() + 1)
        yield f"ring {rings.read()}"


def test_a_timer_of_processing_time_fires_at_its_instant_as_in_beam_python(host: str) -> None:
    """Each ring comes before the element that is added at the same time."""
    for runner in (BundleBasedDirectRunner(), BeamlikeRunner(host)):
        stream = TestStream().advance_watermark_to(0).add_elements([("k", "at 0")])
        for second in (1, 2, 3):
            stream.advance_processing_time(1).add_elements([("k", f"at {second}")])
        options = PipelineOptions(["--streaming"])
        with beam.Pipeline(runner=runner, options=options) as p:
            texts = p | stream | beam.ParDo(Waits()) | beam.Map(lambda text: (None, text))
            numbered = texts | beam.ParDo(Numbered())
            expected = ["at 0", "ring 1", "at 1", "ring 2", "at 2", "ring 3", "at 3"]
            assert_that(numbered, equal_to([*enumerate(expected, 1)]))


class Numbered(beam.DoFn):
    """Numbers elements as they come."""

    SEEN = userstate.CombiningValueStateSpec("seen", sum)

    def process(self, pair: Any, seen: Any = beam.DoFn.StateParam(SEEN)) -> Any:
        seen.add(1)
        yield seen.read(), pair[1]
