"""Type hints: of which type the elements of a collection are, as hints declare it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

__all__ = [
    "KV",
    "answer_type",
    "element_type",
    "value_type",
    "with_input_types",
    "with_output_types",
]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")

KV = tuple[K, V]
"""A pair, as Beam Python's hints write it: ``KV[str, int]``."""

_HINT: Final = "_beamlike_output_type"
_COLUMNS: Final = (int, float, str)
"""Types that have a column."""


def with_input_types(*_types: Any, **_named: Any) -> Callable[[T], T]:
    """A decorator: the function or class as it is. Nothing here asks what it may be given.

    Source: Beam Python ``typehints.with_input_types``.
    """
    return lambda decorated: decorated


def with_output_types(*types: Any) -> Callable[[T], T]:
    """A decorator: the outputs of a function, or of a `DoFn`, are of this type.

    Source: Beam Python ``typehints.with_output_types``.
    """

    def decorate(decorated: T) -> T:
        setattr(decorated, _HINT, types[0] if types else None)
        return decorated

    return decorate


def answer_type(function: Callable[..., Any], *, lists: bool) -> Any:
    """The type of the elements that a function makes; ``Any`` if nothing says it.

    Args:
        function: Its decorator counts, else the annotation of what it returns.
        lists: Whether it returns several elements at once.
    """
    decorated = getattr(function, _HINT, None)
    if decorated is not None:
        return decorated
    try:
        answer = get_type_hints(function).get("return", Any)
    except (NameError, TypeError, AttributeError):  # no function of Python, or a name of later
        return Any
    if not lists:
        return answer
    items = get_args(answer)
    return items[0] if get_origin(answer) in _LISTS and items else Any


_LISTS: Final = (Iterable, Iterator, Sequence, list)


def element_type(collection: Any) -> Any:
    """The type of the elements of a collection; ``Any`` if no hint says it."""
    return getattr(collection, "element_type", Any)


def value_type(pair: Any) -> type | None:
    """The type of the values of pairs of this type, if it is one that has a column.

    >>> value_type(tuple[str, int])
    <class 'int'>
    """
    parts = get_args(pair) if get_origin(pair) is tuple else ()
    return parts[1] if len(parts) == 2 and parts[1] in _COLUMNS else None
