"""A transform that gives elements their event time, in milliseconds where it is a number.

Source: Beam Java ``WithTimestamps``.
"""

from collections.abc import Callable, Iterable
from typing import Any

from beamlike.api.pipelines.dofn import DoFn, TimestampedValue
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform, function_label
from beamlike.api.pipelines.variables import T
from beamlike.errors import PipelineTypeError
from beamlike.model.time import DurationLike, InstantLike, duration_ms


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
    def read(at: Any) -> Any:
        """An answer of the function as an instant of the core."""
        return at

    def default_label(self) -> str:
        return f"WithTimestamps({function_label(self.fn)})"

    def expand(self, pcoll: PCollection[T]) -> PCollection[T]:
        return pcoll | "AddTimestamps" >> ParDo(_AddTimestamps(self.fn, self.read, self.skew))


class _AddTimestamps(DoFn[Any, Any]):
    def __init__(self, fn: Callable[[Any], Any], read: Callable[[Any], Any], skew: int) -> None:
        self.fn, self.read, self.allowed_timestamp_skew = fn, read, skew

    def process(self, element: Any, *args: Any, **kwargs: Any) -> Iterable[Any]:
        yield TimestampedValue(element, self.read(self.fn(element)))
