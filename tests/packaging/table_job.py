"""Queries over tables of pyarrow and tests of queries, as they run with ``beamlike[local]`` alone.

`test_tables` compares what comes out with the same queries over DataFrames of Spark. As a script it
prints everything as JSON; what it was not allowed to import, it has not.
"""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

import beamlike as bl
from beamlike.testing import QueryTest, contain_single_value, in_on_time_pane

ORDERS: Final = pa.table(
    {
        "user": ["ann", "bob", "ann", None, "ann", "bob", "eve"],
        "at": [
            *(
                "2024-05-01 12:01:00",
                "2024-05-01 12:07:00",
                "2024-05-01T12:20:00+00:00",
                "2024-05-01",
            ),
            *("12:00:00", "2024-05-01 13:05:00Z", None),
        ],
        "item": ["tea", "milk", "salt", "tea", "tea", "tea", "milk"],
        "price": ["5", "3.5", "many", "1", "2", None, "7"],
        "wrong": [False, False, True, False, None, False, False],
    }
)
"""With a key that is null, times that cannot be read, and a price that is not a number."""

VISITS: Final = pa.table(
    {
        "user": pa.array(["ann", "ann", "bob", "ann", "bob", "ann"]).dictionary_encode(),
        "since": pa.array(
            [
                datetime(2024, 5, 1, hour, minute, 0, 123456, UTC)
                for hour, minute in ((12, 0), (12, 2), (12, 3), (12, 30), (13, 59), (14, 0))
            ],
            pa.timestamp("ns", "Europe/Berlin"),
        ),
        "paid": pa.array(
            [Decimal(n) / 100 for n in (199, 250, 0, 10, 99999, 1)], pa.decimal128(9, 2)
        ),
        "pages": [["a", "b"], [], None, ["c", None], ["a"], ["b"]],
        "seen": pa.array(
            [{"page": "a", "ms": n} for n in (4, 2, 8, 1, 0, 5)],
            pa.struct([("page", pa.large_string()), ("ms", pa.uint32())]),
        ),
        "day": [date(2024, 5, 1), None, date(1, 1, 1), date(9999, 12, 31), date(2024, 5, 2), None],
        "weight": [0.5, float("nan"), -0.0, None, 1e300, 0.1],
        "raw": [b"\x00\xff", b"", None, b"a", b"b", b"c"],
    }
)
"""Values of many types, some of which SQL does not have."""

PRICES: Final = pa.table(
    {
        "thing": ["tea", "tea", "milk"],
        "from": [datetime(2024, 5, 1, hour, tzinfo=UTC) for hour in (0, 1, 0)],
        "eur": pa.array([3, 4, 2], pa.int32()),
    }
)

FAR: Final = pa.array([2**62, -(2**62), 0, 253_402_300_800_000_000], pa.timestamp("us", "UTC"))
ODD: Final = pa.table(
    {
        "key": pa.nulls(4, pa.string()),
        "since": [datetime(2024, 5, 1, tzinfo=UTC)] * 4,
        "far": FAR,
        "plain": FAR.cast(pa.timestamp("us")),
        "day": pa.array([2**31 - 1, -(2**31), -719_528, None], pa.int32()).cast(pa.date32()),
        "took": pa.array([-3, 0, 86_400_000_000, 90_061_500_000], pa.duration("us")),
        "map": pa.array([[], [("a", 1)], None, [('"', None)]], pa.map_(pa.string(), pa.int32())),
        "nested": pa.StructArray.from_arrays(
            [FAR, pa.ListArray.from_arrays([0, 2, 2, 3, 4], FAR), pa.array([1e7, 1e-4, None, 1.0])],
            ["far", "listed", "weight"],
        ),
        "text": ["\u0000\u2028", '"\\', "\U0001f600", None],
        "flag": [True, False, None, True],
        "raw": [b"\xff\x00", b"", None, b"a"],
    }
)
"""Rows without a key, with values that not all of Python's types hold."""

HOUR: Final = bl.FixedWindows("1 hour")
DAY: Final = bl.FixedWindows("1 day")


def orders_by(**options: Any) -> Callable[[Any], Any]:
    usual = {"key": "user", "window": HOUR, "aggregate": {"n": bl.count()}, "output": "all"}
    return lambda orders: bl.windowed(orders, timestamp="at", **{**usual, **options})


def visits_by(**options: Any) -> Callable[[Any], Any]:
    usual = {"key": "user", "window": HOUR, "output": "all"}
    return lambda visits: bl.windowed(visits, timestamp="since", **{**usual, **options})


