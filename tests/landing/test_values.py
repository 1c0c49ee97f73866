"""What a value becomes in each table: the page is made here, and the tables hold what it says."""

import logging
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import attrs
import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import ColumnError
from beamlike.hosts.landing.batch import changes_of
from beamlike.tables import JDBC
from tests.support.landing.changes import batch, gone, lost, put
from tests.support.landing.places import places
from tests.support.landing.value_page import page_with, table_of
from tests.support.landing.values import CASES, became

SORTS = {
    "sqlite": "SQLite",
    "duckdb": "DuckDB",
    "postgres": "PostgreSQL",
    "delta": "Delta",
    "iceberg": "Iceberg",
}


def test_the_page_says_what_becomes_of_each_value(tmp_path: Path, server: str) -> None:
    columns = {}
    for sort, name in SORTS.items():
        columns[name] = [
            outcome
            for index, case in enumerate(CASES)
            for outcome in became(
                case, places(sort, tmp_path, f"values_{index}", server), f"values_{index}"
            )
        ]
    page_with(table_of(columns))


# -- rows that cannot land -------------------------------------------------------------------

POISON = {
    "sqlite": (pa.float64(), math.nan, "is NaN, which SQLite makes NULL"),
    "postgres": (pa.string(), "a\0b", "has a NUL in it"),
    "iceberg": (pa.list_(pa.struct([("n", pa.int64())])), None, "writes as an empty one"),
}


def poisoned(sort: str, *users: str) -> pa.Table:
    """Rows of which that of "bad" cannot land."""
    dtype, value, _ = POISON[sort]
    good = {pa.float64(): 1.5, pa.string(): "good"}.get(dtype, [{"n": 1}])
    values = pa.array([value if user == "bad" else good for user in users], dtype)
    rows = batch(*(put(user, 0, 5, 1) for user in users), lost("late"))
    return rows.append_column("value", pa.concat_arrays([values, pa.nulls(1, dtype)]))


