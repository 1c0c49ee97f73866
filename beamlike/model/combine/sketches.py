"""Estimates from sketches: small accumulators for any number of elements.

The sketches are those of Apache DataSketches, a library that ``pip install "beamlike[sketches]"``
adds. An accumulator is a sketch as the library writes it, or no bytes at all for an empty pane.
Nothing in them is random: the same bundles in the same order give the same estimate.
"""

import math
from collections.abc import Iterable, Sequence, Set
from typing import Any

import attrs

from beamlike.errors import CombineError
from beamlike.extras import missing
from beamlike.model.combine.base import CombineFn, ExactMerge
from beamlike.model.combine.plain import digest
from beamlike.model.options import whole_number

_EMPTY = b""
_MOST = 65_535
"""The largest sketch: the library keeps its size in 16 bits, and has no more quantiles."""


def _library(needed_by: str) -> Any:
    try:
        import datasketches
    except ImportError as error:
        raise missing(needed_by, ["datasketches"], "sketches", ", on the workers too") from error
    return datasketches


def _fractions(fractions: Any) -> tuple[float, ...]:
    if isinstance(fractions, int) and not isinstance(fractions, bool):
        argument = "ApproxQuantiles fractions, as a number of quantiles,"
        number = _whole_number(fractions, 2, _MOST, argument)
        return tuple(index / (number - 1) for index in range(number))
    if not isinstance(fractions, Iterable) or isinstance(fractions, str | bytes):
        fractions = (fractions,)
        fits = False
    else:
        fractions = tuple(fractions)
        fits = bool(fractions) and all(_is_fraction(fraction) for fraction in fractions)
    if not fits:
        raise CombineError(
            "ApproxQuantiles fractions must be a list of numbers from 0 to 1 such as [0.5, 0.99], "
            f"or how many quantiles, 2 or more; got {', '.join(map(repr, fractions)) or 'none'}"
        )
    return tuple(float(fraction) for fraction in fractions)


def _whole_number(value: object, least: int, most: int, argument: str) -> int:
    number = whole_number(value, least, argument, CombineError)
    if number > most:
        raise CombineError(f"{argument} must be {most} at most, got {number}")
    return number


