"""What names a session in a table of results is a text, and has other names no more."""

import sqlite3
from pathlib import Path

import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import ColumnError
from beamlike.tables import SQLite
from beamlike.testing import QueryTest
from tests.support.landing.changes import batch, gone, put, session_identity


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
