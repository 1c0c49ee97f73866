"""What a transform is given, against what it takes; and the types of what it makes.

Source: Beam Python ``PTransform.type_check_inputs``, ``Pipeline._infer_result_type``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, Final, TypeVar, Union

from beamlike.api.pipelines.hints.consistency import filled, is_consistent_with, matched
from beamlike.api.pipelines.hints.declared import IOTypeHints, of_parameters
from beamlike.api.pipelines.hints.forms import K, V, form, normal, shown
from beamlike.errors import TypeCheckError
from beamlike.model.fingerprint import stable_repr

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


def no_hint(kind: str, full_label: str) -> TypeCheckError:
    """The error of a transform that says nothing of what it makes, where each has to."""
    return TypeCheckError(
        "Pipeline type checking is enabled, however no output type-hint was found for the "
        f"PTransform {kind}({full_label})"
    )
