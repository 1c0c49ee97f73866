"""The states and timers of functions in saved state are read, and nothing of them is run."""

import json
import pickle
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest

import beamlike as bl
from beamlike.api.pipelines.coders import FloatCoder, PickleCoder, StrUtf8Coder, VarIntCoder
from beamlike.cli.state_json import document
from beamlike.cli.state_text import listing
from beamlike.errors import StateError
from beamlike.inspect.state.choice import choose
from beamlike.inspect.state.function_state import (
    SavedCell,
    SavedFunction,
    SavedTimer,
    Specs,
    read_plain,
)
from beamlike.inspect.state.report import SavedState
from beamlike.inspect.state.shard import SavedShard
from beamlike.inspect.state.stage import SavedStage, times_in_ms
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model import state_specs
from beamlike.runtime.memory import MemoryStage
from beamlike.runtime.script import Arrive
from tests.stateful.programs import Program, program_of
from tests.stateful.rows import run_as_rows, run_rows
from tests.support.machines.in_shard import DictStore


def specs(
    states: Iterable[state_specs.StateSpec], timers: Iterable[state_specs.TimerSpec] = ()
) -> Specs:
    words = ", ".join(sorted(state.state_identity for state in states)) or "none"
    return Specs(words, ", ".join(sorted(timer.state_identity for timer in timers)) or "none")


def saved(cells: Any = (), timers: Any = (), waiting: Any = ()) -> bytes:
    return pickle.dumps((("ann",), dict(cells), dict(timers), tuple(waiting)))


def pickled(value: Any) -> bytes:
    return pickle.dumps(value)


# -- one window ------------------------------------------------------------------------------------


def test_each_kind_of_state_is_shown_by_its_values():
    any_value, number = PickleCoder(), VarIntCoder()
    known = specs(
        (
            state_specs.ReadModifyWriteStateSpec("last", any_value),
            state_specs.BagStateSpec("bag, of: all", FloatCoder()),
            state_specs.SetStateSpec("set", StrUtf8Coder()),
            state_specs.MapStateSpec("map", StrUtf8Coder(), number),
            state_specs.OrderedListStateSpec("ordered", any_value),
        )
    )
    floats = tuple(map(FloatCoder().encode, (0.5, 2.0)))
    read = known.read(
        saved(
            {
                "last": pickled([1, "two"]),
                "bag, of: all": floats,
                "set": (b"tea", "müsli".encode()),
                "map": ((b"a", number.encode(7)), (b"b", number.encode(-1))),
                "ordered": ((5, pickled("x")), (9, pickled(None))),
            }
        )
    )
    assert read.timers == read.waiting == ()
    assert [attrs.astuple(cell)[:4] for cell in read.cells] == [
        ("bag, of: all", "bag", [0.5, 2.0], 2),
        ("last", "value", [1, "two"], 1),
        ("map", "map", [("a", 7), ("b", -1)], 2),
        ("ordered", "ordered list", [(5, "x"), (9, None)], 2),
        ("set", "set", ["tea", "müsli"], 2),
    ]
    assert next(cell.bytes for cell in read.cells) == 16


def test_timers_are_shown_in_the_order_in_which_they_fire():
    known = specs((), (state_specs.TimerSpec("quiet"), state_specs.TimerSpec("real", "REAL_TIME")))
    timers = {("real", "b"): (3, 9), ("quiet", ""): (8, None), ("quiet", "a"): (7, 5)}
    assert known.read(saved(timers=timers)) == SavedFunction(
        (),
        (
            SavedTimer("quiet", "a", "event", 7, 5),
            SavedTimer("quiet", "", "event", 8, None),
            SavedTimer("real", "b", "processing", 3, 9),
        ),
        (),
    )


def test_what_a_coder_of_the_users_own_made_stays_bytes():
    known = Specs("own: value Coded(secret=1)", "none")
    (cell,) = known.read(saved({"own": b"\x00\x01"})).cells
    assert cell == SavedCell("own", "value", b"\x00\x01", 1, 2)
    (damaged,) = Specs("n: value FloatCoder()", "none").read(saved({"n": b"\x01"})).cells
    assert damaged.value == b"\x01"


