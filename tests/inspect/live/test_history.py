"""What is known of each query, and what its micro-batches add up to."""

import json
from typing import Any

from beamlike.inspect.live.history import History
from beamlike.inspect.queries.progress import Progress
from tests.support.queries.reports import report


def shown(history: History) -> list[dict[str, Any]]:
    _, queries = history.snapshot()
    found: list[dict[str, Any]] = json.loads(queries)
    return found


def batches(query: dict[str, Any]) -> list[int]:
    return [it["batch"] for it in query["recent"]]


HOURS = {"panes_early": 2, "panes_on_time": 1, "dropped_expired": 3, "windows_open": 5}


def test_nothing_is_known_before_a_query_starts() -> None:
    assert History().snapshot() == (0, "[]")


def test_a_query_starts_runs_and_stops() -> None:
    history = History()
    history.started("q", "r", "sales", clock=1_000)
    assert shown(history) == [
        {
            "query": "q",
            "run": "r",
            "name": "sales",
            "state": "starting",
            "since": 1_000,
            "ended": None,
            "problem": None,
            "first": None,
            "batches": 0,
            "rows": 0,
            "groupings": [],
            "recent": [],
        }
    ]

    history.progressed(Progress.of(report(4, query="q", run="r", metrics={"hours": HOURS})))
    (query,) = shown(history)
    assert query | {"recent": []} == {
        "query": "q",
        "run": "r",
        "name": "sales",
        "state": "running",
        "since": 1_000,
        "ended": None,
        "problem": None,
        "first": 4,
        "batches": 1,
        "rows": 10,
        "groupings": [
            {
                "name": "hours",
                "panes": {"EARLY": 2, "ON_TIME": 1, "LATE": 0},
                "dropped": {"expired": 3},
            }
        ],
        "recent": [],
    }
    assert query["recent"] == [
        {
            "batch": 4,
            "began_ms": 1_767_225_604_000,
            "took": 800,
            "rows": 10,
            "rate": 12.5,
            "arriving": 10.0,
            "watermark": 1_577_836_800_000,
            "newest": None,
            "parts": {"addBatch": 600},
            "state_rows": 24,
            "state_memory": 1_061_916,
            "state_disk": 4_312,
            "groupings": {
                "hours": {
                    "panes": {"EARLY": 2, "ON_TIME": 1, "LATE": 0},
                    "dropped": {"expired": 3},
                    "windows_open": 5,
                    "watermark": None,
                    "is_source": False,
                }
            },
        }
    ]

    history.ended("q", "r", None, clock=9_000)
    (query,) = shown(history)
    assert (query["state"], query["ended"], query["problem"]) == ("stopped", 9_000, None)


def test_a_query_that_failed_says_why() -> None:
    history = History()
    history.ended("q", "r", "Traceback\nbeamlike.errors.StateError: another plan\n", clock=9_000)
    (query,) = shown(history)
    assert (query["state"], query["ended"]) == ("failed", 9_000)
    assert query["problem"] == {"error_class": "StateError", "text": "another plan"}


def test_counts_add_up_and_windows_that_are_open_do_not() -> None:
    history = History()
    for batch, windows in ((0, 5), (1, 2)):
        metrics = {"hours": HOURS | {"windows_open": windows}, "days": {"panes_late": 1}}
        history.progressed(Progress.of(report(batch, metrics=metrics)))
    (query,) = shown(history)
    assert query["groupings"] == [
        {
            "name": "hours",
            "panes": {"EARLY": 4, "ON_TIME": 2, "LATE": 0},
            "dropped": {"expired": 6},
        },
        {"name": "days", "panes": {"EARLY": 0, "ON_TIME": 0, "LATE": 2}, "dropped": {}},
    ]
    assert [it["groupings"]["hours"]["windows_open"] for it in query["recent"]] == [5, 2]
    assert query["rows"] == 20


def test_a_grouping_that_was_not_stepped_stands_where_it_stood() -> None:
    history = History()
    for batch, (windows, watermark) in enumerate([(5, 7_000), (None, None), (0, 9_000)]):
        metrics = {"hours": {"windows_open": windows, "watermark": watermark}}
        history.progressed(Progress.of(report(batch, metrics=metrics)))
    (query,) = shown(history)
    stood = [it["groupings"]["hours"] for it in query["recent"]]
    assert [(it["windows_open"], it["watermark"]) for it in stood] == [
        *((5, 7_000), (5, 7_000)),
        (0, 9_000),
    ]


