"""`Stream.deduplicate` over tables: the first row of each key and window, in one step."""

from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import beamlike as bl
from beamlike.errors import ColumnError

START = datetime(2020, 1, 1, tzinfo=UTC)
COLUMNS = pa.schema([("k", pa.string()), ("at", pa.timestamp("us", "UTC")), ("v", pa.int64())])


@attrs.frozen
class NeverAtTen(bl.WindowFn):
    """Windows of a user's own, which has none for the tenth minute."""

    def assign(self, timestamp: int, value: object = None) -> tuple[Any, ...]:
        if timestamp == 10 * 60_000 + int(START.timestamp() * 1000):
            raise ValueError("not at ten")
        return bl.FixedWindows("5 minutes").assign(timestamp)


def table(rows: list[tuple[str | None, int]]) -> pa.Table:
    columns = [
        {"k": key, "at": START + timedelta(minutes=minute), "v": number}
        for number, (key, minute) in enumerate(rows)
    ]
    return pa.Table.from_pylist(columns, COLUMNS)


def first_rows(rows: list[tuple[str | None, int]], window: bl.WindowFn, **options: Any) -> Any:
    stream = bl.stream(table(rows), timestamp="at").window(window)
    return stream.deduplicate("k", within="1 hour", **options)


@pytest.mark.parametrize("time", ["event", "processing"])
@given(rows=st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(0, 30)), max_size=30))
def test_the_first_row_of_each_key_and_window_goes_on(rows: list[tuple[str, int]], time: str):
    found = first_rows(rows, bl.FixedWindows("5 minutes"), time=time).rows
    first: dict[tuple[str, int], int] = {}
    for number, (key, minute) in enumerate(rows):
        first.setdefault((key, minute // 5), number)
    assert sorted(found.column("v").to_pylist()) == sorted(first.values())


def test_a_row_in_several_windows_is_the_first_in_each() -> None:
    rows = first_rows([("a", 0), ("a", 5), ("b", 5)], bl.SlidingWindows("10 min", "5 min")).rows
    starts = [(START + timedelta(minutes=minute)) for minute in (-5, 0, 5)]
    assert sorted([(row["k"], row["v"], row["window"]["start"]) for row in rows.to_pylist()]) == [
        ("a", 0, starts[0]),
        ("a", 0, starts[1]),
        ("a", 1, starts[2]),
        ("b", 2, starts[1]),
        ("b", 2, starts[2]),
    ]


def test_rows_without_a_key_or_a_window_are_dropped_and_no_others() -> None:
    stream = first_rows([("a", 0), ("a", 10), (None, 1), ("a", 11), ("a", 12)], NeverAtTen())
    assert sorted(stream.rows.column("v").to_pylist()) == [0, 3]
    reasons = [row["dropped"]["reason"] for row in stream.dropped.to_pylist()]
    assert sorted(reasons) == ["failed", "null_key"]


def test_values_of_any_type_go_on_as_they_are() -> None:
    columns = {
        "k": [1, 1, 2],
        "at": [START] * 3,
        "listed": [[1, None], [], None],
        "struct": [{"x": 0.5}, None, {"x": None}],
        "day": [START.date(), None, START.date()],
    }
    given_rows = pa.table(columns)
    rows = bl.stream(given_rows, timestamp="at").deduplicate("k", within="1 hour").rows
    assert rows.sort_by("k").select(list(columns)).to_pylist() == [
        given_rows.to_pylist()[0],
        given_rows.to_pylist()[2],
    ]


def test_a_table_without_columns_is_refused_in_words() -> None:
    with pytest.raises(ColumnError) as refused:
        bl.stream(pa.table({}), timestamp="at")
    assert str(refused.value) == "timestamp: there is no column 'at'; there are no columns"
