"""Random functions with states and timers keep every law on every host.

``python -m tests.stateful`` searches through many more of them.
"""

from collections import Counter
from typing import Any

import pytest

from beamlike.machine.userstate import running
from beamlike.machine.userstate.call import LiveWindow
from beamlike.machine.userstate.cells import SetCell
from beamlike.model.panes import Timing
from beamlike.runtime.graph.stage import _OverWire
from beamlike.runtime.per_key import _SavedColumn
from tests.stateful.laws import LAWS
from tests.stateful.programs import Program, program_of
from tests.stateful.smaller import smallest
from tests.support.examples import examples
from tests.support.laws import Broken

PROGRAMS = examples(160)
SHARDS = PROGRAMS // 5
"""Programs on hosts that keep their state as bytes, which takes longer."""
SEED = 0
ON_SPARK = 40
OF_LOCAL, OF_RULES, OF_RESTARTS, OF_DUE_KEYS, _, _, OF_ROWS, OF_LAYERS = LAWS


def broken_by(programs: range, *laws: str) -> list[Any]:
    applied = Counter[str]()
    broken = [
        (broken_law.case.name, broken_law.law, broken_law.differences)
        for number in programs
        for broken_law in LAWS.broken(program_of(SEED, number), applied, laws)
    ]
    assert applied.keys() == {*laws}  # each has something to say of some of these
    return broken


def test_random_functions_with_states_give_on_the_local_host_what_they_give_in_memory() -> None:
    assert broken_by(range(SHARDS), OF_LOCAL) == []


def test_random_functions_with_states_follow_the_rules_as_they_are_said_once_more() -> None:
    assert broken_by(range(PROGRAMS), OF_RULES) == []


def test_random_functions_with_states_may_restart_anywhere_and_bundles_be_cut() -> None:
    assert broken_by(range(PROGRAMS), OF_RESTARTS, OF_DUE_KEYS, *[*LAWS][4:6]) == []


def test_rows_in_a_shard_that_restarts_at_every_step_give_what_pairs_give_in_memory() -> None:
    assert broken_by(range(PROGRAMS), OF_ROWS) == []


def test_random_functions_with_states_give_in_the_layers_of_spark_what_they_give_in_memory():
    assert broken_by(range(max(PROGRAMS, 60)), OF_LAYERS) == []


@pytest.mark.nightly
@pytest.mark.spark
def test_random_functions_with_states_give_on_spark_what_they_give_in_memory(spark: Any) -> None:
    from tests.stateful.on_spark import broken_on_spark

    broken = broken_on_spark([program_of(SEED, number) for number in range(ON_SPARK)], spark)

    assert [(one.case.name, one.differences) for one in broken] == []


# -- the programs are worth running ----------------------------------------------------------------


def test_the_random_functions_do_all_that_they_may() -> None:
    """Else the tests above would say little."""
    said: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    timings: Counter[Timing] = Counter()
    for number in range(70):
        program = program_of(SEED, number)
        run = program.run
        _, out = program.built
        said.update(came.element.value[1] for came in run.out_of(out.edge))
        dropped.update(it.drop.reason.value for it in run.lost if it.label == "States")
        for edge, came in run.came.items():
            if edge.node.label.startswith("Count"):
                timings.update(it.element.pane.timing for it in came)
    kinds = ("states", "moved", "event", "after", "real", "end")
    assert min(said[kind] for kind in kinds) > 30, said
    assert min(dropped[reason] for reason in ("expired", "failed")) > 30, dropped
    assert min(timings[it] for it in (Timing.ON_TIME, Timing.LATE)) > 20, timings


def test_a_number_is_a_program() -> None:
    one, other = program_of(3, 14), program_of(3, 14)
    assert (one.name, one.script, one.kind) == (other.name, other.script, other.kind)
    assert one.script != program_of(14, 3).script


# -- the laws can be broken ------------------------------------------------------------------------


def first_broken(law: str) -> Broken[Program]:
    return LAWS.first_broken(law, (program_of(SEED, number) for number in range(200)))


def test_a_machine_that_fires_at_the_instant_itself_is_found_by_the_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue = running.StatefulStep._queue_timer

    def hasty(machine: Any, window: Any, spec: Any, tag: str, timer: Any) -> None:
        watermark = machine._watermark
        machine._watermark += spec.is_event_time
        queue(machine, window, spec, tag, timer)
        machine._watermark = watermark

    monkeypatch.setattr(running.StatefulStep, "_queue_timer", hasty)

    broken = smallest(first_broken(OF_RULES))

    assert "and not " in broken.differences[0]
    assert len(broken.case.script) <= 3


def test_a_set_that_forgets_is_found_by_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SetCell, "remove", lambda cell, value: cell.clear())

    assert first_broken(OF_RULES).differences[0].startswith("outputs of ")


def test_a_timer_that_holds_nothing_is_found_by_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    known = LiveWindow.set_timer

    def careless(live: Any, spec: Any, tag: str, timer: Any) -> None:
        known(live, spec, tag, timer)
        if not spec.is_event_time:
            live.timers.pop((spec.name, tag))

    monkeypatch.setattr(LiveWindow, "set_timer", careless)

    assert first_broken(OF_RULES).law == OF_RULES


@pytest.mark.parametrize("law", [OF_LOCAL, OF_ROWS, OF_LAYERS])
def test_a_saved_state_without_its_timers_is_found_out(law: str, monkeypatch: pytest.MonkeyPatch):
    def forgetful(encode: Any) -> Any:
        return lambda column, accumulators: encode(
            column,
            [
                (*accumulator[:2], {}, accumulator[3]) if _is_saved(accumulator) else accumulator
                for accumulator in accumulators
            ],
        )

    for column in (_SavedColumn, _OverWire):
        monkeypatch.setattr(column, "encode", forgetful(column.encode))

    assert first_broken(law).differences


def _is_saved(accumulator: Any) -> bool:
    """Whether it is of a function with states, and not of the grouping behind it."""
    return isinstance(accumulator, tuple) and len(accumulator) == 4
