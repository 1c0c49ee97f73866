"""From a combine function and the types of its input to its fold."""

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.types as pt

from beamlike.errors import UnsupportedError
from beamlike.machine.columnar.folds.base import Fold, SavedForm, numpy_type
from beamlike.machine.columnar.folds.corrected import NetCountFold, NetCountValuesFold, NetWholeSum
from beamlike.machine.columnar.folds.extremes import Extreme, ExtremeDecimal, ExtremeText
from beamlike.machine.columnar.folds.numbers import (
    CountFold,
    CountValuesFold,
    DecimalSum,
    FloatSum,
    WholeSum,
)
from beamlike.machine.columnar.folds.objects import Objects
from beamlike.machine.columnar.folds.ordered import (
    CollectFold,
    CollectSetFold,
    CountDistinctFold,
    StampedFold,
)
from beamlike.machine.columnar.folds.sql import (
    DecimalMeanFold,
    IntervalMeanFold,
    MeanFold,
    NullOfNothing,
)
from beamlike.model import combine
from beamlike.model.combine import corrected, sql


def fold_of(
    fn: combine.CombineFn, dtypes: Sequence[pa.DataType], saved_form: SavedForm | None = None
) -> Fold:
    """The fold of a combine function over inputs of these types.

    Args:
        dtypes: A type for each input: none, one, or several whose tuples are the elements.
        saved_form: How its accumulators are saved where the fold has no columns of its own.

    Raises:
        UnsupportedError: The function decides which elements stay after each pane.
    """
    if fn.evicts:
        raise UnsupportedError(f"{fn} decides what stays after each pane, and runs key by key")
    # A subclass may do something else.
    choice = _CHOICES.get(type(fn))
    chosen = choice(fn, *dtypes) if choice else None
    return Objects(fn, saved_form) if chosen is None else chosen


def _sum(fn: combine.CombineFn, dtype: pa.DataType) -> Fold | None:
    if pt.is_decimal128(dtype):
        return DecimalSum(dtype)
    if pt.is_int64(dtype) or pt.is_duration(dtype):
        return WholeSum(dtype)
    return FloatSum() if pt.is_float64(dtype) else None


def _sql_sum(fn: combine.CombineFn, dtype: pa.DataType) -> Fold | None:
    fold = _sum(fn, dtype)
    return None if fold is None else NullOfNothing(fold)


def _extreme(dtype: pa.DataType, least: bool) -> Fold | None:
    if numpy_type(dtype) is not None:
        return Extreme(dtype, least)
    if pt.is_decimal128(dtype):
        return ExtremeDecimal(dtype, least)
    return ExtremeText(dtype, least) if pt.is_string(dtype) or pt.is_binary(dtype) else None


def _distinct(dtype: pa.DataType, fold: type[CollectSetFold]) -> Fold | None:
    has_order = numpy_type(dtype) is not None or pt.is_decimal128(dtype)
    return fold(dtype) if has_order or pt.is_string(dtype) or pt.is_binary(dtype) else None


_CHOICES: dict[type, Callable[..., Fold | None]] = {
    combine.Count: lambda fn, *_: CountFold(),
    combine.CountValues: lambda fn, *_: CountValuesFold(),
    combine.Sum: _sum,
    sql.SqlSum: _sql_sum,
    # Python's mean of whole numbers is exact, that of their floats is not.
    combine.Mean: lambda fn, dtype: MeanFold() if pt.is_float64(dtype) else None,
    sql.DecimalMean: lambda fn, dtype: (
        DecimalMeanFold(dtype, fn.scale) if pt.is_decimal128(dtype) else None
    ),
    sql.IntervalMean: lambda fn, dtype: IntervalMeanFold(dtype) if pt.is_duration(dtype) else None,
    combine.Min: lambda fn, dtype: _extreme(dtype, least=True),
    combine.Max: lambda fn, dtype: _extreme(dtype, least=False),
    combine.Collect: lambda fn, dtype: CollectFold(dtype, fn.keep_nulls),
    combine.CollectSet: lambda fn, dtype: _distinct(dtype, CollectSetFold),
    combine.CountDistinct: lambda fn, dtype: _distinct(dtype, CountDistinctFold),
    combine.First: lambda fn, dtype: StampedFold(dtype, fn.keep_nulls, last=False),
    corrected.NetCount: lambda fn, *_: NetCountFold(),
    corrected.NetCountValues: lambda fn, *_: NetCountValuesFold(),
    corrected.NetSum: lambda fn, dtype, _: NetWholeSum() if pt.is_int64(dtype) else None,
    combine.Latest: lambda fn, dtype: StampedFold(dtype, fn.keep_nulls, last=True),
}