def _is_fraction(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


@attrs.frozen
class ApproxQuantiles(CombineFn):
    """Estimates of quantiles of numbers, as a list in the order of ``fractions``.

    The quantile of 0 is the least number and that of 1 the greatest, both exact; 0.5 is the median.
    Of up to 100 numbers each is exact: the number at place ``fraction * count``, rounded down, of
    all in order, counted from 0. Of more it is an estimate: the share of numbers below it differs
    from the fraction by 0.05 at most, and by 0.003 for fractions up to 0.01 and from 0.99. Such an
    estimate depends a little on how elements are cut into bundles; the same bundles give the same.

    Null, NaN and infinities are not counted. Empty pane: the empty list, as in Beam.

    Args:
        fractions: Numbers from 0 to 1, or how many quantiles at equal distances, 2 to 65,535,
            the least and the greatest included: 5 stands for ``[0, 0.25, 0.5, 0.75, 1]``.
        compression: The size of the sketch, 10 to 65,535. By default it has 5 kB at most; twice the
            compression is twice the size and half the error.

    Raises:
        CombineError: A fraction lies outside 0 to 1, or there is none, or a number is
            outside its range.
        EnvironmentProblem: The library is not installed.

    Source: Beam ``ApproximateQuantiles``, Scio ``approxQuantilesByKey``; the sketch is a t-digest.

    >>> fn = ApproxQuantiles([0, 0.5, 1])
    >>> fn.extract(fn.add(fn.create(), [5, 9, 7], [0, 0, 0]))
    [5.0, 7.0, 9.0]
    """

    scio_operation = "approxQuantilesByKey"

    fractions: tuple[float, ...] = attrs.field(converter=_fractions)
    compression: int = 200

    def __attrs_post_init__(self) -> None:
        _whole_number(self.compression, 10, _MOST, "ApproxQuantiles compression")
        _library("ApproxQuantiles")

    def create(self) -> bytes:
        return _EMPTY

    def add(self, accumulator: bytes, values: Sequence[Any], timestamps: Sequence[int]) -> bytes:
        numbers = [float(value) for value in values if value is not None]
        finite = [number for number in numbers if math.isfinite(number)]
        if not finite:
            return accumulator
        sketch = self._read(accumulator)
        for number in finite:
            sketch.update(number)
        return bytes(sketch.serialize())

    def merge(self, first: bytes, second: bytes) -> bytes:
        if not first or not second:
            return first or second
        sketch = self._read(first)
        sketch.merge(self._read(second))
        return bytes(sketch.serialize())

    def extract(self, accumulator: bytes) -> list[float]:
        if not accumulator:
            return []
        sketch = self._read(accumulator)
        return [sketch.get_quantile(fraction) for fraction in self.fractions]

    def combines_early(self, types: Set[type]) -> bool:
        return False  # estimates depend on which values are merged first

    def _read(self, accumulator: bytes) -> Any:
        sketch_class = _library("ApproxQuantiles").tdigest_double
        return (
            sketch_class.deserialize(accumulator) if accumulator else sketch_class(self.compression)
        )


@attrs.frozen
class ApproxDistinct(ExactMerge):
    """An estimate of how many different values there are, as a whole number.

    Up to some hundred values it is exact. Beyond that its standard error is ``1.04 / sqrt(2 **
    precision)``: 1.6 % by default, so 99 of 100 estimates are within 4.2 % of the truth. It
    depends on nothing but the set of values: not on order, bundles, or merged windows.

    Values are different as in a Python set: 1, 1.0, ``Decimal("1.00")`` and True are one value.
    All NaN are one value too. Null is not counted, as in SQL. Empty pane: 0.

    Args:
        precision: From 7 to 21; an accumulator has about ``2 ** precision`` bytes at most.

    Raises:
        CombineError: The precision is outside its range; in ``add``, a value is not plain data.
        EnvironmentProblem: The library is not installed.

    Source: Beam ``ApproximateCountDistinct``, SQL ``approx_count_distinct``; the sketch is a
    HyperLogLog.

    >>> fn = ApproxDistinct()
    >>> fn.extract(fn.add(fn.create(), ["tea", "milk", "tea"], [0, 0, 0]))
    2
    """

    precision: int = 12

    def __attrs_post_init__(self) -> None:
        _whole_number(self.precision, 7, 21, "ApproxDistinct precision")
        _library("ApproxDistinct")

    def create(self) -> bytes:
        return _EMPTY

    def add(self, accumulator: bytes, values: Sequence[Any], timestamps: Sequence[int]) -> bytes:
        hashes = {digest(value) for value in values if value is not None}
        if not hashes:
            return accumulator
        union = self._union(accumulator)
        for hashed in hashes:
            union.update(hashed)
        return self._write(union)

    def merge(self, first: bytes, second: bytes) -> bytes:
        if not first or not second:
            return first or second
        return self._write(self._union(first, second))

    def extract(self, accumulator: bytes) -> int:
        if not accumulator:
            return 0
        # A sketch that saw its values one by one has a better estimate, but only a union's
        # does not depend on how they came. With itself it has the same content.
        return round(float(self._union(accumulator, accumulator).get_estimate()))

    def _union(self, *sketches: bytes) -> Any:
        library = _library("ApproxDistinct")
        union = library.hll_union(self.precision)
        for sketch in sketches:
            if sketch:
                union.update(library.hll_sketch.deserialize(sketch))
        return union

    def _write(self, union: Any) -> bytes:
        hll_type = _library("ApproxDistinct").tgt_hll_type.HLL_8
        return bytes(union.get_result(hll_type).serialize_compact())
