"""Saved state as text, for a terminal; and where the watermarks of a grouping come from."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from beamlike.inspect.state.choice import SavedWindow, windows_of
from beamlike.inspect.state.function_state import SavedCell, SavedFunction, SavedTimer
from beamlike.inspect.state.report import SavedState
from beamlike.inspect.state.shard import KeyOfState, SavedShard
from beamlike.inspect.state.stage import SavedStage, milliseconds, saved_window
from beamlike.inspect.state.trigger import node_in_words
from beamlike.model.fingerprint import how_many
from beamlike.model.options import USUAL
from beamlike.model.time import show_duration, show_instant
from beamlike.viz.cells import aligned, cut, cut_all, named_facts
from beamlike.viz.sentences import spoken
from beamlike.viz.table import show_window

_PARTS_SHOWN: Final = 3


def inputs_of(stage: SavedStage) -> Iterator[str]:
    """The watermark of each input, of a grouping whose inputs have watermarks of their own."""
    by_input = zip_longest(*(shard.clocks.inputs for shard in stage.shards))
    for states in ([state for state in of_shards if state is not None] for of_shards in by_input):
        updates = instant(max(state.active_at for state in states))
        if states[0].shards:
            by_shard = zip(*(state.shards for state in states), strict=True)
            watermarks = [max(of_shard) for of_shard in by_shard]
            least = min(watermarks)
            yield (
                f"{instant(least)}, of a grouping (its shard {watermarks.index(least)}), "
                f"updated at {updates}"
            )
            continue
        known = [state.greatest for state in states if state.greatest is not None]
        if not known:
            yield "a source that has delivered nothing yet"
            continue
        parts = {part.part: part for state in states for part in state.parts}.values()
        by_name = [(part.greatest, repr(part.part), part.active_at) for part in parts]
        slowest = f"; {_slowest('part', by_name)}" if by_name else ""
        latest = f"a source whose latest event is of {instant(max(known))}"
        yield f"{latest}, updated at {updates}{slowest}"


def keys_of(clocks: Sequence[KeyOfState]) -> str:
    """The watermarks of keys that have each its own, those that are behind first."""
    watermarks = [(row.clock.watermark, escaped(row.key), row.clock.active_at) for row in clocks]
    return _slowest("key", watermarks)


def _slowest(noun: str, rows: Sequence[tuple[int, str, int]]) -> str:
    """How many there are, and the last: an event time (ms), a name and when it was updated (ms)."""
    rows = sorted(rows, key=lambda row: row[0])
    shown = (
        f"{name} at {instant(reached)}, updated at {instant(active_at)}"
        for reached, name, active_at in rows[:_PARTS_SHOWN]
    )
    return f"{how_many(len(rows), noun)}, the last {'; '.join(shown)}"


def instant(milliseconds: int | None) -> str:
    """An instant (ms) for a person."""
    return "-" if milliseconds is None else show_instant(milliseconds)


def escaped(text: str) -> str:
    """A text of the checkpoint, which may have any, on one line that moves no cursor."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()


_SORTED: Final = {
    "oldest": "oldest first",
    "largest": "largest first",
    "deadline": "by what changes next",
}
_DEFAULTS: Final = {
    **{name: option.value for name, option in USUAL.items()},
    "inputs": "one, with the watermark of the query",
    "hot key fanout": "none",
}
"""Values that are not shown."""
_OF_NO_USE: Final = frozenset(("layout version", "buckets", "shards", "transform"))
_SHARDS_SHOWN: Final = 16
_COUNTS: Final = ("windows", "keys", "bytes", "stored")
_NUMBERS: Final = ("shard", "new", *_COUNTS)
_KEY_WIDTH: Final = 40
_HELD_WIDTH: Final = 1_000


def listing(
    state: SavedState,
    stages: Sequence[str],
    places: pa.Array,
    *,
    of: int,
    sort: str,
    in_full: bool,
    unpickle: bool,
) -> Iterator[str]:
    """Everything in lines: the groupings of these names, or all, and the windows at these places,
    see `choose`, of so many; each of them in full, or in a line."""
    first, last = state.batches
    span = "the only one" if first == last else f"there are {first} to {last}"
    yield f"{escaped(state.path)}, after batch {state.batch} ({span})"
    yield from (f"not shown: {escaped(str(damage))}" for damage in state.damaged)
    for stage in state.named(stages):
        yield ""
        yield from _stage(state, stage)
    yield ""
    shown = list(windows_of(state, places, unpickle=unpickle))
    every = how_many(of, "window")
    if in_full:
        for window in shown:
            yield from _in_full(window)
        if len(shown) < of:
            yield f"({how_many(of - len(shown), 'more window')}; raise --limit)"
    elif not shown:
        yield every if of else "no window is open"
    else:
        count_text = f"{len(shown):,} of {every}" if len(shown) < of else every
        yield f"{count_text}, {_SORTED[sort]}"
        yield from _aligned(_window_rows(shown, several=len(state.stages) > 1))
        if len(shown) < of:
            yield "(--limit N shows more, --key KEY shows all of one key)"


