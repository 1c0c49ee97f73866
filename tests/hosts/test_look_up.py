"""A look-up in a shard, without Spark: its state rests in typed columns between any two steps."""

from random import Random
from typing import Any

import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import StateError
from beamlike.machine.clocks import Clocks
from beamlike.machine.columnar.arrays import NEVER
from beamlike.machine.events import AdvanceWatermark, Element, Pane
from beamlike.machine.input_clocks import SourceClock, SourceProgress, WatermarkUpdate
from beamlike.machine.side_input import Main, Side
from beamlike.model.panes import NO_FIRING
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.look_up import SIDE, LookUp
from beamlike.runtime.memory import MemoryStage, run_in_memory
from beamlike.runtime.output import OutputTable
from beamlike.runtime.plan import Plan
from beamlike.runtime.script import Arrive, Output, Script, ScriptStep
from beamlike.runtime.shard import Shard
from beamlike.runtime.store.blobs import pack_blob, unpack_blob
from beamlike.runtime.store.index import Index, open_index
from tests.support.machines.in_shard import DictStore
from tests.support.queries.rows import NEVER_FIRED
from tests.support.refusals import refusal

TENS, TWENTIES = bl.FixedWindows(10), bl.FixedWindows(20)
MAIN = {"lane": pa.string(), "toll": pa.int64()}
SIDE_COLUMNS = {"owner": pa.string(), "seats": pa.int64()}
ROWS = pa.list_(pa.struct(list(SIDE_COLUMNS.items())))


def plan_of(
    main_fn: bl.WindowFn = TENS,
    side_fn: bl.WindowFn = TWENTIES,
    lateness: int = 0,
    how: Any = "left",
    **side: Any,
) -> Plan:
    """The plan of a look-up whose first input is the side input, and the other the main input."""
    does = LookUp(main_fn, side_fn, lateness, how, MAIN, SIDE_COLUMNS, **side)
    return Plan(
        bl.WindowingStrategy(main_fn),
        {"plate": pa.string()},
        {**MAIN, SIDE: ROWS},
        (),
        shards=1,
        buckets=2,
        clocks=Clocks((SourceClock(0), SourceClock(0)), side=frozenset({0})),
        custom_operation=does,
    )


def entry(lane: str | None, toll: int | None, timestamp: int) -> Element:
    return Element(Main((lane, toll)), timestamp)


def owners(window: Any, *rows: tuple[str | None, int | None]) -> Element:
    content = [dict(zip(SIDE_COLUMNS, row, strict=True)) for row in rows]
    return Element(Side(content), window.max_timestamp, window)


def arrivals(step: Arrive) -> pa.Table:
    keys, elements = [key for key, _ in step.elements], [it for _, it in step.elements]
    rows = [
        (*element.value.value, None)
        if isinstance(element.value, Main)
        else (None, None, element.value.content)
        for element in elements
    ]
    windows = [element.window for element in elements]
    return pa.table(
        {
            "key_plate": pa.array(keys, pa.string()),
            "ts": pa.array([element.timestamp for element in elements], pa.int64()),
            "start": pa.array([window and window.start for window in windows], pa.int64()),
            "end": pa.array([window and window.end for window in windows], pa.int64()),
            "value_lane": pa.array([row[0] for row in rows], pa.string()),
            "value_toll": pa.array([row[1] for row in rows], pa.int64()),
            f"value_{SIDE}": pa.array([row[2] for row in rows], ROWS),
            "bucket": pa.array([len(str(key)) % 2 for key in keys], pa.int32()),
        }
    )


def run_in_shard(plan: Plan, script: Script, store: DictStore) -> list[Output]:
    outputs = []
    for number, step in enumerate(script):
        tables = [arrivals(step)] if isinstance(step, Arrive) else []
        effects = Shard(plan).step(store, ShardInput(tables, updates(step), 0)).effects
        outputs += [Output(number, key, effect) for (key,), effect in effects]
    return outputs


def updates(step: ScriptStep) -> list[WatermarkUpdate]:
    """What both inputs tell of their watermarks."""
    if not isinstance(step, AdvanceWatermark):
        return []
    side = step.to if step.side is None else step.side
    return [SourceProgress(0, side), SourceProgress(1, step.to)]


