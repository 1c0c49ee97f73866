"""Rows that look into a side input: cars at a toll booth, and who owns them.

How long a row waits, and for what, is tested rule by rule in `tests/machine/test_side_input.py`.
"""

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.errors import ColumnError, UnsupportedError, WindowingError
from tests.support.queries.rows import NEVER_FIRED, SMALL, MakeFeed, Row
from tests.support.queries.shown import shown

pytestmark = pytest.mark.spark


CARS, OWNERS = "plate string, at timestamp, lane string", "id string, since timestamp, owner string"
ON = {"main": "plate", "side": "id"}
AT_FOUR = "2020-01-01T00:04:00.000000Z"
FIVE, TEN = bl.FixedWindows("5 minutes"), bl.FixedWindows("10 minutes")


def time(text: str) -> str:
    return f"2020-01-01T{text}Z"


def car(plate: str | None, at: str, lane: str = "east") -> Row:
    return {"plate": plate, "at": time(at), "lane": lane}


def owner(plate: str, since: str, name: str) -> Row:
    return {"id": plate, "since": time(since), "owner": name}


def described(rows: list[Row]) -> list[str]:
    """Each row as a line, in order: what was found for which car, or what was dropped and why."""
    lines = []
    for row in rows:
        if row["dropped"]:
            it = row["dropped"]
            missed = "" if it["missed_ms"] is None else f" by {it['missed_ms']} ms"
            lines.append(f"{it['stage']}: {it['reason']}{missed} {it['element']}")
            continue
        window = f"{row['window']['start'][11:16]}-{row['window']['end'][11:16]}"
        found = f"{row['plate']} {row['timestamp'][11:19]} {row['lane']} -> {row['owner']}"
        lines.append(f"{found} in {window}, {row['pane']['timing']}")
    return sorted(lines)


# -- streams ---------------------------------------------------------------------------------


class Booth:
    """A feed of cars and one of owners, and a query in which the cars look up the owners.

    Owners come out early and are corrected; cars may come ten minutes late.
    """

    def __init__(self, feed: MakeFeed, **side: Any) -> None:
        self._cars, self._owners = feed(CARS), feed(OWNERS)
        self._side = {
            "window": TEN,
            "trigger": bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1)),
            "accumulation": "accumulating",
            "allowed_lateness": "1 hour",
            **side,
        }

    def start(self, then: Callable[[bl.Stream], bl.Stream] = lambda found: found) -> None:
        cars = bl.stream(self._cars.frame, timestamp="at", watermark=0)
        owners = bl.stream(self._owners.frame, timestamp="since", watermark=0)
        found = bl.look_up(
            cars.window(FIVE, allowed_lateness="10 minutes", accumulation="discarding"),
            owners.select("id", "owner").window(**self._side),
            on=ON,
            **SMALL,
        )
        self._cars.start(then(found).everything)

    def stop(self) -> None:
        self._cars.stop()

    def send(self, *rows: Row) -> list[Row]:
        """Cars and owners arrive together; what comes out."""
        cars = [row for row in rows if "plate" in row]
        owners = [row for row in rows if "id" in row]
        if cars:
            self._cars.put(*cars)
        if owners:
            self._owners.put(*owners)
        return self._cars.settle()  # type: ignore[no-any-return]


@pytest.mark.nightly
def test_a_car_waits_for_its_owner_and_those_after_it_see_the_latest(feed: MakeFeed) -> None:
    booth = Booth(feed)
    booth.start()
    # Nobody knows the owner yet.
    assert booth.send(car("a", "00:01:00"), car("a", "00:06:00", "west")) == []
    # The owner comes: both cars go, each in its own window and at its own time.
    assert booth.send(owner("a", "00:03:00", "ann")) == [
        {
            "plate": "a",
            "window": {"start": time("00:00:00.000"), "end": time("00:05:00.000")},
            "at": time("00:01:00.000"),
            "lane": "east",
            "owner": "ann",
            "timestamp": time("00:01:00.000"),
            "pane": NEVER_FIRED,
            "dropped": None,
        },
        {
            "plate": "a",
            "window": {"start": time("00:05:00.000"), "end": time("00:10:00.000")},
            "at": time("00:06:00.000"),
            "lane": "west",
            "owner": "ann",
            "timestamp": time("00:06:00.000"),
            "pane": NEVER_FIRED,
            "dropped": None,
        },
    ]
    # A later car finds the owner there.
    assert described(booth.send(car("a", "00:07:00"))) == [
        "a 00:07:00 east -> ann in 00:05-00:10, UNKNOWN"
    ]
    # A second owner corrects the pane, and what has gone is not called back.
    assert booth.send(owner("a", "00:04:00", "bob")) == []
    # What arrives together with a correction sees it.
    assert described(booth.send(car("a", "00:02:00"), owner("a", "00:08:00", "cid"))) == [
        "a 00:02:00 east -> ann in 00:00-00:05, UNKNOWN",
        "a 00:02:00 east -> bob in 00:00-00:05, UNKNOWN",
        "a 00:02:00 east -> cid in 00:00-00:05, UNKNOWN",
    ]


