"""`windowed` over data that ends: one bundle for each key, then the watermark at infinity."""

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

import beamlike as bl
from tests.support.zones import session_zone

pytestmark = pytest.mark.spark

Shown = Callable[[Any], list[dict[str, Any]]]

ONLY_PANE = {
    "timing": "ON_TIME",
    "index": 0,
    "nonspeculative_index": 0,
    "is_first": True,
    "is_last": True,
}

FLIGHTS = [
    ("UA", "EWR", "2013-01-01 05:15:00Z", 2, "N14228"),
    ("UA", "LGA", "2013-01-01 05:29:00Z", 4, "N24211"),
    ("AA", "JFK", "2013-01-01 05:40:00Z", None, "N619AA"),
    ("UA", "EWR", "2013-01-01 06:00:00Z", -4, None),
    ("AA", "LGA", "2013-01-01 05:59:59Z", 8, "N3ALAA"),
]
FLIGHT = "carrier string, origin string, scheduled string, dep_delay int, tailnum string"


def hour(start: int, **rest: Any) -> dict[str, Any]:
    """Window and timestamp of an hour of 2013-01-01, and the columns between them."""
    return {
        "window": {
            "start": f"2013-01-01T{start:02}:00:00.000Z",
            "end": f"2013-01-01T{start + 1:02}:00:00.000Z",
        },
        **rest,
        "timestamp": f"2013-01-01T{start:02}:59:59.999Z",
        "pane": ONLY_PANE,
    }


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=repr)


@pytest.mark.parametrize(
    "windowing",
    [
        pytest.param({}, id="default-trigger"),
        pytest.param(
            {
                "watermark": "30 minutes",
                "trigger": bl.AfterWatermark(
                    early=bl.AfterProcessingTime("10 seconds"), late=bl.AfterCount(1)
                ),
                "accumulation": "accumulating",
                "allowed_lateness": "6 hours",
            },
            id="early-and-late",
        ),
        pytest.param(
            {
                "trigger": bl.Repeatedly(bl.AfterCount(100)),
                "accumulation": "discarding",
                "allowed_lateness": 0,
            },
            id="count-never-reached",
        ),
    ],
)
def test_each_carrier_and_hour_has_one_pane(
    spark: Any, shown: Shown, windowing: dict[str, Any]
) -> None:
    panes = bl.windowed(
        spark.createDataFrame(FLIGHTS, FLIGHT).coalesce(1),
        key=["carrier"],
        timestamp="scheduled",
        window=bl.FixedWindows("1 hour"),
        aggregate={
            "departures": bl.count(),
            "delay": bl.mean("dep_delay"),
            "tails": bl.collect("tailnum"),
        },
        **windowing,
    )

    rows = shown(panes)

    assert in_order(rows) == in_order(
        [
            {"carrier": "UA"} | hour(5, departures=2, delay=3.0, tails=["N14228", "N24211"]),
            {"carrier": "UA"} | hour(6, departures=1, delay=-4.0, tails=[]),
            {"carrier": "AA"} | hour(5, departures=2, delay=8.0, tails=["N619AA", "N3ALAA"]),
        ]
    )
    names = ["carrier", "window", "departures", "delay", "tails", "timestamp", "pane"]
    assert [list(row) for row in rows] == [names] * 3


