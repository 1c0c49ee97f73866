"""Columns of any kind: lists, and records of which only the places of rows move."""

import attrs
import numpy as np
import pyarrow as pa
import pytest

from beamlike.machine.columnar.arrays import Ints, Lists, PickedRows, concat, keep, put, take

THREE = Lists(np.array([2, 0, 1]), np.array([10, 11, 12]))


@attrs.frozen(eq=False)
class People:
    name: pa.Array
    age: Ints

    def __len__(self) -> int:
        return len(self.age)


def people(*ages: int) -> People:
    return People(pa.array([f"p{age}" for age in ages], pa.string()), np.array(ages, np.int64))


def shown(picked: PickedRows) -> list[tuple[str, int]]:
    read: People = picked.read()
    return list(zip(read.name.to_pylist(), read.age.tolist(), strict=True))


def of_ages(*ages: int) -> list[tuple[str, int]]:
    return [(f"p{age}", age) for age in ages]


@pytest.mark.parametrize(
    ("rows", "lengths", "items"),
    [
        ([2, 0], [1, 2], [12, 10, 11]),
        ([1, 1], [0, 0], []),
        ([2, 1, 2], [1, 0, 1], [12, 12]),
        ([], [], []),
    ],
)
def test_lists_are_taken_with_their_items(rows: list[int], lengths: list[int], items: list[int]):
    taken = THREE.take(np.array(rows, np.int64))

    assert (taken.lengths.tolist(), taken.items.tolist()) == (lengths, items)
    assert taken.first.tolist() == (np.cumsum(lengths) - lengths).tolist()
    assert taken.owner.tolist() == [
        row for row, length in enumerate(lengths) for _ in range(length)
    ]


def test_rows_that_are_picked_are_those_of_the_record() -> None:
    picked = PickedRows.all_of(people(3, 1, 2))

    assert shown(picked) == of_ages(3, 1, 2)
    assert picked.read() is picked.pieces[0]
    assert shown(take(picked, np.array([2, 2, 0]))) == of_ages(2, 2, 3)
    assert shown(keep(picked, np.array([False, True, True]))) == of_ages(1, 2)
    assert [column.tolist() for column in picked.columns("age")] == [[3, 1, 2]]
    assert shown(picked.take(np.array([], np.int64))) == []


def test_rows_of_several_records_lie_below_each_other() -> None:
    one, other, none = PickedRows.all_of(people(3, 1)), PickedRows.all_of(people(2)), people()
    both = concat([take(one, np.array([1])), other])

    assert shown(both) == of_ages(1, 2)
    assert shown(take(both, np.array([1]))) == of_ages(2)
    assert shown(concat([both, take(one, np.array([0])), both])) == of_ages(1, 2, 3, 1, 2)
    assert shown(concat([take(other, np.array([0, 0])), both])) == of_ages(2, 2, 1, 2)
    assert shown(concat([PickedRows.all_of(none), both, PickedRows.all_of(none)])) == of_ages(1, 2)
    assert shown(concat([PickedRows.all_of(none), PickedRows.all_of(none)])) == []
    assert [column.tolist() for column in both.columns("age", "age")] == [[1, 2], [1, 2]]


def test_a_record_is_there_once_however_often_its_rows_come_together() -> None:
    one, other = PickedRows.all_of(people(3, 1)), PickedRows.all_of(people(2))
    moved = concat([one, other])
    for _ in range(20):
        moved = concat([take(moved, np.array([0, 2])), moved, other])

    assert [len(piece) for piece in moved.pieces] == [2, 1]
    assert shown(moved)[-3:] == of_ages(2, 2, 2)


def test_many_records_become_one() -> None:
    moved = PickedRows.all_of(people(0))
    for age in range(1, 30):
        moved = concat([moved, PickedRows.all_of(people(age))])
        assert len(moved.pieces) <= 8

    assert shown(moved) == of_ages(*range(30))


def test_some_rows_give_way_to_others() -> None:
    picked = PickedRows.all_of(people(3, 1, 2))

    changed = put(picked, np.array([0, 2]), PickedRows.all_of(people(7, 8)))

    assert shown(changed) == of_ages(7, 1, 8)
