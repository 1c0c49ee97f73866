"""Some of the saved windows: of a grouping, of some keys, the oldest, largest or next ones."""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.errors import StateError
from beamlike.inspect.state.functions import SavedFunction, held
from beamlike.inspect.state.keys import arrow_text, keys_as_values, meant_by, rows_of
from beamlike.inspect.state.report import SavedState
from beamlike.inspect.state.stage import COMMON, SavedStage, times_in_ms
from beamlike.machine.reference.running import TriggerView
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.windows import GLOBAL_WINDOW, Window, window_of

SortBy = Literal["oldest", "largest", "deadline"]

_AT_ONCE = 10_000
_NEAREST = 5
_LOOKED_AT = 20_000
_NO_DEADLINE = 2**62


@attrs.frozen
class SavedWindow:
    """A window of a key, out of the tables.

    Args:
        stage: Its grouping.
        facts: Its columns, times in ms.
        key: Its key: by column, or as it is in a pipeline.
        holds: What it has accumulated, by name.
        function: What a function with states and timers has saved of it; None if it is none.
    """

    stage: SavedStage
    facts: Mapping[str, Any]
    key: Any
    holds: Mapping[str, Any]
    function: SavedFunction | None = None

    @property
    def window(self) -> Window:
        """The window itself."""
        start, end = self.facts["start"], self.facts["end"]
        return GLOBAL_WINDOW if start is None else window_of(start, end)

    @property
    def trigger(self) -> TriggerView | None:
        """What its trigger waits for; None if its trigger is not known."""
        return self.stage.trigger_of(self.facts)


def choose(
    state: SavedState,
    *,
    stages: Sequence[str] = (),
    keys: Sequence[str] = (),
    sort: SortBy = "oldest",
) -> pa.Array:
    """The places of some windows among `SavedState.windows`, in order.

    Args:
        state: Where to choose.
        stages: Names of groupings; all without any.
        keys: Keys as JSON, or, where that is no key that is there, as the text that is listed; all
            without any.
        sort: ``oldest``: by start and end; ``largest``: by bytes; ``deadline``: by how far the
            watermark or the clock is from changing something. Equal ones by their keys.
    """
    windows = state.windows
    chosen = [state.stage(name) for name in stages] or list(state.stages)
    parts = [np.zeros(0, np.bool_)]
    for stage in state.stages:
        parts.append(np.full(stage.windows.num_rows, stage in chosen and not keys))
    wanted = np.concatenate(parts)
    for key in keys:
        hits = _places_of(key, state, chosen, _as_json)
        if not hits.any():
            hits = _places_of(key, state, chosen, _as_text)
        if not hits.any():
            raise _no_key(key, chosen, state)
        wanted |= hits
    places = np.arange(windows.num_rows)[wanted]
    return pa.array(places).take(_order(state, places, sort))


def _places_of(
    key: str,
    state: SavedState,
    stages: Sequence[SavedStage],
    read: Callable[[str, SavedStage], pa.Array],
) -> Any:
    """For each window whether it is of one of these groupings, and has this key as it is read."""
    hits = np.zeros(state.windows.num_rows, np.bool_)
    for stage, first in _offsets(state):
        if stage in stages and stage.windows.num_rows:
            own = slice(first, first + stage.windows.num_rows)
            hits[own] = read(key, stage).to_numpy(zero_copy_only=False)
    return hits


def _as_json(key: str, stage: SavedStage) -> pa.Array:
    columns = {name: stage.windows[f"key_{name}"] for name in stage.key_columns}
    return meant_by(key, columns, stage.windows.num_rows, in_bytes=stage.in_pipeline)


def _as_text(key: str, stage: SavedStage) -> pa.Array:
    text = arrow_text(key)  # as the listing shows it
    return pc.equal(stage.windows["key"], pa.scalar(text, pa.string())).combine_chunks()


def windows_of(
    state: SavedState, places: pa.Array, *, unpickle: bool = False
) -> Iterator[SavedWindow]:
    """The windows at these places, in their order.

    Args:
        state: Which has them.
        places: As `choose` gives them.
        unpickle: Whether pickles are opened, which runs code that is in them.
    """
    for index in range(0, len(places), _AT_ONCE):
        part = places.slice(index, _AT_ONCE).to_numpy()
        made: dict[int, SavedWindow] = {}
        for stage, first in _offsets(state):
            own = part[(part >= first) & (part < first + stage.windows.num_rows)]
            if len(own):
                made |= zip(own.tolist(), _rows(stage, own - first, unpickle), strict=True)
        yield from (made[place] for place in part.tolist())


