"""Sums and means as SQL has them: nothing adds up to null, and a mean of decimals is a decimal."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from typing import Any, ClassVar, Final

import attrs

from beamlike.model.combine.folds import EXACT, Sum, Total, Totalling

_QUOTIENT: Final = Context(prec=120, rounding=ROUND_HALF_UP)
"""Holds a sum of 76 digits, divided by a count, with more places than a half could hide behind."""


@attrs.frozen
class SqlSum(Sum):
    """The sum of the values that are not null. Empty pane, and one of nulls alone: null.

    Source: Spark ``sum``.

    >>> fn = SqlSum()
    >>> fn.extract(fn.add(fn.create(), [5, None, 7], [0, 0, 0]))
    12
    >>> fn.extract(fn.add(fn.create(), [None], [0])) is None
    True
    """

    scio_operation: ClassVar[str | None] = None

    def create(self) -> Any:
        return None

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        first_value = next((value for value in values if value is not None), None)
        if first_value is None:
            return accumulator
        if accumulator is None:
            accumulator = timedelta(0) if isinstance(first_value, timedelta) else 0
        return super().add(accumulator, values, timestamps)

    def merge(self, first: Any, second: Any) -> Any:
        if first is None or second is None:
            return second if first is None else first
        return super().merge(first, second)

    def __str__(self) -> str:
        # State of a query belongs to these words. That of sums which had 0 in place of null goes
        # on: it has a number for each window.
        return "Sum()"


class ExactTotalling(Totalling):
    """A combine function of the exact sum of decimals, and of how many they are."""

    def add(self, accumulator: Total, values: Sequence[Any], timestamps: Sequence[int]) -> Total:
        with localcontext(EXACT):
            return super().add(accumulator, values, timestamps)

    def merge(self, first: Total, second: Total) -> Total:
        with localcontext(EXACT):
            return super().merge(first, second)


@attrs.frozen
class DecimalMean(ExactTotalling):
    """The mean of the decimals that are not null. Empty pane, and one of nulls alone: null.

    Args:
        scale: The places behind the point of the result, which is rounded half up.

    Source: Spark ``avg``.

    >>> fn = DecimalMean(scale=6)
    >>> fn.extract(fn.add(fn.create(), [Decimal(1), None, Decimal(1), Decimal(0)], [0, 0, 0, 0]))
    Decimal('0.666667')
    """

    scale: int

    def extract(self, accumulator: Total) -> Decimal | None:
        total, count = accumulator
        return mean_of(total, count, self.scale) if count else None


@attrs.frozen
class IntervalMean(Totalling):
    """The mean of the durations that are not null, in microseconds, of two equally near ones that
    which is further from 0. Empty pane, and one of nulls alone: null.

    Source: Spark ``avg``.

    >>> fn = IntervalMean()
    >>> fn.extract(fn.add(fn.create(), [timedelta(seconds=1), None, timedelta(0)], [0, 0, 0]))
    datetime.timedelta(microseconds=500000)
    """

    zero = timedelta(0)

    def extract(self, accumulator: Total) -> timedelta | None:
        total, count = accumulator
        micros = total // timedelta(microseconds=1)
        return timedelta(microseconds=nearest(micros, count)) if count else None


def nearest(total: int, count: int) -> int:
    """The whole number that is nearest to a quotient; of two the one that is further from 0.

    >>> nearest(5, 2), nearest(-5, 2), nearest(-4, 3)
    (3, -3, -1)
    """
    quotient = (2 * abs(total) + count) // (2 * count)
    return -quotient if total < 0 else quotient


def mean_of(total: Any, count: int, scale: int) -> Decimal:
    """The mean of decimals, to so many places behind the point, rounded half up.

    Source: Spark ``Average``, ``Decimal.toPrecision``.

    >>> mean_of(Decimal("0.5"), 3, 4)
    Decimal('0.1667')
    """
    with localcontext(_QUOTIENT):
        return (Decimal(total) / count).quantize(Decimal(1).scaleb(-scale))
