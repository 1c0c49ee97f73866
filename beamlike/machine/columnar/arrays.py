"""Columns of any kind, records of columns, and the operations that work on all of them.

A column has one row for each item of something, mostly for each window. It is a NumPy array, an
Arrow array, `Lists` of rows of other columns, `PickedRows` of another column, a record (a tuple or
an attrs class) of columns of equal length, or None where a machine has no use for it.

Sorting is most of what a bundle costs. Columns that are narrow enough together become one column
of whole numbers, with the row in its last digits: sorting that is many times as fast as sorting by
one column after the other, and no two rows are equal.
"""

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from operator import attrgetter
from typing import Any, Self, TypeVar, cast

import attrs
import numpy as np
import numpy.typing as npt
import pyarrow as pa

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Column = TypeVar("Column")

NOTHING = -(2**63)
"""In a column of whole numbers: no value."""

NEVER = 2**63 - 1
"""In a column of deadlines: no clock passes this."""


_PIECES = 8
"""`PickedRows` refer to at most so many records."""


def nothing(count: int) -> Ints:
    """A column of so many rows without a value."""
    return np.full(count, NOTHING, np.int64)


@attrs.frozen(eq=False)
class Lists:
    """A column of lists. ``items`` has the items of all of them, list by list, in a column."""

    lengths: Ints
    items: Any

    def __len__(self) -> int:
        return len(self.lengths)

    @classmethod
    def empty(cls, count: int, items: Any) -> Self:
        """So many lists without items; ``items`` is a column without rows."""
        return cls(np.zeros(count, np.int64), items)

    @cached_property
    def first(self) -> Ints:
        """For each list, where its items begin."""
        return np.cumsum(self.lengths) - self.lengths

    @cached_property
    def owner(self) -> Ints:
        """For each item, the row of its list."""
        if self.lengths.max(initial=0) <= 1:  # as it mostly is
            return np.nonzero(self.lengths)[0]
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def take(self, rows: Ints) -> Self:
        """The lists of these rows."""
        lengths, first = self.lengths[rows], self.first[rows]
        if lengths.max(initial=0) <= 1:
            places = first[lengths == 1]
        else:
            places = np.repeat(first + lengths - np.cumsum(lengths), lengths)
            places += np.arange(len(places))
        return type(self)(lengths, take(self.items, places))

    def merged(self, first: Ints) -> Self:
        """Lists that lie next to each other joined into one: ``first`` is where each begins."""
        return type(self)(np.add.reduceat(self.lengths, first), self.items)

    def followed_by(self, tails: Self) -> Self:
        """Each list with the items of another after its own."""
        count = len(self)
        stacked = concat([self, tails])
        pairs = np.arange(2 * count).reshape(2, count).T.ravel()
        woven = stacked.take(pairs)
        return type(self)(self.lengths + tails.lengths, woven.items)


@attrs.frozen(eq=False)
class PickedRows:
    """Rows of records that are copied only when they are read.

    Records of many columns move with their windows several times in a step, and few are read. So
    only the places of their rows move.

    Args:
        pieces: Records, taken as one below the other.
        rows: The places of the rows among theirs.
    """

    pieces: tuple[Any, ...]
    rows: Ints

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def all_of(cls, record: Any) -> Self:
        """All rows of a record."""
        return cls((record,), np.arange(len(record)))

    def take(self, rows: Ints) -> Self:
        """These of the rows."""
        return type(self)(self.pieces, self.rows[rows])

    def read(self) -> Any:
        """The rows as a record."""
        return self._read(self.pieces)

    def columns(self, *names: str) -> tuple[Any, ...]:
        """Some columns of the record."""
        pieces = [tuple(getattr(piece, name) for name in names) for piece in self.pieces]
        columns: tuple[Any, ...] = self._read(pieces)
        return columns

    def _read(self, pieces: Sequence[Any]) -> Any:
        lengths = [len(piece) for piece in self.pieces]
        if not len(self.rows):
            return take(pieces[0], self.rows)
        # Mostly they are from one piece.
        stops = np.cumsum(lengths)
        low, high = np.searchsorted(stops, [self.rows.min(), self.rows.max()], side="right")
        joined = concat(pieces[low : high + 1])
        rows = self.rows - (stops[low] - lengths[low])
        everything = len(rows) == sum(lengths[low : high + 1])
        return joined if everything and (np.diff(rows) == 1).all() else take(joined, rows)

    @classmethod
    def joined(cls, parts: "Sequence[PickedRows]") -> "PickedRows":
        """Several of these, one below the other."""
        pieces, starts, total = list[Any](), dict[int, int](), 0
        rows = []
        for part in parts:
            first = 0
            moved = part.rows
            for piece in part.pieces:
                if id(piece) not in starts and (len(piece) or not pieces):
                    pieces.append(piece)
                    starts[id(piece)] = total
                    total += len(piece)
                shift = starts.get(id(piece), 0) - first
                if shift:
                    is_in_piece = (part.rows >= first) & (part.rows < first + len(piece))
                    moved = np.where(is_in_piece, part.rows + shift, moved)
                first += len(piece)
            rows.append(moved)
        joined = cls(tuple(pieces), np.concatenate(rows))
        return joined if len(pieces) <= _PIECES else cls.all_of(joined.read())


@attrs.frozen(eq=False)
class WindowRows:
    """Windows in rows. ``key`` is the number of a key; the caller knows which key that is."""

    key: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.key)


def within(lengths: Ints) -> Ints:
    """For lists of these lengths, the place of each item in its list."""
    place = np.repeat(lengths - np.cumsum(lengths), lengths)
    place += np.arange(len(place))
    return place


