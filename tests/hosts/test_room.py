"""What a shard cannot hold is said of the shard, before Arrow or Spark fail."""

from contextlib import nullcontext
from typing import Any

import attrs
import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import UnsupportedError
from beamlike.machine.input_clocks import HostWatermark
from beamlike.model.combine import Collect, Max
from beamlike.runtime.accumulator_columns import ListColumn, PlainColumn
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.column_shard import ColumnShard
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.stepping import stepper_of
from beamlike.runtime.store import blobs as room
from tests.support.machines.either import forgetful
from tests.support.machines.in_shard import DictStore

TEXT, NUMBER = pa.string(), pa.int64()
WORDS = Part("words", Collect(), 0, ListColumn(TEXT), pa.list_(TEXT))
LONGEST = Part("longest", Max(), 0, PlainColumn(TEXT), TEXT)
ADVICE = (
    "and 2,147,483,647 is the most that fits in one piece there. Spread the keys over more shards, "
    "shards=8; a checkpoint stays with its number of shards, so a stream needs a new "
    "checkpointLocation. Or give it less: shorter values, an aggregate that does not keep each of "
    "them, windows that end sooner, fewer rows in a micro-batch"
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column has room for a thousand bytes, and output for five."""
    monkeypatch.setattr(room, "MOST_IN_ONE_PIECE", 1_000)
    monkeypatch.setattr(room, "_BESIDES", -4_000)


def plan_of(*parts: Part, machine: Any = "columnar", **options: Any) -> Plan:
    strategy = bl.WindowingStrategy(bl.FixedWindows(100), **options)
    keys, values = {"user": TEXT}, {"v": TEXT}
    return Plan(strategy, keys, values, parts, shards=4, buckets=1, machine_name=machine)


def rows(values: list[str], key: str = "ann") -> pa.Table:
    count = len(values)
    return pa.table(
        {
            "key_user": pa.array([key] * count, TEXT),
            "ts": pa.array([5] * count, NUMBER),
            "value_v": pa.array(values, TEXT),
            "bucket": pa.array([0] * count, pa.int32()),
        }
    )


def refused(plan: Plan, store: DictStore, *tables: pa.Table, watermark: int = 0) -> str:
    with pytest.raises(UnsupportedError) as error:
        stepper_of(plan).step(store, ShardInput(tables, [HostWatermark(watermark)], 0), 3)
    return str(error.value)


@pytest.mark.usefixtures("small")
def test_rows_that_arrive_in_one_micro_batch_may_be_too_large() -> None:
    plan = plan_of(LONGEST)
    fits, too_large = [rows(["x" * 500]), rows(["x" * 500])], rows(["x" * 501])

    stepper_of(plan).step(DictStore(), ShardInput(fits, [HostWatermark(0)], 0), 3)

    assert refused(plan, DictStore(), fits[0], too_large) == (
        "shard 3 of the 4 of 'beamlike' cannot hold what it is given: column 'v' would have "
        f"1,001 bytes, {ADVICE}"
    )
    assert refused(plan, DictStore(), rows(["x"], key="k" * 1_001)) == (
        "shard 3 of the 4 of 'beamlike' cannot hold what it is given: key column 'user' would have "
        f"1,001 bytes, {ADVICE}"
    )


@pytest.mark.usefixtures("small")
def test_the_windows_of_a_bucket_may_be_too_large_together_and_the_state_stays() -> None:
    plan, store = plan_of(WORDS), DictStore()
    stepper = stepper_of(plan)
    stepper.step(store, ShardInput([rows(["x" * 600])], [HostWatermark(0)], 0), 3)
    before = dict(store.blobs), store.index

    assert refused(plan, store, rows(["y" * 401])) == (
        "shard 3 of the 4 of 'beamlike' cannot hold what it is given: aggregate 'words' would have "
        f"1,001 bytes, {ADVICE}"
    )
    assert (store.blobs, store.index) == before
    # With less it goes on.
    stepper.step(store, ShardInput([rows(["y" * 400])], [HostWatermark(0)], 0), 3)
    (out,), _ = stepper.step(store, ShardInput([], [HostWatermark(100)], 0), 3)
    assert [len("".join(row["words"])) for row in out.to_pylist()] == [1_000]


@pytest.mark.usefixtures("small")
def test_rows_that_were_replaced_are_cleared_away_before_they_take_room() -> None:
    """A window that grows leaves its earlier row behind, until pages are written anew."""
    plan, store = plan_of(LONGEST), DictStore()
    stepper = stepper_of(plan)
    for letter in "abcdefgh":
        stepper.step(store, ShardInput([rows([letter * 300])], [HostWatermark(0)], 0), 3)
    (out,), _ = stepper.step(store, ShardInput([], [HostWatermark(100)], 0), 3)
    assert [row["longest"] for row in out.to_pylist()] == ["h" * 300]


@pytest.mark.usefixtures("small")
def test_lists_of_many_items_may_be_too_large_too() -> None:
    part = Part("numbers", Collect(), 0, ListColumn(NUMBER), pa.list_(NUMBER))
    plan = attrs.evolve(plan_of(part), values={"v": NUMBER})
    many = rows(["1"] * 1_001, key="")
    many = many.set_column(2, "value_v", pa.array(range(1_001), NUMBER))

    assert refused(plan, DictStore(), many) == (
        "shard 3 of the 4 of 'beamlike' cannot hold what it is given: aggregate 'numbers' would "
        f"have 1,001 items of lists, {ADVICE}"
    )


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("machine", ["columnar", "reference"])
def test_the_output_of_a_step_may_be_too_large(machine: Any) -> None:
    """A pane shows each value once more, which the limit of the state does not see."""
    parts = [attrs.evolve(LONGEST, name=f"n{index}") for index in range(9)]
    plan = plan_of(
        *parts, machine=machine, trigger=bl.Repeatedly(bl.AfterCount(1)), accumulation="discarding"
    )
    problem = refused(plan, DictStore(), rows(["x" * 600]))
    assert problem.startswith(
        "shard 3 of the 4 of 'beamlike' cannot hold what it is given: aggregate 'n0' would have "
    )
    assert problem.endswith(f"bytes of a row of the output, {ADVICE}")


def many(keys: int, letter: str, length: int) -> pa.Table:
    """A text for each of some keys, that are spread over eight buckets."""
    tables = [rows([letter * length], key=f"key {index:02}") for index in range(keys)]
    table = pa.concat_tables(tables)
    buckets = pa.array([index % 8 for index in range(keys)], pa.int32())
    return table.set_column(table.column_names.index("bucket"), "bucket", buckets)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("machine", ["columnar", "reference"])
@pytest.mark.parametrize("remembers", [True, False])
def test_a_shard_has_more_in_a_column_than_fits_in_one_piece(machine: Any, remembers: bool) -> None:
    """Five thousand bytes where a thousand fit: the shard takes its buckets one after another."""
    plan, store = attrs.evolve(plan_of(WORDS, machine=machine), buckets=8), DictStore()
    with nullcontext() if remembers else forgetful():
        for letter in "abcde":
            out, status = stepper_of(plan).step(
                store, ShardInput([many(20, letter, 50)], [HostWatermark(0)], 0), 3
            )
            assert (out, status.windows_open) == ([], 20)
        out, status = stepper_of(plan).step(store, ShardInput([], [HostWatermark(100)], 0), 3)

    found = {row["user"]: row["words"] for table in out for row in table.to_pylist()}
    assert found == {f"key {index:02}": [letter * 50 for letter in "abcde"] for index in range(20)}
    assert (len(out) > 1, status.windows_open) == (True, 0)


@pytest.mark.usefixtures("small")
def test_a_micro_batch_brings_more_than_fits_in_one_piece() -> None:
    plan, store = attrs.evolve(plan_of(LONGEST), buckets=8), DictStore()
    arrivals = [many(20, "a", 60), many(20, "b", 70)]

    out, _ = stepper_of(plan).step(store, ShardInput(arrivals, [HostWatermark(0)], 0), 3)
    ended, _ = stepper_of(plan).step(store, ShardInput([], [HostWatermark(100)], 0), 3)

    assert out == []
    found = {row["user"]: row["longest"] for table in ended for row in table.to_pylist()}
    assert found == {f"key {index:02}": "b" * 70 for index in range(20)}


@pytest.mark.usefixtures("small")
def test_what_does_not_fit_is_taken_in_passes_and_never_key_by_key(monkeypatch: pytest.MonkeyPatch):
    taken = []
    step = ColumnShard.step

    def counted(shard: ColumnShard, *args: Any) -> Any:
        passes, _ = args[-2:]
        taken.append(passes)
        return step(shard, *args)

    monkeypatch.setattr(ColumnShard, "step", counted)
    stepper, store = stepper_of(attrs.evolve(plan_of(WORDS), buckets=8)), DictStore()
    stepper.step(store, ShardInput([many(20, "a", 40)], [HostWatermark(0)], 0), 3)
    stepper.step(store, ShardInput([many(20, "b", 40)], [HostWatermark(0)], 0), 3)
    stepper.step(store, ShardInput([many(20, "c", 40)], [HostWatermark(0)], 0), 3)

    # The first step fits. The second does not, and the third begins where that one ended.
    assert taken == [1, 1, 4, 4]


@pytest.mark.parametrize("problem", [pa.ArrowInvalid, pa.ArrowCapacityError])
def test_what_arrow_finds_out_by_itself_is_said_of_the_largest_column(problem: Any) -> None:
    plan = plan_of(WORDS)
    tables = [rows(["x" * 30, "y"]), pa.table({"acc0_words": pa.array([["a" * 50]])})]
    with (
        pytest.raises(UnsupportedError) as error,
        room.explaining_overflow(plan, None, lambda: tables),
    ):
        raise problem("offset overflow while concatenating arrays")
    assert str(error.value) == (
        "a shard of the 4 of 'beamlike' cannot hold what it is given: aggregate 'words' would have "
        f"more than the 50 bytes that it has before this step, {ADVICE}"
    )
    with pytest.raises(pa.ArrowInvalid), room.explaining_overflow(plan, None, lambda: tables):
        raise pa.ArrowInvalid("something else")


@pytest.mark.parametrize(
    ("column", "counted"),
    [
        (pa.array(["abc", None, "de"]), [(5, "bytes")]),
        (pa.array([b"abc", b"de"]).slice(1), [(2, "bytes")]),
        (pa.array([1, 2, 3]), []),
        (pa.array([["abc"], None, ["d", "e"]]), [(3, "items of lists"), (5, "bytes")]),
        (pa.array([["abc"], [], ["d", "e"]]).slice(1), [(2, "items of lists"), (2, "bytes")]),
        (
            pa.array([{"a": "bc", "b": [1]}, {"a": "d", "b": [2, 3]}]).slice(1),
            [(1, "bytes"), (2, "items of lists")],
        ),
        (
            pa.array([[("k", "abc")], [("l", "d")]], pa.map_(TEXT, TEXT)),
            [(2, "entries"), (2, "bytes"), (4, "bytes")],
        ),
        (
            pa.array([[("k", "abc")], [("l", "d")]], pa.map_(TEXT, TEXT)).slice(1),
            [(1, "entries"), (1, "bytes"), (1, "bytes")],
        ),
    ],
    ids=["text", "bytes", "numbers", "lists", "some lists", "structs", "maps", "some maps"],
)
def test_what_arrow_counts_in_a_column(column: pa.Array, counted: list[Any]) -> None:
    assert room._counted(column) == counted
