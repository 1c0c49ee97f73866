"""Functions with states and timers before and after other steps of a stream."""

from typing import Any

import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.errors import UnsupportedError
from beamlike.testing import QueryTest
from tests.support.queries.page_views import (
    HOURS,
    MINUTES,
    SMALL,
    VIEWS,
    Visits,
    came,
    end,
    send,
    stream,
    to,
    view,
)


class Running:
    """Adds up numbers."""

    total = bl.state()

    def process(self, row: Any, total: Any) -> Any:
        total.write((total.read() or 0) + row.n)
        yield {"sum": total.read()}


@pytest.mark.parametrize("restarts", [False, True])
def test_after_a_grouping_rows_are_its_panes_and_before_one_they_are_grouped(restarts: bool):
    def job(views: Any) -> Any:
        minutes = stream(views, MINUTES).group(["user", "page"], {"n": bl.count()}, **SMALL)
        hours = minutes.window(HOURS).apply_per_key("user", Running(), "sum long", **SMALL)
        return hours.group([], {"sums": bl.collect("sum")}, **SMALL).everything

    found = came(
        job,
        send(view("ann", "12:00:10"), view("ann", "12:00:20")),
        send(view("ann", "12:02:00", "milk")),
        end,
        restarts=restarts,
    )
    assert found == [[], [], ["[2, 3] at 12:59:59 in 12:00:00-13:00:00 ON_TIME"]]


def test_a_function_sees_of_which_firing_a_row_is_and_keeps_it() -> None:
    class Seen(beam.DoFn):
        def process(self, row: Any, pane: Any = beam.DoFn.PaneInfoParam) -> Any:
            fired = f"{row.pane['timing']} {pane.timing.value}"
            yield {"seen": f"{row.n} {row.window['end']:%H:%M} {fired}"}

    def job(views: Any) -> Any:
        early = bl.AfterWatermark(early=bl.AfterCount(1))
        rows = stream(
            views, MINUTES, trigger=early, accumulation="discarding", allowed_lateness="0 s"
        )
        grouped = rows.group("user", {"n": bl.count()}, **SMALL)
        return grouped.apply_per_key("user", Seen(), "seen string", **SMALL)

    assert came(job, send(view("ann", "12:00:10")), send(view("ann", "12:00:20")), end) == [
        ["ann 1 12:01 EARLY EARLY at 12:00:59 in 12:00:00-12:01:00 EARLY"],
        ["ann 1 12:01 EARLY EARLY at 12:00:59 in 12:00:00-12:01:00 EARLY"],
        ["ann 0 12:01 ON_TIME ON_TIME at 12:00:59 in 12:00:00-12:01:00 ON_TIME"],
    ]


def test_sessions_have_states_once_a_grouping_has_merged_them() -> None:
    def job(views: Any) -> Any:
        sessions = stream(views, bl.Sessions("5 minutes")).group("user", {"n": bl.count()}, **SMALL)
        return sessions.apply_per_key("user", Running(), "sum long", **SMALL)

    rows = [view("ann", "12:00:00"), view("ann", "12:03:00"), view("ann", "12:30:00")]
    assert came(job, send(*rows), end) == [
        ["ann 2 at 12:07:59 in 12:00:00-12:08:00 ON_TIME"],
        ["ann 1 at 12:34:59 in 12:30:00-12:35:00 ON_TIME"],
    ]


@pytest.mark.parametrize("restarts", [False, True])
def test_several_inputs_share_states_and_the_watermark_is_the_least(restarts: bool) -> None:
    def job(web: Any, shop: Any) -> Any:
        both = bl.flatten([stream(web), stream(shop)])
        return both.apply_per_key("user", Visits(), "visit string, over timestamp", **SMALL)

    found = came(
        job,
        send(view("ann", "12:00:00", "web"), to="web"),
        send(view("ann", "12:01:00", "shop"), to="shop"),
        lambda query: query.advance_watermark_to("13:00:00", of="web"),
        lambda query: query.advance_watermark_to("13:00:00", of="shop"),
        columns={"web": VIEWS, "shop": VIEWS},
        restarts=restarts,
    )
    over = "1970-01-01 12:11:00+00:00 at 12:11:00"
    assert found == [[], [], [], [f"ann ann: web,shop {over} in None-None"]]


def test_streams_of_such_rows_are_looked_into_and_grouped_together() -> None:
    columns = {"web": VIEWS, "shop": VIEWS}
    steps = (
        send(view("ann", "12:00:00"), to="web"),
        send(view("ann", "12:00:01", "milk"), to="shop"),
        end,
    )

    def numbered(df: Any, name: str) -> bl.Stream:
        return stream(df, HOURS).apply_per_key("user", Numbered(), "n int", name=name, **SMALL)

    def looking(web: Any, shop: Any) -> Any:
        side = stream(shop, HOURS).deduplicate("user", **SMALL).select("user", "page")
        return bl.look_up(numbered(web, "web"), side, on="user", **SMALL)

    def together(web: Any, shop: Any) -> Any:
        streams = {"web": numbered(web, "web"), "shop": numbered(shop, "shop")}
        return bl.co_group(streams, "user", **SMALL)

    inside = "in 12:00:00-13:00:00"
    assert came(looking, *steps, columns=columns) == [[], [], [f"ann 1 milk at 12:00:00 {inside}"]]
    assert came(together, *steps, columns=columns) == [
        [],
        [],
        [f"ann [{{'n': 1}}] [{{'n': 1}}] at 12:59:59 {inside} ON_TIME"],
    ]


