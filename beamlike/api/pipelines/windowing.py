"""Transforms that put elements into windows, and collections into one.

Source: Beam Python ``WindowInto`` and ``Flatten``, Beam Java ``Window``.
"""

from collections.abc import Iterable
from typing import Any, Unpack

from beamlike.api.pipelines.checks import check_collection
from beamlike.api.pipelines.hints import declared_type
from beamlike.api.pipelines.pane_times import warn_of_times
from beamlike.api.pipelines.pipeline import PCollection, Pipeline, rewindowed
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.variables import T
from beamlike.errors import (
    BeamlikeError,
    PipelineError,
    PipelineTypeError,
    UnwiseStrategyWarning,
)
from beamlike.machine.events import AdvanceWatermark
from beamlike.model.compatible import check_flatten
from beamlike.model.fingerprint import BEAM_SPELLING, stable_repr
from beamlike.model.graph import FlattenNode, ReadNode, WindowNode
from beamlike.model.options import AccumulationMode, AccumulationModeLike, option
from beamlike.model.resolution import MILLISECONDS
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.strategy_arguments import check_alone
from beamlike.model.strategy_parts import StrategyParts
from beamlike.model.time import MAX_TIMESTAMP, duration_ms, show_duration
from beamlike.model.warn import warn_user
from beamlike.model.windowfns import WindowFn

__all__ = ["Flatten", "Remerge", "WindowInto"]


class WindowInto(PTransform[Any, Any]):
    """Elements put into windows by their timestamps, and what a grouping of them does.

    What is not given is as in the collection before. The allowed lateness never shrinks. An element
    that is in several windows is put into new ones once for each of them. The arguments are those
    of `beamlike.beam.WindowInto`, and numbers count milliseconds.

    Raises:
        PipelineError: When it is applied: a part is of the wrong kind, or the parts do not go
            together.

    Warns:
        UnwiseStrategyWarning: When it is applied: the elements are panes that are stamped with the
            end of their window, and the new windows would not be those of their elements.

    Source: Beam Python ``WindowInto``; ``closing_behavior`` and ``on_time_behavior`` are Java's.
    """

    def __init__(
        self,
        window_fn: WindowFn | None = None,
        *,
        strategy: WindowingStrategy | None = None,
        accumulation_mode: AccumulationModeLike | None = None,
        **parts: Unpack[StrategyParts],
    ) -> None:
        self.window_fn, self.strategy = window_fn, strategy
        self.parts: StrategyParts = {**parts, "accumulation": accumulation_mode}

    def output_type(self, pcolls: Any) -> Any:
        return declared_type(pcolls)

    def expand(self, pcoll: PCollection[T]) -> PCollection[T]:
        label, pipeline = check_collection(pcoll, self), pcoll.pipeline
        try:
            window_fn = self._checked()
            if self.strategy is None:
                self._warn_of_lateness(pcoll.windowing.allowed_lateness, label)
                before, parts = self.starting_from(pcoll.windowing, label)
                windowing = before.configured(window_fn, **parts, spelling=BEAM_SPELLING)
            else:
                check_alone("WindowInto", self.strategy, window_fn, self.parts)
                windowing, window_fn = self.strategy, self.strategy.window_fn
            windowing = windowing.in_resolution(MILLISECONDS)
        except BeamlikeError as error:
            raise PipelineError(f"{label!r}: {error}") from error
        if window_fn is None:
            return rewindowed(pcoll, windowing)
        warn_of_times(pcoll.edge, window_fn, label)
        node = WindowNode(label, (pcoll.edge,), window_fn)
        return pipeline.add(node, windowing, pcoll.is_bounded)

    def starting_from(
        self, before: WindowingStrategy, label: str
    ) -> tuple[WindowingStrategy, StrategyParts]:
        """The strategy that the parts change, and the parts."""
        return before, self.parts

    def _warn_of_lateness(self, before: int, label: str) -> None:
        """Warn of an allowed lateness that is shorter than the one before (ms)."""
        lateness = self.parts.get("allowed_lateness")
        if lateness is None or duration_ms(lateness, "allowed_lateness") >= before:
            return
        warn_user(
            f"{label!r}: the allowed lateness stays {show_duration(before)}, as it is before and "
            "never shrinks; leave allowed_lateness out, or give strategy= with all parts",
            UnwiseStrategyWarning,
        )

    def _checked(self) -> WindowFn | None:
        """The windows, if they and the accumulation mode are what they have to be."""
        mode = self.parts["accumulation"]
        if mode is not None:
            option(AccumulationMode, mode, "accumulation_mode")
        if self.window_fn is None or isinstance(self.window_fn, WindowFn):
            return self.window_fn
        raise PipelineError(
            'WindowInto needs windows such as FixedWindows("1 hour"), got '
            f"{stable_repr(self.window_fn)}"
        )


class Remerge(PTransform[Any, Any]):
    """Windows that a grouping has merged may merge once more in the next one.

    Without it they stay as they are, also where windows of keys that were different overlap.

    Source: Beam Java ``Window.remerge``.
    """

    def expand(self, pcoll: PCollection[T]) -> PCollection[T]:
        check_collection(pcoll, self)
        windowing = pcoll.windowing.remerge()
        return rewindowed(pcoll, windowing)


class Flatten(PTransform[Any, Any]):
    """The elements of several collections as one: ``(one, other) | Flatten()``.

    Their windows and triggers have to be compatible.

    Args:
        pipeline: What the result belongs to, where there may be no collection at all:
            ``() | Flatten(pipeline=p)`` is empty.
    """

    def __init__(self, *, pipeline: Pipeline | None = None) -> None:
        super().__init__()
        self.pipeline = pipeline

    def output_type(self, pcolls: Any) -> Any:
        types = [declared_type(pcoll) for pcoll in pcolls]
        return types[0] if types and all(declared == types[0] for declared in types) else Any

    def __ror__(self, pcolls: Iterable[PCollection[T]]) -> PCollection[T]:
        pcoll: PCollection[T] = super().__ror__(pcolls)
        return pcoll

    def expand(self, pcolls: Iterable[PCollection[T]]) -> PCollection[T]:
        if isinstance(pcolls, PCollection | Pipeline):
            number = "one" if isinstance(pcolls, PCollection) else "none"
            raise PipelineTypeError(
                f"{pcolls.pipeline.label!r} needs several collections, got {number}; write "
                "(one, other) | Flatten(), or FlatMap(lambda items: items) to open lists"
            )
        collections = list(pcolls)
        if not collections and self.pipeline is not None:
            ends = (AdvanceWatermark(MAX_TIMESTAMP),)
            nothing = ReadNode(self.pipeline.label, (), ends, bounded=True)
            return self.pipeline.add(nothing, WindowingStrategy.unwindowed(), is_bounded=True)
        pipeline = collections[0].pipeline
        label = pipeline.label
        try:
            windowing = check_flatten(_named(collections), BEAM_SPELLING)
        except BeamlikeError as error:
            raise PipelineError(f"{label!r}: {error}") from error
        node = FlattenNode(label, tuple(collection.edge for collection in collections))
        return pipeline.add(
            node, windowing, all(collection.is_bounded for collection in collections)
        )


def _named(collections: list[PCollection[Any]]) -> dict[str, WindowingStrategy]:
    """The windowing of each. A new trigger makes another collection of the same output."""
    named: dict[str, WindowingStrategy] = {}
    for number, collection in enumerate(collections):
        name = repr(collection)
        named[f"{name}, input {number}," if name in named else name] = collection.windowing
    return named
