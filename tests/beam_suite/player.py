"""Plays scenarios on Beam's own streaming runner. It is run by a Python that has Apache Beam.

``player.py`` reads scenarios as JSON and writes, as JSON, what came of each: a sentence for each
pane, and how the run ended if it failed. Times are seconds.
"""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.test_pipeline import TestPipeline
from apache_beam.testing.test_stream import TestStream
from apache_beam.transforms import trigger, window

LONGEST = 30
"""Seconds that a scenario may take."""


def made(spec: Any, module: Any) -> Any:
    """A trigger or a window function, from its name and its arguments."""
    if not isinstance(spec, Mapping):
        return spec
    kind = getattr(module, spec["kind"])
    return kind(
        *(made(it, module) for it in spec["args"]),
        **{name: made(it, module) for name, it in spec["kwargs"].items()},
    )


def stream_of(events: Any) -> Any:
    """The test stream of a script."""
    stream = TestStream()
    for what, given in events:
        if what == "elements":
            elements = [window.TimestampedValue((key, value), at) for key, value, at in given]
            stream = stream.add_elements(elements)
        elif what == "clock":
            stream = stream.advance_processing_time(given)
        elif given is None:
            stream = stream.advance_watermark_to_infinity()
        else:
            stream = stream.advance_watermark_to(given)
    ended = any(what == "watermark" and given is None for what, given in events)
    return stream if ended else stream.advance_watermark_to_infinity()


class Show(beam.DoFn):  # type: ignore[misc]
    """Writes a sentence for each pane."""

    def __init__(self, output: int, unit: int) -> None:
        self.output, self.unit = output, unit

    def process(
        self,
        element: Any,
        at: Any = beam.DoFn.TimestampParam,
        within: Any = beam.DoFn.WindowParam,
        pane: Any = beam.DoFn.PaneInfoParam,
    ) -> None:
        key, values = element
        timing = ("EARLY", "ON_TIME", "LATE", "UNKNOWN")[pane.timing]
        bounds = "global"
        if isinstance(within, window.IntervalWindow):
            bounds = "[{}, {})".format(
                *(it.micros * self.unit // 1_000_000 for it in (within.start, within.end))
            )
        instant = at.micros * self.unit // 1_000_000
        text = f"{key} {bounds} {timing}{' last' * pane.is_last} {sorted(values)} at {instant}\n"
        os.write(self.output, text.encode())


def play(scenario: Mapping[str, Any], output: int) -> None:
    """Run a scenario, and write its panes."""
    options = PipelineOptions(["--streaming", "--allow_unsafe_triggers"])
    with TestPipeline(options=options) as p:
        _ = (
            p
            | stream_of(scenario["events"])
            | beam.WindowInto(
                made(scenario["window_fn"], window),
                trigger=made(scenario["trigger"], trigger),
                accumulation_mode=getattr(trigger.AccumulationMode, scenario["accumulation"]),
                allowed_lateness=scenario["lateness"],
                timestamp_combiner=getattr(window.TimestampCombiner, scenario["combiner"]),
            )
            | beam.GroupByKey()
            | beam.ParDo(Show(output, scenario["unit"]))
        )


def played(scenario: Mapping[str, Any]) -> list[str]:
    """What came of a scenario, in a process of its own."""
    panes, output = os.pipe()
    child = os.fork()
    if child == 0:
        quiet = os.open(os.devnull, os.O_RDWR)
        os.dup2(quiet, 2)
        import signal

        signal.alarm(LONGEST)
        try:
            play(scenario, output)
        except BaseException as error:
            os.write(output, f"the run fails: {type(error).__name__} {error}\n"[:200].encode())
        os._exit(0)
    os.close(output)
    with os.fdopen(panes) as file:
        found = file.read().splitlines()
    _, status = os.waitpid(child, 0)
    return found if status == 0 else [*found, "the run does not end"]


if __name__ == "__main__":
    found = {it["id"]: played(it) for it in json.load(sys.stdin)}
    json.dump(found, sys.stdout)
