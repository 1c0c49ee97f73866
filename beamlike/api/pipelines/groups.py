"""Transforms that group by key, and those that combine what is grouped.

Source: Beam Python ``GroupByKey``, ``CombinePerKey``, ``CombineGlobally``, ``CombineValues``.
"""

import logging
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any, ClassVar, Generic, Self, overload

from beamlike.api.pipelines.beams_own import OfBeamsSDK
from beamlike.api.pipelines.checks import check_collection
from beamlike.api.pipelines.column_functions import with_no_key
from beamlike.api.pipelines.combinefn import CombineFn as Stepwise
from beamlike.api.pipelines.combinefn import combine_fn, of_nothing
from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.dofn_invoker import views_of
from beamlike.api.pipelines.elements import Create, FlatMap, Map
from beamlike.api.pipelines.grouping import grouped
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform, function_label
from beamlike.api.pipelines.variables import K, R, T
from beamlike.api.pipelines.views import AsPresence
from beamlike.errors import PipelineError
from beamlike.model.combine import Collect, CombineFn
from beamlike.model.graph import Fanout, FlattenNode
from beamlike.model.triggers import DefaultTrigger
from beamlike.model.windowfns import GlobalWindows

__all__ = [
    "CombineGlobally",
    "CombinePerKey",
    "CombineValues",
    "GroupByKey",
    "check_fanout",
]


class WithDefaults(PTransform[Any, Any]):
    """Makes something of all elements of a window, and of none unless it has no defaults."""

    has_defaults = True

    def without_defaults(self) -> Self:
        """The transform without a value for no elements."""
        return self.with_defaults(False)

    def with_defaults(self, has_defaults: bool = True) -> Self:
        """The transform with or without a value for no elements."""
        copy = self._copy()
        copy.has_defaults = has_defaults
        return copy


def check_defaults(pcoll: PCollection[Any], written: str) -> None:
    """Refuse a default value where windows without elements are not known, in a transform that its
    user has written so."""
    if not pcoll.is_bounded and pcoll.windowing.trigger != DefaultTrigger():
        # As Beam: it is logged and not refused.
        logging.getLogger(__name__).error(
            "%r: When combining elements in unbounded collections with a trigger, say what an "
            "empty window has; write %s(...).without_defaults() for nothing",
            pcoll.pipeline.label,
            written,
        )
    if not isinstance(pcoll.windowing.window_fn, GlobalWindows):
        raise PipelineError(
            f"{pcoll.pipeline.label!r}: Default values are not supported in {written} if the "
            f"input is not windowed by GlobalWindows, and it is by {pcoll.windowing.window_fn}; "
            f"write {written}(...).without_defaults()"
        )


class GroupByKey(PTransform[Any, Any]):
    """Pairs grouped by key and window: a key and its values for each pane.

    The values have no order. A pane may be empty, see `OnTimeBehavior`.

    Raises:
        PipelineError: When it is applied: the windowing cannot be grouped.
    """

    def expand(self, pcoll: PCollection[tuple[K, T]]) -> PCollection[tuple[K, list[T]]]:
        check_collection(pcoll, self)
        return grouped(pcoll, Collect())