def _stage(state: SavedState, stage: SavedStage) -> Iterator[str]:
    yield f"stage {escaped(stage.name)}, operator {stage.operator} of the query"
    lines = dict(_totals(state, stage))
    for name, value in stage.identity.items():
        if name not in _OF_NO_USE and value != _DEFAULTS.get(name):
            length = milliseconds(value)
            lines[escaped(name)] = escaped(value) if length is None else show_duration(length)
    yield from named_facts(lines)
    yield ""
    rows = state.shards_of(stage)
    shown = list(map(_shard_row, stage.shards, rows))[:_SHARDS_SHOWN]
    yield from (f"  {line}" for line in _aligned(shown))
    if len(rows) > _SHARDS_SHOWN:
        yield f"  and {how_many(len(rows) - _SHARDS_SHOWN, 'more shard')}; --json lists all"


def _aligned(rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Rows, of which each has the names of all columns; there is one at least."""
    return aligned([list(rows[0]), *(list(row.values()) for row in rows)], _NUMBERS)


def _totals(state: SavedState, stage: SavedStage) -> Iterator[tuple[str, str]]:
    shards = state.shards_of(stage)
    windows, keys, size, stored = (sum(row[name] for row in shards) for name in _COUNTS)
    of = stage.identity.get("shards", "")
    number = f"{len(shards)} of {of}" if str(len(shards)) != of else of
    closed = pc.sum(stage.windows["closed"]).as_py() or 0
    yield (
        "remembered",
        f"{how_many(windows, 'window')} of {how_many(keys, 'key')} in {number} "
        f"shard{'s' * (of != '1')}{f' ({closed:,} closed)' if closed else ''}, {size:,} bytes "
        f"({stored:,} stored)",
    )
    yield "watermark", instant(stage.watermark)
    for index, progress in enumerate(inputs_of(stage), 1):
        yield f"  of input {index}", progress
    if stage.of_keys:
        yield "  of its keys", keys_of(stage.of_keys)
    yield "output watermark", _output(stage, shards)
    nexts = (
        ("watermark", "the watermark reaches", [row["next_event"] for row in shards]),
        ("clock", "the clock passes", [row["next_clock"] for row in shards]),
        ("side", "the side input is past", [shard.next_side for shard in stage.shards]),
    )
    for name, reaches, instants in nexts:
        due = min((due for due in instants if due is not None), default=None)
        if due is not None:
            yield f"next, by {name}", f"something changes once {reaches} {instant(due)}"


def _output(stage: SavedStage, shards: Sequence[Mapping[str, Any]]) -> str:
    """Where the output watermark is, and what holds it there."""
    reached = stage.output_watermark
    watermark = instant(reached)
    pairs = zip(stage.shards, shards, strict=True)
    last = [row for shard, row in pairs if shard.output_watermark == reached]
    held = [row for row in last if row["held_until"] is not None]
    if not held:
        return f"{watermark}; no window holds it back"
    behind = show_duration(stage.watermark - reached) if stage.watermark > reached else ""
    by = "; ".join(f"{_holder(row)} in shard {row['shard']}" for row in held[:3])
    other_shards = f" and {how_many(len(held) - 3, 'shard')} more" if len(held) > 3 else ""
    return f"{watermark}, held back{f' {behind}' if behind else ''} by {by}{other_shards}"


def _shard_row(shard: SavedShard, row: Mapping[str, Any]) -> dict[str, str]:
    return {
        "shard": str(row["shard"]),
        **{name: f"{row[name]:,}" for name in _COUNTS},
        "watermark": instant(shard.clocks.watermark),
        "output watermark": instant(shard.output_watermark),
        "held back by": "-" if row["held_until"] is None else _holder(row),
    }


def _holder(shard: Mapping[str, Any]) -> str:
    window = show_window(saved_window(shard["held_start"], shard["held_end"]))
    return f"{_key(shard['held_key'])} {window}"


def _window_rows(windows: Sequence[SavedWindow], *, several: bool) -> list[dict[str, str]]:
    keys = cut_all([escaped(window.facts["key"]) or "(all)" for window in windows], _KEY_WIDTH)
    return [
        {
            **({"stage": escaped(window.stage.name)} if several else {}),
            "key": key,
            "window": show_window(window.window),
            "new": _number(window.facts["new_elements"]),
            "last pane": _pane(window.facts),
            "watermark": instant(window.facts["due_event"]),
            "clock": instant(window.facts["due_clock"]),
            "bytes": _number(window.facts["bytes"]),
            "waits for": _waits_for(window),
        }
        for window, key in zip(windows, keys, strict=True)
    ]


def _waits_for(window: SavedWindow) -> str:
    if window.facts["closed"]:
        return "closed"
    if window.function is not None:
        return _next_of(window.function)
    view = window.trigger
    return "-" if view is None else view.waits_for


def _next_of(function: SavedFunction) -> str:
    """The timer that fires next, and how many there are besides."""
    if not function.timers:
        return "an element" if not function.waiting else "its elements' turn"
    first, *later_timers = function.timers
    ending = f" and {how_many(len(later_timers), 'timer')} more" if later_timers else ""
    return f"{_timer_name(first)}{ending}"


def _timer_name(timer: SavedTimer) -> str:
    tag = f" ({timer.tag!r})" if timer.tag else ""
    return escaped(f"timer {timer.name!r}{tag}")


def _function(function: SavedFunction) -> Iterator[str]:
    """The states, timers and elements of a window, section by section."""
    if function.cells:
        yield "  states"
        names = (f"{cell.name}, {cell.kind or 'of an unknown kind'}" for cell in function.cells)
        values = (_cut(_shown(cell), _HELD_WIDTH) for cell in function.cells)
        yield from named_facts(dict(zip(map(escaped, names), values, strict=True)), 4)
    if function.timers:
        yield "  timers"
        yield from named_facts({_timer_name(timer): _fires(timer) for timer in function.timers}, 4)
    if function.waiting:
        first, last = function.waiting[0], function.waiting[-1]
        until = "" if first == last else f" to {instant(last)}"
        span = f"{'from' if until else 'at'} {instant(first)}{until}"
        yield "  waiting"
        yield f"    {how_many(len(function.waiting), 'element')} {span}"


def _shown(cell: SavedCell) -> str:
    if cell.kind != "ordered list":
        return repr(cell.value)
    return ", ".join(f"{instant(time_ms)}: {value!r}" for time_ms, value in cell.value)


def _fires(timer: SavedTimer) -> str:
    clocks = {"event": "the watermark", "processing": "the clock"}
    clock = clocks.get(timer.domain or "", "its clock")
    hold = timer.output
    held = "nothing" if hold is None else f"the output watermark at {instant(hold)}"
    return f"fires once {clock} is past {instant(timer.at)}, holds {held}"


def _in_full(window: SavedWindow) -> Iterator[str]:
    facts = window.facts
    yield f"key {_key(facts['key'], _HELD_WIDTH)}, {show_window(window.window)}"
    closed = "; closed: it takes no more elements" if facts["closed"] else ""
    standing = facts["standing"]
    new = f"{_number(facts['new_elements'])} since the last pane{closed}"
    grouped, hold = window.function is None, facts["hold"]
    lines = {
        "stage": f"{escaped(window.stage.name)}, shard {facts['shard']}",
        "new elements": grouped and new,
        "all elements": facts["size"] is not None and f"{facts['size']:,}",
        "last pane": grouped and _pane(facts),
        "standing panes": standing is not None and f"{standing:,} not withdrawn yet",
        "holds back": hold is not None and f"the output watermark at {instant(hold)}",
        "changes when": _deadlines(facts),
        "size": f"{facts['bytes']:,} bytes",
    }
    yield from (f"  {name:<16}{fact}" for name, fact in lines.items() if fact)
    view = window.trigger
    if view is not None:
        yield "  trigger"
        yield from (f"    {node_in_words(node)}" for node in spoken(view).walk())
    if window.function is not None:
        yield from _function(window.function)
    if window.holds:
        yield "  holds"
        holds = {
            escaped(name): _cut(value if isinstance(value, str) else repr(value), _HELD_WIDTH)
            for name, value in window.holds.items()
        }
        yield from named_facts(holds, 4)
    yield ""


def _deadlines(facts: Mapping[str, Any]) -> str:
    moves = {"due_event": "the watermark reaches", "due_clock": "the clock passes"}
    due = (
        f"{move} {instant(facts[name])}" for name, move in moves.items() if facts[name] is not None
    )
    return ", or ".join(due) or "an element comes"


def _pane(facts: Mapping[str, Any]) -> str:
    timing = facts["timing"]
    return "-" if timing is None else f"{escaped(timing)} {facts['index']}"


def _number(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def _key(text: str, room: int = _KEY_WIDTH) -> str:
    return _cut(text, room) if text else "(all)"


def _cut(text: str, room: int) -> str:
    return cut(escaped(text), room)
