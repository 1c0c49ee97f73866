"""The first row of each key: a shard that takes all keys at once, beside one that takes them one by
one, and beside a plain computation of what has to come out.

After each micro-batch what came out, what rests and what the index knows are the same, whichever
of the two machines made a micro-batch, and whichever wrote the state before it.
"""

import pickle
from collections.abc import Sequence
from typing import Any, Final

import attrs
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamlike.api.dataframe.deduplicating import FirstOfKey
from beamlike.api.function_rows import FunctionRows
from beamlike.errors import UnsupportedError
from beamlike.machine.input_clocks import HostWatermark
from beamlike.model.calendar import CalendarDays
from beamlike.model.resolution import MICROSECONDS, MILLISECONDS, Resolution
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn
from beamlike.model.windows import bounds
from beamlike.runtime import known_keys
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.first_shard import FirstShard
from beamlike.runtime.per_key import PerKeyOperation, Returned
from beamlike.runtime.plan import Plan
from beamlike.runtime.shard import Shard
from beamlike.runtime.stepping import Stepper, choose_machine, stepper_of
from beamlike.runtime.store.index import Index
from beamlike.runtime.store.pages import Pages
from beamlike.runtime.store.stores import DictStore
from tests.support.machines.either import forgetful, keys_at_rest

TYPES: Final = {"a": pa.string(), "b": pa.int64(), "v": pa.int64()}
WINDOWS: Final[Sequence[WindowFn]] = (
    *(GlobalWindows(), FixedWindows(20), SlidingWindows(20, 10), SlidingWindows(10, 15)),
    CalendarDays(1),
)
CLOCKS: Final = ("event", "processing")


def plan_of(
    window_fn: WindowFn = WINDOWS[0],
    within: int = 10,
    time: str = "event",
    lateness: int = 0,
    buckets: int = 2,
    unit: Resolution = MILLISECONDS,
) -> Plan:
    strategy = WindowingStrategy(
        window_fn, allowed_lateness=lateness, accumulation="discarding" if lateness else None
    )
    returned = Returned({"v": pa.int64()}, {"v": "bigint"}, frozenset(), ["a", "b"])
    fn = FirstOfKey(FunctionRows(list(TYPES), ["a", "b"], returned), within, time == "event")
    operation = PerKeyOperation(fn, strategy, TYPES, {"v": pa.int64()})
    keys = {name: TYPES[name] for name in ("a", "b")}
    plan = Plan(strategy, keys, TYPES, (), 1, buckets, custom_operation=operation)
    return plan.in_resolution(unit)


@attrs.frozen
class Batch:
    """A micro-batch: rows (key, timestamp, number), where the watermark is as it begins and after
    it, and the clock."""

    rows: Sequence[tuple[int, int, int]]
    begins: int
    to: int
    clock: int
    in_columns: bool = True
    restarts: bool = False


