"""Combine functions that take values back: over rows of which some withdraw others.

Each element is a tuple whose last item says whether the row is withdrawn. Counts and sums subtract;
every other function is computed over the values that stand, which are kept with how often each
stands.

=====================  =========================================================================
function               keeps
=====================  =========================================================================
`NetCount`             one number
`NetCountValues`       one number
`NetSum`               the sum of whole numbers or decimals, and how many they are
`NetFloats`            the exact sum of floats, and how many they are
`Kept`                 each different value with its count: for everything else
=====================  =========================================================================
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from typing import Any, Final

import attrs

from beamlike.model.combine.base import CombineFn, Items
from beamlike.model.combine.folds import EXACT, Counting, Total
from beamlike.model.combine.plain import plain_text
from beamlike.model.combine.sql import ExactTotalling, mean_of
from beamlike.model.combine.together import Together


class Corrected(Together):
    """Several functions over rows of which some withdraw others.

    The last of ``parts`` is a `NetCount` of the rows, which is no part of the result.
    """

    def is_vacant(self, accumulator: tuple[Any, ...]) -> bool:
        """Whether everything that came was withdrawn."""
        return bool(accumulator[-1] == 0)

    def extract(self, accumulator: tuple[Any, ...]) -> tuple[Any, ...]:
        return super().extract(accumulator)[:-1]


@attrs.frozen
class NetCount(Counting):
    """How many rows stand. An element only says whether it is withdrawn.

    >>> fn = NetCount()
    >>> fn.add(fn.create(), [False, False, True], [0, 0, 0])
    1
    """

    def add(self, accumulator: int, values: Sequence[Any], timestamps: Sequence[int]) -> int:
        return accumulator + sum(-1 if withdrawn else 1 for withdrawn in values)


@attrs.frozen
class NetCountValues(NetCount):
    """How many values stand that are not null.

    >>> fn = NetCountValues()
    >>> fn.add(fn.create(), [("tea", False), (None, False), ("tea", True)], [0, 0, 0])
    0
    """

    def add(self, accumulator: int, values: Sequence[Any], timestamps: Sequence[int]) -> int:
        signs = [withdrawn for value, withdrawn in values if value is not None]
        return super().add(accumulator, signs, timestamps)


@attrs.frozen
class NetSum(ExactTotalling):
    """The sum or the mean of the whole numbers or decimals that stand; that of none is None.

    A pane that discards has what corrections change: of it no value may stand, and its sum be
    other than 0.

    Args:
        mean_scale: The places behind the point of the mean; None: it is the sum.

    >>> fn = NetSum()
    >>> fn.extract(fn.add(fn.create(), [(5, False), (7, False), (5, True)], [0, 0, 0]))
    7
    """

    mean_scale: int | None = None

    def add(self, accumulator: Total, values: Sequence[Any], timestamps: Sequence[int]) -> Total:
        total, count = accumulator
        with localcontext(EXACT):
            for value, withdrawn in values:
                if value is not None:
                    total = total - value if withdrawn else total + value
                    count += -1 if withdrawn else 1
        return total, count

    def extract(self, accumulator: Total) -> Any:
        total, count = accumulator
        if self.mean_scale is None:
            return total if total or count else None
        return mean_of(total, count, self.mean_scale) if count > 0 else None


_ONE: Final = 2**1074
"""The least float that is not zero is one part in so many: multiples of it add up exactly."""

_Floats = tuple[int, int, int, int, int]


@attrs.frozen
class NetFloats(CombineFn):
    """The sum or the mean of the floats that stand, rounded once.

    Floats that are added one after the other and taken back leave digits behind. So the sum is
    exact here: an accumulator holds it in multiples of the least float, then how many NaN,
    infinities and negative infinities there are, and how many values.

    Args:
        mean: The mean, and not the sum. Either of nothing is None.

    >>> fn = NetFloats(mean=False)
    >>> fn.extract(fn.add(fn.create(), [(0.1, False), (0.2, False), (0.1, True)], [0, 0, 0]))
    0.2
    """

    mean: bool

    def create(self) -> _Floats:
        return (0, 0, 0, 0, 0)

    def add(
        self, accumulator: _Floats, values: Sequence[Any], timestamps: Sequence[int]
    ) -> _Floats:
        total, *counts = accumulator
        for value, withdrawn in values:
            if value is None:
                continue
            sign = -1 if withdrawn else 1
            counts[3] += sign
            if value != value:
                counts[0] += sign
            elif value in (float("inf"), float("-inf")):
                counts[1 if value > 0 else 2] += sign
            else:
                above, below = float(value).as_integer_ratio()
                total += sign * above * (_ONE // below)
        return (total, counts[0], counts[1], counts[2], counts[3])

    def merge(self, first: _Floats, second: _Floats) -> _Floats:
        a, b = first, second
        return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4])

    def extract(self, accumulator: _Floats) -> float | None:
        total, nans, above, below, count = accumulator
        if (self.mean and count <= 0) or not any(accumulator):
            return None
        if nans or (above and below):
            return float("nan")
        if above or below:
            return float("inf") if above else float("-inf")
        try:
            return total / (_ONE * count if self.mean else _ONE)
        except OverflowError:
            return float("inf") if total > 0 else float("-inf")


@attrs.frozen
class Kept(CombineFn):
    """Any combine function over the values that stand: each is kept with how often it does.

    An item of the accumulator has the values of its columns, the event time (ms; None if it does
    not matter) and the count. A value that is withdrawn before it came has a negative one.

    Args:
        fn: The function.
        width: How many columns its elements have: one as it is, several as a tuple.
        timed: Its result depends on event times.
        once: Its result does not depend on how often a value stands.
        nulls: It is given nulls, too.

    >>> from beamlike.combine_fns import Max
    >>> fn = Kept(Max(), once=True)
    >>> fn.extract(fn.add(fn.create(), [(5, False), (7, False), (7, True)], [0, 0, 0]))
    5
    """

    fn: CombineFn
    width: int = 1
    timed: bool = False
    once: bool = False
    nulls: bool = False

    def create(self) -> Items:
        return ()

    def add(self, accumulator: Items, values: Sequence[Any], timestamps: Sequence[int]) -> Items:
        new = (
            (*value[:-1], timestamp if self.timed else None, -1 if value[-1] else 1)
            for value, timestamp in zip(values, timestamps, strict=True)
            if self.nulls or self.width > 1 or value[0] is not None
        )
        return _together(accumulator, new)

    def merge(self, first: Items, second: Items) -> Items:
        return _together(first, iter(second)) if first and second else first or second

    def extract(self, accumulator: Items) -> Any:
        values: list[Any] = []
        times: list[int] = []
        for *columns, timestamp, count in accumulator:
            often = min(count, 1) if self.once else count
            values += [columns[0] if self.width == 1 else tuple(columns)] * often
            times += [timestamp or 0] * often
        fn = self.fn
        fresh = fn.create()
        return fn.extract(fn.compact(fn.add(fresh, values, times)) if values else fresh)


def _together(first: Items, second: Iterator[tuple[Any, ...]]) -> Items:
    held: dict[Any, tuple[Any, ...]] = {tuple(map(_same, item[:-1])): item for item in first}
    for correction in second:
        name = tuple(map(_same, correction[:-1]))
        before = held.get(name)
        count = correction[-1] + (0 if before is None else before[-1])
        if count:
            held[name] = (*correction[:-1], count) if before is None else (*before[:-1], count)
        else:
            held.pop(name, None)
    return tuple(held.values())


def _same(value: Any) -> Any:
    """Equal for equal values, and fit for a dict. Those of one column have one type."""
    if value is None or isinstance(value, str | int | bytes):
        return value
    if isinstance(value, float) and value == 0:
        return str(value)  # -0.0 is equal to 0.0, and not what was withdrawn
    if isinstance(value, float | Decimal) and value == value:
        return value
    return plain_text(value)
