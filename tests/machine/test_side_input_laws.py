"""Laws of a main input that looks into a side input, on scenarios drawn by hypothesis."""

import pickle
from collections import Counter
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import beamlike as bl
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Drop, DropReason, Element, Pane
from beamlike.machine.side_input import Join, Main, Side, SideInputs
from beamlike.model.panes import NO_FIRING
from beamlike.model.side_inputs import side_input_window
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.windows import Window, expiry
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Output, Script, ScriptStep
from tests.support.examples import examples
from tests.support.generated.strategies import any_window_fn
from tests.support.machines.laws import Restarting, cut_bundles, in_any_order, run_lazily

law = settings(max_examples=examples(150), derandomize=True, database=None)
chance = st.randoms(use_true_random=False)

TRIGGERS = (
    bl.DefaultTrigger(),
    bl.AfterWatermark(early=bl.AfterCount(1)),
    bl.Repeatedly(bl.AfterCount(2)),
    bl.Repeatedly(bl.AfterFirst(bl.AfterWatermark(), bl.AfterCount(2))),
    bl.Never(),
)


def main(value: int, timestamp: int) -> Element:
    return Element(Main(value), timestamp)


def side(content: Any, window: Window) -> Element:
    return Element(Side(content), window.max_timestamp, window)


def pane(window: Window, value: Any, timestamp: int) -> Pane:
    return Pane(window, value, timestamp, NO_FIRING)


def any_machine(random: Random, join: Join | None = None) -> SideInputs:
    main_fn = any_window_fn(random)
    side_fn = any_window_fn(random)
    while side_fn.is_merging:
        side_fn = any_window_fn(random)
    if isinstance(main_fn, bl.GlobalWindows):
        side_fn = bl.GlobalWindows()
    lateness = random.choice((0, 0, 1, 7, 20))
    return SideInputs(
        main_fn,
        side_fn,
        lateness,
        join=join or random.choice(("left", "inner", "view")),
        side_trigger=random.choice(TRIGGERS),
        side_allowed_lateness=random.choice((None, None, 0, 15)),
    )


def any_side_window(random: Random, machine: SideInputs, near: int) -> Window:
    """A window of the side input close to an instant, where it is not in a gap."""
    windows: tuple[Window, ...] = ()
    while not windows:
        windows = machine.side_window_fn.assign(near + random.randint(-20, 20))
    return random.choice(windows)


def any_side_script(
    random: Random, machine: SideInputs, *, panes: bool = True, to_infinity: bool = True
) -> Script:
    """Main elements 0, 1, 2, ... and panes of the side input around a creeping watermark.

    In some of them the side input has a watermark of its own, before it or behind.
    """
    happens: list[ScriptStep] = []
    watermark, clock, value = -25, 0, 0
    reported, ahead = random.randrange(2), watermark
    for _ in range(14):
        kind = random.randrange(8)
        if kind <= 4:
            elements = []
            for _ in range(random.randint(1, 4)):
                if panes and random.randrange(2):
                    content = range(value, value + random.randint(0, 2))
                    element = side(content, any_side_window(random, machine, watermark))
                else:
                    element = main(value, watermark + random.randint(-12, 20))
                value += 1
                elements.append((random.choice("ab"), element))
            happens.append(Arrive(tuple(elements)))
        elif kind <= 6:
            watermark += random.choice((0, 1, 1, 3, 8, 20))
            ahead = min(ahead + random.choice((0, 0, 2, 10, 30)), MAX_TIMESTAMP)
            if random.randrange(12) == 0:
                ahead = MAX_TIMESTAMP
            side_at = ahead if reported and random.randrange(4) else None
            ahead = max(ahead, watermark) if side_at is None else ahead
            happens.append(AdvanceWatermark(watermark, side_at))
        else:
            clock += random.choice((0, 1, 4))
            happens.append(AdvanceClock(clock))
    if to_infinity:
        happens.append(AdvanceWatermark(MAX_TIMESTAMP))
    return tuple(happens)


Happened = tuple[int, str | None, Element | tuple[int, int]]
"""The step, and the key and its element, or where both inputs are: the least, and the side's."""


def one_by_one(script: Script) -> list[Happened]:
    happened: list[Happened] = []
    ahead = MIN_TIMESTAMP
    for step, happens in enumerate(script):
        if isinstance(happens, AdvanceWatermark):
            ahead = max(ahead, happens.to) if happens.side is None else happens.side
            happened.append((step, None, (min(happens.to, ahead), ahead)))
        elif isinstance(happens, Arrive):
            for key, elements in happens.by_key().items():
                happened += ((step, str(key), element) for element in elements)
    return happened