def table_of(plan: Plan, batch: Batch) -> pa.Table:
    keys = [key for key, _, _ in batch.rows]
    a, b = ["x" if key % 2 else "y" for key in keys], [key // 2 for key in keys]
    numbers = [number for _, _, number in batch.rows]
    columns = {"a": (a, pa.string()), "b": (b, pa.int64()), "v": (numbers, pa.int64())}
    return pa.table(
        {
            **{f"key_{name}": pa.array(*columns[name]) for name in plan.keys},
            **{f"value_{name}": pa.array(*columns[name]) for name in TYPES},
            "ts": pa.array([timestamp for _, timestamp, _ in batch.rows], pa.int64()),
            "bucket": pa.array([key % plan.buckets for key in keys], pa.int32()),
        }
    )


def step(stepper: Stepper, store: DictStore, batch: Batch) -> list[dict[str, Any]]:
    """What comes out: the rows that go on, and those that are dropped, each in order of arrival."""
    tables = [table_of(stepper.plan, batch)] if batch.rows else []
    watermarks = [HostWatermark(batch.begins, begins=True), HostWatermark(batch.to)]
    out, _ = stepper.step(store, ShardInput(tables, watermarks, batch.clock))
    return [row for table in out for row in table.to_pylist()]


class Plainly:
    """The same as a plain computation: rows one by one, and what is known of them in a dict."""

    def __init__(self, plan: Plan, window_fn: WindowFn, within: int, time: str) -> None:
        self._strategy, self._window_fn = plan.strategy, window_fn
        self._within, self._time = within, time
        self._known: dict[tuple[int, tuple[int, int]], int] = {}

    def step(self, batch: Batch) -> tuple[list[int], list[int]]:
        """The numbers of rows that go on, and of those that are dropped."""
        self._forget(batch.begins, batch.clock)
        first, dropped = list[int](), list[int]()
        for key, timestamp, number in batch.rows:
            for window in self._window_fn.assign(timestamp):
                expiry = self._strategy.expiry(window)
                if batch.begins > expiry:
                    dropped.append(number)
                elif (key, bounds(window)) not in self._known:
                    first.append(number)
                    by_event = min(timestamp + self._within, expiry)
                    until = by_event if self._time == "event" else batch.clock + self._within
                    self._known[key, bounds(window)] = until
        self._forget(batch.to, batch.clock)
        return first, dropped

    @property
    def known(self) -> int:
        """How many keys and windows are known, of windows that have not expired."""
        return sum(
            min(end - 1 + self._strategy.allowed_lateness, self._strategy.end_of_global_window)
            >= self._watermark
            for _, (_, end) in self._known
        )

    def _forget(self, watermark: int, clock: int) -> None:
        self._watermark = watermark
        passed = watermark if self._time == "event" else clock
        lateness = self._strategy.allowed_lateness
        last = self._strategy.end_of_global_window
        self._known = {
            (key, (start, end)): until
            for (key, (start, end)), until in self._known.items()
            if until >= passed and min(end - 1 + lateness, last) + 1 >= watermark
        }


@st.composite
def batches_of(draw: st.DrawFn) -> list[Batch]:
    """Micro-batches. Rows come around the watermark, which stands, creeps or leaps."""
    batches, watermark, clock, number = list[Batch](), 100, 1_000, 0
    for _ in range(draw(st.integers(1, 7))):
        moves = st.sampled_from([0, 0, 1, 5, 10, 30])
        begins = watermark + draw(moves)
        watermark, clock = begins + draw(moves), clock + draw(moves)
        drawn = st.tuples(st.integers(0, 5), st.integers(-40, 25))
        rows = list[tuple[int, int, int]]()
        for key, ahead in draw(st.lists(drawn, max_size=8)):
            rows.append((key, max(begins + ahead, 0), number := number + 1))
        batches.append(
            Batch(rows, begins, watermark, clock, draw(st.booleans()), draw(st.booleans()))
        )
    return batches


def key_of(row: dict[str, Any]) -> Any:
    return str(row)


@pytest.mark.parametrize("time", CLOCKS)
@pytest.mark.parametrize("window_fn", WINDOWS, ids=str)
@given(batches=batches_of(), within=st.sampled_from([1, 10, 50]), lateness=st.sampled_from([0, 15]))
def test_all_keys_at_once_give_what_each_gives_alone(
    window_fn: WindowFn, time: str, batches: list[Batch], within: int, lateness: int
) -> None:
    plan = plan_of(window_fn, within, time, lateness)
    at_once, one_by_one = stepper_of(plan), Stepper(plan, None)
    store, other = DictStore(), DictStore()
    plainly = Plainly(plan, window_fn, within, time)
    for batch in batches:
        stepper = at_once if batch.in_columns else one_by_one
        if batch.restarts:
            with forgetful(few=0, page=300):
                out = step(stepper, store, batch)
        else:
            out = step(stepper, store, batch)
        expected = step(one_by_one, other, batch)
        first, dropped = plainly.step(batch)
        gone_on = [row["v"] for row in out if row["pane"]]
        assert sorted(out, key=key_of) == sorted(expected, key=key_of)
        assert (gone_on if batch.in_columns else sorted(gone_on)) == first
        assert len(out) == len(first) + len(dropped)
        assert known_in(plan, store, other) == plainly.known


def known_in(plan: Plan, *stores: DictStore) -> int:
    """How many keys and windows are known in all of these stores, where the same rests.

    Without windows that have expired a tick ago: nothing comes of them, and only key by key they
    may be remembered for that tick, if the clock has passed their timer.
    """
    indexes = [Index.load(plan, store) for store in stores]
    watermark = indexes[0].clocks.watermark
    rests = [keys_at_rest(plan, store) for store in stores]
    live = [
        {
            (key, window): kept
            for key, state in rest.items()
            for window, kept in state[-1].items()
            if plan.strategy.expiry(window) >= watermark
        }
        for rest in rests
    ]
    assert all(windows == live[0] for windows in live)
    assert all(index.output == indexes[0].output for index in indexes)
    if all(index.contents.living == len(live[0]) for index in indexes):
        for name in ("deadline", "clock_deadline", "hold"):
            assert len({tuple(getattr(index, name).tolist()) for index in indexes}) == 1
    return len(live[0])


BATCHES: Final = (
    Batch([(1, 100, 1), (2, 105, 2), (1, 101, 3)], 90, 90, 1_000),
    Batch([(1, 112, 4), (3, 100, 5)], 90, 110, 1_005),
    Batch([(1, 130, 6), (3, 111, 7), (2, 116, 8)], 111, 116, 1_015),
)


def test_what_the_clock_forgets_is_gone_though_its_window_has_just_expired() -> None:
    plan, store, other = plan_of(FixedWindows(20), time="processing"), DictStore(), DictStore()
    for batch in (Batch([(1, 100, 1)], 90, 90, 1_000), Batch([], 120, 120, 1_011)):
        for rests, stepper in ((store, stepper_of(plan)), (other, Stepper(plan, None))):
            step(stepper, rests, batch)
    assert [Index.load(plan, rests).contents.living for rests in (store, other)] == [0, 1]
    late = Batch([(1, 101, 2)], 120, 120, 1_012)
    out = [step(stepper_of(plan), store, late), step(Stepper(plan, None), other, late)]
    assert out[0] == out[1]
    assert [row["pane"] for row in out[0]] == [None]
    assert step(stepper_of(plan), other, Batch([], 121, 121, 1_013)) == []
    assert Index.load(plan, other).contents.living == 0


@pytest.mark.parametrize("time", CLOCKS)
def test_state_that_was_saved_with_the_keys_in_it_continues(
    time: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, store = plan_of(time=time), DictStore()

    def encode(_column: Any, accumulators: Sequence[Any]) -> list[pa.Array]:
        with_keys = [("key", *accumulator[1:]) for accumulator in accumulators]
        return [pa.array([pickle.dumps(saved, protocol=5) for saved in with_keys], pa.binary())]

    with monkeypatch.context() as patch:
        patch.setattr(known_keys.KnownColumn, "encode", encode)
        before = step(Stepper(plan, None), store, BATCHES[0])
    usual, is_usual = list[bool](), known_keys.KnownColumn.is_usual

    def noting(column: Any, saved: Any) -> bool:
        usual.append(is_usual(column, saved))
        return usual[-1]

    monkeypatch.setattr(known_keys.KnownColumn, "is_usual", noting)
    with forgetful():
        after = [[row["v"] for row in step(stepper_of(plan), store, b)] for b in BATCHES[1:]]
    assert sorted(row["v"] for row in before) == [1, 2]
    assert after == ([[5], [6, 7]] if time == "event" else [[5], [6, 8]])
    assert usual == [False, True]  # they are read one by one once


def test_a_key_by_key_step_writes_what_all_keys_at_once_read(monkeypatch: pytest.MonkeyPatch):
    plan = plan_of()
    stores = DictStore(), DictStore()
    for store, stepper in zip(stores, (stepper_of(plan), Stepper(plan, None)), strict=True):
        step(stepper, store, BATCHES[0])
    rows = []
    for store in stores:
        index = Index.load(plan, store)
        with forgetful():
            pages = Pages(FirstShard(plan)._schema, store, index.contents)
            rows.append(pages.read().table.to_pylist())
    assert rows[0] == rows[1]


@pytest.mark.parametrize("unit", [MILLISECONDS, MICROSECONDS])
def test_instants_at_both_ends_of_time_are_read_as_they_were_written(unit: Resolution) -> None:
    plan = plan_of(unit=unit)
    instants = [unit.earliest, -1, 0, 1, 2**31, unit.end_of_global_window, unit.end_of_time]
    column = FirstShard(plan)._known
    pickled = column.pickled(pa.array(instants).to_numpy())
    chunks = pa.chunked_array([pickled[:0], pickled[:3], pickled[3:]])
    assert (column.known_until(chunks).tolist(), column.is_usual(chunks)) == (instants, True)
    saved = [pickle.loads(blob) for blob in pickled.to_pylist()]
    assert [timers["forget", ""] for _, _, timers, _ in saved] == [(at, None) for at in instants]


def test_a_shard_takes_its_keys_in_several_passes() -> None:
    plan, store, other = plan_of(buckets=4), DictStore(), DictStore()
    shard, reference = FirstShard(plan), Shard(plan)
    for batch in BATCHES:
        rows = ShardInput([table_of(plan, batch)], [HostWatermark(batch.to)], batch.clock)
        stepped = shard.step(store, rows, passes=3)
        effects = reference.step(other, rows).effects
        assert len(stepped.passes) == 3
        assert sum(one.emitted for one in stepped.passes) == len(effects)
        assert known_in(plan, store, other) == Index.load(plan, store).contents.living


def test_a_column_of_pickles_that_would_be_too_large_is_written_in_several_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan, store = plan_of(buckets=4, within=1_000), DictStore()
    monkeypatch.setattr(known_keys, "_MOST", 130)
    rows = [(key, 100 + key, key) for key in range(6)]
    out = step(stepper_of(plan), store, Batch(rows, 90, 90, 1_000))
    again = step(stepper_of(plan), store, Batch(rows, 90, 110, 1_000))
    assert sorted(row["v"] for row in out) == [0, 1, 2, 3, 4, 5]
    assert again == []


def test_what_64_bits_cannot_add_up_is_left_to_the_reference_machine() -> None:
    for plan in (plan_of(within=2**62), plan_of(lateness=2**62)):
        with pytest.raises(UnsupportedError):
            FirstShard(plan)
        assert choose_machine(plan).machine == "reference"
    assert choose_machine(plan_of()).machine == "columnar"
