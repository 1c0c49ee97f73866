"""A query goes on with another windowing than its state was saved with, or is refused.

A shard without Spark, stepped by both machines at once: see `tests.support.machines.both`. What
may change is a table of docs/pages/operating.md; each of its rows has an example here.
"""

import re
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import StateError
from beamlike.machine.clocks import Clocks
from beamlike.machine.input_clocks import SourceClock
from beamlike.runtime.changes import LAYOUTS, continues, strategy_words
from beamlike.runtime.plan import Plan
from tests.support.machines.both import BothMachines
from tests.support.machines.rows_of_outputs import Row, plan_of, table
from tests.support.refusals import refusal

TENS = bl.FixedWindows(10)
LATE = bl.AfterWatermark(late=bl.AfterCount(1))


def strategy(**parts: Any) -> bl.WindowingStrategy:
    usual = {
        "window_fn": TENS,
        "trigger": LATE,
        "accumulation": "accumulating",
        "allowed_lateness": 20,
    }
    return bl.WindowingStrategy(**(usual | parts))


def plan(names: tuple[str, ...] = ("n", "sum"), more: Any = None, **parts: Any) -> Plan:
    return attrs.evolve(plan_of(strategy(**parts), *names), **(more or {}))


def early(trigger: bl.Trigger) -> bl.Trigger:
    return bl.AfterWatermark(early=trigger, late=bl.AfterCount(1))


# -- what may change ---------------------------------------------------------------------------

