"""Keys as numbers: each row of a table by which key it has, without looking at rows."""

from collections.abc import Sequence

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.columnar.arrays import Ints
from beamlike.machine.columnar.folds.buffers import array_of, numbers_of, one_chunk, present_in

UNKNOWN = -1
"""In place of a number: the key is none of them."""


@attrs.frozen(eq=False)
class _Column:
    """How one more key column changes the numbers.

    ``values`` are its different values. The number so far times how many they are, plus the
    place among them, is one of ``pairs``, whose place is the number with this column. None for
    the first column, where the place of the value is the number.
    """

    values: pa.Array
    pairs: pa.Array | None

    def number(self, so_far: Ints, column: pa.Array) -> Ints:
        found = _places(column, self.values)
        if self.pairs is None:
            return found
        known = (so_far != UNKNOWN) & (found != UNKNOWN)
        pair = np.where(known, so_far * len(self.values) + found, UNKNOWN)
        return _places(pa.array(pair), self.pairs)


@attrs.frozen(eq=False)
class Numbered:
    """Keys by number, in order of first appearance.

    ``number`` says of each row which key it has, ``columns`` hold each key once, by its number.
    """

    number: Ints
    columns: list[pa.Array]
    count: int
    how: tuple[_Column, ...] = ()

    def with_more(self, columns: Sequence[pa.ChunkedArray], rows: int) -> "Numbered":
        """The same keys, and after them those of other rows that are none of them."""
        more = number_keys(columns, rows)
        pairs = zip(self.columns, more.columns, strict=True)
        return attrs.evolve(
            self,
            number=np.append(self.number, self.count + more.number),
            columns=[pa.concat_arrays(pair) for pair in pairs],
            count=self.count + more.count,
            how=(),
        )

    def find(self, columns: Sequence[pa.ChunkedArray], rows: int) -> Ints:
        """The numbers of other rows' keys; `UNKNOWN` for keys that are none of these."""
        number = np.full(rows, UNKNOWN if self.count == 0 else 0, np.int64)
        for how, column in zip(self.how, columns, strict=True):
            number = how.number(number, _in_one(column))
        return number


def number_keys(columns: Sequence[pa.ChunkedArray], rows: int) -> Numbered:
    """Number the keys of so many rows. Without key columns everything is one key."""
    number, how = np.zeros(rows, np.int64), list[_Column]()
    count = min(rows, 1)
    cleaned = [_in_one(column) for column in columns]
    for column in cleaned:
        encoded = column.dictionary_encode("encode")
        values, pairs = encoded.dictionary, None
        if how:
            # Numbers stay small: after each column there are at most as many as rows.
            mixed = number * max(len(values), 1) + _indices(encoded)
            encoded = pa.array(mixed).dictionary_encode()
            pairs = encoded.dictionary
        number, count = _indices(encoded), len(encoded.dictionary)
        how.append(_Column(values, pairs))
    if len(how) == 1:
        return Numbered(number, [how[0].values], count, tuple(how))
    shown = np.empty(count, np.int64)
    shown[number[::-1]] = np.arange(rows)[::-1]  # the first row of each key is written last
    rows_of = pa.array(shown)
    keys = [column.take(rows_of) for column in cleaned]
    return Numbered(number, keys, count, tuple(how))


def _in_one(column: pa.ChunkedArray) -> pa.Array:
    """A key column in one piece, whose equal values have equal bits: as in a dict of keys from
    `key_tuples`, every NaN is the same, and -0.0 is 0.0."""
    whole = one_chunk(column)
    if not pa.types.is_floating(whole.type):
        return whole
    data = numbers_of(whole) + 0.0
    data[np.isnan(data)] = np.nan
    return array_of(data, present_in(whole), whole.type)


def _places(column: pa.Array, values: pa.Array) -> Ints:
    found = pc.fill_null(pc.index_in(column, value_set=values), UNKNOWN)
    places: Ints = found.to_numpy(zero_copy_only=False).astype(np.int64)
    return places


def _indices(encoded: pa.DictionaryArray) -> Ints:
    indices: Ints = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return indices


def can_number(kind: pa.DataType) -> bool:
    """Whether keys of this type can be numbered without looking at rows."""
    none = pa.array([], kind)
    try:
        pc.index_in(none, value_set=none.dictionary_encode().dictionary)
    except pa.ArrowNotImplementedError:
        return False
    return True
