"""What a column of a schema takes: nothing goes in as something else."""

import pickle
from collections import namedtuple
from dataclasses import make_dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import attrs
import numpy as np
import pytest
from pyspark.sql import types as T

import beamlike.beam as beam
from beamlike.errors import PipelineError, TransformError
from beamlike.hosts.spark.graph.element_rows import ElementColumns
from beamlike.testing import TestPipeline

NOON = beam.Timestamp(1_577_880_000)
"""Noon of 2020-01-01."""
AT_NOON = datetime(2020, 1, 1, 12, tzinfo=UTC)


def columns(**kinds: T.DataType) -> ElementColumns:
    schema = T.StructType([T.StructField(name, kind) for name, kind in kinds.items()])
    return ElementColumns.typed(schema, "'Write'")


def column(dtype: T.DataType, *values: Any) -> list[Any]:
    return columns(c=dtype).table([(value,) for value in values]).column("c").to_pylist()


def refusal(dtype: T.DataType, value: Any) -> str:
    """What is said of a value among others that fit, without the part that is always the same."""
    with pytest.raises(PipelineError) as refused:
        column(dtype, None, value, None)
    before = (
        f"'Write': the element {(value,)!r} has {value!r} for the column 'c', which is declared "
        f"{dtype.simpleString()}; "
    )
    assert str(refused.value).startswith(before), str(refused.value)
    return str(refused.value).removeprefix(before)


@pytest.mark.parametrize("kind", [T.TimestampType(), T.TimestampNTZType()], ids=str)
def test_a_timestamp_goes_into_a_column_of_times(kind: Any) -> None:
    naive = AT_NOON.replace(tzinfo=None)
    found = column(kind, NOON, naive, None)

    assert [it and it.replace(tzinfo=None) for it in found] == [naive] * 2 + [None]
    finer = column(kind, NOON + beam.Duration(micros=1))
    assert [it.microsecond for it in finer] == [1]


def test_a_time_with_a_zone_is_the_same_instant_in_a_column_of_times() -> None:
    elsewhere = AT_NOON.astimezone(timezone(timedelta(hours=2)))

    assert column(T.TimestampType(), AT_NOON, elsewhere) == [AT_NOON, AT_NOON]


def test_a_timestamp_goes_into_a_column_of_days() -> None:
    day = date(2020, 1, 1)
    before = beam.Timestamp(0).predecessor()
    assert column(T.DateType(), NOON, day, before) == [day, day, date(1969, 12, 31)]


def test_a_duration_goes_into_a_column_of_lengths_of_time() -> None:
    second = timedelta(seconds=1)
    assert column(T.DayTimeIntervalType(), beam.Duration(1), second) == [second, second]


def test_times_inside_of_lists_maps_and_structs_are_read_likewise() -> None:
    inner = T.StructType([T.StructField("at", T.TimestampType()), T.StructField("n", T.LongType())])
    Point = namedtuple("Point", "at n")

    assert column(T.ArrayType(T.TimestampType()), [NOON, None], (AT_NOON,), None) == [
        [AT_NOON, None],
        [AT_NOON],
        None,
    ]
    assert column(T.MapType(T.StringType(), T.TimestampType()), {"a": NOON}) == [[("a", AT_NOON)]]
    Made = make_dataclass("Made", ["n", "at"])
    given = [{"at": NOON, "n": 1}, (NOON, 2), Point(NOON, 3), Made(4, NOON)]
    assert column(inner, *given, None) == [
        *({"at": AT_NOON, "n": number} for number in (1, 2, 3, 4)),
        None,
    ]


def test_an_end_of_time_is_in_no_year() -> None:
    assert refusal(T.TimestampType(), beam.utils.timestamp.MIN_TIMESTAMP) == (
        "that is -infinity, in no year from 1 to 9999; give None there, or declare long and give "
        "the milliseconds"
    )
    # The first and the last time that have a year.
    for edge in (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, tzinfo=UTC)):
        assert column(T.TimestampType(), beam.Timestamp.from_utc_datetime(edge)) == [edge]
    first, last = -62_135_596_800_001, 253_402_300_800_000
    for millis, described in ((first, "that is -621355968"), (last, "that is 2534023008")):
        edge_of_years = beam.Timestamp.of_millis(millis)
        assert refusal(T.TimestampType(), edge_of_years).startswith(described)


