"""The states and timers of functions as tables: a row for each state, and one for each timer."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from beamlike.inspect.state.functions import SavedFunction
from beamlike.inspect.state.stage import TIME, SavedStage

_PLACE: Final = [
    ("stage", pa.string()),
    ("shard", pa.int32()),
    ("key", pa.string()),
    ("start", TIME),
    ("end", TIME),
]
_CELLS: Final = pa.schema(
    [
        *_PLACE,
        ("state", pa.string()),
        ("kind", pa.string()),
        ("items", pa.int64()),
        ("bytes", pa.int64()),
        ("value", pa.string()),
    ]
)
_TIMERS: Final = pa.schema(
    [
        *_PLACE,
        ("timer", pa.string()),
        ("tag", pa.string()),
        ("domain", pa.string()),
        ("at", TIME),
        ("output", TIME),
    ]
)


def cells_of(stages: Iterable[SavedStage]) -> pa.Table:
    """The states that are not empty, see `beamlike.inspect.state`."""
    return _table(
        _CELLS,
        (
            (*place, it.name, it.kind, it.items, it.bytes, repr(it.value))
            for place, function in _functions(stages)
            for it in function.cells
        ),
    )


def timers_of(stages: Iterable[SavedStage]) -> pa.Table:
    """The timers that are set, see `beamlike.inspect.state`."""
    return _table(
        _TIMERS,
        (
            (*place, it.name, it.tag, it.domain, it.at, it.output)
            for place, function in _functions(stages)
            for it in function.timers
        ),
    )


def _functions(stages: Iterable[SavedStage]) -> Iterator[tuple[tuple[Any, ...], SavedFunction]]:
    """What is saved of each window of functions, with its place."""
    for stage in stages:
        functions = stage.functions
        if functions is None:
            continue
        names = ("stage", "shard", "key")
        columns = [stage.windows[name].to_pylist() for name in names]
        columns += [stage.windows[name].cast(pa.int64()).to_pylist() for name in ("start", "end")]
        yield from zip(zip(*columns, strict=True), functions, strict=True)


def _table(schema: pa.Schema, rows: Iterable[Sequence[Any]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [
        pa.array(column, pa.int64() if field.type == TIME else field.type).cast(field.type)
        for field, column in zip(schema, columns, strict=True)
    ]
    return pa.table(arrays, schema=schema)
