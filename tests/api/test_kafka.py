"""Records of Kafka as rows, and panes as records, with a folder in place of a broker.

`tests.kafka` has a broker.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import (
    ColumnError,
    EnvironmentProblem,
    PipelineError,
    UnsupportedError,
    WindowingError,
)
from beamlike.hosts import kafka_connector
from beamlike.machine.input_clocks import Idle
from tests.support import topics

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("folders_for_kafka")]

CLICKS = bl.kafka.Json("user string, at timestamp, n int")
EARLY = {
    "trigger": bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1)),
    "allowed_lateness": "1 day",
}


def click(user: str | None, minute: int, n: int = 1) -> bytes:
    return json.dumps({"user": user, "at": f"2026-01-01T12:{minute:02}:00Z", "n": n}).encode()


def shown(record: topics.Record) -> tuple[Any, Any, str]:
    key, value, headers = record
    return json.loads(key or b"null"), json.loads(value or b"null"), headers.get("change", "")


def hour(user: str) -> dict[str, Any]:
    start, end = (f"2026-01-01T{hour}:00:00.000000Z" for hour in (12, 13))
    return {"user": user, "window": {"start": start, "end": end}}


def clicks(spark: Any, folder: Path, **parts: Any) -> bl.Stream:
    rows = bl.kafka.read(spark, str(folder), "clicks", value=CLICKS, timestamp="at", bounded=True)
    return rows.window(bl.FixedWindows("1 hour"), **parts)


def test_records_are_read_grouped_and_written_by_key_and_window(spark: Any, tmp_path: Path) -> None:
    topics.send(
        tmp_path, "clicks", (b"1", click("ann", 1)), (b"2", click("ann", 2, 4)), (None, b"{}")
    )
    hours = clicks(spark, tmp_path).group("user", {"n": bl.sum("n")})

    bl.kafka.write(hours, str(tmp_path), "hours", key="user", dead_letters="lost").save()

    written = topics.received(tmp_path, "hours")
    assert [shown(record) for record in written] == [
        (hour("ann"), {**hour("ann"), "n": 5, "timestamp": "2026-01-01T12:59:59.999999Z"}, "upsert")
    ]
    assert written[0][2] == {
        **{"pane.timing": "ON_TIME", "pane.index": "0", "pane.nonspeculative_index": "0"},
        **{"pane.is_first": "true", "pane.is_last": "true", "change": "upsert"},
    }
    (letter,) = topics.received(tmp_path, "lost")
    assert letter[0] is None
    assert letter[2] == {"stage": "beamlike", "reason": "null_key"}
    assert json.loads(letter[1] or b"")["reason"] == "null_key"


def test_columns_of_a_record_give_way_to_fields_of_its_value(spark: Any, tmp_path: Path) -> None:
    topics.send(tmp_path, "clicks", (b"ann", b'{"key": 7, "timestamp": "2026-01-02T00:00:00Z"}'))
    read = bl.kafka.read(
        spark,
        [str(tmp_path)],
        ["clicks"],
        value=bl.kafka.Json("key int, timestamp timestamp"),
        bounded=True,
    )
    assert read.columns == [
        *("key", "timestamp", "kafka_key", "value", "headers", "topic", "partition", "offset"),
        *("kafka_timestamp", "topic_partition"),
    ]
    (row,) = read.rows.collect()
    assert (row.key, row.kafka_key, row.topic_partition) == (7, "ann", "clicks/0")
    assert [(header.key, bytes(header.value)) for header in row.headers] == [("trace", b"0")]
    assert row.kafka_timestamp.astimezone(UTC) == datetime(2026, 1, 1, tzinfo=UTC)


def test_without_a_format_values_are_bytes_and_keys_are_text(spark: Any, tmp_path: Path) -> None:
    topics.send(tmp_path, "clicks", (b"ann", b"\xff"), (None, None))
    rows = bl.kafka.read(spark, str(tmp_path), "clicks", bounded=True).rows.collect()
    assert [(row.key, row.value and bytes(row.value)) for row in rows] == [
        ("ann", b"\xff"),
        (None, None),
    ]


def test_records_that_cannot_be_read_are_dead_letters_and_stop_nothing(spark: Any, tmp_path: Path):
    topics.send(
        tmp_path,
        "clicks",
        *[(b"k", value) for value in (b"nonsense", b"", b"[]", b'{"n": "x"}', b"\xff")],
        (b"k", None),
        (b"\xff", click("bob", 2)),
        (b"k", click("ann", 1)),
        (b"k", b'{"user": "ann", "n": 1}'),
        (b"k", b'{"user": "ann", "n": "x", "at": "2026-01-01T12:00:00Z"}'),
        (b"k", b'{"at": "2026-01-01T12:00:00Z"}'),
    )
    everything = clicks(spark, tmp_path).group(
        "user", {"n": bl.sum("n")}, carry=["offset", "value"]
    )
    panes, dropped = bl.split(everything.everything)
    assert [(row.user, row.n) for row in panes.collect()] == [("ann", 1)]
    reasons = {
        json.loads(row.dropped.element)["offset"]: row.dropped.reason for row in dropped.collect()
    }
    assert reasons == {
        **dict.fromkeys(range(5), "unreadable_value"),
        **{5: "null_value", 6: "unreadable_key", 8: "null_timestamp"},
        **{9: "unreadable_value", 10: "null_key"},
    }


def test_a_key_of_json_is_a_struct(spark: Any, tmp_path: Path) -> None:
    topics.send(tmp_path, "clicks", (b'{"id": 7}', b"x"), (b"7", b"y"), (None, b"z"))
    key = bl.kafka.Json("id int")
    read = bl.kafka.read(
        spark, str(tmp_path), "clicks", key=key, value=bl.kafka.Text(), bounded=True
    )
    keys = {row.value: row.key and row.key.id for row in read.rows.collect()}
    assert keys == {"x": 7, "y": None, "z": None}


def panes_of(spark: Any, *rows: tuple[Any, ...]) -> Any:
    """Panes as a grouping that retracts gives them out in a stream."""
    return spark.sql(
        "SELECT user, named_struct('start', timestamp'2026-01-01 12:00:00', 'end', "
        "timestamp'2026-01-01 13:00:00') window, n, timestamp'2026-01-01 12:59:59' timestamp, "
        "named_struct('timing', timing, 'index', index, 'nonspeculative_index', -1L, 'is_first', "
        "index = 0, 'is_last', is_last) pane, retraction FROM VALUES "
        + ", ".join(str(row).replace("None", "NULL") for row in rows)
        + " t(user, n, timing, index, is_last, retraction)"
    )


PANES = (
    ("ann", 1, "EARLY", 0, False, False),
    ("ann", 1, "ON_TIME", 1, False, True),
    ("ann", 2, "ON_TIME", 1, False, False),
    ("ann", 3, "LATE", 2, True, False),
)


def changes(folder: Path) -> list[tuple[Any, str]]:
    records = [shown(record) for record in topics.received(folder, "hours")]
    return [(value and value["n"], change) for _, value, change in records]


def test_a_pane_that_is_withdrawn_is_a_tombstone(spark: Any, tmp_path: Path) -> None:
    bl.kafka.write(panes_of(spark, *PANES).coalesce(1), str(tmp_path), "hours", key="user").save()
    assert changes(tmp_path) == [(1, "upsert"), (None, "delete"), (2, "upsert"), (3, "upsert")]
    assert {shown(record)[0]["user"] for record in topics.received(tmp_path, "hours")} == {"ann"}


def test_a_window_that_is_over_is_a_tombstone_if_wanted(spark: Any, tmp_path: Path) -> None:
    panes = panes_of(spark, *PANES[2:]).coalesce(1)
    bl.kafka.write(panes, str(tmp_path), "hours", key="user", expired="delete").save()
    assert changes(tmp_path) == [(2, "upsert"), (3, "upsert"), (None, "expired")]


def test_without_the_connector_there_is_a_word(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_connector, "FORMAT", "kafka")
    words = r"--packages org\.apache\.spark:spark-sql-kafka"
    with pytest.raises(EnvironmentProblem, match=rf"kafka\.read needs .*{words}"):
        bl.kafka.read(spark, "one:1", "clicks", watermark="0 s")
    panes = panes_of(spark, *PANES)
    with pytest.raises(EnvironmentProblem, match=rf"kafka\.write needs .*{words}"):
        bl.kafka.write(panes, "one:1", "hours", key="user")


def test_avro_needs_a_module_of_spark(spark: Any, tmp_path: Path) -> None:
    topics.send(tmp_path, "clicks", (None, click("ann", 1)))
    schema = '{"type": "record", "name": "Click", "fields": [{"name": "n", "type": "int"}]}'
    words = r"--packages org\.apache\.spark:spark-avro"
    with pytest.raises(EnvironmentProblem, match=words):
        bl.kafka.read(spark, str(tmp_path), "clicks", value=bl.kafka.Avro(schema), bounded=True)
    panes = panes_of(spark, *PANES)
    with pytest.raises(EnvironmentProblem, match=words):
        bl.kafka.write(panes, str(tmp_path), "hours", key="user", value=bl.kafka.Avro())


@pytest.mark.parametrize(
    ("render", "name"), [("changelog", "window"), ("upserts", "session_identity")]
)
def test_sessions_are_known_by_their_window_or_their_identity(
    spark: Any, tmp_path: Path, render: Any, name: str
) -> None:
    topics.send(tmp_path, "clicks", (None, click("ann", 1)), (None, click("ann", 5)))
    sessions = clicks(spark, tmp_path).window(bl.Sessions("10 minutes"), accumulation="retracting")
    visits = sessions.group("user", {"n": bl.sum("n")}, render=render)
    bl.kafka.write(visits, str(tmp_path), "visits", key="user").save()
    ((key, value, change),) = map(shown, topics.received(tmp_path, "visits"))
    assert set(key) == {"user", name}
    assert (value["n"], change) == (2, "upsert")
    assert value["window"]["end"] == "2026-01-01T12:15:00.000000Z"


def test_a_pane_that_is_too_large_is_a_dead_letter_and_deletes_the_one_before(
    spark: Any, tmp_path: Path
) -> None:
    topics.send(tmp_path, "clicks", (None, click("ann" * 500, 1)), (None, click("bob", 1)))
    hours = clicks(spark, tmp_path).group("user", {"n": bl.sum("n")})
    writer = bl.kafka.write(
        hours,
        str(tmp_path),
        "hours",
        key="user",
        dead_letters="lost",
        config={"max.request.size": 2048},
    )
    writer.save()
    written = {
        key["user"][:3]: change for key, _, change in map(shown, topics.received(tmp_path, "hours"))
    }
    assert written == {"ann": "delete", "bob": "upsert"}
    (letter,) = (json.loads(value or b"") for _, value, _ in topics.received(tmp_path, "lost"))
    assert letter["reason"] == "cannot_land"
    assert "1024 may be sent" in letter["error"]


def test_dropped_rows_are_left_out_without_a_topic_for_them(spark: Any, tmp_path: Path) -> None:
    topics.send(tmp_path, "clicks", (None, click(None, 1)), (None, click("bob", 1)))
    hours = clicks(spark, tmp_path).group("user", {"n": bl.sum("n")})
    bl.kafka.write(hours.everything, str(tmp_path), "hours", key="user").save()
    assert [key["user"] for key, _, _ in map(shown, topics.received(tmp_path, "hours"))] == ["bob"]


def test_options_of_a_stream_reach_spark_and_its_watermark(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, str] = {}

    def loaded(session: Any, options: dict[str, str], *, bounded: bool) -> Any:
        seen.update(options)
        rate = session.readStream.format("rate").load()
        return rate.selectExpr(
            *("binary('k') key", "binary('{}') value", "'clicks' topic", "0 partition"),
            *("value offset", "timestamp", f"cast(array() AS {topics.HEADERS}) headers"),
        )

    monkeypatch.setattr("beamlike.api.kafka.reading._loaded", loaded)

    def clock(**options: Any) -> Any:
        seen.clear()
        stream = bl.kafka.read(spark, ["one:1", "two:2"], "clicks", watermark="5 s", **options)
        (rows,) = stream.inputs.rows
        return attrs.astuple(rows.clock)[:6]

    assert clock() == (5_000, 60_000, Idle.RELEASE, 3_600_000, True, None)
    assert seen == {
        **{"kafka.bootstrap.servers": "one:1,two:2", "subscribe": "clicks"},
        **{"startingOffsets": "earliest", "includeHeaders": "true"},
    }
    assert clock(idle_after="2 s", max_ahead=None, start="latest", max_per_batch=9) == (
        *(5_000, 2_000, Idle.RELEASE, None, True, None),
    )
    assert clock(max_jump="1 hour")[-1] == 3_600_000
    assert (seen["startingOffsets"], seen["maxOffsetsPerTrigger"]) == ("latest", "9")
    clock(start=datetime(2026, 1, 1, tzinfo=UTC), config={"client.id": "ann"})
    assert (seen["startingTimestamp"], seen["kafka.client.id"]) == ("1767225600000", "ann")
    assert seen["startingOffsetsByTimestampStrategy"] == "latest"
    with pytest.raises(WindowingError, match="watermark"):
        bl.kafka.read(spark, "one:1", "clicks")


def test_what_cannot_be_is_refused(spark: Any, tmp_path: Path) -> None:
    folder = str(tmp_path)
    topics.send(tmp_path, "clicks", (None, click("ann", 1)))
    read, write = bl.kafka.read, bl.kafka.write
    stream = clicks(spark, tmp_path, **EARLY, accumulation="accumulating")
    hours = stream.group("user", {"n": bl.sum("n")})
    for call, error, words in (
        (lambda: read(spark, "", "clicks"), PipelineError, "needs the servers"),
        (lambda: read(spark, folder, []), PipelineError, "topics must name topics"),
        (lambda: read(spark, folder, "t", value="json"), PipelineError, "value must be Bytes"),
        (
            lambda: read(spark, folder, "t", value=bl.kafka.Json()),
            ColumnError,
            "needs? a schema|without a schema",
        ),
        (
            lambda: read(spark, folder, "t", value=bl.kafka.Json("a int,")),
            ColumnError,
            "Spark can read",
        ),
        (
            lambda: read(spark, folder, "t", value=bl.kafka.Json("int")),
            ColumnError,
            "a schema has columns",
        ),
        (lambda: read(spark, folder, "t", value=bl.kafka.Avro()), ColumnError, "without a schema"),
        (
            lambda: read(spark, folder, "t", value=bl.kafka.Avro('"int"')),
            ColumnError,
            "schema of a record",
        ),
        (lambda: read(spark, folder, "t", start="now"), PipelineError, "start must be"),
        (
            lambda: read(spark, folder, "t", start=datetime(2026, 1, 1)),
            PipelineError,
            "is not an instant without its zone",
        ),
        (
            lambda: read(spark, folder, "t", start="latest", bounded=True),
            PipelineError,
            "reads nothing",
        ),
        (
            lambda: read(spark, folder, "t", max_per_batch=9, bounded=True),
            PipelineError,
            "has none",
        ),
        (lambda: read(spark, folder, "t", max_per_batch=0), PipelineError, "whole number of 1"),
        (
            lambda: read(spark, folder, "t", config={"bootstrap.servers": "x"}),
            PipelineError,
            "what servers= says",
        ),
        (
            lambda: read(spark, folder, "clicks", timestamp="when", bounded=True),
            ColumnError,
            "there is no column 'when'",
        ),
        (
            lambda: write(hours, folder, "t", key="who"),
            ColumnError,
            "kafka.write: there is no column 'who'",
        ),
        (lambda: write(hours, folder, "", key="user"), PipelineError, "topic must be the name"),
        (
            lambda: write(hours, folder, "t", key="user", value=bl.kafka.Text()),
            UnsupportedError,
            "has no fields",
        ),
        (
            lambda: write(hours, folder, "t", key="user", value=bl.kafka.Avro(skip=5)),
            UnsupportedError,
            r"write Avro\(\)",
        ),
        (lambda: write(hours, folder, "t", key="user", expired="gone"), WindowingError, "expired"),
        (
            lambda: write(hours, folder, "t", key="user", expired="delete"),
            WindowingError,
            'closing_behavior="fire_always"',
        ),
        (
            lambda: write(hours.rows, folder, "t", key="user", dead_letters="lost"),
            ColumnError,
            "dead_letters needs the rows",
        ),
        (
            lambda: write(hours.rows.drop("pane"), folder, "t", key="user", expired="delete"),
            ColumnError,
            "there is no column 'pane'",
        ),
        (
            lambda: write(pa.table({"user": ["ann"]}), folder, "t", key="user"),
            UnsupportedError,
            "works on Spark only",
        ),
    ):
        with pytest.raises(error, match=words):
            call()


def test_panes_that_discard_are_refused_where_the_topic_is_compacted(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics.send(tmp_path, "clicks", (None, click("ann", 1)))
    parts = clicks(spark, tmp_path, **EARLY, accumulation="discarding")
    hours = parts.group("user", {"n": bl.sum("n")})
    bl.kafka.write(hours, str(tmp_path), "hours", key="user").save()
    assert changes(tmp_path) == [(1, "upsert"), (None, "upsert")], "the second part is empty"
    monkeypatch.setattr(kafka_connector, "is_compacted", lambda *_: True)
    with pytest.raises(WindowingError, match="the last part would stay"):
        bl.kafka.write(hours, str(tmp_path), "hours", key="user")
    with pytest.raises(PipelineError, match="dead letters have no key"):
        bl.kafka.write(hours, str(tmp_path), "hours", key="user", dead_letters="lost")


def test_what_has_no_form_in_json_is_refused_by_name(spark: Any, tmp_path: Path) -> None:
    panes = panes_of(spark, *PANES).selectExpr(
        "*", "st_geomfromwkb(X'0101000000000000000000F03F0000000000000040') place"
    )
    with pytest.raises(ColumnError, match="'place' is geometry"):
        bl.kafka.write(panes, str(tmp_path), "hours", key="user")
