"""Sessions that an event ends, over DataFrames: on the columnar machine, with all that follows."""

from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import UnsupportedError, WindowingError
from beamlike.testing import QueryTest
from tests.support.queries.hours import hourly
from tests.support.queries.rows import ON_BOTH_AT_NIGHT, SMALL, Row
from tests.support.queries.saved_locally import saved_stages

CLICKS = "user string, at timestamp, event string"
VISITS = bl.Sessions("30 minutes", ends_with="logout")


def is_over(event: str | None) -> bool:
    """Whether a visit is over."""
    if event == "broken":
        raise ValueError("a broken event")
    return event in ("logout", "timeout")


def visits(clicks: Any, window: bl.Sessions = VISITS, **parts: Any) -> bl.Stream:
    rows = bl.stream(clicks, timestamp="at", watermark="0 s")
    options = {name: parts.pop(name) for name in ("machine", "render", "record") if name in parts}
    how: dict[str, Any] = {"accumulation": "accumulating", "allowed_lateness": "1 hour"} | parts
    wanted = {"n": bl.count(), "events": bl.collect("event")}
    return rows.window(window, **how).group(
        "user", wanted, window_input="event", name="visits", **SMALL, **options
    )


def click(at: str, event: str = "click", user: str = "ann") -> Row:
    return {"user": user, "at": at, "event": event}


def shown(rows: list[Row]) -> list[str]:
    found = []
    for row in rows:
        if row["dropped"] is not None:
            found.append(f"dropped as {row['dropped']['reason']}")
            continue
        sign = "- " if row.get("retraction") else ""
        span = f"{row['window']['start']:%H:%M}-{row['window']['end']:%H:%M:%S.%f}"[:18]
        found.append(f"{sign}{span} {' '.join(row['events'])} {row['pane']['timing']}")
    return found


@ON_BOTH_AT_NIGHT
def test_a_visit_ends_with_its_logout_and_the_next_begins_at_once(host: Any) -> None:
    with QueryTest(visits, CLICKS, host=host) as query:
        came = [
            shown(query.send(click("12:00"), click("12:10"), click("12:20", "logout"))),
            shown(query.send(click("12:21"))),
            shown(query.send(click("12:05", "late"), click("12:22"))),
            shown(query.advance_watermark_to_infinity()),
        ]
    assert came == [
        [],
        ["12:00-12:20:00.000 click click logout ON_TIME"],
        ["12:00-12:20:00.000 click click logout late LATE"],
        ["12:21-12:52:00.000 click click ON_TIME"],
    ]


@pytest.mark.parametrize("machine", ["columnar", "reference"])
@pytest.mark.parametrize("restarts", [False, True])
def test_both_machines_withdraw_what_an_end_event_makes_wrong(machine: str, restarts: bool) -> None:
    def job(clicks: Any) -> bl.Stream:
        return visits(
            clicks,
            trigger=bl.Repeatedly(bl.AfterCount(1)),
            accumulation="retracting",
            machine=machine,
        )

    came = []
    with QueryTest(job, CLICKS) as query:
        for sent in (
            [click("12:00")],
            [click("12:10", "logout"), click("12:11")],
            [click("12:15", "logout"), click("12:13")],
            [click("12:12", "logout"), click("12:16")],
        ):
            came.append(shown(query.send(*sent)))
            if restarts:
                query.restart()
    assert came == [
        ["12:00-12:30:00.000 click EARLY"],
        [
            "- 12:00-12:30:00.000 click EARLY",
            "12:00-12:10:00.000 click logout EARLY",
            "12:11-12:41:00.000 click EARLY",
        ],
        ["- 12:11-12:41:00.000 click EARLY", "12:11-12:15:00.000 click logout click EARLY"],
        [
            "- 12:11-12:15:00.000 click logout click EARLY",
            "12:11-12:15:00.000 click logout click logout EARLY",
            "12:16-12:46:00.000 click EARLY",
        ],
    ]


def test_a_visit_that_has_later_clicks_is_not_split_and_takes_no_more_in_behind_its_end() -> None:
    with QueryTest(visits, CLICKS) as query:
        query.send(click("12:00"), click("12:15"))
        query.send(click("12:10", "logout"))
        came = shown(query.send(click("12:20"), click("12:46")))
        came += shown(query.advance_watermark_to_infinity())
    assert came == [
        "12:00-12:45:00.000 click click logout click ON_TIME",
        "12:46-13:16:00.000 click ON_TIME",
    ]


