"""Rows in order of several columns at once, and what lies next to each other then.

Sorting is most of what a bundle costs. Columns that are narrow enough together become one column
of whole numbers, with the row in its last digits: sorting that is many times as fast as sorting by
one column after the other, and no two rows are equal.
"""

import numpy as np

from beamlike.machine.columnar.arrays import Bools, Ints

_DIGITS = 63


def order_of(*columns: Ints) -> Ints:
    """The rows in order of these columns, the first one first. Equal rows stay as they lie."""
    count = len(columns[0])
    if count < 2:
        return np.arange(count)
    digits = (count - 1).bit_length()
    packed, used = np.zeros(count, np.int64), digits
    for column in columns:
        low = int(column.min())
        width = (int(column.max()) - low).bit_length()
        used += width
        if used > _DIGITS:
            return np.lexsort(columns[::-1])
        packed = (packed << width) | (column - low)
    packed = (packed << digits) | np.arange(count)
    packed.sort()
    return packed & ((1 << digits) - 1)


def order_of_windows(key: Ints, start: Ints, end: Ints) -> Ints:
    """Windows by key, start and end. Equal rows stay as they lie."""
    order = order_of(key, start)
    new = starts_of_runs(key[order], start[order])
    ends = end[order]
    if not (~new[1:] & (ends[1:] != ends[:-1])).any():
        return order
    return order[order_of(np.cumsum(new), ends)]


def starts_of_runs(*columns: Ints) -> Bools:
    """Where a row differs from the one before it in any column; the first row does."""
    new = np.ones(len(columns[0]), np.bool_)
    if len(new):
        np.not_equal(columns[0][1:], columns[0][:-1], out=new[1:])
        for column in columns[1:]:
            new[1:] |= column[1:] != column[:-1]
    return new


def greatest_so_far(run: Ints, values: Ints) -> Ints:
    """For each row the greatest value of its run up to there. The runs' numbers ascend."""
    if not len(values):
        return values
    low = int(values.min())
    width = (int(values.max()) - low).bit_length()
    if width + int(run[-1]).bit_length() > _DIGITS:
        known, ranks = np.unique(values, return_inverse=True)
        return known[greatest_so_far(run, ranks)]
    packed = np.maximum.accumulate((run << width) | (values - low))
    return (packed & ((1 << width) - 1)) + low


def among(key: Ints, start: Ints, end: Ints, keys: Ints, starts: Ints, ends: Ints) -> Ints:
    """For each of the first windows its place among the second, the first such; -1: none."""
    count = len(keys)
    all_key, all_start = np.concatenate([keys, key]), np.concatenate([starts, start])
    all_end = np.concatenate([ends, end])
    order = order_of_windows(all_key, all_start, all_end)  # of equal ones the second come first
    new = starts_of_runs(all_key[order], all_start[order], all_end[order])
    place = np.empty(len(order), np.int64)
    place[order] = order[np.nonzero(new)[0]][np.cumsum(new) - 1]
    return np.where(place[count:] < count, place[count:], -1)


def count_before(keys: Ints, known: Ints, key: Ints, instants: Ints, *, ties: bool) -> Ints:
    """How many known instants come before each of these, by key; equal ones if ``ties``."""
    tag = np.concatenate([np.full(len(keys), not ties), np.full(len(key), ties)])
    columns = (np.concatenate([keys, key]), np.concatenate([known, instants]), tag.astype(np.int64))
    order = order_of(*columns)
    before = np.cumsum(order < len(keys))
    counts = np.empty(len(order), np.int64)
    counts[order] = before
    return counts[len(keys) :]