@pytest.mark.parametrize("number", [1.5e9, 1_577_880_000, np.int64(1_577_880_000_000)])
def test_a_number_is_no_time(number: Any) -> None:
    for kind in (T.TimestampType(), T.DateType(), T.DayTimeIntervalType()):
        assert refusal(kind, number) == (
            "a number may be seconds or milliseconds: write Timestamp(...) or Duration(...) of "
            "beamlike.beam for seconds, Timestamp.of_millis(...) for milliseconds, or declare long"
        )


@pytest.mark.parametrize("kind", [T.ByteType(), T.ShortType(), T.IntegerType(), T.LongType()])
@pytest.mark.parametrize("value", [1.5, 2.0, np.float32(2), np.float64(2.5), float("nan")])
def test_a_float_is_no_integer_also_a_whole_one(kind: Any, value: Any) -> None:
    assert refusal(kind, value) == "declare double, or write round(...)"


def test_what_else_a_column_would_change_is_refused() -> None:
    assert refusal(T.LongType(), True) == "declare boolean, or write int(...)"
    assert refusal(T.DoubleType(), False) == "declare boolean, or write int(...)"
    assert refusal(T.StringType(), 5) == "write str(...), or declare the type that it has"
    assert refusal(T.StringType(), b"a") == "write str(...), or declare the type that it has"
    assert refusal(T.ArrayType(T.LongType()), [1, 1.5]) == "declare double, or write round(...)"
    for kind in (T.ByteType(), T.LongType(), T.DoubleType()):
        assert refusal(kind, np.True_) == "declare boolean, or write int(...)"
    assert refusal(T.BinaryType(), "ab") == "declare string, or write encode()"
    two = T.StructType([T.StructField("a", T.LongType()), T.StructField("b", T.LongType())])
    assert refusal(two, {"a": 1}) == "it has no 'b'"
    assert refusal(two, 7) == "a struct is a mapping or a tuple of a, b"


def test_a_time_of_day_or_a_zone_is_not_lost() -> None:
    for moment in (AT_NOON, datetime(2020, 1, 1, 12), datetime(2020, 1, 1)):
        assert refusal(T.DateType(), moment) == "declare timestamp, or write date()"
    assert refusal(T.TimestampNTZType(), AT_NOON) == (
        "declare timestamp, or write replace(tzinfo=None)"
    )
    assert refusal(T.ArrayType(T.DateType()), [AT_NOON]) == "declare timestamp, or write date()"


@pytest.mark.parametrize("value", [1e300, -1e300, 3.5e38, np.float64(1e300)])
def test_a_number_that_is_too_large_for_a_float_is_refused(value: Any) -> None:
    assert refusal(T.FloatType(), value) == "declare double: it would be infinite"


def test_a_float_is_the_nearest_one_and_infinite_if_it_was() -> None:
    largest, infinite = 3.4028234663852886e38, float("inf")
    given = [0.5, 2, np.float64(0.25), largest, -largest, infinite, None]

    assert column(T.FloatType(), *given) == [0.5, 2.0, 0.25, largest, -largest, infinite, None]
    assert column(T.FloatType(), 0.1) == [float(np.float32(0.1))]
    assert np.isnan(column(T.FloatType(), float("nan"))).all()


def test_booleans_and_bytes_go_into_columns_of_their_own() -> None:
    assert column(T.BooleanType(), True, np.False_, None) == [True, False, None]
    assert column(T.BinaryType(), b"ab", bytearray(b"c"), None) == [b"ab", b"c", None]