RETRACTING = {"accumulation": "retracting"}
EXAMPLES: dict[str, list[tuple[Plan, Plan]]] = {
    "`allowed_lateness`": [
        (plan(), plan(allowed_lateness=0)),
        (plan(), plan(allowed_lateness=1_000)),
    ],
    "a number of the trigger: a count, a delay, an interval, a threshold": [
        (plan(), plan(trigger=bl.AfterWatermark(late=bl.AfterCount(2)))),
        (plan(trigger=bl.EveryEventTime(10)), plan(trigger=bl.EveryEventTime(7, 3))),
        (plan(trigger=bl.EveryProcessingTime(10)), plan(trigger=bl.EveryProcessingTime(7))),
        (plan(trigger=bl.EveryCount(2)), plan(trigger=bl.EveryCount(3))),
        (plan(trigger=early(bl.AfterSilence(10))), plan(trigger=early(bl.AfterSilence(3)))),
        (plan(trigger=early(bl.AfterDelta(1))), plan(trigger=early(bl.AfterDelta(0.5)))),
        (
            plan(trigger=early(bl.AfterFirst(bl.AfterCount(3), bl.AfterProcessingTime(5)))),
            plan(
                trigger=early(
                    bl.AfterFirst(bl.AfterCount(2), bl.AfterProcessingTime(9, bl.AlignTo(60)))
                )
            ),
        ),
    ],
    "`late_check` between `assigned`, `merged` and `element`": [
        (plan(), plan(late_check="merged")),
        (plan(late_check="element"), plan()),
    ],
    "`closing_behavior`, `on_time_behavior`, `unchanged`": [
        (plan(), plan(closing_behavior="fire_always")),
        (plan(on_time_behavior="fire_if_non_empty"), plan()),
        (plan(**RETRACTING), plan(**RETRACTING, unchanged="omit")),
    ],
    "`render`, `output`, `on_error`, `max_failures`, `reject`, `carry`, `name`, `machine`, `lift`, "
    "`record`": [
        (plan(**RETRACTING), plan(more={"render": "upserts", "name": "totals"}, **RETRACTING)),
        (plan(), plan(more={"on_error": "fail", "machine_name": "reference", "lift": True})),
        (plan(), plan(more={"values": {**plan().values, "carried": pa.string()}})),
        (plan(more={"record": 1_000}), plan()),
        (plan(more={"max_failures": 0.5}), plan()),
    ],
    "`window`": [
        (plan(), plan(window_fn=bl.FixedWindows(5))),
        (plan(window_fn=bl.Sessions(10)), plan(window_fn=bl.Sessions(5))),
        (plan(window_fn=bl.Sessions(10)), plan(window_fn=bl.Sessions(10, merge_touching=True))),
        (plan(), plan(window_fn=bl.SlidingWindows(10, 5))),
    ],
    "another tree of triggers, or any change to one with a trigger of your own": [
        (plan(), plan(trigger=bl.DefaultTrigger())),
        (plan(), plan(trigger=early(bl.AfterCount(2)))),
        (plan(trigger=early(bl.Never())), plan(trigger=early(bl.Always()))),
        (plan(trigger=early(bl.Never())), plan(trigger=LATE)),
        (plan(trigger=bl.AfterWatermark()), plan(trigger=LATE)),
        (
            plan(trigger=bl.Repeatedly(bl.AfterFirst(bl.AfterCount(3), bl.AfterWatermark()))),
            plan(trigger=bl.Repeatedly(bl.AfterAll(bl.AfterCount(3), bl.AfterWatermark()))),
        ),
    ],
    "`accumulation`, `timestamp_combiner`": [
        (plan(accumulation="discarding"), plan(accumulation="accumulating")),
        (plan(accumulation="accumulating"), plan(accumulation="discarding")),
        (plan(), plan(accumulation="retracting")),
        (plan(), plan(timestamp_combiner="earliest")),
    ],
    "`late_check` from or to `retain`, and `allowed_lateness` beside it": [
        (plan(), plan(late_check="retain")),
        (plan(late_check="retain"), plan(late_check="merged")),
        (plan(late_check="retain"), plan(late_check="retain", allowed_lateness=30)),
    ],
    "`key`, `aggregate`, or the type of one of their columns": [
        (plan(), plan(more={"keys": {"key": pa.int64()}})),
        (plan(), plan(more={"keys": {"name": pa.string()}})),
        (plan(), plan(("n",))),
        (plan(), plan(("n", "mean"))),
        (plan(), plan(more={"values": {**plan().values, "whole": pa.int32()}})),
    ],
    "`watermark_per_key`": [
        (plan(), plan(more={"key_clock": SourceClock(0)})),
        (plan(more={"key_clock": SourceClock(0)}), plan()),
    ],
    "`shards`, `buckets`, `hot_key_fanout`": [
        (plan(), plan(more={"shards": 2})),
        (plan(), plan(more={"buckets": 2})),
        (plan(more={"fanout": 2}), plan(more={"fanout": 4})),
        (plan(), plan(more={"clocks": Clocks((SourceClock(0),))})),
    ],
}
BY_SPARK = {
    "nothing, or the lines of the code, or the cores of the machine": "goes on",
    "the [time zone](#time-zones) of the session or of a process": "goes on",
    "`spark.sql.shuffle.partitions`": "goes on",
    "the order of [named sources](#named-sources) that were united before `windowed` or `stream`, "
    "or one more of them": "goes on",
    "the number of inputs of `flatten`, `join` or `co_group`": "refused",
    "`wake_every`, `watermark`, `max_ahead`, `timestamp`, `max_jump` beside an `idle_after` "
    "that is there": "goes on",
    "a trigger on processing time or `idle_after` where there was neither, or the reverse": (
        "refused"
    ),
}
"""What no words tell of: tests of queries have them."""


def table_of_restarts() -> dict[str, str]:
    """The first words of what happens, by what differs."""
    text = (Path(__file__).parents[2] / "docs" / "pages" / "operating.md").read_text("utf-8")
    _, _, rows = text.partition("| what differs at the next start | what happens |\n|---|---|\n")
    return dict(re.findall(r"^\| (.+?) \| (goes on|refused)\b.* \|$", rows.split("\n\n")[0], re.M))


def test_the_table_of_restarts_has_the_examples_of_these_tests() -> None:
    said = table_of_restarts()

    assert set(said) == {*EXAMPLES, *BY_SPARK}
    assert {what: said[what] for what in BY_SPARK} == BY_SPARK


@pytest.mark.parametrize("what", EXAMPLES)
def test_what_goes_on_and_what_is_refused_is_as_the_table_says(what: str) -> None:
    outcomes = set()
    for before, now in EXAMPLES[what]:
        try:
            continues(before.identity, now.identity)
            outcomes.add("goes on")
        except StateError:
            outcomes.add("refused")

    assert outcomes == {table_of_restarts()[what]}


