"""The type of a value, and whether a value is of a type.

Source: Beam Python ``trivial_inference.instance_to_type``, ``typehints.check_constraint``.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, TypeVar, Union

from beamlike.api.pipelines.hints.forms import form, normal, parts_of, shown

_ENOUGH = 100
"""So many items of a value are looked at."""


def type_of(value: Any) -> Any:
    """The type of a value, with the types of what is in it.

    >>> type_of(("tea", 1)) == normal(tuple[str, int])
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


def violation(value: Any, hint: Any) -> str:
    """In which way a value is not of a type; empty if it is.

    >>> violation(("tea", 1.5), tuple[str, int])
    "item 1 of the tuple: 1.5 is no <class 'int'>"
    """
    hint = normal(hint)
    origin, parts = parts_of(hint)
    if hint is Any or isinstance(hint, TypeVar):
        return ""
    if origin is Union:
        fits = any(not violation(value, part) for part in parts)
        return "" if fits else f"{value!r} is no {shown(hint)}"
    if _is_instance(value, origin):
        return _part_violated(value, origin, parts)
    if not parts:
        return f"{value!r} is no {shown(hint)}"
    name = origin.__name__
    return (  # the words that tests of Beam look for
        f"{name[0].upper()}{name[1:]} type constraint violated. Valid object instance must be of "
        f"type {name!r}. Instead, an instance of {type(value).__name__!r} was received."
    )


def _is_instance(value: Any, kind: Any) -> bool:
    try:
        if isinstance(value, kind):
            return True
    except TypeError:  # a protocol that looks at attributes
        return True
    return kind in (float, complex) and isinstance(value, int | float)


def _part_violated(value: Any, kind: Any, parts: tuple[Any, ...]) -> str:
    """The first part that is not what it should be. Iterators are not used up to find it."""
    if not parts:
        return ""
    places: Iterable[tuple[Any, Any]]
    if kind is tuple and parts[-1] is not ...:
        if len(value) != len(parts):
            return f"{value!r} has {len(value)} parts, and not {len(parts)}"
        places = zip(value, parts, strict=True)
    elif isinstance(value, Mapping) and len(parts) == 2:
        places = [
            (it, part) for pair in value.items() for it, part in zip(pair, parts, strict=True)
        ]
    elif isinstance(value, Sequence | Set) and not isinstance(value, str | bytes):
        places = ((it, parts[0]) for it in value)
    else:
        return ""
    for number, (item, part) in enumerate(places):
        wrong = violation(item, part)
        if wrong:
            return f"item {number} of the {type(value).__name__}: {wrong}"
    return ""
