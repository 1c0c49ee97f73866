"""Marks of the text timeline that say more than a place: taken in part, off the axis."""

import beamlike as bl
from beamlike.testing import Results, TestStream
from beamlike.viz.timeline import LEGEND

OFF_AXIS = "< > off the axis"


def drawn(written: str, legend: str = LEGEND) -> str:
    return f"{legend}\n{written.rstrip()}"


def a_late_element_of_two_windows() -> Results:
    return (
        TestStream()
        .add_elements_at_time("12:03:00", ("k", "a"))
        .advance_watermark_to("12:06:00")
        .add_elements_at_time("12:04:00", ("k", "late"))
        .advance_watermark_to_infinity()
        .run(window=bl.SlidingWindows("10 minutes", "5 minutes"))
    )


def test_an_element_that_one_of_its_windows_took_is_drawn_as_taken() -> None:
    assert a_late_element_of_two_windows().timeline(90) == drawn(
        """
'k' key                 11:55:00             12:00:00              12:05:00
                        +--------------------+---------------------+---------------------+
  0 + 'a'                                                 *
      opened            [-----------------------------------------)
      opened                                 [------------------------------------------)
  1 watermark                                                          | 12:06:00
      ON_TIME #0 last   [-----------------------------------------) ['a']
                        by expiry of the window
  2 + 'late'                                                   o       |
      dropped, expired  [--------------------------------------x--)    |
                        'late' dropped from 1 of 2 windows, missed by 1m 1ms
  3 watermark                                                                   infinity >
      ON_TIME #0 last          ['a', 'late'] [------------------------------------------)
                        by expiry of the window
"""
    )


def test_the_number_of_a_withdrawn_pane_is_legible() -> None:
    results = (
        TestStream()
        .add_elements_at_time("00:00:10", ("k", 1))
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:20", ("k", 2))
        .advance_watermark_to_infinity()
        .run(
            window=bl.FixedWindows("1 minute"),
            trigger=bl.AfterWatermark(late=bl.AfterCount(1)),
            accumulation="retracting",
            allowed_lateness="1 minute",
        )
    )

    assert results.timeline(90) == drawn(
        """
'k' key                 00:00:00  00:00:10   00:00:20   00:00:30   00:00:40   00:00:50
                        +---------+----------+----------+----------+----------+----------+
  0 + 1                           *
      opened            [---------------------------------------------------------------)
  1 watermark                                                                   00:01:00 |
      ON_TIME #0        [---------------------------------------------------------------)|
                        [1] by AfterWatermark[end of window]
  2 + 2                                      o                                           |
     retract ON_TIME #0 [---------------------------------------------------------------)|
                        [1]
      LATE #1           [---------------------------------------------------------------)|
                        [1, 2] by AfterWatermark.late[AfterCount(1)]
  3 watermark                                                                   infinity >
      no pane           [---------------------------------------------------------------)
                        nothing new, expiry of the window
"""
    )


def test_a_watermark_off_the_axis_leaves_a_trace() -> None:
    results = (
        TestStream()
        .advance_watermark_to("10:00:00")
        .add_elements_at_time("12:00:10", ("k", 1))
        .add_elements_at_time("12:00:20", ("k", "a value that is too long for the margin"))
        .advance_watermark_to("18:00:00")
        .add_elements_at_time("12:00:30", ("k", 2))
        .advance_watermark_to_infinity()
        .run(window=bl.FixedWindows("1 minute"))
    )

    assert results.timeline(90) == drawn(
        """
'k' key                 12:00:00  12:00:10   12:00:20   12:00:30   12:00:40   12:00:50
                        +---------+----------+----------+----------+----------+----------+
  1 + 1                 <         *
      opened            [---------------------------------------------------------------)
  2 + 1 element         <                    *
  3 watermark                                                                   18:00:00 >
      ON_TIME #0 last   [---------------------------------------------------------------)>
                        [1, 'a value that is too long for the margin'] by expiry of t...
  4 + 2                                                 x                                >
      dropped, expired  [-------------------------------x-------------------------------)>
                        2 missed by 5h 59m 1ms
  5 watermark                                                                   infinity >
""",
        f"{LEGEND}\n{OFF_AXIS}",
    )


def test_where_there_is_room_the_legend_is_one_line() -> None:
    results = (
        TestStream()
        .add_elements_at_time("12:00:10", ("k", 1))
        .advance_watermark_to("18:00:00")
        .advance_watermark_to_infinity()
        .run(window=bl.FixedWindows("1 minute"))
    )

    assert results.timeline(100).splitlines()[0] == f"{LEGEND}   {OFF_AXIS}"