def joined(machine: SideInputs, value: Any, content: tuple[Any, ...]) -> list[Any]:
    if machine.join == "view":
        return [(value, list(content))]
    if machine.join == "left" and not content:
        return [(value, None)]
    return [(value, item) for item in content]


def seen_by_an_onlooker(machine: SideInputs, script: Script) -> Counter[str]:
    """What must come out, from looks back and ahead in the script: nothing is remembered."""
    happened = one_by_one(script)
    out: list[Output] = []
    watermark, ahead = MIN_TIMESTAMP, MIN_TIMESTAMP
    waited_for = set[int]()
    for index, (step, key, what) in enumerate(happened):
        if not isinstance(what, Element):
            watermark, ahead = what
            continue
        is_main = isinstance(what.value, Main)
        windows = machine.main_window_fn.assign(what.timestamp) if is_main else (what.window,)
        for window in windows:
            looks = side_input_window(window, machine.side_window_fn) if is_main else window
            missed_by = watermark - expiry(looks, machine.allowed_lateness)
            if missed_by > 0 and (is_main or index not in waited_for):
                out.append(Output(step, key, Drop(what, window, DropReason.EXPIRED, missed_by)))
                continue
            if not is_main:
                continue
            when, content = found(machine, happened, index, looks, ahead)
            if when is not None:
                waited_for.add(when)
                out += (
                    Output(happened[when][0], key, pane(window, value, what.timestamp))
                    for value in joined(machine, what.value.value, content)
                )
    return in_any_order(map(without_watermark, out))


def without_watermark(output: Output) -> Output:
    effect = output.effect
    if isinstance(effect, Drop):
        effect = Drop(effect.element, effect.window, effect.reason, effect.missed_by)
    return Output(output.step, output.key, effect)


def must_be_empty(machine: SideInputs, looks: Window, ahead: int) -> bool:
    """Whether nothing comes any more into a side window that got nothing."""
    lateness = machine.side_allowed_lateness
    if lateness is not None and ahead > expiry(looks, lateness):
        return True
    return ahead == MAX_TIMESTAMP or ahead > machine.side_trigger.latest_first_firing(looks)


def found(
    machine: SideInputs, happened: list[Happened], at: int, looks: Window, ahead: int
) -> tuple[int | None, tuple[Any, ...]]:
    """At which of all that happened an element finds something in the side window, and what.

    It is not too late.
    """
    _, key, _ = happened[at]

    def shown(happened: Happened) -> bool:
        return (
            happened[1] == key and isinstance(happened[2], Element) and happened[2].window == looks
        )

    before = [what.value.content for _, _, what in filter(shown, happened[:at])]
    if before:  # none was too late: the element is not, and they came before
        return at, before[-1]
    if must_be_empty(machine, looks, ahead):
        return at, ()
    for later, it in enumerate(happened[at + 1 :], at + 1):
        _, _, what = it
        if shown(it):
            return later, what.value.content
        if not isinstance(what, Element) and must_be_empty(machine, looks, what[1]):
            return later, ()
    return None, ()


@law
@given(chance)
def test_each_element_sees_what_an_onlooker_says_it_must_see(random: Random) -> None:
    machine = any_machine(random)
    script = any_side_script(random, machine)

    run = run_in_memory(machine, script)
    assert in_any_order(map(without_watermark, run.outputs)) == seen_by_an_onlooker(machine, script)


@law
@given(chance, st.booleans())
def test_each_element_comes_out_once_in_each_of_its_windows_or_is_dropped_or_waits(
    random: Random, to_infinity: bool
) -> None:
    machine = any_machine(random, join="view")
    script = any_side_script(random, machine, to_infinity=to_infinity)

    lazy = run_lazily(machine, script)
    given_in = Counter(
        (key, element.value.value, window)
        for happens in script
        if isinstance(happens, Arrive)
        for key, element in happens.elements
        if isinstance(element.value, Main)
        for window in machine.main_window_fn.assign(element.timestamp)
    )
    accounted = Counter[Any]()
    for output in lazy.outputs:
        effect = output.effect
        if isinstance(effect, Pane):
            accounted[output.key, effect.value[0], effect.window] += 1
        elif effect.element is not None and isinstance(effect.element.value, Main):
            accounted[output.key, effect.element.value.value, effect.window] += 1
    for key, state in lazy.states.items():
        for remembered in state.windows.values():
            for element in remembered.accumulator.waiting:
                accounted[key, element.value, element.window] += 1
    assert accounted == given_in
    assert lazy.states == {} or not to_infinity


