"""Rows that withdraw others, grouped again: each aggregate takes them back, or says what to use."""

from collections.abc import Callable
from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import UnsupportedError, UnwiseStrategyWarning
from beamlike.testing import QueryTest, contain_single_value
from tests.support.queries.rows import SMALL, Row
from tests.support.refusals import refusal

HITS = "user string, at timestamp"
NAMES = "user string, at timestamp, name string"
EAGER = bl.Repeatedly(bl.AfterCount(1))
ONCE = bl.AfterWatermark(late=bl.AfterCount(1))
HOUR = bl.FixedWindows("1 hour")
CORRECTED: dict[str, Any] = {
    "trigger": EAGER,
    "accumulation": "retracting",
    "allowed_lateness": "1 day",
}
VISITS = {"n": bl.count()}


def visits(hits: Any, **parts: Any) -> bl.Stream:
    rows = bl.stream(hits, timestamp="at", watermark="0 s")
    windowed = rows.window(bl.Sessions("5 minutes"), **CORRECTED | parts)
    return windowed.group("user", VISITS, name="visits", **SMALL)


def known(names: Any) -> bl.Stream:
    return bl.stream(names, timestamp="at", watermark="0 s").window(HOUR, **CORRECTED)


def in_hours(
    panes: bl.Stream, aggregate: Any = None, key: Any = (), window: Any = HOUR, **parts: Any
) -> bl.Stream:
    wanted = aggregate or {"visits": bl.count(), "hits": bl.sum("n"), "each": bl.collect("n")}
    return panes.window(window, **CORRECTED | parts).group(key, wanted, name="hours", **SMALL)


def hit(at: str, user: str = "ann") -> Row:
    return {"user": user, "at": at}


def shown(rows: list[Row], *names: str) -> list[str]:
    """Each row in short: a minus if it withdraws another."""
    return [
        f"{'-' if row.get('retraction') else '+'} {' '.join(str(row[name]) for name in names)}"
        for row in rows
    ]


# -- what is right ---------------------------------------------------------------------------


def test_two_sessions_that_merge_are_one_visit_in_the_hour() -> None:
    query = QueryTest(lambda hits: in_hours(visits(hits)), HITS)
    columns = ("visits", "hits", "each")
    assert shown(query.send(hit("12:01:00")), *columns) == ["+ 1 1 [1]"]
    assert shown(query.send(hit("12:08:00")), *columns) == ["- 1 1 [1]", "+ 2 2 [1, 1]"]
    query.restart()
    assert shown(query.send(hit("12:04:00")), *columns) == ["- 2 2 [1, 1]", "+ 1 3 [3]"]


@pytest.mark.parametrize("machine", ["columnar", "reference"])
def test_a_session_that_outgrows_an_hour_takes_its_early_pane_back_in_time(machine: Any) -> None:
    """Hour 12 has ended and allows no lateness, but what ann's visit had there is withdrawn yet."""

    def job(hits: Any) -> bl.Stream:
        rows = bl.stream(hits, timestamp="at", watermark="0 s")
        eager_at_two = bl.AfterWatermark(early=bl.AfterCount(2))
        parts: Any = {"accumulation": "retracting", "allowed_lateness": "0 s"}
        rows = rows.window(bl.Sessions("5 minutes"), trigger=eager_at_two, **parts)
        sessions = rows.group("user", VISITS, name="visits", machine=machine, **SMALL)
        hours = sessions.window(HOUR, trigger=EAGER, **parts)
        wanted = {"visits": bl.count(), "hits": bl.sum("n")}
        return hours.group("user", wanted, name="hours", machine=machine, **SMALL)

    query = QueryTest(job, HITS)
    columns = ("user", "visits", "hits")
    assert shown(query.send(hit("12:50:00"), hit("12:54:00")), *columns) == ["+ ann 1 2"]
    assert query.send(hit("12:58:00")) == []
    assert query.send(hit("13:01:00", "bob")) == []
    query.restart()
    ended = sorted(shown(query.send(hit("13:30:00", "bob")), *columns))
    assert ended == ["+ ann 1 3", "+ bob 1 1", "- ann 1 2"]