def _offsets(state: SavedState) -> Iterator[tuple[SavedStage, int]]:
    """Each grouping, and the place of its first window."""
    first = 0
    for stage in state.stages:
        yield stage, first
        first += stage.windows.num_rows


def _rows(stage: SavedStage, places: Any, unpickle: bool) -> Iterator[SavedWindow]:
    table = stage.windows.take(pa.array(places))
    kinds = {name: table.schema.field(name).type for name in stage.accumulator_columns}
    common = times_in_ms(table.select(COMMON.names))
    keys = {name: table[f"key_{name}"] for name in stage.key_columns}
    key_values = keys_as_values(keys, table.num_rows, in_bytes=stage.in_pipeline)
    functions = stage.functions
    accumulated: list[dict[str, Any]] = [{}] * table.num_rows
    if kinds and functions is None:
        accumulated = rows_of({name: table[name] for name in kinds})
    for facts, key, row, place in zip(
        common.to_pylist(), key_values, accumulated, places, strict=True
    ):
        function = None if functions is None else functions[place]
        holds = held(row, kinds, unpickle=unpickle) if row else {}
        yield SavedWindow(stage, facts, key, holds, function)


def _order(state: SavedState, places: Any, sort: SortBy) -> pa.Array:
    table = state.windows.select(["start", "end", "key", "bytes", "stage", "shard"])
    by_age = [("start", "ascending"), ("end", "ascending"), ("key", "ascending")]
    by_age += [("stage", "ascending"), ("shard", "ascending")]
    if sort == "largest":
        by_age = [("bytes", "descending"), *by_age]
    elif sort == "deadline":
        table = table.append_column("wait", pa.array(_waits(state)))
        by_age = [("wait", "ascending"), *by_age]
    return pc.sort_indices(ages(table.take(pa.array(places))), sort_keys=by_age)


def ages(table: pa.Table) -> pa.Table:
    """A table with ``start`` and ``end`` as numbers, to sort by: global windows are the oldest."""
    for name in ("start", "end"):
        numbers = pc.fill_null(table[name].cast(pa.int64()), MIN_TIMESTAMP)
        table = table.set_column(table.schema.get_field_index(name), name, numbers)
    return table


def _waits(state: SavedState) -> Any:
    """How long each window waits (ms) until the watermark or the clock changes something."""
    parts = [np.zeros(0, np.int64)]
    for stage in state.stages:
        windows = stage.windows
        shard = windows["shard"].to_numpy()
        wait = np.full(len(shard), _NO_DEADLINE, np.int64)
        for of, number in zip(stage.shards, stage.numbers, strict=True):
            own = shard == number
            for name, now in (("due_event", of.at.watermark), ("due_clock", of.at.clock)):
                due = windows[name].cast(pa.int64())
                left = pc.fill_null(pc.subtract(due, now), _NO_DEADLINE).to_numpy()
                wait[own] = np.minimum(wait[own], left[own])
        parts.append(wait)
    return np.concatenate(parts)


def _no_key(key: str, stages: Sequence[SavedStage], state: SavedState) -> StateError:
    texts = [pc.unique(stage.windows["key"]).to_pylist() for stage in stages]
    known = list(dict.fromkeys(text for of_stage in texts for text in of_stage))
    if not known:
        return StateError(f"there is no key {key!r}: nothing is open after batch {state.batch}")
    # Comparing texts takes its time: among very many, those that share a beginning.
    start = key[:2].lower()
    near = known if len(known) <= _LOOKED_AT else [it for it in known if it.lower()[:2] == start]
    nearest = difflib.get_close_matches(key, near[:_LOOKED_AT], n=_NEAREST, cutoff=0.5)
    some = nearest or sorted(known)[:_NEAREST]
    which = "the nearest are" if nearest else "the first are"
    if len(some) == 1:
        which = "the only key is" if len(known) == 1 else "the nearest is"
    more = "" if nearest or len(known) <= len(some) else f" and {len(known) - len(some):,} more"
    return StateError(
        f"no window of the key {key!r} is open after batch {state.batch}; {which} "
        f"{', '.join(map(repr, some))}{more}"
    )