class Numbered:
    seen = bl.state()

    def process(self, row: Any, seen: Any) -> Any:
        seen.write((seen.read() or 0) + 1)
        return [(seen.read(),)]


def test_a_timer_holds_the_watermark_of_what_follows() -> None:
    def job(views: Any) -> Any:
        found = stream(views).apply_per_key("user", Visits(), "visit string, over timestamp")
        return found.window(MINUTES).group([], {"visits": bl.collect("visit")})

    found = came(job, send(view("ann", "12:00:30")), to("12:10:30"), to("12:10:31"), to("12:12:00"))
    assert found == [[], [], [], ["['ann: tea'] at 12:10:59 in 12:10:00-12:11:00 ON_TIME"]]


@pytest.mark.parametrize("render", ["retractions", "changelog", "upserts"])
@pytest.mark.parametrize("step", ["apply_per_key", "deduplicate"])
def test_rows_that_withdraw_others_are_refused(render: Any, step: str) -> None:
    def job(views: Any) -> Any:
        rows = stream(views, HOURS, accumulation="retracting")
        grouped = rows.group("user", {"n": bl.count()}, render=render)
        if step == "deduplicate":
            return grouped.deduplicate("user")
        return grouped.apply_per_key("user", Running(), "sum long")

    with pytest.raises(UnsupportedError, match=r'rows that withdraw others.*"discarding"'):
        QueryTest(job, VIEWS)


@pytest.mark.parametrize(
    ("render", "said"),
    [
        ("retractions", [["1 False"], ["1 True", "2 False"]]),
        ("changelog", [["1 upsert"], ["2 upsert"]]),
        ("upserts", [["1 upsert"], ["2 upsert"]]),
    ],
)
def test_what_a_function_brings_out_may_be_corrected_by_a_grouping(
    render: Any, said: list[list[str]]
) -> None:
    def job(views: Any) -> Any:
        rows = stream(views, HOURS).deduplicate(["user", "page"])
        each = rows.window(
            trigger=bl.AfterWatermark(early=bl.AfterCount(1)),
            accumulation="retracting",
            allowed_lateness="0 s",
        )
        return each.group("user", {"n": bl.count()}, render=render)

    with QueryTest(job, VIEWS) as query:
        for at, page, wanted in (("12:00:00", "tea", said[0]), ("12:00:01", "milk", said[1])):
            rows = query.send(view("ann", at, page), view("ann", at, page))
            shown = "retraction" if render == "retractions" else "change"
            assert sorted(f"{row['n']} {row[shown]}" for row in rows) == wanted


def test_panes_that_repeat_others_are_rows_and_are_not_grouped_again() -> None:
    def job(views: Any, then: Any) -> Any:
        early = bl.AfterWatermark(early=bl.AfterCount(1))
        rows = stream(
            views, MINUTES, trigger=early, accumulation="accumulating", allowed_lateness="0 s"
        )
        grouped = rows.group("user", {"n": bl.count()}, **SMALL)
        return then(grouped.apply_per_key("user", Running(), "sum long", **SMALL))

    found = came(
        lambda views: job(views, lambda it: it),
        send(view("ann", "12:00:10")),
        send(view("ann", "12:00:20")),
    )
    inside = "in 12:00:00-12:01:00 EARLY"
    assert found == [[f"ann 1 at 12:00:59 {inside}"], [f"ann 3 at 12:00:59 {inside}"]]
    with pytest.raises(UnsupportedError, match="would count elements several times"):
        QueryTest(lambda views: job(views, lambda it: it.group([], {"n": bl.count()})), VIEWS)


def test_the_plan_says_what_the_step_does_and_names_are_given() -> None:
    plans = []

    def job(views: Any) -> Any:
        found = stream(views, HOURS).deduplicate("user", **SMALL)
        found = found.apply_per_key("user", Visits(), "visit string, over timestamp", **SMALL)
        plans.append(bl.explain_plan(found))
        return found

    QueryTest(job, VIEWS).close()
    assert plans == [
        "deduplicate: columnar machine\n"
        "  window: FixedWindows(1h)\n"
        "  allowed lateness: 0 ms\n"
        "  states: seen: value BooleanCoder()\n"
        "  timers: forget: WATERMARK\n"
        "  key: user string\n"
        "  inputs: a source\n"
        "  shards: 2\n"
        "  buckets: 2\n"
        "  hot key fanout: none\n"
        "  resolution: microseconds\n"
        "per key: reference machine, because it calls a function with states and timers for each "
        "row\n"
        "  window: FixedWindows(1h)\n"
        "  allowed lateness: 0 ms\n"
        "  states: pages: bag PickleCoder()\n"
        "  timers: quiet: WATERMARK\n"
        "  key: user string\n"
        "  inputs: a grouping of 2 shards\n"
        "  shards: 2\n"
        "  buckets: 2\n"
        "  hot key fanout: none\n"
        "  resolution: microseconds\n"
        "  reads: deduplicate"
    ]