def stream_of(orders: Any) -> bl.Stream:
    return bl.stream(orders, timestamp="at").window(HOUR)


def joined(how: Any) -> Callable[[Any, Any], Any]:
    def job(orders: Any, prices: Any) -> Any:
        bought = bl.stream(orders, timestamp="at").window(DAY).select("user", "item")
        priced = bl.stream(prices, timestamp="from").window(DAY)
        keys = {"left": "item", "right": "thing"}
        return bl.join(bought, priced, on=keys, how=how).everything

    return job


def looked_up(how: Any) -> Callable[[Any, Any], Any]:
    def job(orders: Any, prices: Any) -> Any:
        side = bl.stream(prices, timestamp="from").window(DAY)
        keys = {"main": "item", "side": "thing"}
        return bl.look_up(
            stream_of(orders).select("user", "item"), side, on=keys, how=how
        ).everything

    return job


class Numbered:
    """Numbers the rows of a key, and says when it has been quiet."""

    seen, quiet = bl.state(), bl.timer("event")

    def process(self, row: Any, key: Any, timestamp: Any, seen: Any, quiet: Any) -> Iterable[Any]:
        seen.write((seen.read() or 0) + 1)
        quiet.set(timestamp + timedelta(minutes=10))
        yield {"number": seen.read(), "what": f"{key.user} {row['item']} {row.asDict()['price']}"}

    def on_quiet(self, window: Any, seen: Any) -> Iterable[Any]:
        yield seen.read(), f"quiet in {window.start:%H:%M}"


class Longest(bl.CombineFn):
    """The longest text, and of several the last in the alphabet."""

    def create(self) -> str:
        return ""

    def add(self, accumulator: str, values: Sequence[str], timestamps: Sequence[int]) -> str:
        return max([accumulator, *values], key=lambda text: (len(text), text))

    def merge(self, first: str, second: str) -> str:
        return self.add(first, [second], [])


EVERY: Final = {
    "n": bl.count(),
    "paid": bl.sum("paid"),
    "mean": bl.mean("paid"),
    "most": bl.max("paid"),
    "first": bl.first("pages"),
    "pages": bl.collect("pages"),
    "seen": bl.collect("seen"),
    "days": bl.collect_set("day"),
    "heaviest": bl.top("seen", 2, by="paid"),
    "raw": bl.last("raw"),
    "dated": bl.count("day"),
}

EARLY: Final = bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1))

