"""Every name that beamlike gives to a column is tried as a name of the user's, in each table and
on each host. The names are read from the source."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import ColumnError
from beamlike.hosts.landing.landed_columns import OWN_COLUMNS
from beamlike.runtime.row_metadata import OF_SOURCES
from beamlike.tables import SQLite
from beamlike.testing import QueryTest
from tests.support.landing.changes import SCHEMA, at, batch, gone, put, session_identity
from tests.support.landing.column_names import names_of_columns
from tests.support.landing.places import Place
from tests.support.queries.rows import ON_BOTH_AT_NIGHT

REFUSED = ("__beamlike", "dropped", "pane", "timestamp", "window")
"""What a grouping calls columns of its own, in its rows: it refuses others of that name."""
_FOLDED = {name.casefold(): name for name in names_of_columns() if name not in REFUSED}
NAMES = tuple(_FOLDED.values())
HALVES = NAMES[::2], NAMES[1::2]
HIDDEN = tuple(name for name in NAMES if name.startswith("__beamlike"))
"""Columns that Spark has on the way through a query."""
AWKWARD = ("Row_Key", "TIMING", 'a "b"', "a.b", "a`b", "ünï", "select", "beamlike_row_key", " ")


def rows_of(key: Sequence[str], results: Sequence[str], step: int) -> list[dict[str, Any]]:
    """Four results, each with another value in each column."""
    return [
        dict.fromkeys(key, f"{number}")
        | {name: 1000 * number + index + step for index, name in enumerate(results)}
        for number in range(4)
    ]


def panes_of(key: Sequence[str], results: Sequence[str], step: int) -> pa.Table:
    """The rows of a grouping that has these columns."""
    pane = put(None, 0, 10, 1)
    own = {name: pane[name] for name in ("window", "timestamp", "pane")}
    fields = [(name, pa.string()) for name in key]
    fields += [("window", SCHEMA.field("window").type)]
    fields += [(name, pa.int64()) for name in results]
    fields += [(name, SCHEMA.field(name).type) for name in ("timestamp", "pane")]
    rows = [row | own for row in rows_of(key, results, step)]
    return pa.Table.from_pylist(rows, pa.schema(fields))


@pytest.mark.parametrize("names", [*HALVES, AWKWARD, OWN_COLUMNS[1::2], OWN_COLUMNS[::2]])
def test_a_table_takes_every_name(names: Sequence[str], place: Place, table: str) -> None:
    results = [name for name in NAMES if name not in names] if names in HALVES else ["n"]
    write = bl.upsert_into(place.target, list(names))
    for step in (0, 100):
        write(panes_of(names, results, step), step)
        wanted = [*names, *results]
        found = [{name: row[name] for name in wanted} for row in place.read(table)]
        assert sorted(found, key=str) == sorted(rows_of(names, results, step), key=str)
    # And the table says which result it is, under a name that none of these is.
    taken = {name.casefold() for name in (*names, *results)}
    own = "row_key"
    while own in taken:
        own = f"beamlike_{own}"
    assert len({row[own] for row in place.read(table)}) == 4


def test_a_result_of_any_name_lands(place: Place, table: str) -> None:
    write = bl.upsert_into(place.target, "user")
    for step in (0, 100):
        write(panes_of(["user"], OWN_COLUMNS, step), step)
        found = [{name: row[name] for name in ("user", *OWN_COLUMNS)} for row in place.read(table)]
        assert sorted(found, key=str) == rows_of(["user"], OWN_COLUMNS, step)


def test_a_session_and_a_change_of_the_users_are_results() -> None:
    from beamlike.hosts.landing.landed_columns import LandedColumns

    table = panes_of(["change", "session"], ["retraction"], 0)
    columns = LandedColumns.of(table.schema, ["change", "session"])
    assert columns.rendering == "rows"
    assert columns.users == ("change", "session", "retraction", "timestamp")


def test_a_column_that_may_be_the_groupings_is_refused(place: Place) -> None:
    flag = pa.array([True, False, False, True])
    table = panes_of(["user"], ["n"], 0)
    before = table.add_column(0, "retraction", flag)
    with pytest.raises(ColumnError, match="'retraction' may be what the grouping says of a row"):
        bl.upsert_into(place.target, "user")(before, 0)
    changes = table.append_column("change", pa.array(["upsert"] * 4))
    upserts = changes.add_column(0, "session_identity", pa.array(["0..1"] * 4))
    with pytest.raises(ColumnError, match="'session_identity' may be what the grouping says of a"):
        bl.upsert_into(place.target, "user")(upserts, 0)
    text = pa.array(["upsert", "bought", "upsert", "upsert"])
    with pytest.raises(ColumnError, match="an upsert or a delete, got 'bought'; rename it"):
        bl.upsert_into(place.target, "user")(table.append_column("change", text), 0)


# -- queries ---------------------------------------------------------------------------------


def grouped(key: Sequence[str], results: Sequence[str]) -> Any:
    def query(df: Any) -> Any:
        return bl.windowed(
            df,
            key=list(key),
            timestamp="the time",
            watermark="0 s",
            window=bl.FixedWindows("10 minutes"),
            aggregate={name: bl.sum(name) for name in results},
        )

    return query


@ON_BOTH_AT_NIGHT
@pytest.mark.parametrize("half", [0, 1])
def test_a_grouping_takes_every_name(host: Any, half: int) -> None:
    usual = [[name for name in names if name not in HIDDEN] for names in HALVES]
    check_grouping(usual[half], usual[1 - half], host)


def check_grouping(key: Sequence[str], results: Sequence[str], host: Any) -> None:
    """A grouping by these columns has them, and these results, in its rows."""
    schema = ", ".join(
        [
            "`the time` timestamp",
            *(f"`{name}` string" for name in key),
            *(f"`{name}` bigint" for name in results),
        ]
    )
    rows = [row | {"the time": at(3)} for row in rows_of(key, results, 0)]
    with QueryTest(grouped(key, results), schema, host=host) as query:
        query.send(*rows)
        advance_watermark = query.advance_watermark_to_infinity()
    wanted = [*key, *results]
    assert sorted(
        ({name: row[name] for name in wanted} for row in advance_watermark), key=str
    ) == sorted(rows_of(key, results, 0), key=str)


@ON_BOTH_AT_NIGHT
def test_names_of_hidden_columns_are_taken_or_refused_by_name(host: Any) -> None:
    taken = []
    for name in HIDDEN:
        try:
            check_grouping([name], ["n"], host)
        except ColumnError as error:
            if f"the name {name!r} is needed here" not in str(error):
                raise
        else:
            taken.append(name)
    check_grouping(taken, ["n"], host)


def test_a_key_is_not_taken_for_what_withdraws_rows() -> None:
    def query(left: Any, right: Any) -> Any:
        counted, other = (
            bl.stream(df, timestamp="the time", watermark="0 s").window(
                bl.FixedWindows("10 minutes"), accumulation="retracting", allowed_lateness="1 hour"
            )
            for df in (left, right)
        )
        counted = counted.group("user", {"how many": bl.count()})
        return bl.join(counted, other, on={"left": "user", "right": "retraction"})

    schemas = {
        "left": "`the time` timestamp, user string",
        "right": "`the time` timestamp, retraction string, n int",
    }
    with pytest.raises(ColumnError, match="'retraction' of right says which rows withdraw others"):
        QueryTest(query, schemas, host="local")


@pytest.mark.parametrize("name", REFUSED[1:])
def test_names_of_a_grouping_are_refused(name: str) -> None:
    schema = f"`the time` timestamp, user string, `{name}` bigint"
    with pytest.raises(ColumnError, match=repr(name)):
        QueryTest(grouped(["user"], [name]), schema, host="local")


def joined(left: Any, right: Any) -> Any:
    """One side withdraws panes, the other does not."""
    late = {"allowed_lateness": "1 hour", "trigger": bl.AfterWatermark(late=bl.AfterCount(1))}
    windows = bl.FixedWindows("10 minutes")
    sides = [
        bl.stream(df, timestamp="the time", watermark="0 s").window(windows, **late, **more)
        for df, more in (
            (left, {"accumulation": "retracting"}),
            (right, {"accumulation": "retracting"}),
        )
    ]
    return bl.join(sides[0].group("user", {"how many": bl.count()}), sides[1], on="user")


@pytest.mark.parametrize("half", [0, 1])
def test_a_join_takes_every_name(half: int) -> None:
    names = [name for name in HALVES[half] if name not in ("user", "retraction", *OF_SOURCES)]
    columns = ", ".join(f"`{name}` bigint" for name in names)
    schemas = {
        "left": "`the time` timestamp, user string",
        "right": f"`the time` timestamp, user string, {columns}",
    }
    values = {name: index for index, name in enumerate(names)}
    with QueryTest(joined, schemas, host="local") as query:
        query.send({"the time": at(3), "user": "ann"}, to="left")
        query.send({"the time": at(3), "user": "ann"} | values, to="right")
        (row,) = query.advance_watermark_to_infinity()
    assert {name: row[name] for name in names} == values
    assert (row["user"], row["how many"], row["retraction"]) == ("ann", 1, False)


def test_the_identity_of_a_session_stays_as_it_grows_and_is_not_its_end(tmp_path: Path) -> None:
    file = tmp_path / "results.db"
    write = bl.upsert_into(SQLite(str(file), "visits"), "user")
    write(batch(put("ann", 0, 5, 1)), 0)
    write(batch(put("ann", 0, 9, 2), put("bob", 3, 8, 1), gone("bob", 3)), 1)

    with sqlite3.connect(file) as database:
        rows = database.execute("select * from visits")
        columns = [name for name, *_ in rows.description]
        (row,) = (dict(zip(columns, values, strict=True)) for values in rows)
    assert row == {
        "row_key": '["ann", "2026-01-01T12:00:00+00:00", "2026-01-01T12:05:00+00:00"]',
        "user": "ann",
        "window_start": "2026-01-01 12:00:00+00:00",
        "window_end": "2026-01-01 12:09:00+00:00",
        "n": 2,
        "mean": 0.5,
        "timestamp": "2026-01-01 12:09:00+00:00",
        "timing": "EARLY",
        "session_identity": session_identity(0),
    }
    assert row["session_identity"] == "1767268800000..1767269100000"


def test_a_table_with_the_old_columns_is_refused_with_the_new_name(tmp_path: Path) -> None:
    file = tmp_path / "results.db"
    with sqlite3.connect(file) as database:
        database.execute("create table visits (row_key text, session_start text, session_end text)")
    with pytest.raises(ColumnError) as refusal:
        bl.upsert_into(SQLite(str(file), "visits"), "user")(batch(put("ann", 0, 5, 1)), 0)
    assert str(refusal.value) == (
        "upsert_into: table 'visits': the column 'session_start' is called 'session_identity' now, "
        "and is a text: it names a session as that grows, and says no time. Drop session_start and "
        "session_end, and add session_identity; or write to another table"
    )


def test_a_key_by_the_old_name_is_refused_with_the_new_one(tmp_path: Path) -> None:
    target = SQLite(str(tmp_path / "results.db"), "visits")
    with pytest.raises(ColumnError, match="'session' is called 'session_identity' now"):
        bl.upsert_into(target, ["user", "session"])(batch(put("ann", 0, 5, 1)), 0)


def test_a_key_of_the_name_session_is_one_of_a_user(tmp_path: Path) -> None:
    file = tmp_path / "results.db"
    rows = batch(put("ann", 0, 5, 1)).append_column("session", pa.array(["red"]))
    bl.upsert_into(SQLite(str(file), "visits"), ["user", "session"])(rows, 0)
    with sqlite3.connect(file) as database:
        assert [*database.execute("select user, session from visits")] == [("ann", "red")]


@pytest.mark.parametrize("name", ["session", "session.start", "session.end", "session_end"])
def test_rows_of_a_query_are_asked_for_by_the_new_name(name: str) -> None:
    def query(visits: bl.Stream) -> bl.Stream:
        sessions = bl.stream(visits, timestamp="at", watermark="0 seconds").window(
            bl.Sessions("5 minutes"), accumulation="retracting", allowed_lateness=0
        )
        return sessions.group("user", {"n": bl.count()}, render="upserts").select("user", name)

    with pytest.raises(ColumnError, match=r"select: the column .* is called 'session_identity' "):
        QueryTest(query, "user string, at timestamp")
