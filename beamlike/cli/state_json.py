"""Saved state as a JSON document, for programs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Final

import attrs
import pyarrow as pa

from beamlike.inspect.state.choice import SavedWindow, windows_of
from beamlike.inspect.state.function_state import SavedCell, SavedFunction
from beamlike.inspect.state.report import SHARDS, SavedState
from beamlike.inspect.state.stage import COMMON, TIME, SavedStage
from beamlike.model.time import show_instant
from beamlike.viz.sentences import spoken

_EPOCH: Final = datetime(1970, 1, 1)
_INTERNAL: Final = frozenset(("operator", "finished", "values"))
"""Columns of windows that say nothing to a reader."""
_NODE: Final = ("path", "name", "finished", "ready", "waits_for")


def document(
    state: SavedState,
    stages: Sequence[str],
    places: pa.Array,
    limit: int | None,
    *,
    unpickle: bool,
) -> Iterator[str]:
    """The tables of shards and windows as one JSON document, in parts: of the groupings of these
    names, or of all, with so many of the windows at these places, see `windows_of`."""
    head = {
        "checkpoint": state.path,
        "batch": state.batch,
        "batches": list(state.batches),
        "damaged": [str(damage) for damage in state.damaged],
        "stages": [_json_stage(state, stage) for stage in state.named(stages)],
        "found": len(places),
    }
    yield f'{_dumped(head)[:-1]}, "windows": ['
    shown = places if limit is None else places.slice(0, limit)
    for number, window in enumerate(windows_of(state, shown, unpickle=unpickle)):
        yield f"{',' if number else ''}{_dumped(_json_window(window))}"
    yield "]}"


def _json_row(row: Mapping[str, Any], schema: pa.Schema) -> dict[str, Any]:
    """A row of a table, its times in ms, with instants as text."""
    return {
        name: _iso(value) if schema.field(name).type == TIME else value
        for name, value in row.items()
        if name not in _INTERNAL
    }


def _json_stage(state: SavedState, stage: SavedStage) -> dict[str, Any]:
    return {
        "name": stage.name,
        "operator": stage.operator,
        "watermark": _iso(stage.watermark),
        "output_watermark": _iso(stage.output_watermark),
        "identity": dict(stage.identity),
        "shards": [_json_row(row, SHARDS) for row in state.shards_of(stage)],
        "key_watermarks": [
            {"key": state_of_key.key}
            | {name: _iso(instant) for name, instant in attrs.asdict(state_of_key.clock).items()}
            for state_of_key in stage.of_keys
        ],
    }


def _json_window(window: SavedWindow) -> dict[str, Any]:
    view, function = window.trigger, window.function
    nodes = () if view is None else spoken(view).walk()
    trigger = [{name: getattr(node, name) for name in _NODE} for node in nodes]
    return {
        **_json_row(window.facts, COMMON),
        "key": window.key,
        "trigger": None if view is None else trigger,
        "holds": window.holds,
        **({} if function is None else _json_function(function)),
    }


def _json_function(function: SavedFunction) -> dict[str, Any]:
    """The states and timers of a window, and the elements that wait."""
    return {
        "states": [attrs.asdict(cell) | {"value": _json_value(cell)} for cell in function.cells],
        "timers": [
            attrs.asdict(timer) | {"at": _iso(timer.at), "output": _iso(timer.output)}
            for timer in function.timers
        ],
        "waiting": list(map(_iso, function.waiting)),
    }


def _json_value(cell: SavedCell) -> Any:
    if cell.kind != "ordered list":
        return cell.value
    return [[_iso(instant), value] for instant, value in cell.value]


def _iso(instant: int | None) -> str | None:
    """An instant (ms) as ISO 8601 in UTC; the ends of time in words."""
    if instant is None:
        return None
    try:
        moment = _EPOCH + timedelta(milliseconds=instant)
    except OverflowError:
        return show_instant(instant)
    return f"{moment.isoformat(timespec='milliseconds')}Z"


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
            return {str(name): _plain(part) for name, part in value.items()}
        case list() | tuple() | set() | frozenset():
            return list(map(_plain, value))
        case datetime() | date() | time():
            return value.isoformat()
        case bytes():
            return value.hex()
        case _:
            return str(value)
