"""Keys as numbers: each row of some tables by which key it has, without looking at rows."""

from collections.abc import Sequence

import attrs
import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import Ints

__all__ = ["Numbered", "can_number", "number_keys"]


@attrs.frozen(eq=False)
class Numbered:
    """Keys by number, in order of first appearance.

    ``number`` says of each row which key it has, ``columns`` hold each key once, by its number.
    """

    number: Ints
    columns: list[pa.Array]
    count: int


def number_keys(columns: Sequence[pa.ChunkedArray], rows: int) -> Numbered:
    """Number the keys of so many rows. Without key columns everything is one key."""
    if not columns:
        return Numbered(np.zeros(rows, np.int64), [], min(rows, 1))
    first, *more = columns
    encoded = first.combine_chunks().dictionary_encode("encode")
    number, count = _indices(encoded), len(encoded.dictionary)
    if not more:
        return Numbered(number, [encoded.dictionary], count)
    for column in more:
        encoded = column.combine_chunks().dictionary_encode("encode")
        # Numbers stay small: each round has at most as many keys as there are rows.
        pairs = pa.array(number * max(len(encoded.dictionary), 1) + _indices(encoded))
        encoded = pairs.dictionary_encode("encode")
        number, count = _indices(encoded), len(encoded.dictionary)
    shown = np.empty(count, np.int64)
    shown[number[::-1]] = np.arange(rows)[::-1]  # the first row of each key is written last
    rows_of = pa.array(shown)
    return Numbered(number, [column.take(rows_of).combine_chunks() for column in columns], count)


def _indices(encoded: pa.DictionaryArray) -> Ints:
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def can_number(kind: pa.DataType) -> bool:
    """Whether keys of this type can be numbered without looking at rows."""
    try:
        pa.array([], kind).dictionary_encode()
    except pa.ArrowNotImplementedError:
        return False
    return True
