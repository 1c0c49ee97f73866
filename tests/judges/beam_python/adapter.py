"""Plays scenarios on Beam Python's own streaming runner. A Python that has Apache Beam runs it.

``adapter.py OUT.json FILE...`` writes one document with what came out. Each scenario runs in a
process of its own, because some never end.
"""

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.test_pipeline import TestPipeline
from apache_beam.testing.test_stream import TestStream
from apache_beam.transforms import trigger, window
from apache_beam.utils.timestamp import Timestamp

LONGEST = 20
"""Seconds that a scenario may take."""
END_OF_TIME = 9223372036854775
END_OF_GLOBAL_WINDOW = 9223371950454775


class Unsupported(Exception):
    """Beam Python cannot express the scenario."""


class Words:
    """A scenario in Beam Python's words.

    Args:
        unit: So many microseconds stand for a millisecond of the scenario. Beam Python waits for
            whole seconds of processing time only.
    """

    def __init__(self, unit: int) -> None:
        self.unit = unit

    def instant(self, millis: int) -> Timestamp:
        micros = millis * self.unit
        if not -(2**63) < micros < END_OF_TIME * 1000:
            raise Unsupported("times as far away as this, counted in seconds")
        return Timestamp(micros=micros)

    def seconds(self, millis: int) -> int | float:
        seconds = millis * self.unit / 1_000_000
        return int(seconds) if seconds.is_integer() else seconds

    def window_fn(self, spec: Mapping[str, Any]) -> Any:
        offset = self.seconds(spec.get("offset_ms", 0))
        match spec["fn"]:
            case "fixed":
                return window.FixedWindows(self.seconds(spec["size_ms"]), offset)
            case "sliding":
                size, period = self.seconds(spec["size_ms"]), self.seconds(spec["period_ms"])
                return window.SlidingWindows(size, period, offset)
            case "sessions":
                return window.Sessions(self.seconds(spec["gap_ms"]))
            case "global":
                return window.GlobalWindows()
            case _:
                raise Unsupported("calendar windows: Beam Python has none")

    def trigger(self, spec: Mapping[str, Any]) -> Any:
        children = [self.trigger(child) for child in spec.get("triggers", ())]
        match spec["type"]:
            case "default":
                return trigger.DefaultTrigger()
            case "always":
                return trigger.Always()
            case "never":
                return trigger._Never()
            case "after_count":
                return trigger.AfterCount(spec["count"])
            case "after_processing_time":
                if "transforms" in spec and any("align_to" in part for part in spec["transforms"]):
                    raise Unsupported("a target of the clock that is aligned")
                delays = spec.get("transforms", [spec])
                return trigger.AfterProcessingTime(
                    self.seconds(sum(delay["delay_ms"] for delay in delays))
                )
            case "after_synchronized_processing_time":
                return trigger._AfterSynchronizedProcessingTime()
            case "after_watermark":
                phases = {
                    name: self.trigger(spec[name]) for name in ("early", "late") if spec.get(name)
                }
                return trigger.AfterWatermark(**phases)
            case "repeatedly":
                return trigger.Repeatedly(self.trigger(spec["trigger"]))
            case "after_first":
                return trigger.AfterAny(*children)
            case "after_all":
                return trigger.AfterAll(*children)
            case "after_each":
                return trigger.AfterEach(*children)
            case "or_finally":
                return trigger.OrFinally(self.trigger(spec["main"]), self.trigger(spec["until"]))
            case other:
                raise Unsupported(f"the trigger {other}")

    def stream(self, steps: Sequence[Mapping[str, Any]]) -> TestStream:
        stream, watermark, arrival = TestStream(), -END_OF_TIME, 0
        for number, step in enumerate(steps):
            stream = stream.add_elements([self._mark(number)])
            if step.get("elements"):
                bundle = []
                for element in step["elements"]:
                    text = json.dumps({**element, "arrival": arrival})
                    arrival += 1
                    pair = (json.dumps(element["key"]), text)
                    bundle.append(window.TimestampedValue(pair, self.instant(element["ts_ms"])))
                stream = stream.add_elements(bundle)
            elif step.get("advance_processing_time_by_ms"):
                stream = stream.advance_processing_time(
                    self.seconds(step["advance_processing_time_by_ms"])
                )
            elif step.get("advance_watermark_to_ms", watermark) > watermark:
                watermark = step["advance_watermark_to_ms"]
                stream = stream.advance_watermark_to(self.instant(watermark))
            elif "advance_watermark_to_infinity" in step and watermark < END_OF_TIME:
                watermark = END_OF_TIME
                stream = stream.advance_watermark_to_infinity()
        stream = stream.add_elements([self._mark(len(steps))])
        if watermark < END_OF_TIME:
            stream = stream.advance_watermark_to_infinity()
        # A timer of the clock that is still pending would keep the pipeline from ending.
        return stream.advance_processing_time(10**9)

    def _mark(self, step: int) -> window.TimestampedValue:
        return window.TimestampedValue((f"#{step}", ""), Timestamp(micros=END_OF_TIME * 1000 - 1))


