"""What a picture shows, as values: elements' fates, windows' lives, panes, the watermark."""

from typing import Any

import attrs
import pytest

import beamlike as bl
from beamlike.machine.events import AdvanceWatermark, Drop, DropReason, Element
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect, Sum
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Output, Run
from beamlike.testing import Results, TestStream
from beamlike.testing.streams.finished import FinishedTestStream
from beamlike.viz.moments import KeyedMoments, moments_of
from beamlike.viz.scene import Box, End, Fate, Life, Mark, RowLabel, Scene
from beamlike.viz.staging import scenes_of
from beamlike.viz.timeline import text_timeline
from tests.support.recordings import BY_FIVE, ordered

MINUTE = 60_000
FIVE = bl.IntervalWindow("12:00:00", "12:05:00")
NOON = FIVE.start


def played(stream: TestStream, **windowing: Any) -> Results:
    """A stream that may still be open, so that nothing happens at its end."""
    return FinishedTestStream(stream.steps).run(**windowing)


def stage(results: Results, key: Any) -> Scene:
    assert results.strategy is not None
    return scene_of(results.run, results.strategy, key)


def scene_of(run: Run, strategy: bl.WindowingStrategy | None, key: Any) -> Scene:
    (scene,) = scenes_of(run, strategy, [key])
    return scene


def minutes(start: int, end: int) -> bl.IntervalWindow:
    return bl.IntervalWindow(start * MINUTE, end * MINUTE)


def lives(scene: Scene) -> list[tuple[bl.IntervalWindow, float, float, End]]:
    return [(live.window, live.opened, round(live.ended, 2), live.end) for live in scene.lives]


ORDERS = ordered()


def test_a_window_with_tea_in_time_milk_late_and_salt_too_late() -> None:
    assert stage(played(ORDERS, **BY_FIVE), "table 3") == Scene(
        title="key 'table 3'",
        note="FixedWindows(5m), AfterWatermark(late=AfterCount(1)), accumulating, allowed "
        "lateness 10m",
        marks=(
            Mark(NOON + MINUTE, 0.0, "'tea'"),
            Mark(NOON + 4 * MINUTE, 2.0, "'milk'", Fate.LATE),
            Mark(NOON + 4 * MINUTE + 30_000, 4.0, "'salt'", Fate.DROPPED, "expired, missed by 1ms"),
        ),
        lives=(Life(FIVE, 0.0, 3.5, End.EXPIRED),),
        boxes=(
            Box(FIVE, "ON_TIME", 0, "['tea']", 0.0, 1.5, by="AfterWatermark[end of window]"),
            Box(
                FIVE,
                "LATE",
                1,
                "['tea', 'milk']",
                0.0,
                2.5,
                by="AfterWatermark.late[AfterCount(1)]",
            ),
        ),
        watermark=((1.0, NOON + 5 * MINUTE), (3.0, NOON + 15 * MINUTE)),
        rows=(-0.7, 4.7),
        span=(NOON - 12_000, NOON + 5 * MINUTE + 12_000),
        ticks=tuple(RowLabel(float(step), f"step {step}") for step in range(5)),
        arrival_axis="order of arrival",
    )


def test_the_scene_in_sentences() -> None:
    assert stage(played(ORDERS, **BY_FIVE), "table 3").text() == (
        "key 'table 3'. 3 elements, 1 late and taken, 1 dropped; 1 window, 2 panes. "
        "Pane on time #0 of [12:00:00, 12:05:00): ['tea']. "
        "Pane late #1 of [12:00:00, 12:05:00): ['tea', 'milk']. "
        "Dropped: 'salt' at 12:04:30, expired, missed by 1ms."
    )


VISITS = (
    TestStream()
    .add_elements_at_time("00:00:00", ("joe", 1))
    .add_elements_at_time("00:12:00", ("joe", 2))
    .add_elements_at_time("00:06:00", ("joe", 3))
    .advance_watermark_to("00:22:00")
    .advance_watermark_to("01:00:00")
)
SESSIONS = {
    "window": bl.Sessions("10 minutes"),
    "trigger": bl.AfterWatermark(early=bl.AfterCount(1)),
    "accumulation": "retracting",
    "allowed_lateness": "0 s",
}


