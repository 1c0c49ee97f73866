"""What queries count, added up and written as OpenMetrics."""

import logging
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import beamlike as bl
from beamlike.errors import EnvironmentProblem
from beamlike.inspect.metrics import MetricsListener
from beamlike.inspect.queries.progress import Progress
from beamlike.inspect.queries.totals import QUERIES, Totals
from tests.support.queries.reports import report

START = 1_767_225_600  # the first of January 2026, when batch 0 began
HOURS = {
    "elements": 10,
    "panes_early": 2,
    "panes_on_time": 1,
    "retractions": 1,
    "dropped_expired": 3,
    "dropped_bad_key": 1,
    "merges": 4,
    "windows_open": 5,
    "watermark": (START - 60) * 1000,
    "deadline": START * 1000,
    "clock_deadline": (START - 2) * 1000,
    "drop_example": "expired, user='ann', window [12:00, 13:00)",
}


def reading(batch: int, hours: dict[str, Any] | None = None, **shown: Any) -> Progress:
    return Progress.of(report(batch, metrics={"hours": HOURS if hours is None else hours}, **shown))


def written(totals: Totals) -> str:
    return generate_latest(totals).decode()


def numbers(shown: str, *names: str) -> dict[str, float]:
    """The samples of some metrics, or all, by name and labels that are not the query's."""
    found = {}
    for family in text_string_to_metric_families(shown):
        for sample in family.samples:
            labels = {name: sample.labels[name] for name in ("grouping",) if name in sample.labels}
            labels |= {at: to for at, to in sample.labels.items() if at not in ("query", "id")}
            if sample.name in names or not names:
                words = ",".join(f'{name}="{value}"' for name, value in labels.items())
                found[f"{sample.name}{{{words}}}"] = sample.value
    return found


def test_a_batch_is_written_as_open_metrics() -> None:
    totals = Totals()
    totals.started("the query", "the run", "sales", 0)
    totals.progressed(reading(0))
    dropped = {"closed": 0, "failed": 0, "null_key": 0, "null_timestamp": 0, "bad_timestamp": 0}
    dropped |= {"far_future": 0, "bad_value": 0, "expired": 3, "bad_key": 1, "rejected": 0}
    panes = {"early": 2, "on_time": 1, "late": 0}

    assert numbers(written(totals)) == {
        "beamlike_query_running{}": 1,
        "beamlike_query_failed{}": 0,
        "beamlike_batches_total{}": 1,
        "beamlike_input_rows_total{}": 10,
        "beamlike_batch_duration_seconds{}": 0.8,
        "beamlike_state_rows{}": 24,
        'beamlike_state_bytes{place="memory"}': 1061916,
        'beamlike_state_bytes{place="disk"}': 4312,
        'beamlike_elements_total{grouping="hours"}': 10,
        'beamlike_retractions_total{grouping="hours"}': 1,
        'beamlike_merges_total{grouping="hours"}': 4,
        'beamlike_windows_open{grouping="hours"}': 5,
        'beamlike_watermark_seconds{grouping="hours"}': 1767225540.0,
        'beamlike_watermark_jumps_total{grouping="hours"}': 0,
        'beamlike_watermark_jumps_held_total{grouping="hours"}': 0,
        # It began at 0 s and took 0.8 s; the watermark stood at -60 s.
        'beamlike_watermark_lag_seconds{grouping="hours"}': 60.8,
        # The watermark has 60 s to go; by the clock a window has been due for 2.8 s.
        'beamlike_deadline_lag_seconds{grouping="hours",clock="event"}': -60.0,
        'beamlike_deadline_lag_seconds{grouping="hours",clock="processing"}': 2.8,
        **{
            f'beamlike_panes_total{{grouping="hours",timing="{it}"}}': count
            for it, count in panes.items()
        },
        **{
            f'beamlike_dropped_total{{grouping="hours",reason="{it}"}}': count
            for it, count in dropped.items()
        },
    }


def test_without_a_query_there_is_only_the_end() -> None:
    assert written(Totals()) == "# EOF\n"