def test_the_columns_are_keys_window_aggregates_timestamp_and_pane(spark: Any) -> None:
    call: dict[str, Any] = {
        "key": ["carrier", "origin"],
        "timestamp": "scheduled",
        "window": bl.FixedWindows("1 hour"),
        "aggregate": {
            "departures": bl.count(),
            "delay": bl.mean("dep_delay"),
            "tails": bl.collect("tailnum"),
        },
    }
    flights = spark.createDataFrame(FLIGHTS, FLIGHT)
    panes = (
        "struct<carrier:string,origin:string,window:struct<start:timestamp,end:timestamp>,"
        "departures:bigint,delay:double,tails:array<string>,timestamp:timestamp,"
        "pane:struct<timing:string,index:bigint,nonspeculative_index:bigint,is_first:boolean,"
        "is_last:boolean>"
    )
    dropped = (
        "dropped:struct<stage:string,reason:string,timestamp:timestamp,watermark:timestamp,"
        "missed_ms:bigint,window:struct<start:timestamp,end:timestamp>,"
        "nearest_session:struct<start:timestamp,end:timestamp>,count:bigint,error:string,"
        "element:string>"
    )

    assert bl.windowed(flights, **call).schema.simpleString() == panes + ">"
    for output in ("dropped", "all"):
        schema = bl.windowed(flights, **call, output=output).schema
        assert schema.simpleString() == f"{panes},{dropped}>"


NUMBERS = "k string, at string, i int, f float, d decimal(7,2), s string"


def test_nulls_do_not_count_and_an_aggregate_of_nothing_but_nulls_is_empty(
    spark: Any, shown: Shown
) -> None:
    rows = [
        ("a", "2013-01-01 05:00:00Z", 3, 1.5, "10.25", "x"),
        ("a", "2013-01-01 05:01:00Z", None, None, None, None),
        ("a", "2013-01-01 05:02:00Z", 5, 0.25, "-0.05", "é"),
        ("b", "2013-01-01 05:03:00Z", None, None, None, None),
    ]
    frame = spark.createDataFrame(rows, NUMBERS.replace("decimal(7,2)", "string"))
    panes = bl.windowed(
        frame.withColumn("d", frame.d.cast("decimal(7,2)")).coalesce(1),
        key="k",
        timestamp="at",
        window=bl.FixedWindows("1 hour"),
        aggregate={
            "rows": bl.count(),
            "present": bl.count("i"),
            "sum_i": bl.sum("i"),
            "sum_f": bl.sum("f"),
            "sum_d": bl.sum("d"),
            "mean_i": bl.mean("i"),
            "mean_d": bl.mean("d"),
            "min_i": bl.min("i"),
            "max_d": bl.max("d"),
            "min_s": bl.min("s"),
            "max_s": bl.max("s"),
            "all_i": bl.collect("i"),
            "all_d": bl.collect("d"),
        },
    )

    assert in_order(shown(panes)) == in_order(
        [
            {"k": "a"}
            | hour(
                5,
                rows=3,
                present=2,
                sum_i=8,
                sum_f=1.75,
                sum_d=10.20,
                mean_i=4.0,
                mean_d=5.10,
                min_i=3,
                max_d=10.25,
                min_s="x",
                max_s="é",
                all_i=[3, 5],
                all_d=[10.25, -0.05],
            ),
            {"k": "b"}
            | hour(
                5,
                rows=1,
                present=0,
                sum_i=0,
                sum_f=0.0,
                sum_d=0.00,
                mean_i=None,
                mean_d=None,
                min_i=None,
                max_d=None,
                min_s=None,
                max_s=None,
                all_i=[],
                all_d=[],
            ),
        ]
    )
    types = {name: kind for name, kind in panes.dtypes if name.startswith(("sum", "min", "max"))}
    assert types == {
        "sum_i": "bigint",
        "sum_f": "double",
        "sum_d": "decimal(38,2)",
        "min_i": "int",
        "max_d": "decimal(7,2)",
        "min_s": "string",
        "max_s": "string",
    }


TYPED = (
    "select 'a' k, timestamp '2013-01-01 05:00:00Z' at, date '2013-02-03' day, "
    "timestamp '2013-01-01 05:30:00.123456Z' ts, timestamp_ntz '2013-01-01 05:30:00' ntz, "
    "true yes, X'00ff' bin, cast(1.5 as decimal(3,1)) price, cast(7 as tinyint) tiny"
)
TYPED_VALUES = {
    "day": "2013-02-03",
    "ts": "2013-01-01T05:30:00.123Z",
    "ntz": "2013-01-01T05:30:00.000",
    "yes": True,
    "bin": "AP8=",
    "price": 1.5,
    "tiny": 7,
}


