"""Sources in memory, and transforms that take elements one by one.

Source: Beam Python ``transforms.core`` and ``transforms.util``.
"""

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Generic, Self, get_args, overload

from beamlike.api.pipelines.calling import Calling, Filtering, Made
from beamlike.api.pipelines.checked import CheckedDoing
from beamlike.api.pipelines.checks import check_collection
from beamlike.api.pipelines.dofn import DoFn, Located, Timestamped
from beamlike.api.pipelines.doing import Doing, views_of
from beamlike.api.pipelines.hints.declared import IOTypeHints
from beamlike.api.pipelines.hints.values import union_of
from beamlike.api.pipelines.hints.wanted import check_arguments, made_type
from beamlike.api.pipelines.option_classes import TypeOptions
from beamlike.api.pipelines.outputs import DoOutputs
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.splittable import in_parts
from beamlike.api.pipelines.stateful_doing import Instead, remembering
from beamlike.api.pipelines.transform import PTransform, function_label
from beamlike.api.pipelines.types import answer_type, declared_type
from beamlike.api.pipelines.userstate import is_stateful_dofn
from beamlike.api.pipelines.variables import In, K, R, T
from beamlike.api.pipelines.views import argument_type, check_side_inputs, looking
from beamlike.errors import PipelineError, PipelineTypeError
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.model.graph import MAIN, ParDoNode, ReadNode
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.options import OnError
from beamlike.runtime.script import Arrive

__all__ = ["Create", "Filter", "FlatMap", "Impulse", "Map", "ParDo"]


class Create(PTransform[Pipeline, PCollection[T]], Generic[T]):
    """Elements that are there from the start. They all happen at the minimum timestamp, but
    those that are a `TimestampedValue` or a `WindowedValue`, whose windows do not count.

    Args:
        values: The elements; of a mapping its items.
        reshuffle: Counts for nothing: where work is spread is for hosts to decide.

    Source: Beam ``Create``.
    """

    hinted_as = "Create"

    @overload
    def __init__(
        self: "Create[tuple[K, R]]", values: Mapping[K, R], reshuffle: bool = True
    ) -> None: ...

    @overload
    def __init__(self, values: Iterable[Timestamped[T]], reshuffle: bool = True) -> None: ...

    @overload
    def __init__(self, values: Iterable[T | Timestamped[T]], reshuffle: bool = True) -> None: ...

    def __init__(self, values: Any, reshuffle: bool = True) -> None:
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise PipelineTypeError(f"Create needs a list of elements, got {values!r}")
        self.values = list(values.items()) if isinstance(values, Mapping) else list(values)

    def infer_output_type(self, input_type: Any = None) -> Any:
        declared = self.get_type_hints().simple_output_type()
        return union_of(map(_plain_value, self.values)) if declared is None else declared

    def expand(self, given: Pipeline) -> PCollection[T]:
        if not isinstance(given, Pipeline):
            name = self.label
            raise PipelineError(
                f"{name!r} starts from the pipeline, and was applied to {given!r}; write "
                "pipeline | Create(...), and put both into one with (one, other) | Flatten()"
            )
        # An element with a window and a pane of its own gets them from a function.
        placed = any(isinstance(value, Located) for value in self.values)
        read = _as_it_is if placed else _element
        arrive = Arrive(tuple((None, read(value)) for value in self.values))
        script = (arrive, AdvanceWatermark(MAX_TIMESTAMP))
        node = ReadNode(f"{given.label}/Read" if placed else given.label, (), script, bounded=True)
        made: PCollection[T] = given.add(node, WindowingStrategy.unwindowed(), is_bounded=True)
        return made | "Place" >> Map(_itself) if placed else made


def _plain_value(value: Any) -> Any:
    if isinstance(value, Timestamped):
        return value.value
    return value.windowed().value if isinstance(value, Located) else value


def _as_it_is(value: Any) -> Element:
    return Element(value, MIN_TIMESTAMP)


def _element(value: Any) -> Element:
    if isinstance(value, Timestamped):
        return Element(value.value, value.millis)
    return Element(value, MIN_TIMESTAMP)


