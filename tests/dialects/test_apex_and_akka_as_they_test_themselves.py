"""What the tests of Apex Malhar and of Akka's ``SessionWindow`` assert, asked of the words here.

Each docstring names the class of their tests, and the one that plays the scenario. What
`tests/conformance/dialects` has already is not repeated. Apex withdraws a sum by its negative; a
row here has the value that is withdrawn, and says so in its kind.
"""

from typing import Any

import pytest

from beamlike.dialects import akka, apex
from beamlike.dialects.stages import Row
from beamlike.errors import SessionOverflowError, WatermarkError

SECONDS = apex.WindowOption.time_windows("1 second")
EARLY = apex.TriggerOption().with_early_firings_at_every("1 second")
MODES = {
    "discarding": EARLY.discarding_fired_panes(),
    "accumulating": EARLY.accumulating_fired_panes(),
    "retracting": EARLY.accumulating_and_retracting_fired_panes(),
}
Element = tuple[int, Any] | tuple[int, Any, str]
"""Time, value and perhaps key."""


def said(kind: Any, value: Any, key: Any = None, start: int = 0, end: int = 1000) -> Row:
    return Row(kind, key, value, (start, end), start)


def batch(run: apex.OperatorRun, *elements: Element) -> list[Row]:
    """What a batch with these elements brings. Five of them have the clock 0 to 2 s."""
    rows = [row for at, *what in elements for row in run.process(what[0], at, *what[1:])]
    return rows + run.end_batch()


# -- Apex: WindowedOperatorTest --------------------------------------------------------------------


def test_an_early_time_withdraws_what_it_said_a_second_before() -> None:
    """The operator's test of a trigger that accumulates and retracts."""
    run = apex.WindowedOperator(SECONDS, apex.Sum(), MODES["retracting"]).run(500)

    assert [batch(run, (100, 2), (200, 3)), batch(run), batch(run)] == [[], [], [said("value", 5)]]
    assert [batch(run, (400, 4)), batch(run, (300, 5))] == [
        [],
        [said("retract", 5), said("value", 14)],
    ]


def test_a_pane_that_has_not_changed_fires_again_unless_told_otherwise() -> None:
    """The operator's test of an accumulating trigger that fires all panes."""
    run = apex.WindowedOperator(SECONDS, apex.Sum(), MODES["accumulating"]).run(500)
    rows = [batch(run, (100, 2), (200, 3)), *(batch(run) for _ in range(4))]

    assert rows == [[], [], [said("value", 5)], [], [said("value", 5)]]


@pytest.mark.parametrize(
    ("mode", "a", "b"), [("discarding", 8, 9), ("accumulating", 14, 17)], ids=["disc", "acc"]
)
def test_every_key_of_a_window_fires_with_it(mode: str, a: int, b: int) -> None:
    """The operator's tests of triggers of keys."""
    run = apex.WindowedOperator(SECONDS, apex.Sum(), MODES[mode], keyed=True).run(500)
    first: list[Element] = [(100, 2, "a"), (200, 3, "b"), (400, 5, "b"), (300, 4, "a")]

    assert [batch(run, *first), batch(run), batch(run)] == [
        *[[], []],
        [said("value", 6, "a"), said("value", 8, "b")],
    ]
    assert [batch(run, (400, 8, "a")), batch(run, (300, 9, "b"))] == [
        [],
        [said("value", a, "a"), said("value", b, "b")],
    ]


def test_sessions_that_grow_or_merge_withdraw_what_they_said() -> None:
    """The operator's test of sessions: one grows, one begins, and an element joins both."""
    trigger = apex.TriggerOption().with_early_firings_at_every(1)
    trigger = trigger.accumulating_and_retracting_fired_panes().firing_only_updated_panes()
    sessions = apex.WindowOption.session_windows("2 seconds")
    run = apex.WindowedOperator(sessions, apex.Sum(), trigger, keyed=True).run()
    assert [run.process(value, at, "a") for at, value in ((1100, 2), (2000, 3), (5000, 4))] == [
        [said("value", 2, "a", 1100, 3100)],
        [said("retract", 2, "a", 1100, 3100), said("value", 5, "a", 1100, 4000)],
        [said("value", 4, "a", 5000, 7000)],
    ]
    assert run.process(3, 3500, "a") == [
        said("retract", 5, "a", 1100, 4000),
        said("retract", 4, "a", 5000, 7000),
        said("value", 12, "a", 1100, 7000),
    ]


# -- Apex: WindowedMergeOperatorTest ---------------------------------------------------------------


def test_the_watermark_of_two_streams_is_the_lesser_and_is_passed_on_once() -> None:
    """The merge operator's tests of watermarks and of what is in its one window."""
    run = apex.WindowedMergeOperator(apex.WindowOption.global_window(), apex.CoGroup()).run()
    run.process(100)
    run.process2(200)
    run.process(300)
    passed_on = []
    first, second = run.process_watermark, run.process_watermark2
    marks = (1_000_000, 200_000, 2_100_000, 1_100_000, 1_100_000)
    for tell, at in zip((first, second, second, first, first), marks, strict=True):
        tell(at)
        passed_on.append([(row.kind, row.timestamp) for row in run.end_batch()])

    assert [row.value for row in run.windows()] == [[[100, 300], [200]]]
    assert passed_on == [
        [],
        [("watermark", 200_000)],
        [("watermark", 1_000_000)],
        [("watermark", 1_100_000)],
        [],
    ]


# -- Akka: SessionWindowSpec -----------------------------------------------------------------------


def test_a_session_that_is_just_full_is_given_out_when_a_gap_occurs() -> None:
    """The first specification: ten elements, and room for ten."""
    run = akka.SessionWindow("1 second", 10).run()

    assert [run.push(value) for value in range(1, 11)] == [[]] * 10
    assert run.advance("2 seconds") == [
        Row("value", None, list(range(1, 11)), None, 1001, "inactivity")
    ]
    assert run.complete() == []


def test_what_a_session_holds_is_given_out_when_the_stream_completes() -> None:
    """The second specification: the stream ends long before the gap has passed."""
    run = akka.SessionWindow("5 seconds", 100).run()
    for value in range(1, 11):
        run.push(value)

    assert run.complete() == [Row("value", None, list(range(1, 11)), None, 0, "end_of_input")]


def test_a_session_of_too_many_fails_the_stream_and_nothing_of_it_is_given_out() -> None:
    """The last specification: ten elements, and room for five."""
    run = akka.SessionWindow("1 second", 5, akka.OverflowStrategy.FAIL_STAGE).run()
    for value in range(1, 6):
        run.push(value)

    with pytest.raises(SessionOverflowError, match="has 5 elements already, which is max_size"):
        run.push(6)
    with pytest.raises(WatermarkError, match="the stream has failed, and nothing happens after"):
        run.complete()
