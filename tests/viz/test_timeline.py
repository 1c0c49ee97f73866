"""The text timeline, drawn whole."""

from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from beamlike.errors import RecordingError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect, CombineFn, Sum
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, instant_ms
from beamlike.model.triggers import AfterCount, AfterProcessingTime, AfterWatermark, Repeatedly
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Run, ScriptStep
from beamlike.viz.timeline import LEGEND, text_timeline
from tests.support.refusals import refusal

TO_INFINITY = AdvanceWatermark(MAX_TIMESTAMP)


def arrive(key: object, *elements: tuple[str, object]) -> Arrive:
    return Arrive(tuple((key, Element(value, instant_ms(at, "at"))) for at, value in elements))


def watermark(to: str) -> AdvanceWatermark:
    return AdvanceWatermark(instant_ms(to, "to"))


def run(strategy: WindowingStrategy, combine: CombineFn, *script: ScriptStep) -> Run:
    return run_in_memory(Grouping(strategy, combine), script)


def drawn(text: str, *, off_axis: bool = False) -> str:
    """A picture written in a test, under the legend that opens every timeline."""
    return f"{LEGEND}{chr(10) * off_axis}{'< > off the axis' * off_axis}\n{text.rstrip()}"


SESSIONS = WindowingStrategy(
    Sessions("10 minutes"),
    AfterWatermark(early=AfterProcessingTime("1 minute"), late=AfterCount(1)),
    "accumulating",
    "5 minutes",
)


def a_growing_session() -> Run:
    return run(
        SESSIONS,
        Collect(),
        arrive("joe", ("00:00:00", "open"), ("00:12:00", "show")),
        AdvanceClock(61_000),
        arrive("joe", ("00:06:00", "back")),
        watermark("00:23:00"),
        arrive("joe", ("00:15:00", "late"), ("00:01:00", "gone")),
        TO_INFINITY,
    )


def test_sessions_open_fire_early_merge_and_take_in_late_data() -> None:
    assert text_timeline(a_growing_session(), window_fn=SESSIONS.window_fn) == drawn("""
'joe' key               00:00:00       00:05:00       00:10:00       00:15:00       00:20:00
                        +--------------+--------------+--------------+--------------+--------------+
  0 + 'open', 'show'    *                                   *
      opened            [----------------------------)      [----------------------------)
  1 clock 1m 1s
      EARLY #0          [----------------------------) ['open']
                        by AfterWatermark.early[AfterProcessingTime(1m)]
      EARLY #0                                              [----------------------------) ['show']
                        by AfterWatermark.early[AfterProcessingTime(1m)]
  2 + 'back'                              *
      merged            [-----------------[-----------------[----------------------------)
                        from 3 windows
  3 watermark                                                                       00:23:00 |
      ON_TIME #0        [----------------------------------------------------------------)   |
                        ['open', 'show', 'back'] by AfterWatermark[end of window]
  4 + 'late', 'gone'       x                                         o                       |
      dropped, expired     x----------------------------) 'gone' missed by 7m 1ms            |
      merged            [--------------------------------------------[----------------------------)
                        from 2 windows
  5 watermark                                                                             infinity >
      ON_TIME #0 last   [-------------------------------------------------------------------------)
                        ['open', 'show', 'back', 'late'] by expiry of the window
""")


def test_a_run_without_story_shows_what_came_out_in_any_width() -> None:
    hidden_columns = attrs.evolve(a_growing_session(), trace=())

    assert text_timeline(hidden_columns, width=60) == drawn("""
'joe' key               00:00:00      00:10:00      00:20:00
                        +-------------+-------------+-------
  0 + 'open', 'show'    *               *
  1 clock 1m 1s
      EARLY #0          [------------) ['open']
      EARLY #0                 ['show'] [------------)
  2 + 'back'                    *
  3 watermark                                  00:23:00 |
      ON_TIME #0        [----------------------------)  |
                        ['open', 'show', 'back']
  4 + 'late', 'gone'     x                   o          |
      dropped, expired   x------------)                 |
                        'gone' missed by 7m 1ms
  5 watermark                                     infinity >
      ON_TIME #0 last   [---------------------------------)
                        ['open', 'show', 'back', 'late']
""")