class NoteSteps(beam.DoFn):  # type: ignore[misc]
    """Writes down which step it is, and passes on all but its mark."""

    def __init__(self, output: int) -> None:
        self.output = output

    def process(self, element: tuple[str, str]) -> Any:
        if element[0].startswith("#"):
            os.write(self.output, f"{json.dumps({'step': int(element[0][1:])})}\n".encode())
        else:
            yield element


class NotePanes(beam.DoFn):  # type: ignore[misc]
    """Writes down each pane."""

    def __init__(self, output: int, unit: int) -> None:
        self.output, self.unit = output, unit

    def process(
        self,
        element: tuple[str, Any],
        timestamp: Any = beam.DoFn.TimestampParam,
        within: Any = beam.DoFn.WindowParam,
        pane: Any = beam.DoFn.PaneInfoParam,
    ) -> None:
        key, values = element
        bounds: Any = "global"
        if isinstance(within, window.IntervalWindow):
            bounds = [bound.micros // self.unit for bound in (within.start, within.end)]
        instant = timestamp.micros // self.unit
        is_at_the_end = bounds == "global" and timestamp.micros // 1000 == END_OF_GLOBAL_WINDOW - 1
        note = {
            "key": json.loads(key),
            "elements": [
                json.loads(text) for text in ([values] if isinstance(values, str) else values)
            ],
            "window": bounds,
            # The global window of Beam Python ends a microsecond before that of Java.
            "timestamp_ms": END_OF_GLOBAL_WINDOW if is_at_the_end else instant,
            "timing": ("EARLY", "ON_TIME", "LATE", "UNKNOWN")[pane.timing],
            "index": pane.index,
            "nonspeculative_index": pane.nonspeculative_index,
            "is_first": pane.is_first,
            "is_last": pane.is_last,
        }
        os.write(self.output, f"{json.dumps(note)}\n".encode())


def aggregated(name: str, elements: Sequence[Mapping[str, Any]]) -> Any:
    """The value of a pane, computed from its elements."""
    ordered = sorted(elements, key=lambda element: element["arrival"])
    if name in ("list_by_timestamp", "latest"):
        ordered.sort(key=lambda element: element["ts_ms"])
    values = [element["value"] for element in ordered]
    match name:
        case "list" | "list_by_timestamp":
            return values
        case "count":
            return len(values)
        case "sum":
            return sum(values)
        case _ if not values:
            return None
        case "min":
            return min(values)
        case "max":
            return max(values)
        case "mean":
            return sum(values) / len(values)
        case _:
            return values[-1]


def run(scenario: Mapping[str, Any], output: int) -> None:
    """Run a scenario, and write what comes out, a line for each pane."""
    windowing = scenario["windowing"]
    if windowing["accumulation"] == "retracting":
        raise Unsupported("retracting panes: no runner of Beam has them")
    if windowing["closing_behavior"] == "fire_always":
        raise Unsupported("closing_behavior: Beam Python has no such option")
    if windowing["on_time_behavior"] != "fire_always":
        raise Unsupported("on_time_behavior: Beam Python has no such option")
    by_clock = "processing_time" in json.dumps(windowing["trigger"])
    words = Words(1_000_000 if by_clock else 1000)
    combiner = windowing["timestamp_combiner"].upper()
    combiner = "OUTPUT_AT_EOW" if combiner == "END_OF_WINDOW" else f"OUTPUT_AT_{combiner}"
    windowed = beam.WindowInto(
        words.window_fn(windowing["window"]),
        trigger=words.trigger(windowing["trigger"]),
        accumulation_mode=getattr(trigger.AccumulationMode, windowing["accumulation"].upper()),
        allowed_lateness=words.seconds(windowing["allowed_lateness_ms"]),
        timestamp_combiner=getattr(window.TimestampCombiner, combiner),
    )
    stream = words.stream(scenario["steps"])
    options = PipelineOptions(["--streaming", "--allow_unsafe_triggers"])
    with TestPipeline(options=options) as pipeline:
        elements = pipeline | stream | "steps" >> beam.ParDo(NoteSteps(output)) | windowed
        if scenario["aggregation"] != "none":
            elements = elements | beam.GroupByKey()
        _ = elements | "panes" >> beam.ParDo(NotePanes(output, words.unit))


LONG_NAMES = {
    "count": "after_count",
    "processing_time": "after_processing_time",
    "synchronized_processing_time": "after_synchronized_processing_time",
    "repeat": "repeatedly",
    "first": "after_first",
    "all": "after_all",
    "each": "after_each",
}


def spelled_out(node: Mapping[str, Any]) -> dict[str, Any]:
    """A trigger in the words of scenarios, from the shorter ones of rules."""
    long = {**node, "type": LONG_NAMES.get(node["type"], node["type"])}
    if "n" in node:
        long["count"] = node["n"]
    if "subs" in node:
        long["triggers"] = list(map(spelled_out, node["subs"]))
    for name, other in (("sub", "trigger"), ("early", "early"), ("late", "late")):
        if node.get(name):
            long[other] = spelled_out(node[name])
    # Beam Python has no aligned targets; what continues a trigger does not depend on them.
    if any("delay_ms" not in transform for transform in node.get("transforms", ())):
        long["transforms"] = [{"delay_ms": 0}]
    return long


def rule_answer(rule: Mapping[str, Any]) -> Any:
    """What Beam Python says of a rule: a value, ``ok``, or the error that it raises."""
    words = Words(1000)
    if "continuation" in rule:
        continued = words.trigger(spelled_out(rule["trigger"])).get_continuation_trigger()
        stated = words.trigger(spelled_out(rule["continuation"]))
        return rule["continuation"] if repr(continued) == repr(stated) else repr(continued)
    if "op" not in rule:
        raise Unsupported("a pipeline of its own, or a function that Beam Python does not have")
    if rule["sdk"] != "python":
        raise Unsupported(f"a rule of the other SDK: {rule['sdk']}")
    operation = rule["op"]
    try:
        chosen = words.trigger(spelled_out(operation["trigger"]))
        windowing = beam.transforms.core.Windowing(
            window.GlobalWindows(),
            chosen,
            trigger.AccumulationMode.DISCARDING,
            allowed_lateness=words.seconds(operation.get("allowed_lateness_ms", 0)),
        )
        if operation["kind"] == "trigger_may_lose_data":
            loses = chosen.may_lose_data(windowing)
            return "ok" if loses == trigger.DataLossReason.NO_POTENTIAL_LOSS else f"error: {loses}"
        if operation["kind"] == "window_then_gbk":
            pipeline = beam.Pipeline(options=PipelineOptions(["--streaming"]))
            _ = pipeline | TestStream() | beam.GroupByKey()
    except ValueError as error:
        return f"error: {error}"
    return "ok"


def answered(rule: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a rule, as in a document of results."""
    try:
        return {"id": rule["id"], "answers": [rule_answer(rule)]}
    except Unsupported as reason:
        return {"id": rule["id"], "unsupported": str(reason)}


def play(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """What comes of a scenario, in a process of its own."""
    if "windowing" not in scenario:
        return answered(scenario)
    answer: dict[str, Any] = {"id": scenario["id"]}
    panes, output = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(panes)
        quiet = os.open(os.devnull, os.O_RDWR)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        signal.alarm(LONGEST)
        try:
            run(scenario, output)
        except Unsupported as reason:
            os.write(output, f"{json.dumps({'unsupported': str(reason)})}\n".encode())
        except BaseException as error:
            if "Unable to translate" in str(error):
                os.write(
                    output, b'{"unsupported": "a lateness as long as this, in its protocol"}\n'
                )
                os._exit(0)
            text = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            os.write(output, f"{json.dumps({'error': text})}\n".encode())
        os._exit(0)
    os.close(output)
    with os.fdopen(panes) as file:
        notes = [json.loads(line) for line in file]
    _, status = os.waitpid(child, 0)
    answer["panes"], step = [], -1
    for note in notes:
        if "step" in note:
            step = note["step"]
        elif "error" in note and step == len(scenario["steps"]):
            # What came of the steps is known; the runner fails as it ends.
            answer["notes"] = [f"the run fails at its end: {note['error']}"]
        elif "unsupported" in note or "error" in note:
            return {"id": scenario["id"], **note}
        elif step < len(scenario["steps"]):
            value = aggregated(scenario["aggregation"], note.pop("elements"))
            answer["panes"].append({"step": step, **note, "value": value})
    if status != 0:
        if step < len(scenario["steps"]):
            return {"id": scenario["id"], "error": f"the run does not get past step {step}"}
        answer["notes"] = ["the run never ends"]
    return answer


def main() -> None:
    """Play all scenarios of the files, and write the document."""
    target, *files = sys.argv[1:]
    scenarios = [load for file in files for load in json.loads(Path(file).read_text("utf-8"))]
    document = {
        "engine": "Apache Beam Python",
        "version": beam.__version__,
        "scenarios": [play(scenario) for scenario in scenarios],
    }
    Path(target).write_text(json.dumps(document), encoding="utf-8")


if __name__ == "__main__":
    main()
