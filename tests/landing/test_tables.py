"""Results land in tables: each batch once, whatever happens on the way."""

import itertools
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import ColumnError
from beamlike.hosts.landing import jdbc
from beamlike.hosts.landing.writer import Upserting
from beamlike.tables import Iceberg, SparkTable
from tests.support.landing.changes import SCHEMA, Row, batch, gone, lost, put
from tests.support.landing.places import Place, places
from tests.support.refusals import refusal


def standing(place: Place, table: str) -> list[tuple[Any, ...]]:
    """The rows of the table, by what names them."""
    return sorted(
        (
            json.loads(row["row_key"])[0] or "",
            int(str(row["window_end"])[14:16]),
            row["n"],
            row["mean"],
        )
        for row in place.read(table)
    )


def letters(place: Place, table: str) -> list[str]:
    return sorted(row["element"] for row in place.read(table))


def test_a_session_keeps_its_row_until_it_merges_away(place: Place, table: str) -> None:
    write = bl.upsert_into(place.target, "user", dead_letters=f"{table}_lost")
    write(batch(put("ann", 0, 5, 1), put("bob", 0, 5, 1), put("ann", 7, 12, 4)), 0)
    assert standing(place, table) == [("ann", 5, 1, 0.25), ("ann", 12, 4, 1.0), ("bob", 5, 1, 0.25)]
    assert letters(place, f"{table}_lost") == []
    # Late data joins both sessions of ann; in the same batch bob's is put, deleted and put again.
    write(
        batch(
            *(gone("ann", 7), put("ann", 0, 12, 6), lost("one")),
            *(put("bob", 0, 6, 2), gone("bob", 0), put("bob", 0, 7, 3)),
        ),
        1,
    )
    assert standing(place, table) == [("ann", 12, 6, 1.5), ("bob", 7, 3, 0.75)]
    # A batch may only delete, and a key may be null.
    write(batch(gone("bob", 0)), 2)
    assert standing(place, table) == [("ann", 12, 6, 1.5)]
    write(batch(lost("two"), put(None, 0, 5, 1)), 3)
    assert standing(place, table) == [("", 5, 1, 0.25), ("ann", 12, 6, 1.5)]
    write(batch(put(None, 0, 6, 2), put("ann", 0, 13, 7)), 4)
    assert standing(place, table) == [("", 6, 2, 0.5), ("ann", 13, 7, 1.75)]
    assert letters(place, f"{table}_lost") == ["one", "two"]


def test_a_batch_that_comes_again_changes_nothing(place: Place, table: str) -> None:
    write = bl.upsert_into(place.target, "user", dead_letters=f"{table}_lost")
    first = batch(put("ann", 0, 5, 1), lost("one"))
    second = batch(put("ann", 0, 6, 2), lost("two"))
    for rows, number in ((first, 0), (first, 0), (second, 1), (second, 1)):
        write(rows, number)
    assert standing(place, table) == [("ann", 6, 2, 0.5)]
    assert letters(place, f"{table}_lost") == ["one", "two"]
    # Another query, or another writer of the same, has numbers of its own.
    other = bl.upsert_into(place.target, "user", dead_letters=f"{table}_lost", name="other")
    other(batch(put("bob", 0, 5, 1), lost("three")), 0)
    assert standing(place, table) == [("ann", 6, 2, 0.5), ("bob", 5, 1, 0.25)]
    assert letters(place, f"{table}_lost") == ["one", "three", "two"]