def test_a_state_that_the_identity_does_not_name_has_no_kind():
    (cell,) = Specs("none", "none").read(saved({"x": (b"1", b"2")})).cells
    assert (cell.kind, cell.value, cell.items) == (None, [b"1", b"2"], 2)


# -- no code is run --------------------------------------------------------------------------------


class Evil:
    def __reduce__(self) -> Any:
        return subprocess.check_call, (["touch", "/nonexistent/evil"],)


@attrs.define
class Point:
    x: int
    more: list[int]


class Growing(list[int]):
    """A list of one's own, to which its pickle adds."""


def test_an_object_of_a_class_shows_its_name_and_nothing_of_it_runs():
    module = __name__
    read = read_plain(pickled({"evil": Evil(), "point": Point(1, [2]), "grows": Growing([3])}))
    assert {name: repr(it) for name, it in read.items()} == {
        "evil": "<subprocess.check_call>",
        "point": f"<{module}.Point>",
        "grows": f"<{module}.Growing>",
    }


def test_plain_values_are_themselves():
    when = datetime(2026, 1, 1, tzinfo=UTC)
    plain = {"a": [1, 2.5, None], ("t",): {3, 4}, "when": when, b"b": frozenset({"x"})}
    assert read_plain(pickled(plain)) == plain


@pytest.mark.parametrize("blob", [b"", b"no pickle", pickled((1, 2)), pickled((1, 2, 3, 4))])
def test_what_is_no_saved_window_is_refused_by_name(blob: bytes) -> None:
    with pytest.raises(StateError, match="the checkpoint is damaged: open a copy of it"):
        Specs("none", "none").read(blob)


# -- whatever a function has done ------------------------------------------------------------------


def at_rest(program: Program) -> SavedStage:
    """A random program as rows in a shard, after its last step."""
    _, store = run_as_rows(program)
    return stage_of(store)


def stage_of(store: DictStore) -> SavedStage:
    assert store.index is not None
    return SavedStage("visits", 0, (SavedShard.of(0, 0, {-1: store.index, **store.blobs}),))


@pytest.mark.parametrize("number", range(40))
def test_the_tables_show_what_the_machine_remembers(number: int) -> None:
    program = program_of(7, number)
    script = program.script[:-1] if program.ends else program.script
    program = attrs.evolve(program, script=script)
    stage = at_rest(program)
    machine, memory = program.machine, MemoryStage(program.machine)
    for step in program.for_machine:
        memory.play(step)
    found = dict[Any, Any]()
    for row, function in zip(
        times_in_ms(stage.windows).to_pylist(), stage.functions or (), strict=True
    ):
        timers = {(timer.name, timer.tag): (timer.at, timer.output) for timer in function.timers}
        sizes = {cell.name: cell.items for cell in function.cells}
        place = row["key"], row["start"], row["end"]
        found[place] = (timers, sizes, function.waiting, row["due_clock"])
    assert found == {
        (key, window.start, window.end): (
            dict(it.accumulator[2]),
            {name: 1 if isinstance(cell, bytes) else len(cell) for name, cell in cells.items()},
            tuple(sorted(at for at, _ in it.accumulator[3])),
            min(it.processing_timers, default=None),
        )
        for key, state in memory.states.items()
        for window, it in state.windows.items()
        for cells in [it.accumulator[1]]
        if window.start >= -(2**52)
    } | {place: it for place, it in found.items() if place[1] is None}
    dues = [at for at in times_in_ms(stage.windows)["due_event"].to_pylist() if at is not None]
    nexts = [machine.next_timers(state).event for state in memory.states.values()]
    if dues:
        assert min(dues) - 1 == min(it for it in nexts if it is not None)


# -- as it is listed -------------------------------------------------------------------------------


class Visits:
    """Keeps numbers until a user is quiet."""

    numbers, first, sorts = bl.state("list"), bl.state(), bl.state("map")
    quiet, idle = bl.timer("event"), bl.timer("processing")

    def process(
        self, row: Any, timestamp: Any, numbers: Any, first: Any, sorts: Any, quiet: Any, idle: Any
    ) -> None:
        numbers.add(row.number)
        if first.read() is None:
            first.write({"at": timestamp, "row": row})
        sorts.put("odd" if row.number % 2 else "even", row.number)
        quiet.set(timestamp + timedelta(seconds=10), f"page {row.number}")
        idle.offset(timedelta(seconds=5)).set_relative()

    def on_quiet(self) -> None:
        pass

    def on_idle(self) -> None:
        pass


