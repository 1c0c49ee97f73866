"""Which query a writer is of: two of one name, Spark Connect, and a checkpoint that is older than
its table."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import attrs
import pytest

import beamlike as bl
from beamlike.errors import ColumnError, StateError, WindowingError
from tests.landing.test_tables import letters, standing
from tests.support.landing.changes import batch, gone, lost, put
from tests.support.landing.places import Place, places


@attrs.define
class Context:
    """What Spark's driver process says of the micro-batch that it runs."""

    properties: dict[str, str]

    def getLocalProperty(self, name: str) -> str | None:
        return self.properties.get(name)


@attrs.define
class Session:
    _sc: Context | None


@attrs.define
class Frame:
    """A micro-batch as Spark hands it over."""

    sparkSession: Session
    rows: Any

    def toArrow(self) -> Any:
        return self.rows


def of_query(query: str, run: str) -> Callable[..., Frame]:
    properties = {
        "sql.streaming.queryId": query,
        "spark.jobGroup.id": str(uuid5(NAMESPACE_OID, run)),
    }
    return lambda *rows: Frame(Session(Context(properties)), batch(*rows))


def over_connect(*rows: Any) -> Frame:
    return Frame(Session(None), batch(*rows))


@pytest.fixture(autouse=True)
def _no_runs_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beamlike.hosts.landing.writer._written", {})


def test_two_writers_of_one_name_are_refused(place: Place, table: str) -> None:
    ann, bob = (bl.upsert_into(place.target, "user") for _ in range(2))
    frame = of_query("q", "first run")
    ann(frame(put("ann", 0, 5, 1)), 0)
    with pytest.raises(StateError, match="two writers of one name write micro-batch 0 to") as error:
        bob(frame(put("bob", 0, 5, 1)), 0)
    assert "give each its own name=" in str(error.value)
    # Nor may one writer write twice.
    with pytest.raises(StateError, match="two writers of one name"):
        ann(frame(put("bob", 0, 5, 1)), 0)
    # A restart runs the micro-batch again, with the same writer or another.
    again = of_query("q", "second run")
    bob(again(put("ann", 0, 5, 1)), 0)
    bob(again(put("ann", 0, 6, 2)), 1)
    assert standing(place, table) == [("ann", 6, 2, 0.5)]


def test_two_writers_with_names_both_land(place: Place, table: str) -> None:
    lost_in = f"{table}_lost"
    writers = [
        bl.upsert_into(place.target, "user", name=name, dead_letters=lost_in)
        for name in ("those with a", "those with b")
    ]
    for number in range(3):
        frame = of_query("q", "a run")
        for user, write in zip(("ann", "bob"), writers, strict=True):
            write(frame(put(user, 0, number, number), lost(f"{user} {number}")), number)
    assert standing(place, table) == [("ann", 2, 2, 0.5), ("bob", 2, 2, 0.5)]
    assert letters(place, lost_in) == [f"{user} {n}" for user in ("ann", "bob") for n in range(3)]


