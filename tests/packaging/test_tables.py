"""Queries over tables of pyarrow: the rows that Spark gives, without Spark and without PySpark."""

import json
import runpy
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import types as T

import beamlike as bl
from beamlike.errors import ColumnError, UnsupportedError, WindowingError
from beamlike.hosts.local.tables.frame import usual_table
from beamlike.hosts.pyspark_types import spark_schema
from beamlike.testing import QueryTest
from tests.support.queries.rows import ONLY_PANE
from tests.support.zones import session_zone

ROOT: Final = Path(__file__).resolve().parents[2]
JOB: Final = Path(__file__).with_name("table_job.py")
job: Final[dict[str, Any]] = runpy.run_path(str(JOB))
HOUR: Final = bl.FixedWindows("1 hour")
AT: Final = T.StructField("at", T.TimestampType())
COUNT: Final[dict[str, Any]] = {"window": HOUR, "aggregate": {"n": bl.count()}}


class First:
    """Numbers the rows of a key."""

    seen = bl.state()

    def process(self, row: Any, key: Any, seen: Any) -> list[dict[str, Any]]:
        seen.write((seen.read() or 0) + 1)
        return [{"number": seen.read(), "what": repr(key)}]


# -- where there is no PySpark ---------------------------------------------------------------------

NO_PYSPARK: Final = """
import runpy, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pyspark", "py4j", "pandas"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def test_all_of_it_runs_where_pyspark_cannot_be_imported() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", NO_PYSPARK, JOB],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == json.loads(json.dumps(job["everything"]()))


LOADS: Final = """
import sys
import pyarrow as pa
import beamlike as bl
from beamlike.testing import QueryTest
table = pa.table({"user": ["ann"], "at": ["2024-05-01 12:01:00"]})
hour = {"window": bl.FixedWindows("1 hour"), "aggregate": {"n": bl.count()}}
panes = bl.windowed(table, key="user", timestamp="at", **hour)
bl.stream(table, timestamp="at").window(hour["window"]).deduplicate("user").rows
QueryTest(lambda df: bl.windowed(df, key="user", timestamp="at", watermark="0 s", **hour),
          "user string, at timestamp").send({"user": "ann", "at": "12:01:00"})
