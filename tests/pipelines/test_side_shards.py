"""Functions that look into side inputs, on the shards of production.

Elements are dealt out to all shards, each of which has the items of a side input once. What leaves
a shard is what the function makes.
"""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import beamlike as bl
from beamlike.errors import StateError
from beamlike.machine.clocks import Clocks
from beamlike.machine.input_clocks import ShardWatermark, StageClock
from beamlike.model.bundle import Bundle, Windowed
from beamlike.model.graph import MAIN, Do, Edge, ReadNode, SideInputNode
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.graph.side_contents import RECENT
from beamlike.runtime.graph.side_inputs import SideInputWorker
from beamlike.runtime.graph.side_shards import InputClocks, SideInputStage, dealt_out
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.store.stores import DictStore

MAIN_WINDOWS = bl.WindowingStrategy(bl.FixedWindows("10 s"), allowed_lateness="5 s")
SIDE_WINDOWS = bl.WindowingStrategy(
    bl.FixedWindows("20 s"), trigger=bl.Repeatedly(bl.AfterCount(1)), accumulation="accumulating"
)
OTHER_SIDE = bl.WindowingStrategy(bl.FixedWindows("10 s"))


@attrs.define
class Looks(Do):
    """Each element with the sorted items that it sees of each side input."""

    seen: tuple[Any, ...] = ()

    def see(self, contents: Sequence[Sequence[Any]]) -> None:
        self.seen = tuple(tuple(sorted(items)) for items in contents)

    def process(self, element: Windowed) -> Iterable[tuple[str, Windowed]]:
        return ((MAIN, attrs.evolve(element, value=(element.value, *self.seen))),)


def node(*sides: bl.WindowingStrategy, do: Do | None = None) -> SideInputNode:
    reads = [Edge(ReadNode(name, (), None, False)) for name in ("main", *map(str, sides))]
    return SideInputNode("Look", tuple(reads), MAIN_WINDOWS, sides, do or Looks())


def element(value: Any, second: float) -> Windowed:
    timestamp = int(second * 1000)
    start = timestamp // 10_000 * 10_000
    return Windowed(value, timestamp, (bl.IntervalWindow(start, start + 10_000),))


def pane(items: Iterable[Any], start: int, end: int) -> Windowed:
    window = bl.IntervalWindow(start * 1000, end * 1000)
    return Windowed(((), [*items]), window.end - 1, (window,))


class Shards:
    """The shards of a node, each with a state; a restart between any two steps."""

    def __init__(self, looks: SideInputNode, count: int) -> None:
        self.node, self.stores = looks, [DictStore() for _ in range(count)]
        self.lost: list[Any] = []
        self.output_watermarks = [0] * count
        self.tables = [0] * count

    def step(self, bundles: Sequence[Bundle], watermarks: Sequence[int]) -> list[Windowed]:
        wire, count = Wire(), len(self.stores)
        arriving: dict[int, list[Any]] = {}
        for shard, table in dealt_out(bundles, wire, count):
            arriving.setdefault(shard, []).append(table)
        updates = [ShardWatermark(source, 0, to) for source, to in enumerate(watermarks)]
        outputs: list[Windowed] = []
        for shard, store in enumerate(self.stores):
            stage = SideInputStage(SideInputWorker(self.node), wire, count, self._clocks())
            tables = arriving.get(shard, [])
            self.tables[shard] += stage.count(tables)
            stepped = stage.step(store, ShardInput(tables, updates, 0))
            outputs += stepped.out.get(MAIN, Bundle())
            self.lost += [drop.element.value for _, drop in stepped.drops]
            self.output_watermarks[shard] = stepped.status.output_watermark
        return outputs

    def _clocks(self) -> list[InputClocks]:
        inputs = Clocks((StageClock(1), StageClock(1)), frozenset({1}))
        places = [{0: 0, 1: 1}, *({side + 1: 1} for side in range(1, len(self.node.sides)))]
        return [InputClocks(inputs, positions) for positions in places]


NOTHING = Bundle()


def bundle(*elements: Windowed) -> Bundle:
    return Bundle.of(elements)


def values(outputs: Iterable[Windowed]) -> list[Any]:
    return sorted(output.value for output in outputs)


@pytest.mark.parametrize("value", [lambda place: place, lambda _: "same", lambda place: [place]])
def test_all_shards_work_also_where_many_elements_are_equal(value: Callable[[int], Any]):
    shards = Shards(node(SIDE_WINDOWS), 16)
    main = bundle(*(element(value(place), 1) for place in range(10_000)))
    outputs = shards.step([main, bundle(pane(["x"], 0, 20))], [0, 0])
    assert len(outputs) == 10_000
    assert sum(shards.tables) == 10_000
    assert min(shards.tables) > 400
    assert max(shards.tables) < 900