@pytest.mark.parametrize("sort", POISON)
def test_a_row_that_cannot_land_is_a_dead_letter(
    sort: str, tmp_path: Path, request: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server = request.getfixturevalue("server") if sort == "postgres" else None
    place = places(sort, tmp_path, "poisoned", server)
    write = bl.upsert_into(place.target, "user", dead_letters="poisoned_lost")
    with caplog.at_level(logging.WARNING, "beamlike.tables"):
        write(poisoned(sort, "ann", "bad", "bob"), 0)
    assert sorted(row["user"] for row in place.read("poisoned")) == ["ann", "bob"]
    letters = sorted(place.read("poisoned_lost"), key=lambda row: row["reason"])
    assert [(row["reason"], row["count"], row["batch"]) for row in letters] == [
        ("cannot_land", 1, 0),
        ("expired", 1, 0),
    ]
    assert POISON[sort][2] in letters[0]["error"]
    assert letters[0]["stage"] == "upsert_into"
    assert '"user":"bad"' in letters[0]["element"]
    assert "1 results of micro-batch 0 cannot land, and they are in" in caplog.text
    # It comes again: nothing is written twice.
    write(poisoned(sort, "ann", "bad", "bob"), 0)
    assert len(place.read("poisoned_lost")) == 2


@pytest.mark.parametrize("sort", POISON)
def test_an_older_row_of_a_result_that_cannot_land_does_not_stay(
    sort: str, tmp_path: Path, request: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server = request.getfixturevalue("server") if sort == "postgres" else None
    place = places(sort, tmp_path, "stale", server)
    write = bl.upsert_into(place.target, "user")
    good = poisoned(sort, "ann", "was good")
    write(good.set_column(0, "user", pa.array(["ann", "bad", None])), 0)
    assert sorted(row["user"] for row in place.read("stale")) == ["ann", "bad"]
    write(poisoned(sort, "bad"), 1)
    assert [row["user"] for row in place.read("stale")] == ["ann"]
    assert "they are lost: give dead_letters= a table that keeps them" in caplog.text


@pytest.mark.parametrize("sort", POISON)
def test_a_query_may_end_where_a_row_cannot_land(sort: str, tmp_path: Path, request: Any) -> None:
    server = request.getfixturevalue("server") if sort == "postgres" else None
    place = places(sort, tmp_path, "strict", server)
    write = bl.upsert_into(place.target, "user", on_error="fail")
    write(poisoned(sort, "ann"), 0)
    with pytest.raises(ColumnError, match='mend the value before, or leave it out with on_error="'):
        write(poisoned(sort, "bob", "bad"), 1)
    assert [row["user"] for row in place.read("strict")] == ["ann"]


@pytest.mark.parametrize("sort", ["sqlite", "duckdb", "postgres"])
def test_what_only_the_database_knows_is_a_dead_letter_too(sort: str, tmp_path: Path, request: Any):
    """A condition of the table, and a key that is longer than an index takes."""
    server = request.getfixturevalue("server") if sort == "postgres" else None
    place = places(sort, tmp_path, "checked", server)
    write = bl.upsert_into(place.target, "user", dead_letters="checked_lost")
    write(batch(), 0)
    columns = (
        'row_key text PRIMARY KEY, "user" text, window_start {0}, window_end {0}, '
        'n {1} CHECK (n < 100), mean {2}, "timestamp" {0}, timing text, '
        "session_identity {3}"
    )
    types = {
        "sqlite": ("TEXT", "INTEGER", "REAL", "TEXT"),
        "duckdb": ("TIMESTAMPTZ", "BIGINT", "DOUBLE", "VARCHAR"),
        "postgres": ("timestamptz", "bigint", "double precision", "text"),
    }[sort]
    target: Any = place.target
    with target.transaction() as cursor:
        cursor.execute(f"CREATE TABLE checked ({columns.format(*types)})")
    users = [f"user {number}" for number in range(20)]
    rows = [put(user, 0, 5, 100 if user in ("user 3", "user 17") else 1) for user in users]
    write(batch(*rows, gone("user 5", 0)), 1)
    assert sorted(row["user"] for row in place.read("checked")) == sorted(
        {*users} - {"user 3", "user 17", "user 5"}
    )
    letters = place.read("checked_lost")
    assert sorted(row["element"].split('"user":')[1][:9] for row in letters) == [
        '"user 17"',
        '"user 3",',
    ]
    assert all("check constraint" in row["error"].lower() for row in letters)


def test_a_key_that_an_index_cannot_hold_is_a_dead_letter(tmp_path: Path, server: str) -> None:
    from random import Random

    place = places("postgres", tmp_path, "long_keys", server)
    write = bl.upsert_into(place.target, "user", dead_letters="long_lost")
    long = Random(1).randbytes(3000).hex()
    write(batch(put("ann", 0, 5, 1), put(long, 0, 5, 1)), 0)
    assert [row["user"] for row in place.read("long_keys")] == ["ann"]
    (letter,) = place.read("long_lost")
    assert letter["reason"] == "cannot_land"
    assert "ProgramLimitExceeded" in letter["error"]


def test_a_key_that_is_too_long_for_jdbc_cannot_land() -> None:
    rows = batch(put("ann", 0, 5, 1), put("a" * 1000, 0, 5, 1))
    changes = changes_of(rows, ["user"], "beamlike", 0, dead_letters=True)
    assert JDBC("jdbc:derby:nowhere", "visits").unlandable(changes) == {
        1: "what names it has 1062 letters, and there is room for 1000"
    }


def test_a_text_with_nul_in_a_dead_letter_stops_nothing(tmp_path: Path, server: str) -> None:
    place = places("postgres", tmp_path, "nul", server)
    write = bl.upsert_into(place.target, "user", dead_letters="nul_lost")
    write(batch(put("ann", 0, 5, 1), lost("a\0b")), 0)
    assert [row["element"] for row in place.read("nul_lost")] == ["a\\u0000b"]


def test_an_error_of_the_connection_is_no_dead_letter(tmp_path: Path, monkeypatch: Any) -> None:
    import sqlite3

    place = places("sqlite", tmp_path, "visits")
    write = bl.upsert_into(place.target, "user", dead_letters="lost")

    def fail(*_: Any, **__: Any) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(type(place.target), "_put", fail)
        with pytest.raises(sqlite3.OperationalError, match="disk I/O"):
            write(batch(put("ann", 0, 5, 1)), 0)
    write(batch(put("ann", 0, 5, 1)), 0)
    assert len(place.read("visits")) == 1


# -- names and types that a table does not have ----------------------------------------------


def renamed(names: Sequence[str]) -> pa.Table:
    rows = batch(put("ann", 0, 5, 1))
    for name in names:
        rows = rows.append_column(name, pa.array([1]))
    return rows


@pytest.mark.parametrize("sort", ["sqlite", "duckdb", "delta"])
def test_names_that_differ_in_their_case_are_refused(sort: str, tmp_path: Path) -> None:
    write = bl.upsert_into(places(sort, tmp_path, "cases").target, "user")
    with pytest.raises(ColumnError, match="columns 'n' and 'N' would be one column of a table of"):
        write(renamed(["N"]), 0)


def test_a_name_that_postgres_would_cut_is_refused(tmp_path: Path, server: str) -> None:
    write = bl.upsert_into(places("postgres", tmp_path, "names", server).target, "user")
    with pytest.raises(ColumnError, match="has 64 bytes, and a table of Postgres has room for 63"):
        write(renamed(["ü" * 32]), 0)
    write(renamed(["n" * 63, "N"]), 0)


def test_a_type_is_refused_before_any_row_comes(tmp_path: Path) -> None:
    write = bl.upsert_into(places("sqlite", tmp_path, "types").target, "user")
    rows = batch().append_column("took", pa.array([], pa.duration("us")))
    with pytest.raises(ColumnError, match=r"column 'took' is interval .* of SQLite cannot hold"):
        write(rows, 0)
    nested = pa.array([], pa.map_(pa.string(), pa.list_(pa.duration("us"))))
    with pytest.raises(ColumnError, match=r"'took' is map.*, and interval .* inside of it"):
        write(batch().append_column("took", nested), 0)


def test_a_table_with_local_times_as_instants_is_refused(tmp_path: Path, server: str) -> None:
    """As versions before have made it."""
    place = places("postgres", tmp_path, "instants", server)
    write = bl.upsert_into(place.target, "user")
    rows = batch(put("ann", 0, 5, 1)).append_column("seen", pa.nulls(1, pa.timestamp("us")))
    write(rows, 0)
    target: Any = place.target
    with target.transaction() as cursor:
        cursor.execute("ALTER TABLE instants ALTER COLUMN seen TYPE timestamptz")
    with pytest.raises(ColumnError, match="'seen' is timestamp with time zone and would be"):
        write(rows, 1)


@attrs.frozen
class Frame:
    """A micro-batch that Spark cannot hand over."""

    schema: Any
    problem: Exception
    sparkSession: Any = None

    def toArrow(self) -> NoReturn:
        raise self.problem


def test_a_type_that_spark_cannot_hand_over_is_refused_by_name(tmp_path: Path) -> None:
    from pyspark.errors import PySparkTypeError
    from pyspark.sql import types as T

    write = bl.upsert_into(places("sqlite", tmp_path, "years").target, "user")
    unknown = PySparkTypeError("no Arrow type")
    years = T.StructType().add("user", "string").add("age", T.YearMonthIntervalType(0, 0))
    with pytest.raises(ColumnError, match="column 'age' is interval year, for which there is no"):
        write(Frame(years, unknown), 0)  # type: ignore[arg-type]
    pages = T.StructType().add("user", "string").add("page", T.VariantType())
    with pytest.raises(ColumnError, match="column 'page' is variant, which no table can hold"):
        write(Frame(pages, pa.ArrowInvalid("nulls in input")), 0)  # type: ignore[arg-type]
    usual = T.StructType().add("user", "string")
    with pytest.raises(pa.ArrowInvalid, match="something else"):
        write(Frame(usual, pa.ArrowInvalid("something else")), 0)  # type: ignore[arg-type]
