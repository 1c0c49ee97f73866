"""Side inputs and side outputs in Scio's words.

Source: Scio ``SideInput``, ``SCollectionWithSideInput``, ``SideOutput``,
``SCollectionWithSideOutput``.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from beamlike.api.pipelines.dofn import DoFn, TaggedOutput, TimestampedValue
from beamlike.api.pipelines.elements import FlatMap
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pvalues import DoOutputs
from beamlike.api.pipelines.scio.call import Call, WithFunctions, unnamed
from beamlike.api.pipelines.views import AsSideInput
from beamlike.errors import PipelineError
from beamlike.model.time import InstantLike

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import SCollection

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")
K = TypeVar("K")
S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)

_NUMBERS: Final = itertools.count()
"""Functions are pickled with the sides that they name, and have to know them afterwards."""


class SideInput(Generic[S_co]):
    """A collection as a value to be looked into, in each window.

    ``as_singleton_side_input`` and the like make it; one can be used several times.
    """

    def __init__(self, view: AsSideInput[Any]) -> None:
        self.view = view
        self.number = next(_NUMBERS)
        self._change: Callable[[Any], Any] | None = None
        self._last: tuple[Any, Any] | None = None

    def map(self, fn: Callable[[S_co], U]) -> "SideInput[U]":
        """What a function makes of it, once for all elements that see the same.

        Either of the two may be named in ``with_side_inputs``, and both can be read then.

        Raises:
            PipelineError: It is no function.
        """
        if not callable(fn):
            raise PipelineError(
                f"map of {self!r} needs a function, got {fn!r}; write the name of a function or a "
                "lambda"
            )
        mapped: SideInput[U] = SideInput(self.view)
        mapped.number = self.number
        before = self._change
        mapped._change = fn if before is None else lambda seen: fn(before(seen))
        return mapped

    def read(self, seen: Any) -> S_co:
        """What it is for an element that sees this of the view."""
        if self._change is None:
            return cast(S_co, seen)
        # What is equal may differ: 1 and True do.
        if self._last is None or self._last[0] is not seen:
            self._last = seen, self._change(seen)
        return cast(S_co, self._last[1])

    def __getstate__(self) -> dict[str, Any]:
        # A function that names it needs no pipeline.
        return {"number": self.number, "_change": self._change, "_last": None}

    def __repr__(self) -> str:
        return f"the side input of {self.view.pcoll!r}" if hasattr(self, "view") else "SideInput"


class SideInputContext:
    """What an element sees: ``context(side)``."""

    def __init__(self, seen: dict[int, Any]) -> None:
        self._seen = seen

    def __call__(self, side: SideInput[S]) -> S:
        """What the element sees of a side input, in the window that its own looks into.

        Raises:
            PipelineError: The side input was not named in `with_side_inputs`.
        """
        if side.number not in self._seen:
            raise PipelineError(
                f"{side!r} is not among those that the collection sees; name it in "
                "with_side_inputs(...)"
            )
        return side.read(self._seen[side.number])


class SCollectionWithSideInput(WithFunctions[T_co]):
    """A collection whose functions take an element and what it sees of side inputs.

    Times, windows and panes stay as they are. An element waits until its window of each side
    input has a pane, or the trigger of the side input must have fired there.
    """

    def __init__(self, collection: "SCollection[T_co]", sides: tuple[SideInput[Any], ...]) -> None:
        super().__init__(collection)
        self._sides = sides

    def map(self, fn: Callable[[T_co, SideInputContext], U]) -> "SCollectionWithSideInput[U]":
        """Each becomes what a function makes of it."""
        return self._apply_verb("map", fn)

    def flat_map(
        self, fn: Callable[[T_co, SideInputContext], Iterable[U] | None]
    ) -> "SCollectionWithSideInput[U]":
        """Each becomes what a function lists."""
        return self._apply_verb("flat_map", fn)

    def filter(
        self, fn: Callable[[T_co, SideInputContext], Any]
    ) -> "SCollectionWithSideInput[T_co]":
        """The elements for which a function is true."""
        return self._apply_verb("filter", fn)

    def collect(
        self, fn: Callable[[T_co, SideInputContext], U | None]
    ) -> "SCollectionWithSideInput[U]":
        """What a function makes of them where that is not None."""
        return self._apply_verb("collect", fn)

    def key_by(
        self, fn: Callable[[T_co, SideInputContext], K]
    ) -> "SCollectionWithSideInput[tuple[K, T_co]]":
        """Each element with its key before it."""
        return self._apply_verb("key_by", fn)

    def to_scollection(self) -> "SCollection[T_co]":
        """The elements alone. Source: Scio ``toSCollection``."""
        return unnamed(self._collection)

    def _apply_verb(self, verb: str, fn: Any) -> "SCollectionWithSideInput[Any]":
        call = Call(self._collection, verb, fn)
        listed = call.listing(fn)
        # Those that are made of one another are looked into once.
        views = {side.number: side.view for side in self._sides}
        numbers = list(views)

        def seeing(element: Any, *seen: Any) -> Any:
            return listed(element, SideInputContext(dict(zip(numbers, seen, strict=True))))

        flat_map = FlatMap(seeing, *views.values())
        return self._over(call.apply(flat_map))


class SideOutput(Generic[T]):
    """One more output of a verb. Source: Scio ``SideOutput``.

    Args:
        name: For messages, and for what it is called in the pipeline.
    """

    def __init__(self, name: str | None = None) -> None:
        self.name = name
        self.number = next(_NUMBERS)

    def __repr__(self) -> str:
        return f"SideOutput({self.name!r})" if self.name else "SideOutput()"


class SideOutputContext:
    """Where a function puts what goes to side outputs."""

    def __init__(self, tags: dict[int, str], label: str) -> None:
        self._tags, self._label = tags, label
        self.put: list[TaggedOutput] = []
        """What was put there so far."""

    def output(
        self, side: SideOutput[S], value: S, timestamp: InstantLike | None = None
    ) -> "SideOutputContext":
        """One more element for a side output.

        Args:
            side: Which.
            value: The element.
            timestamp: Its event time; by default that of the element that it comes from.

        Raises:
            PipelineError: The side output was not named in `with_side_outputs`.
        """
        if side.number not in self._tags:
            raise PipelineError(
                f"{self._label!r} has no side output {side!r}; name it in with_side_outputs(...)"
            )
        output: Any = value if timestamp is None else TimestampedValue(value, timestamp)
        self.put.append(TaggedOutput(self._tags[side.number], output))
        return self


class SideOutputCollections:
    """The collections of side outputs: ``sides(side)``."""

    def __init__(self, outputs: DoOutputs, tags: dict[int, str]) -> None:
        self._outputs, self._tags = outputs, tags

    def __call__(self, side: SideOutput[S]) -> "SCollection[S]":
        """The collection of a side output.

        Raises:
            PipelineError: It was not named in `with_side_outputs`.
        """
        if side.number not in self._tags:
            raise PipelineError(f"{side!r} is not among the side outputs that were named")
        return cast("SCollection[S]", self._outputs[self._tags[side.number]])


class SCollectionWithSideOutput(WithFunctions[T_co]):
    """A collection whose functions take an element and a place for side outputs."""

    def __init__(self, collection: "SCollection[T_co]", sides: tuple[SideOutput[Any], ...]) -> None:
        super().__init__(collection)
        self._sides = sides

    def map(
        self, fn: Callable[[T_co, SideOutputContext], U]
    ) -> "tuple[SCollection[U], SideOutputCollections]":
        """What a function makes of each element, and what it put elsewhere."""
        return self._apply_verb("map", fn)

    def flat_map(
        self,
        fn: Callable[[T_co, SideOutputContext], Iterable[U] | None],
    ) -> "tuple[SCollection[U], SideOutputCollections]":
        """What a function lists for each element, and what it put elsewhere."""
        return self._apply_verb("flat_map", fn)

    def _apply_verb(self, verb: str, fn: Any) -> "tuple[SCollection[Any], SideOutputCollections]":
        call = Call(self._collection, verb, fn)
        listed, label = call.listing(fn), call.label
        tags = {side.number: side.name or f"side{index}" for index, side in enumerate(self._sides)}
        if len(set(tags.values())) < len(self._sides):
            raise PipelineError(
                f"{label!r} has several side outputs of one name, "
                f'{list(tags.values())}; give each its own: SideOutput("name")'
            )
        putting = _Putting(listed, tags, label)
        pardo = ParDo(putting).with_outputs(*tags.values(), main="main output")
        outputs = call.apply(pardo)
        return outputs["main output"], SideOutputCollections(outputs, tags)


class _Putting(DoFn[Any, Any]):
    def __init__(
        self,
        fn: Callable[[Any, SideOutputContext], Iterable[Any] | None],
        tags: dict[int, str],
        label: str,
    ) -> None:
        self.fn, self.tags, self.label = fn, tags, label

    def process(self, element: Any) -> Iterator[Any]:
        context = SideOutputContext(self.tags, self.label)
        yield from self.fn(element, context) or ()  # None is nothing, as for flat_map
        yield from context.put
