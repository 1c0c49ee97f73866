"""The type of a value.

Source: Beam Python ``trivial_inference.instance_to_type``.
"""

from collections.abc import Iterable
from typing import Any, Union

from beamlike.api.pipelines.hints.forms import form

_ENOUGH = 100
"""So many items of a value are looked at."""


def type_of(value: Any) -> Any:
    """The type of a value, with the types of what is in it.

    >>> type_of(("tea", 1)) == form(tuple, str, int)
    True
    """
    kind = type(value)
    if kind is tuple and value:
        return form(tuple, *map(type_of, value))
    if kind in (list, set, frozenset) and value:
        return form(kind, union_of(value))
    if kind is dict and value:
        return form(dict, union_of(value), union_of(value.values()))
    return kind


def union_of(values: Iterable[Any]) -> Any:
    """The type of all values; ``Any`` if there are too many types, or no values."""
    found: dict[Any, None] = {}
    for number, value in enumerate(values):
        if number < _ENOUGH or type(value) in _PLAIN:
            found[type_of(value)] = None
        else:
            return Any
    return Union[tuple(found)] if 0 < len(found) < _ENOUGH else Any  # noqa: UP007


_PLAIN = frozenset((int, float, str, bytes, bool, type(None)))
