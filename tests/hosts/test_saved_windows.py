"""Saved windows as tables, without Spark: they tell what the machine remembers, and no more."""

from random import Random
from typing import Any

import pyarrow as pa
import pytest

from beamlike.errors import StateError
from beamlike.inspect.state.function_state import held
from beamlike.inspect.state.keys import row_sizes
from beamlike.inspect.state.shard import SavedShard
from beamlike.inspect.state.stage import SavedStage, times_in_ms
from beamlike.inspect.state.trigger import node_in_words
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.machine.input_clocks import HostWatermark
from beamlike.machine.reference.running import Now
from beamlike.machine.reference.state import KeyState, WindowState
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Count
from beamlike.model.extra_triggers import AfterDelta
from beamlike.model.panes import Timing
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import END_OF_GLOBAL_WINDOW
from beamlike.model.triggers import AfterCount, AfterProcessingTime, AfterWatermark, Repeatedly
from beamlike.model.windowfns import FixedWindows
from beamlike.model.windows import Window
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.graph.keys import key_bytes, readable_key
from beamlike.runtime.look_up import SIDE, LookUp
from beamlike.runtime.memory import MemoryStage
from beamlike.runtime.plan import Plan
from beamlike.runtime.script import Arrive, Script
from beamlike.runtime.shard import Shard
from beamlike.runtime.store.blobs import pack_blob
from beamlike.runtime.store.index import open_index
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import OWN_TRIGGERS, TRIGGERS, any_strategy, any_trigger
from tests.support.machines.in_shard import DictStore, run_in_shard
from tests.support.machines.shard_of_numbers import Worker

Row = dict[str, Any]


def at_rest(strategy: WindowingStrategy, script: Script, aggregation: str = "count") -> SavedStage:
    """The grouping as a checkpoint has it after a script."""
    batches = [(step,) for step in script]
    _, store = run_in_shard(strategy, aggregation, batches)
    return SavedStage("counts", 0, (SavedShard.of(0, 0, blobs_of(store)),))


def blobs_of(store: DictStore) -> dict[int, bytes]:
    assert store.index is not None
    return {-1: store.index, **store.blobs}


def rows_of(stage: SavedStage) -> list[Row]:
    """The windows, times in ms."""
    return times_in_ms(stage.windows).to_pylist()


def remembered(strategy: WindowingStrategy, script: Script) -> dict[tuple[Any, ...], Row]:
    """The same out of the machine's own memory: each window of each key."""
    machine = Grouping(strategy, Count())
    stage = MemoryStage(machine)
    for step in script:
        stage.play(step)
    found = {}
    for key, state in stage.states.items():
        for window, it in state.windows.items():
            key_state = KeyState(state.watermark, state.clock, state.output_watermark, {window: it})
            asked = machine.next_timers(key_state)
            event, clock = asked.event, asked.clock
            is_never = event is None or event >= END_OF_GLOBAL_WINDOW
            pane = it.last_pane
            found["null" if key is None else str(key), window.start, window.end] = {
                "closed": it.closed,
                "new_elements": it.new_elements,
                "last": pane and (pane.timing.value, pane.index, pane.nonspeculative_index),
                "hold": _hold(strategy, state.watermark, window, it),
                "due": (None if is_never else event + 1, clock),
                "trigger": machine.trigger.view(
                    it.trigger, Now(window, state.watermark, state.clock)
                ),
            }
    return found


def _hold(
    strategy: WindowingStrategy, watermark: int, window: Window, window_state: WindowState
) -> int | None:
    """Where its elements hold the watermark, or the panes that it may withdraw."""
    expiry = strategy.expiry(window)
    holds = [] if window_state.element_hold is None else [window_state.element_hold]
    if not window_state.closed and watermark <= expiry:
        late = (
            pane.timestamp + strategy.allowed_lateness for pane in window_state.unretracted_panes
        )
        holds += [at for at in late if at < expiry]
    return min(holds, default=None)


