"""Copies of values that functions of users may change."""

import threading
from collections import namedtuple
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import attrs
import pytest

from beamlike.model.copies import own_copies, own_copy

Point = namedtuple("Point", "x y")


@attrs.define
class Basket:
    items: list[str]


UNCHANGEABLE = [
    *(None, True, 1, 1.5, "tea", b"tea", Decimal("1.50"), datetime(2024, 1, 1, tzinfo=UTC)),
    *((), (1, "tea"), ("tea", (2, (3,))), frozenset({1, 2}), Point(1, 2), int, len),
]


@pytest.mark.parametrize("value", UNCHANGEABLE, ids=repr)
def test_what_nothing_can_change_is_not_copied(value: Any) -> None:
    assert own_copy(value) is value or own_copy(value) == value
    if type(value) is not Point:
        assert own_copy(value) is value


@pytest.mark.parametrize(
    "value",
    [
        *([1, 2], [[1], [2]], {"a": 1}, {"a": [1]}, {1, 2}, bytearray(b"tea")),
        *(("tea", [1]), ("tea", ("cake", {"n": [1]})), Point([1], 2), Basket(["tea"])),
    ],
    ids=repr,
)
def test_what_can_change_is_copied_all_the_way_down(value: Any) -> None:
    copy = own_copy(value)
    assert copy == value
    assert copy is not value
    assert type(copy) is type(value)
    assert not changeable_parts(copy) & changeable_parts(value)


def changeable_parts(value: Any) -> set[int]:
    """Which objects in a value can be changed."""
    parts = {id(value)} if isinstance(value, list | dict | set | bytearray | Basket) else set()
    items: Any = ()
    if isinstance(value, dict):
        items = value.values()
    elif isinstance(value, list | tuple):
        items = value
    elif isinstance(value, Basket):
        items = (value.items,)
    return parts.union(*map(changeable_parts, items))


def test_a_list_that_holds_itself_is_copied() -> None:
    value: list[Any] = [1]
    value.append(value)
    copy = own_copy(value)
    assert copy is not value
    assert copy[1] is copy


def test_what_cannot_be_copied_is_given_as_it_is() -> None:
    lock = threading.Lock()
    assert own_copy(lock) is lock
    assert own_copy(["tea", lock])[1] is lock


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([1, "a", None], id="plain"),
        pytest.param([(1, "a"), ()], id="tuples of plain ones"),
        pytest.param([(1, [2]), (1, "a")], id="a list in a tuple"),
        pytest.param([(1, (2, [3]))], id="a list deeper in a tuple"),
        pytest.param([(1, 2), [3], 4], id="a list among others"),
        pytest.param([{1: [2]}, (1,)], id="a dictionary among others"),
    ],
)
def test_of_many_values_each_is_copied_as_one_alone(values: list[Any]) -> None:
    copies = own_copies(values)

    assert copies == values
    assert copies is not values
    for copy, value in zip(copies, values, strict=True):
        assert (copy is value) == (own_copy(value) is value)


def test_of_many_values_none_is_changed_by_a_change_of_its_copy() -> None:
    shared = [2]
    values = [(1, shared), ("a", 0)]

    own_copies(values)[0][1].append(3)

    assert values == [(1, [2]), ("a", 0)]