def test_sessions_grow_together_and_a_new_pane_withdraws_those_before() -> None:
    scene = stage(played(VISITS, **SESSIONS), "joe")
    assert scene.lives == (
        Life(minutes(0, 10), 0.0, 2.0, End.MERGED, into=minutes(0, 22)),
        Life(minutes(12, 22), 1.0, 2.0, End.MERGED, into=minutes(0, 22)),
        Life(
            minutes(0, 22),
            2.0,
            3.5,
            End.EXPIRED,
            sources=(minutes(0, 10), minutes(6, 16), minutes(12, 22)),
        ),
    )
    assert [
        (box.window, box.name, box.label, box.below, box.row, box.withdrawn) for box in scene.boxes
    ] == [
        (minutes(0, 10), "early #0", "[1]", 0.0, 0.5, 2.5),
        (minutes(12, 22), "early #0", "[2]", 1.0, 1.5, 2.5),
        (minutes(0, 22), "early #0", "[1, 2, 3]", 0.0, 2.5, 3.5),
        (minutes(0, 22), "on time #1, last", "[1, 2, 3]", 0.0, 3.5, None),
    ]
    assert "3 windows merged into [00:00:00, 00:22:00)." in scene.text()
    assert "Pane early #0 of [00:00:00, 00:10:00): [1], withdrawn later." in scene.text()


@pytest.mark.parametrize(
    ("stream", "windowing", "key"), [(ORDERS, BY_FIVE, "table 3"), (VISITS, SESSIONS, "joe")]
)
def test_merges_are_worked_out_where_a_host_tells_no_story(
    stream: TestStream, windowing: dict[str, Any], key: str
) -> None:
    results = played(stream, **windowing)
    hidden_columns = attrs.evolve(results, run=attrs.evolve(results.run, trace=()))
    shown, worked_out = stage(results, key), stage(hidden_columns, key)
    assert [attrs.evolve(box, by="") for box in shown.boxes] == list(worked_out.boxes)
    assert [attrs.evolve(life, sources=()) for life in shown.lives] == [
        attrs.evolve(life, sources=()) for life in worked_out.lives
    ]


def test_windows_that_overlap_lie_in_lanes_and_panes_of_one_step_at_one_height() -> None:
    stream = TestStream().add_elements_at_time("00:00:30", ("k", 1)).advance_watermark_to_infinity()
    scene = stage(played(stream, window=bl.SlidingWindows("3 minutes", "1 minute")), "k")
    assert [(live.window, live.lane) for live in scene.lives] == [
        (minutes(-2, 1), 0),
        (minutes(-1, 2), 1),
        (minutes(0, 3), 2),
    ]
    assert [(box.window, box.row) for box in scene.boxes] == [
        (minutes(-2, 1), 1.5),
        (minutes(-1, 2), 1.5),
        (minutes(0, 3), 1.5),
    ]
    assert scene.lanes == 3


def test_an_element_that_some_of_its_windows_refused_says_so() -> None:
    stream = (
        TestStream().advance_watermark_to("00:01:00").add_elements_at_time("00:00:30", ("k", 1))
    )
    results = played(
        stream, window=bl.SlidingWindows("2 minutes", "1 minute"), allowed_lateness="0 s"
    )
    scene = stage(results, "k")
    (mark,) = scene.marks
    assert mark == Mark(
        30_000, 1.0, "1", Fate.LATE, "dropped from 1 of 2 windows: expired, missed by 1ms"
    )
    assert scene.text() == (
        "key 'k'. 1 element, 1 late and taken, 0 dropped; 1 window, 0 panes. "
        "1 at 00:00:30 was dropped from 1 of 2 windows: expired, missed by 1ms."
    )


