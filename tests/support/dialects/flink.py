"""Cases of Flink, played by `beamlike.dialects.flink`, and steps that are written by hand."""

import copy
from collections.abc import Mapping
from typing import Any

from beamlike.dialects import flink
from beamlike.dialects.flink_operator import Harness
from beamlike.dialects.stages import Row
from beamlike.errors import UnsupportedError
from tests.conformance.beamlike_conformance.scenarios import DialectCase
from tests.support.dialects.player import Player, unknown

__all__ = ["Step", "brings", "by_clock", "play_flink"]

Step = int | tuple[Any, ...]
"""A watermark or the clock, or an element: key, value and perhaps time."""


def brings(harness: Harness, *steps: Step) -> list[list[Row]]:
    """What each step brings."""
    return [
        harness.process_watermark(step) if isinstance(step, int) else harness.process_element(*step)
        for step in steps
    ]


def by_clock(harness: Harness, *steps: Step) -> list[list[Row]]:
    """The same, where the clock goes on and no watermark."""
    return [
        harness.set_processing_time(step)
        if isinstance(step, int)
        else harness.process_element(*step)
        for step in steps
    ]


def _trigger(said: Mapping[str, Any]) -> flink.Trigger:
    match said:
        case {"type": "event_time"}:
            return flink.EventTimeTrigger.create()
        case {"type": "processing_time"}:
            return flink.ProcessingTimeTrigger.create()
        case {"type": "count", "count": count}:
            return flink.CountTrigger.of(count)
        case {"type": "continuous_event_time", "interval_ms": interval}:
            return flink.ContinuousEventTimeTrigger.of(interval)
        case {"type": "continuous_processing_time", "interval_ms": interval}:
            return flink.ContinuousProcessingTimeTrigger.of(interval)
        case {"type": "delta", "threshold": threshold}:
            return flink.DeltaTrigger.of(threshold, _growth)
        case {"type": "purging", "of": inner}:
            return flink.PurgingTrigger.of(_trigger(inner))
    raise UnsupportedError(f"the trigger {said['type']}")


def _growth(before: tuple[Any, int], after: tuple[Any, int]) -> float:
    return float(after[0] - before[0])


def _gap_of(value: tuple[Any, int]) -> int:
    return value[1]


def _assigner(said: Mapping[str, Any]) -> flink.Assigner:
    match said:
        case {"type": "session", "time": "processing", "gap_ms": int(gap)}:
            return flink.ProcessingTimeSessionWindows.with_gap(gap)
        case {"type": "session", "gap_ms": None}:
            return flink.EventTimeSessionWindows.with_dynamic_gap(_gap_of)
        case {"type": "session", "gap_ms": gap}:
            return flink.EventTimeSessionWindows.with_gap(gap)
        case {"type": "tumbling", "size_ms": size}:
            return flink.TumblingEventTimeWindows.of(size)
        case {"type": "sliding", "size_ms": size, "slide_ms": slide}:
            return flink.SlidingEventTimeWindows.of(size, slide)
        case {"type": "global"}:
            return flink.GlobalWindows.create()
    raise UnsupportedError(f"the window {said['type']}")


def _evictor(said: Mapping[str, Any]) -> flink.Evictor:
    match said:
        case {"type": "count", "keep": count}:
            return flink.CountEvictor.of(count, said.get("after", False))
        case {"type": "time", "keep_ms": size}:
            return flink.TimeEvictor.of(size, said.get("after", False))
    raise UnsupportedError(f"the evictor {said['type']}")


def play_flink(case: DialectCase) -> Player:
    """The case, played to its end."""
    settings = case.document
    windowed = flink.key_by().window(_assigner(settings["window"]))
    windowed = windowed.trigger(_trigger(settings["trigger"]))
    windowed = windowed.allowed_lateness(settings.get("allowed_lateness_ms", 0))
    if settings.get("late_output"):
        windowed = windowed.side_output_late_data()
    if "evictor" in settings:
        windowed = windowed.evictor(_evictor(settings["evictor"]))
    if settings["aggregate"] != "sum":
        raise UnsupportedError(f"the aggregate {settings['aggregate']} has no counterpart")
    # A value travels with its gap, where it has one.
    harness = windowed.apply(lambda values: sum(value for value, _ in values)).harness()
    player = Player(harness)
    clock = 0
    for index, step in enumerate(case.steps):
        match step:
            case {"elements": elements}:
                for element in elements:
                    value = (element["value"], element.get("gap_ms"))
                    rows = harness.process_element(element["key"], value, element["ts_ms"])
                    player.note(index, map(_without_gap, rows))
            case {"advance_watermark_to_ms": to}:
                player.note(index, harness.process_watermark(to))
            case {"advance_watermark_to_infinity": True}:
                player.note(index, harness.process_watermark_to_infinity())
            case {"advance_processing_time_by_ms": by}:
                clock += by
                player.note(index, harness.set_processing_time(clock))
            case {"snapshot_and_restore": True}:
                harness = player.driver = copy.deepcopy(harness)
            case _:
                raise unknown(step)
    return player


def _without_gap(row: Row) -> Row:
    if row.kind == "value":
        return row
    return Row(row.kind, row.key, row.value[0], row.window, row.timestamp, row.reason)
