"""The words of saved state: which of them count after a change, and which are refused."""

import json
from typing import Any

import attrs
import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.cli.state_json import document
from beamlike.cli.state_text import listing
from beamlike.errors import StateError
from beamlike.inspect.state.choice import choose
from beamlike.inspect.state.keys import key_texts
from beamlike.inspect.state.report import SavedState
from beamlike.inspect.state.shard import SavedShard
from beamlike.inspect.state.stage import SavedStage, times_in_ms
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.graph.keys import key_bytes
from beamlike.runtime.plan import number_of_shard, spread_shards
from beamlike.runtime.script import Arrive
from beamlike.runtime.store.blobs import pack_blob
from beamlike.runtime.store.index import open_index
from tests.support.machines.in_shard import run_in_shard
from tests.support.refusals import refusal

MINUTE = 60_000
ONE = (Arrive((("ann", Element(1, 0)),)),)


def blobs_of(
    trigger: bl.Trigger, lateness: int, clock: int = 0, watermark: int = MIN_TIMESTAMP
) -> dict[int, bytes]:
    """A shard with one window, after a last step at this clock and watermark."""
    strategy = bl.WindowingStrategy(bl.FixedWindows(MINUTE), trigger, "accumulating", lateness)
    _, store = run_in_shard(
        strategy, "count", [ONE, (AdvanceClock(clock), AdvanceWatermark(watermark))]
    )
    assert store.index is not None
    return {-1: store.index, **store.blobs}


def state_of(*shards: SavedShard) -> SavedState:
    spark: Any = None
    return SavedState("orders", 0, (0, 0), (SavedStage("counts", 0, shards),), spark)


def waits_for(state: SavedState) -> list[str]:
    (stage,) = state.stages
    rows = times_in_ms(stage.windows).to_pylist()
    return [view.waits_for for view in map(stage.trigger_of, rows) if view is not None]


def early(count: int) -> bl.Trigger:
    return bl.AfterWatermark(early=bl.AfterCount(count))


@pytest.mark.parametrize("last_first", [False, True])
def test_windows_wait_for_what_the_query_asks_for_now_though_a_shard_has_not_stepped_since(
    last_first: bool,
) -> None:
    one, other = spread_shards(2)
    before = SavedShard.of(one, 0, blobs_of(early(3), 0, clock=1_000))
    now = SavedShard.of(other, 0, blobs_of(early(5), 7 * MINUTE, clock=2_000))
    shards = [attrs.evolve(it, identity={**it.identity, "shards": "2"}) for it in (before, now)]

    state = state_of(*(reversed(shards) if last_first else shards))

    assert waits_for(state) == ["the watermark to reach 00:01:00 or 4 more elements (1 of 5)"] * 2
    (stage,) = state.stages
    assert stage.identity["allowed lateness"] == f"{7 * MINUTE} ms"


def test_the_numbers_of_shards_are_those_of_their_ids() -> None:
    for count in (1, 2, 3, 8, 50):
        numbers = [number_of_shard(group, count) for group in spread_shards(count)]
        assert numbers == list(range(count))


@pytest.mark.parametrize(
    ("lateness", "due"), [(10**13, 10**13 + MINUTE), (10**16, None), (2**63 - 1, None)]
)
def test_a_window_that_has_come_out_stays_for_its_lateness_however_long_that_is(
    lateness: int, due: int | None
) -> None:
    blobs = blobs_of(bl.AfterWatermark(late=bl.AfterCount(1)), lateness, watermark=2 * MINUTE)

    (stage,) = state_of(SavedShard.of(0, 0, blobs)).stages

    (row,) = times_in_ms(stage.windows).to_pylist()
    assert (row["timing"], row["due_event"]) == ("ON_TIME", due)


def test_a_key_that_arrow_has_no_text_for_is_reported() -> None:
    # Python makes such texts of names of files that are no UTF-8.
    keys = pa.chunked_array([[key_bytes("caf\udce9"), key_bytes(("ann", "\U0001f600"))]])

    assert key_texts([keys], 2, in_bytes=True).to_pylist() == [
        "caf\\udce9",
        "('ann', '\U0001f600')",
    ]


WIDE = f"AfterFirst({', '.join(['AfterCount(1)'] * 70)})"
DEEP = f"{'Repeatedly(' * 330}AfterCount(1){')' * 330}"
OF_OTHERS = "OrFinally(Repeatedly(AfterCount(2)), until=AfterCount(3))"