def test_an_element_that_all_its_windows_refused_has_every_reason_and_the_least_delay() -> None:
    sliding = bl.SlidingWindows("2 minutes", "1 minute")
    strategy = bl.WindowingStrategy(sliding, bl.AfterCount(1), "discarding")
    script = (
        Arrive((("k", Element(1, 70_000)),)),
        AdvanceWatermark(121_000),
        Arrive((("k", Element(2, 80_000)),)),
    )
    scene = scene_of(run_in_memory(Grouping(strategy, Collect()), script), strategy, "k")
    assert scene.marks[1] == Mark(
        80_000, 2.0, "2", Fate.DROPPED, "expired, missed by 1s 1ms; closed"
    )


def test_an_element_between_two_windows_is_in_none() -> None:
    stream = TestStream().add_elements_at_time("00:01:30", ("k", "lost"))
    scene = stage(played(stream, window=bl.SlidingWindows("1 minute", "2 minutes")), "k")
    assert scene.marks == (Mark(90_000, 0.0, "'lost'", Fate.NOWHERE),)
    assert scene.lives == scene.boxes == ()
    assert "1 element, 0 late and taken, 0 dropped, 1 in no window" in scene.text()


def test_the_global_window_is_cut_to_what_happened() -> None:
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", ("k", 1))
        .add_elements_at_time("00:01:50", ("k", 2))
    )
    results = played(
        stream,
        window=bl.GlobalWindows(),
        trigger=bl.Repeatedly(bl.AfterCount(2)),
        accumulation="discarding",
    )
    scene = stage(results, "k")
    assert scene.span == (6_000, 114_000)
    assert scene.edges(bl.GLOBAL_WINDOW) == (6_000, 114_000)
    assert lives(scene) == [(bl.GLOBAL_WINDOW, 0.0, 1.5, End.OPEN)]


def test_a_window_whose_trigger_finished_is_closed_from_then_on() -> None:
    strategy = bl.WindowingStrategy(
        bl.FixedWindows("1 minute"), bl.AfterWatermark(), "discarding", "1 minute"
    )
    script = (
        Arrive((("k", Element(1, 10_000)),)),
        AdvanceWatermark(60_000),
        Arrive((("k", Element(2, 20_000)),)),
        AdvanceWatermark(120_000),
    )
    scene = scene_of(run_in_memory(Grouping(strategy, Collect()), script), strategy, "k")
    assert scene.lives == (Life(minutes(0, 1), 0.0, 3.5, End.EXPIRED, closed=1.5),)
    assert [(mark.fate, mark.reason) for mark in scene.marks] == [
        (Fate.TAKEN, ""),
        (Fate.DROPPED, "closed"),
    ]


def test_a_session_whose_trigger_finished_stays_as_it_was_when_it_refuses_elements() -> None:
    strategy = bl.WindowingStrategy(bl.Sessions(10), bl.AfterWatermark(), "discarding", "1 minute")
    both = Arrive((("k", Element(1, 1)), ("k", Element(2, 2))))
    run = run_in_memory(Grouping(strategy, Collect()), (both, AdvanceWatermark(12), both))

    for shown in (run, attrs.evolve(run, trace=())):
        assert scene_of(shown, strategy, "k").lives == (
            Life(
                bl.IntervalWindow(1, 12),
                0.0,
                2.5,
                End.OPEN,
                (bl.IntervalWindow(1, 11), bl.IntervalWindow(2, 12)),
                closed=1.5,
            ),
        )


def test_equal_elements_of_one_step_are_one_mark_with_their_number() -> None:
    stream = TestStream().add_elements_at_time("00:00:10", ("k", 1), ("k", 1), ("k", 2))
    results = played(stream, window=bl.FixedWindows("1 minute"))
    assert stage(results, "k").marks == (Mark(10_000, 0.0, "1", count=2), Mark(10_000, 0.0, "2"))


