"""Rows that the author of a query rejects, before each kind of step that takes rows."""

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.errors import TooManyFailuresError, UnsupportedError, WindowingError
from beamlike.testing import QueryTest
from tests.support.queries.hours import hourly
from tests.support.queries.rows import ON_BOTH_AT_NIGHT
from tests.support.refusals import refusal
from tests.support.sums import Added

SCHEMA = "user string, at timestamp, v long, bad boolean"
PEOPLE = "id string, since timestamp, name string, gone boolean"
BAD, GONE = {"marked bad": "bad"}, {"gone away": "gone"}
HOUR = bl.FixedWindows("1 hour")
Job = Callable[..., bl.Stream]


class Numbered:
    """Numbers the rows of a user."""

    seen = bl.state()

    def process(self, row: Any, seen: Any) -> Any:
        seen.write((seen.read() or 0) + 1)
        yield {"n": seen.read()}


class NoonFails(bl.FixedWindows):
    """Windows that cannot be had for noon."""

    def assign(self, timestamp: int, value: Any = None) -> Any:
        raise ValueError("noon")


def views_of(rows: Any, window: bl.WindowFn = HOUR) -> bl.Stream:
    return bl.stream(rows, timestamp="at", watermark="0 s").window(window)


def people_of(rows: Any) -> bl.Stream:
    return bl.stream(rows, timestamp="since", watermark="0 s").window(HOUR)


def view(v: int, bad: bool = False, at: str = "12:00:00") -> dict[str, Any]:
    return {"user": "ann", "at": at, "v": v, "bad": bad}


def person(name: str, gone: bool = False) -> dict[str, Any]:
    return {"id": "ann", "since": "12:00:00", "name": name, "gone": gone}


def lines(rows: list[dict[str, Any]], *columns: str) -> list[Any]:
    """The columns of each row, or the step and the reason for which it was dropped."""
    shown = [
        (row["dropped"]["stage"], row["dropped"]["reason"])
        if row["dropped"]
        else tuple(row[name] for name in columns)
        for row in rows
    ]
    return sorted(shown, key=repr)


BEFORE: dict[str, tuple[Job, str, list[Any]]] = {
    "a grouping": (
        lambda rows: views_of(rows).reject(BAD).group("user", {"n": bl.count()}),
        "n",
        [("beamlike", "marked bad"), (1,)],
    ),
    "a grouping, as an option": (
        lambda rows: views_of(rows).group("user", {"n": bl.count()}, reject=BAD),
        "n",
        [("beamlike", "marked bad"), (1,)],
    ),
    "a function with states": (
        lambda rows: views_of(rows).reject(BAD).apply_per_key("user", Numbered(), "n int"),
        "n",
        [("per key", "marked bad"), (1,)],
    ),
    "a function with states, as an option": (
        lambda rows: views_of(rows).apply_per_key("user", Numbered(), "n int", reject=BAD),
        "n",
        [("per key", "marked bad"), (1,)],
    ),
    "deduplicate": (
        lambda rows: views_of(rows).reject(BAD).deduplicate("user"),
        "v",
        [("deduplicate", "marked bad"), (2,)],
    ),
    "deduplicate, as an option": (
        lambda rows: views_of(rows).deduplicate("user", reject=BAD),
        "v",
        [("deduplicate", "marked bad"), (2,)],
    ),
    "other columns and a grouping": (
        lambda rows: views_of(rows).reject(BAD).select("user").group("user", {"n": bl.count()}),
        "n",
        [("beamlike", "marked bad"), (1,)],
    ),
    "other windows": (
        lambda rows: views_of(rows).reject(BAD).window(HOUR).group("user", {"n": bl.count()}),
        "n",
        [("beamlike", "marked bad"), (1,)],
    ),
    "a flatten": (
        lambda rows: bl.flatten([views_of(rows).reject(BAD), views_of(rows)]).group(
            "user", {"n": bl.count()}
        ),
        "n",
        [("beamlike", "marked bad"), (3,)],
    ),
}


@ON_BOTH_AT_NIGHT
@pytest.mark.parametrize("step", BEFORE)
def test_the_next_step_drops_what_is_rejected(step: str, host: Any) -> None:
    job, column, expected = BEFORE[step]
    with QueryTest(lambda rows: job(rows).everything, SCHEMA, host=host) as query:
        query.send(view(1, bad=True), view(2))
        query.advance_watermark_to_infinity()
        assert lines(query.rows, column) == expected


OF_TWO: dict[str, tuple[Job, list[Any]]] = {
    "a look-up": (
        lambda views, people: bl.look_up(
            views_of(views).reject(BAD), people_of(people).reject(GONE), on=ON
        ),
        [("look up", "marked bad"), ("look up side", "gone away"), (2, "Ann")],
    ),
    "a look-up, as an option": (
        lambda views, people: bl.look_up(
            views_of(views), people_of(people).reject(GONE), on=ON, reject=BAD
        ),
        [("look up", "marked bad"), ("look up side", "gone away"), (2, "Ann")],
    ),
    "a join": (
        lambda views, people: bl.join(
            views_of(views).reject(BAD),
            people_of(people).reject(GONE),
            {"left": "user", "right": "id"},
        ),
        [("beamlike", "gone away"), ("beamlike", "marked bad"), (2, "Ann")],
    ),
}
ON = {"main": "user", "side": "id"}