def any_script(dice: Random, side_fn: bl.WindowFn) -> Script:
    """Entries and panes of owners, before and behind a watermark that goes on.

    The owners may be ahead of it, or behind.
    """
    steps: list[ScriptStep] = []
    watermark, owners_at = 0, 0
    for _ in range(dice.randrange(2, 12)):
        if dice.random() < 0.4:
            watermark += dice.randrange(0, 25)
            owners_at += dice.choice([0, 5, 40])
            apart = dice.random() < 0.6
            owners_at = owners_at if apart else max(owners_at, watermark)
            steps.append(AdvanceWatermark(watermark, owners_at if apart else None))
            continue
        elements: list[tuple[str, Element]] = []
        for _ in range(dice.randrange(1, 5)):
            at = max(0, watermark + dice.randrange(-40, 30))
            if dice.random() < 0.6:
                element = entry(dice.choice(["east", None]), dice.choice([3, None]), at)
            else:
                rows = [(dice.choice(["ann", "bob", None]), at)] * dice.randrange(3)
                element = owners(dice.choice(side_fn.assign(at)), *rows)
            elements.append((dice.choice(["a", "bb", "cc"]), element))
        steps.append(Arrive(tuple(elements)))
    return (*steps, AdvanceWatermark(MAX_TIMESTAMP))


def by_key(outputs: Any) -> dict[Any, list[Output]]:
    """Keys are stepped in any order, each in its own."""
    found: dict[Any, list[Output]] = {}
    for output in outputs:
        found.setdefault((output.step, output.key), []).append(output)
    return found


@pytest.mark.parametrize("seed", range(100))
def test_a_shard_that_restarts_at_every_step_emits_what_the_memory_host_emits(seed: int) -> None:
    dice = Random(seed)
    side_fn = dice.choice([TWENTIES, TENS, bl.SlidingWindows(20, 10), bl.GlobalWindows()])
    main_fn = dice.choice([TENS, bl.SlidingWindows(10, 5)])
    plan = plan_of(
        main_fn,
        side_fn,
        dice.choice([0, 15]),
        dice.choice(["left", "inner"]),
        side_trigger=dice.choice([bl.DefaultTrigger(), bl.Repeatedly(bl.AfterCount(2))]),
        side_allowed_lateness=dice.choice([None, 10]),
    )
    script, store = any_script(dice, side_fn), DictStore()

    outputs = run_in_shard(plan, script, store)

    assert by_key(outputs) == by_key(run_in_memory(plan.machine, script).outputs)
    assert store.blobs == {}


def test_the_output_watermark_of_a_shard_is_that_of_the_memory_host() -> None:
    plan, store = plan_of(), DictStore()
    stage = MemoryStage(plan.machine)
    steps: tuple[ScriptStep, ...] = (
        Arrive((("a", entry("east", 3, 13)),)),
        AdvanceWatermark(15),
        # Behind: [0, 10) is over, and waits for the end of [0, 20) all the same.
        Arrive((("bb", entry("east", 3, 5)),)),
        Arrive((("a", owners(bl.IntervalWindow(0, 20), ("ann", 5))),)),
        AdvanceWatermark(20),
    )
    promised = []
    for step in steps:
        stage.play(step)
        tables = [arrivals(step)] if isinstance(step, Arrive) else []
        stepped = Shard(plan).step(store, ShardInput(tables, updates(step), 0))
        promised.append((stage.output_watermark, stepped.status.output_watermark))
    assert promised == [(MIN_TIMESTAMP, MIN_TIMESTAMP), (13, 13), (13, 13), (15, 15), (20, 20)]


def test_rows_of_a_key_without_owners_go_when_the_owners_are_past_their_window() -> None:
    plan, store = plan_of(), DictStore()
    waits = (Arrive((("a", entry("east", 3, 5)),)), AdvanceWatermark(6, side=19))
    assert run_in_shard(plan, waits, store) == []
    # A shard that is started anew goes on from there.
    assert run_in_shard(plan, (AdvanceWatermark(6, side=20),), store) == [
        Output(0, "a", Pane(bl.IntervalWindow(0, 10), (("east", 3), None), 5, NO_FIRING))
    ]
    # It knows how far the owners are, whatever update comes first.
    assert run_in_shard(plan, (Arrive((("bb", entry("west", 4, 6)),)),), store) == [
        Output(0, "bb", Pane(bl.IntervalWindow(0, 10), (("west", 4), None), 6, NO_FIRING))
    ]
    assert store.blobs == {}


def test_state_that_was_saved_when_one_watermark_was_known_is_read_and_nothing_is_lost() -> None:
    plan, store = plan_of(), DictStore()
    run_in_shard(plan, (Arrive((("a", entry("east", 3, 5)),)), AdvanceWatermark(6)), store)
    assert store.index is not None
    columns, header = open_index(store.index)
    assert (header.pop("side"), columns.pop("side").tolist()) == (6, [NEVER, 19])
    # As it was: rows that wait were asked for at the end of their window, by both inputs.
    columns["event"] = pa.array([NEVER, 19])
    store.write_index(pack_blob(pa.table(columns), header))

    assert run_in_shard(plan, (AdvanceWatermark(7, side=19),), store) == []
    assert run_in_shard(plan, (AdvanceWatermark(7, side=20),), store) == [
        Output(0, "a", Pane(bl.IntervalWindow(0, 10), (("east", 3), None), 5, NO_FIRING))
    ]