def test_each_refused_difference_is_named_with_both_values_and_what_goes_on_is_not() -> None:
    before = plan(allowed_lateness=0, trigger=bl.AfterWatermark())
    now = plan(("n",), window_fn=bl.Sessions(5), accumulation="discarding")

    assert refusal(StateError, lambda: continues(before.identity, now.identity)) == (
        "the checkpoint belongs to another grouping and cannot be continued:\n"
        "  window: the checkpoint has 'FixedWindows(10ms)', the query has 'Sessions(5ms)'\n"
        "  trigger: the checkpoint has 'AfterWatermark()', the query has "
        "'AfterWatermark(late=AfterCount(1))'\n"
        "  accumulation: the checkpoint has 'accumulating', the query has 'discarding'\n"
        "  aggregates: the checkpoint has 'n=Count(), sum=Sum() of whole int64', the query has "
        "'n=Count()'\n"
        "Change the query back; or bring its windows to their end with beamlike.drain, and start "
        "this one with a new checkpointLocation."
    )


@pytest.mark.parametrize("version", [1, LAYOUTS[0] - 1, LAYOUTS[-1] + 1])
def test_state_of_another_layout_is_refused_by_its_version_and_nothing_else(version: int) -> None:
    words = {"layout version": str(version), "window": "what that version said"}

    assert refusal(StateError, lambda: continues(words, plan().identity)) == (
        f"the checkpoint has state of layout version {version}, and this beamlike reads 4, 5, 6 "
        "and 7; bring its windows to their end with beamlike.drain of the version that wrote it, "
        "and start this one with a new checkpointLocation"
    )


@pytest.mark.parametrize("version", LAYOUTS)
def test_state_of_a_layout_that_is_read_continues(version: int) -> None:
    now = plan().identity

    assert continues(now | {"layout version": str(version)}, plan().identity) is (
        version != LAYOUTS[-1]
    )


def test_a_lateness_is_reported_in_the_words_of_people() -> None:
    before = plan(late_check="retain", allowed_lateness="90 minutes")

    with pytest.raises(StateError, match="checkpoint has '1h 30m', the query has '1m'"):
        continues(before.identity, plan(late_check="retain", allowed_lateness="1 minute").identity)


def test_what_has_no_trigger_follows_no_change() -> None:
    words = {"look-up": "left", "allowed lateness": "0 ms"}

    assert continues(words, words) is False
    with pytest.raises(StateError, match="allowed lateness: the checkpoint has '0ms', the query"):
        continues(words, words | {"allowed lateness": "5 ms"})


def test_a_word_that_is_gone_or_new_is_a_difference() -> None:
    words = {"layout version": "4", **strategy_words(strategy())}

    with pytest.raises(StateError, match="late check: the checkpoint has 'assigned', the query ha"):
        continues(words, {what: word for what, word in words.items() if what != "late check"})
    with pytest.raises(StateError, match="side: the checkpoint has none, the query has 'left'"):
        continues(words, {**words, "side": "left"})


# -- what comes out then -----------------------------------------------------------------------


def again(both: BothMachines, **parts: Any) -> BothMachines:
    """The same shard after a restart of its query with another windowing."""
    other = BothMachines(plan(**parts))
    other.store = both.store
    return other