@pytest.mark.nightly
def test_a_restart_between_any_two_micro_batches_changes_nothing(feed: MakeFeed) -> None:
    booth = Booth(feed)

    def sent(*rows: Row) -> list[str]:
        booth.start()
        found = described(booth.send(*rows))
        booth.stop()
        return found

    assert sent(car("a", "00:01:00"), car("b", "00:02:00"), car("c", "00:03:00")) == []
    assert sent(owner("b", "00:01:00", "bob")) == ["b 00:02:00 east -> bob in 00:00-00:05, UNKNOWN"]
    assert sent(car("b", "00:06:00"), owner("b", "00:05:00", "ben")) == [
        "b 00:06:00 east -> ben in 00:05-00:10, UNKNOWN",
        "b 00:06:00 east -> bob in 00:05-00:10, UNKNOWN",
    ]
    assert sent(car("a", "00:12:00", "west"), owner("a", "00:31:00", "ann")) == [
        "a 00:01:00 east -> None in 00:00-00:05, UNKNOWN",
        "a 00:12:00 west -> None in 00:10-00:15, UNKNOWN",
        "c 00:03:00 east -> None in 00:00-00:05, UNKNOWN",
    ]
    assert sent(car("a", "00:31:00")) == ["a 00:31:00 east -> ann in 00:30-00:35, UNKNOWN"]
    assert sent(car("b", "00:21:00"), car("b", "00:04:00")) == [
        "b 00:21:00 east -> None in 00:20-00:25, UNKNOWN",
        f'look up: expired by 660001 ms {{"plate":"b","at":"{AT_FOUR}","lane":"east"}}',
    ]


@pytest.mark.nightly
def test_what_waits_holds_back_the_grouping_that_follows(feed: MakeFeed) -> None:
    def count(stream: bl.Stream) -> bl.Stream:
        return stream.group("owner", {"cars": bl.count()}, **SMALL)

    booth = Booth(feed, trigger=bl.DefaultTrigger())
    booth.start(count)
    # The windows of five minutes are over, and the owners of ten minutes are not known yet.
    assert (
        booth.send(car("a", "00:01:00"), car("b", "00:02:00"), owner("a", "00:02:00", "ann")) == []
    )
    assert booth.send(car("a", "00:09:00"), owner("b", "00:09:00", "ann")) == []
    counted = booth.send(car("z", "00:12:00"), owner("z", "00:12:00", "zoe"))
    assert [
        (row["owner"], row["cars"], row["window"]["start"][11:16], row["pane"]["timing"])
        for row in sorted(counted, key=lambda row: row["window"]["start"])
    ] == [("ann", 2, "00:00", "ON_TIME"), ("ann", 1, "00:05", "ON_TIME")]


@pytest.mark.nightly
def test_of_a_side_input_that_retracts_only_results_are_seen(feed: MakeFeed) -> None:
    booth = Booth(feed, accumulation="retracting")
    booth.start()
    assert booth.send(car("a", "00:01:00"), owner("y", "00:02:00", "yan")) == []
    assert described(booth.send(owner("a", "00:02:00", "ann"))) == [
        "a 00:01:00 east -> ann in 00:00-00:05, UNKNOWN"
    ]
    assert described(booth.send(car("a", "00:03:00"), owner("a", "00:03:00", "bob"))) == [
        "a 00:03:00 east -> ann in 00:00-00:05, UNKNOWN",
        "a 00:03:00 east -> bob in 00:00-00:05, UNKNOWN",
    ]
    assert booth.send(car("z", "00:25:00"), owner("y", "00:25:00", "yan")) == []
    # A late owner withdraws a pane and replaces it. One pane is too late for any car, not two.
    assert described(booth.send(owner("a", "00:04:00", "cid"))) == [
        'look up: expired by 300001 ms {"plate":"a","side":[{"owner":"ann"},'
        '{"owner":"bob"},{"owner":"cid"}]}'
    ]


# -- bounded data ----------------------------------------------------------------------------


@pytest.fixture
def cars(spark: Any) -> Any:
    return spark.createDataFrame(
        [
            ("a", "2020-01-01 00:01:00Z", "east"),
            ("b", "2020-01-01 00:02:00Z", "west"),
            ("a", "2020-01-01 00:11:00Z", "west"),
            ("c", "2020-01-01 00:03:00Z", "east"),
            (None, "2020-01-01 00:03:00Z", "east"),
        ],
        "plate string, at string, lane string",
    )


@pytest.fixture
def owners(spark: Any) -> Any:
    return spark.createDataFrame(
        [
            ("a", "2020-01-01 00:08:00Z", "ann"),
            ("a", "2020-01-01 00:09:00Z", "bob"),
            ("b", "2020-01-01 00:09:59.999Z", "ben"),
            ("c", "2020-01-01 00:10:00Z", "cid"),
        ],
        "id string, since string, owner string",
    )


def looking(cars: Any, owners: Any, how: Any) -> bl.Stream:
    side = bl.stream(owners, timestamp="since").window(TEN).select("id", "owner")
    return bl.look_up(bl.stream(cars, timestamp="at").window(FIVE), side, ON, how, **SMALL)


