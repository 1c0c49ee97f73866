"""Saved state as a JSON document, for programs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

import attrs
import pyarrow as pa

from beamlike.inspect.state.choice import SavedWindow, largest, oldest, windows_of
from beamlike.inspect.state.functions import SavedFunction
from beamlike.inspect.state.key_clocks import KeyOfState
from beamlike.inspect.state.report import SavedState
from beamlike.inspect.state.shard import SavedShard
from beamlike.inspect.state.stage import SavedStage
from beamlike.model.time import show_instant
from beamlike.viz.trigger_words import spoken

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def document(
    state: SavedState,
    stages: Sequence[str],
    places: pa.Array,
    limit: int | None,
    *,
    unpickle: bool,
) -> Iterator[str]:
    """Everything as one JSON document, in parts.

    Args:
        state: The state.
        stages: The names of the groupings to show; all without any.
        places: The windows to list.
        limit: So many of them at most; None: all.
        unpickle: See `windows_of`.
    """
    chosen = [state.stage(name) for name in stages] or list(state.stages)
    head = {
        "checkpoint": state.path,
        "batch": state.batch,
        "batches": list(state.batches),
        "stages": [_json_stage(state, stage) for stage in chosen],
        "found": len(places),
    }
    yield f'{_dumped(head)[:-1]}, "windows": ['
    some = places if limit is None else places.slice(0, limit)
    for at, window in enumerate(windows_of(state, some, unpickle=unpickle)):
        yield f"{',' if at else ''}{_dumped(_json_window(window))}"
    yield "]}"


def _json_stage(state: SavedState, stage: SavedStage) -> dict[str, Any]:
    shards, windows = state.shards_of(stage), stage.windows
    of_keys = {"key_watermarks": list(map(_json_key, stage.of_keys))} if stage.of_keys else {}
    return {
        "name": stage.name,
        "operator": stage.operator,
        "watermark": _iso(stage.watermark),
        "output_watermark": _iso(stage.output_watermark),
        "identity": dict(stage.identity),
        "oldest": _json_which(oldest(windows)) if windows.num_rows else None,
        "largest": _json_which(largest(windows)) if windows.num_rows else None,
        "shards": [_json_shard(shard, it) for shard, it in zip(stage.shards, shards, strict=True)],
        **of_keys,
    }


def _json_key(it: KeyOfState) -> dict[str, Any]:
    instants = attrs.asdict(it.clock)
    return {"key": it.key} | {name: _iso(at) for name, at in instants.items()}


def _json_which(window: Mapping[str, Any]) -> dict[str, Any]:
    span = _json_span(window["start"], window["end"])
    return {"key": window["key"], "window": span, "bytes": window["bytes"]}


def _json_shard(shard: SavedShard, it: Mapping[str, Any]) -> dict[str, Any]:
    names = ("shard", "partition", "windows", "keys", "bytes", "stored")
    held = {
        "until": _iso(it["held_until"]),
        "key": it["held_key"],
        "window": _json_span(it["held_start"], it["held_end"]),
    }
    return {
        **{name: it[name] for name in names},
        "watermark": _iso(shard.at.watermark),
        "output_watermark": _iso(shard.output_watermark),
        "clock": _iso(shard.at.clock),
        "next_event": _iso(it["next_event"]),
        "next_clock": _iso(it["next_clock"]),
        "held_back_by": None if it["held_until"] is None else held,
    }


def _json_window(it: SavedWindow) -> dict[str, Any]:
    facts = it.facts
    names = ("timing", "index", "nonspeculative")
    view = it.trigger
    return {
        "stage": it.stage.name,
        "shard": facts["shard"],
        "key": it.key,
        "window": _json_span(facts["start"], facts["end"]),
        **{name: facts[name] for name in ("closed", "new_elements", "size")},
        "last_pane": {name: facts[name] for name in names} if facts["timing"] else None,
        "standing": facts["standing"],
        **{name: _iso(facts[name]) for name in ("hold", "due_event", "due_clock")},
        "bytes": facts["bytes"],
        "trigger": None
        if view is None
        else [
            {
                "path": node.path,
                "name": node.name,
                "finished": node.finished,
                "ready": node.ready,
                "waits_for": node.waits_for,
            }
            for node in spoken(view).walk()
        ],
        "holds": it.holds,
        **({} if it.function is None else _json_function(it.function)),
    }


def _json_function(function: SavedFunction) -> dict[str, Any]:
    """The states and timers of a window, and the elements that wait."""
    return {
        "states": [
            {
                "name": it.name,
                "kind": it.kind,
                "value": [[_iso(at), value] for at, value in it.value]
                if it.kind == "ordered list"
                else it.value,
                "items": it.items,
                "bytes": it.bytes,
            }
            for it in function.cells
        ],
        "timers": [
            {
                "name": it.name,
                "tag": it.tag,
                "domain": it.domain,
                "at": _iso(it.at),
                "output": _iso(it.output),
            }
            for it in function.timers
        ],
        "waiting": [_iso(at) for at in function.waiting],
    }


def _json_span(start: int | None, end: int | None) -> dict[str, str | None] | None:
    """A window; null for the global one."""
    return None if start is None else {"start": _iso(start), "end": _iso(end)}


def _iso(at: int | None) -> str | None:
    """An instant as ISO 8601 in UTC; the ends of time in words."""
    if at is None:
        return None
    try:
        moment = _EPOCH + timedelta(milliseconds=at)
    except OverflowError:
        return show_instant(at)
    return f"{moment.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def _dumped(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """As JSON can say it."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if value - value == 0 else str(value)  # NaN and infinities have no JSON
        case Mapping():
            return {str(name): _plain(each) for name, each in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(each) for each in value]
        case datetime() | date() | time():
            return value.isoformat()
        case bytes():
            return value.hex()
        case _:
            return str(value)