OTHERWISE = "declare another type, or convert it before ("


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        (T.LongType(), "x", "Could not convert 'x' with type str"),
        (T.IntegerType(), 2**40, "Value 1099511627776 too large"),
        (T.LongType(), 2**70, "too large to convert"),
        (T.DoubleType(), 2**53 + 1, "outside of the range exactly representable"),
        (T.BooleanType(), 5, "Could not convert 5 with type int"),
        (T.TimestampType(), "noon", "cannot be converted to int"),
        (T.DecimalType(5, 2), 1.5, "int or Decimal object expected"),
        (T.DecimalType(5, 2), Decimal("1.555"), "would cause data loss"),
        (T.ArrayType(T.LongType()), 5, "was not a sequence"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_reported_with_its_column(kind: Any, value: Any, said: str) -> None:
    described = refusal(kind, value)

    assert described.startswith(OTHERWISE)
    assert said in described


def test_a_value_must_be_there_if_the_column_says_so() -> None:
    schema = T.StructType([T.StructField("c", T.LongType(), nullable=False)])
    needed = ElementColumns.typed(schema, "'Write'")

    assert needed.table([1, 2]).column("c").to_pylist() == [1, 2]
    with pytest.raises(PipelineError) as refused:
        needed.table([1, None])
    assert str(refused.value) == (
        "'Write': the element None has None for the column 'c', which is declared bigint; leave "
        "out NOT NULL, or give it a value"
    )


MORE = ["n", "user"]


def test_an_element_has_the_columns_of_the_schema() -> None:
    two = columns(user=T.StringType(), n=T.LongType())
    Game = namedtuple("Game", "n user")

    elements = [("a", 1), {"n": 2, "user": "b", "more": 0}, Game(3, "c")]
    elements += [make_dataclass("Game", MORE)(4, "d"), attrs.make_class("G", MORE)(5, "e")]

    found = two.table(elements)

    assert found.to_pylist() == [
        {"user": name, "n": number} for number, name in enumerate("abcde", start=1)
    ]
    for element, described in (
        (("a",), "the element ('a',) has 1 part, and the schema has 2 columns: user, n"),
        (
            {"usr": "a", "n": 1},
            "the element {'usr': 'a', 'n': 1} has no column 'user'; its columns are 'usr', 'n'",
        ),
        (5, "the element 5 is no row, and the schema has 2 columns: user, n"),
    ):
        with pytest.raises(PipelineError) as refused:
            two.table([("a", 1), element])
        assert str(refused.value) == f"'Write': {described}"


def windowed() -> Any:
    def described(
        tea: str, window: Any = beam.DoFn.WindowParam, at: Any = beam.DoFn.TimestampParam
    ):
        return tea, window.start, at

    return (
        TestPipeline()
        | beam.Create([beam.TimestampedValue("tea", "2020-01-01T12:00:10Z")])
        | beam.WindowInto(beam.FixedWindows("1 minute"))
        | "Described" >> beam.Map(described)
    )


@pytest.mark.spark
def test_the_start_of_a_window_and_the_time_of_an_element_are_times_of_a_table(spark: Any) -> None:
    frame = beam.to_data_frame(windowed(), "what string, start timestamp, at timestamp")

    shown = frame.selectExpr("what", "unix_millis(start)", "unix_millis(at)").collect()

    assert [tuple(row) for row in shown] == [("tea", 1_577_880_000_000, 1_577_880_010_000)]


@pytest.mark.spark
def test_what_does_not_fit_is_reported_with_the_transform_that_writes_it(spark: Any) -> None:
    def keep(rows: Any, number: int) -> None:
        rows.collect()

    numbers = TestPipeline() | beam.Create([("a", 1.5)])
    numbers | "Table" >> beam.WriteRows("what string, n long", keep)

    with pytest.raises(PipelineError, match=r"^'Table': the element \('a', 1\.5\) has "):
        numbers.pipeline.run("spark", spark)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("schema", "described"),
    [
        ("user strng", "Spark cannot read the schema 'user strng'; write it as \"user string, "),
        (5, 'a schema is a text, got 5; write it as "user string, n long"'),
        ("long", "a schema names its columns, got 'long'; write it as "),
    ],
)
def test_a_schema_that_cannot_be_read_says_whose_it_is(spark: Any, schema: Any, described: str):
    with pytest.raises(PipelineError) as refused:
        beam.to_data_frame(windowed(), schema, spark=spark)

    assert str(refused.value).startswith(f"to_data_frame of 'Described': {described}")


GAMES = (
    beam.Row(user="joe", team="red", score=3),
    beam.Row(user="ann", team="red", score=5),
    beam.Row(user="joe", team="blue", score=1),
)


