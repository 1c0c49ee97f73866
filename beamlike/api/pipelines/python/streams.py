"""`TestStream` as Beam Python has it: events in seconds, several outputs, and an open end.

Source: Beam Python ``testing.test_stream``.
"""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import attrs

from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.python.durations import Duration
from beamlike.api.pipelines.python.reading import Instant, Length, length, moment
from beamlike.api.pipelines.python.timestamps import MAX_TIMESTAMP, MIN_TIMESTAMP, Timestamp
from beamlike.api.pipelines.python.windows import TimestampedValue, WindowedValue
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError, StreamAssertionError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model.graph import ReadNode
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import duration_ms
from beamlike.runtime.script import Arrive, Script, ScriptStep

__all__ = ["ElementEvent", "Event", "ProcessingTimeEvent", "TestStream", "WatermarkEvent"]


class Event:
    """Something that happens in a test stream."""


def _watermark(value: Any) -> Timestamp:
    return moment(value, "WatermarkEvent new_watermark")


def _by(value: Any) -> Duration:
    return length(value, "ProcessingTimeEvent advance_by")


@attrs.frozen(order=True)
class ElementEvent(Event):
    """Elements that arrive together, at the output of this name; None is the only one.

    Source: Beam Python ``ElementEvent``.
    """

    timestamped_values: Sequence[TimestampedValue[Any]]
    tag: str | None = None


@attrs.frozen(order=True)
class WatermarkEvent(Event):
    """The watermark of an output moves on. Source: Beam Python ``WatermarkEvent``."""

    new_watermark: Timestamp = attrs.field(converter=_watermark)
    tag: str | None = None


@attrs.frozen(order=True)
class ProcessingTimeEvent(Event):
    """The clock moves on. Source: Beam Python ``ProcessingTimeEvent``."""

    advance_by: Duration = attrs.field(converter=_by)


