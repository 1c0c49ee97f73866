"""Keys of a type: the same from one micro-batch to the next, or refused by name.

That they are grouped as ``groupBy`` does it is tried of every type by `tests/matrix`.
"""

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import functions as F
from pyspark.sql import types as T

import beamlike as bl
from beamlike.dialects import kafka
from beamlike.errors import ColumnError
from tests.support.queries.hours import hourly
from tests.support.queries.rows import MakeFeed, Row
from tests.support.queries.shown import shown
from tests.support.refusals import refusal

pytestmark = pytest.mark.spark


HOUR = bl.FixedWindows("1 hour")
AT = "2020-01-01 00:00:00Z"


SPELLINGS = {
    "float": ("-0.0", "0.0"),
    "double": ("NaN", "nan"),
    "decimal(5,2)": ("1", "1.00"),
    "boolean": ("true", "T"),
    "date": ("2024-01-01", "2024-1-1"),
    "timestamp": ("2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01:00"),
    "timestamp_ntz": ("2024-01-01 00:00", "2024-01-01 00:00:00.000"),
    "bigint": ("7", "+7"),
    "binary": ("x", "x"),
}


def test_a_key_is_the_same_in_the_next_micro_batch_and_after_a_restart(feed: MakeFeed) -> None:
    stream = feed("at timestamp, " + ", ".join(f"`{kind}` string" for kind in SPELLINGS))

    def out() -> Any:
        typed = stream.frame.select(
            "at", *(F.col(f"`{kind}`").cast(kind).alias(f"a {kind}") for kind in SPELLINGS)
        )
        panes = hourly(
            typed,
            key=[f"a {kind}" for kind in SPELLINGS],
            watermark="0 s",
            trigger=bl.Repeatedly(bl.AfterCount(1)),
            accumulation="accumulating",
            allowed_lateness="0 s",
        )
        return panes.select(F.col("a double").cast("string").alias("double"), "n", "pane.index")

    def row(spelling: int) -> Row:
        return {"at": AT} | {kind: both[spelling] for kind, both in SPELLINGS.items()}

    stream.start(out())
    assert stream.send(row(0)) == [{"double": "NaN", "n": 1, "index": 0}]
    assert stream.send(row(1)) == [{"double": "NaN", "n": 2, "index": 1}]
    stream.stop()
    stream.start(out())
    assert stream.send(row(0)) == [{"double": "NaN", "n": 3, "index": 2}]


# -- what is refused -------------------------------------------------------------------------------

NOT_CHARACTERS = "which Spark groups by other rules than its characters; make it a plain string "
PARTS = "which cannot be grouped by; use its parts as key columns, or to_json of it"
REFUSED = {
    "void": (
        "null",
        "void: all its values are null, and a row without a key is dropped; give it values, or "
        "leave it out of the key",
    ),
    "lower case": (
        "'a' collate UTF8_LCASE",
        f"string collate UTF8_LCASE, {NOT_CHARACTERS}first, for example "
        'df.withColumn("k", F.lower(F.collate("k", "UTF8_BINARY")))',
    ),
    "trailing blanks": (
        "'a' collate UTF8_BINARY_RTRIM",
        f"string collate UTF8_BINARY_RTRIM, {NOT_CHARACTERS}first, for example "
        'df.withColumn("k", F.rtrim(F.collate("k", "UTF8_BINARY")))',
    ),
    "both": (
        "'a' collate UTF8_LCASE_RTRIM",
        f"string collate UTF8_LCASE_RTRIM, {NOT_CHARACTERS}first, for example "
        'df.withColumn("k", F.lower(F.rtrim(F.collate("k", "UTF8_BINARY"))))',
    ),
    "unicode": (
        "'a' collate UNICODE",
        f"string collate UNICODE, {NOT_CHARACTERS}first, for example "
        'df.withColumn("k", F.collate("k", "UTF8_BINARY"))',
    ),
    "unicode without case": (
        "'a' collate UNICODE_CI",
        f"string collate UNICODE_CI, {NOT_CHARACTERS}first, for example "
        'df.withColumn("k", F.lower(F.collate("k", "UTF8_BINARY")))',
    ),
    "german without accents": (
        "'a' collate de_CI_AI",
        f"string collate de_CI_AI, {NOT_CHARACTERS}first, for example "
        'df.withColumn("k", F.lower(F.collate("k", "UTF8_BINARY")))',
    ),
    "array": ("array(1)", f"array<int>, {PARTS}"),
    "map": ("map('a', 1)", f"map<string,int>, {PARTS}"),
    "struct": ("struct('a' collate UTF8_LCASE c)", f"struct<c:string collate UTF8_LCASE>, {PARTS}"),
    "variant": ("parse_json('1')", f"variant, {PARTS}"),
    "months": (
        "interval '1' month",
        "interval month, for which there is no Arrow type; cast it first, to a string for example",
    ),
}


def of_kind(spark: Any, sql: str, streaming: bool) -> Any:
    """A frame with a column ``k`` of a type and rows that are never read."""
    if streaming:
        rows = spark.readStream.format("rate").load().withColumnRenamed("timestamp", "at")
    else:
        rows = spark.sql(f"select timestamp '{AT}' at, 1L value")
    return rows.selectExpr("at", "value", f"{sql} as k")