def lengths_of(first: Ints, count: int) -> Ints:
    """The lengths of runs that together have ``count`` rows; ``first`` is where each begins."""
    return np.diff(np.append(first, count))


def later(instants: Ints, span: int, last: int) -> Ints:
    """These instants plus a span of time, but none later than ``last`` (ticks)."""
    # Cut before they are added: the sum may be more than 64 bits hold.
    return np.minimum(instants, last - span) + span


def least(values: Ints, first: Ints) -> Ints:
    """The least value of each run of rows, without `NOTHING`; `NOTHING` where a run has no value.

    The greatest value needs no such function: `NOTHING` is less than all values.
    """
    lowest = np.minimum.reduceat(np.where(values == NOTHING, NEVER, values), first)
    return np.where(lowest == NEVER, NOTHING, lowest)


def take(column: Column, rows: Ints) -> Column:
    """These rows of a column, in this order."""

    def taken(part: Any) -> Any:
        if isinstance(part, np.ndarray):
            return part[rows]
        return part.take(rows if isinstance(part, Lists | PickedRows) else pa.array(rows))

    return cast(Column, _map_columns(taken, column))


def keep(column: Column, mask: Bools) -> Column:
    """The rows of a column where the mask is set."""
    return column if mask.all() else take(column, np.nonzero(mask)[0])


def concat(columns: Sequence[Column]) -> Column:
    """Several columns of one kind, one below the other."""

    def joined(*parts: Any) -> Any:
        if isinstance(parts[0], np.ndarray):
            return np.concatenate(parts)
        if isinstance(parts[0], Lists):
            lengths = np.concatenate([part.lengths for part in parts])
            return Lists(lengths, concat([part.items for part in parts]))
        if isinstance(parts[0], PickedRows):
            return PickedRows.joined(parts)
        return pa.concat_arrays(parts)

    return columns[0] if len(columns) == 1 else cast(Column, _map_columns(joined, *columns))


def put(column: Column, rows: Ints, changed: Column) -> Column:
    """A column with other values in these rows."""

    def replaced(old: Any, new: Any) -> Any:
        if isinstance(old, np.ndarray):
            copy = old.copy()
            copy[rows] = new
            return copy
        places = np.arange(len(old))
        places[rows] = len(old) + np.arange(len(rows))
        return take(concat([old, new]), places)

    return cast(Column, _map_columns(replaced, column, changed))


def choose(mask: Bools, yes: Column, no: Column) -> Column:
    """Row by row ``yes`` where the mask is set, else ``no``."""

    def chosen(first: Any, second: Any) -> Any:
        if first is second:
            return first
        if isinstance(first, np.ndarray):
            return np.where(mask, first, second)
        places = np.arange(len(mask)) + np.where(mask, 0, len(mask))
        return take(concat([first, second]), places)

    return cast(Column, _map_columns(chosen, yes, no))


def _map_columns(change: Callable[..., Any], *columns: Any) -> Any:
    """Change each column of a record, together with the same column of the other records."""
    first = columns[0]
    if first is None:
        return None
    if isinstance(first, np.ndarray | Lists | PickedRows | pa.Array):
        return change(*columns)
    if isinstance(first, tuple):
        return tuple([_map_columns(change, *parallel) for parallel in zip(*columns, strict=True)])
    cls: Any = type(first)
    parts = map(_fields_of(cls), columns)
    return cls(*[_map_columns(change, *parallel) for parallel in zip(*parts, strict=True)])


@cache
def _fields_of(cls: type[Any]) -> Callable[[Any], tuple[Any, ...]]:
    """From a record of this kind to the columns in it."""
    names = [field.name for field in attrs.fields(cls)]
    return attrgetter(*names) if len(names) > 1 else lambda record: (getattr(record, names[0]),)


_DIGITS = 63


def order_of(*columns: Ints) -> Ints:
    """The order of rows by these columns, first by the first one. Equal rows keep their order."""
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
    """The order of windows by key, start and end. Equal rows keep their order."""
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
    """For each row the greatest value of its run so far. The numbers of runs ascend."""
    if not len(values):
        return values
    low = int(values.min())
    width = (int(values.max()) - low).bit_length()
    if width + int(run[-1]).bit_length() > _DIGITS:
        known, ranks = np.unique(values, return_inverse=True)
        return known[greatest_so_far(run, ranks)]
    packed = np.maximum.accumulate((run << width) | (values - low))
    return (packed & ((1 << width) - 1)) + low


def among(windows: WindowRows, known: WindowRows) -> Ints:
    """For each window its first place among the known ones; -1 if it is not there."""
    count = len(known)
    columns = [
        np.concatenate([getattr(rows, name) for rows in (known, windows)])
        for name in ("key", "start", "end")
    ]
    order = order_of_windows(*columns)  # of equal ones the known come first
    new = starts_of_runs(*(column[order] for column in columns))
    place = np.empty(len(order), np.int64)
    place[order] = order[np.nonzero(new)[0]][np.cumsum(new) - 1]
    return np.where(place[count:] < count, place[count:], -1)


def count_before(keys: Ints, known: Ints, key: Ints, instants: Ints, *, ties: bool) -> Ints:
    """For each instant how many known ones of its key are before it, or equal if ``ties``."""
    tag = np.concatenate([np.full(len(keys), not ties), np.full(len(key), ties)])
    columns = (np.concatenate([keys, key]), np.concatenate([known, instants]), tag.astype(np.int64))
    order = order_of(*columns)
    before = np.cumsum(order < len(keys))
    counts = np.empty(len(order), np.int64)
    counts[order] = before
    return counts[len(keys) :]