FOUND = [
    "a 00:01:00 east -> ann in 00:00-00:05, UNKNOWN",
    "a 00:01:00 east -> bob in 00:00-00:05, UNKNOWN",
    "b 00:02:00 west -> ben in 00:00-00:05, UNKNOWN",
]
NO_PLATE = 'look up: null_key {"plate":null,"at":"2020-01-01 00:03:00Z","lane":"east"}'


def test_left_keeps_cars_without_owner_and_inner_leaves_them_out(cars: Any, owners: Any) -> None:
    assert described(shown(looking(cars, owners, "inner").everything)) == [*FOUND, NO_PLATE]
    assert described(shown(looking(cars, owners, "left").everything)) == sorted(
        [
            *FOUND,
            "a 00:11:00 west -> None in 00:10-00:15, UNKNOWN",
            "c 00:03:00 east -> None in 00:00-00:05, UNKNOWN",
            NO_PLATE,
        ]
    )


@pytest.mark.nightly
def test_panes_of_a_grouping_look_up_too_and_stay_the_panes_that_they_are(cars: Any, owners: Any):
    sessions = bl.stream(cars.na.drop(), timestamp="at").window(bl.Sessions("2 minutes"))
    lanes = sessions.group("plate", {"lane": bl.count()}, **SMALL)
    side = bl.stream(owners, timestamp="since").window(bl.GlobalWindows()).select("id", "owner")

    assert described(shown(bl.look_up(lanes, side, ON, **SMALL).everything)) == [
        "a 00:02:59 1 -> ann in 00:01-00:03, ON_TIME",
        "a 00:02:59 1 -> bob in 00:01-00:03, ON_TIME",
        "a 00:12:59 1 -> ann in 00:11-00:13, ON_TIME",
        "a 00:12:59 1 -> bob in 00:11-00:13, ON_TIME",
        "b 00:03:59 1 -> ben in 00:02-00:04, ON_TIME",
        "c 00:04:59 1 -> cid in 00:03-00:05, ON_TIME",
    ]


def test_a_window_that_depends_on_the_row_reads_columns_that_the_result_need_not_have(
    cars: Any, owners: Any
) -> None:
    by_plate = bl.Sessions(lambda plate: "1 minute" if plate == "a" else "20 minutes")
    main = bl.stream(cars.na.drop(), timestamp="at").window(by_plate)
    side = bl.stream(owners, timestamp="since").window(TEN).select("id", "owner")

    found = bl.look_up(main, side, ON, "inner", window_input="plate", **SMALL)

    assert described(shown(found.everything)) == [
        "a 00:01:00 east -> ann in 00:01-00:02, UNKNOWN",
        "a 00:01:00 east -> bob in 00:01-00:02, UNKNOWN",
    ]


# -- mistakes --------------------------------------------------------------------------------


def test_what_cannot_be_looked_up_is_refused_with_the_reason(cars: Any, owners: Any) -> None:
    main = bl.stream(cars, timestamp="at").window(FIVE)
    side = bl.stream(owners, timestamp="since").window(TEN)
    retracting = main.window(accumulation="retracting", allowed_lateness=0)
    refusals: list[tuple[Any, type[Exception], str]] = [
        (lambda: bl.look_up(main, owners, ON), WindowingError, "side must be a Stream"),
        (lambda: bl.look_up(main, side, ON, "full"), WindowingError, "how must be one of"),  # type: ignore[arg-type]
        (lambda: bl.look_up(main, side, "plate"), ColumnError, "there is no column 'plate'"),
        (lambda: bl.look_up(main, side, {"main": "plate"}), ColumnError, "the stream 'side'"),
        (
            lambda: bl.look_up(main, side.with_columns({"id": F.encode("id", "utf-8")}), ON),
            ColumnError,
            "on: 'plate' of the main stream is string and 'id' of the side stream is binary",
        ),
        (
            lambda: bl.look_up(main, side.with_columns({"lane": F.col("owner")}), ON),
            ColumnError,
            "on: both sides have a column 'lane'",
        ),
        (lambda: bl.look_up(main, side.select("id"), ON), ColumnError, "no column besides its key"),
        (
            lambda: bl.look_up(main, side.window(bl.Sessions("1 minute")), ON),
            WindowingError,
            "Sessions is not allowed in side inputs",
        ),
        (
            lambda: bl.look_up(main.window(bl.GlobalWindows()), side, ON),
            WindowingError,
            "Attempted to get side input window for GlobalWindow",
        ),
        (
            lambda: bl.look_up(retracting.group("plate", {"n": bl.count()}), side, ON),
            UnsupportedError,
            "main: rows that withdraw others cannot look anything up",
        ),
        (
            lambda: bl.look_up(
                main.group("plate", {"n": bl.count()}, name="x"), side, ON, name="x"
            ),
            WindowingError,
            "name='x' is taken",
        ),
    ]
    for call, kind, words in refusals:
        with pytest.raises(kind, match=words):
            call()
