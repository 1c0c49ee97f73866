"""What a transform is: a step of a pipeline, with a name."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from beamlike.api.arguments import warn_of_hint
from beamlike.api.pipelines.beams_own import needs_beams_sdk
from beamlike.api.pipelines.hints import WithTypeHints
from beamlike.errors import MissingMethodError, PipelineError, PipelineTypeError, TypeCheckError
from beamlike.model.fingerprint import stable_repr

__all__ = ["Applied", "KeepsElements", "PTransform", "function_label", "is_lambda", "ptransform_fn"]


class Elements:
    """Elements on their way through a pipeline: what `PCollection` is to a transform."""

    pipeline: Any


class Collections:
    """Several collections by name, to iterate over: what `DoOutputs` is to a transform."""

    def __getitem__(self, tag: str | None) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class PipelineRoot:
    """Where transforms that read nothing begin: what `Pipeline` is to them."""


def collections_in(inputs: Any) -> Iterator[Any]:
    """The collections in what a transform was given or made."""
    if isinstance(inputs, Elements):
        yield inputs
    elif isinstance(inputs, Mapping):
        yield from collections_in(list(inputs.values()))
    elif isinstance(inputs, tuple | list | Collections):
        for part in inputs:
            yield from collections_in(part)


def pipelines_of(inputs: Any, label: str) -> Iterator[Any]:
    """The pipelines to which belongs what the transform of this label was given."""
    if isinstance(inputs, PipelineRoot):
        yield inputs
    elif isinstance(inputs, Elements):
        yield inputs.pipeline
    elif isinstance(inputs, Mapping | tuple | list):
        for part in inputs.values() if isinstance(inputs, Mapping) else inputs:
            yield from pipelines_of(part, label)
    elif inputs is None:
        raise TypeCheckError(
            f"{label!r} was applied to the output of a transform that has no output; "
            "let its expand return a collection, or apply this one to what it reads"
        )
    else:
        raise PipelineTypeError(
            f"{label!r} was given {inputs!r}, which is not a collection; apply it to a "
            "PCollection, to several in a tuple, or to a Pipeline; of plain values write "
            "pipeline | Create([...]) first"
        )


_LONGEST: Final = 19
"""The most letters of an argument in a label. Source: Beam Python ``ptransform_fn``."""

In_contra = TypeVar("In_contra", contravariant=True)
Out_co = TypeVar("Out_co", covariant=True)


def function_label(fn: Any) -> str:
    """A function in a default label: what its ``default_label`` says, its name, or where a lambda
    stands, so that two differ.

    Raises:
        PipelineError: ``default_label`` returns something else than a text.

    Source: Beam Python ``label_from_callable``.
    """
    says_label = None if isinstance(fn, type) else getattr(fn, "default_label", None)
    if callable(says_label):
        label = says_label()
        if not isinstance(label, str):
            raise PipelineError(
                f"default_label of {type(fn).__name__} returned {label!r}; return a text"
            )
        return label
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

    def expand(self, inputs: In_contra, /) -> Out_co: ...


class KeepsElements(Protocol[In_contra]):
    """A transform whose output are elements of its input, also where their type is not known."""

    def keeps(self, element: In_contra, /) -> bool: ...


def _check_label(label: object, transform: object) -> None:
    if not isinstance(label, str):
        raise PipelineError(
            f"the name of a transform must be a text, got {label!r}; write "
            f'"name" >> {type(transform).__name__}(...)'
        )


class PTransform(WithTypeHints, Generic[In_contra, Out_co]):
    """A step of a pipeline: it makes collections out of collections.

    Subclasses say how in `expand`, by applying other transforms. A transform is given a name
    with ``"name" >> transform``; without one it has the name of its class, or of its function.
    """

    # Subclasses of users do not always call `__init__`.
    _label: str | None = None

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

    def default_label(self) -> str:
        """The name if it was given none."""
        return type(self).__name__

    def expand(self, inputs: In_contra) -> Out_co:
        """Apply this to a collection, to several, or to a pipeline.

        Raises:
            PipelineError: The subclass does not say how.
        """
        raise MissingMethodError(
            f"{type(self).__name__} does not say what it does: write def expand(self, pcoll) that "
            "applies other transforms to pcoll and returns the result"
        )

    def __rrshift__(self, label: str) -> Self:
        """This transform under a name: ``"name" >> transform``."""
        _check_label(label, self)
        named = self._copy()
        named.label = label
        return named

    def __or__(self, other: Any) -> Any:
        """Only in Beam's own SDK, where two transforms make one.

        Raises:
            UnsupportedError: The other one is a transform.
        """
        if isinstance(other, PTransform):
            raise needs_beams_sdk(f"{self.label} | {other.label}")
        return NotImplemented

    def __ror__(self, inputs: Iterable[Any]) -> Any:
        """Apply this to several collections: ``(one, other) | Flatten()``."""
        return apply(self, list(inputs) if isinstance(inputs, Iterator) else inputs)

    def with_resource_hints(self, **hints: Any) -> Self:
        """This transform. In Beam it says what a worker should have, which hosts decide here: each
        hint is warned of."""
        for name, value in hints.items():
            warn_of_hint("with_resource_hints", name, value, "a host decides what its workers have")
        return self

    def output_type(self, inputs: Any) -> Any:
        """The type of the elements that come out of this, applied to ``given``; ``Any`` if no
        hint of its user says it. Groupings keep values of such a type in columns: ``int``,
        ``float`` and ``str`` after a key."""
        return Any if self._declared_output is None else self._declared_output

    def __str__(self) -> str:
        return f"<{type(self).__name__}(PTransform) label=[{self.label}]>"

    def _copy(self) -> Self:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy


def apply(transform: PTransform[Any, Any], inputs: Any) -> Any:
    """Apply a transform to a collection, to several, or to a pipeline."""
    if not isinstance(transform, PTransform):
        call = f"; write {transform.__name__}(...)" if isinstance(transform, type) else ""
        raise PipelineTypeError(f"| needs a transform such as Map(f), got {transform!r}{call}")
    pipelines = list(dict.fromkeys(pipelines_of(inputs, transform.label)))
    if not pipelines and getattr(transform, "pipeline", None) is not None:
        pipelines = [transform.pipeline]  # type: ignore[attr-defined]
    if len(pipelines) != 1:
        number = "no pipeline" if not pipelines else "several pipelines"
        raise PipelineError(
            f"{transform.label!r} was given collections of {number}; "
            "give it collections that one pipeline has"
        )
    return pipelines[0].applied(transform, inputs)


class FunctionTransform(PTransform[Any, Any]):
    """What a function applies to what it is given, as one transform."""

    def __init__(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.fn, self.args, self.kwargs = fn, args, kwargs

    def default_label(self) -> str:
        name = function_label(self.fn)
        if not self.args:
            return name
        first = self.args[0]
        text = function_label(first) if callable(first) else str(first)
        return f"{name}({text if len(text) <= _LONGEST else f'{text[:10]}...{text[-6:]}'})"

    def expand(self, inputs: Any) -> Any:
        return self.fn(inputs, *self.args, **self.kwargs)


def ptransform_fn(fn: Callable[..., Any]) -> Callable[..., PTransform[Any, Any]]:
    """A decorator: a function of a collection and more becomes a transform of the more.

    Raises:
        UnsupportedError: It has a parameter ``type_hints``, which Beam's own SDK gives.
    """
    if "type_hints" in inspect.signature(fn).parameters:
        raise needs_beams_sdk("ptransform_fn of a function with type_hints")

    @wraps(fn)
    def transform(*args: Any, **kwargs: Any) -> PTransform[Any, Any]:
        return FunctionTransform(fn, *args, **kwargs)

    return transform


class LabelTakenError(PipelineError, RuntimeError):
    """A pipeline has a transform of this name already."""


class TransformTree:
    """The transforms of a pipeline under their names, as they are applied.

    Attributes:
        stack: The full names of the transforms that are being applied, the innermost last; first
            that of the root.
        labels: The full names that are taken.
    """

    def __init__(self) -> None:
        self.stack = [""]
        self.labels: dict[str, None] = {}

    @property
    def label(self) -> str:
        """The full name of the transform that is being applied."""
        return self.stack[-1]

    def free_label(self, name: str) -> str:
        """The name, with a number after it if a transform has it where one is being applied."""
        label, number = name, 1
        while self._full(label) in self.labels:
            number += 1
            label = f"{name}{number}"
        return label

    @contextmanager
    def applying(self, transform: PTransform[Any, Any]) -> Iterator[None]:
        """Take the name of a transform, and hold it while the transform is applied.

        A transform that cannot be applied leaves nothing behind, also no name.
        """
        label = str(transform.label)
        full = self._full(label)
        known = len(self.labels)
        if full in self.labels:
            raise LabelTakenError(
                f"a transform named {full!r} is in this pipeline already; give this one a name "
                f'of its own: "another name" >> {transform.default_label().partition("(")[0]}(...)'
            )
        self.labels[full] = None
        self.stack.append(full)
        try:
            yield
        except BaseException:
            while len(self.labels) > known:
                self.labels.popitem()
            raise
        finally:
            self.stack.pop()

    def _full(self, label: str) -> str:
        return f"{self.label}/{label}" if len(self.stack) > 1 else label