@pytest.mark.parametrize(
    "trigger",
    [WIDE, DEEP, OF_OTHERS, "AfterProcessingTime(1 moon)", ""],
    ids=["wide", "deep", "of others", "unread", "none"],
)
def test_a_trigger_that_cannot_be_that_of_the_windows_is_not_told(trigger: str) -> None:
    state = state_of(SavedShard.of(0, 0, changed({"about": {"trigger": trigger}})))

    places = choose(state)
    *_, line = listing(state, (), places, of=1, sort="oldest", in_full=False, unpickle=False)
    message = json.loads("".join(document(state, (), places, None, unpickle=False)))

    assert line.split()[:3] == ["ann", "[00:00:00,", "00:01:00)"]
    assert line.split()[-1] == "-"
    assert [window["trigger"] for window in message["windows"]] == [None]


def changed(words: dict[str, Any]) -> dict[int, bytes]:
    """A shard whose index has other words, as somebody who means harm could write it."""
    blobs = blobs_of(early(3), 0)
    columns, header = open_index(blobs[-1])
    return {**blobs, -1: pack_blob(pa.table(columns), header | words)}


def of_plan(**words: str) -> dict[str, Any]:
    _, header = open_index(blobs_of(early(3), 0)[-1])
    return {"plan": header["plan"] | words}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (of_plan(shards="9" * 18), "ValueError: its number of shards is '999999999999999999'; "),
        (of_plan(shards="9" * 5_000), "ValueError: its number of shards is '999999999999...9999"),
        (of_plan(shards="0"), "ValueError: its number of shards is '0'; "),
        ({"about": [3]}, "ValueError: what it notes of its grouping is no object: [3]; "),
        ({"about": {"stage": 7}}, "ValueError: its stage is no text: 7; "),
        ({"about": {"retained": "x"}}, "ValueError: its retained is no length of time: 'x'; "),
        ({"output": True}, "ValueError: output is no instant: True; "),
        ({"watermark": 2**63}, "ValueError: watermark is no instant: 9223372036854775808; "),
        ({"side": 0.5}, "ValueError: side is no instant: 0.5; "),
        ({"inputs": [["x", 0, []]]}, "ValueError: the greatest time of input 0 is no instant: "),
        ({"inputs": [[2**63, 0, []]]}, "ValueError: the greatest time of input 0 is no instant: "),
        ({"inputs": [[0, 0, [None]]]}, "ValueError: shard 0 of input 0 is no instant: None; "),
    ],
)
def test_words_that_are_none_are_named(words: dict[str, Any], says: str) -> None:
    assert refusal(StateError, lambda: SavedShard.of(4, 0, changed(words))).startswith(
        f"the state of the group 4 cannot be read: {says}"
    )


def test_a_source_that_was_drained_has_heard_of_a_time_past_the_end_of_time() -> None:
    # The watermark trails it by the source's delay, and stands at the end itself.
    greatest = MAX_TIMESTAMP + 10_000
    shard = SavedShard.of(4, 0, changed({"inputs": [[greatest, 0, []]]}))

    assert [it.greatest for it in shard.clocks.inputs] == [greatest]


def test_shards_of_different_rows_are_no_grouping() -> None:
    _, store = run_in_shard(bl.WindowingStrategy(bl.FixedWindows(MINUTE)), "list", [ONE])
    assert store.index is not None
    other = SavedShard.of(1, 0, {-1: store.index, **store.blobs})

    with pytest.raises(StateError) as refusal:
        choose(state_of(SavedShard.of(0, 0, blobs_of(early(3), 0)), other))

    message = str(refusal.value)
    assert message.startswith(
        "the windows of 'counts' cannot be read: ArrowInvalid: Schema at index 1 "
    )
    assert message.endswith("; the checkpoint is damaged: open a copy of it")


class Refusing:
    """A session whose reader of state raises what Py4J makes of an error of Java's own."""

    def __init__(self) -> None:
        self.conf = {"spark.sql.streaming.stateStore.providerClass": "RocksDBStateStoreProvider"}

    @property
    def read(self) -> "Refusing":
        return self

    def format(self, name: str) -> "Refusing":
        return self

    def load(self, path: str) -> "Refusing":
        raise RuntimeError(
            "An error occurred while calling o45.collectToPython.\n: "
            'org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "nope"\n'
            "\tat org.apache.hadoop.fs.FileSystem.getFileSystemClass(FileSystem.java:3585)"
        )


def test_what_keeps_spark_from_a_place_is_reported_without_the_way_of_java() -> None:
    spark: Any = Refusing()
    assert refusal(StateError, lambda: SavedState.open(spark, "nope://bucket/orders")) == (
        "nope://bucket/orders is no checkpoint with state that can be read "
        '(org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "nope"); '
        "give the folder that the query has as checkpointLocation"
    )