def test_counters_grow_and_gauges_are_those_of_the_last_batch() -> None:
    totals = Totals()
    totals.progressed(reading(0))
    totals.progressed(reading(1, HOURS | {"windows_open": 2, "panes_early": 0}))
    assert numbers(written(totals), "beamlike_panes_total", "beamlike_windows_open") == {
        'beamlike_panes_total{grouping="hours",timing="early"}': 2,
        'beamlike_panes_total{grouping="hours",timing="on_time"}': 2,
        'beamlike_panes_total{grouping="hours",timing="late"}': 0,
        'beamlike_windows_open{grouping="hours"}': 2,
    }


def test_a_report_of_waiting_does_not_hide_the_batch_that_it_waits_for() -> None:
    totals = Totals()
    waiting = report(0, rows=0, parts={"latestOffset": 12})
    assert not totals.progressed(Progress.of(waiting))
    assert totals.progressed(reading(0))
    assert numbers(written(totals), "beamlike_batches_total", "beamlike_elements_total") == {
        "beamlike_batches_total{}": 1,
        'beamlike_elements_total{grouping="hours"}': 10,
    }


def test_a_grouping_that_was_not_stepped_stands_where_it_stood() -> None:
    totals = Totals()
    totals.progressed(reading(0))
    totals.progressed(reading(1, {"windows_open": None}))
    assert numbers(written(totals), "beamlike_windows_open", "beamlike_elements_total") == {
        'beamlike_windows_open{grouping="hours"}': 5,
        'beamlike_elements_total{grouping="hours"}': 10,
    }


def test_a_batch_that_is_done_again_after_a_restart_counts_once() -> None:
    totals = Totals()
    totals.started("the query", "first", "sales", 0)
    assert totals.progressed(reading(7, run="first"))
    totals.ended("the query", "first", "it failed", 0)
    failed = written(totals)
    totals.started("the query", "second", "sales", 0)
    assert not totals.progressed(reading(7, run="second"))
    assert totals.progressed(reading(8, run="second"))
    shown = written(totals)
    names = "beamlike_batches_total", "beamlike_elements_total", "beamlike_query_failed"
    assert list(numbers(failed, *names).values()) == [1, 1, 10]
    assert list(numbers(shown, *names).values()) == [0, 2, 20]


def test_a_query_that_fails_before_anything_else_is_known_of_it_has_failed() -> None:
    totals = Totals()
    totals.ended("the query", "the run", "it failed", 0)
    names = "beamlike_query_running", "beamlike_query_failed", "beamlike_batches_total"
    assert list(numbers(written(totals), *names).values()) == [0, 1, 0]


def test_metrics_go_on_after_an_earlier_checkpoint_was_put_back() -> None:
    totals = Totals()
    totals.started("the query", "the run", "sales", 0)
    for batch in range(10):
        totals.progressed(reading(batch))

    totals.started("the query", "the next run", "sales", 0)
    counted = [
        totals.progressed(reading(batch, HOURS | {"windows_open": batch}, run="the next run"))
        for batch in (4, 4, 5, 6, 6)
    ]

    assert counted == [True, False, True, True, False]
    names = ("beamlike_batches_total", "beamlike_windows_open")
    assert numbers(written(totals), *names) == {
        "beamlike_batches_total{}": 13,
        'beamlike_windows_open{grouping="hours"}': 6,
    }


def test_spark_connect_writes_names_and_values_apart() -> None:
    assert reading(3, connect=True) == reading(3)


def test_what_somebody_else_observes_is_not_counted() -> None:
    totals = Totals()
    totals.progressed(
        Progress.of(
            report(0, metrics={}).replace(
                '"observedMetrics": {}', '"observedMetrics": {"mine": {"rows": 3}, "none": null}'
            )
        )
    )
    assert "grouping" not in written(totals)


def test_queries_that_ended_first_are_forgotten_first_and_those_that_run_never() -> None:
    totals = Totals()
    ids = [f"query {number:03}" for number in range(QUERIES + 2)]
    for query in ids[:-1]:
        totals.started(query, "run", None, 0)
    for clock, index in enumerate((5, 3, 4)):
        totals.ended(ids[index], "run", None, clock)
    totals.started(ids[-1], "run", None, 3)
    kept = {sample.labels["id"] for sample in totals.collect()[0].samples}
    assert set(ids) - kept == {ids[5], ids[3]}


