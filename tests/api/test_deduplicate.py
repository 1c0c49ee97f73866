"""The first row of each key for a while: what comes out, in full, and beside Beam's transform."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import attrs
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import beamlike as bl
import beamlike.beam as beam
from beamlike.beam.testing.test_stream import TestStream as BeamStream
from beamlike.beam.transforms.deduplicate import DeduplicatePerKey
from beamlike.errors import ColumnError, TimeError, WindowingError
from beamlike.testing import QueryTest
from tests.support.refusals import refusal

ORDERS = "no int, at timestamp, item string"
SMALL: dict[str, Any] = {"shards": 2, "buckets": 2}


def order(no: int | None, at: str, item: str = "tea") -> dict[str, Any]:
    return {"no": no, "at": at, "item": item}


def once(window: Any = None, watermark: str = "0 s", **how: Any) -> Any:
    def job(orders: Any) -> Any:
        rows = bl.stream(orders, timestamp="at", watermark=watermark)
        rows = rows if window is None else rows.window(window)
        return rows.deduplicate("no", **{**SMALL, **how}).everything

    return job


def lines(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(
        f"dropped {row['dropped']['reason']} {row['dropped']['element']}"
        if row["dropped"]
        else f"{row['no']} {row['at']:%H:%M:%S} {row['item']}"
        for row in rows
    )


@pytest.mark.parametrize("restarts", [False, True])
def test_by_event_time_a_key_is_known_until_the_watermark_is_past_it(restarts: bool) -> None:
    steps = [
        ([order(7, "12:00:00"), order(7, "12:00:00", "again"), order(8, "12:03:00")], ["7", "8"]),
        ([order(7, "12:10:00", "at its end")], []),
        ([order(7, "12:10:01", "known while it comes")], []),
        ([order(7, "12:10:02", "new")], ["7"]),
        ([order(8, "12:10:02", "known")], []),
    ]
    with QueryTest(once(), ORDERS) as query:
        for rows, numbers in steps:
            assert [str(row["no"]) for row in query.send(*rows)] == numbers
            if restarts:
                query.restart()


def test_the_rows_have_their_columns_and_those_of_a_pane() -> None:
    with QueryTest(once(bl.FixedWindows("1 hour")), ORDERS) as query:
        (row,) = query.send(order(7, "12:00:00"))
    assert list(row) == ["no", "window", "at", "item", "timestamp", "pane", "dropped"]
    assert (row["no"], row["item"], row["at"]) == (7, "tea", row["timestamp"])
    assert f"{row['window']['start']:%H}-{row['window']['end']:%H}" == "12-13"
    assert row["pane"]["timing"] == "UNKNOWN"


def test_each_window_knows_its_keys_and_forgets_them_and_drops_what_is_late() -> None:
    with QueryTest(once(bl.FixedWindows("1 minute")), ORDERS) as query:
        assert lines(query.send(order(7, "12:00:10"), order(7, "12:01:00"))) == [
            "7 12:00:10 tea",
            "7 12:01:00 tea",
        ]
        assert lines(query.send(order(7, "12:00:20"), order(None, "12:01:10"))) == [
            'dropped expired {"no":7,"at":"1970-01-01T12:00:20.000000Z","item":"tea"}',
            'dropped null_key {"no":null,"at":"1970-01-01T12:01:10.000000Z","item":"tea"}',
        ]


@pytest.mark.parametrize("restarts", [False, True])
def test_by_processing_time_a_key_is_known_until_the_clock_is_past_it(restarts: bool) -> None:
    with QueryTest(once(within="1 minute", time="processing"), ORDERS) as query:
        found = []
        for at, pause in (("12:00", 30), ("13:00", 31), ("12:30", 30), ("14:00", 1)):
            found += query.send(order(7, f"{at}:00"))
            query.advance_processing_time(f"{pause} seconds")
            if restarts:
                query.restart()
    assert lines(found) == ["7 12:00:00 tea", "7 12:30:00 tea"]


@pytest.mark.parametrize("seed", range(20))
def test_it_gives_what_the_transform_of_beam_gives(seed: int) -> None:
    dice = Random(seed)
    within, size = dice.choice([5, 20]), dice.choice([10, 60])
    watermark = known = 100
    script = BeamStream().advance_watermark_to(known)
    with QueryTest(once(bl.FixedWindows(1000 * size), within=1000 * within), ORDERS) as query:
        query.advance_watermark_to(1000 * watermark)
        for number in range(25):
            if dice.random() < 0.3:
                watermark += dice.randrange(1, 15)
                query.advance_watermark_to(1000 * watermark)
            key, at = dice.randrange(3), watermark + dice.randrange(-12, 2)
            query.send({"no": key, "at": 1000 * at, "item": str(number)})
            if watermark > known:
                known, script = watermark, script.advance_watermark_to(watermark)
            element = beam.window.TimestampedValue((key, str(number)), at)
            script = script.add_elements([element])
            watermark = max(watermark, at)
        rows = query.rows
    pipeline = beam.Pipeline()
    windows = beam.WindowInto(beam.window.FixedWindows(size))
    windowed = pipeline | script.advance_watermark_to_infinity() | windows
    first = windowed | DeduplicatePerKey(event_time_duration=within)
    expected = [came.element.value for came in pipeline.run().out_of(first.edge)]
    assert [(row["no"], row["item"]) for row in rows if not row["dropped"]] == expected


def test_a_key_that_is_known_does_not_hold_the_watermark_of_what_follows() -> None:
    def job(orders: Any) -> Any:
        rows = bl.stream(orders, timestamp="at", watermark="0 s")
        first = rows.deduplicate("no", "1 hour", **SMALL)
        return first.window(bl.FixedWindows("1 minute")).group([], {"n": bl.count()}, **SMALL)

    with QueryTest(job, ORDERS) as query:
        rows = [order(7, "12:00:10"), order(7, "12:00:20"), order(8, "12:00:30")]
        assert query.send(*rows) == []
        (row,) = query.advance_watermark_to("12:01:00")
    assert (row["n"], row["pane"]["timing"]) == (2, "ON_TIME")


def test_after_a_grouping_the_first_pane_of_a_key_goes_on() -> None:
    def job(orders: Any) -> Any:
        rows = bl.stream(orders, timestamp="at", watermark="0 s")
        minutes = rows.window(bl.FixedWindows("1 minute")).group(
            ["no", "item"], {"n": bl.count()}, **SMALL
        )
        return minutes.window(bl.GlobalWindows()).deduplicate(["item"], "1 hour", **SMALL)

    with QueryTest(job, ORDERS) as query:
        query.send(order(7, "12:00:10"), order(7, "12:00:20"), order(7, "12:01:10"))
        query.advance_watermark_to_infinity()
        rows = query.rows
    assert [(row["item"], row["no"], row["n"]) for row in rows] == [("tea", 7, 2)]


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"key": "order"}, ColumnError, "there is no column 'order'"),
        ({"within": 0}, WindowingError, "within must be more than 0 ms"),
        ({"within": "soon"}, TimeError, "within"),
        ({"time": "ingestion"}, WindowingError, "time must be one of 'event', 'processing'"),
        ({"by": "no"}, WindowingError, "no argument 'by'; write key="),
    ],
)
def test_what_cannot_be_is_refused(asked: dict[str, Any], error: Any, words: str) -> None:
    def job(orders: Any) -> Any:
        rows = bl.stream(orders, timestamp="at", watermark="0 s")
        return rows.deduplicate(**({"key": "no"} | asked))

    assert words in refusal(error, lambda: QueryTest(job, ORDERS))


# -- tables: in one step --------------------------------------------------------------------------

START = datetime(2020, 1, 1, tzinfo=UTC)
COLUMNS = pa.schema([("k", pa.string()), ("at", pa.timestamp("us", "UTC")), ("v", pa.int64())])


@attrs.frozen
class NeverAtTen(bl.WindowFn):
    """Windows of a user's own, which has none for the tenth minute."""

    def assign(self, timestamp: int, value: object = None) -> tuple[Any, ...]:
        if timestamp == 10 * 60_000 + int(START.timestamp() * 1000):
            raise ValueError("not at ten")
        return bl.FixedWindows("5 minutes").assign(timestamp)