def test_without_new_windows_each_row_stays_in_the_window_of_its_session() -> None:
    def job(hits: Any) -> bl.Stream:
        wanted = {"visits": bl.count(), "hits": bl.sum("n")}
        return visits(hits).group("user", wanted, name="again", **SMALL)

    query = QueryTest(job, HITS)
    assert shown(query.send(hit("12:01:00")), "visits", "hits") == ["+ 1 1"]
    assert shown(query.send(hit("12:08:00")), "visits", "hits") == ["+ 1 1"]
    merged = shown(query.send(hit("12:04:00")), "visits", "hits")
    assert sorted(merged) == ["+ 1 3", "- 1 1", "- 1 1"]


def test_a_list_of_what_stands_is_in_no_promised_order() -> None:
    query = QueryTest(lambda hits: in_hours(visits(hits), {"each": bl.collect("n")}), HITS)
    query.send(hit("12:01:00"), hit("12:02:00"), hit("12:01:00", "bob"))
    for order in ([1, 2], [2, 1]):
        query.results.should(contain_single_value(((), {"each": order})))


def test_a_result_whose_rows_are_all_withdrawn_is_withdrawn_and_none_takes_its_place() -> None:
    query = QueryTest(lambda hits: in_hours(visits(hits), {"visits": bl.count()}, "n"), HITS)
    assert shown(query.send(hit("12:01:00")), "n", "visits") == ["+ 1 1"]
    assert sorted(shown(query.send(hit("12:02:00")), "n", "visits")) == ["+ 2 1", "- 1 1"]
    # It may come back.
    assert shown(query.send(hit("12:01:00", "bob")), "n", "visits") == ["+ 1 1"]


@pytest.mark.parametrize("render", ["changelog", "upserts"])
def test_as_changes_it_is_deleted(render: Any) -> None:
    def job(hits: Any) -> bl.Stream:
        hours = visits(hits).window(HOUR, **CORRECTED)
        return hours.group("n", {"visits": bl.count()}, render=render, name="hours", **SMALL)

    query = QueryTest(job, HITS)
    assert [(it["n"], it["change"]) for it in query.send(hit("12:01:00"))] == [(1, "upsert")]
    changed = [(it["n"], it["change"], it["visits"]) for it in query.send(hit("12:02:00"))]
    assert sorted(changed, key=str) == [(1, "delete", None), (2, "upsert", 1)]


def test_a_window_that_fires_once_shows_nothing_of_what_was_withdrawn_before() -> None:
    once = {"trigger": ONCE, "accumulation": "accumulating"}
    query = QueryTest(
        lambda hits: in_hours(visits(hits), {"visits": bl.count()}, "n", **once), HITS
    )
    assert query.send(hit("12:01:00"), hit("12:30:00", "bob")) == []
    assert query.send(hit("12:02:00"), hit("12:31:00", "bob")) == []
    rows = query.advance_watermark_to("13:30:00")
    assert [(row["n"], row["visits"]) for row in rows] == [(2, 2)]


def test_discarding_panes_are_the_difference_that_corrections_make() -> None:
    wanted = {"visits": bl.count(), "hits": bl.sum("n")}
    query = QueryTest(lambda hits: in_hours(visits(hits), wanted, accumulation="discarding"), HITS)
    sent = [hit("12:01:00"), hit("12:08:00"), hit("12:04:00")]
    rows = [row for it in sent for row in query.send(it)]
    assert [(row["visits"], row["hits"]) for row in rows] == [(1, 1), (1, 1), (-1, 1)]


@pytest.mark.parametrize("early", [{"lift": True}, {"hot_key_fanout": 3}], ids=str)
def test_rows_that_are_combined_early_take_others_back_too(early: Row) -> None:
    def job(hits: Any) -> bl.Stream:
        hours = visits(hits).window(HOUR, **CORRECTED | {"trigger": ONCE})
        wanted = {"visits": bl.count(), "longest": bl.max("n"), "mean": bl.mean("n")}
        return hours.group([], wanted, name="hours", **SMALL, **early)

    query = QueryTest(job, HITS)
    for at in ("12:01:00", "12:08:00", "12:20:00", "12:04:00"):
        assert query.send(hit(at)) == []
    rows = query.advance_watermark_to("13:30:00")
    assert shown(rows, "visits", "longest", "mean") == ["+ 2 3 2.0"]


