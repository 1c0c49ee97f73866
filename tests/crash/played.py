"""What must come out of micro-batches that Spark noted: they are played again, in memory.

Panes and dropped rows have a plain form here, and so have those of a query.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windows import bounds
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Output, ScriptStep
from tests.crash.noted import Noted, timed
from tests.crash.outputs import Output as OutputElement

Plain = dict[str, Any]
"""A pane, or a dropped row, whose ``dropped`` is then the reason."""


def played(
    feed: Path, windowing: Mapping[str, Any], notes: Sequence[Noted], *, begins: bool
) -> dict[int, list[Plain]]:
    """Everything that must come out of these micro-batches, by their numbers.

    Args:
        feed: What arrived.
        windowing: How it is grouped.
        notes: The micro-batches.
        begins: Whether each begins with its watermark, as Spark's own; else it ends with it.
    """
    options = dict(windowing)
    strategy = WindowingStrategy.declared(options.pop("window"), unbounded=True, **options)
    script: list[ScriptStep] = []
    batches: list[int] = []
    rows: dict[int, list[Plain]] = {note.number: [] for note in notes}
    clock = watermark = 0
    for note in notes:
        moves = [AdvanceWatermark(note.watermark)] if note.watermark > watermark else []
        steps: list[ScriptStep] = [*moves] if begins else []
        steps += [AdvanceClock(note.clock)] if note.clock > clock else []
        arrived = []
        for row, at in (one for number in note.files for one in timed(feed, number)):
            if row["user"] is None or at is None:
                reason = "null_key" if row["user"] is None else "bad_timestamp"
                rows[note.number].append(_unread(row, reason))
            else:
                arrived.append((row["user"], Element((row["tag"], row["points"]), at)))
        steps += [Arrive(tuple(arrived))] if arrived else []
        steps += [] if begins else moves
        clock, watermark = max(clock, note.clock), max(watermark, note.watermark)
        script += steps
        batches += [note.number] * len(steps)
    for out in run_in_memory(Grouping(strategy, Collect()), tuple(script)).outputs:
        rows[batches[out.step]].append(_of_memory(out))
    return rows


def plain(out: OutputElement) -> dict[int, list[Plain]]:
    """What came out of a query, in plain form."""
    return {at: [_of_spark(json.loads(line)) for line in of] for at, of in out.rows.items()}


def _unread(row: Mapping[str, Any], reason: str) -> Plain:
    return {"user": row["user"], "tag": row["tag"], "dropped": reason}


def _of_memory(out: Output) -> Plain:
    effect = out.effect
    if not isinstance(effect, Pane):
        assert isinstance(effect.element, Element)
        tag, _ = effect.element.value
        start, end = bounds(effect.window)
        reason = effect.reason.value
        return {"user": out.key, "tag": tag, "dropped": reason, "start": start, "end": end}
    start, end = bounds(effect.window)
    return {
        "user": out.key,
        "start": start,
        "end": end,
        "tags": sorted(tag for tag, _ in effect.value),
        "points": sum(points for _, points in effect.value),
        "timestamp": effect.timestamp,
        "retraction": effect.retraction,
        "timing": effect.info.timing.name,
        "index": effect.info.index,
        "nonspeculative_index": effect.info.nonspeculative_index,
        "is_first": effect.info.is_first,
        "is_last": effect.info.is_last,
    }


def _of_spark(row: dict[str, Any]) -> Plain:
    if row.get("dropped") is not None:
        dropped = row["dropped"]
        drop = {"user": row["user"], "tag": json.loads(dropped["element"])["tag"]}
        drop["dropped"] = dropped["reason"]
        return drop | (_bounds(dropped["window"]) if dropped["window"] else {})
    if "window" in row:  # a pipeline writes its own plain form
        row |= row.pop("pane") | _bounds(row.pop("window"))
        row["timestamp"] = _instant(row["timestamp"])
        # An aggregate of nothing is null.
        row["points"] = row["points"] or 0
        del row["dropped"], row["n"]
    return {"retraction": False} | row | {"tags": sorted(row["tags"] or ())}


def _bounds(window: Mapping[str, str]) -> Plain:
    return {name: _instant(window[name]) for name in ("start", "end")}


def _instant(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1_000_000) // 1_000
