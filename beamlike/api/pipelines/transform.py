"""What a transform is: a step of a pipeline, with a name."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial, wraps
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from beamlike.errors import PipelineError
from beamlike.model.fingerprint import stable_repr

__all__ = ["Applied", "PTransform", "function_label", "is_lambda", "ptransform_fn"]

In_contra = TypeVar("In_contra", contravariant=True)
Out_co = TypeVar("Out_co", covariant=True)


def function_label(fn: Any) -> str:
    """A function in a default label: its name, or where a lambda stands, so that two differ.

    Source: Beam Python ``label_from_callable``.
    """
    if isinstance(fn, partial):
        return f"partial({function_label(fn.func)})"
    if is_lambda(fn):
        return f"<lambda at {Path(fn.__code__.co_filename).name}:{fn.__code__.co_firstlineno}>"
    return getattr(fn, "__name__", None) or stable_repr(fn)


def is_lambda(fn: Any) -> bool:
    """Whether a function has no name of its own."""
    return getattr(fn, "__code__", None) is not None and fn.__name__ == "<lambda>"


class Applied(Protocol[In_contra, Out_co]):
    """What a type checker needs to know of a transform: what it makes of what.

    Many transforms are generic in `expand` and not in their class, because nothing that they are
    made of says what they will be applied to.
    """

    def expand(self, given: In_contra, /) -> Out_co: ...


def _check_label(label: object, transform: object) -> None:
    if not isinstance(label, str):
        raise PipelineError(
            f"the name of a transform must be a text, got {label!r}; write "
            f'"name" >> {type(transform).__name__}(...)'
        )


class PTransform(Generic[In_contra, Out_co]):
    """A step of a pipeline: it makes collections out of collections.

    Subclasses say how in `expand`, by applying other transforms. A transform is given a name
    with ``"name" >> transform``; without one it has the name of its class, or of its function.

    Source: Beam ``PTransform``.
    """

    # Subclasses of users do not always call `__init__`.
    _label: str | None = None
    _output_type: Any = None

    takes_several: ClassVar[bool] = False
    """Whether a list that it is applied to is one of collections, and not of elements."""

    def __init__(self, label: str | None = None) -> None:
        if label is not None:
            _check_label(label, self)
        self._label = label

    @property
    def label(self) -> str:
        """The name that it was given; its default if it was given none, or an empty one."""
        return self._label or self.default_label()

    @label.setter
    def label(self, label: str | None) -> None:
        self._label = label

    @property
    def is_named(self) -> bool:
        """Whether it was given a name."""
        return bool(self._label)

    def default_label(self) -> str:
        """The name if it was given none."""
        return type(self).__name__

    def expand(self, given: In_contra) -> Out_co:
        """Apply this to a collection, to several, or to a pipeline.

        Raises:
            PipelineError: The subclass does not say how.
        """
        raise PipelineError(
            f"{type(self).__name__} does not say what it does: write def expand(self, pcoll) that "
            "applies other transforms to pcoll and returns the result"
        )

    def __rrshift__(self, label: str) -> Self:
        """This transform under a name: ``"name" >> transform``."""
        _check_label(label, self)
        named = self._copy()
        named.label = label
        return named

    def __or__(self, transform: "PTransform[Any, Any]") -> "PTransform[Any, Any]":
        """This transform and another one after it, as one: ``Map(f) | Map(g)``."""
        if not isinstance(transform, PTransform):
            return NotImplemented
        return _Chain((*_links(self), *_links(transform)))

    def __ror__(self, given: Iterable[Any]) -> Any:
        """Apply this to several collections: ``(one, other) | Flatten()``.

        A list of elements in place of a collection is one too. If there is no collection at
        all, everything runs at once, in memory, and lists come out: ``[1, 2] | Map(str)``.
        """
        # Circular otherwise: collections apply transforms.
        from beamlike.api.pipelines.eager import apply_to_lists

        return apply_to_lists(self, given)

    def with_resource_hints(self, **_hints: Any) -> Self:
        """The same. In Beam it says what a worker should have, which hosts decide here."""
        return self

    def with_input_types(self, *_types: Any, **_named: Any) -> Self:
        """The same: elements may be anything. Beam's hint, for those who wrote it there."""
        return self

    def with_output_types(self, *types: Any) -> Self:
        """Say of which type the elements are that come out, such as ``tuple[str, int]``.

        Values of pairs that are ``int``, ``float`` or ``str`` then lie in typed columns where they
        are grouped, in saved state too. Other hints change nothing.

        Source: Beam Python ``PTransform.with_output_types``.
        """
        self._output_type = types[0] if types else None
        return self

    def output_type(self, given: Any) -> Any:
        """The type of the elements that come out of this, applied to ``given``; ``Any`` if no
        hint says it."""
        return Any if self._output_type is None else self._output_type

    def __str__(self) -> str:
        return f"<{type(self).__name__}(PTransform) label=[{self.label}]>"

    def _copy(self) -> Self:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy


class _Chain(PTransform[Any, Any]):
    """Transforms one after the other. Source: Beam Python ``_ChainedPTransform``."""

    def __init__(self, links: tuple[PTransform[Any, Any], ...]) -> None:
        super().__init__()
        self.links = links

    def default_label(self) -> str:
        return "|".join(link.label for link in self.links)

    def expand(self, given: Any) -> Any:
        for link in self.links:
            given = given | link
        return given


def _links(transform: PTransform[Any, Any]) -> tuple[PTransform[Any, Any], ...]:
    chained = isinstance(transform, _Chain) and not transform.is_named
    return transform.links if chained else (transform,)  # type: ignore[attr-defined]


class _OfFunction(PTransform[Any, Any]):
    def __init__(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        super().__init__()
        self.fn, self.args, self.kwargs = fn, args, kwargs

    def default_label(self) -> str:
        name = function_label(self.fn)
        if not self.args:
            return name
        first = self.args[0]
        return f"{name}({function_label(first) if callable(first) else first})"

    def expand(self, given: Any) -> Any:
        return self.fn(given, *self.args, **self.kwargs)


def ptransform_fn(fn: Callable[..., Any]) -> Callable[..., PTransform[Any, Any]]:
    """A decorator: a function of a collection and more becomes a transform of the more.

    Source: Beam Python ``ptransform_fn``.
    """

    @wraps(fn)
    def made(*args: Any, **kwargs: Any) -> PTransform[Any, Any]:
        return _OfFunction(fn, args, kwargs)

    return made