class ParDo(PTransform[PCollection[In], PCollection[T]], Generic[In, T]):
    """A `DoFn` over each element.

    Args:
        fn: What is done.
        args: Given to each call after the element.
        kwargs: Given to each call.

    Source: Beam ``ParDo``.
    """

    hinted_as = "ParDo"
    drops_failures: bool = False
    """Whether what a function with states raises for is dropped, see `with_on_error`."""
    instead: "Instead | None" = None
    """What comes out in place of what raises, of a function with states."""

    handled: ClassVar[Callable[["ParDo[Any, Any]", str, str, dict[str, Any]], Any]]
    """What `with_exception_handling` makes. It is made of other transforms: `error_handling`
    sets it."""

    def __init__(self, fn: DoFn[In, T], *args: Any, **kwargs: Any) -> None:
        if not isinstance(fn, DoFn):
            if isinstance(fn, type) or not callable(fn):
                call = f"; write ParDo({fn.__name__}())" if isinstance(fn, type) else ""
                raise PipelineTypeError(f"ParDo needs a DoFn or a function, got {fn!r}{call}")
            fn = Calling(fn)  # a function that lists what comes out, as in Beam
        self.fn, self.args, self.kwargs = fn, args, kwargs

    def default_label(self) -> str:
        plain = isinstance(self.fn, Calling)
        return f"ParDo({function_label(self.fn.called()) if plain else type(self.fn).__name__})"

    def with_outputs(
        self, *tags: str, main: str | None = None, allow_unknown_tags: bool | None = None
    ) -> "WithOutputs":
        """The same with several outputs.

        Args:
            tags: Names of outputs, for `TaggedOutput`. None at all: any name will do.
            main: The name of the output of everything that has no tag.
            allow_unknown_tags: Whether other names will do, too. None: if there are no ``tags``.
        """
        return WithOutputs(self, tags, main, allow_unknown_tags)

    def with_on_error(self, on_error: OnError) -> Self:
        """The same for a function with states and timers, with another choice when it raises.

        ``"fail"``, the default, fails the run and names the transform, the method, the element or
        the timer, the window and the key. ``"drop"`` drops what it raised for, as ``failed``: the
        states and timers are as they were before the call, a timer that raised has fired, and
        nothing else is lost. It counts for ``process``, for timers and for the end of windows, and
        for a value that its coder cannot take. What is dropped is in ``result.lost``, and counted
        in the query's progress.

        Args:
            on_error: ``"fail"`` or ``"drop"``.

        Raises:
            PipelineError: It is neither.
        """
        if on_error not in get_args(OnError):
            raise PipelineError(
                f'with_on_error takes "fail" or "drop", got {on_error!r}; write '
                'ParDo(...).with_on_error("drop")'
            )
        changed = copy(self)
        changed.drops_failures = on_error == "drop"
        return changed

    def with_exception_handling(
        self, main_tag: str = "good", dead_letter_tag: str = "bad", **how: Any
    ) -> PTransform[Any, Any]:
        """The same with two outputs: what the function makes, and the elements it raised for.

        ``good, bad = words | Map(int).with_exception_handling()``. An element of the other output
        is a pair of the element and of what was raised: its type, its text and its traceback.

        Args:
            main_tag: The name of the first output.
            dead_letter_tag: The name of the other.
            how: ``exc_class``, what is caught; ``partial``, whether what comes out before a
                function raises counts; ``use_subprocess``, to outlive a crash; ``threshold``, the
                share of elements that may fail in a window, and ``threshold_windowing``, of
                which; ``timeout``, seconds for an element; ``error_handler``, what takes the
                failures in place of an output; ``on_failure_callback``, called with what was
                raised and the element. A function with states and timers also needs
                ``allow_unsafe_userstate_in_process=True``, as in Beam. Here what ``process`` has
                changed before it raised is undone; of what timers and the end of windows raise
                there is no element, and `with_on_error` decides.

        Raises:
            PipelineError: There is no such argument, or two do not go together.

        Source: Beam ``ParDo.with_exception_handling``.
        """
        made: PTransform[Any, Any] = ParDo.handled(self, main_tag, dead_letter_tag, how)
        return made

    def with_error_handler(self, error_handler: Any, **how: Any) -> PTransform[Any, Any]:
        """The same, where a handler takes the failures; itself if that is None.

        Args:
            error_handler: An `ErrorHandler`, or None.
            how: As `with_exception_handling`.

        Source: Beam Python ``ParDo.with_error_handler``.
        """
        if error_handler is None:
            return self
        return self.with_exception_handling(error_handler=error_handler, **how)

    def default_type_hints(self) -> IOTypeHints | None:
        return self.fn.get_type_hints()

    def infer_output_type(self, input_type: Any) -> Any:
        made = made_type(self.get_type_hints(), [input_type])
        if made is None:
            made = self.fn.infer_output_type(input_type, *map(argument_type, self.args))
        return made

    def type_check_inputs(self, given: Any) -> None:
        called, hints = self.fn.called(), self.get_type_hints()
        if not isinstance(given, PCollection) or getattr(called, "opens", False):
            return
        if self._is_own and not self._declared.input_types:
            return  # annotated for type checkers; what is wrong with an element is said in a run
        args = [given.element_type, *map(argument_type, self.args)]
        kwargs = {name: argument_type(it) for name, it in self.kwargs.items()}
        check_arguments(self.label, hints, called, args, kwargs)

    @property
    def _is_own(self) -> bool:
        plain: Any = getattr(self.fn, "fn", None) if isinstance(self.fn, Calling) else None
        module = getattr(plain, "__module__", None) or type(plain or self.fn).__module__
        return module.startswith("beamlike.")

    def type_check_outputs(self, made: Any) -> None:
        """What it makes is of no known type yet."""

    def expand(self, given: PCollection[In]) -> PCollection[T]:
        return expanded(self, given, frozenset())


