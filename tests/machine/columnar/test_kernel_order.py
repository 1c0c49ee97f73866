"""Rows in order: the fast way and the others give the same."""

import numpy as np
import pytest

from beamlike.machine.columnar.arrays import (
    Ints,
    WindowRows,
    among,
    count_before,
    greatest_so_far,
    order_of,
    order_of_windows,
)

WIDTHS = (1, 3, 1000, 2**40, 2**62)


def numbers(seed: int, width: int, count: int = 200) -> Ints:
    dice = np.random.default_rng(seed)
    return dice.integers(-width, width, count)


@pytest.mark.parametrize("first", WIDTHS)
@pytest.mark.parametrize("second", WIDTHS)
def test_rows_are_sorted_by_one_column_after_the_other_and_equal_ones_stay(first: int, second: int):
    one, other = numbers(1, first), numbers(2, second)

    assert order_of(one, other).tolist() == np.lexsort((other, one)).tolist()
    assert order_of(one).tolist() == np.argsort(one, kind="stable").tolist()


@pytest.mark.parametrize("width", WIDTHS)
def test_windows_are_sorted_by_key_start_and_end(width: int) -> None:
    key, start, end = numbers(1, 2), numbers(2, 3), numbers(3, width)

    assert order_of_windows(key, start, end).tolist() == np.lexsort((end, start, key)).tolist()


@pytest.mark.parametrize("count", [0, 1])
def test_few_rows_are_in_order(count: int) -> None:
    none = np.zeros(count, np.int64)

    assert order_of(none, none).tolist() == order_of_windows(none, none, none).tolist()
    assert order_of(none).tolist() == list(range(count))
    assert greatest_so_far(none, none).tolist() == [0] * count


@pytest.mark.parametrize("width", WIDTHS)
def test_the_greatest_so_far_begins_anew_in_each_run(width: int) -> None:
    run, values = np.sort(np.abs(numbers(1, 9))), numbers(2, width)

    expected: list[int] = []
    for number in range(10):
        expected += np.maximum.accumulate(values[run == number]).tolist()

    assert greatest_so_far(run, values).tolist() == expected


def test_windows_are_found_among_others() -> None:
    known = np.array([1, 1, 2]), np.array([0, 5, 0]), np.array([9, 9, 9])
    asked = np.array([2, 1, 1, 3]), np.array([0, 5, 0, 0]), np.array([9, 9, 8, 9])

    assert among(WindowRows(*asked), WindowRows(*known)).tolist() == [2, 1, -1, -1]


def test_instants_are_counted_by_key_with_and_without_equal_ones() -> None:
    keys, known = np.array([1, 1, 2]), np.array([3, 7, 1])
    key, asked = np.array([1, 1, 2, 2]), np.array([7, 2, 9, 0])

    # Those of earlier keys come before.
    assert count_before(keys, known, key, asked, ties=True).tolist() == [2, 0, 3, 2]
    assert count_before(keys, known, key, asked, ties=False).tolist() == [1, 0, 3, 2]