def test_a_join_is_corrected_also_with_a_stream_that_withdraws_nothing() -> None:
    def job(hits: Any, names: Any) -> bl.Stream:
        hours = visits(hits).window(HOUR, **CORRECTED)
        return bl.join(hours, known(names), on="user", name="named", **SMALL)

    query = QueryTest(job, {"hits": HITS, "names": NAMES})
    assert query.send(hit("12:01:00"), to="hits") == []
    named = query.send({"user": "ann", "at": "12:30:00", "name": "Ann"}, to="names")
    assert shown(named, "n", "name") == ["+ 1 Ann"]
    assert shown(query.send(hit("12:08:00"), to="hits"), "n", "name") == [
        *("- 1 Ann", "+ 1 Ann", "+ 1 Ann")
    ]
    merged = query.send(hit("12:04:00"), to="hits")
    assert shown(merged, "n", "name") == ["- 1 Ann", "- 1 Ann", "+ 3 Ann"]


def test_streams_that_withdraw_are_flattened() -> None:
    def job(hits: Any, more: Any) -> bl.Stream:
        rows = bl.stream(more, timestamp="at", watermark="0 s")
        other = rows.window(bl.Sessions("5 minutes"), **CORRECTED)
        others = other.group("user", VISITS, name="other visits", **SMALL)
        return in_hours(bl.flatten([visits(hits), others]).window(HOUR))

    query = QueryTest(job, {"hits": HITS, "more": HITS})
    columns = ("visits", "hits", "each")
    assert shown(query.send(hit("12:01:00"), to="hits"), *columns) == ["+ 1 1 [1]"]
    rows = query.send(hit("12:04:00"), to="more")
    assert shown(rows, *columns) == ["- 1 1 [1]", "+ 2 2 [1, 1]"]
    rows = query.send(hit("12:05:00"), to="more")
    assert shown(rows, *columns) == ["- 2 2 [1, 1]", "+ 2 3 [1, 2]"]


def test_a_grouping_and_a_source_are_joined_without_spark() -> None:
    def job(hits: Any, names: Any) -> bl.Stream:
        rows = bl.stream(hits, timestamp="at", watermark="0 s").window(HOUR)
        counts = rows.group("user", VISITS, name="visits", **SMALL)
        named = bl.stream(names, timestamp="at", watermark="0 s").window(HOUR)
        return bl.join(counts, named, "user")

    query = QueryTest(job, {"hits": HITS, "names": NAMES})
    query.send(hit("12:01:00"), to="hits")
    query.send({"user": "ann", "at": "12:30:00", "name": "Ann"}, to="names")
    assert shown(query.advance_watermark_to_infinity(), "n", "name") == ["+ 1 Ann"]


# -- what is refused -------------------------------------------------------------------------

CUT = (
    "the grouping 'hours' takes the rows of 'visits', of which some withdraw others, and the "
    "column 'retraction' says which; keep that column in select(), and leave it out of where() "
    "and reject()"
)


def as_changes(hits: Any) -> bl.Stream:
    rows = bl.stream(hits, timestamp="at", watermark="0 s").window(HOUR, **CORRECTED)
    return rows.group("user", VISITS, name="visits", render="changelog", **SMALL)