def test_a_listener_prints_a_line_for_each_batch_and_writes_the_file_anew(tmp_path: Path) -> None:
    lines, file = StringIO(), tmp_path / "beamlike.prom"
    listener = MetricsListener(lines=lines, file=file)
    listener.started("the query", "the run", "sales", 0)
    listener.progressed(reading(0))
    listener.progressed(reading(0))
    listener.progressed(reading(1, {"elements": 3, "windows_open": 6}))
    assert lines.getvalue().splitlines() == [
        "sales batch 0: 10 rows, 800 ms; hours: 10 elements, panes 2 early, 1 on_time, "
        "1 withdrawing, dropped 3 expired, 1 bad_key, 4 merges, 5 open",
        "sales batch 1: 10 rows, 800 ms; hours: 3 elements, no pane, 6 open",
    ]
    assert file.read_text() == listener.text()
    assert [path.name for path in tmp_path.iterdir()] == ["beamlike.prom"]


def test_a_file_that_cannot_be_written_does_not_stop_the_query(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "gone"
    listener = MetricsListener(file=folder / "beamlike.prom")
    with caplog.at_level(logging.ERROR, "beamlike.metrics"):
        listener.progressed(reading(0))
    (record,) = caplog.records
    assert record.getMessage().startswith(f"the metrics cannot be written to {folder}")
    folder.mkdir()
    listener.progressed(reading(1))
    assert (folder / "beamlike.prom").read_text() == listener.text()


class Full(StringIO):
    """A text file on a disk that is full."""

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


def test_lines_that_go_nowhere_take_nothing_from_the_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    closed = StringIO()
    closed.close()
    file = tmp_path / "beamlike.prom"
    for lines, problem in ((closed, "I/O operation on closed file"), (Full(), "[Errno 28] No ")):
        file.unlink(missing_ok=True)
        caplog.clear()
        listener = MetricsListener(lines=lines, file=file)
        with caplog.at_level(logging.ERROR, "beamlike.metrics"):
            listener.progressed(reading(0, {"elements": 3}))

        (record,) = caplog.records
        assert record.getMessage().startswith(f"a line cannot be printed: {problem}")
        assert file.read_text() == listener.text()
        assert "beamlike_batches_total" in listener.text()


ODD = (
    ('a"b\\c\nd', r"a\"b\\c\nd"),
    ("\u202e</script>\x00\r", "\u202e</script>\x00\r"),
    ("{}=,", "{}=,"),
    (r"\n", r"\\n"),
    ("", ""),
)


@pytest.mark.parametrize(("name", "label"), ODD)
def test_names_of_any_kind_are_one_label(name: str, label: str) -> None:
    totals = Totals()
    totals.progressed(Progress.of(report(0, metrics={name: HOURS}, name="sales")))

    shown = written(totals)

    parsed = {
        text_string_to_metric_family.name: text_string_to_metric_family.samples
        for text_string_to_metric_family in text_string_to_metric_families(shown)
    }
    assert [it.labels["grouping"] for it in parsed["beamlike_elements"]] == [name]
    sample = f'beamlike_elements_total{{grouping="{label}",id="the query",query="sales"}} 10.0'
    assert sample in shown.split("\n")
    assert shown.endswith("\n# EOF\n")


def test_the_log_tells_of_starts_drops_and_ends_at_their_levels(caplog: pytest.LogCaptureFixture):
    listener = MetricsListener()
    with caplog.at_level(logging.INFO, "beamlike.metrics"):
        listener.started("the query", "first", "sales", 0)
        listener.progressed(reading(0, {"elements": 3}))
        listener.progressed(reading(1))
        listener.ended("the query", "first", "it broke", 0)
        listener.started("the query", "second", "sales", 0)
        listener.ended("the query", "second", None, 0)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "query sales (the query) has started"),
        (
            "WARNING",
            "query sales, batch 1: hours dropped 3 expired, 1 bad_key (for example: expired, "
            "user='ann', window [12:00, 13:00))",
        ),
        ("ERROR", "query sales (the query) has failed: it broke"),
        ("INFO", "query sales (the query) has started again"),
        ("INFO", "query sales (the query) has stopped"),
    ]


