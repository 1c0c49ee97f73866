"""Elements of which each comes out once, for so long.

Source: Beam Python ``transforms.deduplicate``, Beam Java ``Deduplicate``.
"""

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from beamlike.api.pipelines.coders import BooleanCoder
from beamlike.api.pipelines.column_functions import with_no_value
from beamlike.api.pipelines.elements import Map
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.python.durations import Duration
from beamlike.api.pipelines.python.functions import DoFn
from beamlike.api.pipelines.python.reading import in_millis
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.userstate import (
    ReadModifyWriteStateSpec,
    TimeDomain,
    TimerSpec,
    on_timer,
)
from beamlike.api.pipelines.variables import K, T
from beamlike.errors import PipelineError

__all__ = ["Deduplicate", "DeduplicatePerKey"]


class _ForAWhile(PTransform[Any, Any]):
    """What knows keys for some time of either clock, or of both."""

    def __init__(
        self, processing_time_duration: Any = None, event_time_duration: Any = None
    ) -> None:
        super().__init__()
        owner = type(self).__name__
        if processing_time_duration is None and event_time_duration is None:
            raise PipelineError(
                f"{owner} requires at least providing either processing_time_duration or "
                f"event_time_duration; write {owner}(event_time_duration=600)"
            )
        real = _span(processing_time_duration, f"{owner} processing_time_duration")
        event = _span(event_time_duration, f"{owner} event_time_duration")
        self.first_of_key = _FirstOfKey(real, event)


def _span(value: Any, argument: str) -> Duration | None:
    return None if value is None else Duration(micros=1000 * in_millis(value, argument))


class DeduplicatePerKey(_ForAWhile):
    """The first pair of each key and window; others come out no earlier than a duration after it.

    What is known of a key is forgotten with its window, and when the first of the durations is
    over. Known keys hold no watermark back.

    Args:
        processing_time_duration: How long a key is known by the clock.
        event_time_duration: How long it is known by the watermark, from the event time of its
            pair on; at most until its window expires.

    Raises:
        PipelineError: Neither is given; when it is applied: the windows merge.
        TimeError: One of them is no duration.

    Source: Beam Python ``DeduplicatePerKey``, Beam Java ``Deduplicate.keyedValues``.
    """

    def expand(self, pcoll: PCollection[tuple[K, T]]) -> PCollection[tuple[K, T]]:
        return pcoll | "DeduplicateFn" >> ParDo(self.first_of_key)


class Deduplicate(_ForAWhile):
    """Elements, each once for a while; see `DeduplicatePerKey` for the arguments.

    Source: Beam Python ``Deduplicate``, Beam Java ``Deduplicate.values``.
    """

    def expand(self, pcoll: PCollection[T]) -> PCollection[T]:
        keyed = pcoll | "Use Value as Key" >> Map(with_no_value)
        first = keyed | "DeduplicatePerKey" >> ParDo(self.first_of_key)
        values: PCollection[T] = first | "Output Value" >> Map(itemgetter(0))
        return values


class _FirstOfKey(DoFn[Any, Any]):
    SEEN = ReadModifyWriteStateSpec("seen", BooleanCoder())
    REAL = TimerSpec("processing_timer", TimeDomain.REAL_TIME)
    EVENT = TimerSpec("event_timer", TimeDomain.WATERMARK)

    def __init__(self, real: Duration | None, event: Duration | None) -> None:
        self.real, self.event = real, event

    def process(
        self,
        element: Any,
        timestamp: Any = DoFn.TimestampParam,
        seen: Any = DoFn.StateParam(SEEN),  # noqa: B008
        real: Any = DoFn.TimerParam(REAL),  # noqa: B008
        event: Any = DoFn.TimerParam(EVENT),  # noqa: B008
    ) -> Iterable[Any]:
        if not seen.is_empty():
            return
        if self.real is not None:
            real.with_no_output_timestamp().offset(self.real).set_relative()
        if self.event is not None:
            until = min(timestamp + self.event, event.latest)
            event.with_no_output_timestamp().set(until)
        seen.write(True)
        yield element

    @on_timer(REAL)
    @on_timer(EVENT)
    def forget(self, seen: Any = DoFn.StateParam(SEEN)) -> None:  # noqa: B008
        seen.clear()
