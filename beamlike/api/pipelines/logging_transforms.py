"""Transforms that let elements pass: they print them, give them to others too, or let them wait.

Source: Beam Python ``transforms.util``.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from beamlike.api.pipelines.checks import check_collection
from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.elements import FlatMap, Map
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform, function_label, is_lambda, ptransform_fn
from beamlike.api.pipelines.variables import T
from beamlike.api.pipelines.views import IsThere
from beamlike.api.pipelines.windowing import WindowInto
from beamlike.errors import PipelineError
from beamlike.model.panes import PaneInfo
from beamlike.model.time import show_instant
from beamlike.model.triggers import DefaultTrigger
from beamlike.model.windows import Window

__all__ = ["LogElements", "Tee", "WaitOn"]

_LOGGER: Final = logging.getLogger("beamlike.LogElements")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class LogElements(PTransform[Any, Any]):
    """The same elements, each printed once for each of its windows.

    Args:
        label: A name for the transform.
        prefix: What is printed before each.
        with_timestamp: Whether the event time is printed.
        with_window: Whether the window is.
        level: A level of `logging`, such as ``logging.INFO``: to the logger
            ``beamlike.LogElements``. None: to the standard output; on Spark, that of a worker.
        with_pane_info: Whether the pane is printed.
        use_epoch_time: Instants as whole seconds since the epoch, and not as ISO 8601.

    Source: Beam Python ``LogElements``.
    """

    def __init__(
        self,
        label: str | None = None,
        prefix: str = "",
        with_timestamp: bool = False,
        with_window: bool = False,
        level: int | None = None,
        with_pane_info: bool = False,
        use_epoch_time: bool = False,
    ) -> None:
        super().__init__(label)
        if level is not None and not isinstance(level, int):
            raise PipelineError(f"level must be one such as logging.INFO, got {level!r}")
        self.do = _Logging(
            prefix, with_timestamp, with_window, level, with_pane_info, use_epoch_time
        )

    def expand(self, given: PCollection[T]) -> PCollection[T]:
        return given | "Log" >> ParDo(self.do)


class _Logging(DoFn[Any, Any]):
    def __init__(
        self,
        prefix: str,
        with_timestamp: bool,
        with_window: bool,
        level: int | None,
        with_pane_info: bool,
        use_epoch_time: bool,
    ) -> None:
        self.prefix, self.level = prefix, level
        self.with_timestamp, self.with_window = with_timestamp, with_window
        self.with_pane_info, self.use_epoch_time = with_pane_info, use_epoch_time

    def process(
        self,
        element: Any,
        timestamp: int = DoFn.TimestampParam,
        window: Window = DoFn.WindowParam,
        pane: PaneInfo = DoFn.PaneInfoParam,
    ) -> Iterable[Any]:
        line = f"{self.prefix}{element}"
        if self.with_timestamp:
            line += f", timestamp={self._shown(timestamp)!r}"
        if self.with_window:
            line += f", window(start={self._shown(window.start)}, end={self._shown(window.end)})"
        if self.with_pane_info:
            line += f", pane_info={pane!r}"
        if self.level is None:
            print(line)
        else:
            _LOGGER.log(self.level, "%s", line)
        yield element

    def _shown(self, at: int) -> str | int:
        if self.use_epoch_time:
            return at // 1000
        try:
            moment = _EPOCH + timedelta(milliseconds=at)
        except OverflowError:
            return show_instant(at)
        return f"{moment.isoformat().removesuffix('+00:00')}Z"


class Tee(PTransform[Any, Any]):
    """The same elements, which other transforms are applied to as well, in the midst of a chain.

    Args:
        consumers: Transforms, or functions that apply some to the collection.

    Raises:
        PipelineError: One of them is neither.

    Source: Beam Python ``Tee``.
    """

    def __init__(self, *consumers: PTransform[Any, Any] | Callable[[PCollection[Any]], Any]):
        for each in consumers:
            if isinstance(each, type) or not (isinstance(each, PTransform) or callable(each)):
                raise PipelineError(
                    "Tee needs transforms such as Map(f), or functions of a collection, got "
                    f"{each!r}"
                )
        self.consumers = consumers

    def default_label(self) -> str:
        lambdas = [function_label(each) for each in self.consumers if is_lambda(each)]
        return f"Tee({', '.join(lambdas)})" if lambdas else "Tee"

    def expand(self, given: PCollection[T]) -> PCollection[T]:
        check_collection(given, self)
        for each in self.consumers:
            if not isinstance(each, PTransform):
                # Two functions may have one name, or stand in one line.
                made = ptransform_fn(each)()
                each = given.pipeline.free_label(made.default_label()) >> made
            _ = given | each
        return given


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

    def expand(self, given: PCollection[T]) -> PCollection[T]:
        check_collection(given, self)
        # Only the watermark counts: without elements there is something to see when it has passed,
        # unless the trigger of the collection waits for elements, or for processing time.
        ending = WindowInto(trigger=DefaultTrigger(), accumulation_mode="discarding")
        done = (
            it | f"Done{at}" >> FlatMap(_none) | f"Ending{at}" >> ending
            for at, it in enumerate(self.to_be_waited_on)
        )
        waited: PCollection[T] = given | "Wait" >> Map(_first, *map(IsThere, done))
        return waited


def _none(_element: Any) -> Iterable[Any]:
    return ()


def _first(element: Any, *_sides: Any) -> Any:
    return element
