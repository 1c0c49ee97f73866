"""The keys of saved windows as texts, and the text of a key that somebody typed."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from beamlike.hosts.keys import told_key

__all__ = ["key_texts", "keys_as_values", "texts_of_typed"]

_NULL = "null"
_BETWEEN = ", "


def key_texts(columns: Sequence[pa.ChunkedArray], rows: int, *, in_bytes: bool) -> pa.Array:
    """The key of each row as text.

    Args:
        columns: The key columns; without any, everything is one group.
        rows: How many there are.
        in_bytes: Whether the only column has keys of a pipeline, as bytes.
    """
    if in_bytes:
        return pa.array([str(told_key(blob)) for blob in columns[0].to_pylist()], pa.string())
    if not columns:
        return pa.array([""] * rows, pa.string())
    texts = [_texts(column) for column in columns]
    if len(texts) == 1:
        return texts[0]
    return pc.binary_join_element_wise(*texts, _BETWEEN)


def _texts(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    plain = pa.types.is_nested(column.type) or pa.types.is_binary(column.type)
    if not plain:
        with suppress(pa.ArrowException):
            return pc.fill_null(pc.cast(column, pa.string()), _NULL)
    return pa.array([_NULL if it is None else str(it) for it in column.to_pylist()], pa.string())


def keys_as_values(
    columns: Mapping[str, pa.ChunkedArray], rows: int, *, in_bytes: bool
) -> list[Any]:
    """The key of each row: its columns by name, or the key itself of a pipeline."""
    if in_bytes:
        (column,) = columns.values()
        return [told_key(blob) for blob in column.to_pylist()]
    if not columns:
        return [{}] * rows
    return pa.table(dict(columns)).to_pylist()  # type: ignore[no-any-return]


def texts_of_typed(typed: str, kinds: Mapping[str, pa.DataType], *, in_bytes: bool) -> set[str]:
    """The texts that keys may have which somebody meant with this: its own, or that of JSON.

    JSON is a value, a list of them in the order of the key columns, or an object by their names.
    """
    texts = {typed}
    try:
        given = json.loads(typed)
    except ValueError:
        return texts
    if in_bytes:
        return texts | {str(_as_key(given))}
    match given:
        case dict() if given.keys() == kinds.keys():
            parts = [given[name] for name in kinds]
        case list() if len(given) == len(kinds):
            parts = given
        case _ if len(kinds) == 1:
            parts = [given]
        case _:
            return texts
    with suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
        arrays = [_typed(part, kind) for part, kind in zip(parts, kinds.values(), strict=True)]
        texts |= {_BETWEEN.join(_texts(array)[0].as_py() for array in arrays)}
    return texts


def _typed(value: Any, kind: pa.DataType) -> pa.Array:
    array = pa.array([value])
    return array.cast(kind) if isinstance(value, str) else pa.array([value], kind)


def _as_key(given: Any) -> Any:
    """JSON has lists for tuples."""
    return tuple(map(_as_key, given)) if isinstance(given, list) else given
