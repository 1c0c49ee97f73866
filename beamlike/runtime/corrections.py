"""Aggregates over rows of which some withdraw others: the parts of a plan that take values back."""

import attrs
import pyarrow as pa

from beamlike.errors import UnsupportedError
from beamlike.model.aggregates import Aggregate
from beamlike.model.combine.corrected import Kept, NetCount, NetCountValues, NetFloats, NetSum
from beamlike.runtime.accumulator_columns import (
    ExactColumns,
    MeanColumns,
    PlainColumn,
    TuplesColumn,
)
from beamlike.runtime.frame_columns import Input
from beamlike.runtime.plan import Part

_RETRACTION = "retraction"

_ONCE = frozenset(("min", "max", "count_distinct", "collect_set", "approx_distinct"))
_AT_EXTREME = ("min_by", "max_by")
_RANKED = ("top", "bottom", *_AT_EXTREME)
_TIMED = frozenset(("first", "last", "sample", "combine", *_RANKED))


def withdrawn_input(inputs: dict[str, Input]) -> int:
    """The position among the inputs of the column that says which rows are withdrawn."""
    needed = Input(_RETRACTION, pa.bool_())
    inputs.setdefault(_RETRACTION, needed)
    return list(inputs).index(_RETRACTION)


def corrected(part: Part, wanted: Aggregate, withdrawn: int, dtypes: list[pa.DataType]) -> Part:
    """An aggregate over rows of which some withdraw others.

    Args:
        part: The aggregate as it is where no row withdraws another.
        wanted: The aggregate as its user wrote it.
        withdrawn: See `withdrawn_input`.
        dtypes: The types of all inputs of the plan.

    Raises:
        UnsupportedError: It cannot take values back. The text says what to use.
    """
    if part.fn.evicts:
        raise UnsupportedError(
            f"aggregate {part.name!r}: {wanted.kind} cannot take a value back, and rows of the "
            "grouping before are withdrawn; use a function that does not evict"
        )
    paths = part.input if isinstance(part.input, tuple) else (part.input,)
    if part.input is None:
        return attrs.evolve(part, fn=NetCount(), input=withdrawn)
    columns = [path for path in paths if path is not None]
    net = attrs.evolve(part, input=(*columns, withdrawn))
    if wanted.kind == "count":
        return attrs.evolve(net, fn=NetCountValues())
    if wanted.kind in ("sum", "mean") and not pa.types.is_duration(part.result):
        if pa.types.is_floating(part.result):
            return attrs.evolve(net, fn=NetFloats(wanted.kind == "mean"), columns=ExactColumns())
        scale = part.result.scale if wanted.kind == "mean" else None
        total = MeanColumns(dtypes[columns[0]])
        return attrs.evolve(net, fn=NetSum(scale), columns=total)
    names = ["value", "by"] if wanted.kind in _RANKED else None
    fields = {
        names[place] if names else f"value_{place}": dtypes[column]
        for place, column in enumerate(columns)
    }
    kept = Kept(
        part.fn,
        len(columns),
        timed=wanted.kind in _TIMED,
        once=wanted.kind in _ONCE,
        nulls=wanted.kind in ("combine", *_AT_EXTREME),
    )
    held = TuplesColumn({**fields, "at": pa.int64(), "count": pa.int64()})
    return attrs.evolve(net, fn=kept, columns=held)


def without_retractions(withdrawn: int) -> Part:
    """The part that counts the rows that are not withdrawn: without any there is no result."""
    columns = PlainColumn(pa.int64())
    return Part("rows that stand", NetCount(), withdrawn, columns, pa.int64(), shown=False)
