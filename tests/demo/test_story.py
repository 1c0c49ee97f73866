"""Which hour is drawn, and what is in its picture."""

from typing import Any
from zoneinfo import ZoneInfo

import attrs

from beamlike.demo.flights import ArrivalFile
from beamlike.demo.job import FlightBatch
from beamlike.demo.story import choose_group, story_scene
from beamlike.model.windows import IntervalWindow
from beamlike.viz.scene import Box, End, Fate, Life, Mark, RowLabel, Scene

MINUTE = 60_000


def test_the_hour_with_all_timings_and_a_drop_is_chosen(scene: Any):
    assert choose_group(scene.panes, scene.drops) == ("UA", scene.start)


def test_among_equals_the_hour_with_more_departures_is_chosen(scene: Any):
    one, other = ("B6", scene.start), ("DL", scene.start)
    scene.panes[one] = scene.panes["UA", scene.start]
    *before, last = scene.panes[one]
    scene.panes[other] = (*before, attrs.evolve(last, departures=9))
    assert choose_group(scene.panes, []) == other


def test_the_story_of_an_hour(scene: Any):
    start = scene.start
    files = [
        ArrivalFile(number, 2, start + number * 100 * MINUTE, start + (number + 1) * 100 * MINUTE)
        for number in range(9)
    ]
    batches = [
        FlightBatch(0, 2, None),
        *(FlightBatch(index, 2, start + (index * 100 - 30) * MINUTE) for index in range(1, 9)),
        FlightBatch(9, 1, start + 870 * MINUTE),
        FlightBatch(10, 0, start + 10_000 * MINUTE),
    ]
    group = ("UA", start)
    trace = story_scene(group, scene.panes[group], scene.drops, scene.flights, files, batches)

    # The picture is fourteen rows high. Of the 910 minutes from the first arrival on it shows 415:
    # of each of the two long silences an hour is left, half of it before the fold.
    def row(minute: int) -> float:
        return (minute - 5) * MINUTE / (415 * MINUTE / 14)

    window = IntervalWindow(start, start + 60 * MINUTE)
    assert trace == Scene(
        title="UA, departures scheduled 06:00 to 07:00 on 01 January 2013",
        note="watermark 30 minutes behind, allowed lateness 6 hours; each pane holds all "
        "departures so far",
        marks=(
            Mark(start + 5 * MINUTE, row(5)),
            Mark(start, row(10)),
            Mark(start + 20 * MINUTE, row(40)),
            Mark(start + 10 * MINUTE, row(190)),
            Mark(
                start + 15 * MINUTE,
                row(915 - 495),
                "N5: 15h late, missed the window by 7h 30m",
                Fate.DROPPED,
            ),
        ),
        # The watermark passes the end of the window by six hours in batch 5.
        lives=(Life(window, 0.0, row(600 - 240), End.EXPIRED),),
        boxes=(
            Box(window, "EARLY", None, "2 departures, mean delay 10 min", 0.0, row(100)),
            Box(window, "ON_TIME", None, "3 departures, mean delay 15 min", 0.0, row(200)),
            Box(window, "LATE", None, "4 departures, mean delay 70 min", 0.0, row(300)),
        ),
        watermark=(
            *(
                (row(shown), start + (index * 100 - 30) * MINUTE)
                for index, shown in enumerate((200, 300, 330, 330, 360, 390, 390, 405), start=1)
            ),
            (row(405), start + 870 * MINUTE),
            (row(405), start + 10_000 * MINUTE),
        ),
        rows=(-0.6, 14.6),
        span=(start - 18 * MINUTE, start + 78 * MINUTE),
        ticks=tuple(
            RowLabel(row(shown), hour, strong=True)
            for shown, hour in (
                *((60, "07:00"), (120, "08:00"), (180, "09:00"), (240, "10:00")),
                *((300, "11:00"), (360, "16:00"), (405, "21:00")),
            )
        ),
        folds=(RowLabel(row(330), "4h left out"), RowLabel(row(390), "4h 15m left out")),
        ideal=((row(-18), start - 18 * MINUTE), (row(78), start + 78 * MINUTE)),
        event_axis="scheduled departure (event time, New York)",
        arrival_axis="actual departure (arrival, New York)",
        zone=ZoneInfo("America/New_York"),
    )


def test_an_hour_in_which_no_one_was_dropped_is_not_seen_to_expire(scene: Any):
    group = ("AA", scene.start)
    files = [ArrivalFile(0, 4, scene.start, scene.start + 400 * MINUTE)]
    batches = [FlightBatch(index, 4, scene.start + index * 100 * MINUTE) for index in range(5)]
    trace = story_scene(group, scene.panes[group], (), scene.flights, files, batches)
    assert [life.end for life in trace.lives] == [End.OPEN]
    assert [mark.fate for mark in trace.marks] == [Fate.TAKEN] * 2


def test_a_flight_that_leaves_behind_the_watermark_is_drawn_as_late(scene: Any):
    start, group = scene.start, ("UA", scene.start)
    files = [ArrivalFile(0, 5, start, start + 100 * MINUTE)]
    # The first batch has read until 100 minutes; one flight of the hour leaves at 190.
    batches = [
        FlightBatch(0, 5, start + 10 * MINUTE + 1),
        *(FlightBatch(index, 0, start + 70 * MINUTE) for index in range(1, 4)),
    ]
    trace = story_scene(group, scene.panes[group][:1], [], scene.flights, files, batches)
    assert [(mark.event, mark.fate) for mark in trace.marks] == [
        (start + 5 * MINUTE, Fate.TAKEN),
        (start, Fate.TAKEN),
        (start + 20 * MINUTE, Fate.TAKEN),
        (start + 10 * MINUTE, Fate.LATE),
        (start + 15 * MINUTE, Fate.LATE),
    ]