def test_elements_are_dealt_out_in_the_same_way_in_any_order():
    def places(elements: Sequence[Windowed]) -> list[list[Any]]:
        tables = dict(dealt_out([bundle(*elements), NOTHING], Wire(), 4))
        batches = {
            shard: [Wire().loads(blob) for blob in table.column("value_value").to_pylist()]
            for shard, table in tables.items()
        }
        return [sorted(batch.value.values) for _, (batch,) in sorted(batches.items())]

    elements = [element(value, 1) for value in ["a", "b", "a", "a", "c", "a", "d", "b"]]
    assert places(elements) == places(elements[::-1])


NOON = datetime(2020, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "values_of_a_task",
    [
        lambda: [float("nan"), 1.5, None, "a"],
        lambda: [(place, None, float("nan"), NOON) for place in range(8)],
        lambda: [("a", ("b", float("nan")), [place]) for place in range(8)],
        lambda: [(), (1,), (1, None)],
    ],
    ids=["numbers", "rows", "nested", "of several lengths"],
)
def test_a_task_that_runs_again_elsewhere_deals_elements_out_as_before(values_of_a_task: Any):
    """What is no number is equal to nothing, and hashed by its address, as None is."""

    def places() -> list[tuple[int, int]]:
        main = bundle(*(element(value, 1) for value in values_of_a_task()))
        tables = dealt_out([main, NOTHING], Wire(), 64)
        return [(shard, sum(table.column("count").to_pylist())) for shard, table in tables]

    first, addresses_taken = places(), values_of_a_task()
    assert places() == first, addresses_taken