@ON_BOTH_AT_NIGHT
@pytest.mark.parametrize("step", OF_TWO)
def test_each_side_of_two_has_conditions_of_its_own(step: str, host: Any) -> None:
    job, expected = OF_TWO[step]
    inputs = {"views": SCHEMA, "people": PEOPLE}

    def described(views: Any, people: Any) -> Any:
        return job(views, people).everything

    with QueryTest(described, inputs, host=host) as query:
        query.send(person("Bob", gone=True), person("Ann"), to="people")
        query.send(view(1, bad=True), view(2), to="views")
        query.advance_watermark_to_infinity()
        assert lines(query.rows, "v", "name") == sorted(expected, key=repr)


def totals(rows: Any, **options: Any) -> Any:
    total = {"total": bl.combine(Added(), "v", "long", "long")}
    how = {"key": "user", "watermark": "0 s", "output": "all", "shards": 1} | options
    return hourly(rows, total, **how)


@pytest.mark.spark
def test_a_condition_is_sql_or_a_column_and_the_first_one_counts(spark: Any) -> None:
    values = [("ann", "2020-01-01 12:00:00", v, None) for v in (1, -2, -200, None)]
    values += [(None, "2020-01-01 12:00:00", -3, None), ("ann", "soon", -4, None)]
    frame = spark.createDataFrame(values, "user string, at string, v long, bad boolean")
    reject = {"negative": "v < 0", "huge": F.abs("v") > 100}
    rows = totals(frame, reject=reject).collect()
    assert sorted(it["dropped"]["reason"] for it in rows if it["dropped"]) == [
        # Of nothing it is not known whether it is negative.
        *("bad_timestamp", "failed", "negative", "negative", "null_key")
    ]


@ON_BOTH_AT_NIGHT
@pytest.mark.parametrize("on_error", ["drop", "fail"])
def test_rows_are_rejected_for_a_reason_of_the_querys_author(host: Any, on_error: str) -> None:
    query = QueryTest(lambda rows: totals(rows, reject=BAD, on_error=on_error), SCHEMA, host=host)
    later = view(4, bad=True, at="13:30:00")
    rows = query.send(view(1), view(2, bad=True), view(3), later)
    assert lines(rows, "total") == [("beamlike", "marked bad"), ("beamlike", "marked bad"), (4,)]
    elements = [row["dropped"]["element"] for row in rows if row["dropped"]]
    # A rejected row moves the watermark.
    assert '"v":2' in elements[0].replace(" ", "")
    query.restart()
    assert lines(query.send(view(5, bad=True, at="15:00:00"))) == [("beamlike", "marked bad")]


def test_a_row_that_is_rejected_moves_the_watermark() -> None:
    def job(rows: Any) -> bl.Stream:
        return views_of(rows).deduplicate("user", within="1 hour", reject=BAD)

    with QueryTest(job, SCHEMA) as query:
        query.send(view(1), view(2, bad=True, at="14:00:00"))
        assert [row["v"] for row in query.send(view(3, at="14:00:00"))] == [3]


@pytest.mark.spark
def test_a_condition_that_names_withdrawals_cannot_be_grouped_again() -> None:
    def job(rows: Any) -> bl.Stream:
        hours = views_of(rows).window(accumulation="retracting")
        counts = hours.group("user", {"n": bl.count()})
        return counts.reject({"withdrawn": "retraction"}).group([], {"m": bl.sum("n")})

    assert refusal(UnsupportedError, lambda: QueryTest(job, SCHEMA, host="spark")) == (
        "the grouping 'beamlike 2' takes the rows of 'beamlike', of which some withdraw others, "
        "and the column 'retraction' says which; keep that column in select(), and leave it out "
        "of where() and reject()"
    )


# -- the share that may fail ---------------------------------------------------------------------


@ON_BOTH_AT_NIGHT
@pytest.mark.parametrize("step", ["deduplicate", "look up"])
def test_windows_that_nearly_always_fail_stop_every_step(step: str, host: Any) -> None:
    def play(**options: Any) -> list[Any]:
        def job(views: Any, people: Any) -> Any:
            rows, looked_into = views_of(views, NoonFails("1 hour")), people_of(people)
            if step == "deduplicate":
                return rows.deduplicate("user", **options).everything
            return bl.look_up(rows, looked_into, on=ON, **options).everything

        with QueryTest(job, {"views": SCHEMA, "people": PEOPLE}, host=host) as query:
            rows = query.send(*map(view, range(30)), to="views")
            return lines(rows + query.advance_watermark_to_infinity())

    with pytest.raises(TooManyFailuresError):
        play()
    assert play(max_failures=1) == [(step, "failed")] * 30
    with pytest.raises(WindowingError, match="nothing is; leave one of the two out"):
        play(max_failures=0.5, on_error="fail")
