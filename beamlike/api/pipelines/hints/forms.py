"""Types in one form, so that two that mean the same are equal, in words, and those of values.

Source: Beam Python ``trivial_inference.instance_to_type``.
"""

import collections.abc as abc
import types
import typing
from collections import deque
from collections.abc import Iterable
from typing import Annotated, Any, Final, ForwardRef, Literal, TypeVar, Union, get_args, get_origin

from beamlike.errors import PipelineTypeError

# Type checkers take a variable for one of theirs, and these stand in values.
_variable: Any = TypeVar
K = _variable("K")
V = _variable("V")
T = _variable("T")

_CALLABLE: Final[Any] = abc.Callable

_GENERIC: Final[dict[Any, Any]] = {
    tuple: typing.Tuple,  # noqa: UP006
    list: typing.List,  # noqa: UP006
    dict: typing.Dict,  # noqa: UP006
    set: typing.Set,  # noqa: UP006
    frozenset: typing.FrozenSet,  # noqa: UP006
    deque: typing.Deque,  # noqa: UP006
    abc.Iterable: typing.Iterable,
    abc.Iterator: typing.Iterator,
    abc.Generator: typing.Generator,
    abc.Sequence: typing.Sequence,
    abc.MutableSequence: typing.MutableSequence,
    abc.Collection: typing.Collection,
    abc.Mapping: typing.Mapping,
    abc.MutableMapping: typing.MutableMapping,
    abc.Set: typing.AbstractSet,
}
"""Origins that keep their parameters, with the name of each that is equal however it is written."""


def normal(hint: Any) -> Any:
    """The one form of a type; ``Any`` for what says nothing of values.

    >>> normal(tuple[str, int]) == normal(typing.Tuple[str, int])
    True
    """
    if hint is None:
        return type(None)
    if isinstance(hint, TypeVar) or hint is Any:
        return hint
    if isinstance(hint, str | ForwardRef):
        return Any
    inner = getattr(hint, "__supertype__", None) or getattr(hint, "__value__", None)
    if inner is not None:  # NewType, and the ``type`` statement
        return normal(inner)
    origin, parts = get_origin(hint), get_args(hint)
    if origin is None:
        return hint if isinstance(hint, type) else Any
    if origin is Annotated:
        return normal(parts[0])
    if origin is Literal:
        return Union[tuple(type(part) for part in parts)]  # noqa: UP007
    if origin in (Union, types.UnionType):
        made = tuple(map(normal, parts))
        return Any if Any in made else Union[made]  # noqa: UP007
    if origin in _GENERIC:
        return _generic(origin, parts)
    return origin if isinstance(origin, type) and origin is not _CALLABLE else Any


def form(kind: Any, *parts: Any) -> Any:
    """A generic type of its parts, in the one form.

    >>> form(tuple, str, int) == normal(tuple[str, int])
    True
    """
    return normal(kind[parts])


def _generic(origin: Any, parts: tuple[Any, ...]) -> Any:
    if not parts:
        # ``tuple[()]`` is the empty tuple, and ``typing.Tuple`` any.
        return origin
    return _GENERIC[origin][tuple(part if part is ... else normal(part) for part in parts)]


def checked(hint: Any, owner: str) -> Any:
    """A hint in the one form.

    Raises:
        PipelineTypeError: It is a value and no type.
    """
    known = hint is None or isinstance(hint, type | str | TypeVar | ForwardRef)
    if known or get_origin(hint) is not None or hint is Any:
        return normal(hint)
    if hasattr(hint, "__supertype__") or hasattr(hint, "__value__"):
        return normal(hint)
    if getattr(hint, "__module__", "") == "typing" and not isinstance(hint, list | tuple | dict):
        return normal(hint)
    raise PipelineTypeError(
        f"{owner} needs types such as int or tuple[str, int], got {hint!r}, an instance of "
        f"{type(hint).__name__}"
    )


def parts_of(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """What a type is a form of, and its parameters: ``(tuple, (str, int))``."""
    origin = get_origin(hint)
    return (hint, ()) if origin is None else (origin, get_args(hint))


def item_of(hint: Any) -> Any:
    """The type of what an iterable of this type gives; ``Any`` if it does not say.

    >>> item_of(list[int])
    <class 'int'>
    """
    hint = normal(hint)
    origin, parts = parts_of(hint)
    if origin is Union:
        said = [item_of(part) for part in parts if part is not type(None)]
        return normal(Union[tuple(said)]) if said else Any  # noqa: UP007
    if not isinstance(origin, type) or not parts or not issubclass(origin, abc.Iterable):
        return str if hint is str else Any
    if origin is tuple and parts[-1] is not ...:
        return normal(Union[parts])  # noqa: UP007
    return parts[0]


def shown(hint: Any) -> str:
    """A type in the words of Beam's messages.

    >>> shown(tuple[str, K])
    "Tuple[<class 'str'>, TypeVariable[K]]"
    """
    hint = normal(hint)
    if hint is ...:
        return "..."
    if isinstance(hint, TypeVar):
        return f"TypeVariable[{hint.__name__}]"
    origin, parts = parts_of(hint)
    if not parts:
        return "Any" if hint is Any else repr(hint)
    name = "Union" if origin is Union else _GENERIC[origin].__name__
    inner = ["..." if part is ... else shown(part) for part in parts]
    return f"{name}[{', '.join(sorted(inner) if origin is Union else inner)}]"


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
