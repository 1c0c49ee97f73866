"""What saved windows hold, by name; and pickles, for those who ask for them."""

import reprlib
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from beamlike.errors import BeamlikeError
from beamlike.runtime.graph.wire import Wire

PICKLED = "_pickled"
"""The end of the name of a column of pickles."""


def held(row: Mapping[str, Any], kinds: Mapping[str, pa.DataType], *, unpickle: bool) -> Any:
    """The accumulators of a window by the names of their columns, without their numbers.

    Args:
        row: The accumulator columns of the window.
        kinds: Their types.
        unpickle: Whether pickles are opened, which runs code that is in them. Otherwise their size
            is shown, as ``pickled, 128 bytes``.
    """
    return {
        _name(name): _value(row[name], name, kind, unpickle=unpickle)
        for name, kind in kinds.items()
    }


def _name(column: str) -> str:
    """``acc0_total`` is ``total`` to its user; the value of a pipeline has no name."""
    column = column.removesuffix(PICKLED)
    number, _, name = column.partition("_")
    if number.startswith("acc") and number[3:].isdigit():
        return name
    return column or "value"


def _value(value: Any, column: str, kind: pa.DataType, *, unpickle: bool) -> Any:
    if not (pa.types.is_binary(kind) and column.endswith(PICKLED)) or value is None:
        return value
    if not unpickle:
        return f"pickled, {len(value):,} bytes"
    try:
        return Wire.declared().loads(value)
    except BeamlikeError as error:
        return f"pickled, {len(value):,} bytes, which cannot be opened: {reprlib.repr(str(error))}"