def test_what_waits_and_what_is_seen_rests_in_columns_that_anyone_can_read() -> None:
    plan, store = plan_of(), DictStore()
    script = (
        Arrive((("a", entry("east", 3, 15)), ("c", entry(None, None, 4)))),
        Arrive((("a", owners(bl.IntervalWindow(20, 40), ("ann", 5), ("bob", None))),)),
    )

    assert run_in_shard(plan, script, store) == []

    rows = unpack_blob(store.blobs[1])[0].to_pylist()
    rows.sort(key=lambda row: (row["key_plate"], row["start"]))
    assert [
        {name: row[name] for name in ("key_plate", "start", "element_hold", "content", "waiting")}
        for row in rows
    ] == [
        {
            "key_plate": "a",
            "start": 0,
            "element_hold": 15,
            "content": None,
            "waiting": [{"ts": 15, "start": 10, "end": 20, "row": {"lane": "east", "toll": 3}}],
        },
        {
            "key_plate": "a",
            "start": 20,
            "element_hold": None,
            "content": [{"owner": "ann", "seats": 5}, {"owner": "bob", "seats": None}],
            "waiting": [],
        },
        {
            "key_plate": "c",
            "start": 0,
            "element_hold": 4,
            "content": None,
            "waiting": [{"ts": 4, "start": 0, "end": 10, "row": {"lane": None, "toll": None}}],
        },
    ]


def test_rows_and_drops_of_both_inputs_have_the_columns_of_the_result() -> None:
    plan, store = plan_of(), DictStore()
    script = (
        Arrive((("a", entry("east", 3, 15)), ("a", owners(bl.IntervalWindow(0, 20), ("ann", 5))))),
        AdvanceWatermark(20),
        Arrive((("a", entry("west", 4, 15)), ("a", owners(bl.IntervalWindow(0, 20), ("bob", 2))))),
    )
    effects = [((it.key,), it.effect) for it in run_in_shard(plan, script, store)]

    found, *dropped = OutputTable(plan).build(effects).to_pylist()

    assert {name: found[name] for name in ("plate", "lane", "toll", "owner", "seats")} == {
        "plate": "a",
        "lane": "east",
        "toll": 3,
        "owner": "ann",
        "seats": 5,
    }
    assert found["pane"] == NEVER_FIRED
    shown = [row["__beamlike"]["dropped"] for row in dropped]
    assert [(it["reason"], it["missed_ms"], it["element"]) for it in shown] == [
        ("expired", 1, '{"plate":"a","lane":"west","toll":4}'),
        ("expired", 1, '{"plate":"a","side":[{"owner":"bob","seats":2}]}'),
    ]
    assert [(row["lane"], row["owner"], row["pane"]) for row in dropped] == [(None,) * 3] * 2


class ByToll(bl.FixedWindows):
    """Windows of ten, by a time that is divided by the toll."""

    def assign(self, timestamp: int, value: Any = None) -> tuple[bl.IntervalWindow, ...]:
        return super().assign(timestamp // value[1], value)


def test_a_row_for_which_the_window_function_raises_is_dropped_with_what_it_raised() -> None:
    plan, store = plan_of(main_fn=ByToll(10)), DictStore()
    script = (Arrive((("a", entry("east", 0, 15)), ("a", entry("west", 3, 45)))),)
    effects = [((it.key,), it.effect) for it in run_in_shard(plan, script, store)]

    (row,) = OutputTable(plan).build(effects).to_pylist()

    shown = row["__beamlike"]["dropped"]
    assert (row["plate"], row["window"], shown["stage"], shown["reason"]) == (
        "a",
        None,
        "beamlike",
        "failed",
    )
    assert shown["element"] == '{"plate":"a","lane":"east","toll":0}'
    assert shown["error"].startswith("FixedWindows(10ms).assign raised ZeroDivisionError")
    (blob,) = store.blobs.values()
    (kept,) = unpack_blob(blob)[0].to_pylist()
    assert (kept["bucket"], [it["row"]["lane"] for it in kept["waiting"]]) == (1, ["west"])


def test_state_of_another_look_up_is_refused_by_name() -> None:
    store = DictStore()
    run_in_shard(plan_of(), (AdvanceWatermark(0),), store)

    assert refusal(StateError, lambda: Index.load(plan_of(side_fn=TENS, how="inner"), store)) == (
        "the checkpoint belongs to another grouping and cannot be continued:\n"
        "  look-up: the checkpoint has 'left', the query has 'inner'\n"
        "  side window: the checkpoint has 'FixedWindows(20ms)', the query has "
        "'FixedWindows(10ms)'\n"
        "Change the query back; or bring its windows to their end with beamlike.drain, and start "
        "this one with a new checkpointLocation."
    )
