"""Which hour is drawn, and what is in its picture."""

from typing import Any
from zoneinfo import ZoneInfo

import attrs

from beamlike.demo.job import MicroBatch
from beamlike.demo.pace import ArrivalFile
from beamlike.demo.story import choose_group, tell_story
from beamlike.viz.picture import Dot, PaneBand, Story

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
        MicroBatch(0, 2, None),
        *(MicroBatch(at, 2, start + (at * 100 - 30) * MINUTE) for at in range(1, 9)),
        MicroBatch(9, 1, start + 870 * MINUTE),
        MicroBatch(10, 0, start + 10_000 * MINUTE),
    ]
    group = ("UA", start)
    story = tell_story(group, scene.panes[group], scene.drops, scene.flights, files, batches)
    assert story == Story(
        title="UA, departures scheduled 06:00 to 07:00 on 01 January 2013",
        note="watermark 30 minutes behind, allowed lateness 6 hours; each pane holds all "
        "departures so far",
        window_ms=(start, start + 60 * MINUTE),
        dots=[
            Dot(start + 5 * MINUTE, start + 5 * MINUTE),
            Dot(start, start + 10 * MINUTE),
            Dot(start + 20 * MINUTE, start + 40 * MINUTE),
            Dot(start + 10 * MINUTE, start + 190 * MINUTE),
            Dot(
                start + 15 * MINUTE,
                start + 915 * MINUTE,
                dropped=True,
                label="N5: 15h late, missed the window by 7h 30m",
            ),
        ],
        panes=[
            PaneBand("EARLY", start + 100 * MINUTE, "2 departures, mean delay 10 min"),
            PaneBand("ON_TIME", start + 200 * MINUTE, "3 departures, mean delay 15 min"),
            PaneBand("LATE", start + 300 * MINUTE, "4 departures, mean delay 70 min"),
        ],
        watermark=[
            *(
                (start + (at + 1) * 100 * MINUTE, start + (at * 100 - 30) * MINUTE)
                for at in range(1, 9)
            ),
            (start + 900 * MINUTE, start + 870 * MINUTE),
            (start + 900 * MINUTE, start + 10_000 * MINUTE),
        ],
        # The watermark passes the end of the window by six hours in batch 5.
        expired_ms=start + 600 * MINUTE,
        event_axis="scheduled departure (event time, New York)",
        arrival_axis="actual departure (arrival, New York)",
        zone=ZoneInfo("America/New_York"),
    )
