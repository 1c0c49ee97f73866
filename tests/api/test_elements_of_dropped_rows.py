"""The ``element`` of a dropped row has one format, which ``from_json`` reads back.

A map is an object in it if its keys are texts, else a list of entries.
"""

from datetime import date
from typing import Any

import attrs
import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import beamlike as bl
from tests.support.queries.hours import hourly

VALUES = {
    "flag": ("boolean", "true"),
    "tiny": ("tinyint", "-128"),
    "whole": ("int", "-2147483648"),
    "large": ("bigint", "9223372036854775807"),
    "small_real": ("float", "float('0.1')"),
    "real": ("double", "double('1e-300')"),
    "nan": ("double", "double('NaN')"),
    "infinite": ("double", "double('-Infinity')"),
    "exact": ("decimal(38,18)", "-99999999999999999999.999999999999999999"),
    "text": ("string", "'ünï \"🎈\" \\\\n'"),
    "bytes": ("binary", "x'00ff10'"),
    "day": ("date", "date'0001-01-01'"),
    "instant": ("timestamp", "timestamp'1582-10-04 23:59:59.999999Z'"),
    "clock": ("timestamp_ntz", "timestamp_ntz'9999-12-31 23:59:59.000001'"),
    "span": ("interval day to second", "interval '-1 02:03:04.000005' day to second"),
    "list": ("array<double>", "array(double('NaN'), null, 0.5)"),
    "row": ("struct<n:int,b:binary>", "named_struct('n', 1, 'b', x'ff')"),
    "by_name": ("map<string,timestamp>", "map('a', timestamp'2020-01-01 00:00:00.000001Z')"),
}


MAPS = {
    "by_number": ("map<int,string>", "map(-1, 'a', 2, null)"),
    "by_real": ("map<double,float>", "map(double('NaN'), float('0.1'), 0.5D, null)"),
    "by_exact": ("map<decimal(38,18),int>", "map(0.5, 1)"),
    "by_bytes": ("map<binary,binary>", "map(x'', x'00ff', x'ff', x'')"),
    "by_day": ("map<date,boolean>", "map(date'0001-01-01', true)"),
    "by_instant": ("map<timestamp,int>", "map(timestamp'1582-10-04 00:00:00.000001Z', 1)"),
    "by_clock": ("map<timestamp_ntz,int>", "map(timestamp_ntz'9999-12-31 23:59:59.000001', 1)"),
    "by_span": ("map<interval day to second,int>", "map(interval '-7' day, 1)"),
    "by_flag": ("map<boolean,int>", "map(true, 1, false, 0)"),
    "by_row": ("map<struct<n:int,s:string>,int>", "map(named_struct('n', 1, 's', null), 1)"),
    "by_list": ("map<array<int>,array<int>>", "map(array(1, null), array())"),
    "of_none": ("map<int,int>", "map()"),
}
"""Maps whose keys are no strings, for which ``from_json`` has no type."""


@attrs.frozen
class Raising(bl.WindowFn):
    """Takes no row."""

    def assign(self, timestamp: int, value: Any = None) -> Any:
        raise ValueError("no window")


def dropped_from(rows: Any, carry: list[str]) -> dict[str, Any]:
    """The dropped rows of a frame of which each row fails, and of which each is refused."""
    rows = rows.withColumn("at", F.lit("2020-01-01 00:00:00Z"))
    how: dict[str, Any] = {"carry": carry, "output": "dropped", "max_failures": 1, "shards": 1}
    return {
        "failed": hourly(rows, window=Raising(), **how),
        "refused": hourly(rows, reject={"unwanted": "true"}, **how),
    }


@pytest.mark.spark
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_every_type_comes_back_from_a_row_that_was_refused_and_from_one_that_failed(
    spark: Any, setting: Any, ansi: str
) -> None:
    setting("spark.sql.ansi.enabled", ansi)
    values = [
        F.expr(f"cast({text} as {kind})").alias(name) for name, (kind, text) in VALUES.items()
    ]
    nulls = [F.lit(None).cast(kind).alias(name) for name, (kind, _) in VALUES.items()]
    one = spark.range(1).select(F.lit("a").alias("k"), *values)
    rows = one.unionByName(spark.range(1).select(F.lit("a").alias("k"), *nulls))
    texts = {}
    for name, dropped in dropped_from(rows, [*VALUES]).items():
        element = F.col("dropped.element")
        read = dropped.select(F.from_json(element, rows.schema).alias("row")).select("row.*")
        assert shown(read) == shown(rows), name
        texts[name] = {row[0] for row in dropped.select(element).collect()}
    time = ',"at":"2020-01-01 00:00:00Z"'
    assert texts["failed"] == {text.replace(time, "") for text in texts["refused"]}


