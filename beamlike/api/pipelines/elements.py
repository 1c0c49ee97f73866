"""Sources in memory, and transforms that take elements one by one.

Source: Beam Python ``transforms.core`` and ``transforms.util``; Beam Java ``WithTimestamps``.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Generic, cast, overload

from beamlike.api.arguments import warn_of_hint
from beamlike.api.pipelines.dofn import (
    DoFn,
    Located,
    Plain,
    PlainFn,
    Timestamped,
    TimestampedValue,
)
from beamlike.api.pipelines.hints import answer_type, declared_type
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.transform import PTransform, function_label
from beamlike.api.pipelines.variables import In, K, R, T
from beamlike.errors import PipelineError, PipelineTypeError
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.model.graph import ReadNode
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP, DurationLike, InstantLike, duration_ms
from beamlike.runtime.graph.source_steps import CreatedElements
from beamlike.runtime.script import Arrive

__all__ = ["Create", "Filter", "FlatMap", "Impulse", "Map"]


class Create(PTransform[Pipeline, PCollection[T]], Generic[T]):
    """Elements that are there from the start. They all happen at the minimum timestamp, but
    those that are a `TimestampedValue` or a `WindowedValue`, whose windows do not count.

    Args:
        values: The elements; of a mapping its items.
        reshuffle: False, which keeps Beam from spreading the elements anew, has no effect and is
            warned of: elements that are created are never spread anew.
    """

    @overload
    def __init__(
        self: "Create[tuple[K, R]]", values: Mapping[K, R], reshuffle: bool = True
    ) -> None: ...

    @overload
    def __init__(self, values: Iterable[Timestamped[T]], reshuffle: bool = True) -> None: ...

    @overload
    def __init__(self, values: Iterable[T | Timestamped[T]], reshuffle: bool = True) -> None: ...

    def __init__(self, values: Any, reshuffle: bool = True) -> None:
        if not reshuffle:
            why = "elements that are created are never spread anew"
            warn_of_hint("Create", "reshuffle", reshuffle, why)
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise PipelineTypeError(f"Create needs a list of elements, got {values!r}")
        self.values: Sequence[Any]
        if isinstance(values, range):
            self.values = values  # nothing can change it, and its numbers need no memory
        else:
            self.values = list(values.items()) if isinstance(values, Mapping) else list(values)

    def expand(self, pipeline: Pipeline) -> PCollection[T]:
        if not isinstance(pipeline, Pipeline):
            name = self.label
            raise PipelineError(
                f"{name!r} starts from the pipeline, and was applied to {pipeline!r}; write "
                "pipeline | Create(...), and put both into one with (one, other) | Flatten()"
            )
        # An element with a window and a pane of its own gets them from a function.
        values = () if isinstance(self.values, range) else self.values
        placed = any(isinstance(value, Located) for value in values)
        elements = CreatedElements(self.values, _as_it_is if placed else _element)
        arrive = Arrive(cast("tuple[tuple[Hashable, Element], ...]", elements))
        script = (arrive, AdvanceWatermark(MAX_TIMESTAMP))
        node = ReadNode(
            f"{pipeline.label}/Read" if placed else pipeline.label, (), script, bounded=True
        )
        pcoll: PCollection[T] = pipeline.add(node, WindowingStrategy.unwindowed(), is_bounded=True)
        return pcoll | "Place" >> Map(_itself) if placed else pcoll


def _as_it_is(value: Any) -> Element:
    return Element(value, MIN_TIMESTAMP)


def _element(value: Any) -> Element:
    if isinstance(value, Timestamped):
        return Element(value.value, value.millis)
    return Element(value, MIN_TIMESTAMP)


class Impulse(PTransform[Pipeline, PCollection[bytes]]):
    """One element, empty bytes: what makes a pipeline do something."""

    def expand(self, pipeline: Pipeline) -> PCollection[bytes]:
        return Create([b""]).expand(pipeline)


class _FunctionParDo(ParDo[In, T]):
    """A transform of a plain function."""

    means: ClassVar[Plain]
    """What the answer of the function means."""

    def __init__(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        if not callable(fn):
            raise PipelineTypeError(f"{type(self).__name__} needs a function, got {fn!r}")
        super().__init__(PlainFn(fn, self.means), *args, **kwargs)
        self.function: Callable[..., Any] = fn

    def default_label(self) -> str:
        return f"{type(self).__name__}({function_label(self.function)})"

    def output_type(self, pcoll: Any) -> Any:
        if self._declared_output is not None:
            return self._declared_output
        if self.means is Plain.KEPT:
            return declared_type(pcoll)
        return answer_type(self.function, lists=self.means is Plain.LISTED)


class _Misfit:
    """What no collection has.

    Type checkers say of a lambda that nothing is known of what it takes. So that a named function
    is not taken for one where it does not fit, it is one of these there.
    """


class Map(_FunctionParDo[In, T]):
    """Each element becomes what a function makes of it."""

    means = Plain.MADE

    # Named functions first. Type checkers cannot say of a lambda under a label what it is given.
    @overload
    def __init__(
        self, fn: Callable[Concatenate[In, ...], T], *args: Any, **kwargs: Any
    ) -> None: ...

    @overload
    def __init__(
        self: "Map[_Misfit, T]", fn: Callable[Concatenate[Any, ...], T], *args: Any, **kwargs: Any
    ) -> None: ...

    @overload
    def __init__(self: "Map[Any, T]", fn: Callable[..., T], *args: Any, **kwargs: Any) -> None: ...

    def __init__(self, fn: Callable[..., T], *args: Any, **kwargs: Any) -> None:
        super().__init__(fn, *args, **kwargs)


class FlatMap(_FunctionParDo[In, T]):
    """Each element becomes what a function lists; without one, its own items."""

    means = Plain.LISTED

    @overload
    def __init__(self: "FlatMap[Iterable[T], T]") -> None: ...

    @overload
    def __init__(
        self, fn: Callable[Concatenate[In, ...], Iterable[T] | None], *args: Any, **kwargs: Any
    ) -> None: ...

    @overload
    def __init__(
        self: "FlatMap[_Misfit, T]",
        fn: Callable[Concatenate[Any, ...], Iterable[T] | None],
        *args: Any,
        **kwargs: Any,
    ) -> None: ...

    @overload
    def __init__(
        self: "FlatMap[Any, T]",
        fn: Callable[..., Iterable[T] | None],
        *args: Any,
        **kwargs: Any,
    ) -> None: ...

    def __init__(self, fn: Callable[..., Any] | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(_itself if fn is None else fn, *args, **kwargs)


def _itself(items: Iterable[T]) -> Iterable[T]:
    return items


class Filter(_FunctionParDo[In, In], Generic[In]):
    """Elements for which a function is true."""

    means = Plain.KEPT

    if TYPE_CHECKING:
        # Not `Applied`: what comes out are the elements of the collection that it is applied to,
        # also where nothing is known of what its function takes.
        expand: None  # type: ignore[assignment]

        def keeps(self, element: In, /) -> bool: ...

    @overload
    def __init__(
        self, fn: Callable[Concatenate[In, ...], Any], *args: Any, **kwargs: Any
    ) -> None: ...

    @overload
    def __init__(
        self: "Filter[_Misfit]", fn: Callable[Concatenate[Any, ...], Any], *args: Any, **kwargs: Any
    ) -> None: ...

    @overload
    def __init__(
        self: "Filter[Any]", fn: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> None: ...

    def __init__(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(fn, *args, **kwargs)


class WithTimestamps(PTransform[Any, Any]):
    """Each element at the event time that a function says. It stays in its windows.

    The arguments are those of `beamlike.beam.WithTimestamps`, and numbers count milliseconds.

    Source: Beam Java ``WithTimestamps``.
    """

    def __init__(
        self, fn: Callable[[Any], InstantLike | float], allowed_timestamp_skew: DurationLike = 0
    ) -> None:
        if not callable(fn):
            raise PipelineTypeError(f"WithTimestamps needs a function, got {fn!r}")
        self.fn = fn
        self.skew = duration_ms(allowed_timestamp_skew, "WithTimestamps allowed_timestamp_skew")

    @staticmethod
    def read(instant: Any) -> Any:
        """An answer of the function as an instant of the core."""
        return instant

    def default_label(self) -> str:
        return f"WithTimestamps({function_label(self.fn)})"

    def expand(self, pcoll: PCollection[T]) -> PCollection[T]:
        return pcoll | "AddTimestamps" >> ParDo(_AddTimestamps(self.fn, self.read, self.skew))


class _AddTimestamps(DoFn[Any, Any]):
    def __init__(self, fn: Callable[[Any], Any], read: Callable[[Any], Any], skew: int) -> None:
        self.fn, self.read, self.allowed_timestamp_skew = fn, read, skew

    def process(self, element: Any, *args: Any, **kwargs: Any) -> Iterable[Any]:
        yield TimestampedValue(element, self.read(self.fn(element)))