def test_columns_of_every_plain_type_are_keys(spark: Any, shown: Shown) -> None:
    frame = spark.sql(f"{TYPED} union all {TYPED}")

    panes = bl.windowed(
        frame,
        key=list(TYPED_VALUES),
        timestamp="at",
        window=bl.FixedWindows("1 hour"),
        aggregate={"n": bl.count()},
    )

    assert shown(panes) == [TYPED_VALUES | hour(5, n=2)]
    assert panes.dtypes[:7] == [(name, kind) for name, kind in frame.dtypes if name in TYPED_VALUES]


def test_columns_of_every_type_are_aggregated_as_what_they_are(spark: Any, shown: Shown) -> None:
    frame = spark.sql(f"select *, struct(k, price) both, array(tiny) several from ({TYPED})")
    names = list(TYPED_VALUES)

    panes = bl.windowed(
        frame,
        key="k",
        timestamp="at",
        window=bl.FixedWindows("1 hour"),
        aggregate={
            **{f"least {name}": bl.min(name) for name in names},
            **{f"most {name}": bl.max(name) for name in names},
            **{f"all {name}": bl.collect(name) for name in [*names, "both", "several"]},
        },
    )

    assert shown(panes) == [
        {"k": "a"}
        | hour(
            5,
            **{f"least {name}": value for name, value in TYPED_VALUES.items()},
            **{f"most {name}": value for name, value in TYPED_VALUES.items()},
            **{f"all {name}": [value] for name, value in TYPED_VALUES.items()},
            **{"all both": [{"k": "a", "price": 1.5}], "all several": [[7]]},
        )
    ]
    kinds = dict(frame.dtypes)
    assert panes.dtypes[2:-2] == [
        *((f"least {name}", kinds[name]) for name in names),
        *((f"most {name}", kinds[name]) for name in names),
        *((f"all {name}", f"array<{kinds[name]}>") for name in [*names, "both", "several"]),
    ]


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz", "date", "string"])
def test_event_time_may_be_any_kind_of_time(spark: Any, shown: Shown, kind: str) -> None:
    # Without a zone, they are read in that of the session.
    with session_zone(spark, "UTC"):
        frame = spark.sql(f"select 'a' k, cast('2013-01-01' as {kind}) at")
        panes = bl.windowed(
            frame,
            key="k",
            timestamp="at",
            window=bl.FixedWindows("1 hour"),
            aggregate={"n": bl.count()},
        )

        assert shown(panes) == [{"k": "a"} | hour(0, n=1)]


def test_without_key_everything_is_one_group(spark: Any, shown: Shown) -> None:
    panes = bl.windowed(
        spark.createDataFrame(FLIGHTS, FLIGHT),
        key=[],
        timestamp="scheduled",
        window=bl.FixedWindows("1 hour"),
        aggregate={"departures": bl.count()},
    )

    assert in_order(shown(panes)) == [hour(5, departures=4), hour(6, departures=1)]


def test_an_element_counts_in_each_of_its_sliding_windows(spark: Any, shown: Shown) -> None:
    panes = bl.windowed(
        spark.createDataFrame([("a", "2013-01-01 05:10:00Z", 1), ("a", "2013-01-01 05:40:00Z", 2)])
        .toDF("k", "at", "v")
        .coalesce(1),
        key="k",
        timestamp="at",
        window=bl.SlidingWindows("1 hour", "30 minutes"),
        aggregate={"all": bl.collect("v")},
    )

    found = {
        (row["window"]["start"][11:16], row["window"]["end"][11:16]): (row["all"], row["pane"])
        for row in shown(panes)
    }
    assert found == {
        ("04:30", "05:30"): ([1], ONLY_PANE),
        ("05:00", "06:00"): ([1, 2], ONLY_PANE),
        ("05:30", "06:30"): ([2], ONLY_PANE),
    }