@pytest.fixture
def visits() -> SavedState:
    """Two rows of ann in a minute."""
    rows = tuple(("ann", Element(number, 1_000 * number)) for number in (3, 4))
    strategy = bl.WindowingStrategy(bl.FixedWindows("1 minute"))
    _, store = run_rows(
        Visits(), strategy, "drop", (AdvanceClock(60_000), Arrive(rows), AdvanceWatermark(3_500))
    )
    no_spark: Any = None
    return SavedState("visits", 0, (0, 0), (stage_of(store),), no_spark)


def test_a_window_of_a_function_is_listed_with_the_timer_that_fires_next(visits: SavedState):
    *_, header, line = listed(visits, in_full=False)
    assert header.split() == (
        ["key", "window", "new", "last", "pane", "watermark", "clock", "bytes", "waits", "for"]
    )
    assert line.startswith("ann  [00:00:00, 00:01:00)")
    assert line.endswith("timer 'quiet' ('page 3') and 2 timers more")
    assert "00:00:13.001  00:01:05" in line


def test_a_key_of_a_function_is_shown_with_its_states_and_timers(visits: SavedState):
    lines = listed(visits, in_full=True)
    at = lines.index("key ann, [00:00:00, 00:01:00)")
    size = next(line for line in lines[at:] if line.startswith("  size"))
    assert lines[at:] == [
        "key ann, [00:00:00, 00:01:00)",
        "  stage           visits, shard 0",
        "  holds back      the output watermark at 00:00:04",
        "  changes when    the watermark reaches 00:00:13.001, or the clock passes 00:01:05",
        size,
        "  states",
        "    first, value  {'at': datetime.datetime(1970, 1, 1, 0, 0, 3, tzinfo=datetime.timezone"
        ".utc), 'row': <pyspark.sql.types._create_row>}",
        "    numbers, bag  [3, 4]",
        "    sorts, map    [('odd', 3), ('even', 4)]",
        "  timers",
        "    timer 'quiet' ('page 3')  fires once the watermark is past 00:00:13, holds the output "
        "watermark at 00:00:13",
        "    timer 'quiet' ('page 4')  fires once the watermark is past 00:00:14, holds the output "
        "watermark at 00:00:14",
        "    timer 'idle'              fires once the clock is past 00:01:05, holds the output "
        "watermark at 00:00:04",
        "",
    ]


def test_a_document_has_states_and_timers_too(visits: SavedState):
    text = "".join(document(visits, (), choose(visits), None, unpickle=False))
    (window,) = json.loads(text)["windows"]
    assert window["timers"][0] == {
        "name": "quiet",
        "tag": "page 3",
        "domain": "event",
        "at": "1970-01-01T00:00:13.000Z",
        "output": "1970-01-01T00:00:13.000Z",
    }
    assert [(it["name"], it["kind"], it["items"]) for it in window["states"]] == [
        *(("first", "value", 1), ("numbers", "bag", 2), ("sorts", "map", 2))
    ]
    assert (window["states"][1]["value"], window["waiting"]) == ([3, 4], [])


def test_states_and_timers_are_tables(visits: SavedState):
    cells, timers = visits.cells.to_pylist(), times_in_ms(visits.timers).to_pylist()
    assert [(cell["key"], cell["state"], cell["kind"], cell["items"]) for cell in cells] == [
        *(("ann", "first", "value", 1), ("ann", "numbers", "bag", 2), ("ann", "sorts", "map", 2))
    ]
    assert cells[1]["value"] == "[3, 4]"
    assert [
        (
            timer["stage"],
            timer["start"],
            timer["timer"],
            timer["tag"],
            timer["domain"],
            timer["at"],
            timer["output"],
        )
        for timer in timers
    ] == [
        ("visits", 0, "quiet", "page 3", "event", 13_000, 13_000),
        ("visits", 0, "quiet", "page 4", "event", 14_000, 14_000),
        ("visits", 0, "idle", "", "processing", 65_000, 4_000),
    ]


def listed(state: SavedState, *, in_full: bool) -> list[str]:
    places = choose(state)
    return [*listing(state, (), places, of=1, sort="oldest", in_full=in_full, unpickle=False)]