def test_where_an_element_goes_is_the_same_in_each_process():
    script = (
        "from datetime import UTC, datetime\n"
        "from beamlike.runtime.graph.side_shards import _hashes\n"
        "from beamlike.runtime.graph.wire import Wire\n"
        "values = [None, 1.5, float('nan'), 'a', datetime(2020, 1, 1, 12, tzinfo=UTC)]\n"
        "print(_hashes(values, Wire()), _hashes([(value, 1) for value in values], Wire()))\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "0"}  # as of all workers of Spark
    command = [sys.executable, "-c", script]
    runs = [subprocess.check_output(command, env=environment, text=True) for _ in range(2)]
    assert len(set(runs)) == 1, runs


def test_a_shard_is_sent_a_pane_once_whatever_comes_with_it():
    def sent(elements: int, items: int) -> int:
        main = bundle(*(element(place, 1) for place in range(elements)))
        side = bundle(pane(range(1_000, 1_000 + items), 0, 20))
        return sum(table.nbytes for _, table in dealt_out([main, side], Wire(), 16))

    of_a_pane = sent(1, 10_000) - sent(1, 1)
    assert sent(10_000, 10_000) - sent(10_000, 1) == of_a_pane


def test_what_waits_comes_out_with_the_first_pane_and_what_comes_later_sees_the_latest():
    shards = Shards(node(SIDE_WINDOWS), 1)
    assert shards.step([bundle(element("early", 1)), NOTHING], [0, 0]) == []
    assert values(shards.step([NOTHING, bundle(pane([1], 0, 20))], [0, 0])) == [("early", (1,))]
    assert shards.step([NOTHING, bundle(pane([1, 2], 0, 20))], [0, 0]) == []
    assert values(shards.step([bundle(element("late", 12)), NOTHING], [0, 0])) == [("late", (1, 2))]


def test_an_element_in_a_window_that_expired_for_both_is_dropped():
    shards = Shards(node(SIDE_WINDOWS), 1)
    shards.step([NOTHING, bundle(pane([1], 0, 20))], [0, 0])
    shards.step([NOTHING, NOTHING], [25_000, 25_000])
    late = [element("first", 1), element("second", 2), element("other window", 12)]
    assert shards.step([bundle(*late), NOTHING], [25_000, 25_000]) == []
    assert shards.lost == ["first", "second", "other window"]


@pytest.mark.parametrize(("watermark", "seen"), [(24_999, (1,)), (25_000, None)])
def test_a_window_is_looked_into_until_its_end_plus_the_lateness(watermark: int, seen: Any):
    shards = Shards(node(SIDE_WINDOWS), 1)
    shards.step([NOTHING, bundle(pane([1], 0, 20))], [0, 0])
    shards.step([NOTHING, NOTHING], [watermark, watermark])
    outputs = shards.step([bundle(element("x", 1)), NOTHING], [watermark, watermark])
    assert values(outputs) == ([] if seen is None else [("x", seen)])


def test_items_are_stored_once_and_go_with_the_last_window_that_holds_them():
    shards = Shards(node(SIDE_WINDOWS), 1)
    (store,) = shards.stores
    items = [*range(1_000, 21_000)]
    panes = [pane(items, 0, 20), pane(items, 20, 40)]
    shards.step([NOTHING, bundle(*panes)], [0, 0])

    def large() -> int:
        return sum(len(blob) > 30_000 for blob in store.blobs.values())

    assert large() == 1
    shards.step([NOTHING, NOTHING], [25_000, 25_000])
    assert large() == 1
    shards.step([NOTHING, NOTHING], [45_000, 45_000])
    assert large() == 0


def test_a_newer_pane_takes_the_place_of_the_items_before():
    shards = Shards(node(SIDE_WINDOWS), 1)
    (store,) = shards.stores
    for items in range(1_000, 21_000), range(5_000, 25_000):
        shards.step([NOTHING, bundle(pane(items, 0, 20))], [0, 0])
    assert sum(len(blob) > 30_000 for blob in store.blobs.values()) == 1


def test_items_that_are_damaged_are_refused():
    shards = Shards(node(SIDE_WINDOWS), 1)
    (store,) = shards.stores
    items = [f"item {number}" for number in range(1_000)]
    shards.step([NOTHING, bundle(pane(items, 0, 20))], [0, 0])
    number, blob = max(store.blobs.items(), key=lambda entry: len(entry[1]))
    store.blobs[number] = blob[:-3] + b"xx."
    forget_items_of_this_process()
    with pytest.raises(StateError, match="side input names items that are not there, or not what"):
        shards.step([bundle(element("x", 1)), NOTHING], [0, 0])


def forget_items_of_this_process() -> None:
    for digest in [*RECENT._known]:
        RECENT.forget(digest)


def test_what_waits_holds_the_output_watermark_of_its_shard_alone():
    shards = Shards(node(SIDE_WINDOWS), 2)
    shards.step([bundle(element("x", 1)), NOTHING], [9_000, 0])
    assert sorted(shards.output_watermarks) == [1_000, 9_000]


# -- the shards and the machines in this process ------------------------------------------------


@st.composite
def happenings(draw: st.DrawFn, sides: int, *, late: bool) -> list[tuple[list[Bundle], list[int]]]:
    """Steps: what arrives from each source, and the watermark of each then."""
    watermarks = [0] * (sides + 1)
    steps = []
    for _ in range(draw(st.integers(1, 6))):
        seconds = st.lists(st.integers(0, 59), max_size=4)
        earliest = 0 if late else watermarks[0] / 1000
        times = [second for second in draw(seconds) if second >= earliest]
        main = bundle(*(element(f"e{len(steps)}-{time}", time) for time in times))
        given_sides = []
        for side in range(sides):
            span = 10 if side else 20
            starts = draw(st.lists(st.integers(0, 60 // span - 1), max_size=2, unique=True))
            given_sides.append(
                bundle(
                    *(
                        pane(
                            draw(st.lists(st.integers(0, 3), max_size=3)),
                            start * span,
                            (start + 1) * span,
                        )
                        for start in starts
                    )
                )
            )
        watermarks = [
            watermark + draw(st.sampled_from([0, 1, 5_000, 20_000])) for watermark in watermarks
        ]
        steps.append(([main, *given_sides], [*watermarks]))
    steps.append(([NOTHING] * (sides + 1), [MAX_TIMESTAMP] * (sides + 1)))
    return steps


def in_memory(looks: SideInputNode, steps: Any) -> Iterator[tuple[list[Any], Counter[Any]]]:
    worker = SideInputWorker(looks)
    for arriving, watermarks in steps:
        outputs = [*worker.take(arriving), *worker.advance_sources(watermarks)]
        lost = Counter(repr(drop.element.value) for _, drop in worker.dropped())
        yield values(out for _, came in outputs for out in came), lost


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("sides", [(SIDE_WINDOWS,), (SIDE_WINDOWS, OTHER_SIDE)])
@given(data=st.data())
def test_shards_say_what_the_machines_say_and_lose_nothing(sides: Any, count: int, data: Any):
    # Which elements are too late for a second side input depends on what waits in their shard.
    steps = data.draw(happenings(len(sides), late=count == 1 or len(sides) == 1))
    shards = Shards(node(*sides), count)
    elements = sum(len(arriving[0]) for arriving, _ in steps)
    emitted = 0
    for (arriving, watermarks), (expected, lost) in zip(
        steps, in_memory(node(*sides), steps), strict=True
    ):
        seen = len(shards.lost)
        outputs = values(shards.step(arriving, watermarks))
        assert outputs == expected
        emitted += len(outputs)
        of_elements = Counter(repr(value) for value in shards.lost[seen:] if isinstance(value, str))
        assert of_elements == Counter({what: n for what, n in lost.items() if what[0] == "'"})
    assert emitted + sum(isinstance(value, str) for value in shards.lost) == elements
