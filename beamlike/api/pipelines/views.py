"""Side inputs: a collection as a value that a function is given beside each element.

A view is grouped under one key, so that a function sees the latest pane of the side window that
the element's own window looks into. An element waits until there is something to see, or the side
input's own watermark says that nothing comes: a side input that is empty and ends holds no stream.

Source: Beam Python ``pvalue.AsSingleton`` and its siblings, Beam Java ``View``.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import attrs

from beamlike.api.pipelines.grouping import grouped
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import FunctionTransform
from beamlike.errors import PipelineError, WindowingError
from beamlike.model.bundle import Windowed
from beamlike.model.combine import Collect
from beamlike.model.copies import own_copies
from beamlike.model.graph import MAIN, Do, ParDoNode, SideInputNode
from beamlike.model.side_inputs import side_input_window
from beamlike.model.windowfns import GlobalWindows
from beamlike.model.windows import GLOBAL_WINDOW

__all__ = [
    "AsDict",
    "AsIter",
    "AsList",
    "AsMultiMap",
    "AsPresence",
    "AsSideInput",
    "AsSingleton",
    "EmptySideInput",
    "check_side_inputs",
    "with_side_inputs",
]

T = TypeVar("T")


class _NoneGiven:
    """No default. The class itself is meant, which stays itself when it is pickled."""


class AsSideInput(ABC, Generic[T]):
    """A collection as a side input. Give it to ``Map`` and the like as one more argument.

    Args:
        pcoll: What is looked into. Its windows must not merge.

    Raises:
        PipelineError: It is no collection.
    """

    demands: ClassVar[bool] = False
    """Whether a window without an element, or a key with several values, is an error."""

    duplicates_matter: ClassVar[bool] = True
    """It matters how often an element is seen."""

    def __init__(self, pcoll: PCollection[T]) -> None:
        if not isinstance(pcoll, PCollection):
            raise PipelineError(f"{type(self).__name__} needs a collection, got {pcoll!r}")
        self.pcoll = self.pvalue = pcoll
        self.name = repr(pcoll)

    def __getstate__(self) -> dict[str, Any]:
        # A function that looks is pickled; the pipeline that it is a part of stays where it is.
        left = ("pcoll", "pvalue")
        return {name: value for name, value in self.__dict__.items() if name not in left}

    @abstractmethod
    def build_view(self, items: list[Any], label: str) -> Any:
        """What a function is given for the items of a pane."""


def check_side_inputs(args: Sequence[Any], kwargs: Mapping[str, Any], label: str) -> None:
    """Refuse a collection that a function would be given as it is, and not what is in it."""
    for argument in (*args, *kwargs.values()):
        if isinstance(argument, PCollection):
            raise PipelineError(
                f"{label!r} was given {argument!r} as an argument; say how a function is to see "
                "it: AsSingleton(...), AsList(...) or AsDict(...) around it"
            )
        parts = argument.values() if isinstance(argument, dict) else argument
        if not isinstance(argument, dict | list | tuple):
            continue
        hidden = [part for part in parts if isinstance(part, AsSideInput | PCollection)]
        if hidden:
            raise PipelineError(
                f"{label!r} was given a {type(hidden[0]).__name__} inside a "
                f"{type(argument).__name__}, where it is not found; give each side input as an "
                "argument of its own"
            )


class EmptySideInput:
    """What is seen of an `AsSingleton` where there is no element and no default."""


class AsSingleton(AsSideInput[T]):
    """The one element of a collection, in each window. Reading it fails if there are several.

    Args:
        pcoll: What is looked into.
        default_value: What is seen where there is no element; without it an `EmptySideInput`.
    """

    def __init__(self, pcoll: PCollection[T], default_value: Any = _NoneGiven) -> None:
        super().__init__(pcoll)
        self.default_value = default_value

    def build_view(self, items: list[Any], label: str) -> Any:
        if len(items) == 1:
            return items[0]
        if items:
            raise PipelineError(
                f"{label!r}: PCollection with more than one element accessed as a singleton "
                f"view: {self.name} has {len(items)} elements in the window, the first two are "
                f"{items[0]!r} and {items[1]!r}; combine them with CombineGlobally(...), or use "
                "AsList(...)"
            )
        if self.default_value is not _NoneGiven:
            return self.default_value
        if self.demands:
            raise PipelineError(
                f"{label!r}: Empty PCollection accessed as a singleton view: {self.name} has "
                "no element in the window; give it a default value"
            )
        return EmptySideInput()


class AsList(AsSideInput[T]):
    """All elements of a collection in a window, as a list. They have no order."""

    def build_view(self, items: list[Any], label: str) -> list[Any]:
        return items


class AsIter(AsList[T]):
    """All elements of a collection in a window, to go through."""


class AsPresence(AsIter[T]):
    """Whether there is anything in a window, however often."""

    duplicates_matter = False


class _PairsSideInput(AsSideInput[T]):
    def _pairs(self, items: Iterable[Any], label: str) -> Iterable[tuple[Any, Any]]:
        for item in items:
            if not isinstance(item, tuple) or len(item) != 2:
                raise PipelineError(
                    f"{label!r}: {type(self).__name__} needs pairs of key and value, and "
                    f"{self.name} has {item!r}; make pairs of its elements with WithKeys(...)"
                )
            yield item


class AsDict(_PairsSideInput[T]):
    """The pairs of a collection in a window as a mapping; of several values of a key, any."""

    def build_view(self, items: list[Any], label: str) -> dict[Any, Any]:
        values: dict[Any, Any] = {}
        for key, value in self._pairs(items, label):
            if self.demands and key in values:
                raise PipelineError(
                    f"{label!r}: Duplicate values for {key!r} in {self.name}: {values[key]!r} "
                    f"and {value!r}; combine them with CombinePerKey(...), or use AsMultiMap(...)"
                )
            values[key] = value
        return values


class _Lists(dict[Any, list[Any]]):
    """Lists by key: an empty one for a key that is not there, which stays out."""

    def __missing__(self, _key: Any) -> list[Any]:
        return []


class AsMultiMap(_PairsSideInput[T]):
    """The pairs of a collection in a window as a mapping from keys to lists of values.

    A key that is not there has an empty list.
    """

    def build_view(self, items: list[Any], label: str) -> dict[Any, list[Any]]:
        lists = _Lists()
        for key, value in self._pairs(items, label):
            lists.setdefault(key, []).append(value)
        return lists


class View:
    """A view that is not made anew while the same items are seen.

    Attributes:
        seen: What the function is given for the items that it sees now.
    """

    def __init__(self, view: AsSideInput[Any], label: str) -> None:
        self._view, self._label = view, label
        self._items: Sequence[Any] | None = None
        self.seen: Any = None

    def see(self, items: Sequence[Any]) -> None:
        """Show these items."""
        if self._items is not items:
            # A function that changes what it sees does so for its task, and not for the state.
            self.seen = self._view.build_view(own_copies(items), self._label)
            self._items = items

    def __getstate__(self) -> dict[str, Any]:
        # What is seen belongs to a run, and comes to a worker apart from the function.
        return {**self.__dict__, "_items": None, "seen": None}


def with_side_inputs(
    main: PCollection[Any], views: Sequence[AsSideInput[Any]], do: Do, label: str
) -> PCollection[Any]:
    """What a function makes of the elements of a collection, which looks into side inputs.

    Called by the transform that is being applied.
    """
    panes = [
        (main, view.pcoll) | f"View{number}" >> FunctionTransform(_side_input_panes, view)
        for number, view in enumerate(views)
    ]
    sources = (main.edge, *(of_view.edge for of_view in panes))
    sides = tuple(view.pcoll.windowing for view in views)
    node = SideInputNode(label, sources, main.windowing, sides, do)
    return main.pipeline.add(node, main.windowing, main.is_bounded)


def _side_input_panes(
    pcolls: tuple[PCollection[Any], PCollection[Any]], view: AsSideInput[Any]
) -> PCollection[Any]:
    """The panes of a side input that elements of a collection look into."""
    main, side = pcolls
    window_fn = side.windowing.window_fn
    try:
        if window_fn.is_merging or isinstance(main.windowing.window_fn, GlobalWindows):
            side_input_window(GLOBAL_WINDOW, window_fn)
    except WindowingError as error:
        raise PipelineError(f"{main.pipeline.label!r}: {error}") from error
    panes: PCollection[Any] = side | "Items" >> FunctionTransform(_items, view)
    return panes


def _items(pcoll: PCollection[Any], view: AsSideInput[Any]) -> PCollection[Any]:
    node = ParDoNode(f"{pcoll.pipeline.label}/OneKey", (pcoll.edge,), _OneKey())
    keyed = pcoll.pipeline.add(node, pcoll.windowing, pcoll.is_bounded)
    # Of a side input that discards only the latest pane is seen.
    matters = view.duplicates_matter and pcoll.windowing.accumulates
    return grouped(keyed, Collect(), duplicates_matter=matters, allow_blocking=not view.demands)


class _OneKey(Do):
    def process(self, element: Windowed) -> Iterable[tuple[str, Windowed]]:
        return ((MAIN, attrs.evolve(element, value=((), element.value))),)
