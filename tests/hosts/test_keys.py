"""Keys as numbers: the same number for the same key, in order of first appearance."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from beamlike.runtime.store.column_state import UNKNOWN, can_number, number_keys
from beamlike.runtime.store.state import key_tuples

NAN = float("nan")
NOON = datetime(2020, 1, 1, 12, tzinfo=UTC)

KEYS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (pa.string(), ["b", "a", None, "", "b", "é"]),
    "whole": (pa.int64(), [2**62, None, -1, 0, 2**62, -1]),
    "tiny": (pa.int8(), [127, -128, None, 127, 0, 0]),
    "flag": (pa.bool_(), [True, None, False, True, False, None]),
    "bits": (pa.binary(), [b"\x00", b"", None, b"\x00", b"\xff", b""]),
    "money": (pa.decimal128(7, 2), [Decimal("1.50"), None, Decimal("-0.05"), Decimal("1.50")]),
    "fortune": (pa.decimal128(38, 0), [Decimal(10**37), Decimal(-(10**37)), Decimal(10**37)]),
    "day": (pa.date32(), [date(2020, 1, 3), date(1969, 12, 31), None, date(2020, 1, 3)]),
    "moment": (pa.timestamp("us", "UTC"), [NOON, None, NOON.replace(hour=3), NOON]),
    "nothing": (pa.null(), [None, None]),
}


def numbered(*columns: pa.ChunkedArray) -> tuple[list[int], list[tuple[Any, ...]]]:
    """The number of each row, and the key of each number."""
    found = number_keys(columns, len(columns[0]))
    assert found.number.dtype == np.int64
    assert [len(column) for column in found.columns] == [found.count] * len(columns)
    return found.number.tolist(), list(
        zip(*(column.to_pylist() for column in found.columns), strict=True)
    )


def in_order(keys: list[tuple[Any, ...]]) -> tuple[list[int], list[tuple[Any, ...]]]:
    """The same, one key after the other."""
    order = list(dict.fromkeys(keys))
    return [order.index(key) for key in keys], order


@pytest.mark.parametrize("name", KEYS)
def test_a_key_of_any_type_has_one_number(name: str) -> None:
    kind, values = KEYS[name]
    column = pa.chunked_array([values[:1], values[1:]], kind)

    assert numbered(column) == in_order([(value,) for value in values])
    assert can_number(kind)


@pytest.mark.parametrize("other", KEYS)
@pytest.mark.parametrize("name", KEYS)
def test_keys_of_two_columns_are_the_same_only_if_both_parts_are(name: str, other: str) -> None:
    (kind, first), (other_kind, second) = KEYS[name], KEYS[other]
    pairs = [(one, another) for one in first for another in second] * 2
    columns = [
        pa.chunked_array([[pair[0] for pair in pairs]], kind),
        pa.chunked_array([[pair[1] for pair in pairs]], other_kind),
    ]

    assert numbered(*columns) == in_order(pairs)


def test_many_columns_of_many_values_stay_apart() -> None:
    rows = [(index % 7, index % 11, index % 13, index % 17, index % 19) for index in range(5_000)]
    columns = [pa.chunked_array([list(column)], pa.int64()) for column in zip(*rows, strict=True)]

    assert numbered(*columns) == in_order(rows)


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_every_nan_is_one_key_and_minus_zero_is_zero_as_in_a_dict(kind: pa.DataType) -> None:
    nan_of_other_bits = np.array([0xFFF8000000000001], np.uint64).view(np.float64)[0]
    values = np.array([NAN, 0.5, 0.0, nan_of_other_bits, np.inf, -0.0, 0.5, -np.inf])
    column = pa.chunked_array([pa.array(values.astype(kind.to_pandas_dtype()))])
    as_in_a_dict = key_tuples([column], len(values))

    number, keys = numbered(column)

    order = list(dict.fromkeys(as_in_a_dict))
    assert number == [order.index(key) for key in as_in_a_dict] == [0, 1, 2, 0, 3, 2, 1, 4]
    assert repr(keys) == repr(order)


@pytest.mark.parametrize("name", KEYS)
def test_keys_of_other_rows_are_found_again_or_unknown(name: str) -> None:
    kind, values = KEYS[name]
    known = pa.chunked_array([values[:1]], kind)
    column = pa.chunked_array([values], kind)

    found = number_keys([known], 1).find([column], len(values))

    assert found.tolist() == [0 if value == values[0] else UNKNOWN for value in values]


def test_keys_of_two_columns_are_found_only_if_both_parts_are() -> None:
    def columns(*rows: tuple[Any, Any]) -> list[pa.ChunkedArray]:
        text, whole = zip(*rows, strict=True)
        return [pa.chunked_array([text], pa.string()), pa.chunked_array([whole], pa.int64())]

    known = number_keys(columns(("a", 1), (None, 2), ("b", None)), 3)
    rows = ("b", None), ("a", 2), ("a", 1), (None, 2), (None, None), ("c", 1), ("a", 3)

    assert known.find(columns(*rows), len(rows)).tolist() == [
        *(2, UNKNOWN, 0, 1),
        *(UNKNOWN, UNKNOWN, UNKNOWN),
    ]


def test_among_no_keys_nothing_is_found_and_without_columns_everything() -> None:
    none = pa.chunked_array([], pa.string())
    some = pa.chunked_array([["a", None]], pa.string())

    assert number_keys([none], 0).find([some], 2).tolist() == [UNKNOWN, UNKNOWN]
    assert number_keys([], 0).find([], 2).tolist() == [UNKNOWN, UNKNOWN]
    assert number_keys([], 3).find([], 2).tolist() == [0, 0]


def test_without_key_columns_everything_is_one_key() -> None:
    found = number_keys([], 3)

    assert (found.number.tolist(), found.columns, found.count) == ([0, 0, 0], [], 1)
    assert key_tuples([], 3) == [()] * 3


def test_no_rows_have_no_keys() -> None:
    empty = pa.chunked_array([], pa.string())

    assert number_keys([], 0).count == 0
    assert numbered(empty) == ([], [])
    assert numbered(empty, empty) == ([], [])


def test_a_key_of_a_nested_type_cannot_be_numbered() -> None:
    assert not can_number(pa.struct([("x", pa.int64())]))
    assert not can_number(pa.list_(pa.string()))


def test_keys_of_more_rows_come_after_those_that_are_known() -> None:
    users, tills = pa.chunked_array([["b", "a", "b"]]), pa.chunked_array([[1, 1, 1]])
    more_users, more_tills = pa.chunked_array([["a", "c", "a"]]), pa.chunked_array([[2, 1, 2]])

    known = number_keys([users, tills], 3)
    both = known.with_more([more_users, more_tills], 3)

    assert (known.number.tolist(), both.number.tolist()) == ([0, 1, 0], [0, 1, 0, 2, 3, 2])
    assert [column.to_pylist() for column in both.columns] == [["b", "a", "a", "c"], [1, 1, 2, 1]]
    assert both.count == 4
