"""A transform whose elements wait for other collections.

Source: Beam Python ``transforms.util.WaitOn``.
"""

from collections.abc import Iterable
from typing import Any

from beamlike.api.pipelines.checks import check_collection
from beamlike.api.pipelines.elements import FlatMap, Map
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.variables import T
from beamlike.api.pipelines.views import AsPresence
from beamlike.api.pipelines.windowing import WindowInto
from beamlike.errors import PipelineError
from beamlike.model.triggers import DefaultTrigger

__all__ = ["WaitOn"]


class WaitOn(PTransform[Any, Any]):
    """The same elements, when others are done: those of the collections that are waited for have
    all come, in the window of theirs that an element's window looks into.

    An element waits until their watermark is past the end of that window, whatever their triggers.

    Args:
        to_be_waited_on: The collections that are waited for. Their windows must not merge.

    Source: Beam Python ``WaitOn``, Beam Java ``Wait.on``.
    """

    def __init__(self, *to_be_waited_on: PCollection[Any]) -> None:
        for each in to_be_waited_on:
            if not isinstance(each, PCollection):
                raise PipelineError(f"WaitOn needs collections, got {each!r}")
        self.to_be_waited_on = to_be_waited_on

    def expand(self, pcoll: PCollection[T]) -> PCollection[T]:
        check_collection(pcoll, self)
        # Only the watermark counts: without elements there is something to see when it has passed,
        # unless the trigger of the collection waits for elements, or for processing time.
        ending = WindowInto(trigger=DefaultTrigger(), accumulation_mode="discarding")
        done = (
            it | f"Done{index}" >> FlatMap(_none) | f"Ending{index}" >> ending
            for index, it in enumerate(self.to_be_waited_on)
        )
        waited: PCollection[T] = pcoll | "Wait" >> Map(_first, *map(AsPresence, done))
        return waited


def _none(_element: Any) -> Iterable[Any]:
    return ()


def _first(element: Any, *_sides: Any) -> Any:
    return element