class _Combining(PTransform[Any, Any], Generic[R]):
    """What a combine function, or a plain function of all values, makes of them."""

    fanout: Fanout | None = None

    @overload
    def __init__(self, fn: Stepwise[Any, R], *args: Any, **kwargs: Any) -> None: ...

    @overload
    def __init__(self: "_Combining[Any]", fn: CombineFn) -> None: ...

    @overload
    def __init__(self, fn: Callable[..., R], *args: Any, **kwargs: Any) -> None: ...

    def __init__(self, fn: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.fn, self.args, self.kwargs = fn, args, kwargs
        self.has_side_inputs = bool(views_of(args, kwargs))
        """Whether there are side inputs: then only a run says what the arguments are."""
        known: tuple[Any, Any] = ((), {}) if self.has_side_inputs else (args, kwargs)
        self.combine = combine_fn(fn, type(self).__name__, *known)

    def default_label(self) -> str:
        return f"{type(self).__name__}({function_label(self.fn)})"

    def _with_fanout(self, fanout: Fanout | None) -> Self:
        copy = self._copy()
        copy.fanout = fanout
        return copy


class CombinePerKey(_Combining[R]):
    """Pairs grouped by key and window, and the values of each pane made into one.

    Args:
        fn: A combine function, or a plain function of all values of a pane, such as `sum`.
        args: Given to each call of a plain function, or of a method of Beam's shape.
        kwargs: Likewise.

    Raises:
        PipelineError: It is neither; when it is applied: the windowing cannot be grouped.
    """

    def with_hot_key_fanout(self, fanout: int | Callable[[Any], int]) -> Self:
        """A copy that spreads the values of a key over several tasks, which combine them before
        they meet at the shard of the key.

        What a task has of a key and window is combined before in any case, see the page on
        pipelines. A fanout is for a key that more tasks have than one shard should merge. No pane
        changes, but last digits of sums of floats may, as in Beam.

        Args:
            fanout: Over how many tasks, 1 or more; or a function from the key to that number.
                Values of a key with 1 go straight to its shard.

        Raises:
            PipelineError: It is not a number of 1 or more and not a function of the key; when it is
                applied: elements cannot be combined before they are grouped.
        """
        check_fanout(fanout, "with_hot_key_fanout")
        return self._with_fanout(None if fanout == 1 else Fanout(fanout))

    def expand(self, pcoll: PCollection[tuple[K, Any]]) -> PCollection[tuple[K, R]]:
        check_collection(pcoll, self)
        if self.has_side_inputs:
            if self.fanout is not None:
                raise PipelineError(
                    f"{pcoll.pipeline.label!r} has a fanout, which combines values before they are "
                    "grouped, and here that cannot be done: the arguments of its function are side "
                    "inputs; leave the fanout out"
                )
            values = CombineValues[R](self.fn, *self.args, **self.kwargs)
            return pcoll | "GroupByKey" >> GroupByKey() | "Combine" >> values
        return grouped(pcoll, self.combine, fanout=self.fanout)


def check_fanout(fanout: Any, method: str) -> None:
    """Refuse what is not a fanout."""
    number = isinstance(fanout, int) and not isinstance(fanout, bool) and fanout >= 1
    if not number and not (callable(fanout) and method == "with_hot_key_fanout"):
        raise PipelineError(f"{method} needs a number of 1 or more, got {fanout!r}; leave it out")


class CombineValues(_Combining[R]):
    """The values of each group made into one: pairs of a key and a list.

    The arguments are those of `CombinePerKey`.
    """

    def expand(self, pcoll: PCollection[tuple[K, Iterable[Any]]]) -> PCollection[tuple[K, R]]:
        fn = self.fn if self.has_side_inputs else self.combine
        arguments, named = (self.args, self.kwargs) if self.has_side_inputs else ((), {})

        def combined(
            group: tuple[Any, Iterable[Any]],
            *args: Any,
            timestamp: int = DoFn.TimestampParam,
            **kwargs: Any,
        ) -> tuple[Any, Any]:
            # Which arguments there are is known when a side input is.
            combine, values = combine_fn(fn, "Combine", args, kwargs), list(group[1])
            accumulator = combine.add(combine.create(), values, [timestamp] * len(values))
            return group[0], combine.extract(combine.compact(accumulator))

        return pcoll | "Combine" >> Map[Any, Any](combined, *arguments, **named)


class CombineGlobally(_Combining[R], WithDefaults):
    """All elements of each window made into one.

    In the global window there is a value also if there are no elements: that of none, at the
    minimum timestamp. In other windows there is none, because windows without
    elements are not known; use `without_defaults` there. The arguments are those of
    `CombinePerKey`.

    Raises:
        PipelineError: It is no combine function; when it is applied: the collection is windowed
            and `without_defaults` was not called, or the windowing cannot be grouped.

    Source: Beam ``CombineGlobally``, Beam Java ``Combine.Globally``.
    """

    as_singleton_view: ClassVar[Any] = OfBeamsSDK("CombineGlobally.as_singleton_view")

    def with_fanout(self, fanout: int) -> Self:
        """A copy that spreads the elements over several tasks, which combine them before they meet
        at one shard; see `CombinePerKey.with_hot_key_fanout`.

        Raises:
            PipelineError: It is not a number of 1 or more; when it is applied: elements cannot be
                combined before they are grouped.
        """
        check_fanout(fanout, "with_fanout")
        return self._with_fanout(None if fanout == 1 else Fanout(fanout))

    def expand(self, pcoll: PCollection[Any]) -> PCollection[R]:
        label = check_collection(pcoll, self)
        if self.has_defaults:
            check_defaults(pcoll, "CombineGlobally")
        combined = self.only_combined(pcoll)
        if not self.has_defaults:
            return combined
        fn = self.fn

        def default(_once: None, present: list[Any], *args: Any, **kwargs: Any) -> list[Any]:
            combine = combine_fn(fn, "CombineGlobally", args, kwargs)
            return [] if present else [of_nothing(combine)]

        if_empty = FlatMap[Any, Any](default, AsPresence(combined), *self.args, **self.kwargs)
        missing = pcoll.pipeline | "DoOnce" >> Create([None]) | "InjectDefault" >> if_empty
        # Its element is there for the windows and the trigger of the others.
        node = FlattenNode(label, (combined.edge, missing.edge))
        return pcoll.pipeline.add(node, combined.windowing, combined.is_bounded)

    def only_combined(self, pcoll: PCollection[Any]) -> PCollection[Any]:
        """What there is for windows with elements."""
        keyed = pcoll | "KeyWithVoid" >> Map(with_no_key)
        per_key = CombinePerKey[Any](self.fn, *self.args, **self.kwargs)
        panes = keyed | "PerKey" >> per_key._with_fanout(self.fanout)
        return panes | "DropKey" >> Map(itemgetter(1))
