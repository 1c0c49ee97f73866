"""Transforms made of a grouping: several collections together, and each element once.

Source: Beam Python ``CoGroupByKey``, ``Distinct``.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from beamlike.api.pipelines.checks import check_collection
from beamlike.api.pipelines.column_functions import with_no_value
from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.elements import Map
from beamlike.api.pipelines.groups import CombinePerKey, GroupByKey
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.variables import T
from beamlike.api.pipelines.windowing import Flatten
from beamlike.errors import PipelineError
from beamlike.model.combine import Count
from beamlike.model.panes import PaneInfo
from beamlike.model.triggers import DefaultTrigger

__all__ = ["CoGroupByKey", "Distinct"]


class Distinct(PTransform[Any, Any]):
    """Each element once in each window: when the first pane with it comes out.

    Raises:
        PipelineError: When it is applied: the windows merge, and there is a trigger or an
            allowed lateness. A session that grows would bring out its elements again.

    Source: Beam ``Distinct``; that only first panes count is Beam Java's.
    """

    def expand(self, pcoll: PCollection[T]) -> PCollection[T]:
        label, windowing = check_collection(pcoll, self), pcoll.windowing
        plain = isinstance(windowing.trigger, DefaultTrigger) and not windowing.allowed_lateness
        if windowing.is_merging and not plain:
            raise PipelineError(
                f"{label!r}: Distinct does not support merging windowing "
                "strategies, except when using the default trigger and zero allowed lateness, "
                f"and the collection has {windowing}; window it with "
                f"WindowInto({windowing.window_fn}) for this"
            )
        panes = pcoll | "ToPairs" >> Map(with_no_value) | "Group" >> CombinePerKey[Any](Count())
        return panes | "FirstPane" >> ParDo(_OfFirstPane())


class _OfFirstPane(DoFn[Any, Any]):
    _pane_marks = frozenset({"is_first"})

    def process(
        self, element: tuple[Any, Any], pane: PaneInfo = DoFn.PaneInfoParam
    ) -> Iterable[Any]:
        if pane.is_first:
            yield element[0]


class CoGroupByKey(PTransform[Any, Any]):
    """Several collections of pairs grouped by one key: ``{"left": a, "right": b} | ...``.

    A key comes with the values that each collection has for it in the pane: a mapping of lists
    under the names of the collections, or a tuple of lists if they have none. Their windows
    have to be compatible, and sessions of all of them merge together.

    Args:
        pipeline: What the result belongs to, where there may be no collection at all.
    """

    def __init__(self, *, pipeline: Pipeline | None = None) -> None:
        super().__init__()
        self.pipeline = pipeline

    def expand(self, pcolls: Any) -> PCollection[tuple[Any, Any]]:
        if self.pipeline is not None and not pcolls:
            return () | "Nothing" >> Flatten(pipeline=self.pipeline)
        named = isinstance(pcolls, Mapping)
        collections = dict(pcolls) if named else dict(enumerate(pcolls))
        tagged = tuple(
            collection | f"Tag({name!r})" >> Map(_tagging(name))
            for name, collection in collections.items()
        )
        names = list(collections)

        def split(pair: tuple[Any, list[tuple[Any, Any]]]) -> tuple[Any, Any]:
            lists: dict[Any, list[Any]] = {name: [] for name in names}
            for name, value in pair[1]:
                lists[name].append(value)
            return pair[0], lists if named else tuple(lists.values())

        together = tagged | "Flatten" >> Flatten()
        return together | "GroupByKey" >> GroupByKey() | "Split" >> Map(split)


def _tagging(name: Any) -> Callable[[tuple[Any, Any]], tuple[Any, tuple[Any, Any]]]:
    return lambda pair: (pair[0], (name, pair[1]))
