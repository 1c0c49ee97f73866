"""A scenario of what one key got in production, out of the record beside a query's state.

A shard that records has every row that reached it, and the clocks around each micro-batch, which
decide all that comes out. So the scenario is exact: every host gives the panes and drops of
production for it.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import count
from typing import Any, Final, Literal

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.errors import StateError
from beamlike.inspect.state.function_state import Specs
from beamlike.inspect.state.keys import arrow_text, key_texts, keys_as_values, meant_by, rows_of
from beamlike.inspect.state.stage import SavedStage
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Drop, Effect, Element
from beamlike.machine.input_clocks import SourceClock
from beamlike.machine.key_clock import KeyClock
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CombineFn
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.texts import trigger_of, window_fn_of
from beamlike.model.time import MIN_TIMESTAMP, show_instant
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Run, Script, ScriptStep
from beamlike.runtime.store.recording import OWN, ShardMoment, StateRecord
from beamlike.testing.scenarios.files import AGGREGATIONS
from beamlike.testing.scenarios.shrinking import shrunk
from beamlike.testing.scenarios.writing import write_scenario

Shown = Literal["keep", "hash", "number"]
"""How values are written: as they are, as a digest, or as the number of their element."""

_MERGED_BEFORE: Final = ", merged before"
_KEY: Final = "key_"
_VALUE: Final = "value_"
_RETRACTION: Final = "retraction"


def strategy_of(parts: Mapping[str, Any]) -> WindowingStrategy:
    """The strategy that saved state names, see `beamlike.runtime.changes.strategy_words`.

    Raises:
        WindowingError: It has a part of the user's own, of which the state knows the name only.
    """
    return WindowingStrategy(
        window_fn_of(parts["window"].removesuffix(_MERGED_BEFORE)),
        trigger_of(parts["trigger"]),
        parts["accumulation"],
        allowed_lateness=parts["allowed lateness"],
        timestamp_combiner=parts["timestamp combiner"],
        closing_behavior=parts["closing behavior"],
        on_time_behavior=parts["on-time behavior"],
        late_check=parts["late check"],
        unchanged=parts["unchanged panes"],
    )


@attrs.frozen(slots=False, eq=False)
class Captured:
    """What a key got, and what came out of it.

    The script is what happened from the key's first element on, and the record that of its shard,
    which may have ``stopped``: then the shard stepped on without it.
    """

    stage: SavedStage
    script: Script
    key: Any
    strategy: WindowingStrategy
    aggregation: str
    record: StateRecord
    stopped: bool

    @cached_property
    def run(self) -> Run:
        """What comes out of it, by the reference machine."""
        return run_in_memory(Grouping(self.strategy, self._combine), self.script)

    @property
    def _combine(self) -> CombineFn:
        combine = AGGREGATIONS[self.aggregation]
        assert combine is not None, "a scenario of a grouping groups"
        return combine

    @property
    def elements(self) -> int:
        """How many elements the script has."""
        return sum(len(step.elements) for step in self.script if isinstance(step, Arrive))

    def results(self) -> Iterator[str]:
        """Each pane and drop in a line, by its number."""
        for number, output in enumerate(self.run.outputs, 1):
            yield f"{number:>4}  {_in_words(output.effect)}"

    def tidied(self) -> "Captured":
        """The steps without moves of a clock that bring nothing out and are followed by another."""
        run = self.run
        acts = {output.step for output in run.outputs}
        script = tuple(
            step
            for number, step in enumerate(self.script)
            if isinstance(step, Arrive)
            or number in acts
            or type(step) not in map(type, self.script[number + 1 : number + 2])
        )
        tidy = attrs.evolve(self, script=script)
        return tidy if _effects(tidy.run) == _effects(run) else self

    def shrunk_to(self, number: int) -> "Captured":
        """The least of the script that shows one of the `results`, by its number."""
        outputs = _effects(self.run)
        if not 1 <= number <= len(outputs):
            raise StateError(f"there is no result {number}: there are {len(outputs)}, from 1 on")
        wanted = outputs[number - 1]
        grouping = Grouping(self.strategy, self._combine)
        script = shrunk(
            self.script, lambda shorter: wanted in _effects(run_in_memory(grouping, shorter))
        )
        return attrs.evolve(self, script=script)

    def document(self, **texts: str) -> dict[str, Any]:
        """The scenario, as `beamlike replay` reads it, with a ``title``, ``notes`` and the like."""
        notes = [texts.pop("notes")] if "notes" in texts else []
        if self.record.since is not None:
            since = show_instant(self.record.since.watermark)
            notes.append(
                f"The record begins at watermark {since}. What the key got before is not in it."
            )
        if self.stopped:
            until = show_instant(self.record.until.watermark)
            notes.append(f"The record ends at watermark {until}. The query stepped on without it.")
        if notes:
            texts["notes"] = " ".join(notes)
        name = f"{self.stage.name}-{self.key}".replace(" ", "-").lower()
        heading = {"title": f"What the key {self.key} of {self.stage.name!r} got"} | texts
        return write_scenario(name, self.strategy, self.aggregation, self.run, **heading)


def _in_words(effect: Effect) -> str:
    if isinstance(effect, Drop):
        window = "" if effect.window is None else f" of {effect.window}"
        value = f" {effect.value!r}" if effect.element is not None else ""
        return f"dropped{window}, {effect.reason.value}:{value}"
    timing = "withdrawn" if effect.retraction else effect.info.timing.value
    return f"{timing} pane {effect.info.index} of {effect.window}: {effect.value!r}"


def _effects(run: Run) -> list[Effect]:
    return [output.effect for output in run.outputs]


def capture(
    stages: Sequence[SavedStage],
    key: str,
    *,
    aggregation: str = "list",
    column: str | None = None,
    shown: Shown = "keep",
) -> Captured:
    """What a key got in one of these groupings.

    Args:
        stages: The groupings, as `beamlike.open_state` finds them.
        key: The key as JSON, or as the text that `beamlike state` lists.
        aggregation: What the scenario makes of the elements of a pane: a name that scenarios have.
            The aggregates of the query are not in its state.
        column: The column that is an element's value. Default: all that the grouping reads, one of
            them as it is, several by their names; the number of the element if there is none.
        shown: How values and the key are written.

    Raises:
        StateError: Nothing is recorded; the key, or the column, is not in the record; rows that
            withdraw others, or bring their windows.
        WindowingError: The strategy has a part of the user's own.
    """
    recorded = [
        (stage, shard, shard.record) for stage in stages for shard in stage.shards if shard.record
    ]
    if not recorded:
        names = ", ".join(repr(stage.name) for stage in stages)
        if all(stage.in_pipeline or Specs.known(stage.identity) for stage in stages):
            raise StateError(
                f"nothing is recorded of {names}: pipelines, and functions with states and timers, "
                "keep no record; capture a grouping of windowed or of a stream, or see what is "
                "saved with `beamlike state`"
            )
        raise StateError(
            f"nothing is recorded of {names}; start the query with record=10_000_000, the bytes "
            "that each shard may keep, and capture what comes from then on"
        )
    for read in (_by_json, _by_text):
        having = [
            (stage, shard, record)
            for stage, shard, record in recorded
            if any(pc.any(read(key, step.rows)).as_py() for step in record.steps)
        ]
        if len({stage.name for stage, _, _ in having}) > 1:
            names = ", ".join(repr(stage.name) for stage, _, _ in having)
            raise StateError(f"the groupings {names} have the key {key!r}; choose one by its name")
        if having:
            (stage, shard, record), *_ = having
            steps = list(_steps(stage, record, partial(read, key)))
            now = ShardMoment(shard.clocks.watermark, shard.clocks.clock)
            scripted = _scripted(stage, steps, column, shown)
            return Captured(stage, *scripted, aggregation, record, record.until != now)
    rows = sum(step.rows.num_rows for _, _, record in recorded for step in record.steps)
    raise StateError(
        f"no row of the key {key!r} is in the record, which has {rows:,} rows of other keys; "
        "older rows make room for new ones, and record= says for how many there is room"
    )


def _columns(rows: pa.Table) -> dict[str, pa.ChunkedArray]:
    names = [name for name in rows.column_names if name.startswith(_KEY)]
    return {name.removeprefix(_KEY): rows.column(name) for name in names}


def _by_json(key: str, rows: pa.Table) -> pa.Array:
    return meant_by(key, _columns(rows), rows.num_rows, in_bytes=False)


def _by_text(key: str, rows: pa.Table) -> pa.Array:
    texts = key_texts(list(_columns(rows).values()), rows.num_rows, in_bytes=False)
    return pc.equal(texts, pa.scalar(arrow_text(key), pa.string()))


@attrs.frozen(eq=False)
class _Step:
    """A recorded step, with the rows of one key."""

    judged_at: int
    after: ShardMoment
    rows: pa.Table


def _steps(
    stage: SavedStage, record: StateRecord, of_key: Callable[[pa.Table], pa.Array]
) -> Iterator[_Step]:
    """The steps of a shard from the first row of a key on, with the rows of this key."""
    began, known = False, None
    for step in record.steps:
        rows = step.rows.filter(of_key(step.rows))
        began = began or rows.num_rows > 0
        judged_at, after = step.judged_at, step.after
        if rows.num_rows:
            _check(stage, rows)
        if step.key_clock is not None:  # the watermark is that of the key
            if rows.num_rows:
                begins, *after_it = (rows.column(name)[0].as_py() for name in OWN)
                judged_at, known = max(judged_at, begins), (KeyClock(*after_it), step.key_clock)
            if known is not None:
                after = _moment_of_key(after, *known)
        if began:
            yield _Step(judged_at, after, rows)
    until = record.until if known is None else _moment_of_key(record.until, *known)
    yield _Step(until.watermark, until, pa.table({}))


def _moment_of_key(moment: ShardMoment, key: KeyClock, source: SourceClock) -> ShardMoment:
    """The clocks of a key that has a watermark of its own, when its shard stands there."""
    return ShardMoment(
        max(moment.watermark, key.caught_up(source, moment.clock).watermark), moment.clock
    )


def _check(stage: SavedStage, rows: pa.Table) -> None:
    if "start" in rows.column_names and rows.column("start").null_count == 0:
        problem = "bring their windows from the grouping before, and a scenario assigns them"
    elif f"{_VALUE}{_RETRACTION}" in rows.column_names:
        problem = "withdraw others of the grouping before, and no element of a scenario does"
    else:
        return
    raise StateError(f"the rows of {stage.name!r} {problem}; capture the grouping before")


def _script(
    steps: Iterable[_Step], key: Any, values: Callable[[pa.Table], Iterable[Any]]
) -> Iterator[ScriptStep]:
    """The steps as the events of one key, in the order in which its shard takes them."""
    watermark, clock = MIN_TIMESTAMP, 0
    for step in steps:
        if step.judged_at > watermark:
            yield AdvanceWatermark(step.judged_at)
        if step.after.clock > clock:
            yield AdvanceClock(step.after.clock)
        if step.rows.num_rows:
            times = step.rows.column("ts").to_pylist()
            elements = map(Element, values(step.rows), times)
            yield Arrive(tuple((key, element) for element in elements))
        if step.after.watermark > max(watermark, step.judged_at):
            yield AdvanceWatermark(step.after.watermark)
        watermark = max(watermark, step.judged_at, step.after.watermark)
        clock = max(clock, step.after.clock)


def _values(column: str | None, hide: "_Hide") -> Callable[[pa.Table], Iterator[Any]]:
    """What makes the values of a scenario from rows."""
    numbers = count(1)

    def values(rows: pa.Table) -> Iterator[Any]:
        names = [name for name in rows.column_names if name.startswith(_VALUE)]
        columns = {name.removeprefix(_VALUE): rows.column(name) for name in names}
        if column is not None:
            if column not in columns:
                known = ", ".join(map(repr, columns)) or "none"
                raise StateError(f"the grouping reads no column {column!r}; it reads {known}")
            columns = {column: columns[column]}
        plain = rows_of(columns) if columns else None
        for index in range(rows.num_rows):
            number = next(numbers)
            value = number if plain is None else plain[index]
            if isinstance(value, dict) and len(value) == 1:
                (value,) = value.values()
            yield hide(value, number)

    return values


_Hide = Callable[[Any, int], Any]


def _hidden(shown: Shown) -> _Hide:
    """How values are written. Digests have a salt of their own in each scenario: equal values stay
    equal, and nothing can be looked up."""
    salt = secrets.token_bytes(16)

    def written(value: Any, number: int) -> Any:
        if shown == "number":
            return number
        plain = json.loads(json.dumps(value, default=str))  # what JSON has nothing for, as a text
        if shown == "keep":
            return plain
        text = json.dumps(plain, sort_keys=True)
        return hashlib.blake2b(text.encode(), key=salt, digest_size=6).hexdigest()

    return written


def _check_ends_are_known(strategy: WindowingStrategy, column: str | None, shown: Shown) -> None:
    """Refuse values that do not say which elements end a session."""
    window_fn = strategy.window_fn
    if not isinstance(window_fn, Sessions) or window_fn.ends_with is None:
        return
    if column is None or shown != "keep":
        raise StateError(
            f"{window_fn} ends with an element of a value, so the scenario needs these values: "
            "--column event, which window_input names, and no --values"
        )


def _scripted(
    stage: SavedStage, steps: Sequence[_Step], column: str | None, shown: Shown
) -> tuple[Script, Any, WindowingStrategy]:
    """The steps as a script, with the key as a scenario has it, and how they are windowed."""
    hide, strategy, rows = _hidden(shown), strategy_of(stage.identity), steps[0].rows
    _check_ends_are_known(strategy, column, shown)
    (first, *_) = keys_as_values(_columns(rows), rows.num_rows, in_bytes=False)
    key = next(iter(first.values())) if len(first) == 1 else ", ".join(map(str, first.values()))
    key = hide(key, 1)
    return tuple(_script(steps, key, _values(column, hide))), key, strategy
