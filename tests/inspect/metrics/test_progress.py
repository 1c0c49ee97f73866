"""One micro-batch out of Spark's report, and what ended a query, in words."""

import json
from typing import Any

import pytest

from beamlike.inspect.queries.progress import Problem, Progress
from tests.support.queries.reports import report


def test_a_report_of_spark_becomes_a_progress() -> None:
    reported = report(
        7,
        took=900,
        parts={"addBatch": 700, "walCommit": 50, "queryPlanning": 120},
        watermark="2020-01-01T00:15:00.000Z",
        newest="2020-01-01T00:25:00.000Z",
        metrics={"hours": {"panes_early": 2, "dropped_expired": 1, "windows_open": 4}},
    )
    progress = Progress.of(reported)
    (counts,) = progress.groupings.values()

    assert counts.panes == {"early": 2, "on_time": 0, "late": 0}
    assert {reason: count for reason, count in counts.dropped.items() if count} == {"expired": 1}
    assert (counts.windows_open, counts.watermark) == (4, None)
    assert progress == Progress(
        query="the query",
        run="the run",
        name="sales",
        batch=7,
        began_ms=1_767_225_607_000,
        took=900,
        rows=10,
        rate=12.5,
        arriving=10.0,
        watermark=1_577_837_700_000,
        newest=1_577_838_300_000,
        parts={"addBatch": 700, "queryPlanning": 120, "walCommit": 50},
        state_rows=24,
        state_memory=1_061_916,
        state_disk=4_312,
        groupings={"hours": counts},
    )


def test_the_time_went_to_the_largest_part_first() -> None:
    reported = Progress.of(report(0, parts={"walCommit": 5, "addBatch": 70, "getBatch": 6}))
    assert list(reported.parts) == ["addBatch", "getBatch", "walCommit"]


def test_a_query_with_clocks_of_its_own_has_the_watermark_of_its_last_grouping() -> None:
    metrics = {"one": {"watermark": 9_000}, "two": {"watermark": 7_000}, "three": {}}
    reported = Progress.of(report(0, watermark="1970-01-01T00:00:00.000Z", metrics=metrics))
    assert reported.watermark == 7_000
    assert [grouping.watermark for grouping in reported.groupings.values()] == [9_000, 7_000, None]


def test_metrics_that_somebody_else_observes_are_none_of_beamlikes() -> None:
    reported = json.loads(report(0))
    reported["observedMetrics"] = {"mine": {"rows": 3}, "empty": None, "almost": {"panes_early": 1}}
    assert Progress.of(json.dumps(reported)).groupings == {}


def test_spark_connect_writes_names_and_values_apart() -> None:
    metrics = {"hours": {"panes_early": 2, "watermark": 7_000}, "days": {"dropped_expired": 1}}
    reported = report(0, metrics=metrics, connect=True)
    assert Progress.of(reported) == Progress.of(report(0, metrics=metrics))


def test_a_report_with_next_to_nothing_in_it_counts_as_nothing() -> None:
    least = {"id": "q", "runId": "r", "batchId": 0, "timestamp": "1970-01-01T00:00:05.000Z"}
    assert Progress.of(json.dumps(least)) == Progress(
        "q", "r", None, 0, 5_000, 0, 0, None, None, None, None, {}, 0, 0, None, {}
    )


@pytest.mark.parametrize("rate", ["NaN", "Infinity", float("nan"), float("inf"), None, [1]])
def test_a_rate_that_is_no_number_is_unknown(rate: Any) -> None:
    reported = json.loads(report(0)) | {"processedRowsPerSecond": rate, "inputRowsPerSecond": rate}
    found = Progress.of(json.dumps(reported))
    assert (found.rate, found.arriving) == (None, None)


WORDS = """org.apache.spark.api.python.PythonException: [PYTHON_EXCEPTION] An exception was thrown \
from the Python worker: Traceback (most recent call last):
  File "shard.py", line 1, in step
ValueError: 13 is unlucky

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "step.py", line 2, in step
beamlike.errors.UserFunctionError: Sum().add raised ValueError: 13 is unlucky
 SQLSTATE: 38000
\tat org.apache.spark.api.python.BasePythonRunner.handle(PythonRunner.scala:1097)
"""


def test_the_last_error_of_beamlikes_is_what_ended_a_query() -> None:
    first = "beamlike.errors.InputRowError: an earlier one\n"
    assert Problem.of(first + WORDS) == Problem(
        "UserFunctionError", "Sum().add raised ValueError: 13 is unlucky"
    )


def test_an_error_that_goes_on_over_lines_is_reported_to_its_end() -> None:
    words = "another plan wrote it\n  window: 1h, not 5m\nStart over"
    failed = f"Traceback\nbeamlike.errors.StateError: {words}\n\tat java.base"
    assert Problem.of(failed) == Problem("StateError", words)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("x\nTraceback\nKeyError: 'a'\n\tat y", Problem("KeyError", "'a'")),
        ("java.io.IOException: no space left\n\tat z", Problem("IOException", "no space left")),
        ("\n  something is wrong\nmore", Problem("error", "something is wrong")),
        (" \n", Problem("error", "no words")),
    ],
)
def test_without_one_it_is_the_last_that_python_raised_or_the_first_line(
    words: str, problem: Problem
) -> None:
    assert Problem.of(words) == problem


def test_a_long_error_is_cut() -> None:
    assert len(Problem.of("beamlike.errors.StateError: " + "x" * 10_000).text) == 2_000