def table(rows: list[tuple[str | None, int]]) -> pa.Table:
    columns = [
        {"k": key, "at": START + timedelta(minutes=minute), "v": number}
        for number, (key, minute) in enumerate(rows)
    ]
    return pa.Table.from_pylist(columns, COLUMNS)


def first_rows(rows: list[tuple[str | None, int]], window: bl.WindowFn, **options: Any) -> Any:
    stream = bl.stream(table(rows), timestamp="at").window(window)
    return stream.deduplicate("k", within="1 hour", **options)


@pytest.mark.parametrize("time", ["event", "processing"])
@given(rows=st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(0, 30)), max_size=30))
def test_the_first_row_of_each_key_and_window_goes_on(rows: list[tuple[str, int]], time: str):
    found = first_rows(rows, bl.FixedWindows("5 minutes"), time=time).rows
    first: dict[tuple[str, int], int] = {}
    for number, (key, minute) in enumerate(rows):
        first.setdefault((key, minute // 5), number)
    assert sorted(found.column("v").to_pylist()) == sorted(first.values())


def test_a_row_in_several_windows_is_the_first_in_each() -> None:
    rows = first_rows([("a", 0), ("a", 5), ("b", 5)], bl.SlidingWindows("10 min", "5 min")).rows
    starts = [(START + timedelta(minutes=minute)) for minute in (-5, 0, 5)]
    assert sorted([(row["k"], row["v"], row["window"]["start"]) for row in rows.to_pylist()]) == [
        ("a", 0, starts[0]),
        ("a", 0, starts[1]),
        ("a", 1, starts[2]),
        ("b", 2, starts[1]),
        ("b", 2, starts[2]),
    ]


def test_rows_without_a_key_or_a_window_are_dropped_and_no_others() -> None:
    stream = first_rows([("a", 0), ("a", 10), (None, 1), ("a", 11), ("a", 12)], NeverAtTen())
    assert sorted(stream.rows.column("v").to_pylist()) == [0, 3]
    reasons = [row["dropped"]["reason"] for row in stream.dropped.to_pylist()]
    assert sorted(reasons) == ["failed", "null_key"]


def test_values_of_any_type_go_on_as_they_are() -> None:
    columns = {
        "k": [1, 1, 2],
        "at": [START] * 3,
        "listed": [[1, None], [], None],
        "struct": [{"x": 0.5}, None, {"x": None}],
        "day": [START.date(), None, START.date()],
    }
    given_rows = pa.table(columns)
    rows = bl.stream(given_rows, timestamp="at").deduplicate("k", within="1 hour").rows
    assert rows.sort_by("k").select(list(columns)).to_pylist() == [
        given_rows.to_pylist()[0],
        given_rows.to_pylist()[2],
    ]


def test_a_table_without_columns_is_refused_in_words() -> None:
    assert refusal(ColumnError, lambda: bl.stream(pa.table({}), timestamp="at")) == (
        "timestamp: there is no column 'at'; there are no columns"
    )
