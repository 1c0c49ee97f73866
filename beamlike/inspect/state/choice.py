"""Some of the saved windows: of a grouping, of some keys, the oldest, largest or next ones."""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.errors import StateError
from beamlike.inspect.state.function_state import SavedFunction, held
from beamlike.inspect.state.keys import arrow_text, keys_as_values, meant_by, rows_of
from beamlike.inspect.state.report import SavedState
from beamlike.inspect.state.stage import COMMON, SavedStage, saved_window, times_in_ms
from beamlike.machine.reference.running import TriggerView
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.windows import Window

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
        return saved_window(self.facts["start"], self.facts["end"])

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
    chosen = state.named(stages)

    def in_chosen(hits_of: Callable[[SavedStage], Any]) -> Any:
        """For each window whether it is a hit in one of the chosen groupings."""
        hits = [np.zeros(0, np.bool_)]
        for stage in state.stages:
            count = stage.windows.num_rows
            is_hit = hits_of(stage) if count and stage in chosen else False
            hits.append(np.ones(count, np.bool_) & is_hit)
        return np.concatenate(hits)

    wanted = in_chosen(lambda _: not keys)
    for key in keys:
        hits = in_chosen(partial(_as_json, key))
        hits = hits if hits.any() else in_chosen(partial(_as_text, key))
        if not hits.any():
            raise _no_key(key, chosen, state)
        wanted |= hits
    (places,) = wanted.nonzero()
    return pa.array(places).take(_order(state, places, sort))


def _as_json(key: str, stage: SavedStage) -> Any:
    columns = {name: stage.windows[f"key_{name}"] for name in stage.key_columns}
    hits = meant_by(key, columns, stage.windows.num_rows, in_bytes=stage.in_pipeline)
    return hits.to_numpy(zero_copy_only=False)


def _as_text(key: str, stage: SavedStage) -> Any:
    text = pa.scalar(arrow_text(key), pa.string())  # as the listing shows it
    return pc.equal(stage.windows["key"], text).to_numpy()


def windows_of(
    state: SavedState, places: pa.Array, *, unpickle: bool = False
) -> Iterator[SavedWindow]:
    """The windows at these places, in their order; see `choose`.

    If it is to unpickle, pickles are opened, which runs code that is in them.
    """
    for index in range(0, len(places), _AT_ONCE):
        part = places.slice(index, _AT_ONCE).to_numpy()
        windows: dict[int, SavedWindow] = {}
        for stage, first in _offsets(state):
            of_stage = part[(part >= first) & (part < first + stage.windows.num_rows)]
            if len(of_stage):
                rows = _rows(stage, of_stage - first, unpickle)
                windows |= zip(of_stage.tolist(), rows, strict=True)
        yield from map(windows.__getitem__, part.tolist())


def _offsets(state: SavedState) -> Iterator[tuple[SavedStage, int]]:
    """Each grouping, and the place of its first window."""
    first = 0
    for stage in state.stages:
        yield stage, first
        first += stage.windows.num_rows


def _rows(stage: SavedStage, places: Any, unpickle: bool) -> Iterator[SavedWindow]:
    table = stage.windows.take(pa.array(places))
    dtypes = {name: table.schema.field(name).type for name in stage.accumulator_columns}
    common = times_in_ms(table.select(COMMON.names))
    keys = {name: table[f"key_{name}"] for name in stage.key_columns}
    key_values = keys_as_values(keys, table.num_rows, in_bytes=stage.in_pipeline)
    functions = stage.functions
    accumulated: list[dict[str, Any]] = [{}] * table.num_rows
    if dtypes and functions is None:
        accumulated = rows_of({name: table[name] for name in dtypes})
    for facts, key, row, place in zip(
        common.to_pylist(), key_values, accumulated, places, strict=True
    ):
        function = None if functions is None else functions[place]
        holds = held(row, dtypes, unpickle=unpickle) if row else {}
        yield SavedWindow(stage, facts, key, holds, function)


def _order(state: SavedState, places: Any, sort: SortBy) -> pa.Array:
    table = state.windows.select(["start", "end", "key", "bytes", "stage", "shard"])
    by_age = [(name, "ascending") for name in ("start", "end", "key", "stage", "shard")]
    if sort == "largest":
        by_age = [("bytes", "descending"), *by_age]
    elif sort == "deadline":
        table = table.append_column("wait", pa.array(_waits(state)))
        by_age = [("wait", "ascending"), *by_age]
    for index, name in enumerate(("start", "end")):  # global windows are the oldest
        numbers = pc.fill_null(table[name].cast(pa.int64()), MIN_TIMESTAMP)
        table = table.set_column(index, name, numbers)
    return pc.sort_indices(table.take(pa.array(places)), sort_keys=by_age)


def _waits(state: SavedState) -> Any:
    """How long each window waits (ms) until the watermark or the clock changes something."""
    parts = [np.zeros(0, np.int64)]
    for stage in state.stages:
        windows = stage.windows
        shard = windows["shard"].to_numpy()
        wait = np.full(len(shard), _NO_DEADLINE, np.int64)
        for saved, number in zip(stage.shards, stage.numbers, strict=True):
            rows = shard == number
            for name, now in (
                ("due_event", saved.clocks.watermark),
                ("due_clock", saved.clocks.clock),
            ):
                due = windows[name].cast(pa.int64())
                left = pc.fill_null(pc.subtract(due, now), _NO_DEADLINE).to_numpy()
                wait[rows] = np.minimum(wait[rows], left[rows])
        parts.append(wait)
    return np.concatenate(parts)


def _no_key(key: str, stages: Sequence[SavedStage], state: SavedState) -> StateError:
    texts = [pc.unique(stage.windows["key"]).to_pylist() for stage in stages]
    known = list(dict.fromkeys(text for of_stage in texts for text in of_stage))
    if not known:
        return StateError(f"there is no key {key!r}: nothing is open after batch {state.batch}")
    # Comparing texts takes its time: among very many, those that share a beginning.
    start = key[:2].lower()
    near = [text for text in known if len(known) <= _LOOKED_AT or text.lower()[:2] == start]
    nearest = difflib.get_close_matches(key, near[:_LOOKED_AT], n=_NEAREST, cutoff=0.5)
    shown = nearest or sorted(known)[:_NEAREST]
    intro = "the nearest are" if nearest else "the first are"
    if len(shown) == 1:
        intro = "the only key is" if len(known) == 1 else "the nearest is"
    ending = "" if nearest or len(known) <= len(shown) else f" and {len(known) - len(shown):,} more"
    return StateError(
        f"no window of the key {key!r} is open after batch {state.batch}; {intro} "
        f"{', '.join(map(repr, shown))}{ending}"
    )