REFUSED: dict[str, tuple[Callable[[Any], bl.Stream], str]] = {
    "a column lost": (lambda hits: in_hours(visits(hits).select("user", "n")), CUT),
    "a condition": (lambda hits: in_hours(visits(hits).where("not retraction")), CUT),
    "changes": (
        lambda hits: in_hours(as_changes(hits)),
        "rows rendered as changelog cannot be grouped again; leave render= out in 'visits', and "
        "the grouping 'hours' takes its corrections",
    ),
    "sessions": (
        lambda hits: in_hours(visits(hits), window=bl.Sessions("1 hour")),
        "the grouping 'hours' would merge windows of rows that may be withdrawn, and a merged "
        "session cannot be taken apart again; give it windows that do not merge, such as "
        "FixedWindows, or write accumulation=\"discarding\" in 'visits'",
    ),
    "a difference": (
        lambda hits: in_hours(visits(hits), {"x": bl.max("n")}, accumulation="discarding"),
        "aggregate 'x': a discarding pane of 'hours' would be the difference that corrections make "
        'to a max, and only counts and sums have one; write accumulation="retracting" in the '
        "window(...) before",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_taken_back_is_refused_with_what_to_use(what: str) -> None:
    job, says = REFUSED[what]
    assert refusal(UnsupportedError, lambda: QueryTest(job, HITS)) == says


@pytest.mark.parametrize("machine", ["columnar", "reference"])
def test_estimates_are_those_of_the_values_that_stand(machine: Any) -> None:
    wanted = {
        "quantiles": bl.approx_quantiles("n", [0, 0.5, 1]),
        "different": bl.approx_distinct("n"),
        "each": bl.collect("n"),
    }

    def job(hits: Any) -> bl.Stream:
        hours = visits(hits).window(HOUR, **CORRECTED)
        return hours.group((), wanted, name="hours", machine=machine, **SMALL)

    with QueryTest(job, HITS) as query:
        names = ("quantiles", "different", "each")
        assert shown(query.send(hit("12:01:00")), *names) == ["+ [1.0, 1.0, 1.0] 1 [1]"]
        assert shown(query.send(hit("12:08:00", "bob"), hit("12:09:00", "bob")), *names) == [
            "- [1.0, 1.0, 1.0] 1 [1]",
            "+ [1.0, 2.0, 2.0] 2 [1, 2]",
        ]
        query.restart()
        # The visit of ann becomes one of three hits: its 1 is taken back.
        assert shown(query.send(hit("12:02:00"), hit("12:03:00")), *names) == [
            "- [1.0, 2.0, 2.0] 2 [1, 2]",
            "+ [2.0, 3.0, 3.0] 2 [2, 3]",
        ]


def test_rows_that_withdraw_others_are_not_looked_into() -> None:
    def job(hits: Any, names: Any) -> bl.Stream:
        return bl.look_up(known(names), visits(hits).window(HOUR, **CORRECTED), on="user")

    with pytest.raises(UnsupportedError, match="side: rows that withdraw others cannot be looked"):
        QueryTest(job, {"hits": HITS, "names": NAMES})


def test_corrections_that_would_come_too_late_are_warned_of() -> None:
    says = (
        "the grouping 'hours' allows lateness of 1m, and 'visits' corrects its results for 1d: "
        "corrections that come later are dropped; give both the same allowed_lateness"
    )
    # Parts of a strategy never shorten the lateness of the grouping before; another strategy may.
    short = bl.WindowingStrategy(HOUR, EAGER, "retracting", allowed_lateness="1 minute")

    def job(hits: Any) -> bl.Stream:
        hours = visits(hits).window(strategy=short)
        return hours.group((), {"visits": bl.count()}, name="hours", **SMALL)

    with pytest.warns(UnwiseStrategyWarning) as warned:
        QueryTest(job, HITS)
    assert says in [str(it.message) for it in warned]


# -- on Spark --------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.spark
def test_on_spark_the_rows_are_those_of_the_local_host() -> None:
    wanted = {
        "visits": bl.count(),
        "hits": bl.sum("n"),
        "mean": bl.mean("n"),
        "longest": bl.max("n"),
        "top": bl.top("n", 2),
        "kinds": bl.collect_set("n"),
        "last": bl.last("n"),
        "median": bl.approx_quantiles("n", [0.5]),
        "about": bl.approx_distinct("n"),
    }

    def job(hits: Any) -> bl.Stream:
        days = in_hours(visits(hits), wanted).window(bl.FixedWindows("1 day"), **CORRECTED)
        return days.group("visits", {"hours": bl.count(), "most": bl.max("hits")}, **SMALL)

    sent = ("12:01:00", "12:08:00", "13:10:00", "12:04:00", "13:12:00")
    found = {}
    for host in ("local", "spark"):
        with QueryTest(job, HITS, host=host) as query:  # type: ignore[arg-type]
            rows = [row for at in sent[:3] for row in query.send(hit(at))]
            rows += query.restart()
            rows += [row for at in sent[3:] for row in query.send(hit(at))]
            found[host] = sorted(shown(rows, "visits", "hours", "most"))
    assert found["spark"] == found["local"]
    # Of two visits in the first hour one is left: 3 hits, as many as in no other hour.
    assert found["local"] == [
        *("+ 1 1 1", "+ 1 1 1", "+ 1 2 3", "+ 1 2 3", "+ 2 1 2"),
        *("- 1 1 1", "- 1 1 1", "- 1 2 3", "- 2 1 2"),
    ]