@pytest.mark.parametrize("sort", ["sqlite", "duckdb", "postgres", "delta", "iceberg"])
def test_writers_to_two_tables_share_one_of_dead_letters(
    sort: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue("server") if sort == "postgres" else None
    targets = {user: places(sort, tmp_path, f"shared_{user}", server) for user in ("ann", "bob")}
    for number in range(2):
        frame = of_query("q", "a run")
        for user, place in targets.items():
            write = bl.upsert_into(place.target, "user", dead_letters="shared_lost")
            write(frame(put(user, 0, number, 1), lost(f"{user} {number}")), number)
    assert letters(targets["ann"], "shared_lost") == ["ann 0", "ann 1", "bob 0", "bob 1"]
    for user, place in targets.items():
        assert [name for name, *_ in standing(place, f"shared_{user}")] == [user]


def test_over_connect_a_writer_needs_a_name(place: Place, table: str) -> None:
    with pytest.raises(StateError, match="over Spark Connect a writer cannot know which query"):
        bl.upsert_into(place.target, "user")(over_connect(put("ann", 0, 5, 1)), 0)
    first, second = (
        bl.upsert_into(place.target, "user", name=f"{number} checkpoint") for number in "12"
    )
    first(over_connect(put("ann", 0, 5, 1)), 0)
    second(over_connect(put("bob", 0, 5, 1)), 0)
    assert [name for name, *_ in standing(place, table)] == ["ann", "bob"]
    third = bl.upsert_into(place.target, "user", name="1 checkpoint")
    with pytest.raises(StateError, match="two writers of one name"):
        third(over_connect(put("cat", 0, 5, 1)), 0)


def test_over_connect_two_checkpoints_of_one_name_lose_nothing(
    place: Place, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for user in ("ann", "bob", "bob"):  # another checkpoint, and its micro-batch again
        monkeypatch.setattr("beamlike.hosts.landing.writer._written", {})  # another process
        write = bl.upsert_into(place.target, "user", name="visits")
        write(over_connect(put(user, 0, 5, 1)), 0)
    write(over_connect(put("bob", 0, 7, 2)), 1)
    assert [row[:2] for row in standing(place, table)] == [("ann", 5), ("bob", 7)]
    monkeypatch.setattr("beamlike.hosts.landing.writer._written", {})
    with pytest.raises(StateError, match="another query has written under this name"):
        write(over_connect(put("cat", 0, 5, 1)), 0)


def test_a_checkpoint_that_is_older_than_the_table_is_refused(place: Place, table: str) -> None:
    write = bl.upsert_into(place.target, "user", dead_letters=f"{table}_lost")
    for number in (4, 5, 6):
        write(batch(put("ann", 0, number, number), lost(f"{number}")), number)
    for number in (0, 5):
        with pytest.raises(StateError, match=f"micro-batch {number} comes to the table") as error:
            write(batch(put("bob", 0, 5, 1), lost("again")), number)
    for way in ("Restore the table", "name=", "accept_rollback=True"):
        assert way in str(error.value)
    assert standing(place, table) == [("ann", 6, 6, 1.5)]
    accepting = bl.upsert_into(
        place.target, "user", dead_letters=f"{table}_lost", accept_rollback=True
    )
    accepting(batch(put("bob", 0, 5, 1), gone("ann", 0), lost("again")), 5)
    assert standing(place, table) == [("bob", 5, 1, 0.25)]
    # From here on the table goes with the checkpoint: each of its micro-batches lands once.
    write(batch(put("bob", 0, 5, 1), lost("never")), 5)
    write(batch(put("bob", 0, 7, 3), lost("7")), 6)
    assert standing(place, table) == [("bob", 7, 3, 0.75)]
    assert letters(place, f"{table}_lost") == ["4", "5", "6", "7", "again"]


def test_a_batch_without_changes_says_nothing_of_the_table(place: Place) -> None:
    write = bl.upsert_into(place.target, "user")
    write(batch(put("ann", 0, 5, 1)), 3)
    write(batch(), 1)
    write(batch(), 4)
    with pytest.raises(StateError):
        write(batch(put("ann", 0, 5, 1)), 2)


def test_arguments_that_cannot_be_are_refused(tmp_path: Path) -> None:
    target = places("sqlite", tmp_path, "visits").target
    with pytest.raises(WindowingError, match="name must be a text"):
        bl.upsert_into(target, "user", name="")
    with pytest.raises(WindowingError, match="on_error must be one of 'drop', 'fail', got 'keep'"):
        bl.upsert_into(target, "user", on_error="keep")  # type: ignore[arg-type]
    with pytest.raises(WindowingError, match="accept_rollback must be True or False, got 1"):
        bl.upsert_into(target, "user", accept_rollback=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("of_sessions", ["", ', "session_start" TEXT, "session_end" TEXT'])
def test_a_table_of_the_first_layout_goes_on_unless_it_has_sessions(
    of_sessions: str, tmp_path: Path
) -> None:
    place = places("sqlite", tmp_path, "visits")
    target: Any = place.target
    with target.transaction() as cursor:
        for statement in (
            "CREATE TABLE beamlike_batches "
            "(query TEXT, landed_in TEXT, batch INTEGER, PRIMARY KEY (query, landed_in))",
            "INSERT INTO beamlike_batches VALUES ('beamlike', 'visits', 1)",
            'CREATE TABLE "visits" ("row_key" TEXT PRIMARY KEY, "user" TEXT, "window_start" TEXT, '
            f'"window_end" TEXT, "n" INTEGER, "mean" REAL, "timestamp" TEXT, "timing" TEXT'
            f"{of_sessions})",
            "INSERT INTO visits (row_key, user, window_end, n) VALUES "
            """('["ann", "2026-01-01T12:00:00+00:00", "2026-01-01T12:05:00+00:00"]', """
            "'ann', '2026-01-01 12:05:00+00:00', 1)",
        ):
            cursor.execute(statement)
    write = bl.upsert_into(place.target, "user")
    changes = batch(put("ann", 0, 5, 1)), batch(put("ann", 0, 5, 2), put("bob", 0, 5, 1))
    if of_sessions:
        write(changes[0], 1)  # it has landed
        with pytest.raises(ColumnError, match="Drop session_start and session_end, and add sessio"):
            write(changes[1], 2)
        return
    before, after = (rows.drop_columns(["session_identity", "change"]) for rows in changes)
    write(before, 1)
    write(after, 2)
    assert standing(place, "visits") == [("ann", 5, 2, 0.5), ("bob", 5, 1, 0.25)]


def test_dead_letters_in_delta_that_only_knew_their_query_land_once(tmp_path: Path) -> None:
    from deltalake import CommitProperties, Transaction, write_deltalake

    from beamlike.hosts.landing.batch import changes_of

    place = places("delta", tmp_path, "visits")
    dropped = changes_of(batch(lost("one")), ["user"], "beamlike", 0, dead_letters=True).dropped
    numbered = CommitProperties(app_transactions=[Transaction("beamlike", 0)])
    write_deltalake(str(tmp_path / "lost"), dropped, commit_properties=numbered)
    write = bl.upsert_into(place.target, "user", dead_letters="lost")
    for number, letter in enumerate(("one", "two")):
        write(batch(lost(letter)), number)
    assert letters(place, "lost") == ["one", "two"]


@pytest.mark.spark
def test_a_query_of_spark_with_two_writers_ends(spark: Any, tmp_path: Path) -> None:
    place = places("sqlite", tmp_path, "visits")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text(
        '{"user": "ann", "at": "2026-05-04 12:01:00"}\n{"user": "bob", "at": "2026-05-04 12:01:00"}'
    )
    files = spark.readStream.schema("user string, at timestamp").json(str(tmp_path / "in"))
    panes = bl.windowed(
        files,
        key="user",
        timestamp="at",
        watermark="0 s",
        window=bl.FixedWindows("1 hour"),
        trigger=bl.AfterWatermark(early=bl.AfterCount(1)),
        accumulation="accumulating",
        allowed_lateness="0 s",
        aggregate={"n": bl.count()},
    )

    def run(checkpoint: str, names: tuple[str | None, str | None]) -> None:
        writers = [bl.upsert_into(place.target, "user", name=name) for name in names]

        def write(rows: Any, number: int) -> None:
            rows.persist()
            for user, writer in zip(("ann", "bob"), writers, strict=True):
                writer(rows.where(f"user = '{user}'"), number)

        writer = panes.writeStream.foreachBatch(write).trigger(availableNow=True)
        writer.option("checkpointLocation", str(tmp_path / checkpoint)).start().awaitTermination()

    with pytest.raises(Exception, match="two writers of one name write micro-batch 0"):
        run("checkpoint", (None, None))
    # The names are new, so all that the micro-batch holds lands, and lands once.
    run("checkpoint", ("a", "b"))
    assert [(row["user"], row["n"]) for row in place.read("visits")] == [("ann", 1), ("bob", 1)]