def test_processing_time_is_to_scale_and_a_long_wait_is_folded() -> None:
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", ("k", 1))
        .add_elements_at_time("00:00:20", ("k", 2))
        .advance_processing_time("1 minute")
        .add_elements_at_time("00:00:30", ("k", 3))
        .advance_processing_time("2 minutes")
        .add_elements_at_time("00:00:40", ("k", 4))
        .advance_processing_time("1 minute")
        .add_elements_at_time("00:00:50", ("k", 5))
        .advance_processing_time("1 day")
        .add_elements_at_time("00:00:50", ("k", 6))
    )
    scene = stage(played(stream, window=bl.FixedWindows("1 minute")), "k")
    # Eight rows for the four minutes and the little that is kept of the day.
    a_minute = 8 / 4.24
    assert [(mark.label, round(mark.row, 3)) for mark in scene.marks] == [
        ("1", 0.0),
        ("2", 0.0),
        ("3", round(a_minute, 3)),
        ("4", round(3 * a_minute, 3)),
        ("5", round(4 * a_minute, 3)),
        ("6", 8.0),
    ]
    assert [(round(tick.row / a_minute, 3), tick.label) for tick in scene.ticks] == [
        (minute / 2, f"00:0{minute // 2}:{minute % 2 * 3}0") for minute in range(9)
    ]
    (fold,) = scene.folds
    assert (round(fold.row / a_minute, 3), fold.label) == (4.12, "23h 59m left out")
    assert scene.arrival_axis == "processing time"


def test_both_times_are_one_on_a_line_that_folds_bend() -> None:
    stream = TestStream().at_processing_time("00:00:30").add_elements_at_time("00:00:10", ("k", 1))
    stream = stream.at_processing_time("00:01:30").add_elements_at_time("00:01:10", ("k", 2))
    scene = stage(played(stream, window=bl.FixedWindows("1 minute")), "k")
    assert scene.ideal == ((0.0, 30_000), (8.0, 90_000))


def test_what_has_happened_until_a_row() -> None:
    scene = stage(played(VISITS, **SESSIONS), "joe")
    assert scene.instants == (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)
    before, after = scene.until(1.5), scene.until(2.5)
    assert (len(before.marks), len(before.boxes), before.watermark) == (2, 2, ())
    assert [box.withdrawn for box in before.boxes] == [None, None]
    assert [box.withdrawn for box in after.boxes] == [2.5, 2.5, None]
    assert lives(before) == [
        (minutes(0, 10), 0.0, 1.5, End.OPEN),
        (minutes(12, 22), 1.0, 1.5, End.OPEN),
    ]


def test_steps_without_news_are_left_out_and_so_is_event_time_without_any() -> None:
    stream = TestStream().add_elements_at_time("00:00:10", ("k", 1))
    for minute in range(1, 9):
        stream = stream.advance_watermark_to(f"00:0{minute}:00")
    stream = stream.add_elements_at_time("20:00:10", ("k", 2))
    scene = stage(played(stream, window=bl.FixedWindows("10 minutes")), "k")
    assert [tick.label for tick in scene.ticks] == ["step 0", "step 8", "step 9"]
    assert scene.folds == (RowLabel(0.5, "7 steps without news left out"),)
    assert scene.watermark == ((1.0, 8 * MINUTE),)
    assert scene.event.folds == [(15 * MINUTE, (20 * 60 - 5) * MINUTE)]


def test_scenes_of_several_keys_share_their_rows_and_their_event_time() -> None:
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", ("a", 1))
        .add_elements_at_time("00:05:10", ("b", 2))
        .add_elements_at_time("00:09:10", ("c", 3))
        .advance_watermark_to("00:10:00")
    )
    results = played(stream, window=bl.FixedWindows("1 minute"))
    a, b = scenes_of(results.run, results.strategy, ["a", "b"])
    assert (a.rows, a.span, a.ticks, a.watermark) == (b.rows, b.span, b.ticks, b.watermark)
    assert [tick.label for tick in a.ticks] == ["step 0", "step 1", "step 3"]
    assert ([mark.row for mark in a.marks], [mark.row for mark in b.marks]) == ([0.0], [1.0])


