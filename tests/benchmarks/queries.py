"""The queries that are timed: DataFrame of events in, DataFrame of results out.

Each makes the columns ``key, start, end`` and its aggregates. What beamlike's own queries add is
named at their function.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.model.aggregates import Aggregate


class PlainSum(bl.CombineFn):
    """A sum as a function of one's own, in plain Python."""

    def create(self) -> int:
        return 0

    def add(self, accumulator: int, values: Sequence[int], timestamps: Sequence[int]) -> int:
        return accumulator + sum(values)

    def merge(self, first: int, second: int) -> int:
        return first + second

    def extract(self, accumulator: int) -> int:
        return accumulator


Query = Callable[[DataFrame], DataFrame]

DELAY: Final = "1 minute"
GAP: Final = "2 minutes"
FIXED: Final = "5 minutes"
SENT_AGAIN: Final = "10 minutes"
"""How late a row may be that is sent again, and how long its key is known."""
ITEMS: Final = 10_000
"""Of how many items rows look up the name."""


def item_name(number: int) -> str:
    """The name of an item."""
    return f"item {number}"


def native_sessions(gap: str = GAP) -> Query:
    """``session_window`` with count and sum."""
    return _native(f"session_window(ts, '{gap}')", n="count(*)", s="sum(v)")


def native_fixed() -> Query:
    """``window`` with count and sum."""
    return _native(f"window(ts, '{FIXED}')", n="count(*)", s="sum(v)")


def native_globally() -> Query:
    """``window`` with the sum of all events, whatever their keys."""

    def query(df: DataFrame) -> DataFrame:
        window = F.window("ts", FIXED).alias("w")
        totals = df.withWatermark("ts", DELAY).groupBy(window).agg(F.sum("v").alias("s"))
        return totals.select("w.start", "w.end", "s")

    return query


def with_items(df: DataFrame) -> DataFrame:
    """The rows with the numbers of their items, for all that look up the names."""
    number = F.substring("key", len("user-") + 1, 20).cast("long")
    return df.withColumn("item", F.pmod(number, F.lit(ITEMS)))


def native_enriched() -> Query:
    """A dictionary that Spark broadcasts, and a function of Python that makes a row of each row."""

    def query(df: DataFrame) -> DataFrame:
        items = {number: item_name(number) for number in range(ITEMS)}
        names = df.sparkSession.sparkContext.broadcast(items)

        @F.udf("key string, name string, v long")
        def with_name(key: str, item: int, v: int) -> tuple[str, str, int]:
            return key, names.value[item].upper(), v

        return with_items(df).select(with_name("key", "item", "v").alias("row")).select("row.*")

    return query


def native_joined() -> Query:
    """A broadcast join with the names of items, and a function of Python for their column."""

    def query(df: DataFrame) -> DataFrame:
        spark = df.sparkSession
        items = [(number, item_name(number)) for number in range(ITEMS)]
        names = F.broadcast(spark.createDataFrame(items, "item long, name string"))
        named = with_items(df).join(names, "item")
        upper = F.udf(str.upper, "string", useArrow=True)
        return named.select("key", upper("name").alias("name"), "v")

    return query


def native_lists() -> Query:
    """``session_window`` with ``collect_list``."""
    return _native(f"session_window(ts, '{GAP}')", vs="collect_list(v)")


def native_first(df: DataFrame) -> DataFrame:
    """``dropDuplicatesWithinWatermark``."""
    rows = df.withWatermark("ts", SENT_AGAIN).dropDuplicatesWithinWatermark(["key"])
    return rows.select("key", "v")


def native_first_counted(df: DataFrame) -> DataFrame:
    """The same before a ``window`` with a count for each value."""
    first = df.withWatermark("ts", SENT_AGAIN).dropDuplicatesWithinWatermark(["key"])
    counted = first.groupBy(F.window("ts", FIXED).alias("w"), "v").agg(F.count("*").alias("n"))
    return counted.select("v", "w.start", "w.end", "n")


def beamlike_first(df: DataFrame) -> DataFrame:
    """`Stream.deduplicate`."""
    return _first(df).rows.select("key", "v")


def beamlike_first_counted(df: DataFrame) -> DataFrame:
    """The same before `FixedWindows` with a count for each value."""
    return _counted(_first(df))


def values_counted(df: DataFrame) -> DataFrame:
    """The same without `Stream.deduplicate`: what it adds is the rest."""
    return _counted(bl.stream(df, timestamp="ts", watermark=SENT_AGAIN))


def _first(df: DataFrame) -> Any:
    return bl.stream(df, timestamp="ts", watermark=SENT_AGAIN).deduplicate("key", within=SENT_AGAIN)