def test_the_log_calls_a_query_without_a_name_by_its_id(caplog: pytest.LogCaptureFixture) -> None:
    listener = MetricsListener()
    with caplog.at_level(logging.INFO, "beamlike.metrics"):
        listener.started("3b80a744-9a82", "first", None, 0)
    assert [record.getMessage() for record in caplog.records] == [
        "query 3b80a744 (3b80a744-9a82) has started"
    ]


def test_the_metrics_are_served_to_this_machine_alone() -> None:
    with MetricsListener(port=0) as listener:
        listener.progressed(reading(0))
        assert listener.url is not None
        with urlopen(listener.url) as answer:
            kind = answer.headers["Content-Type"]
            assert kind == "application/openmetrics-text; version=1.0.0; charset=utf-8"
            assert answer.read().decode() == listener.text()
        refused = []
        for request in (
            Request(listener.url, headers={"Host": "elsewhere.example"}),
            Request(listener.url + "/other"),
            Request(listener.url, method="POST"),
        ):
            with pytest.raises(HTTPError) as error:
                urlopen(request)
            refused.append(error.value.code)
            error.value.close()
        assert refused == [421, 404, 405]


@pytest.mark.parametrize("port", [-1, 65_536, True, "9400"])
def test_a_port_that_is_none_is_refused(port: Any) -> None:
    with pytest.raises(EnvironmentProblem, match="must be a whole number from 0 to 65535"):
        MetricsListener(port=port)


def test_a_port_that_is_taken_is_refused() -> None:
    with MetricsListener(port=0) as listener:
        assert listener.url is not None
        port = int(listener.url.split(":")[2].split("/")[0])
        with pytest.raises(EnvironmentProblem, match=f"port={port} of 127.0.0.1 cannot be had"):
            MetricsListener(port=port)


def test_what_is_no_session_is_refused_and_so_is_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="takes a SparkSession, got str"):
        bl.metrics_listener("spark")  # type: ignore[arg-type]

    class Session:
        streams = None

    with pytest.raises(EnvironmentProblem, match=r"there is no folder .*; make it first"):
        bl.metrics_listener(Session(), file=tmp_path / "no" / "x.prom")  # type: ignore[arg-type]
    with pytest.raises(EnvironmentProblem, match=r"lines='out\.txt' cannot be printed to"):
        bl.metrics_listener(Session(), lines="out.txt")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"host": ""}, "host='' is no address; leave it out for this machine alone, or give "),
        ({"host": None}, "host=None is no address; "),
        ({"host": 5}, "host=5 is no address; "),
        ({"host": "a\0b"}, r"port=0 of a\x00b cannot be had ("),
        ({"host": "x" * 70}, f"port=0 of {'x' * 70} cannot be had ("),
        ({"file": ""}, "file='' is no name of a file; give one in a folder"),
        ({"file": 7}, "file=7 is no name of a file; give one in a folder"),
        ({"file": "{folder}"}, "file='{folder}' is a folder; name a file in it, such as beam"),
    ],
)
def test_an_address_or_a_file_that_is_none_is_refused_before_anybody_listens(
    asked: dict[str, Any], says: str, tmp_path: Path
) -> None:
    class Session:
        streams = None

    folder = str(tmp_path)
    asked = {
        name: it.replace("{folder}", folder) if isinstance(it, str) else it
        for name, it in ({"port": 0} | asked if "host" in asked else asked).items()
    }
    with pytest.raises(EnvironmentProblem) as refused:
        bl.metrics_listener(Session(), **asked)  # type: ignore[arg-type]

    assert str(refused.value).startswith(says.replace("{folder}", folder))


def test_a_listener_shows_where_its_metrics_are(tmp_path: Path) -> None:
    with MetricsListener(port=0, file=tmp_path / "x.prom") as listener:
        assert repr(listener) == f"MetricsListener({listener.url}, {tmp_path / 'x.prom'})"