def test_the_global_window_and_infinity_do_not_stretch_the_axis() -> None:
    strategy = WindowingStrategy(GlobalWindows(), Repeatedly(AfterCount(2)), "discarding")
    happened = run(
        strategy,
        Sum(),
        arrive(None, ("00:00:10", 1), ("00:00:30", 2)),
        arrive(None, ("00:00:20", 3)),
        watermark("2013-01-01T00:00:00"),
        TO_INFINITY,
    )

    assert text_timeline(happened, width=80, window_fn=strategy.window_fn) == drawn(
        """
no key                  00:00:10     00:00:15      00:00:20      00:00:25
                        +------------+-------------+-------------+-------------+
  0 + 1, 2              *                                                      *
      opened            <------------------------------------------------------>
      EARLY #0          <------------------------------------------------------>
                        3 by Repeatedly[AfterCount(2)]
  1 + 3                                            *
  2 watermark                                              2013-01-01 00:00:00 >
  3 watermark                                                         infinity >
      ON_TIME #1 last   <------------------------------------------------------>
                        3 by expiry of the window
""",
        off_axis=True,
    )


def test_each_key_has_a_block_with_its_own_steps_and_retractions() -> None:
    minutes = FixedWindows("1 minute")
    strategy = WindowingStrategy(minutes, AfterWatermark(early=AfterCount(1)), "retracting")
    happened = run(
        strategy,
        Sum(),
        Arrive((("a", Element(1, 10_000)), ("b", Element(5, 70_000)))),
        arrive("a", ("00:00:20", 2)),
        watermark("00:01:00"),
        arrive("a", ("00:00:30", 3)),
    )

    assert text_timeline(happened, width=80, window_fn=minutes) == drawn("""
'a' key                 00:00:00     00:00:30      00:01:00      00:01:30
                        +------------+-------------+-------------+-------------+
  0 + 1                     *
      opened            [-------------------------)
      EARLY #0          [-------------------------) 1
                        by AfterWatermark.early[AfterCount(1)]
  1 + 2                          *
      retract EARLY #0  [-------------------------) 1
      EARLY #1          [-------------------------) 3
                        by AfterWatermark.early[AfterCount(1)]
  2 watermark                                      | 00:01:00
      retract EARLY #1  [-------------------------)|3
      ON_TIME #2 last   [-------------------------)|3 by expiry of the window
  3 + 3                              x             |
      dropped, expired  [------------x------------)|3 missed by 1ms

'b' key                 00:00:00     00:00:30      00:01:00      00:01:30
                        +------------+-------------+-------------+-------------+
  0 + 5                                                 *
      opened                                       [--------------------------)
      EARLY #0                                   5 [--------------------------)
                        by AfterWatermark.early[AfterCount(1)]
  2 watermark                                      | 00:01:00
""")


def test_a_closed_window_and_a_pane_stamped_with_its_earliest_element() -> None:
    minutes = FixedWindows("1 minute")
    happened = run(
        WindowingStrategy(minutes, AfterWatermark(), "discarding", "1 minute", "earliest"),
        Collect(),
        arrive("a", ("00:00:20", 2)),
        watermark("00:01:00"),
        arrive("a", ("00:00:30", 3)),
    )

    assert text_timeline(happened, width=80) == drawn("""
'a' key                 00:00:00     00:00:15      00:00:30      00:00:45
                        +------------+-------------+-------------+-------------+
  0 + 2                                   *
  1 watermark                                                         00:01:00 |
      ON_TIME #0 last   [-----------------------------------------------------)|
                        [2] at 00:00:20 by AfterWatermark
  2 + 3                                            x                           |
      dropped, closed   [--------------------------x--------------------------)|
                        3 the trigger had finished
""")


def test_windows_that_overlap_lie_in_lanes_and_an_empty_firing_is_reported() -> None:
    sliding = SlidingWindows("1 hour", "30 minutes")
    strategy = WindowingStrategy(
        sliding, AfterWatermark(early=AfterCount(1)), on_time_behavior="fire_if_non_empty"
    )
    happened = run(
        strategy,
        Collect(),
        arrive(7, ("2013-01-01T23:45", 1), ("2013-01-01T23:50", 2), ("2013-01-02T00:45", 3)),
        watermark("2013-01-02T00:00"),
    )

    assert text_timeline(happened, width=80, window_fn=sliding) == drawn("""
7 key                   2013-01-01 23:00:00   2013-01-02 00:00:00   01:00:00
                        +---------------------+---------------------+-----------
  0 + 1, 2, 3                           * *                   *
      opened            [--------------------)[--------------------)
      opened                       [--------------------)[--------------------)
      EARLY #0                     [--------------------) [1, 2]
                        by AfterWatermark.early[AfterCount(1)]
      EARLY #0          [--------------------) [1, 2]
                        by AfterWatermark.early[AfterCount(1)]
      EARLY #0                                       [3] [--------------------)
                        by AfterWatermark.early[AfterCount(1)]
      EARLY #0                                [--------------------) [3]
                        by AfterWatermark.early[AfterCount(1)]
  1 watermark                                 | 2013-01-02 00:00:00
      no pane           [--------------------)|nothing new, expiry of the window
""")