def test_a_batch_that_was_cut_off_is_as_if_it_never_came(
    place: Place, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = bl.upsert_into(place.target, "user", dead_letters=f"{table}_lost")
    write(batch(put("ann", 0, 5, 1), lost("one")), 0)
    second = batch(gone("ann", 0), put("bob", 0, 6, 2), lost("two"))
    cut_off = Crashing(monkeypatch, place)
    for moment in cut_off.moments:
        with cut_off.at(moment), pytest.raises(Killed):
            write(second, 1)
        write_again = bl.upsert_into(place.target, "user", dead_letters=f"{table}_lost")
        assert standing(place, table) in ([("ann", 5, 1, 0.25)], [("bob", 6, 2, 0.5)])
    write_again(second, 1)
    assert standing(place, table) == [("bob", 6, 2, 0.5)]
    assert letters(place, f"{table}_lost") == ["one", "two"]


class Killed(BaseException):
    """Stands for the end of the process."""


class Crashing:
    """Ends the write of a batch at one of its steps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, place: Place) -> None:
        self._patch = monkeypatch
        owner = type(place.target)
        steps = {
            owner: ("_make", "execute_all", "_put", "_merge", "_append", "_open"),
            **(
                {jdbc._Database: ("save",), jdbc._Statements: ("delete", "insert")}
                if owner is jdbc.JDBC
                else {}
            ),
        }
        self.moments = [
            (owner, step, before, call)
            for owner, names in steps.items()
            for step in names
            if hasattr(owner, step)
            for before in (True, False)
            for call in (1, 2)
            if not (step in ("_append", "_merge", "delete") and call == 2)
        ]

    def at(self, moment: tuple[type, str, bool, int]) -> Any:
        owner, step, before, number = moment
        original, calls = getattr(owner, step), itertools.count(1)

        def cut(target: Any, *given: Any, **named: Any) -> Any:
            mine = next(calls)
            if before and mine == number:
                raise Killed
            done = original(target, *given, **named)
            if mine == number:
                raise Killed
            return done

        context = self._patch.context()
        return _Patched(context, owner, step, cut)


class _Patched:
    def __init__(self, context: Any, owner: type, step: str, cut: Any) -> None:
        self._context, self._owner, self._step, self._cut = context, owner, step, cut

    def __enter__(self) -> None:
        self._context.__enter__().setattr(self._owner, self._step, self._cut)

    def __exit__(self, *of: Any) -> None:
        self._context.__exit__(*of)


def test_a_table_of_other_columns_is_refused(place: Place, table: str) -> None:
    write = bl.upsert_into(place.target, "user")
    write(batch(put("ann", 0, 5, 1)), 0)
    renamed = batch(put("ann", 0, 6, 2)).rename_columns(
        ["visits" if name == "n" else name for name in SCHEMA.names]
    )
    with pytest.raises(ColumnError, match="has other columns than the results: 'n' is") as error:
        write(renamed, 1)
    assert "'visits' is missing and would be" in str(error.value)
    assert standing(place, table) == [("ann", 5, 1, 0.25)]
    write(batch(put("ann", 0, 6, 2)), 1)
    assert standing(place, table) == [("ann", 6, 2, 0.5)]


def test_panes_that_withdraw_others_land_by_their_window(place: Place, table: str) -> None:
    def pane(user: str, end: int, n: int, retraction: bool) -> Row:
        return put(user, 0, end, n) | {"retraction": retraction}

    kept = [name for name in SCHEMA.names if name not in ("session_identity", "change", "dropped")]
    schema = pa.schema([*(SCHEMA.field(name) for name in kept), ("retraction", pa.bool_())])
    write = bl.upsert_into(place.target, ["user"])
    write(pa.Table.from_pylist([pane("ann", 5, 1, False), pane("bob", 5, 1, False)], schema), 7)
    changes = [pane("ann", 5, 1, True), pane("ann", 9, 4, False), pane("bob", 5, 1, True)]
    write(pa.Table.from_pylist(changes, schema), 8)
    assert standing(place, table) == [("ann", 9, 4, 1.0)]


def test_old_states_of_an_iceberg_table_may_be_expired(tmp_path: Path) -> None:
    from pyiceberg.catalog import load_catalog

    place = places("iceberg", tmp_path, "visits")
    write = bl.upsert_into(place.target, "user")
    rows = batch(put("ann", 0, 10, 1)), batch(put("ann", 0, 10, 2), put("bob", 1, 11, 1))
    for number, row in enumerate(rows):
        write(row, number)
    target: Any = place.target
    visits = load_catalog("tests", **target.properties).load_table("web.visits")
    assert len(visits.metadata.snapshots) > 2
    tomorrow = datetime.now() + timedelta(days=1)
    visits.maintenance.expire_snapshots().older_than(tomorrow).commit()
    assert len(visits.refresh().metadata.snapshots) == 1

    write(batch(gone("bob", 1)), 1)  # this number has landed
    assert [(name, n) for name, _, n, _ in standing(place, "visits")] == [("ann", 2), ("bob", 1)]
    write(batch(gone("bob", 1)), 2)
    assert [(name, n) for name, _, n, _ in standing(place, "visits")] == [("ann", 2)]


def test_what_cannot_land_is_refused(tmp_path: Path) -> None:
    from beamlike.tables import SQLite

    target = SQLite(str(tmp_path / "results.db"), "visits")
    with pytest.raises(ColumnError, match="target must be a table such as"):
        bl.upsert_into("visits", "user")  # type: ignore[arg-type]
    with pytest.raises(ColumnError, match="table must be the name of a table, got ''"):
        bl.upsert_into(SQLite("results.db", ""), "user")
    with pytest.raises(ColumnError, match="there is no column 'person'; the rows have 'user'"):
        bl.upsert_into(target, "person")(batch(), 0)
    without = batch().drop_columns(["dropped"])
    with pytest.raises(ColumnError, match="dead_letters needs the rows that were dropped"):
        bl.upsert_into(target, "user", dead_letters="lost")(without, 0)
    assert isinstance(bl.upsert_into(target, "user"), Upserting)


@pytest.mark.parametrize("properties", [{"type": "hadoop"}, {}])
def test_a_catalog_that_pyiceberg_lacks_is_refused_before_any_row(
    properties: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__TYPE", "rest" if properties else "hadoop")
    assert refusal(
        ColumnError, lambda: bl.upsert_into(Iceberg("lake", "web.visits", properties), "user")
    ) == (
        "tables.Iceberg: PyIceberg has no catalog of type 'hadoop'; write through Spark, with "
        "tables.SparkTable('lake.web.visits'), or use a catalog of another type, such as "
        '"rest", "sql", "hive" or "glue"'
    )


@pytest.mark.parametrize(
    ("table", "text"),
    [
        (SparkTable(""), "table must be the name of a table, got ''"),
        (
            SparkTable("visits", using="delta'"),
            'using must be the name of a format such as "delta" or "iceberg", got "delta\'"',
        ),
    ],
)
def test_a_table_of_spark_needs_a_name_and_a_format(table: SparkTable, text: str) -> None:
    assert refusal(ColumnError, lambda: bl.upsert_into(table, "user")) == text
