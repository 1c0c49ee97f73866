"""Hints that are declared: by decorators, by annotations, by methods of a transform.

Values of a declared type have columns. What is only inferred does not count for that, because saved
state would change with it.

Source: Beam Python ``typehints.decorators``.
"""

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Self, TypeVar, cast, get_args, get_origin

import attrs

from beamlike.api.pipelines.beams_own import needs_beams_sdk
from beamlike.api.pipelines.hints.forms import K, V, checked, form, item_of, normal

__all__ = [
    "IOTypeHints",
    "WithTypeHints",
    "annotations_of",
    "get_type_hints",
    "with_input_types",
    "with_output_types",
]

Decorated = TypeVar("Decorated")

_HINTS = "_beamlike_type_hints"


@attrs.frozen
class IOTypeHints:
    """What something takes and what it makes.

    Attributes:
        taken: The type of the elements that it takes; None: nothing says it.
        made: The type of those that it makes; None: nothing says it.
    """

    taken: Any = None
    made: Any = None

    def with_defaults(self, others: "IOTypeHints | None") -> Self:
        """These hints, with what others say where these say nothing."""
        if others is None:
            return self
        taken = others.taken if self.taken is None else self.taken
        return attrs.evolve(self, taken=taken, made=others.made if self.made is None else self.made)

    def strip_iterable(self) -> Self:
        """The hints of something that makes several elements at once: what these are."""
        return self if self.made is None else attrs.evolve(self, made=item_of(self.made))


def _the_type(owner: str, types: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    """The one type that is declared.

    Raises:
        PipelineTypeError: It is no type.
        UnsupportedError: There are several, of arguments or outputs besides.
    """
    if len(types) != 1 or named:
        raise needs_beams_sdk(f"{owner} of more than the elements")
    return checked(types[0], owner)


class WithTypeHints:
    """Something that types may be declared for."""

    # Subclasses of users do not always call `__init__`.
    _declared = IOTypeHints()

    def get_type_hints(self) -> IOTypeHints:
        """All hints: those of this object, then those of its class, then its own by default."""
        declared = self._declared.with_defaults(get_type_hints(type(self)))
        return declared.with_defaults(self.default_type_hints())

    def default_type_hints(self) -> IOTypeHints | None:
        """The hints that hold if none are declared; None: there are none."""
        return None

    def with_input_types(self, *types: Any, **named: Any) -> Self:
        """Declare the type of the elements that it takes.

        Raises:
            PipelineTypeError: It is no type.
            UnsupportedError: There are types of other arguments, too.
        """
        taken = _the_type("with_input_types", types, named)
        self._declared = attrs.evolve(self._declared, taken=taken)
        return self

    def with_output_types(self, *types: Any, **named: Any) -> Self:
        """Declare the type of the elements that come out.

        Raises:
            PipelineTypeError: It is no type.
            UnsupportedError: There are types of other outputs, too.
        """
        made = _the_type("with_output_types", types, named)
        self._declared = attrs.evolve(self._declared, made=made)
        return self


def get_type_hints(decorated: Any) -> IOTypeHints:
    """What decorators say of a function or class."""
    return cast(IOTypeHints, getattr(decorated, _HINTS, IOTypeHints()))


def with_input_types(*types: Any, **named: Any) -> Callable[[Decorated], Decorated]:
    """A decorator: the type of the elements that a function, a `DoFn` or a transform takes.

    Raises:
        PipelineTypeError: It is no type.
        UnsupportedError: There are types of other arguments, too.
    """
    return _decorator(taken=_the_type("with_input_types", types, named))


def with_output_types(*types: Any, **named: Any) -> Callable[[Decorated], Decorated]:
    """A decorator: what a function returns; of a `DoFn` or a transform, the type of the elements
    that come out.

    Raises:
        PipelineTypeError: It is no type.
        UnsupportedError: There are types of other outputs, too.
    """
    return _decorator(made=_the_type("with_output_types", types, named))


def _decorator(**hint: Any) -> Callable[[Decorated], Decorated]:
    def decorate(decorated: Decorated) -> Decorated:
        setattr(decorated, _HINTS, attrs.evolve(get_type_hints(decorated), **hint))
        return decorated

    return decorate


def annotations_of(function: Any) -> IOTypeHints:
    """What the annotations of a function say; nothing, where it has none or is not Python's."""
    if isinstance(function, type):
        return IOTypeHints()
    if not inspect.isroutine(function):
        function = getattr(function, "__call__", function)  # noqa: B004
    try:
        types = typing.get_type_hints(function)
        parameters = inspect.signature(function).parameters.values()
    except (NameError, TypeError, ValueError, AttributeError, SyntaxError):
        return IOTypeHints()  # no function of Python, or a name of later
    made = normal(types["return"]) if "return" in types else None
    element = _first_parameter(parameters)
    return IOTypeHints(normal(types[element]) if element in types else None, made)


def _first_parameter(parameters: Iterable[inspect.Parameter]) -> str | None:
    """The parameter that an element is given to."""
    for parameter in parameters:
        by_place = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        if by_place and not getattr(type(parameter.default), "is_asked_for", False):
            return parameter.name
    return None


KV = form(tuple, K, V)
"""A pair, as Beam Python's hints write it: ``KV[str, int]``."""

_COLUMNS: Final = (int, float, str)
"""Types that have a column."""


def answer_type(function: Callable[..., Any], *, lists: bool) -> Any:
    """The type of the elements that a function makes; ``Any`` if nothing says it.

    Args:
        function: Its decorator counts, else the annotation of what it returns.
        lists: Whether it returns several elements at once.
    """
    hints = get_type_hints(function).with_defaults(annotations_of(function))
    if hints.made is None:
        return Any
    return item_of(hints.made) if lists else hints.made


def declared_type(collection: Any) -> Any:
    """The type of the elements of a collection; ``Any`` if no hint says it."""
    return getattr(collection, "declared_type", Any)


def value_type(pair: Any) -> type | None:
    """The type of the values of pairs of this type, if it is one that has a column.

    >>> value_type(tuple[str, int])
    <class 'int'>
    """
    parts = get_args(pair) if get_origin(pair) is tuple else ()
    return parts[1] if len(parts) == 2 and parts[1] in _COLUMNS else None
