"""Rows of a plan that has a column and an aggregate of every kind."""

import zlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from beamlike.machine.events import Element, Lifted
from beamlike.model import combine
from beamlike.model.windows import bounds
from beamlike.runtime.accumulator_columns import (
    ListColumn,
    MeanColumns,
    PlainColumn,
    StampedColumns,
    TuplesColumn,
)
from beamlike.runtime.envelope import arriving
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.script import Arrive
from beamlike.runtime.store.state import Key

_WHOLE, _REAL, _TEXT, _MONEY = pa.int64(), pa.float64(), pa.string(), pa.decimal128(38, 2)

VALUES: Final[Mapping[str, pa.DataType]] = {
    "whole": _WHOLE,
    "real": _REAL,
    "text": _TEXT,
    "money": _MONEY,
}
"""The columns of a row. What is in them follows from the number of its element, see `_VALUE_OF`."""

_REALS: Final = (0.1, None, -0.0, 0.2, float("nan"), 1e16, 0.0, -3.5, float("inf"), 0.3)
_TEXTS: Final = ("b", "", None, "é", "a", "b", "\U0001f600")

PARTS: Final = (
    Part("n", combine.Count(), None, PlainColumn(_WHOLE), _WHOLE),
    Part("texts", combine.CountValues(), 2, PlainColumn(_WHOLE), _WHOLE),
    Part("sum", combine.Sum(), 0, PlainColumn(_WHOLE), _WHOLE),
    Part("real_sum", combine.Sum(), 1, PlainColumn(_REAL), _REAL),
    Part("money_sum", combine.Sum(), 3, PlainColumn(_MONEY), _MONEY),
    Part("mean", combine.Mean(), 1, MeanColumns(), _REAL),
    Part("least", combine.Min(), 1, PlainColumn(_REAL), _REAL),
    Part("most", combine.Max(), 2, PlainColumn(_TEXT), _TEXT),
    Part("richest", combine.Max(), 3, PlainColumn(_MONEY), _MONEY),
    Part("all", combine.Collect(), 0, ListColumn(_WHOLE), pa.list_(_WHOLE)),
    Part("words", combine.Collect(keep_nulls=False), 2, ListColumn(_TEXT), pa.list_(_TEXT)),
    Part("whole_set", combine.CollectSet(), 0, ListColumn(_WHOLE), pa.list_(_WHOLE)),
    Part("texts_set", combine.CountDistinct(), 2, ListColumn(_TEXT), _WHOLE),
    Part("real_set", combine.CollectSet(), 1, ListColumn(_REAL), pa.list_(_REAL)),
    Part("first", combine.First(keep_nulls=False), 2, StampedColumns(_TEXT), _TEXT),
    Part("last", combine.Latest(), 1, StampedColumns(_REAL), _REAL),
    Part("top", combine.Top(2), 1, ListColumn(_REAL), pa.list_(_REAL)),
    Part(
        "top_by",
        combine.TopBy(2),
        (2, 0),
        TuplesColumn({"value": _TEXT, "by": _WHOLE}),
        pa.list_(_TEXT),
    ),
    Part(
        "sample",
        combine.Sample(2, 0, keep_nulls=False),
        0,
        TuplesColumn({"place": _WHOLE, "value": _WHOLE}),
        pa.list_(_WHOLE),
    ),
)
"""An aggregate of every layout and of every kind of fold."""


_VALUE_OF: Final[Mapping[str, Callable[[int], Any]]] = {
    "value": lambda number: number,
    "whole": lambda number: None if number % 11 == 10 else (-1) ** number * number,
    "real": lambda number: _REALS[number % len(_REALS)],
    "text": lambda number: _TEXTS[number % len(_TEXTS)],
    "money": lambda number: None if number % 5 == 4 else Decimal(number * 37 - 90) / 100,
}
"""What a column holds for the number of an element."""


def rows_of(plan: Plan, happens: Arrive) -> pa.Table:
    """Elements that are whole numbers as rows of a plan, keyed by ``key``; or ones that were
    combined before."""
    lifted = [(key, item) for key, item in happens.elements if isinstance(item, Lifted)]
    if lifted:
        assert len(lifted) == len(happens.elements), "either all were combined before or none were"
        return _lifted_rows(plan, lifted)
    elements = happens.elements
    columns = {
        "key_key": pa.array([key for key, _ in elements], _TEXT),
        "ts": pa.array([element.timestamp for _, element in elements], _WHOLE),
        **{
            f"value_{name}": pa.array([_VALUE_OF[name](item.value) for _, item in elements], dtype)
            for name, dtype in plan.values.items()
        },
        "bucket": _buckets(plan, [key for key, _ in elements]),
    }
    windows = [element.window for _, element in elements]
    if any(windows):
        spans = [(None, None) if window is None else bounds(window) for window in windows]
        columns["start"] = pa.array([start for start, _ in spans], _WHOLE)
        columns["end"] = pa.array([end for _, end in spans], _WHOLE)
    return pa.table(columns)


def combined_rows(plan: Plan, table: pa.Table, watermark: int) -> pa.Table:
    """The rows combined by key and window; those that come too late are left out."""
    by_key: dict[Key, list[Element]] = defaultdict(list)
    for key, element in arriving(plan, table):
        assert isinstance(element, Element), "it was not combined so far"
        by_key[key].append(element)
    lifted = [
        (key, combined)
        for (key,), elements in by_key.items()
        for combined in plan.lifting(checks=False).lift(elements, watermark)[0]
    ]
    return _lifted_rows(plan, lifted)


def _lifted_rows(plan: Plan, lifted: Sequence[tuple[Hashable, Lifted]]) -> pa.Table:
    ones, layout = [one for _, one in lifted], plan.operation.accumulator
    spans = [bounds(one.window) for one in ones]
    accumulators = layout.encode([one.accumulator for one in ones])
    return pa.table(
        {
            "key_key": pa.array([key for key, _ in lifted], _TEXT),
            "start": pa.array([start for start, _ in spans], _WHOLE),
            "end": pa.array([end for _, end in spans], _WHOLE),
            "count": pa.array([one.count for one in ones], _WHOLE),
            "ts": pa.array([one.timestamp for one in ones], _WHOLE),
            "judged": pa.array([one.judged for one in ones], pa.bool_()),
            "merged": pa.array([one.merged for one in ones], pa.bool_()),
            **dict(zip(layout.types(), accumulators, strict=True)),
            "bucket": _buckets(plan, [key for key, _ in lifted]),
        }
    )


def _buckets(plan: Plan, keys: Sequence[Hashable]) -> pa.Array:
    return pa.array([bucket_of(plan, key) for key in keys], pa.int32())


def bucket_of(plan: Plan, key: Hashable) -> int:
    """The bucket of a key; on Spark its hash says which."""
    return zlib.crc32(repr(key).encode()) % plan.buckets
