"""Which strategies care how their elements are bundled, and what a cut changes for those."""

import pytest

import beamlike as bl
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Script
from tests.support.machines import bundles
from tests.support.machines.laws import cut_bundles

PAIRS = (
    Arrive((("a", Element(0, 1)), ("a", Element(1, 2)), ("a", Element(2, 3)))),
    AdvanceWatermark(MAX_TIMESTAMP),
)
SINGLES, ORIGIN = cut_bundles(PAIRS, lambda: 1)

COUNTS = bl.Repeatedly(bl.AfterCount(2))
COUNTS_THEN_WAITS = bl.AfterEach(
    bl.AfterWatermark(early=bl.AfterCount(9)), bl.AfterProcessingTime(5)
)


def outputs_are_equal(strategy: bl.WindowingStrategy) -> bool:
    machine = Grouping(strategy, Collect())
    whole, pieces = (run_in_memory(machine, script).outputs for script in (PAIRS, SINGLES))
    return bundles.by_content(pieces, ORIGIN) == bundles.by_content(whole, range(len(PAIRS)))


def contents_are_equal(strategy: bl.WindowingStrategy) -> bool:
    machine = Grouping(strategy, Collect())
    whole, pieces = (run_in_memory(machine, script) for script in (PAIRS, SINGLES))
    return bundles.final_contents(strategy, pieces) == bundles.final_contents(strategy, whole)


@pytest.mark.parametrize(
    ("strategy", "patient", "keeps"),
    [
        (bl.WindowingStrategy(bl.FixedWindows(10), bl.DefaultTrigger()), True, True),
        (bl.WindowingStrategy(bl.Sessions(10), bl.DefaultTrigger()), True, True),
        (bl.WindowingStrategy(bl.FixedWindows(10), COUNTS, "accumulating"), False, True),
        (bl.WindowingStrategy(bl.Sessions(10), COUNTS, "retracting"), False, True),
        (bl.WindowingStrategy(bl.FixedWindows(10), bl.AfterCount(1)), False, False),
    ],
    ids=str,
)
def test_cuts_show_in_the_panes_of_some_and_in_the_final_contents_of_fewer(
    strategy: bl.WindowingStrategy, patient: bool, keeps: bool
) -> None:
    assert (bundles.is_patient(strategy), bundles.keeps_contents(strategy)) == (patient, keeps)
    assert (outputs_are_equal(strategy), contents_are_equal(strategy)) == (patient, keeps)


@pytest.mark.parametrize(
    ("strategy", "patient", "keeps"),
    [
        (bl.WindowingStrategy(bl.FixedWindows(10), bl.Always()), False, True),
        (bl.WindowingStrategy(bl.Sessions(10), bl.AfterCount(1)), False, False),
        (bl.WindowingStrategy(bl.FixedWindows(10), bl.AfterWatermark()), True, False),
        (bl.WindowingStrategy(bl.Sessions(10), bl.AfterWatermark()), False, False),
        (bl.WindowingStrategy(bl.Sessions(10), bl.Repeatedly(COUNTS_THEN_WAITS)), False, True),
        (bl.WindowingStrategy(bl.Sessions(10, max_duration=20)), False, False),
        (bl.WindowingStrategy(bl.Sessions(10, max_elements=2)), False, False),
        (bl.WindowingStrategy(bl.Sessions(10, merge_touching=True)), True, True),
        (bl.WindowingStrategy(bl.Sessions(10), late_check="merged"), True, False),
        (bl.WindowingStrategy(bl.Sessions(10), late_check="retain"), True, True),
        (bl.WindowingStrategy(bl.FixedWindows(10), late_check="merged"), True, True),
    ],
    ids=str,
)
def test_which_strategies_do_not_care(strategy: bl.WindowingStrategy, patient: bool, keeps: bool):
    assert (bundles.is_patient(strategy), bundles.keeps_contents(strategy)) == (patient, keeps)


def test_keys_apart_gives_each_key_a_step_and_says_where_it_was() -> None:
    one, two, three = (Element(value, 0) for value in range(3))
    script = (AdvanceWatermark(0), Arrive((("a", one), ("b", two), ("a", three))), Arrive(()))

    assert bundles.keys_apart(script) == (
        (AdvanceWatermark(0), Arrive((("a", one), ("a", three))), Arrive((("b", two),))),
        [0, 1, 1],
    )


@pytest.mark.parametrize(
    ("watermark", "kept"), [(9, ["in time", "in time too"]), (10, ["in time too"]), (20, [])]
)
def test_only_elements_of_open_windows_are_kept(watermark: int, kept: list[str]) -> None:
    elements = (("a", Element("in time", 9)), ("a", Element("in time too", 10)))
    script: Script = (AdvanceWatermark(watermark), Arrive(elements))

    _, left = bundles.while_open(script, bl.FixedWindows(10))

    assert isinstance(left, Arrive)
    assert [element.value for _, element in left.elements] == kept


@pytest.mark.parametrize(
    ("mode", "contents"),
    [
        # One pane of each bundle, the last one empty: what is counted is what was new.
        ("discarding", {("a", bl.FixedWindows(10).assign(0)[0], value): 1 for value in range(3)}),
        ("accumulating", {("a", bl.FixedWindows(10).assign(0)[0], (0, 1, 2)): 1}),
        ("retracting", {("a", bl.FixedWindows(10).assign(0)[0], (0, 1, 2)): 1}),
    ],
)
def test_final_contents_are_the_last_word_on_a_window(mode: str, contents: object) -> None:
    strategy = bl.WindowingStrategy(bl.FixedWindows(10), bl.Always(), mode)
    run = run_in_memory(Grouping(strategy, Collect()), SINGLES)

    assert len(run.panes) > 3
    assert bundles.final_contents(strategy, run) == contents