def test_many_elements_and_long_values_are_cut_to_the_line() -> None:
    happened = run(
        WindowingStrategy(FixedWindows("1 minute")),
        Collect(),
        arrive("k", *(("00:00:30", f"a rather long value {n}") for n in range(4))),
        watermark("00:01:00"),
    )

    assert text_timeline(happened, width=80) == drawn("""
'k' key                 00:00:00     00:00:15      00:00:30      00:00:45
                        +------------+-------------+-------------+-------------+
  0 + 4 elements                                   *
  1 watermark                                                         00:01:00 |
      ON_TIME #0 last   [-----------------------------------------------------)|
                        ['a rather long value 0', 'a rather long value 1', ...
""")


def gap_of_title(title: str) -> str:
    if title == "film":
        raise ValueError("films have\nno gap")
    return "5 minutes"


def test_what_a_function_raised_for_has_its_reason_and_opens_no_window() -> None:
    sessions = Sessions(gap_of_title)
    happened = run_in_memory(
        Grouping(WindowingStrategy(sessions), Collect(), "drop"),
        (
            arrive("ann", ("00:00:00", "page"), ("00:01:00", "film")),
            arrive("ann", ("00:02:00", "film")),
        ),
    )

    assert text_timeline(happened, width=90, window_fn=sessions) == drawn("""
'ann' key               00:00:00     00:01:00     00:02:00     00:03:00     00:04:00
                        +------------+------------+------------+------------+------------+
  0 + 'page', 'film'    *            x
      opened            [---------------------------------------------------------------)
      dropped, failed   'film'
                        because Sessions(gap_of_title).assign raised ValueError: films
                        have no gap
  1 + 'film'                                      x
      dropped, failed   'film'
                        because Sessions(gap_of_title).assign raised ValueError: films
                        have no gap
""")


@attrs.frozen
class Modest(Sum):
    """Sums up to ten."""

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        if sum(values) > 10:
            raise OverflowError("too much")
        return super().add(accumulator, values, timestamps)

    def extract(self, accumulator: Any) -> Any:
        if accumulator > 10:
            raise OverflowError("too much")
        return accumulator


def test_a_window_that_lost_an_element_opens_for_the_others_and_may_lose_all_of_them() -> None:
    minutes = FixedWindows("1 minute")
    happened = run_in_memory(
        Grouping(WindowingStrategy(minutes), Modest(), "drop"),
        (
            arrive("a", ("00:00:20", 7), ("00:00:30", 11), ("00:01:30", 12)),
            arrive("a", ("00:00:40", 8)),
            watermark("00:01:00"),
        ),
    )

    assert text_timeline(happened, width=90, window_fn=minutes) == drawn("""
'a' key                 00:00:00        00:00:30        00:01:00        00:01:30
                        +---------------+---------------+---------------+----------------+
  0 + 7, 11, 12                   *     x                               x
      opened            [------------------------------)
      dropped, failed   [---------------x--------------) 11
                        because Modest().add raised OverflowError: too much
      dropped, failed                                12 [---------------x---------------)
                        because Modest().add raised OverflowError: too much
  1 + 8                                      *
  2 watermark                                           | 00:01:00
      dropped, failed   [------------------------------)|2 elements
                        because Modest().extract raised OverflowError: too much
""")


@pytest.mark.parametrize("script", [(), (watermark("00:01:00"), TO_INFINITY), (Arrive(()),)])
def test_a_run_without_elements_has_nothing_to_draw(script: tuple[ScriptStep, ...]) -> None:
    happened = run(WindowingStrategy(FixedWindows("1 minute")), Collect(), *script)

    assert text_timeline(happened) == "(no elements, nothing came out)"