def _counted(rows: Any) -> DataFrame:
    windows = rows.window(bl.FixedWindows(FIXED)).group("v", {"n": bl.count()})
    counted: DataFrame = windows.rows.select("v", "window.start", "window.end", "n")
    return counted


def _native(window: str, **aggregates: str) -> Query:
    def query(df: DataFrame) -> DataFrame:
        grouped = df.withWatermark("ts", DELAY).groupBy(F.expr(window).alias("w"), "key")
        results = grouped.agg(*(F.expr(sql).alias(name) for name, sql in aggregates.items()))
        return results.select("key", "w.start", "w.end", *aggregates)

    return query


def beamlike_sessions(gap: str = GAP) -> Query:
    """`Sessions` with count and sum, default trigger."""
    return _beamlike(bl.Sessions(gap), n=bl.count(), s=bl.sum("v"))


def beamlike_fixed() -> Query:
    """`FixedWindows` with count and sum, default trigger."""
    return _beamlike(bl.FixedWindows(FIXED), n=bl.count(), s=bl.sum("v"))


def beamlike_lists() -> Query:
    """`Sessions` with all values, default trigger."""
    return _beamlike(bl.Sessions(GAP), vs=bl.collect("v"))


def beamlike_own_sum() -> Query:
    """`Sessions` with a combine function of one's own, over a typed column."""
    sum_of_own = bl.combine(PlainSum(), "v", returns="long", accumulator="long")
    return _beamlike(bl.Sessions(GAP), s=sum_of_own)


def native_twice(df: DataFrame) -> DataFrame:
    """Sessions, then how many of them end in each window of ``FIXED``, by ``window_time``."""
    sessions = df.withWatermark("ts", DELAY).groupBy(F.session_window("ts", GAP).alias("w"), "key")
    counted = sessions.agg(F.count("*").alias("n"))
    ended = counted.withColumn("at", F.window_time("w")).groupBy(F.window("at", FIXED).alias("w"))
    totals = ended.agg(F.count("*").alias("sessions"), F.sum("n").alias("n"))
    return totals.select("w.start", "w.end", "sessions", "n")


def beamlike_twice(df: DataFrame) -> DataFrame:
    """The same with `Stream.group`."""
    sessions = bl.stream(df, timestamp="ts", watermark=DELAY).window(bl.Sessions(GAP))
    counted = sessions.group("key", {"n": bl.count()})
    totals = counted.window(bl.FixedWindows(FIXED)).group(
        [], {"sessions": bl.count(), "n": bl.sum("n")}
    )
    return totals.rows.select("window.start", "window.end", "sessions", "n")


class Numbered:
    """Numbers the rows of a key, and keeps their sum."""

    seen = bl.state("value")

    def process(self, row: Any, seen: Any) -> Iterator[tuple[int]]:
        n, total = seen.read() or (0, 0)
        seen.write((n + 1, total + row.v))
        yield (n + 1,)


def beamlike_states(df: DataFrame) -> DataFrame:
    """A function with a state for each key, as `Stream.apply_per_key` takes it."""
    rows = bl.stream(df, timestamp="ts", watermark=DELAY)
    return rows.apply_per_key("key", Numbered(), returns="n long").rows.select("key", "n")


def beamlike_tree(accumulation: str) -> Query:
    """`Sessions` with early, on-time and late panes, and ten minutes of allowed lateness.

    The early trigger counts. One that waits for the clock would fire the more often the slower a
    contender is, and two runs would never give the same panes.

    Adds the columns ``timing`` and ``index``, and ``retraction`` if it retracts.
    """

    def query(df: DataFrame) -> DataFrame:
        panes = _panes(
            df,
            bl.Sessions(GAP),
            {"n": bl.count(), "s": bl.sum("v")},
            trigger=bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1)),
            accumulation=accumulation,
            allowed_lateness="10 minutes",
        )
        retraction = ["retraction"] if accumulation == "retracting" else []
        window = ("window.start", "window.end")
        return panes.select("key", *window, "n", "s", "pane.timing", "pane.index", *retraction)

    return query


def _beamlike(window: bl.WindowFn, **aggregates: Aggregate) -> Query:
    def query(df: DataFrame) -> DataFrame:
        panes = _panes(df, window, aggregates)
        return panes.select("key", "window.start", "window.end", *aggregates)

    return query


def _panes(
    df: DataFrame, window: bl.WindowFn, aggregates: dict[str, Aggregate], **options: Any
) -> DataFrame:
    return bl.windowed(
        df,
        key="key",
        timestamp="ts",
        watermark=DELAY,
        window=window,
        aggregate=aggregates,
        **options,
    )
