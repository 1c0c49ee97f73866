"""What a transform is given, against what it takes; and the types of what it makes.

Source: Beam Python ``PTransform.type_check_inputs``, ``Pipeline._infer_result_type``, and
``typehints.is_consistent_with``, which follows PEP 483.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, Final, TypeVar, Union, cast

from beamlike.api.pipelines.hints.declared import IOTypeHints, of_parameters
from beamlike.api.pipelines.hints.forms import K, V, form, item_of, normal, parts_of, shown
from beamlike.errors import TypeCheckError
from beamlike.model.fingerprint import stable_repr

__all__ = ["is_consistent_with"]


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


_PAIR: Final = form(tuple, K, V)


def check_collections(label: str, which: str, hints: Any, given: Iterable[Any]) -> None:
    """Check the elements of collections against one type.

    Args:
        label: The transform.
        which: ``"input"`` or ``"output"``.
        hints: The types that are declared, by place and by name, or None.
        given: The types of the elements of each collection.

    Raises:
        TypeCheckError: They are of another type.
    """
    if not hints or len(hints[0]) != 1:
        return
    wanted = hints[0][0]
    for kind in given:
        if kind is not None and not is_consistent_with(kind, wanted):
            fix = "; make pairs before it with WithKeys(...)" if normal(wanted) == _PAIR else ""
            raise TypeCheckError(
                f"{which.title()} type hint violation at {label}: expected {shown(wanted)}, got "
                f"{shown(kind)}{fix}"
            )


def check_arguments(
    label: str,
    hints: IOTypeHints,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> None:
    """Check what a function is given against the types that are declared for its parameters.

    Args:
        args: The types of the element and of the arguments after it.
        kwargs: The types of arguments by name.

    Raises:
        TypeCheckError: One is of another type, or the function does not take them.
    """
    if not hints.input_types:
        return
    _check_that_it_takes(label, function, args, kwargs)
    wanted = of_parameters(function, hints.input_types)
    given = of_parameters(function, (tuple(args), kwargs))
    element = next(iter(given), None)
    for name, kind in given.items():
        if name not in wanted or kind is None or is_consistent_with(kind, wanted[name]):
            continue
        if name == element:
            check_element(label, wanted[name], kind)
        raise TypeCheckError(
            f"Type hint violation for {label!r}: requires {shown(wanted[name])} but got "
            f"{shown(kind)} for {name}; all its hints: {hints}"
        )


def _check_that_it_takes(
    label: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    try:
        parameters = signature(function)
    except (TypeError, ValueError):  # some functions in C have no signature
        return
    try:
        parameters.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeCheckError(
            f"Type hint violation for {label!r}: {stable_repr(function)} does not take the element "
            f"and the arguments after it: {error}"
        ) from error


def check_element(label: str, wanted: Any, given: Any) -> None:
    """Check the elements of a collection against the type of those that a function takes.

    Raises:
        TypeCheckError: They are of another type.
    """
    if given is not None and not is_consistent_with(given, wanted):
        raise TypeCheckError(
            f"{label!r} requires elements of type {shown(wanted)}, and it was applied to a "
            f"collection of {shown(given)}"
        )


def made_type(hints: IOTypeHints, given: Sequence[Any], tag: str = "") -> Any:
    """The declared type of what comes out, where variables stand for what was given.

    Args:
        given: The types of the elements of each collection that is read.
        tag: The output's.

    Returns:
        None if nothing is declared.
    """
    declared = hints.tagged_output_types().get(tag) if tag else hints.simple_output_type()
    if declared is None:
        return None
    bound: Mapping[TypeVar, Any] = {}
    if hints.input_types and hints.input_types[0] and given:
        known = [Any if kind is None else kind for kind in given]
        bound = matched(hints.input_types[0][0], Any if Any in known else normal(_union(known)))
    return filled(declared, bound)


def _union(kinds: Sequence[Any]) -> Any:
    return Union[tuple(kinds)]  # noqa: UP007