JOBS: Final[dict[str, tuple[Callable[..., Any], tuple[pa.Table, ...]]]] = {
    "fixed": (orders_by(), (ORDERS,)),
    "sliding": (orders_by(window=bl.SlidingWindows("1 hour", "30 minutes")), (ORDERS,)),
    "sessions": (visits_by(window=bl.Sessions("10 minutes"), aggregate=EVERY), (VISITS,)),
    "calendar": (
        visits_by(window=bl.CalendarDays(1, time_zone="Europe/Berlin"), aggregate=EVERY),
        (VISITS,),
    ),
    "global": (orders_by(window=bl.GlobalWindows(), key=[]), (ORDERS,)),
    "types": (visits_by(aggregate=EVERY), (VISITS,)),
    "reference": (visits_by(aggregate=EVERY, machine="reference"), (VISITS,)),
    "keys": (
        visits_by(key=["paid", "day", "raw", "weight"], aggregate={"n": bl.count()}),
        (VISITS,),
    ),
    "discarding": (
        orders_by(trigger=EARLY, allowed_lateness="1 hour", accumulation="discarding"),
        (ORDERS,),
    ),
    "accumulating": (
        orders_by(trigger=EARLY, allowed_lateness="1 hour", accumulation="accumulating"),
        (ORDERS,),
    ),
    "retracting": (
        orders_by(trigger=EARLY, allowed_lateness="1 hour", accumulation="retracting"),
        (ORDERS,),
    ),
    "upserts": (
        orders_by(
            trigger=EARLY,
            allowed_lateness="1 hour",
            accumulation="retracting",
            render="upserts",
            window=bl.Sessions("10 minutes"),
        ),
        (ORDERS,),
    ),
    "texts as numbers": (
        orders_by(aggregate={"sum": bl.sum("price"), "mean": bl.mean("price")}, carry="item"),
        (ORDERS,),
    ),
    "rejected": (orders_by(reject={"it is wrong": "wrong"}), (ORDERS,)),
    "hot keys": (orders_by(hot_key_fanout=3), (ORDERS,)),
    "lifted": (orders_by(lift=True), (ORDERS,)),
    "panes": (orders_by(output="panes"), (ORDERS,)),
    "dropped": (orders_by(output="dropped"), (ORDERS,)),
    "dropped values of many types": (
        visits_by(
            key="key",
            aggregate={"n": bl.count()},
            carry=[name for name in ODD.column_names if name not in ("key", "since")],
            output="dropped",
        ),
        (ODD,),
    ),
    "own function": (
        orders_by(aggregate={"most": bl.combine(Longest(), "item", "string", "string")}),
        (ORDERS,),
    ),
    "where": (
        lambda orders: stream_of(orders).where("not wrong").group("user", {"n": bl.count()}).rows,
        (ORDERS,),
    ),
    "exploded": (
        lambda visits: (
            bl.stream(visits, timestamp="since")
            .window(HOUR)
            .explode("pages", "page")
            .group("page", {"n": bl.count()})
            .everything
        ),
        (VISITS,),
    ),
    "grouped again": (
        lambda orders: (
            stream_of(orders)
            .group(["user", "item"], {"n": bl.count()})
            .group("item", {"users": bl.count(), "n": bl.sum("n")})
            .everything
        ),
        (ORDERS,),
    ),
    "deduplicated": (
        lambda orders: (
            stream_of(orders).deduplicate("item", within="2 hours").select("item").everything
        ),
        (ORDERS,),
    ),
    "per key": (
        lambda orders: (
            stream_of(orders)
            .apply_per_key("user", Numbered(), "number int, what string")
            .everything
        ),
        (ORDERS,),
    ),
    "co-grouped": (
        lambda orders, prices: (
            bl.co_group(
                {
                    "bought": bl.stream(orders, timestamp="at").window(DAY),
                    "priced": bl.stream(prices, timestamp="from").window(DAY),
                },
                {"bought": "item", "priced": "thing"},
            ).everything
        ),
        (ORDERS, PRICES),
    ),
    "flattened": (
        lambda orders, others: (
            bl.flatten([bl.stream(it, timestamp="at") for it in (orders, others)])
            .window(HOUR)
            .group("item", {"n": bl.count()})
            .rows
        ),
        (ORDERS, ORDERS.slice(1, 2)),
    ),
    **{
        f"{how} join": (joined(how), (ORDERS, PRICES)) for how in ("inner", "left", "right", "full")
    },
    **{f"{how} look-up": (looked_up(how), (ORDERS, PRICES)) for how in ("inner", "left")},
    "nothing": (orders_by(), (ORDERS.slice(0, 0),)),
}


def shown(value: Any) -> Any:
    """A value as JSON can have it, times in UTC; lists are in an order of their own."""
    match value:
        case dict():
            return {name: shown(item) for name, item in value.items()}
        case list() | tuple():
            return sorted(map(shown, value), key=repr)
        case datetime():
            return value.astimezone(UTC).isoformat() if value.tzinfo else value.isoformat()
        case date() | Decimal():
            return str(value)
        case bytes():
            return value.hex()
        case float():
            return repr(value)
    return value


def rows_of(table: pa.Table) -> list[Any]:
    return sorted(map(shown, table.to_pylist()), key=repr)


def tested() -> list[Any]:
    """What a test of a query brings out, with rows of two micro-batches and a restart."""

    def hours(orders: Any) -> Any:
        return bl.windowed(
            orders,
            timestamp="at",
            watermark="0 s",
            key="user",
            window=HOUR,
            aggregate={"n": bl.count()},
        )

    with QueryTest(hours, "user string, at timestamp") as query:
        query.send({"user": "ann", "at": "12:01:00"}, {"user": None, "at": "12:02:00"})
        query.restart()
        query.send({"user": "ann", "at": "12:59:00"})
        query.advance_watermark_to("13:00:00")
        query.results.should(
            in_on_time_pane("12:00:00", "13:00:00", contain_single_value(("ann", {"n": 2})))
        )
        return [*map(shown, query.rows)]


def everything() -> dict[str, Any]:
    """The rows of each job, and of the test of a query."""
    rows = {name: rows_of(job(*tables)) for name, (job, tables) in JOBS.items()}
    return rows | {"tested": tested()}


if __name__ == "__main__":
    print(json.dumps(everything()))
    assert "pyspark" not in sys.modules or sys.modules["pyspark"] is None