def shown(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Each pane: start of its window, timing, index, count, whether it is the last."""
    return [
        (
            row["__beamlike"]["start"],
            row["pane"]["timing"],
            row["pane"]["index"],
            row["n"],
            row["pane"]["is_last"],
        )
        if row["pane"]
        else (row["__beamlike"]["dropped"]["reason"],)
        for row in rows
    ]


def test_with_shorter_lateness_a_window_ends_at_once_and_takes_nothing_more() -> None:
    both = BothMachines(plan())
    both.step(table(Row(3)), watermark=0)
    assert shown(both.step(watermark=15)) == [(0, "ON_TIME", 0, 1, False)]
    both.step(table(Row(12), Row(25)), watermark=15)
    assert both.status.windows_open == 3

    shorter = again(both, allowed_lateness=0, closing_behavior="fire_always")

    assert shown(shorter.step(table(Row(4)), watermark=15)) == [
        (0, "LATE", 1, 1, True),
        ("expired",),
    ]
    assert shorter.status.windows_open == 2
    assert shown(shorter.step(watermark=20)) == [(10, "ON_TIME", 0, 1, True)]


def test_with_shorter_lateness_a_window_ends_also_if_nothing_comes_and_nothing_moves() -> None:
    both = BothMachines(plan(trigger=bl.AfterWatermark(late=bl.AfterCount(2))))
    both.step(table(Row(3)), watermark=0)
    both.step(watermark=15)
    assert both.step(table(Row(4)), watermark=15) == []

    shorter = again(both, trigger=bl.AfterWatermark(late=bl.AfterCount(2)), allowed_lateness=0)

    assert shown(shorter.step(watermark=15)) == [(0, "LATE", 1, 2, True)]
    assert shorter.status.windows_open == 0


def test_with_longer_lateness_open_windows_stay_and_one_that_had_ended_opens_anew() -> None:
    both = BothMachines(plan(allowed_lateness=0))
    both.step(table(Row(3), Row(13)), watermark=12)
    assert both.status.windows_open == 1

    longer = again(both, allowed_lateness=20)

    assert shown(longer.step(table(Row(4)), watermark=12)) == [(0, "LATE", 0, 1, False)]
    assert shown(longer.step(watermark=25)) == [(10, "ON_TIME", 0, 1, False)]
    assert shown(longer.step(table(Row(14)), watermark=29)) == [(10, "LATE", 1, 2, False)]
    assert longer.status.windows_open == 2
    assert longer.step(watermark=30) == []
    assert longer.status.windows_open == 1


def test_a_lower_count_is_reached_with_the_next_element() -> None:
    both = BothMachines(plan(trigger=early(bl.AfterCount(5))))
    assert both.step(table(Row(1), Row(2), Row(3)), watermark=0) == []

    lower = again(both, trigger=early(bl.AfterCount(2)))

    assert lower.step(watermark=0) == []
    assert shown(lower.step(table(Row(4)), watermark=0)) == [(0, "EARLY", 0, 4, False)]
    assert shown(lower.step(table(Row(5), Row(6)), watermark=0)) == [(0, "EARLY", 1, 6, False)]


def test_a_delay_that_runs_ends_when_it_was_to_and_the_next_takes_as_long_as_is_said_now() -> None:
    both = BothMachines(plan(trigger=early(bl.AfterProcessingTime(bl.Delay(50)))))
    both.step(table(Row(1)), watermark=0, clock=100)

    quicker = again(both, trigger=early(bl.AfterProcessingTime(bl.Delay(5))))

    assert quicker.step(watermark=0, clock=120) == []
    assert shown(quicker.step(watermark=0, clock=151)) == [(0, "EARLY", 0, 1, False)]
    quicker.step(table(Row(2)), watermark=0, clock=160)
    assert shown(quicker.step(watermark=0, clock=166)) == [(0, "EARLY", 1, 2, False)]


def test_another_late_check_judges_what_comes_from_now_on() -> None:
    both = BothMachines(plan(window_fn=bl.Sessions(10), allowed_lateness=0))
    both.step(table(Row(30), Row(36)), watermark=25)

    merged = again(both, window_fn=bl.Sessions(10), allowed_lateness=0, late_check="merged")

    # Its own window ended at 32, and the session that it joins has not.
    assert merged.step(table(Row(22)), watermark=33) == []
    assert shown(merged.step(watermark=46)) == [(22, "ON_TIME", 0, 3, True)]


def test_sessions_go_on_with_what_they_have_to_withdraw_when_unchanged_panes_are_left_out() -> None:
    parts = {"window_fn": bl.Sessions(10), "accumulation": "retracting"}
    both = BothMachines(plan(trigger=early(bl.AfterCount(1)), **parts))
    first = both.step(table(Row(3)), watermark=0)

    omits = again(both, trigger=early(bl.AfterCount(1)), unchanged="omit", **parts)
    second = omits.step(table(Row(8)), watermark=0)

    assert shown(first) == [(3, "EARLY", 0, 1, False)]
    assert [(row["retraction"], row["n"]) for row in second] == [(True, 1), (False, 2)]
    assert omits.step(watermark=18) == []
