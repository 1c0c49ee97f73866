"""What a value becomes in each table: the page is made here, and the tables hold what it says."""

import logging
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import ColumnError
from tests.support.landing.changes import batch, gone, lost, put
from tests.support.landing.places import places
from tests.support.landing.value_page import page_with, table_of
from tests.support.landing.values import CASES, Case, became

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
    page_with("tables", table_of(columns))


@pytest.mark.spark
def test_the_page_says_what_becomes_of_each_value_in_files(tmp_path: Path, spark: Any) -> None:
    columns = {
        name: [outcome for case in CASES for outcome in _in_files(case, name, spark, tmp_path)]
        for name in ("Parquet", "ORC", "JSON", "CSV")
    }
    page_with("files", table_of(columns))


def _in_files(case: Case, form: str, spark: Any, home: Path) -> Iterator[tuple[Any, str]]:
    from pyspark.errors import PySparkException

    from tests.support.landing.values import shown

    # The parts of a variant may not be null, so Spark makes the null itself.
    values = [*case.values, *case.values[:1]] or [None]
    null = len(values) - 1
    folder = str(home / f"{form} {CASES.index(case)}")
    try:
        rows = spark.createDataFrame(
            pa.table({"n": list(range(len(values))), "value": pa.array(values, case.arrow)})
        ).selectExpr("n", f"if(n < {null}, value, null) AS value")
        rows.write.format(form.lower()).save(folder)
        read = spark.read.schema(rows.schema).format(form.lower()).load(folder)
        read = read.where("value IS NOT NULL").toArrow()
    except PySparkException:
        yield from ((value, "refused") for value in [*values[:null], None])
        return
    by_number = {row["n"]: row["value"] for row in read.to_pylist()}
    for index, value in enumerate([*values[:null], None]):
        found = shown(by_number.get(index))
        yield value, "same" if found == shown(value) else found


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
    assert '"user": "bad"' in letters[0]["element"]
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
def test_what_only_the_database_knows_is_a_dead_letter_too(
    sort: str, tmp_path: Path, request: Any
) -> None:
    """A condition that somebody gave the table, and a key that is longer than an index takes."""
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
    assert sorted(row["element"].split('"user": ')[1][:9] for row in letters) == [
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


@pytest.mark.spark
def test_a_type_that_arrow_has_not_is_refused_by_name(spark: Any, tmp_path: Path) -> None:
    rows = spark.sql("SELECT 'ann' AS user, INTERVAL '1' YEAR AS age")
    write = bl.upsert_into(places("sqlite", tmp_path, "years").target, "user")
    with pytest.raises(ColumnError, match="column 'age' is interval year, for which there is no"):
        write(rows, 0)
    variant = spark.sql("SELECT 'ann' AS user, CAST(NULL AS VARIANT) AS page")
    with pytest.raises(ColumnError, match="column 'page' is variant, which no table can hold"):
        write(variant, 0)