@pytest.mark.parametrize("seed", range(60))
def test_whatever_the_strategy_the_tables_tell_what_the_machine_remembers(seed: int) -> None:
    random = Random(seed)
    strategy = any_strategy(random, retracting_options=True)
    script = any_script(random, to_infinity=False)

    assert rows_of_stage(at_rest(strategy, script)) == remembered(strategy, script)


@pytest.mark.parametrize("seed", range(40))
def test_triggers_that_beam_does_not_have_are_reported_likewise(seed: int) -> None:
    random = Random(seed)
    # What a distance is measured from rests as a pickle, which nobody opens for this.
    own = [kind for kind in OWN_TRIGGERS if kind is not AfterDelta]
    strategy = any_strategy(random, trigger=any_trigger(random, 3, (*TRIGGERS, *own * 3)))
    script = any_script(random, to_infinity=False)

    assert rows_of_stage(at_rest(strategy, script)) == remembered(strategy, script)


def test_a_distance_waits_for_something_far_from_an_element_that_no_one_reads() -> None:
    strategy = WindowingStrategy(FixedWindows(60_000), Repeatedly(AfterDelta(3, nothing_far)))
    stage = at_rest(strategy, ONE)

    (row,) = rows_of(stage)
    view = stage.trigger_of(row)
    assert view is not None
    assert view.name == "Repeatedly"
    assert view.waits_for == "an element more than 3 away from the element before"
    assert not [name for name in row if name.startswith("d") and name[1:].isdigit()]


def nothing_far(before: object, after: object) -> float:
    return 0


def rows_of_stage(stage: SavedStage) -> dict[tuple[Any, ...], Row]:
    """The tables, as `remembered` puts it."""
    shown = {}
    for row, saved in zip(rows_of(stage), stage.shards[0].rows.to_pylist(), strict=True):
        timing = row["timing"]
        shown[row["key"], saved["start"], saved["end"]] = {
            "closed": row["closed"],
            "new_elements": row["new_elements"],
            "last": timing and (timing, row["index"], row["nonspeculative"]),
            "hold": row["hold"],
            "due": (row["due_event"], row["due_clock"]),
            "trigger": stage.trigger_of(row),
        }
    return shown


MINUTES = WindowingStrategy(
    FixedWindows("1 minute"),
    AfterWatermark(early=AfterProcessingTime("10 s"), late=AfterCount(3)),
    "accumulating",
    "1 minute",
)


def two_minutes() -> SavedStage:
    """Ann is late, bob is early, and the clock is at 5 s."""
    return at_rest(
        MINUTES,
        (
            arrive(("ann", 1, 10_000)),
            AdvanceWatermark(60_000),
            AdvanceClock(5_000),
            arrive(("ann", 2, 20_000), ("ann", 3, 20_000)),
            arrive(("bob", 4, 90_000)),
        ),
    )


def arrive(*elements: tuple[str, int, int]) -> Arrive:
    return Arrive(tuple((key, Element(value, at)) for key, value, at in elements))


ONE = (arrive(("ann", 1, 0)),)


def test_a_window_is_reported_whole() -> None:
    assert rows_of(two_minutes()) == [
        {
            "stage": "counts",
            "operator": 0,
            "shard": 0,
            "key": "ann",
            "key_key": "ann",
            "start": 0,
            "end": 60_000,
            "closed": False,
            "new_elements": 2,
            "size": None,
            "timing": "ON_TIME",
            "index": 0,
            "nonspeculative": 0,
            "standing": None,
            "hold": None,
            "due_event": 120_000,
            "due_clock": None,
            "bytes": 115,
            "finished": 2,
            "values": [None, 2],
            "acc0_value": 3,
        },
        {
            "stage": "counts",
            "operator": 0,
            "shard": 0,
            "key": "bob",
            "key_key": "bob",
            "start": 60_000,
            "end": 120_000,
            "closed": False,
            "new_elements": 1,
            "size": None,
            "timing": None,
            "index": None,
            "nonspeculative": None,
            "standing": None,
            "hold": 119_999,
            "due_event": 120_000,
            "due_clock": 15_000,
            "bytes": 116,
            "finished": 0,
            "values": [15_000, None],
            "acc0_value": 1,
        },
    ]


