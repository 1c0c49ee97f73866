"""Which keys of a small collection were looked up, for what a full hash join has left."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from beamlike.api.pipelines.elements import Map
from beamlike.api.pipelines.pipeline import PCollection, as_class, rewindowed
from beamlike.api.pipelines.scio.sides import SideInput
from beamlike.api.pipelines.scio.steps import K, V, W, joined
from beamlike.model.strategy import WindowingStrategy

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import Pairs, SCollection


def looked_up(
    given: "Pairs[K, V]", side: "SideInput[Mapping[K, list[W]]]"
) -> "SCollection[frozenset[K]]":
    """Sets with the keys that are found in a side input, in each window.

    A window in which nothing is found has empty sets, and so has one that only the other side has.
    A later pane still knows the keys of those before it.
    """
    windowing, rights = given.windowing, side.view.pcoll
    seeing = given.with_side_inputs(side)
    keys = seeing.map(lambda pair, see: frozenset({pair[0]} & see(side).keys())).to_scollection()
    sets: list[SCollection[Any]] = [keys]
    if windowing.window_fn.compatible_with(rights.windowing.window_fn):
        nothing: PCollection[Any] = rewindowed(rights, windowing) | "Nothing" >> Map(_nothing)
        sets.append(as_class(nothing, type(keys)))
    every = joined(sets, "union")
    if windowing == WindowingStrategy.unwindowed():
        return every
    remembering = windowing.configured(
        accumulation="accumulating",
        unchanged="re_emit",
        # A pane without anything new would show again all that was not looked up.
        on_time_behavior="fire_if_non_empty",
        closing_behavior="fire_if_non_empty",
    )
    return cast("SCollection[frozenset[K]]", rewindowed(every, remembering))


def union(one: frozenset[Any], other: frozenset[Any]) -> frozenset[Any]:
    """The keys of two sets."""
    return one | other


def _nothing(element: object) -> frozenset[Any]:
    return frozenset()