@pytest.mark.spark
def test_maps_of_other_keys_come_back_from_their_entries(spark: Any) -> None:
    values = [F.expr(f"cast({text} as {kind})").alias(name) for name, (kind, text) in MAPS.items()]
    nested = "named_struct('m', array(map(1, map(2, map('a', map(x'00', 3))), 4, null), null))"
    rows = spark.range(1).select(F.lit("a").alias("k"), *values, F.expr(nested).alias("deep"))
    fields = []
    for name in MAPS:
        key, value = rows.schema[name].dataType.keyType, rows.schema[name].dataType.valueType
        parts = f"key:{key.simpleString()},value:{value.simpleString()}"
        fields.append(f"{name} array<struct<{parts}>>")
    deep = (
        "struct<m:array<array<struct<key:int,value:array<struct<key:int,value:"
        "map<string,array<struct<key:binary,value:int>>>>>>>>>"
    )
    for dropped in dropped_from(rows, [*MAPS, "deep"]).values():
        element = F.col("dropped.element")
        read = dropped.select(F.from_json(element, ", ".join([*fields, f"deep {deep}"])).alias("r"))
        maps = [F.map_from_entries(f"r.{name}").alias(name) for name in MAPS]
        assert shown(as_text(read.select(*maps))) == shown(as_text(rows.select(*MAPS)))
        (row,) = read.select("r.deep.m").collect()
        (first, second), missing = row["m"][0], row["m"][1]
        assert missing is None
        assert tuple(second) == (4, None)
        assert first["value"][0]["value"]["a"][0].asDict() == {"key": bytearray(b"\0"), "value": 3}


def as_text(rows: Any) -> Any:
    """Rows in which each map is the text of its entries."""
    return rows.select(*(F.map_entries(name).alias(name) for name in rows.columns))


def shown(rows: Any) -> list[str]:
    """Rows as texts, to the last bit and digit."""
    exact = {"timestampFormat": "yyyy-MM-dd HH:mm:ss.SSSSSSXXX"}
    texts = [F.to_json(F.struct(F.col(name)), exact) for name in rows.columns]
    return sorted("|".join(row) for row in rows.select(*texts).collect())


WRITTEN: dict[str, tuple[pa.DataType, Any, str]] = {
    "texts": (pa.map_(pa.string(), pa.int64()), [("a", 1), ("b", None)], '{"a":1,"b":null}'),
    "numbers": (
        pa.map_(pa.int64(), pa.string()),
        [(-1, "x"), (2, None)],
        '[{"key":-1,"value":"x"},{"key":2,"value":null}]',
    ),
    "bytes": (
        pa.map_(pa.binary(), pa.bool_()),
        [(b"\0\xff", True)],
        '[{"key":"AP8=","value":true}]',
    ),
    "maps": (
        pa.map_(pa.date32(), pa.list_(pa.map_(pa.int64(), pa.int64()))),
        [(date(1582, 10, 4), [[(1, 2)], []])],
        '[{"key":"1582-10-04","value":[[{"key":1,"value":2}],[]]}]',
    ),
    "none": (pa.map_(pa.int64(), pa.int64()), [], "[]"),
}


@pytest.mark.parametrize("keys", WRITTEN)
def test_a_map_is_written_so_that_it_can_be_read(keys: str) -> None:
    dtype, value, text = WRITTEN[keys]
    table = pa.table({"k": ["a"], "at": ["no idea"], "m": pa.array([value], dtype)})
    (row,) = hourly(table, carry="m", output="dropped").to_pylist()
    assert row["dropped"]["element"] == f'{{"k":"a","at":"no idea","m":{text}}}'