def of(transform: Any) -> list[Any]:
    pcoll = beam.Pipeline() | beam.Create(GAMES) | transform
    return [came.element.value for came in pcoll.pipeline.run().out_of(pcoll.edge)]


def test_one_field_is_the_key_itself():
    joe_red, ann_red, joe_blue = GAMES
    assert of(beam.GroupBy("user")) == [("joe", [joe_red, joe_blue]), ("ann", [ann_red])]
    assert of(beam.GroupBy(lambda game: game.score > 2)) == [
        (True, [joe_red, ann_red]),
        (False, [joe_blue]),
    ]


def test_several_fields_or_named_ones_are_a_named_tuple():
    (first, *_) = of(beam.GroupBy("user", colour="team"))
    key, games = first
    assert (key, key.user, key.colour, games) == (("joe", "red"), "joe", "red", [GAMES[0]])
    assert pickle.loads(pickle.dumps(key)) == key
    assert {key.initial for key, _ in of(beam.GroupBy(initial=lambda it: it.user[0]))} == {"j", "a"}


def test_fields_are_aggregated_into_rows():
    total = (
        beam.GroupBy("user")
        .aggregate_field("score", sum, "total")
        .aggregate_field(lambda game: game.team, beam.combiners.CountCombineFn(), "games")
    )
    assert of(total) == [("joe", 4, 2), ("ann", 5, 1)]
    assert of(total)[0]._fields == ("user", "total", "games")
    with pytest.raises(PipelineError, match="has a field 'user' already"):
        beam.GroupBy("user").aggregate_field("score", sum, "user")


def test_a_function_without_a_name_is_called_key():
    by_win = beam.GroupBy(lambda game: game.score > 2)
    assert by_win.default_label() == "GroupBy(key)"
    assert of(by_win.aggregate_field("score", sum, "total")) == [(True, 8), (False, 1)]
    by_two = beam.GroupBy("team", lambda game: game.score > 4)
    assert [key._fields for key, _ in of(by_two)] == [("team", "key1")] * 3


def test_fields_are_selected_and_computed():
    selected = of(beam.Select("user", double=lambda game: 2 * game.score))
    assert selected[0] == beam.Row(user="joe", double=6)
    unnamed = of(beam.Select(lambda game: game.score, "team"))
    assert unnamed[0] == beam.Row(arg00=3, team="red")
    with pytest.raises(
        TransformError, match=r"'Select.name./ToRows' raised AttributeError: Row.us"
    ):
        of(beam.Select("name"))


def test_a_row_is_a_value():
    row = beam.Row(user="joe", score=3)
    assert pickle.loads(pickle.dumps(row)) == row
    assert {row: 1}[beam.Row(user="joe", score=3)] == 1
    assert row != beam.Row(score=3, user="joe")
    assert (list(row), row.as_dict()) == (["joe", 3], {"user": "joe", "score": 3})
    assert repr(row) == "Row(user='joe', score=3)"
    with pytest.raises(AttributeError, match="cannot be changed; make another with score=4"):
        row.score = 4


def test_a_row_has_what_a_named_tuple_has():
    row = beam.Row(user="joe", score=3)
    user, score = row
    assert (user, score, row[0], row[-1], row[:1]) == ("joe", 3, "joe", 3, ("joe",))
    assert (len(row), row._fields, row._asdict()) == (
        2,
        ("user", "score"),
        {"user": "joe", "score": 3},
    )


def test_grouping_by_nothing_makes_one_group():
    [(key, games)] = of(beam.GroupBy())
    assert (key, sorted(game.score for game in games)) == ((), [1, 3, 5])
    [total] = of(beam.GroupBy().aggregate_field("score", sum, "total"))
    assert total.total == 9


def test_a_key_is_a_tuple_if_asked_for():
    keys = [key for key, _ in of(beam.GroupBy("user").force_tuple_keys())]
    assert [(key, key.user) for key in keys] == [(("joe",), "joe"), (("ann",), "ann")]


def test_a_field_is_a_name_or_a_function():
    with pytest.raises(PipelineError, match=r"needs names of fields or functions .*, got 3"):
        beam.GroupBy(3)  # type: ignore[arg-type]
