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

from beamlike.api.pipelines.hints.forms import K, V, checked, form, item_of, normal, shown

__all__ = [
    "IOTypeHints",
    "WithTypeHints",
    "annotations_of",
    "get_type_hints",
    "of_collections",
    "of_parameters",
    "with_input_types",
    "with_output_types",
]

Decorated = TypeVar("Decorated")

Types = tuple[tuple[Any, ...], Mapping[str, Any]]
"""Types by place, and by name."""

_HINTS = "_beamlike_type_hints"


@attrs.frozen
class IOTypeHints:
    """What something takes and what it makes.

    Attributes:
        input_types: The types of its arguments by place and by name; None: nothing says it.
        output_types: The type of what comes out first, and of tagged outputs by their tags.

    Source: Beam Python ``IOTypeHints``.
    """

    input_types: Types | None = None
    output_types: Types | None = None

    def with_input_types(self, *types: Any, **named: Any) -> Self:
        """The same with these types of arguments."""
        return attrs.evolve(self, input_types=_types("with_input_types", types, named))

    def with_output_types(self, *types: Any, **named: Any) -> Self:
        """The same with these types of outputs."""
        return attrs.evolve(self, output_types=_types("with_output_types", types, named))

    def with_defaults(self, others: "IOTypeHints | None") -> Self:
        """The same, with what others say where these say nothing."""
        if others is None:
            return self
        return attrs.evolve(
            self,
            input_types=self.input_types or others.input_types,
            output_types=self.output_types or others.output_types,
        )

    def strip_iterable(self) -> Self:
        """The same, of something that makes several elements at once: what these are."""
        if not self.output_types or not self.output_types[0]:
            return self
        first, *others = self.output_types[0]
        made = (item_of(first), *others)
        return attrs.evolve(self, output_types=(made, self.output_types[1]))

    def simple_output_type(self, context: str = "") -> Any:
        """The type of what comes out; None: nothing says it."""
        types = self.output_types
        return types[0][0] if types and types[0] else None

    def tagged_output_types(self) -> Mapping[str, Any]:
        """The types of tagged outputs."""
        return self.output_types[1] if self.output_types else {}

    def __bool__(self) -> bool:
        return bool(self.input_types or self.output_types)

    def __str__(self) -> str:
        taken, made = (_in_words(it) for it in (self.input_types, self.output_types))
        return f"IOTypeHints[inputs={taken}, outputs={made}]"


def _types(owner: str, types: tuple[Any, ...], named: Mapping[str, Any]) -> Types:
    named = {name: checked(it, owner) for name, it in named.items()}
    return tuple(checked(it, owner) for it in types), named


def _in_words(types: Types | None) -> str:
    if types is None:
        return "None"
    named = [f"{name}={shown(it)}" for name, it in types[1].items()]
    return f"({', '.join([*map(shown, types[0]), *named])})"


class WithTypeHints:
    """Something that types may be declared for. Source: Beam Python ``WithTypeHints``."""

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
        """Declare what it takes: the type of the elements, then those of its other arguments.

        Raises:
            PipelineTypeError: It is no type.
        """
        self._declared = self._declared.with_input_types(*types, **named)
        return self

    def with_output_types(self, *types: Any, **named: Any) -> Self:
        """Declare what comes out: the type of its elements, and of tagged outputs by their tags.

        Raises:
            PipelineTypeError: It is no type.
        """
        self._declared = self._declared.with_output_types(*types, **named)
        return self


def get_type_hints(decorated: Any) -> IOTypeHints:
    """What decorators say of a function or class."""
    return cast(IOTypeHints, getattr(decorated, _HINTS, IOTypeHints()))


def with_input_types(*types: Any, **named: Any) -> Callable[[Decorated], Decorated]:
    """A decorator: what a function, a `DoFn`, a combine function or a transform takes.

    Args:
        types: The type of the elements, then those of other arguments.
        named: Types of arguments by their names.

    Raises:
        PipelineTypeError: One is no type.

    Source: Beam Python ``typehints.with_input_types``.
    """

    def decorate(decorated: Decorated) -> Decorated:
        hints = get_type_hints(decorated).with_input_types(*types, **named)
        setattr(decorated, _HINTS, hints)
        return decorated

    return decorate


def with_output_types(*types: Any, **named: Any) -> Callable[[Decorated], Decorated]:
    """A decorator: what a function, a `DoFn`, a combine function or a transform makes.

    Args:
        types: What a function returns; of a class, the type of the elements that come out.
        named: The types of tagged outputs by their tags.

    Raises:
        PipelineTypeError: One is no type.

    Source: Beam Python ``typehints.with_output_types``.
    """

    def decorate(decorated: Decorated) -> Decorated:
        hints = get_type_hints(decorated).with_output_types(*types, **named)
        setattr(decorated, _HINTS, hints)
        return decorated

    return decorate


def annotations_of(function: Any) -> IOTypeHints:
    """What the annotations of a function say; nothing, where it has none or is not Python's."""
    if isinstance(function, type):
        return IOTypeHints()
    if not inspect.isroutine(function):
        function = getattr(function, "__call__", function)  # noqa: B004
    try:
        found = typing.get_type_hints(function)
        parameters = inspect.signature(function).parameters.values()
    except (NameError, TypeError, ValueError, AttributeError, SyntaxError):
        return IOTypeHints()  # no function of Python, or a name of later
    made: Types | None = ((normal(found.pop("return")),), {}) if "return" in found else None
    if not found:
        return IOTypeHints(None, made)
    places = _places(parameters)
    named = {
        it.name: normal(found[it.name])
        for it in parameters
        if it.kind is it.KEYWORD_ONLY and it.name in found
    }
    taken = tuple(normal(found.get(name, Any)) for name in places)
    return IOTypeHints((taken, named), made)


def _places(parameters: Iterable[inspect.Parameter]) -> list[str]:
    """The parameters that arguments are given to by place, one after the other."""
    return [
        it.name
        for it in parameters
        if it.kind in (it.POSITIONAL_ONLY, it.POSITIONAL_OR_KEYWORD)
        and not getattr(type(it.default), "is_asked_for", False)
    ]


def of_parameters(function: Any, types: Types) -> dict[str, Any]:
    """Types by the names of the parameters that they are meant for.

    Args:
        function: What has the parameters.
        types: Types by place, and by name.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):  # some functions in C do not say
        parameters = []
    places = _places(parameters)
    by_place, by_name = types
    numbered = [*places, *(f"argument {number}" for number in range(len(places), len(by_place)))]
    return dict(zip(numbered, by_place, strict=False)) | dict(by_name)


def of_collections(expand: Any) -> IOTypeHints | None:
    """What annotations of ``expand`` say of the elements: ``PCollection[int]`` in, and out."""
    try:
        found = typing.get_type_hints(getattr(expand, "__func__", expand))
        first = next(iter(inspect.signature(expand).parameters))
    except (NameError, TypeError, ValueError, AttributeError, SyntaxError, StopIteration):
        return None
    taken, made = _elements(found.get(first)), _elements(found.get("return"))
    return IOTypeHints(taken and ((taken,), {}), made and ((made,), {}))


def _elements(collection: Any) -> Any:
    """The type of the elements of ``PCollection[int]``; None if it says nothing."""
    origin, parts = typing.get_origin(collection), typing.get_args(collection)
    if not parts or getattr(origin, "__name__", "") != "PCollection":
        return None
    return None if isinstance(parts[0], TypeVar) else normal(parts[0])


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
    made = hints.simple_output_type()
    if made is None:
        return Any
    return item_of(made) if lists else made


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
