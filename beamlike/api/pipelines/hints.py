"""Type hints of Beam Python: what is declared of the elements that come out of a transform.

Values of a declared type have columns in saved state. Whether one transform fits the next is for
type checkers to say.

Source: Beam Python ``typehints.decorators``.
"""

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from beamlike.api.pipelines.beams_own import needs_beams_sdk
from beamlike.errors import PipelineTypeError

__all__ = ["WithTypeHints", "with_input_types", "with_output_types"]

Decorated = TypeVar("Decorated")

_variable: Any = TypeVar  # type checkers would take it for a variable of theirs

KV: Any = typing.Tuple[_variable("K"), _variable("V")]  # noqa: UP006
"""A pair, as Beam Python's hints write it: ``KV[str, int]``."""

_OUTPUT: Final = "_beamlike_output_type"
"""The attribute of what is decorated: the type of what it makes."""
_COLUMNS: Final = (int, float, str)
"""Types that have a column."""


def _output_type(types: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    """The one type that is declared."""
    if len(types) != 1 or named:
        raise needs_beams_sdk("with_output_types of more than the elements")
    if isinstance(types[0], int | float | bytes | list | tuple | set | dict):
        raise PipelineTypeError(
            f"with_output_types needs types such as int or tuple[str, int], got {types[0]!r}, an "
            f"instance of {type(types[0]).__name__}"
        )
    return types[0]


class WithTypeHints:
    """Something that types may be declared for."""

    # Subclasses of users do not always call `__init__`.
    _declared_output: Any = None

    def with_input_types(self, *_types: Any, **_named: Any) -> Self:
        """Declare the types of the elements and of other arguments that it takes, for readers."""
        return self

    def with_output_types(self, *types: Any, **named: Any) -> Self:
        """Declare the type of the elements that come out.

        Raises:
            PipelineTypeError: It is a value and not a type.
            UnsupportedError: There are types of other outputs, too.
        """
        self._declared_output = _output_type(types, named)
        return self


def with_input_types(*_types: Any, **_named: Any) -> Callable[[Decorated], Decorated]:
    """A decorator: the types that a function, a `DoFn` or a transform takes, for readers."""
    return lambda decorated: decorated


def with_output_types(*types: Any, **named: Any) -> Callable[[Decorated], Decorated]:
    """A decorator: what a function returns; of a `DoFn` or a transform, the type of the elements
    that come out.

    Raises:
        PipelineTypeError: It is a value and not a type.
        UnsupportedError: There are types of other outputs, too.
    """
    output = _output_type(types, named)

    def decorate(decorated: Decorated) -> Decorated:
        setattr(decorated, _OUTPUT, output)
        return decorated

    return decorate


def answer_type(function: Callable[..., Any], *, lists: bool) -> Any:
    """The type of the elements that a function makes; ``Any`` if nothing says it."""
    declared = getattr(function, _OUTPUT, None) or _annotated_output(function)
    return _item_of(declared) if lists else declared


def _annotated_output(function: Any) -> Any:
    if isinstance(function, type):
        return Any
    if not inspect.isroutine(function):
        function = getattr(function, "__call__", function)  # noqa: B004
    try:
        return get_type_hints(function).get("return", Any)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return Any  # not a function of Python, or a name of later


def _plain(hint: Any) -> Any:
    """A type without names and notes for it; of literals their type, if it is one."""
    inner = getattr(hint, "__supertype__", None) or getattr(hint, "__value__", None)
    if inner is not None:  # NewType, and the ``type`` statement
        return _plain(inner)
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _plain(parts[0])
    return Union[tuple(map(type, parts))] if origin is Literal else hint  # noqa: UP007


def _item_of(hint: Any) -> Any:
    """The type of what an iterable of this type gives; ``Any`` if it does not say."""
    hint = _plain(hint)
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        items = {_plain(_item_of(part)) for part in parts if part is not NoneType}
        return items.pop() if len(items) == 1 else Any
    if not isinstance(origin, type) or not parts or not issubclass(origin, Iterable):
        return Any
    if origin is tuple and parts[-1] is not ...:
        return Union[parts]  # noqa: UP007
    return parts[0]


def declared_type(collection: Any) -> Any:
    """The type of the elements of a collection; ``Any`` if no hint says it."""
    return getattr(collection, "declared_type", Any)


def value_type(pair: Any) -> type | None:
    """The type of the values of pairs of this type, if it is one that has a column.

    >>> value_type(tuple[str, int])
    <class 'int'>
    """
    pair = _plain(pair)
    parts = get_args(pair) if get_origin(pair) is tuple else ()
    value = _plain(parts[1]) if len(parts) == 2 else None
    return value if value in _COLUMNS else None