def stream_of(frame: Any) -> bl.Stream:
    watermark = "0 s" if frame.isStreaming else None
    return bl.stream(frame, timestamp="at", watermark=watermark).window(HOUR)


def other_of(frame: Any) -> bl.Stream:
    return stream_of(frame.withColumnRenamed("value", "v")).select("k", "v")


def windowed(frame: Any) -> Any:
    return hourly(frame, key=["value", "k"], watermark="0 s")


def in_dialect(dialect: Any) -> Callable[[Any], Any]:
    return lambda frame: dialect.on_dataframe(frame, key="k", timestamp="at", watermark="0 s")


ASKS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "windowed": (windowed, "key"),
    "group": (lambda frame: stream_of(frame).group(["k"], {"n": bl.count()}), "key"),
    "join": (lambda frame: bl.join(stream_of(frame), other_of(frame), on="k"), "on of 'left'"),
    "co_group": (lambda frame: bl.co_group({"a": stream_of(frame)}, key="k"), "key of 'a'"),
    "look_up": (
        lambda frame: bl.look_up(stream_of(frame), other_of(frame), on="k"),
        "on of 'main'",
    ),
    "kafka": (
        in_dialect(
            kafka.group_by_key()
            .windowed_by(kafka.SessionWindows.of_inactivity_gap_and_grace("1 minute", "0 s"))
            .count()
        ),
        "key",
    ),
}


@pytest.mark.parametrize("streaming", [False, True], ids=["bounded", "streaming"])
@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("kind", REFUSED)
def test_a_key_without_an_equality_that_holds_is_refused_with_what_to_do(
    spark: Any, kind: str, ask: str, streaming: bool
) -> None:
    sql, says = REFUSED[kind]
    asked, argument = ASKS[ask]
    with pytest.raises(ColumnError) as refused:
        asked(of_kind(spark, sql, streaming))
    assert str(refused.value) == f"{argument}: column 'k' is {says}"


def test_a_place_on_earth_is_no_key(spark: Any) -> None:
    if not hasattr(T, "GeometryType"):
        pytest.skip("this Spark has no such type")
    struct_field = T.StructField("at", T.TimestampType())
    schema = T.StructType([struct_field, T.StructField("k", T.GeometryType(0))])
    assert refusal(ColumnError, lambda: hourly(spark.createDataFrame([], schema))) == (
        "key: column 'k' is geometry(0), which cannot be grouped by; cast it first, to a string or "
        "binary for example"
    )


@pytest.mark.parametrize(
    ("collation", "plain"), [("UTF8_LCASE", "lower"), ("UTF8_BINARY_RTRIM", "rtrim")]
)
def test_the_plain_string_that_is_advised_makes_the_groups_of_spark(
    spark: Any, collation: str, plain: str
) -> None:
    rows = spark.sql(f"select timestamp '{AT}' at, explode(array('a', 'A', 'b', 'a ', 'B', 'a')) k")
    collated = rows.withColumn("k", F.collate("k", collation))
    advised = collated.withColumn("k", getattr(F, plain)(F.collate("k", "UTF8_BINARY")))

    ours = [row["n"] for row in shown(hourly(advised))]
    native = [row["count"] for row in collated.groupBy("k").count().collect()]

    assert sorted(ours) == sorted(native)


# -- strings of a collation elsewhere --------------------------------------------------------------


@pytest.mark.parametrize(
    "aggregate",
    [
        *(bl.min("k"), bl.max("k"), bl.top("value", 2, by="k"), bl.bottom("k", 2)),
        *(bl.approx_distinct("k"), bl.count_distinct("k"), bl.collect_set("k")),
    ],
)
def test_an_order_by_characters_is_not_that_of_a_collation(spark: Any, aggregate: Any) -> None:
    frame = of_kind(spark, "'a' collate UTF8_LCASE", streaming=False)
    with pytest.raises(ColumnError) as refused:
        bl.windowed(frame, key=[], timestamp="at", window=HOUR, aggregate={"it": aggregate})
    assert str(refused.value) == (
        f"aggregate 'it': {aggregate.kind} compares strings by their characters, and column 'k' is "
        "string collate UTF8_LCASE; make it a plain string first, for example "
        'df.withColumn("k", F.lower(F.collate("k", "UTF8_BINARY")))'
    )


def test_strings_of_a_collation_are_values_and_times_as_others_are(spark: Any):
    texts = spark.sql(f"select '{AT}' at, explode(array('b', 'A', '5')) v")
    rows = texts.select(*(F.collate(name, "UNICODE_CI").alias(name) for name in ("at", "v")))
    values = {"all": bl.collect("v"), "first": bl.first("v"), "sum": bl.sum("v")}
    panes = hourly(rows.coalesce(1), values, key=[], output="all")
    kept = [(row["all"], row["first"], row["sum"], row["dropped"]) for row in shown(panes)]
    assert [row[:3] for row in kept if row[3] is None] == [(["5"], "5", 5.0)]
    assert [row[3]["reason"] for row in kept if row[3]] == ["bad_value", "bad_value"]
