"""Which type may stand where another is wanted, and what stands for the variables in it.

Source: Beam Python ``typehints.is_consistent_with``, which follows PEP 483.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar, Union, cast

from beamlike.api.pipelines.hints.forms import item_of, normal, parts_of

__all__ = ["filled", "is_consistent_with", "matched"]


_LISTS: Final = (list, Sequence, Collection)


def is_consistent_with(sub: Any, base: Any) -> bool:
    """Whether values of one type may be where the other is wanted.

    >>> is_consistent_with(list[int], Iterable[float])
    True

    Source: Beam Python ``typehints.is_consistent_with``.
    """
    sub, base = normal(sub), normal(base)
    if sub == base or Any in (sub, base) or isinstance(sub, TypeVar) or isinstance(base, TypeVar):
        return True
    origin, parts = parts_of(sub)
    wanted, of = parts_of(base)
    if origin is Union:
        return all(is_consistent_with(part, base) for part in parts)
    if wanted is Union:
        return any(is_consistent_with(sub, part) for part in of)
    if wanted in (float, complex) and origin in (int, float):  # as in PEP 484
        return (origin, wanted) != (float, int)
    if origin is Iterable and wanted in _LISTS:
        # Beam says ``Iterable`` of the values of a group, which are a list here.
        origin = wanted
    try:
        if not issubclass(origin, wanted):
            return False
    except TypeError:  # a protocol that looks at attributes, or no class
        return True
    return _parts_fit(origin, parts, wanted, of, sub)


def _parts_fit(
    origin: Any, parts: tuple[Any, ...], wanted: Any, of: tuple[Any, ...], sub: Any
) -> bool:
    if not of or (not parts and sub is not str):
        return True
    if wanted is tuple:
        return _places_fit(parts, of)
    if issubclass(wanted, Mapping):
        return all(map(is_consistent_with, parts, of))
    return is_consistent_with(item_of(sub), of[0])


def _places_fit(parts: tuple[Any, ...], of: tuple[Any, ...]) -> bool:
    if of[-1] is ...:
        return all(is_consistent_with(part, of[0]) for part in parts if part is not ...)
    if parts[-1] is ...:
        return all(is_consistent_with(parts[0], part) for part in of)
    return len(parts) == len(of) and all(map(is_consistent_with, parts, of))


def matched(pattern: Any, given: Any) -> dict[TypeVar, Any]:
    """What stands for the variables of a pattern in a type that fits it.

    >>> from beamlike.api.pipelines.hints.forms import K, V
    >>> matched(tuple[K, V], tuple[str, int]) == {K: str, V: int}
    True
    """
    pattern, given = normal(pattern), normal(given)
    if isinstance(pattern, TypeVar):
        return {pattern: given}
    wanted, of = parts_of(pattern)
    origin, parts = parts_of(given)
    if not of or wanted is Union or origin is Union:
        return {}
    if wanted is tuple and of[-1] is not ...:
        places = zip(of, parts, strict=True) if len(of) == len(parts) else ()
        return _all(matched(one, other) for one, other in places if other is not ...)
    if isinstance(wanted, type) and issubclass(wanted, Mapping):
        return _all(map(matched, of, parts))
    return matched(of[0], item_of(given))


def _all(found: Iterable[dict[TypeVar, Any]]) -> dict[TypeVar, Any]:
    whole: dict[TypeVar, Any] = {}
    for each in found:
        whole |= each
    return whole


def filled(template: Any, bound: Mapping[TypeVar, Any]) -> Any:
    """A type with what stands for its variables; ``Any`` for those that nothing stands for."""
    template = normal(template)
    if isinstance(template, TypeVar):
        return bound.get(template, Any)
    origin, parts = parts_of(template)
    if not parts:
        return template
    made = tuple(part if part is ... else filled(part, bound) for part in parts)
    whole: Any = Union if origin is Union else cast(Any, origin)
    return normal(whole[made])