@law
@given(chance)
def test_it_does_not_matter_whether_the_side_or_the_main_input_comes_first(random: Random) -> None:
    machine = any_machine(random)
    script = any_side_script(random, machine, panes=False)
    wanted = any_panes(random, machine, script)

    def run() -> Counter[str]:
        """What comes out, at whatever step, with each pane at some place before its end."""
        woven = list(script)
        for key, element in wanted:
            place = any_place_before(random, machine, woven, element)
            woven.insert(place, Arrive(((key, element),)))
        run = run_in_memory(machine, tuple(woven))
        return Counter(repr((output.key, output.effect)) for output in run.outputs)

    assert run() == run()


def any_panes(random: Random, machine: SideInputs, script: Script) -> list[tuple[str, Element]]:
    """One pane for some of the side windows of each key that elements look into."""
    looked_into = {
        (str(key), side_input_window(window, machine.side_window_fn))
        for happens in script
        if isinstance(happens, Arrive)
        for key, element in happens.elements
        for window in machine.main_window_fn.assign(element.timestamp)
    }
    return [
        (key, side([f"{key} {window} {n}" for n in range(random.randint(0, 2))], window))
        for key, window in sorted(looked_into, key=str)
        if random.randrange(4)
    ]


def any_place_before(
    random: Random, machine: SideInputs, script: list[ScriptStep], element: Element
) -> int:
    """A place in the script where no watermark is past the element's window."""
    window = element.window
    assert window is not None
    for step, _, what in one_by_one(tuple(script)):
        if isinstance(what, Element):
            continue
        if what[0] > window.max_timestamp or must_be_empty(machine, window, what[1]):
            return random.randint(0, step)
    raise AssertionError("the watermark never passes the window")


@law
@given(chance)
def test_left_and_inner_joins_are_views_taken_apart(random: Random) -> None:
    view = any_machine(random, join="view")
    script = any_side_script(random, view)
    seen = run_in_memory(view, script).outputs

    for join in ("left", "inner"):
        machine = SideInputs(
            view.main_window_fn,
            view.side_window_fn,
            view.allowed_lateness,
            join=join,
            side_trigger=view.side_trigger,
            side_allowed_lateness=view.side_allowed_lateness,
        )
        apart: list[Output] = []
        for output in seen:
            effect = output.effect
            if isinstance(effect, Drop):
                apart.append(output)
                continue
            value, items = effect.value
            for one in joined(machine, value, tuple(items)):
                whole = pane(effect.window, one, effect.timestamp)
                apart.append(Output(output.step, output.key, whole))
        assert run_in_memory(machine, script).outputs == tuple(apart)


@law
@given(chance)
def test_a_restart_before_any_event_changes_nothing(random: Random) -> None:
    machine = any_machine(random)
    script = any_side_script(random, machine)
    restarted = Restarting(machine, lambda state: pickle.loads(pickle.dumps(state)))

    assert run_in_memory(restarted, script) == run_in_memory(machine, script)


@law
@given(chance)
def test_stepping_a_key_only_when_it_is_due_changes_nothing_and_leaves_nothing(random: Random):
    machine = any_machine(random)
    script = any_side_script(random, machine)
    lazy = run_lazily(machine, script)

    eager = run_in_memory(machine, script)
    assert in_any_order(lazy.outputs) == in_any_order(eager.outputs)
    assert (lazy.states, lazy.past_wakes) == ({}, ())


@law
@given(chance)
def test_it_does_not_matter_how_arrivals_are_cut_into_bundles(random: Random) -> None:
    machine = any_machine(random)
    script = any_side_script(random, machine)
    cut, origin = cut_bundles(script, lambda: random.randint(1, 3))

    whole = run_in_memory(machine, script).outputs
    pieces = run_in_memory(machine, cut).outputs
    renumbered = tuple(Output(origin[o.step], o.key, o.effect) for o in pieces)
    assert in_any_order(renumbered) == in_any_order(whole)


@law
@given(chance)
def test_a_side_window_has_content_or_elements_that_wait_and_never_both(random: Random) -> None:
    machine = any_machine(random)
    script = any_side_script(random, machine, to_infinity=False)

    for state in run_lazily(machine, script).states.values():
        for window, remembered in state.windows.items():
            kept = remembered.accumulator
            assert (kept.content is None) == bool(kept.waiting) == remembered.end_timer_set
            holds = [element.timestamp for element in kept.waiting]
            assert remembered.element_hold == min(holds, default=None)
            if kept.waiting:
                assert state.side <= machine.empty_after(window)
            else:
                assert min(state.watermark, state.side) <= machine.last_look(window)
