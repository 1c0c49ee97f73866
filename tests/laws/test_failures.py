"""What a function of the user's raises for is dropped, and nothing else is lost or changed."""

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

import beamlike as bl
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Drop, DropReason, Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.windows import Window
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Output, Run, Script, with_elements
from tests.support.examples import examples
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import any_strategy, any_trigger, any_window_fn
from tests.support.machines.laws import in_any_order, run_lazily

law = settings(max_examples=examples(200), derandomize=True, database=None)
chance = st.randoms(use_true_random=False)


@attrs.frozen
class Unlucky(Collect):
    """Collects, and raises at a method when it meets a multiple of a number."""

    method: str = "add"
    number: int = 5

    def check(self, method: str, values: Sequence[Any]) -> None:
        if self.method == method and any(value % self.number == 0 for value in values):
            raise ValueError(f"a multiple of {self.number}")

    def add(self, accumulator, values, timestamps):
        self.check("add", values)
        return super().add(accumulator, values, timestamps)

    def merge(self, first, second):
        self.check("merge", second)
        return super().merge(first, second)

    def compact(self, accumulator):
        self.check("compact", accumulator)
        return accumulator

    def extract(self, accumulator):
        self.check("extract", accumulator)
        return super().extract(accumulator)


@attrs.frozen
class Homeless(bl.WindowFn):
    """A window function that raises for multiples of a number."""

    window_fn: bl.WindowFn
    number: int = 5

    def assign(self, timestamp: int, value: Any = None) -> tuple[Window, ...]:
        if value % self.number == 0:
            raise LookupError(value)
        return self.window_fn.assign(timestamp, value)


def discarding(random: Random, window_fn: bl.WindowFn | None = None) -> bl.WindowingStrategy:
    window_fn = window_fn or any_window_fn(random)
    if isinstance(window_fn, bl.Sessions) and random.randrange(3) == 0:
        window_fn = bl.Sessions(window_fn.gap, max_elements=random.randint(1, 4))
    return bl.WindowingStrategy(
        window_fn,
        any_trigger(random),
        "discarding",
        random.choice((0, 1, 7, 20)),
        closing_behavior=random.choice(("fire_always", "fire_if_non_empty")),
        late_check=random.choice([check.value for check in bl.LateCheck]),
    )


def elements_of(script: Script) -> list[tuple[Any, Element]]:
    return [pair for step in script if isinstance(step, Arrive) for pair in step.elements]


def lost(outputs: Sequence[Output]) -> Counter[DropReason]:
    reasons: Counter[DropReason] = Counter()
    for output in outputs:
        if isinstance(output.effect, Drop):
            reasons[output.effect.reason] += output.effect.count
    return reasons


def in_panes(run: Run) -> int:
    return sum(len(o.effect.value) for o in run.outputs if isinstance(o.effect, Pane))


@law
@given(chance, st.sampled_from(["add", "merge", "compact", "extract"]), st.integers(1, 5))
def test_at_the_end_every_element_was_emitted_or_dropped_in_each_of_its_windows(
    random: Random, method: str, number: int
):
    strategy, script = discarding(random), any_script(random)
    run = run_in_memory(Grouping(strategy, Unlucky(True, method, number), "drop"), script)
    expected = sum(
        len(strategy.window_fn.assign(element.timestamp, element.value))
        for _, element in elements_of(script)
    )
    assert in_panes(run) + lost(run.outputs).total() == expected


@law
@given(chance, st.integers(1, 5))
def test_what_the_window_function_cannot_take_is_as_if_it_had_not_come(random: Random, number: int):
    window_fn = any_window_fn(random)
    if window_fn.is_merging:
        window_fn = bl.Sessions(7)
        broken: bl.WindowFn = bl.Sessions(seven_but_not_for(number))
    else:
        broken = Homeless(window_fn, number)
    trigger, script = any_trigger(random), any_script(random)
    run = run_in_memory(
        Grouping(bl.WindowingStrategy(broken, trigger, "discarding", 7), Collect(), "drop"), script
    )
    spared = with_elements(script, lambda key, it: (key, it) if it.value % number else None)
    machine = Grouping(bl.WindowingStrategy(window_fn, trigger, "discarding", 7), Collect())
    assert not_failed(run) == in_any_order(run_in_memory(machine, spared).outputs)
    multiples = [element for _, element in elements_of(script) if element.value % number == 0]
    assert lost(run.outputs)[DropReason.FAILED] == len(multiples)


def seven_but_not_for(number: int):
    def gap_of(value: int) -> int:
        return 7 // min(1, value % number)

    return gap_of


@law
@given(chance, st.integers(1, 5))
def test_what_cannot_be_added_is_as_if_it_had_not_come(random: Random, number: int):
    # In one window each, for an element may be late for one window and fail in another.
    window_fn = any_window_fn(random)
    if isinstance(window_fn, bl.SlidingWindows):
        window_fn = bl.FixedWindows(window_fn.size)
    strategy = any_strategy(random, window_fn=window_fn).configured(late_check="assigned")
    script = any_script(random)
    run = run_in_memory(Grouping(strategy, Unlucky(True, "add", number), "drop"), script)
    failed = {
        (output.step, output.key, output.effect.element.value)
        for output in run.outputs
        if isinstance(output.effect, Drop) and output.effect.reason is DropReason.FAILED
    }
    spared = tuple(
        Arrive(
            tuple(pair for pair in step.elements if (index, pair[0], pair[1].value) not in failed)
        )
        if isinstance(step, Arrive)
        else step
        for index, step in enumerate(script)
    )
    reference = run_in_memory(Grouping(strategy, Collect()), spared)
    assert not_failed(run) == in_any_order(reference.outputs)


def not_failed(run: Run) -> Counter[str]:
    return in_any_order(
        output
        for output in run.outputs
        if not isinstance(output.effect, Drop) or output.effect.reason is not DropReason.FAILED
    )


@law
@given(chance, st.sampled_from(["add", "merge", "compact", "extract"]))
def test_failures_do_not_depend_on_the_host_and_wake_no_key_in_the_past(
    random: Random, method: str
):
    machine = Grouping(discarding(random), Unlucky(True, method, 3), "drop")
    script = any_script(random)
    eager, lazy = run_in_memory(machine, script), run_lazily(machine, script)
    assert in_any_order(lazy.outputs) == in_any_order(eager.outputs)
    assert (lazy.states, lazy.past_wakes) == ({}, ())


def test_every_method_is_seen_to_fail_in_these_laws():
    strategy = bl.WindowingStrategy(bl.Sessions(10), bl.Repeatedly(bl.AfterCount(2)), "discarding")
    one = [Arrive((("k", Element(value, at)),)) for value, at in ((1, 0), (3, 18), (4, 9))]
    script = (*one, AdvanceClock(1), AdvanceWatermark(MAX_TIMESTAMP))
    for method in ("add", "merge", "compact", "extract"):
        run = run_in_memory(Grouping(strategy, Unlucky(True, method, 3), "drop"), script)
        assert lost(run.outputs)[DropReason.FAILED] > 0, method
        assert run.clocks()[0] == (MIN_TIMESTAMP, 0)
