"""Retractions as changes of a table, and the names that sessions keep."""

from beamlike.errors import UnsupportedError
from beamlike.machine.changelog import changelog, upserts
from beamlike.machine.events import AdvanceWatermark, Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CollectByTimestamp
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.triggers import AfterCount, AfterWatermark, OrFinally, Repeatedly
from beamlike.model.windowfns import FixedWindows
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive
from tests.support.refusals import refusal

END = AdvanceWatermark(MAX_TIMESTAMP)
EACH = Repeatedly(AfterCount(1))


def panes_of(strategy, *steps):
    script = tuple(
        Arrive(tuple(("k", Element(at, at)) for at in step)) if isinstance(step, list) else step
        for step in steps
    )
    run = run_in_memory(Grouping(strategy, CollectByTimestamp()), script)
    return [output.effect for output in run.outputs]


def shown(changes):
    return [
        f"{change.op} [{change.identity.start},{change.identity.end})"
        + ("" if change.pane is None else f" {change.pane.value}")
        for change in changes
    ]


def retracting(window_fn, trigger=EACH, **options):
    options = {"on_time_behavior": "fire_if_non_empty"} | options
    return WindowingStrategy(window_fn, trigger, "retracting", **options)


def names(effects):
    """The name of each pane that was not withdrawn at once, with its window."""
    return [
        f"{pane.value} in [{pane.window.start},{pane.window.end}) is "
        f"[{pane.session.start},{pane.session.end})"
        for pane in effects
        if isinstance(pane, Pane) and not pane.retraction
    ]


# -- rows called by their windows ------------------------------------------------------------


def test_a_pane_in_the_place_of_another_of_its_window_is_one_change():
    assert shown(changelog(panes_of(retracting(FixedWindows(10)), [1], [2]))) == [
        "upsert [0,10) [1]",
        "upsert [0,10) [1, 2]",
    ]


def test_a_session_that_grew_leaves_a_row_that_has_to_go():
    assert shown(changelog(panes_of(retracting(Sessions(10)), [5], [0]))) == [
        "upsert [5,15) [5]",
        "delete [5,15)",
        "upsert [0,15) [0, 5]",
    ]


def test_both_rows_of_sessions_that_merge_have_to_go():
    assert shown(changelog(panes_of(retracting(Sessions(10)), [0], [18], [9]))) == [
        "upsert [0,10) [0]",
        "upsert [18,28) [18]",
        "delete [0,10)",
        "delete [18,28)",
        "upsert [0,28) [0, 9, 18]",
    ]


def test_what_is_no_pane_changes_nothing():
    strategy = retracting(FixedWindows(10))
    assert shown(changelog(panes_of(strategy, [1], AdvanceWatermark(10), [2]))) == [
        "upsert [0,10) [1]"
    ]


# -- rows called by their sessions -----------------------------------------------------------


def test_a_session_keeps_its_row_as_it_grows():
    assert shown(upserts(panes_of(retracting(Sessions(10)), [5], [0], [12]))) == [
        "upsert [5,15) [5]",
        "upsert [5,15) [0, 5]",
        "upsert [5,15) [0, 5, 12]",
    ]


def test_when_sessions_merge_the_earliest_keeps_its_row():
    assert shown(upserts(panes_of(retracting(Sessions(10)), [18], [0], [9], [30], END))) == [
        "upsert [18,28) [18]",
        "upsert [0,10) [0]",
        "delete [18,28)",
        "upsert [0,10) [0, 9, 18]",
        "upsert [30,40) [30]",
    ]


def test_a_session_that_expired_and_is_reached_keeps_its_row():
    strategy = retracting(Sessions(10), late_check="retain")
    assert shown(upserts(panes_of(strategy, [0], AdvanceWatermark(18), [9]))) == [
        "upsert [0,10) [0]",
        "upsert [0,10) [0, 9]",
    ]


def test_a_retraction_has_the_name_of_the_pane_that_it_withdraws():
    effects = panes_of(retracting(Sessions(10)), [5], [0])
    assert [(pane.retraction, pane.session.start) for pane in effects] == [
        (False, 5),
        (True, 5),
        (False, 5),
    ]


def test_an_omitted_pane_leaves_the_name_where_it_is():
    trigger = AfterWatermark(early=AfterCount(1), late=AfterCount(1))
    strategy = retracting(Sessions(10), trigger, on_time_behavior="fire_always", unchanged="omit")
    assert names(panes_of(strategy, [5], [7], END)) == [
        "[5] in [5,15) is [5,15)",
        "[5, 7] in [5,17) is [5,15)",
    ]


def test_a_session_beside_one_that_began_with_the_same_window_has_a_name_of_its_own():
    # [0, 10) with 2 elements is full; what comes now begins a session with the same bounds, but
    # the first one has grown to [0, 12) before, and its row is called [0, 10).
    effects = panes_of(retracting(Sessions(10, max_elements=2)), [0], [2], [0], [0])
    assert names(effects) == [
        "[0] in [0,10) is [0,10)",
        "[0, 2] in [0,12) is [0,10)",
        "[0] in [0,10) is [-1,10)",
        "[0, 0] in [0,10) is [-1,10)",
    ]
    assert shown(upserts(effects)) == [
        "upsert [0,10) [0]",
        "upsert [0,10) [0, 2]",
        "upsert [-1,10) [0]",
        "upsert [-1,10) [0, 0]",
    ]


def test_a_session_beside_a_closed_one_has_a_name_of_its_own():
    # The first session fires as [0, 10), grows to [0, 12) and is closed there.
    strategy = retracting(Sessions(10), OrFinally(EACH, AfterCount(2)))
    assert names(panes_of(strategy, [0], [2], [0])) == [
        "[0] in [0,10) is [0,10)",
        "[0, 2] in [0,12) is [0,10)",
        "[0] in [0,10) is [-1,10)",
    ]


def test_panes_that_withdraw_nothing_have_no_name():
    effects = panes_of(WindowingStrategy(FixedWindows(10), EACH, "accumulating"), [1])
    assert [pane.session for pane in effects] == [None]
    assert refusal(UnsupportedError, lambda: list(upserts(effects))) == (
        "the pane of [00:00:00, 00:00:00.010) has no session, because its grouping withdraws "
        'nothing; group with accumulation="retracting"'
    )


def test_the_name_of_a_pane_is_no_part_of_what_it_is():
    (named,) = panes_of(retracting(FixedWindows(10)), [1])
    (nameless,) = panes_of(WindowingStrategy(FixedWindows(10), EACH, "accumulating"), [1])
    assert named == nameless
