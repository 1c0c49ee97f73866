"""The first row of each key for a while: what comes out, in full, and beside Beam's transform."""

from random import Random
from typing import Any

import pytest

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
