"""How many bytes each row of a table takes in memory."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.columnar.arrays import Ints


def row_sizes(table: pa.Table) -> Ints:
    """Bytes of each row: of its numbers, its texts, and everything in its lists."""
    total = np.zeros(table.num_rows, np.int64)
    for column in table.columns:
        total += _sizes(column.combine_chunks())
    return total


def _sizes(array: pa.Array) -> Ints:
    kind, count = array.type, len(array)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        of_items = np.concatenate([[0], np.cumsum(_sizes(array.flatten()))])
        lengths: Ints = pc.fill_null(pc.list_value_length(array), 0).to_numpy().astype(np.int64)
        ends = np.cumsum(lengths)
        in_lists: Ints = of_items[ends] - of_items[ends - lengths]
        return in_lists + 4
    if pa.types.is_map(kind):
        pairs = pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"])
        return _sizes(pa.ListArray.from_arrays(array.offsets, pairs))
    if pa.types.is_struct(kind):
        total = np.zeros(count, np.int64)
        for part in array.flatten():
            total += _sizes(part)
        return total
    if _has_length(kind):
        texts: Ints = pc.fill_null(pc.binary_length(array), 0).to_numpy().astype(np.int64)
        return texts + 4
    if pa.types.is_dictionary(kind):
        return _sizes(array.dictionary_decode())
    width = 0 if pa.types.is_null(kind) else kind.bit_width
    return np.full(count, (width + 7) // 8, np.int64)


def _has_length(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
    )
