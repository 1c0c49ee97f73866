"""What a transform is given, against what it takes.

Source: Beam Python ``PTransform.type_check_inputs`` and ``typehints.is_consistent_with``, which
follows PEP 483.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar, Union

from beamlike.api.pipelines.hints.forms import K, V, form, item_of, normal, parts_of, shown
from beamlike.errors import TypeCheckError

__all__ = ["is_consistent_with"]


_LISTS: Final = (list, Sequence, Collection)


def is_consistent_with(sub: Any, base: Any) -> bool:
    """Whether values of one type may be where the other is wanted.

    >>> is_consistent_with(list[int], Iterable[float])
    True
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


_PAIR: Final = form(tuple, K, V)


def check_elements(label: str, wanted: Any, elements: Iterable[Any]) -> None:
    """Check the elements of collections against the type that a transform takes.

    Args:
        label: The transform.
        wanted: The type; None: nothing says it.
        elements: The types of the elements of each collection; None: types are not checked.

    Raises:
        TypeCheckError: They are of another type.
    """
    for element_type in elements if wanted is not None else ():
        if element_type is not None and not is_consistent_with(element_type, wanted):
            fix = "; make pairs before it with WithKeys(...)" if normal(wanted) == _PAIR else ""
            raise TypeCheckError(
                f"{label!r} requires elements of type {shown(wanted)}, and it was applied to a "
                f"collection of {shown(element_type)}{fix}"
            )