def test_every_node_of_a_trigger_is_reported_in_words() -> None:
    stage = two_minutes()
    ann, bob = (stage.trigger_of(row) for row in rows_of(stage))

    assert [node_in_words(node) for node in ann.walk()] == [
        "AfterWatermark: 1 more element (2 of 3)",
        "AfterWatermark.early[AfterProcessingTime(10s)]: nothing: it has finished",
        "AfterWatermark.late[AfterCount(3)]: 1 more element (2 of 3)",
    ]
    assert [node_in_words(node) for node in bob.walk()] == [
        "AfterWatermark: the watermark to reach 00:02:00 or the clock to pass 00:00:15",
        "AfterWatermark.early[AfterProcessingTime(10s)]: the clock to pass 00:00:15",
        "AfterWatermark.late[AfterCount(3)]: its turn",
    ]


def test_what_an_earlier_version_did_not_note_is_read_from_its_words() -> None:
    _, store = run_in_shard(MINUTES, "count", [ONE])
    columns, header = open_index(store.index or b"")
    noted = header.pop("about")
    blobs = {**blobs_of(store), -1: pack_blob(pa.table(columns), header)}

    now = SavedStage("counts", 0, (SavedShard.of(0, 0, blobs_of(store)),))
    before = SavedStage("counts", 0, (SavedShard.of(0, 0, blobs),))

    assert noted == {
        "stage": "beamlike",
        "trigger": "AfterWatermark(early=AfterProcessingTime(10s), late=AfterCount(3))",
        "allowed lateness": 60_000,
        "retained": 0,
    }
    assert rows_of(before) == rows_of(now)
    assert [before.trigger_of(row) for row in rows_of(before)] == [
        now.trigger_of(row) for row in rows_of(now)
    ]


def test_a_trigger_of_a_later_version_is_not_told() -> None:
    stage = two_minutes()
    (shard,) = stage.shards
    shard.about["trigger"] = "AfterMoon(full=True)"  # type: ignore[index]

    assert [stage.trigger_of(row) for row in rows_of(stage)] == [None, None]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"plan": {"layout version": "99"}},
            "the state has layout version 99, and this beamlike reads 4, 5, 6 and 7; open it with "
            "the version of beamlike that the query runs with",
        ),
        (
            {"plan": {}},
            "the state has layout version None, and this beamlike reads 4, 5, 6 and 7; open",
        ),
        ({"contents": 7}, "the state of the group 4 cannot be read: TypeError: "),
        ({"output": None, "inputs": 3}, "the state of the group 4 cannot be read: TypeError: "),
    ],
)
def test_an_index_that_means_something_else_is_refused(change: Row, says: str) -> None:
    _, store = run_in_shard(MINUTES, "count", [ONE])
    columns, header = open_index(store.index or b"")

    with pytest.raises(StateError) as refusal:
        SavedShard.of(4, 0, {**blobs_of(store), -1: pack_blob(pa.table(columns), header | change)})

    assert str(refusal.value).startswith(says)


@pytest.mark.parametrize("damage", [{0: b"no Arrow"}, {-1: b"no Arrow"}, {-1: b""}])
def test_damaged_blobs_are_refused(damage: dict[int, bytes], another_worker: Worker) -> None:
    _, store = run_in_shard(MINUTES, "count", [ONE])
    another_worker()

    with pytest.raises(StateError, match="the state of the group 4 cannot be read: ArrowInvalid: "):
        SavedShard.of(4, 0, blobs_of(store) | damage)


def test_a_blob_that_is_not_there_is_missed(another_worker: Worker) -> None:
    _, store = run_in_shard(MINUTES, "count", [ONE])
    another_worker()

    with pytest.raises(StateError, match="the state names blob 0 of a shard, and it is not there"):
        SavedShard.of(4, 0, {-1: blobs_of(store)[-1]})


class Trap:
    """Says so when it is unpickled."""

    sprung = 0

    def __reduce__(self) -> Any:
        return _spring, ()


def _spring() -> str:
    Trap.sprung += 1
    return "sprung"