def expanded(
    transform: ParDo[Any, T], given: PCollection[Any], tags: frozenset[str] | None
) -> PCollection[T]:
    """The collection of everything that a function answers without a tag."""
    label = check_collection(given, transform)
    check_side_inputs(transform.args, transform.kwargs, label)
    if is_stateful_dofn(transform.fn):
        return remembering(
            given,
            transform.fn,
            transform.args,
            transform.kwargs,
            tags,
            drops_failures=transform.drops_failures,
            instead=transform.instead,
        )
    if transform.drops_failures:
        raise PipelineError(
            f"{label!r}: with_on_error is for a function with states and timers, which this one "
            "has none of; write with_exception_handling(), which gives what it raises for as an "
            "output"
        )
    options = given.pipeline.options.view_as(TypeOptions)
    checks = options.runtime_type_check or options.performance_runtime_type_check
    fn = in_parts(transform.fn, label)
    do = Doing(fn, transform.args, transform.kwargs, tags, label)
    if checks:
        do = CheckedDoing(do, transform.get_type_hints())
    given = looking(given, views_of(transform.args, transform.kwargs))
    return given.pipeline.add(
        ParDoNode(label, (given.edge,), do), given.windowing, given.is_bounded
    )


class Impulse(PTransform[Pipeline, PCollection[bytes]]):
    """One element, empty bytes: what makes a pipeline do something. Source: Beam ``Impulse``."""

    def expand(self, given: Pipeline) -> PCollection[bytes]:
        return Create([b""]).expand(given)


class WithOutputs(PTransform[PCollection[Any], DoOutputs]):
    """A `ParDo` with several outputs."""

    def __init__(
        self,
        pardo: ParDo[Any, Any],
        tags: tuple[str, ...],
        main: str | None,
        allow_unknown_tags: bool | None = None,
    ) -> None:
        wrong = [tag for tag in (*tags, *([] if main is None else [main])) if tag == MAIN]
        if wrong:
            raise PipelineError('an output needs a name; write with_outputs("name", ...)')
        super().__init__()
        self._pardo, self._tags, self._main = pardo, tags, main
        self._any = not tags if allow_unknown_tags is None else allow_unknown_tags

    def default_type_hints(self) -> IOTypeHints | None:
        return self._pardo.get_type_hints()

    def infer_output_type(self, input_type: Any) -> Any:
        return self._pardo.infer_output_type(input_type)

    def type_check_inputs(self, given: Any) -> None:
        self._pardo.type_check_inputs(given)

    def type_check_outputs(self, made: Any) -> None:
        """As of `ParDo`."""

    def with_exception_handling(
        self, main_tag: str | None = None, **how: Any
    ) -> PTransform[Any, Any]:
        """The same, with an output for the elements that the function raised for.

        See `ParDo.with_exception_handling`.
        """
        handling: Any = self._pardo.with_exception_handling(main_tag or self._main or "good", **how)
        made: PTransform[Any, Any] = handling.with_outputs(*self._tags)
        return made

    def default_label(self) -> str:
        return self._pardo.label

    def expand(self, given: PCollection[Any]) -> DoOutputs:
        main = expanded(self._pardo, given, None if self._any else frozenset(self._tags))
        return DoOutputs(main, self._tags, self._main, self._any)


class _OfFunction(ParDo[In, T]):
    """A transform of a plain function."""

    calling: type[Calling]

    def __init__(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        if not callable(fn):
            raise PipelineTypeError(f"{type(self).__name__} needs a function, got {fn!r}")
        super().__init__(self.calling(fn), *args, **kwargs)
        self.function: Callable[..., Any] = fn

    def default_label(self) -> str:
        return f"{type(self).__name__}({function_label(self.function)})"

    def output_type(self, given: Any) -> Any:
        if self._declared.output_types:
            return super().output_type(given)
        if self.calling is Filtering:
            return declared_type(given)
        return answer_type(self.function, lists=self.calling is Calling)


class _Misfit:
    """What no collection has.

    Type checkers say of a lambda that nothing is known of what it takes. So that a named function
    is not taken for one where it does not fit, it is one of these there.
    """


class Map(_OfFunction[In, T]):
    """Each element becomes what a function makes of it. Source: Beam ``Map``."""

    calling = Made

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


class FlatMap(_OfFunction[In, T]):
    """Each element becomes what a function lists; without one, its own items.

    Source: Beam ``FlatMap``.
    """

    calling = Calling

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


class Filter(_OfFunction[In, In], Generic[In]):
    """Elements for which a function is true. Source: Beam ``Filter``."""

    calling = Filtering

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
