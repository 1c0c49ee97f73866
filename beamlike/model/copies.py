"""Copies of values for functions of users, which may change what they are given.

An element is shared by the aggregates of its row, the windows that it is in, and the branches
of a pipeline. An accumulator stands until its window is over. A function that takes items out of
the list that it was given must not take them from all of these.
"""

from collections.abc import Sequence
from copy import copy, deepcopy
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from operator import is_
from types import NoneType
from typing import Any, Final, TypeVar

Value = TypeVar("Value")

_UNCHANGEABLE: Final = frozenset(
    (
        *(NoneType, bool, int, float, complex, Decimal, Fraction, str, bytes),
        *(date, datetime, time, timedelta),
    )
)


def own_copy(value: Value) -> Value:
    """A value that may be changed without changing the one that was given.

    That is the value itself where nothing can change it, such as a text or a tuple of numbers, and
    where it cannot be copied, such as a lock or an open file.

    >>> readings = [3, 5]
    >>> own_copy(readings).pop(), readings
    (5, [3, 5])
    """
    try:
        copied: Value = _copied(value)
        return copied
    except RecursionError:
        return deepcopy(value)  # one that holds itself


def _copied(value: Any) -> Any:
    # Plain containers, of which most values are made, take deepcopy ten times as long.
    cls = type(value)
    if cls in _UNCHANGEABLE:
        return value
    if (cls is tuple or cls is frozenset) and _UNCHANGEABLE.issuperset(map(type, value)):
        return value
    if cls is tuple:
        items = [*map(_copied, value)]
        return value if all(map(is_, items, value)) else tuple(items)
    if cls is list:
        flat = _UNCHANGEABLE.issuperset(map(type, value))
        return value.copy() if flat else [*map(_copied, value)]
    if cls is dict:
        return {_copied(key): _copied(item) for key, item in value.items()}
    try:
        return deepcopy(value)
    except Exception:
        return value


def own_copies(values: Sequence[Any]) -> list[Any]:
    """A list of values that may be changed, each as `own_copy` makes it."""
    # Of many values what they are is known at once: mostly plain ones, or tuples of these.
    types = {*map(type, values)}
    if types <= _UNCHANGEABLE:
        return [*values]
    if types == {tuple} and _UNCHANGEABLE.issuperset(map(type, chain.from_iterable(values))):
        return [*values]
    return [*map(own_copy, values)]


def with_fields(frozen: Value, **fields: Any) -> Value:
    """A copy of a frozen value with other values in some fields. Nothing is checked or converted,
    and what is cached in the value is copied with it."""
    changed = copy(frozen)
    for name, value in fields.items():
        object.__setattr__(changed, name, value)
    return changed


def is_of_user(function: object) -> bool:
    """Whether an object, such as a window function, is of a class that is not beamlike's."""
    return type(function).__module__.partition(".")[0] != "beamlike"