def test_sessions_merge_unless_they_only_touch(spark: Any, shown: Shown) -> None:
    times = ["05:00:00", "05:20:00", "05:09:59", "05:19:58", "05:30:00"]
    panes = bl.windowed(
        spark.createDataFrame([("a", f"2013-01-01 {time}Z", time) for time in times])
        .toDF("k", "at", "v")
        .coalesce(1),
        key="k",
        timestamp="at",
        window=bl.Sessions("10 minutes"),
        timestamp_combiner="latest",
        aggregate={"all": bl.collect("v")},
    )

    assert in_order(shown(panes)) == in_order(
        [
            {
                "k": "a",
                "window": {
                    "start": f"2013-01-01T{start}.000Z",
                    "end": f"2013-01-01T{end}.000Z",
                },
                "all": collected,
                "timestamp": f"2013-01-01T{latest}.000Z",
                "pane": ONLY_PANE,
            }
            for start, end, latest, collected in [
                # 05:19:58 and 05:20:00 overlap; 05:20:00 and 05:30:00 are one gap apart.
                ("05:00:00", "05:30:00", "05:20:00", times[:4]),
                ("05:30:00", "05:40:00", "05:30:00", times[4:]),
            ]
        ]
    )


@pytest.mark.parametrize(
    ("combiner", "timestamp"),
    [
        ("end_of_window", None),
        ("earliest", "2013-01-01T05:15:00.000Z"),
        ("latest", "2013-01-01T06:00:00.000Z"),
    ],
)
def test_the_global_window_has_no_bounds_to_show(
    spark: Any, shown: Shown, combiner: str, timestamp: str | None
) -> None:
    panes = bl.windowed(
        spark.createDataFrame(FLIGHTS, FLIGHT).coalesce(1),
        key=[],
        timestamp="scheduled",
        window=bl.GlobalWindows(),
        timestamp_combiner=combiner,
        aggregate={"delay": bl.sum("dep_delay")},
    )

    assert shown(panes) == [
        {
            "window": {"start": None, "end": None},
            "delay": 10,
            "timestamp": timestamp,
            "pane": ONLY_PANE,
        }
    ]


def test_no_rows_give_no_panes(spark: Any, shown: Shown) -> None:
    panes = bl.windowed(
        spark.createDataFrame([], FLIGHT),
        key="carrier",
        timestamp="scheduled",
        window=bl.FixedWindows("1 hour"),
        aggregate={"departures": bl.count()},
    )

    assert shown(panes) == []


@pytest.mark.parametrize("kind", ["float", "double"])
def test_floating_keys_group_as_spark_groups_them(spark: Any, shown: Shown, kind: str) -> None:
    from pyspark.sql import functions as F

    numbers = ["NaN", "0.0", "-0.0", "NaN", "Infinity", "-Infinity", "0.1", "0.1", "-0.1"]
    frame = spark.createDataFrame([(number,) for number in numbers], "text string").select(
        F.col("text").cast(kind).alias("d"), F.lit("2013-01-01 05:00:00Z").alias("at")
    )

    panes = bl.windowed(
        frame.repartition(3),
        key="d",
        timestamp="at",
        window=bl.FixedWindows("1 hour"),
        aggregate={"n": bl.count()},
    )

    expected = frame.groupBy("d").agg(F.count("*").alias("n"))
    assert in_order(shown(panes.select("d", "n"))) == in_order(shown(expected))
    assert len(shown(panes)) == 6