print(*sorted({name.split(".")[0] for name in sys.modules} & {"pyspark", "py4j"}))
"""


def test_none_of_it_imports_pyspark_where_it_could() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LOADS], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert ran.stdout == "\n"


# -- the rows that Spark gives ---------------------------------------------------------------------


@pytest.mark.spark
@pytest.mark.parametrize("name", job["JOBS"])
def test_a_query_over_tables_gives_the_rows_that_it_gives_over_dataframes(spark: Any, name: str):
    query, tables = job["JOBS"][name]

    over_tables = query(*tables)
    usual = map(usual_table, tables)
    frames = (spark.createDataFrame(it, spark_schema(it.schema)) for it in usual)
    with session_zone(spark, "UTC"):  # that of times without a zone in tables
        over_frames = query(*frames).toArrow()

    assert job["rows_of"](over_tables) == job["rows_of"](over_frames)
    assert over_tables.column_names == over_frames.column_names


def test_a_table_of_panes_comes_back() -> None:
    orders = pa.table(
        {
            "user": ["ann", "bob", "ann"],
            "at": [datetime(2024, 5, 1, 12, minute, tzinfo=UTC) for minute in (1, 2, 30)],
            "price": [Decimal("1.50"), Decimal("2.25"), Decimal("0.25")],
        }
    )

    panes = bl.windowed(
        *(orders,),
        key="user",
        timestamp="at",
        window=HOUR,
        aggregate={"paid": bl.sum("price"), "all": bl.collect("price")},
    )

    noon, one = datetime(2024, 5, 1, 12, tzinfo=UTC), datetime(2024, 5, 1, 13, tzinfo=UTC)
    same = {
        "window": {"start": noon, "end": one},
        "timestamp": datetime(2024, 5, 1, 12, 59, 59, 999_999, UTC),
        "pane": ONLY_PANE,
    }
    ann = {"paid": Decimal("1.75"), "all": [Decimal("1.50"), Decimal("0.25")]}
    bob = {"paid": Decimal("2.25"), "all": [Decimal("2.25")]}
    assert isinstance(panes, pa.Table)
    assert panes.sort_by("user").to_pylist() == [
        {"user": "ann", **same, **ann},
        {"user": "bob", **same, **bob},
    ]
    assert [
        (it.name, str(it.type)) for it in panes.schema if it.name in ("user", "paid", "all")
    ] == [
        ("user", "string"),
        ("paid", "decimal128(13, 2)"),
        ("all", "list<item: decimal128(3, 2)>"),
    ]


def test_a_record_batch_is_a_table_of_one_piece_and_what_is_dropped_is_split_off() -> None:
    (batch,) = job["ORDERS"].combine_chunks().to_batches()
    everything = bl.windowed(batch, key="user", timestamp="at", output="all", **COUNT)

    panes, dropped = bl.split(everything)

    as_panes = bl.windowed(job["ORDERS"], key="user", timestamp="at", output="panes", **COUNT)
    assert panes.equals(as_panes)
    reasons = pc.struct_field(dropped.column("dropped"), "reason").to_pylist()
    assert sorted(reasons) == ["bad_timestamp", "null_key", "null_timestamp"]
    assert bl.explain_plan(panes).startswith(
        "beamlike: columnar machine\n  window: FixedWindows(1h)"
    )


def test_a_stream_over_a_table_may_be_read_as_often_as_one_likes() -> None:
    hours = bl.stream(job["ORDERS"], timestamp="at").window(HOUR).group("user", {"n": bl.count()})

    assert hours.rows.equals(hours.rows)
    assert hours.everything.num_rows == hours.rows.num_rows + hours.dropped.num_rows == 6


def test_times_that_python_has_no_value_for_are_dropped_and_stop_nothing() -> None:
    far = pa.array([0, 2**62, None], pa.timestamp("us"))
    nested = pa.StructArray.from_arrays([far, pa.array([1, 2, 3])], ["far", "n"])
    table = pa.table(
        {
            "at": ["2024-05-01 12:00:00"] * 3,
            "far": far,
            "nested": nested,
            "listed": pa.ListArray.from_arrays([0, 1, 2, 3], far),
            "day": pa.array([0, 10_000_000, None], pa.int32()).cast(pa.date32()),
        }
    )

    def reasons(column: str) -> list[Any]:
        wanted = {"window": HOUR, "aggregate": {"all": bl.collect(column)}, "output": "dropped"}
        dropped = bl.windowed(table, key=[], timestamp="at", **wanted)
        return pc.struct_field(dropped.column("dropped"), "reason").to_pylist()

    assert {name: reasons(name) for name in ("far", "nested", "listed", "day")} == {
        name: ["bad_value"] for name in ("far", "nested", "listed", "day")
    }
    by_day = bl.windowed(table, key="day", timestamp="at", output="dropped", **COUNT)
    kept = bl.windowed(table, key="day", timestamp="at", **COUNT)
    assert pc.struct_field(by_day.column("dropped"), "reason").to_pylist() == [
        "bad_key",
        "null_key",
    ]
    assert kept.num_rows == 1


@pytest.mark.parametrize(
    ("dtype", "values", "becomes"),
    [
        (pa.uint8(), [0, 255], pa.int16()),
        (pa.uint64(), [2**64 - 1], pa.decimal128(20, 0)),
        (pa.float16(), [1.5], pa.float32()),
        (pa.large_string(), ["a"], pa.string()),
        (pa.string_view(), ["a"], pa.string()),
        (pa.binary(2), [b"ab"], pa.binary()),
        (pa.timestamp("s", "Asia/Tokyo"), [0, -(2**62), 2**62], pa.timestamp("us", "UTC")),
        (pa.timestamp("ns"), [-1, 1999], pa.timestamp("us")),
        (pa.date64(), [0], pa.date32()),
        (pa.large_list(pa.uint8()), [[1], None], pa.list_(pa.int16())),
        (pa.list_(pa.int8(), 2), [[1, 2]], pa.list_(pa.int8())),
        (pa.struct([("a", pa.large_string())]), [{"a": "x"}], pa.struct([("a", pa.string())])),
        (pa.map_(pa.large_string(), pa.uint8()), [[("a", 1)]], pa.map_(pa.string(), pa.int16())),
    ],
)
def test_a_type_that_sql_has_not_becomes_one_that_holds_its_values(
    dtype: pa.DataType, values: list[Any], becomes: pa.DataType
) -> None:
    column = usual_table(pa.table({"column": pa.array(values, dtype)})).column("column")

    assert column.type == becomes
    if pa.types.is_timestamp(dtype):
        bound = 2**63 - 1 - (2**63 - 1) % 1_000_000
        expected = [0, -bound, bound] if dtype.unit == "s" else [-1, 1]
        assert column.cast(pa.int64()).to_pylist() == expected
    elif not pa.types.is_temporal(dtype):
        assert column.to_pylist() == values


def test_a_run_end_encoded_column_becomes_a_plain_one() -> None:
    encoded = pc.run_end_encode(pa.array([1, 1, None, 2], pa.uint8()))
    table = pa.table({"column": pa.chunked_array([encoded.slice(1), encoded])})

    column = usual_table(table).column("column")

    assert column.type == pa.int16()
    assert column.to_pylist() == [1, None, 2, 1, 1, None, 2]


def test_a_test_of_a_query_takes_columns_as_a_schema_of_pyarrow() -> None:
    columns = pa.schema([("user", pa.string()), ("at", pa.timestamp("us", "UTC"))])
    returns = pa.schema([("number", pa.int32()), ("what", pa.string())])

    def numbered(orders: Any) -> bl.Stream:
        rows = bl.stream(orders, timestamp="at", watermark="0 s")
        return rows.apply_per_key("user", First(), returns=returns)

    with QueryTest(numbered, columns) as query:
        rows = query.send({"user": "ann", "at": "12:01:00"}, {"user": "ann", "at": "12:02:00"})

    assert [(row["user"], row["number"], row["what"]) for row in rows] == [
        ("ann", 1, "Row(user='ann')"),
        ("ann", 2, "Row(user='ann')"),
    ]


FOREIGN: Final = {
    pa.uint8(): (200, pa.int16()),
    pa.large_string(): ("tea", pa.string()),
    pa.string_view(): ("tea", pa.string()),
    pa.dictionary(pa.int8(), pa.string()): ("tea", pa.string()),
    pa.timestamp("s", "Asia/Tokyo"): (datetime(2024, 5, 1, tzinfo=UTC), pa.timestamp("us", "UTC")),
    pa.list_(pa.large_string()): (["tea", None], pa.list_(pa.string())),
    pa.struct([("n", pa.uint8())]): ({"n": 1}, pa.struct([("n", pa.int16())])),
}
"""Types that SQL has not, a value of each, and the type that holds it there."""


@pytest.mark.parametrize("dtype", FOREIGN, ids=str)
def test_a_declared_type_that_sql_has_not_becomes_one_that_holds_its_values(dtype: pa.DataType):
    value, becomes = FOREIGN[dtype]
    columns = pa.schema([("user", pa.string()), ("at", pa.timestamp("us")), ("value", dtype)])

    class Same:
        def process(self, row: Any) -> Iterable[Any]:
            yield {"same": row.value}

    def values(rows: Any) -> bl.Stream:
        stream = bl.stream(rows, timestamp="at", watermark="0 s")
        same = stream.apply_per_key("user", Same(), pa.schema([("same", dtype)]))
        return same.window(HOUR).group("user", {"values": bl.collect("same")})

    with QueryTest(values, columns) as query:
        query.send({"user": "ann", "at": "12:00:00", "value": value})
        query.restart()
        (row,) = query.advance_watermark_to("14:00:00")

    table = pa.table({"user": ["ann"], "at": ["2024-05-01"], "value": pa.array([value], becomes)})
    stream = bl.stream(table, timestamp="at")
    rows = stream.apply_per_key("user", Same(), pa.schema([("same", dtype)])).rows
    assert row["values"] == [value]
    assert rows.schema.field("same").type == becomes


@pytest.mark.parametrize("dtype", [pa.month_day_nano_interval(), pa.decimal256(40, 2)], ids=str)
def test_a_declared_type_that_nothing_in_sql_stands_for_is_refused(dtype: pa.DataType) -> None:
    columns = pa.schema([("user", pa.string()), ("value", pa.list_(dtype))])
    rows = bl.stream(job["ORDERS"], timestamp="at")

    with pytest.raises(ColumnError) as refused:
        QueryTest(lambda df: df, columns)
    assert str(refused.value) == (
        f"input: column 'value' is array<{dtype}>, and SQL has no such type; declare another one"
    )
    with pytest.raises(ColumnError) as refused:
        rows.apply_per_key("user", First(), columns)
    assert str(refused.value) == (
        f"returns: column 'value' is array<{dtype}>, and SQL has no such type; declare another one"
    )


@pytest.mark.parametrize("collation", ["UTF8_LCASE", "UNICODE_CI_RTRIM"])
def test_a_collation_is_known_where_spark_is_not(collation: str) -> None:
    columns = T.StructType([T.StructField("user", T.StringType(collation)), AT])

    def by_user(orders: Any) -> Any:
        return bl.windowed(orders, key="user", timestamp="at", watermark="0 s", **COUNT)

    with pytest.raises(ColumnError) as refused:
        QueryTest(by_user, columns)
    assert str(refused.value).startswith(
        f"key: column 'user' is string collate {collation}, which Spark groups by other rules than "
        "its characters; make it a plain string first, for example df.withColumn("
    )


# -- what is refused -------------------------------------------------------------------------------

NEEDS: Final = (
    "and a table of pyarrow has none; compute a column with pyarrow.compute and "
    "table.append_column(...) before, and name it here, or make a DataFrame of the table with "
    "bl.local_session().createDataFrame(table)"
)


@pytest.fixture
def without_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """No session, whatever tests ran before in this process."""
    monkeypatch.setattr("beamlike.hosts.expressions.active_session", lambda: None)


@pytest.mark.usefixtures("without_session")
def test_a_condition_in_sql_is_refused_with_what_to_do() -> None:
    orders = bl.stream(job["ORDERS"], timestamp="at")

    with pytest.raises(UnsupportedError) as refused:
        orders.where("price > 3")
    assert str(refused.value) == (
        f"where('price > 3'), which is more than a column of booleans, needs Spark, {NEEDS}"
    )
    with pytest.raises(UnsupportedError) as refused:
        orders.window(HOUR).group("user", {"n": bl.count()}, reject={"cheap": "price < 3"})
    assert str(refused.value) == f"reject= with more than columns of booleans needs Spark, {NEEDS}"


@pytest.mark.parametrize("rows", [[{"user": "ann"}], {"user": ["ann"]}, None, "orders.parquet"])
def test_other_rows_are_refused(rows: Any) -> None:
    with pytest.raises(ColumnError) as refused:
        bl.windowed(rows, key="user", timestamp="at", **COUNT)
    assert str(refused.value).startswith(
        "df must be a DataFrame of Spark or a Table of pyarrow, got "
    )


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (
            pa.array([[1]]),
            "key: column 'k' is array<bigint>, which cannot be grouped by; use its parts as key "
            "columns, or to_json of it",
        ),
        (
            pa.array([None]),
            "key: column 'k' is void: all its values are null, and a row without a key is dropped; "
            "give it values, or leave it out of the key",
        ),
        (
            pa.array([1], pa.decimal256(50, 0)),
            "key: column 'k' is decimal256(50, 0), which cannot be grouped by; cast it first, to a "
            "string or binary for example",
        ),
    ],
)
def test_a_key_without_an_equality_is_refused(column: pa.Array, says: str) -> None:
    table = pa.table({"k": column, "at": ["2024-05-01"]})
    with pytest.raises(ColumnError) as refused:
        bl.windowed(table, key="k", timestamp="at", **COUNT)
    assert str(refused.value) == says


@pytest.mark.spark
def test_tables_and_dataframes_do_not_go_together(spark: Any) -> None:
    table = pa.table({"user": ["ann"], "at": ["2024-05-01 12:00:00"]})
    here = bl.stream(table, timestamp="at").window(HOUR)
    there = bl.stream(spark.createDataFrame(table), timestamp="at").window(HOUR)

    with pytest.raises(WindowingError) as refused:
        bl.flatten([here, there])
    assert str(refused.value) == (
        "rows of pyarrow and DataFrames of Spark cannot go together in one grouping; make a "
        "DataFrame of the table with spark.createDataFrame(table)"
    )


@pytest.mark.spark
def test_expressions_of_spark_are_computed_by_its_session(spark: Any) -> None:
    from pyspark.sql import functions as F

    orders = bl.stream(job["ORDERS"], timestamp="at").window(HOUR)
    dear = orders.with_columns({"dear": F.try_to_number("price", F.lit("9")) > 3}).where("dear")

    panes = dear.where(F.col("user") != "eve").group("user", {"n": bl.count()}).rows

    assert [(row["user"], row["n"]) for row in panes.to_pylist()] == [("ann", 1)]