def test_a_grouping_that_a_report_leaves_out_stands_where_it_stood_and_has_counted_nothing() -> (
    None
):
    history = History()
    for batch, metrics in enumerate(
        [
            {"hours": HOURS | {"watermark": 7_000}},
            {"days": {"panes_late": 1}},
            {"hours": {"windows_open": None}, "days": {"panes_late": 1}},
        ]
    ):
        history.progressed(Progress.of(report(batch, metrics=metrics)))
    (query,) = shown(history)
    nothing = {"panes": {}, "dropped": {}, "windows_open": 5, "watermark": 7_000}
    assert [it["groupings"].get("hours") for it in query["recent"]] == [
        nothing
        | {"panes": {"EARLY": 2, "ON_TIME": 1, "LATE": 0}, "dropped": {"expired": 3}}
        | {"is_source": False},
        nothing | {"is_source": False},
        nothing | {"panes": {"EARLY": 0, "ON_TIME": 0, "LATE": 0}, "is_source": False},
    ]
    assert query["groupings"][0]["panes"] == {"EARLY": 2, "ON_TIME": 1, "LATE": 0}


def test_a_batch_that_is_reported_twice_counts_once() -> None:
    history = History()
    for batch in (3, 3, 4, 4, 3):
        history.progressed(Progress.of(report(batch)))
    (query,) = shown(history)
    assert (batches(query), query["batches"], query["rows"]) == ([3, 4], 2, 20)


def test_the_last_batches_are_kept_and_all_of_them_are_counted() -> None:
    history = History(batches=3)
    for batch in range(7):
        history.progressed(Progress.of(report(batch, metrics={"hours": HOURS})))
    (query,) = shown(history)
    assert batches(query) == [4, 5, 6]
    assert (query["first"], query["batches"], query["rows"]) == (0, 7, 70)
    assert query["groupings"][0]["panes"] == {"EARLY": 14, "ON_TIME": 7, "LATE": 0}


def test_a_query_that_was_started_again_is_another_run() -> None:
    history = History()
    history.progressed(Progress.of(report(5, run="one")))
    history.ended("the query", "one", None, clock=1)
    history.progressed(Progress.of(report(5, run="two")))
    newest, oldest = shown(history)
    assert (newest["run"], newest["state"], batches(newest)) == ("two", "running", [5])
    assert (oldest["run"], oldest["state"], batches(oldest)) == ("one", "stopped", [5])


def test_a_query_without_a_name_has_the_beginning_of_its_id() -> None:
    history = History()
    history.started("02b7e94c-7151-43fb-a3c6-84d7a1a7927a", "r", None, clock=0)
    assert [it["name"] for it in shown(history)] == ["query 02b7e94c"]


def test_runs_that_ended_first_are_forgotten_first_and_those_that_run_never() -> None:
    history = History(queries=3)
    for run in ("a", "b", "c"):
        history.started("q", run, run, clock=0)
    history.ended("q", "b", None, clock=1)
    history.started("q", "d", "d", clock=2)
    assert [it["run"] for it in shown(history)] == ["d", "c", "a"]
    history.started("q", "e", "e", clock=3)
    assert [it["run"] for it in shown(history)] == ["e", "d", "c", "a"]


def test_of_two_runs_that_ended_the_one_that_ended_first_is_forgotten_whichever_began_first():
    history = History(queries=2)
    for run in ("began first", "ended first"):
        history.started("q", run, run, clock=0)
    history.ended("q", "ended first", None, clock=1)
    history.ended("q", "began first", None, clock=2)
    history.started("q", "new", "new", clock=3)
    assert [it["run"] for it in shown(history)] == ["new", "began first"]


def test_each_change_has_another_version() -> None:
    history = History()
    versions = [history.version]
    history.started("q", "r", None, clock=0)
    versions.append(history.version)
    history.progressed(Progress.of(report(0, query="q", run="r")))
    versions.append(history.version)
    history.ended("q", "r", None, clock=0)
    versions.append(history.version)
    assert versions == sorted(set(versions))
    assert history.snapshot()[0] == versions[-1]


def test_a_report_of_waiting_does_not_hide_the_batch_that_it_waits_for() -> None:
    history = History()
    history.progressed(Progress.of(report(0, rows=0, parts={"latestOffset": 12})))
    history.progressed(Progress.of(report(0, metrics={"hours": HOURS})))

    (query,) = shown(history)
    assert batches(query) == [0]
    assert (query["batches"], query["rows"]) == (1, 10)
