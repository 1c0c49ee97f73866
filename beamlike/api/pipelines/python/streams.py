"""`TestStream` as Beam Python has it: events in seconds, several outputs, and an open end.

Source: Beam Python ``testing.test_stream``.
"""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from beamlike.api.pipelines.beams_own import without_beams_own
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.python.reading import Instant, Length, length, moment
from beamlike.api.pipelines.python.timestamps import MAX_TIMESTAMP, MIN_TIMESTAMP, Timestamp
from beamlike.api.pipelines.python.windows import TimestampedValue, WindowedValue
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import StreamAssertionError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model.graph import ReadNode
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.script import Arrive, Script, ScriptStep

__all__ = ["TestStream"]


class TestStream(PTransform[Pipeline, Any]):
    """A source scripted step by step: ``pipeline | TestStream()...``.

    Every method adds an event, and returns the stream itself. Where the last event has happened,
    each watermark moves to infinity. With tags there are several outputs, each with a watermark of
    its own: ``(pipeline | stream)["tag"]``.

    >>> stream = TestStream().advance_watermark_to(10).add_elements(["a"])
    >>> stream.advance_watermark_to_infinity().watermarks[None]
    Timestamp(9223372036854.775000)

    Args:
        coder: How Beam sends the elements to its workers. A test needs none here, and any will do.
        output_tags: The names of outputs, also of such that nothing comes out of.

    Raises:
        UnsupportedError: There are ``events``, or an ``endpoint``, which are for Beam's own SDK.
    """

    __test__: ClassVar[bool] = False  # the name starts with Test, but pytest must not collect it

    def __init__(
        self,
        coder: Any = None,
        output_tags: Iterable[str | None] | None = None,
        **beam_arguments: Any,
    ) -> None:
        super().__init__(**without_beams_own("TestStream", beam_arguments, "events", "endpoint"))
        self.coder = coder
        self.output_tags: set[str | None] = set(output_tags or ())
        self.watermarks: dict[str | None, Timestamp] = {None: MIN_TIMESTAMP}
        self._clock_ms = 0
        self._steps: list[tuple[str | None, ScriptStep]] = []

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
        timestamp = self.watermarks.setdefault(tag, MIN_TIMESTAMP)
        if event_timestamp is not None:
            timestamp = moment(event_timestamp, "add_elements event_timestamp")
        timed = [_timed(element, timestamp) for element in elements]
        _check(
            all(element.timestamp < MAX_TIMESTAMP for element in timed),
            "Element timestamp must be before timestamp.MAX_TIMESTAMP.",
        )
        arrived = tuple((None, Element(element.value, element.millis)) for element in timed)
        self._steps.append((tag, Arrive(arrived)))
        return self

    def advance_watermark_to(self, new_watermark: Instant, tag: str | None = None) -> "TestStream":
        """The watermark of an output moves on to an instant.

        Raises:
            StreamAssertionError: It would stand still, or go back.
            TimeError: It is no instant.
        """
        self.output_tags.add(tag)
        watermark = moment(new_watermark, "advance_watermark_to new_watermark")
        before = self.watermarks.get(tag, MIN_TIMESTAMP)
        _check(
            watermark > before,
            f"Watermark must strictly-monotonically advance, got {watermark} after {before}.",
        )
        self.watermarks[tag] = watermark
        self._steps.append((tag, AdvanceWatermark(watermark.instant_ms)))
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
        span = length(advance_by, "advance_processing_time advance_by")
        _check(span > 0, f"Must advance processing time by positive amount, got {span}.")
        self._clock_ms += span.micros // 1000
        self._steps.append((None, AdvanceClock(self._clock_ms)))
        return self

    def expand(self, pipeline: Pipeline) -> Any:
        """The output, or the outputs by name if there are some."""
        tags = sorted(self.output_tags or {None}, key=lambda tag: tag or "")
        outputs = {tag: self._output(pipeline, tag, tags) for tag in tags}
        return outputs[None] if tags == [None] else outputs

    def _output(
        self, pipeline: Pipeline, tag: str | None, tags: Sequence[str | None]
    ) -> PCollection[Any]:
        label = pipeline.label if tags == [None] else f"{pipeline.label}/{tag}"
        node = ReadNode(label, (), self._script(tag, tag == tags[0]), bounded=False)
        return pipeline.add(node, WindowingStrategy.unwindowed(), is_bounded=False)

    def _script(self, tag: str | None, moves_clock: bool) -> Script:
        """What happens to one output. The clock, which all share, one of them moves.

        Scripts of a pipeline take turns, a step each: what happens elsewhere is a step in which
        nothing happens here.
        """
        steps = [
            step
            if (moves_clock if isinstance(step, AdvanceClock) else owner == tag)
            else Arrive(())
            for owner, step in self._steps
        ]
        if self.watermarks.get(tag) != MAX_TIMESTAMP:
            steps.append(AdvanceWatermark(MAX_TIMESTAMP.instant_ms))
        return tuple(steps)


def _timed(element: Any, default: Timestamp) -> TimestampedValue[Any]:
    if isinstance(element, TimestampedValue):
        return element
    if isinstance(element, WindowedValue):
        return TimestampedValue(element.value, element.timestamp)
    return TimestampedValue(element, default)


def _check(holds: bool, problem: str) -> None:
    if not holds:
        raise StreamAssertionError(problem)