@pytest.mark.parametrize(
    "timestamps", [(0,), (-9_223_372_036_854_775, 9_223_372_036_854_774), (5, 5), (0, 10**15)]
)
@pytest.mark.parametrize("width", [1, 77, 250])
def test_no_line_is_longer_than_asked_whatever_the_scale(timestamps: tuple[int, ...], width: int):
    elements = tuple(("key", Element(timestamp, timestamp)) for timestamp in timestamps)
    happened = run(
        WindowingStrategy(GlobalWindows(), Repeatedly(AfterCount(1))), Collect(), Arrive(elements)
    )

    lines = text_timeline(happened, width).splitlines()[1:]

    assert max(map(len, lines)) <= max(width, 60)
    assert sum("EARLY #0" in line for line in lines) == 1


def a_long_morning(steps: int, key: str = "k") -> list[ScriptStep]:
    """An element every ten seconds, and after each fifth the watermark follows."""
    script: list[ScriptStep] = []
    for number in range(steps):
        script.append(Arrive(((key, Element(number, number * 10_000)),)))
        if number % 5 == 4:
            script.append(AdvanceWatermark(number * 10_000))
    return script


def test_of_a_longer_one_the_middle_is_left_out_and_counted() -> None:
    minutes = FixedWindows("1 minute")
    strategy = WindowingStrategy(minutes, AfterWatermark(early=AfterCount(2)), "discarding")
    lines = text_timeline(
        run(strategy, Sum(), *a_long_morning(300), TO_INFINITY), window_fn=minutes
    ).splitlines()

    assert len(lines) <= 2 + 2 + 121
    (left_out,) = [line.strip() for line in lines if "left out" in line]
    assert left_out == "... steps 36 to 325 left out: 242 elements, 161 panes"
    assert lines[4] == "  0 + 0                 *"
    assert [line.split() for line in lines[-3:-1]] == [
        ["359", "watermark", "00:49:50", "|"],
        ["360", "watermark", "infinity", ">"],
    ]


def test_of_many_keys_the_busiest_are_drawn_and_the_others_named() -> None:
    script = [arrive(f"key {number}", ("00:00:10", number)) for number in range(12)]
    busy = [arrive(f"key {number}", ("00:00:20", number)) for number in range(2, 10)]
    happened = run(
        WindowingStrategy(FixedWindows("1 minute")), Collect(), *script, *busy, TO_INFINITY
    )

    lines = text_timeline(happened, width=60).splitlines()

    assert [line[:11] for line in lines if " key  " in line] == [
        f"'key {number}' key" for number in range(2, 10)
    ]
    assert lines[-2:] == [
        "4 of 12 keys, the least busy, are left out: 'key 0', 'key",
        "1', 'key 10', 'key 11'",
    ]


class Address:
    def __repr__(self) -> str:
        return "Address(\n  street)"


def test_a_value_that_prints_on_several_lines_stays_on_one() -> None:
    strategy = WindowingStrategy(FixedWindows("1 minute"))
    happened = run(strategy, Collect(), arrive("k", ("00:00:30", Address())), TO_INFINITY)

    assert text_timeline(happened, width=80).splitlines()[4:] == [
        "  0 + Address( street)" + " " * 29 + "*",
        "  1 watermark" + " " * 57 + "infinity >",
        "      ON_TIME #0 last   [" + "-" * 53 + ")",
        "                        [Address( street)] by expiry of the window",
    ]


def test_a_clock_that_began_elsewhere_is_reported_as_an_instant() -> None:
    minutes = WindowingStrategy(FixedWindows("1 minute"))
    moved = run(
        minutes,
        Collect(),
        arrive("joe", ("00:00:10", "open")),
        AdvanceClock(93_600_000),
        AdvanceClock(instant_ms("2020-01-01 12:00:05", "at")),
    )

    lines = text_timeline(moved, window_fn=minutes.window_fn).splitlines()

    assert [line.rstrip() for line in lines if line.startswith(("  1", "  2"))] == [
        "  1 clock 1d 2h",
        "  2 2020-01-01 12:00:05",
    ]


@pytest.mark.parametrize("width", [None, "wide", 0, -5, 80.5])
def test_a_width_is_a_number_of_characters(width: Any) -> None:
    assert refusal(RecordingError, lambda: text_timeline(Run((), ()), width)) == (
        f"timeline width must be a whole number of 1 or more, got {width!r}"
    )
