"""Sources of Beam as scripts of the graph: the impulse, and test streams."""

from collections.abc import Mapping
from typing import Any

from apache_beam.testing.test_stream import (
    ElementEvent,
    ProcessingTimeEvent,
    TestStream,
    WatermarkEvent,
)

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model.graph import ReadNode
from beamlike.runners.beam.sdk import proto
from beamlike.runners.beam.windows import UNIT, ticks_of
from beamlike.runtime.script import Arrive, ScriptStep


def impulse(label: str, clock: int | None = None) -> ReadNode:
    """One element without bytes, when processing time is ``clock`` ticks, and the end."""
    elements = ((None, Element(b"", UNIT.earliest)),)
    script: list[ScriptStep] = [] if clock is None else [AdvanceClock(clock)]
    script += [Arrive(elements), AdvanceWatermark(UNIT.end_of_time)]
    return ReadNode(label, (), tuple(script), bounded=True)


def ended(label: str) -> ReadNode:
    """The end, and nothing before it."""
    return ReadNode(label, (), (AdvanceWatermark(UNIT.end_of_time),), bounded=True)


def test_stream(transform: Any, stream: Any, context: Any) -> Mapping[str, ReadNode]:
    """The sources of a test stream, one for each of its outputs, by their tags.

    Args:
        transform: Its proto.
        stream: The ``TestStream``, whose times are finer than those of the proto; None: the proto
            is all that is known.
        context: The ``PipelineContext``.
    """
    if not isinstance(stream, TestStream):
        payload = proto.TestStreamPayload.FromString(transform.spec.payload)
        stream = TestStream.from_runner_api_parameter(transform, payload, context)
    tags = sorted(transform.outputs)
    return {
        tag: ReadNode(
            f"{transform.unique_name}/{tag}",
            (),
            tuple(_steps(stream, tag, has_clock=number == 0)),
            bounded=False,
        )
        for number, tag in enumerate(tags)
    }


def _steps(stream: Any, tag: str, *, has_clock: bool) -> list[ScriptStep]:
    """What happens to one output, at its place among the steps of all outputs."""
    steps: list[ScriptStep] = []
    clock = 0
    for event in stream._events:
        step: ScriptStep = Arrive(())
        match event:
            case ProcessingTimeEvent() if has_clock:
                clock += event.advance_by.micros
                step = AdvanceClock(clock)
            case ElementEvent() if str(event.tag) == tag:
                elements = (
                    (None, Element(timestamped_value.value, ticks_of(timestamped_value.timestamp)))
                    for timestamped_value in event.timestamped_values
                )
                step = Arrive(tuple(elements))
            case WatermarkEvent() if str(event.tag) == tag:
                step = AdvanceWatermark(ticks_of(event.new_watermark))
        steps.append(step)
    return [*steps, AdvanceWatermark(UNIT.end_of_time)]