class TestStream(PTransform[Pipeline, Any]):
    """A source scripted step by step: ``pipeline | TestStream()...``.

    Every method adds an event, and returns the stream itself. Where the last event has happened,
    each watermark moves to infinity. With tags there are several outputs, each with a watermark of
    its own: ``(pipeline | stream)["tag"]``.

    >>> TestStream().advance_watermark_to(10).add_elements(["a"])._events[1]
    ElementEvent(timestamped_values=[TimestampedValue('a', Timestamp(10))], tag=None)

    Args:
        coder: How Beam sends the elements to its workers. A test needs none here, and any will do.
        events: Events to begin with.
        output_tags: The names of outputs, also of such that nothing comes out of.
        endpoint: Not here.

    Raises:
        StreamAssertionError: An event is for an output that is not among ``output_tags``.
        PipelineError: There is an ``endpoint``.

    Source: Beam Python ``TestStream``.
    """

    __test__: ClassVar[bool] = False  # the name starts with Test, but pytest must not collect it

    def __init__(
        self,
        coder: Any = None,
        events: Iterable[Event] | None = None,
        output_tags: Iterable[str | None] | None = None,
        endpoint: str | None = None,
    ) -> None:
        super().__init__()
        if endpoint is not None:
            raise PipelineError(
                "TestStream reads no events from a service; give them with events=[...], or by "
                "add_elements and advance_watermark_to"
            )
        self.coder = coder
        self.output_tags: set[str | None] = set(output_tags or ())
        self.watermarks: dict[str | None, Timestamp] = {None: MIN_TIMESTAMP}
        self._events: list[Event] = list(events or ())
        named = {it.tag for it in self._events if isinstance(it, ElementEvent | WatermarkEvent)}
        _check(
            named <= self.output_tags,
            f"{named} is not a subset of {self.output_tags}; name all tags of events in "
            "output_tags",
        )

    def add_elements(
        self, elements: Iterable[Any], tag: str | None = None, event_timestamp: Any = None
    ) -> "TestStream":
        """Elements that arrive together.

        Args:
            elements: `TimestampedValue`, `WindowedValue`, whose windows do not count, or plain
                elements.
            tag: The output; None is the one that has no name.
            event_timestamp: When plain elements happen; None: at the watermark of the output.

        Raises:
            StreamAssertionError: One happens at the end of time.
            TimeError: ``event_timestamp`` is no instant.
        """
        self.output_tags.add(tag)
        at = self.watermarks.setdefault(tag, MIN_TIMESTAMP)
        if event_timestamp is not None:
            at = moment(event_timestamp, "add_elements event_timestamp")
        timed = [_timed(element, at) for element in elements]
        _check(
            all(it.timestamp < MAX_TIMESTAMP for it in timed),
            "Element timestamp must be before timestamp.MAX_TIMESTAMP.",
        )
        self._events.append(ElementEvent(timed, tag))
        return self

    def advance_watermark_to(self, new_watermark: Instant, tag: str | None = None) -> "TestStream":
        """The watermark of an output moves on to an instant.

        Raises:
            StreamAssertionError: It would stand still, or go back.
            TimeError: It is no instant.
        """
        self.output_tags.add(tag)
        event = WatermarkEvent(new_watermark, tag)
        before = self.watermarks.get(tag, MIN_TIMESTAMP)
        _check(
            event.new_watermark > before,
            f"Watermark must strictly-monotonically advance, got {event.new_watermark} after "
            f"{before}.",
        )
        self.watermarks[tag] = event.new_watermark
        self._events.append(event)
        return self

    def advance_watermark_to_infinity(self, tag: str | None = None) -> "TestStream":
        """The watermark of an output moves to the end of time."""
        return self.advance_watermark_to(MAX_TIMESTAMP, tag)

    def advance_processing_time(self, advance_by: Length) -> "TestStream":
        """The clock moves on by a duration.

        Raises:
            StreamAssertionError: It is not more than 0.
            TimeError: It is no duration.
        """
        event = ProcessingTimeEvent(advance_by)
        _check(
            event.advance_by > 0,
            f"Must advance processing time by positive amount, got {event.advance_by}.",
        )
        self._events.append(event)
        return self

    def expand(self, given: Pipeline) -> Any:
        """The output, or the outputs by name if there are some."""
        tags = sorted(self.output_tags or {None}, key=lambda tag: tag or "")
        made = {tag: self._output(given, tag, tags) for tag in tags}
        return made[None] if tags == [None] else made

    def _output(
        self, given: Pipeline, tag: str | None, tags: Sequence[str | None]
    ) -> PCollection[Any]:
        label = given.label if tags == [None] else f"{given.label}/{tag}"
        node = ReadNode(label, (), self._script(tag, tag == tags[0]), bounded=False)
        return given.add(node, WindowingStrategy.unwindowed(), is_bounded=False)

    def _script(self, tag: str | None, moves_clock: bool) -> Script:
        """What happens to one output. The clock, which all share, one of them moves.

        Scripts of a pipeline take turns, a step each: what happens elsewhere is a step in which
        nothing happens here.
        """
        steps: list[ScriptStep] = []
        clock = 0
        for event in self._events:
            step: ScriptStep = Arrive(())
            if isinstance(event, ProcessingTimeEvent):
                if moves_clock:
                    clock += duration_ms(event.advance_by, "ProcessingTimeEvent advance_by")
                    step = AdvanceClock(clock)
            elif isinstance(event, ElementEvent) and event.tag == tag:
                step = Arrive(tuple((None, _element(it)) for it in event.timestamped_values))
            elif isinstance(event, WatermarkEvent) and event.tag == tag:
                step = AdvanceWatermark(event.new_watermark.instant_ms)
            steps.append(step)
        if self.watermarks.get(tag) != MAX_TIMESTAMP:
            steps.append(AdvanceWatermark(MAX_TIMESTAMP.instant_ms))
        return tuple(steps)


def _timed(element: Any, default: Timestamp) -> TimestampedValue[Any]:
    if isinstance(element, TimestampedValue):
        return element
    if isinstance(element, WindowedValue):
        return TimestampedValue(element.value, element.timestamp)
    return TimestampedValue(element, default)


def _element(timed: TimestampedValue[Any]) -> Element:
    return Element(timed.value, timed.millis)


def _check(holds: bool, problem: str) -> None:
    if not holds:
        raise StreamAssertionError(problem)