def test_a_pickle_is_opened_only_when_somebody_says_so() -> None:
    import pickle

    kinds = {"acc0_total": pa.int64(), "acc1_best_pickled": pa.binary(), "acc2_raw": pa.binary()}
    blob = pickle.dumps(Trap())
    row = {"acc0_total": 7, "acc1_best_pickled": blob, "acc2_raw": b"\x01"}
    Trap.sprung = 0

    assert held(row, kinds, unpickle=False) == {
        "total": 7,
        "best": f"pickled, {len(blob)} bytes",
        "raw": b"\x01",
    }
    assert Trap.sprung == 0
    assert held(row, kinds, unpickle=True) == {"total": 7, "best": "sprung", "raw": b"\x01"}
    assert Trap.sprung == 1


def test_a_pickle_that_cannot_be_opened_says_why() -> None:
    blob = b"cno_such_module\nThing\n."

    (said,) = held({"_pickled": blob}, {"_pickled": pa.binary()}, unpickle=True).values()

    assert said.startswith("pickled, 23 bytes, which cannot be opened: ")


def test_the_keys_of_a_pipeline_are_reported_without_their_classes() -> None:
    keys = ["ann", ("ann", 1, None), 1.5, frozenset({2}), Timing.LATE]

    assert [str(readable_key(key_bytes(key))) for key in keys] == [
        "ann",
        "('ann', 1, None)",
        "1.5",
        "frozenset({2})",
        "beamlike.model.panes.Timing.LATE",
    ]
    assert (
        str(readable_key(b'["onowhere:Place city number", "sRome", "i3"]'))
        == "nowhere.Place('Rome', 3)"
    )
    assert str(readable_key(b"\xff is no key")) == "\\xff is no key"


def test_the_bytes_of_rows_are_those_of_everything_in_them() -> None:
    table = pa.table(
        {
            "number": pa.array([1, None], pa.int64()),
            "text": pa.array(["abc", None]),
            "list": pa.array([[1, 2, 3], []], pa.list_(pa.int16())),
            "panes": pa.array(
                [[{"v": "xy", "n": 1}], None],
                pa.list_(pa.struct([("v", pa.string()), ("n", pa.int32())])),
            ),
            "flag": pa.array([True, False]),
        }
    )

    assert row_sizes(table).tolist() == [8 + 7 + 10 + (4 + 6 + 4) + 1, 8 + 4 + 4 + 4 + 1]
    assert row_sizes(table.slice(1, 1)).tolist() == [21]


def test_a_side_window_where_rows_wait_waits_for_the_side_input() -> None:
    main, side = {"lane": pa.string()}, {"owner": pa.string()}
    does = LookUp(FixedWindows(10), FixedWindows(20), 5, "left", main, side)
    values = {**main, SIDE: pa.list_(pa.struct(list(side.items())))}
    strategy = WindowingStrategy(FixedWindows(10))
    plan = Plan(
        strategy, {"plate": pa.string()}, values, (), shards=1, buckets=1, custom_operation=does
    )
    arrivals = pa.table(
        {
            "key_plate": pa.array(["waits", "found", "found"]),
            "ts": pa.array([3, 39, 31], pa.int64()),
            "value_lane": pa.array(["a", None, "b"]),
            f"value_{SIDE}": pa.array([None, [{"owner": "joe"}], None], values[SIDE]),
            "start": pa.array([0, 20, 30], pa.int64()),
            "end": pa.array([10, 40, 40], pa.int64()),
            "bucket": pa.array([0, 0, 0], pa.int32()),
        }
    )
    store = DictStore()
    Shard(plan).step(store, ShardInput([arrivals], [HostWatermark(0)], 0))

    stage = SavedStage("look-up", 0, (SavedShard.of(0, 0, blobs_of(store)),))

    names = ("key", "start", "end", "due_event", "hold")
    assert [tuple(row[name] for name in names) for row in rows_of(stage)] == [
        ("waits", 0, 20, None, 3),
        ("found", 20, 40, 45, None),
    ]
    assert stage.trigger_of(rows_of(stage)[0]) is None
    assert list(stage.accumulator_columns) == ["content", "waiting"]