def test_an_end_event_is_expired_once_the_watermark_has_passed_it_by_the_lateness() -> None:
    def job(clicks: Any) -> bl.Stream:
        return visits(clicks, allowed_lateness=0)

    with QueryTest(job, CLICKS) as query:
        came = [
            shown(query.send(click("12:00"), click("12:20"))),
            shown(query.send(click("12:15", "logout"), click("12:15"))),
            shown(query.advance_watermark_to_infinity()),
        ]
    assert came == [[], ["dropped as expired"], ["12:00-12:50:00.000 click click click ON_TIME"]]


def test_a_function_says_what_ends_a_visit_and_what_it_raises_for_is_dropped() -> None:
    def job(clicks: Any) -> bl.Stream:
        return visits(clicks, bl.Sessions("30 minutes", ends_with=is_over), allowed_lateness=0)

    with QueryTest(job, CLICKS) as query:
        sent = [click("12:00"), click("12:05", "broken"), click("12:10", "timeout")]
        came = [shown(query.send(*sent)), shown(query.advance_watermark_to_infinity())]
    assert came == [["dropped as failed"], ["12:00-12:10:00.000 click timeout ON_TIME"]]


def test_visits_by_hour_are_corrected_as_they_end() -> None:
    eager: dict[str, Any] = {
        "trigger": bl.Repeatedly(bl.AfterCount(1)),
        "accumulation": "retracting",
        "allowed_lateness": "1 day",
    }

    def by_hour(clicks: Any) -> bl.Stream:
        hours = visits(clicks, **eager).window(bl.FixedWindows("1 hour"), **eager)
        return hours.group([], {"visits": bl.count(), "hits": bl.sum("n")}, name="hours", **SMALL)

    with QueryTest(by_hour, CLICKS) as query:
        standing: dict[str, tuple[int, int]] = {}
        folded = []
        for sent in (
            [click("12:40")],  # until 13:10
            [click("12:50", "logout"), click("12:55")],
            [click("12:57", "logout")],
        ):
            for row in query.send(*sent):
                hour = f"{row['window']['start']:%H:%M}"
                if row["retraction"]:
                    del standing[hour]
                else:
                    standing[hour] = row["visits"], row["hits"]
            folded.append(dict(standing))
    assert folded == [{"13:00": (1, 1)}, {"12:00": (1, 2), "13:00": (1, 1)}, {"12:00": (2, 4)}]


def test_a_flag_ends_visits_and_null_does_not() -> None:
    flags = "user string, at timestamp, over boolean"
    flagged = bl.Sessions("30 minutes", ends_with=True)

    def job(clicks: Any) -> Any:
        how = {"key": "user", "window": flagged, "window_input": "over", **SMALL}
        return hourly(clicks, watermark="0 s", machine="columnar", **how)

    with QueryTest(job, flags) as query:
        rows = [("12:00", False), ("12:05", True), ("12:06", None), ("12:07", True)]
        query.send(*({"user": "ann", "at": at, "over": over} for at, over in rows))
        query.advance_watermark_to_infinity()
        assert [row["n"] for row in query.rows] == [2, 2]


def test_saved_state_shows_how_many_elements_an_ended_visit_has() -> None:
    with QueryTest(visits, CLICKS) as query:
        query.send(click("12:00"), click("12:10", "logout"), click("12:10", "logout"))
        (stage,) = saved_stages(query)
        assert stage.windows.column("size").to_pylist() == [3]


def test_what_cannot_be_is_refused() -> None:
    def without_column(clicks: Any) -> Any:
        rows = bl.stream(clicks, timestamp="at", watermark="0 s").window(VISITS)
        return rows.group("user", {"n": bl.count()})

    with pytest.raises(
        UnsupportedError, match='name the column that says so: window_input="event"'
    ):
        QueryTest(without_column, CLICKS)

    def lifted(clicks: Any) -> Any:
        rows = bl.stream(clicks, timestamp="at", watermark="0 s").window(VISITS)
        return rows.group("user", {"n": bl.count()}, window_input="event", hot_key_fanout=4)

    with pytest.raises(WindowingError, match="cuts sessions where all of their elements are known"):
        QueryTest(lifted, CLICKS)
