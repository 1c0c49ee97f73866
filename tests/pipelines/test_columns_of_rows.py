"""Rows that stay columns: what comes out is the same, and much less is done for each of them."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import wraps
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import beamlike.beam as beam
from beamlike.errors import PipelineError, TransformError
from beamlike.hosts.spark.graph.reading import AHEAD, AT, Reader, RowColumns
from beamlike.hosts.spark.graph.stages import fused_stage
from beamlike.model.bundle import Bundle, Spans, Windowed
from beamlike.model.coders import Coders
from beamlike.model.column_bundle import ColumnBundle, JoinedBundle
from beamlike.model.combine import Max, Min, Sum
from beamlike.model.panes import NO_FIRING
from beamlike.model.windows import GLOBAL_WINDOW, IntervalWindow
from beamlike.runtime.envelope import is_lifted
from beamlike.runtime.graph.keyed_tables import key_blobs, text_blobs
from beamlike.runtime.graph.keys import key_bytes
from beamlike.runtime.graph.layers import Layers, Spread
from beamlike.runtime.graph.mail import Mail

NUMBER = pa.int64()
START = datetime(2023, 1, 1, tzinfo=UTC)


class StreamOfRows:
    """What `FromDataFrame` asks of a DataFrame before it runs."""

    isStreaming = True
    columns = ("key", "ts", "v")


def batch(numbers: Sequence[Any], dtype: pa.DataType = NUMBER) -> pa.RecordBatch:
    """A row for each number, a second after the one before, as Spark hands them to a worker."""
    times = [START + timedelta(seconds=place) for place in range(len(numbers))]
    millis = [int(time.timestamp() * 1000) for time in times]
    return pa.RecordBatch.from_pydict(
        {
            "key": pa.array([f"user {place % 3}" for place in range(len(numbers))], pa.string()),
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "v": pa.array(numbers, dtype),
            AT: pa.array(millis, pa.int64()),
            AHEAD: pa.array([False] * len(numbers), pa.bool_()),
        }
    )


def sent(build: Callable[[Any], Any], *batches: pa.RecordBatch) -> list[tuple[str, list[Any]]]:
    """What a task sends of rows to the shards of a grouping: its tables, by form."""
    pipeline = beam.Pipeline()
    rows = pipeline | "Rows" >> beam.FromDataFrame(StreamOfRows(), timestamp="ts", watermark=0)
    layers = Layers.of([build(rows).edge.node], [])
    (source,) = (number for number, node in enumerate(layers.nodes) if node in layers.sources)
    read = Reader(layers, source, "ts", True, None, None)
    tables_sent: list[tuple[str, list[Any]]] = []
    for out in fused_stage(Spread(layers, 2, 2), 0, read)(iter(batches)):
        for tables in Mail.opened(out.column("blob").to_pylist()).tables.values():
            tables_sent += (
                ("combined" if is_lifted(table) else "one by one", table.to_pylist())
                for table in tables
            )
    return tables_sent


def total(numbers: Any, fn: Any = sum) -> Callable[[Any], Any]:
    """The sum of numbers in windows of ten seconds."""
    window = beam.WindowInto(beam.window.FixedWindows(10))
    return lambda rows: rows | numbers | window | beam.CombineGlobally(fn).without_defaults()


@pytest.mark.parametrize("fn", [sum, min, max, Sum(), Min(), Max()], ids=str)
@pytest.mark.parametrize("getter", [attrgetter("v"), itemgetter("v")], ids=["attr", "item"])
@pytest.mark.parametrize("declared", [None, int])
def test_a_getter_of_a_column_sends_what_a_function_of_rows_sends(
    fn: Any, getter: Any, declared: type | None
) -> None:
    def numbers(function: Any) -> Any:
        mapped = beam.Map(function)
        return mapped if declared is None else mapped.with_output_types(declared)

    batches = batch([5, -7, 12] * 5), batch([]), batch([1, 2])

    by_column = sent(total(numbers(getter), fn), *batches)

    assert by_column == sent(total(numbers(lambda row: row.v), fn), *batches)
    assert [form for form, _ in by_column] == ["combined"]
    assert [row["count"] for _, rows in by_column for row in rows] == [12, 5]


class Longest(beam.CombineFn):
    """The number with the most digits: a function that gets objects of Python."""

    def create_accumulator(self) -> int:
        return 0

    def add_input(self, accumulator: int, element: int) -> int:
        return max(accumulator, element, key=lambda number: number.bit_length())

    def merge_accumulators(self, accumulators: Any) -> int:
        return max(accumulators, key=lambda number: number.bit_length())

    def extract_output(self, accumulator: int) -> int:
        return accumulator


@pytest.mark.parametrize(
    "fn",
    [sorted, Longest(), beam.combiners.ToListCombineFn()],
    ids=["sorted", "longest", "to list"],
)
@pytest.mark.parametrize("declared", [None, int])
def test_functions_that_add_objects_get_those_of_a_column(fn: Any, declared: type | None) -> None:
    def numbers(function: Any) -> Any:
        mapped = beam.Map(function)
        return mapped if declared is None else mapped.with_output_types(declared)

    by_column = sent(total(numbers(attrgetter("v")), fn), batch([5, -7, 12] * 5))

    assert by_column == sent(total(numbers(lambda row: row.v), fn), batch([5, -7, 12] * 5))


def test_numbers_that_have_to_come_one_by_one_do() -> None:
    at_earliest = beam.WindowInto(
        beam.window.FixedWindows(10),
        timestamp_combiner=beam.window.TimestampCombiner.OUTPUT_AT_EARLIEST,
    )

    def totals(numbers: Any) -> Any:
        return lambda rows: (
            rows | numbers | at_earliest | beam.CombineGlobally(sum).without_defaults()
        )

    by_column = sent(totals(beam.Map(attrgetter("v"))), batch([5, 7, 12]))

    assert by_column == sent(totals(beam.Map(lambda row: row.v)), batch([5, 7, 12]))
    assert [form for form, _ in by_column] == ["one by one"]


@pytest.mark.parametrize("numbers", [[1, None, 3, 4, 5], [2**62, 2**62, 2**62, 2**62, 5]])
def test_what_numpy_would_not_add_up_is_added_by_python(numbers: list[Any]) -> None:
    by_column = sent(total(beam.Map(attrgetter("v"))), batch(numbers))

    assert by_column == sent(total(beam.Map(lambda row: row.v)), batch(numbers))


def test_sums_of_floats_are_not_made_early() -> None:
    by_column = sent(total(beam.Map(attrgetter("v"))), batch([0.5] * 9, pa.float64()))

    assert [form for form, _ in by_column] == ["one by one"]


def test_a_number_of_another_type_than_declared_is_refused() -> None:
    keyed = beam.Map(lambda row: ("key", row.v)).with_output_types(tuple[str, int])
    window = beam.WindowInto(beam.window.FixedWindows(10))

    halves = batch([0.5], pa.float64())
    with pytest.raises(PipelineError) as refusal:
        sent(lambda rows: rows | keyed | window | "Sums" >> beam.CombinePerKey(sum), halves)

    assert str(refusal.value) == (
        "'Sums' groups values that a type hint before it says are int, and got 0.5; mend the hint "
        "or the function, or leave the hint out: values without one may be anything"
    )


@pytest.mark.parametrize("name", ["count", "index", "nothing"])
def test_what_is_no_column_to_python_is_asked_of_the_row(name: str) -> None:
    table = batch([1, 2]).rename_columns(["key", "ts", "count", AT, AHEAD])
    rows = RowColumns(table.select(["key", "ts", "count"]))

    assert rows.picked(name) is None
    assert rows.picked("key").tolist() == ["user 0", "user 1"]  # type: ignore[union-attr]


def test_a_column_of_instants_has_those_of_rows() -> None:
    rows = RowColumns(batch([1, 2]).select(["key", "ts", "v"]))

    assert rows.picked("ts").tolist() == [row.ts for row in rows.tolist()]  # type: ignore[union-attr]
    assert rows.named(1) == {"key": "user 1", "ts": START + timedelta(seconds=1), "v": 2}


def test_a_function_that_raises_for_a_row_is_named_with_it() -> None:
    with pytest.raises(TransformError) as failure:
        sent(total("Halves" >> beam.Map(lambda row: 1 // row.v)), batch([1, 0, 1]))

    assert str(failure.value) == (
        "'Halves' raised ZeroDivisionError: integer division or modulo by zero for Row(key='user "
        "1', ts=datetime.datetime(2023, 1, 1, 0, 0, 1, tzinfo=datetime.timezone.utc), v=0) at "
        "2023-01-01 00:00:01"
    )


def test_a_function_that_raises_stop_iteration_fails_for_its_element() -> None:
    def first(row: Any) -> Any:
        return next(iter([7] if row.v else []))

    with pytest.raises(TransformError) as failure:
        sent(total("First" >> beam.Map(first)), batch([1, 0, 1]))

    assert str(failure.value) == (
        "'First' raised StopIteration:  for Row(key='user 1', ts=datetime.datetime(2023, 1, 1, 0, "
        "0, 1, tzinfo=datetime.timezone.utc), v=0) at 2023-01-01 00:00:01"
    )


def test_arguments_by_name_reach_what_takes_them_by_name() -> None:
    def plain(row: Any, first: int, second: int) -> int:
        return row.v + 10 * first + 100 * second  # type: ignore[no-any-return]

    @wraps(plain)
    def by_name(row: Any, **arguments: int) -> int:
        return plain(row, **arguments)

    def in_another_order(row: Any, second: int, first: int) -> int:
        return plain(row, first, second)

    def by_name_only(row: Any, *, second: int, first: int) -> int:
        return plain(row, first, second)

    for function in (plain, by_name, in_another_order, by_name_only):
        numbers = beam.Map(function, first=1, second=2)
        expected = total(beam.Map(lambda row: row.v + 210))
        assert sent(total(numbers), batch([5] * 8)) == sent(expected, batch([5] * 8))


# -- bundles ------------------------------------------------------------------------------------


def columns(numbers: Sequence[int], window: Any = GLOBAL_WINDOW) -> ColumnBundle:
    times = np.array(numbers, np.int64) * 1000
    if window is None:
        return ColumnBundle([*numbers], times, (times, times + 500))
    return ColumnBundle([*numbers], times, window)


def elements(bundle: Bundle) -> list[Windowed]:
    return [*bundle]


def test_a_bundle_of_columns_has_its_elements() -> None:
    assert elements(columns([3, 4])) == [
        Windowed(3, 3000, (GLOBAL_WINDOW,), NO_FIRING),
        Windowed(4, 4000, (GLOBAL_WINDOW,), NO_FIRING),
    ]
    assert elements(columns([3], None)) == [
        Windowed(3, 3000, (IntervalWindow(3000, 3500),), NO_FIRING)
    ]
    assert elements(columns([3, 4]).with_values(["a", "b"]).part(1, 2)) == [
        Windowed("b", 4000, (GLOBAL_WINDOW,), NO_FIRING)
    ]


def test_joined_bundles_are_one_bundle_and_leave_their_parts_alone() -> None:
    joined, first, second = JoinedBundle(), columns([1, 2]), Bundle.of([Windowed(3, 3000)])
    joined.extend(first)
    joined.extend(second)

    assert joined.parts() == [first, second]
    assert elements(joined) == [*first, *second]
    joined.append(Windowed(4, 4000))
    joined.extend(columns([]))

    assert joined.values == [1, 2, 3, 4]
    assert isinstance(joined.windows, Spans)
    assert (len(joined), len(first), len(second)) == (4, 2, 1)


@given(texts=st.lists(st.text(st.characters(codec="utf-8") | st.sampled_from('"\\\n\x7f é'))))
def test_texts_have_the_same_bytes_alone_and_together(texts: list[str]) -> None:
    assert list(key_blobs(texts, Coders())) == [key_bytes(text) for text in texts]


def test_plain_texts_are_made_bytes_together() -> None:
    assert text_blobs(["", "user 1", "a'b"]) == [b'"s"', b'"suser 1"', b'"sa\'b"']
    assert [text_blobs([text]) for text in ("\n", "\x7f", '"', "\\", "é")] == [None] * 5


def test_elements_at_some_places_stay_columns() -> None:
    picked = columns([3, 4, 5], None).take([2, 0, 0])

    assert isinstance(picked, ColumnBundle)
    assert elements(picked) == [
        Windowed(5, 5000, (IntervalWindow(5000, 5500),), NO_FIRING),
        *[Windowed(3, 3000, (IntervalWindow(3000, 3500),), NO_FIRING)] * 2,
    ]
    assert elements(columns([3, 4]).take([1], ["b"])) == [
        Windowed("b", 4000, (GLOBAL_WINDOW,), NO_FIRING)
    ]
    assert elements(columns([3, 4]).take([])) == []
