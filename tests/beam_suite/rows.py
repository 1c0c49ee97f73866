"""What Beam Python makes of the scenarios of the table where Beam's runners differ.

``python -m tests.beam_suite --rows`` plays them on Beam's own streaming runner and writes
``ROWS.md``: beside each point what comes out here, and there.
"""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from beamlike.machine.events import AdvanceClock, AdvanceWatermark
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.triggers import AfterProcessingTime, Delay, Trigger
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.script import Arrive
from beamlike.testing.scenarios.files import Scenario
from tests.test_runners_table import POINTS, named, outcome

__all__ = ["as_document", "write_rows"]

HERE: Final = Path(__file__).resolve().parent
_LENGTHS: Final = {
    "FixedWindows": ("size", "offset"),
    "SlidingWindows": ("size", "period", "offset"),
    "Sessions": ("gap",),
    "GlobalWindows": (),
}
_NOT_PYTHONS: Final = ("AlignTo", "retracting", "fire_always", "fire_if_non_empty")
"""Words of strategies that Beam Python cannot express."""


def as_document(scenario: Scenario) -> dict[str, Any]:
    """A scenario in Beam Python's words, for `player`."""
    strategy, words = scenario.strategy, _Words(_unit(scenario.strategy.trigger))
    combiner = strategy.timestamp_combiner.name
    return {
        "id": scenario.id,
        "window_fn": words.window_fn(strategy.window_fn),
        "trigger": words.trigger(strategy.trigger),
        "accumulation": strategy.accumulation.name,
        "lateness": words.seconds(strategy.allowed_lateness),
        "combiner": "OUTPUT_AT_EOW" if combiner == "END_OF_WINDOW" else f"OUTPUT_AT_{combiner}",
        "unit": words.unit,
        "events": list(words.events(scenario)),
    }


def _unit(trigger: Trigger) -> int:
    """How many milliseconds are played as a second: Beam Python waits for whole seconds only."""
    delays = re.findall(r"AfterProcessingTime\(\d+ms\)", str(trigger))
    return 1 if delays else 1000


@attrs.frozen
class _Words:
    unit: int

    def seconds(self, millis: int) -> int | float:
        seconds = millis / self.unit
        return int(seconds) if seconds.is_integer() else seconds

    def window_fn(self, window_fn: WindowFn) -> dict[str, Any]:
        name = type(window_fn).__name__
        lengths = [self.seconds(getattr(window_fn, length)) for length in _LENGTHS[name]]
        return {"kind": name, "args": lengths, "kwargs": {}}

    def trigger(self, given: Any) -> Any:
        """A trigger as a name and arguments; what is none stays itself."""
        if not isinstance(given, Trigger):
            return given
        name = type(given).__name__
        if isinstance(given, AfterProcessingTime):
            (delay,) = (
                transform.by for transform in given.transforms if isinstance(transform, Delay)
            )
            return {"kind": name, "args": [self.seconds(delay)], "kwargs": {}}
        parts = attrs.asdict(given, recurse=False)
        several = [self.trigger(it) for it in parts.pop("triggers", ())]
        kwargs = {it: self.trigger(parts.pop(it)) for it in ("early", "late") if it in parts}
        args = [*several, *map(self.trigger, parts.values())]
        return {"kind": "_Never" if name == "Never" else name, "args": args, "kwargs": kwargs}

    def events(self, scenario: Scenario) -> Iterator[tuple[str, Any]]:
        clock = 0
        for event in scenario.script:
            if isinstance(event, Arrive):
                elements = [
                    (key, it.value, self.seconds(it.timestamp)) for key, it in event.elements
                ]
                yield "elements", elements
            elif isinstance(event, AdvanceWatermark):
                yield "watermark", None if event.to >= MAX_TIMESTAMP else self.seconds(event.to)
            elif isinstance(event, AdvanceClock):
                yield "clock", self.seconds(event.to - clock)
                clock = event.to


def write_rows(python: Path, version: str, target: Path) -> str:
    """Play the scenarios with Beam, and write the table.

    Args:
        python: A Python that has Beam.
        version: Its version.
        target: The table.
    """
    points = {row[0]: named(row) for row in POINTS}
    words = {point.id: str(point.strategy) for point in points.values()}
    plays = [
        as_document(point)
        for point in points.values()
        if not any(word in words[point.id] for word in _NOT_PYTHONS)
    ]
    done = subprocess.run(
        [python, HERE / "player.py"],
        input=json.dumps(plays),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    text = _text(points, json.loads(done.stdout), version)
    target.write_text(text, encoding="utf-8")
    return text


def _text(points: Mapping[str, Scenario], found: Mapping[str, list[str]], version: str) -> str:
    lines = [
        "# The scenarios of the runners' table, in Beam Python",
        "",
        f"apache-beam {version}, its streaming runner on this machine. The points are those of",
        "`docs/pages/beams_runners.md`. Written by `python -m tests.beam_suite --rows`.",
        "",
        "| point | scenario | beamlike | Beam Python |",
        "|---|---|---|---|",
    ]
    for point, scenario in points.items():
        here = "<br>".join(outcome(scenario)) or "nothing"
        there = "<br>".join(found.get(scenario.id, ["cannot be said in Beam Python"])) or "nothing"
        lines.append(f"| {point} | `{scenario.id}` | {here} | {there} |")
    return "\n".join(lines) + "\n"
