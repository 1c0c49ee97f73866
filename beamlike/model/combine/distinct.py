"""What is different among values: how many there are, and which."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import attrs

from beamlike.model.combine.base import ExactMerge, Items, Listing
from beamlike.model.combine.folds import rank
from beamlike.model.combine.plain import plain_text


class _Distinct(Listing, ExactMerge):
    """Each value once, in order. What comes again changes nothing."""

    def add(self, accumulator: Items, values: Sequence[Any], timestamps: Sequence[int]) -> Items:
        present = [value for value in values if value is not None]
        return _each_once((*accumulator, *present)) if present else accumulator

    def merge(self, first: Items, second: Items) -> Items:
        return _each_once((*first, *second)) if first and second else first or second


@attrs.frozen
class CountDistinct(_Distinct):
    """How many different values there are, exactly. Empty pane: 0.

    An accumulator holds every different value; `ApproxDistinct` estimates in a fixed size. Null is
    not counted, as in SQL. Which values are different, `CollectSet` says.

    Raises:
        CombineError: In ``add``: a value is not plain data.

    Source: SQL ``count(distinct column)``; Beam ``Distinct`` followed by ``Count``.

    >>> fn = CountDistinct()
    >>> fn.extract(fn.add(fn.create(), ["tea", None, "milk", "tea"], [0, 0, 0, 0]))
    2
    """

    def extract(self, accumulator: Items) -> int:
        return len(accumulator)


@attrs.frozen
class CollectSet(_Distinct):
    """The different values as a list, the least first. Empty pane: the empty list.

    The result depends on nothing but the set of values: not on order of arrival, bundles, or
    merged windows. Null is left out, as in SQL.

    Values are different as in a Python set: 1, 1.0, ``Decimal("1.00")`` and True are one value.
    All NaN are one value too, and so are 0.0 and -0.0, and a list and a tuple of equal items. NaN
    is greater than all numbers. Lists are in the order of their first items that differ, a null
    first. Values of different kinds are in order of their kinds: numbers, texts, bytes, dates and
    times, lists, mappings, anything else.

    Raises:
        CombineError: In ``add``: a value is not plain data.

    Source: SQL ``collect_set``, which guarantees no order; Beam Python ``ToSet``.

    >>> fn = CollectSet()
    >>> fn.extract(fn.add(fn.create(), ["tea", None, "milk", "tea"], [0, 0, 0, 0]))
    ['milk', 'tea']
    """


def _each_once(values: Iterable[Any]) -> Items:
    by_place: dict[Any, Any] = {}
    for value in values:
        by_place.setdefault(place_of(value), value)
    return tuple(_without_sign(value) for _, value in sorted(by_place.items()))


def _without_sign(value: Any) -> Any:
    """A value with each zero in it 0.0, as Spark has it in groups: -0.0 is the same value."""
    if isinstance(value, float):
        return value + 0.0
    cls = type(value)
    if cls is list or cls is tuple:
        return cls(map(_without_sign, value))
    if cls is dict:
        return {_without_sign(key): _without_sign(item) for key, item in value.items()}
    return value


def place_of(value: Any) -> tuple[Any, ...]:
    """The place of a value in the order of all: the same for equal values, another for others."""
    match value:
        case None:
            return (0,)
        case Real() | Decimal():
            is_nan, number = rank(value)
            return (1, is_nan, 0 if is_nan else number)
        case str():
            return (2, value)
        case bytes() | bytearray():
            return (3, bytes(value))
        case datetime() if value.utcoffset() is not None:
            return (4, value.astimezone(UTC))
        case datetime():
            return (5, value)
        case date():
            return (6, value)
        case time():
            return (7, value.isoformat())
        case timedelta():
            return (8, value)
        case list() | tuple():
            return (9, tuple(map(place_of, value)))
        case Mapping():
            pairs = ((place_of(key), place_of(item)) for key, item in value.items())
            return (10, tuple(sorted(pairs)))
    return (11, plain_text(value))