def test_sessions_that_merge_on_touch_are_those_of_spark(spark: Any, shown: Shown) -> None:
    from pyspark.sql import functions as F

    dice, gap = Random(20261121), 10_000
    rows = [
        *(("a millisecond before", at) for at in (0, gap - 1)),
        *(("exactly the gap", at) for at in (0, gap)),
        *(("a millisecond after", at) for at in (0, gap + 1)),
        # Multiples of a fifth of the gap, some a millisecond beside: many lie a gap apart.
        *(
            (key, dice.randrange(800) * gap // 5 + dice.choice([0, 0, 0, -1, 1]))
            for key in "abc"
            for _ in range(150)
        ),
    ]
    dice.shuffle(rows)
    frame = spark.createDataFrame(rows, "k string, ms long")
    frame = frame.selectExpr("k", "ms", "timestamp_millis(ms + 1357000000000) at").repartition(3)

    def panes(**merging: bool) -> list[dict[str, Any]]:
        found = bl.windowed(
            frame,
            key="k",
            timestamp="at",
            window=bl.Sessions(gap, **merging),
            aggregate={"n": bl.count(), "first": bl.min("ms"), "last": bl.max("ms")},
        )
        return in_order(shown(found.select("k", "window", "n", "first", "last")))

    expected = (
        frame.groupBy("k", F.session_window("at", "10 seconds").alias("window"))
        .agg(F.count("*").alias("n"), F.min("ms").alias("first"), F.max("ms").alias("last"))
        .selectExpr("k", "struct(window.start, window.end) window", "n", "first", "last")
    )
    found = panes(merge_touching=True)
    assert found == in_order(shown(expected))
    assert Counter(row["k"] for row in found if " " in row["k"]) == {
        "a millisecond before": 1,
        "exactly the gap": 1,
        "a millisecond after": 2,
    }
    assert len(panes()) > len(found) + 10


@pytest.fixture(scope="module")
def measurements(spark: Any) -> Any:
    """Random rows. Times are even seconds, so no two lie an odd gap apart."""
    dice = Random(20130101)
    rows = [
        (
            dice.choice(["a", "b", "c", "d", "e"]),
            dice.randrange(3),
            1_357_000_000 + 2 * dice.randrange(20_000),
            dice.choice([None, *range(-50, 50)]),
            dice.choice(["", "x", "ż", "zz", None]),
        )
        for _ in range(1_500)
    ]
    frame = spark.createDataFrame(rows, "k string, part int, s long, v int, t string")
    return frame.selectExpr("k", "part", "timestamp_seconds(s) at", "v", "t").repartition(3)


AGGREGATES = {
    "n": bl.count(),
    "present": bl.count("v"),
    "mean": bl.mean("v"),
    "least": bl.min("t"),
    "most": bl.max("v"),
    "all": bl.collect("v"),
}


@pytest.mark.parametrize("kind", ["fixed", "sliding", "sessions"])
def test_random_data_is_grouped_as_spark_groups_it(
    measurements: Any, shown: Shown, kind: str
) -> None:
    from pyspark.sql import functions as F

    mine, theirs = {
        "fixed": (bl.FixedWindows("10 minutes"), F.window("at", "10 minutes")),
        "sliding": (
            bl.SlidingWindows("15 minutes", "5 minutes"),
            F.window("at", "15 minutes", "5 minutes"),
        ),
        "sessions": (bl.Sessions("77 seconds"), F.session_window("at", "77 seconds")),
    }[kind]

    panes = bl.windowed(
        measurements, key=["k", "part"], timestamp="at", window=mine, aggregate=AGGREGATES
    )

    expected = (
        measurements.groupBy("k", "part", theirs.alias("window"))
        .agg(
            F.count("*").alias("n"),
            F.count("v").alias("present"),
            F.avg("v").alias("mean"),
            F.min("t").alias("least"),
            F.max("v").alias("most"),
            F.sort_array(F.collect_list("v")).alias("all"),
        )
        .select("k", "part", "window.start", "window.end", *AGGREGATES)
    )
    found = panes.withColumn("all", F.sort_array("all"))
    found = found.select("k", "part", "window.start", "window.end", *AGGREGATES)
    assert in_order(shown(found)) == in_order(shown(expected))