def test_without_a_strategy_windows_show_from_their_first_pane_on() -> None:
    scene = scene_of(played(ORDERS, **BY_FIVE).run, None, "table 3")
    assert lives(scene) == [(FIVE, 1.5, 4.5, End.OPEN)]
    assert [mark.fate for mark in scene.marks] == [Fate.TAKEN, Fate.LATE, Fate.DROPPED]


def test_a_key_of_which_nothing_is_known_has_an_empty_scene() -> None:
    scene = scene_of(Run((), ()), None, "nobody")
    assert (scene.marks, scene.lives, scene.boxes, scene.ticks) == ((), (), (), ())


def gap_of(value: str) -> str:
    if value == "film":
        raise ValueError("films have no gap")
    return "1 minute"


def test_an_element_for_which_the_window_function_raised_is_dropped() -> None:
    stream = TestStream().add_elements_at_time("00:00:10", ("k", "film"), ("k", "page"))
    scene = stage(played(stream, window=bl.Sessions(gap_of), on_error="drop"), "k")
    assert [(mark.label, mark.fate, mark.reason) for mark in scene.marks] == [
        ("'film'", Fate.DROPPED, "failed"),
        ("'page'", Fate.TAKEN, ""),
    ]
    assert [life.window for life in scene.lives] == [bl.IntervalWindow(10_000, 70_000)]


@attrs.frozen
class Modest(Sum):
    """Sums up to ten."""

    def extract(self, accumulator: Any) -> Any:
        if accumulator > 10:
            raise OverflowError("too much")
        return accumulator


def test_elements_that_were_lost_with_their_pane_lie_at_the_end_of_their_window() -> None:
    strategy = bl.WindowingStrategy(bl.FixedWindows("1 minute"))
    script = (
        Arrive((("k", Element(7, 20_000)), ("k", Element(8, 40_000)))),
        AdvanceWatermark(60_000),
    )
    run = run_in_memory(Grouping(strategy, Modest(), "drop"), script)
    assert scene_of(run, strategy, "k").marks[2:] == (
        Mark(59_999, 1.0, "2 elements", Fate.DROPPED, "failed", count=2),
    )


def test_a_session_that_is_retained_lives_until_it_merges_or_is_forgotten() -> None:
    stream = (
        TestStream()
        .add_elements_at_time("00:01:00", ("a", 1))
        .advance_watermark_to("00:15:00")
        .add_elements_at_time("00:10:00", ("a", 2))
        .advance_watermark_to("00:25:00")
        .advance_watermark_to("00:31:00")
    )
    results = played(stream, window=bl.Sessions("10m"), late_check="retain")
    hidden_columns = attrs.evolve(results.run, trace=())

    for run in (results.run, hidden_columns):
        scene = scene_of(run, results.strategy, "a")
        assert [(live.window, live.end, live.into) for live in scene.lives] == [
            (minutes(1, 11), End.MERGED, minutes(1, 20)),
            (minutes(1, 20), End.EXPIRED, None),
        ]


def test_nan_is_one_key_and_one_dropped_element_though_another_process_gave_it_back() -> None:
    strategy = bl.WindowingStrategy(bl.FixedWindows("1m"))
    script = (
        AdvanceWatermark(MINUTE),
        Arrive(((float("nan"), Element([float("nan")], 0)), (float("nan"), Element(1, MINUTE)))),
    )
    lost = Drop(
        Element([float("nan")], 0), minutes(0, 1), DropReason.EXPIRED, missed_by=1, watermark=MINUTE
    )
    run = Run(script, (Output(1, float("nan"), lost),))

    scene = scene_of(run, strategy, float("nan"))

    assert [(mark.label, mark.fate) for mark in scene.marks] == [
        ("[nan]", Fate.DROPPED),
        ("1", Fate.TAKEN),
    ]
    assert len(KeyedMoments(moments_of(run)).keys) == 1
    assert "dropped, expired" in text_timeline(run)
