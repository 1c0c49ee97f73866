"""A recorded run: what every window remembered and waited for, step by step."""

from collections.abc import Sequence
from random import Random
from typing import Any

import attrs
import pytest

import beamlike as bl
from beamlike.errors import RecordingError
from beamlike.machine.events import (
    AdvanceClock,
    AdvanceWatermark,
    Bundle,
    Drop,
    Element,
    Fired,
    Merged,
)
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.running import Now, TriggerNode, TriggerView
from beamlike.machine.reference.state import KeyState, TriggerState
from beamlike.machine.reference.step import Grouping
from beamlike.machine.ungrouped import PassThrough
from beamlike.model.combine import Collect, Count, Sum
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.triggers import AfterWatermark
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Run, ScriptStep
from beamlike.viz.explain import explain
from beamlike.viz.moments import WindowView
from beamlike.viz.recording import Recording
from tests.support.generated.scenarios import any_scenario

MINUTE = bl.IntervalWindow(0, 60_000)
MINUTES = bl.FixedWindows("1 minute")
TO_INFINITY = AdvanceWatermark(MAX_TIMESTAMP)


def record(strategy: bl.WindowingStrategy, combine: bl.CombineFn, *script: ScriptStep) -> Recording:
    return Recording.of(run_in_memory(Grouping(strategy, combine), script), strategy, combine)


def arrive(key: str, *elements: tuple[int, Any]) -> Arrive:
    return Arrive(tuple((key, Element(value, at)) for at, value in elements))


# -- what is recorded ----------------------------------------------------------------------------

EARLY_AND_LATE = bl.WindowingStrategy(
    MINUTES,
    AfterWatermark(early=bl.AfterProcessingTime("10 s"), late=bl.AfterCount(2)),
    "accumulating",
    "1 minute",
)


def test_every_step_keeps_the_clocks_the_windows_and_what_came_of_it() -> None:
    recording = record(
        EARLY_AND_LATE,
        Sum(),
        arrive("a", (5_000, 1)),
        AdvanceClock(10_001),
        AdvanceWatermark(60_000),
        arrive("a", (6_000, 2)),
        AdvanceWatermark(120_000),
    )

    passed, came = "the clock has passed {time}", "at least 2 elements have come"

    def tree(early: tuple[Any, ...], late: tuple[Any, ...], **root: Any) -> TriggerView:
        subs = (
            TriggerView("AfterWatermark.early", "AfterProcessingTime(10s)", *early, (), passed),
            TriggerView("AfterWatermark.late", "AfterCount(2)", *late, (), came),
        )
        return TriggerView("AfterWatermark", "AfterWatermark", subs=subs, **root)

    its_turn = (False, False, "its turn")
    done = (True, False, "nothing: it has finished")
    last_early = bl.PaneInfo(bl.Timing.EARLY, 0, -1, True, False)
    on_time = bl.PaneInfo(bl.Timing.ON_TIME, 1, 0, False, False)
    end = "the watermark to reach 00:01:00"
    no_late = "2 more elements (0 of 2)"
    assert [moment.windows["a"] for moment in recording.moments] == [
        (
            WindowView(
                MINUTE,
                closed=False,
                trigger=tree(
                    (False, False, "the clock to pass 00:00:10"),
                    its_turn,
                    finished=False,
                    ready=False,
                    waits_for=f"{end} or the clock to pass 00:00:10",
                ),
                waiting=1,
                last_pane=None,
                expires=119_999,
                next_timers=NextTimers(59_999, 10_000),
            ),
        ),
        (
            WindowView(
                MINUTE,
                closed=False,
                trigger=tree(
                    (False, False, "an element to count the time from"),
                    its_turn,
                    finished=False,
                    ready=False,
                    waits_for=f"{end} or an element to count the time from",
                ),
                waiting=0,
                last_pane=last_early,
                expires=119_999,
                next_timers=NextTimers(59_999, None),
            ),
        ),
        (
            WindowView(
                MINUTE,
                closed=False,
                trigger=tree(
                    done, (False, False, no_late), finished=False, ready=False, waits_for=no_late
                ),
                waiting=0,
                last_pane=on_time,
                expires=119_999,
                next_timers=NextTimers(119_999, None),
            ),
        ),
        (
            WindowView(
                MINUTE,
                closed=False,
                trigger=tree(
                    done,
                    (False, False, "1 more element (1 of 2)"),
                    finished=False,
                    ready=False,
                    waits_for="1 more element (1 of 2)",
                ),
                waiting=1,
                last_pane=on_time,
                expires=119_999,
                next_timers=NextTimers(119_999, None),
            ),
        ),
        (),
    ]
    assert [(m.watermark, m.clock, m.output_watermark) for m in recording.moments] == [
        (MIN_TIMESTAMP, 0, MIN_TIMESTAMP),
        (MIN_TIMESTAMP, 10_001, MIN_TIMESTAMP),
        (60_000, 10_001, 60_000),
        (60_000, 10_001, 60_000),
        (120_000, 10_001, 120_000),
    ]
    assert [m.event for m in recording.moments] == list(recording.run.script)
    assert [[str(reported.happening) for reported in m.trace] for m in recording.moments] == [
        [],
        [f"{MINUTE} fired EARLY #0 by AfterWatermark.early[AfterProcessingTime(10s)]"],
        [f"{MINUTE} fired ON_TIME #1 by AfterWatermark[end of window]"],
        [],
        [f"{MINUTE} fired LATE #2 by expiry of the window"],
    ]
    assert [[output.effect.value for output in m.outputs] for m in recording.moments] == [
        [],
        [1],
        [1],
        [],
        [3],
    ]


def test_a_recording_of_one_key_keeps_the_steps_and_leaves_out_the_others() -> None:
    strategy = bl.WindowingStrategy(MINUTES)
    both = Arrive((("a", Element(1, 0)), ("b", Element(2, 0)), ("a", Element(3, 0))))
    recording = record(strategy, Sum(), both, arrive("b", (1, 4)), TO_INFINITY)

    mine = recording.of_key("a")

    assert recording.keys == ("a", "b")
    assert mine.keys == ("a",)
    assert mine.run.script == (arrive("a", (0, 1), (0, 3)), Arrive(()), TO_INFINITY)
    assert [(o.step, o.key, o.effect.value) for o in mine.run.outputs] == [(2, "a", 4)]
    assert [(reported.step, reported.key) for reported in mine.run.trace] == [(2, "a")]
    assert [tuple(moment.windows) for moment in mine.moments] == [("a",)] * 3
    assert [moment.watermark for moment in mine.moments] == [MIN_TIMESTAMP] * 2 + [MAX_TIMESTAMP]


@pytest.mark.parametrize(
    ("keys", "asked", "message"),
    [
        ((), "joe", "there is no key 'joe': no element came, of any key"),
        (("ann",), "joe", "there is no key 'joe'; the only key is 'ann'"),
        (("jo", "joel", "mary"), "joe", "there is no key 'joe'; the nearest are 'joel', 'jo'"),
        ((1, 2), "1", "there is no key '1'; the nearest is 1"),
        (
            tuple("abcdefg"),
            "xyz",
            "there is no key 'xyz'; there are 'a', 'b', 'c', 'd', 'e' and 2 more",
        ),
    ],
)
def test_a_key_that_did_not_come_is_refused_with_the_nearest(
    keys: Sequence[Any], asked: str, message: str
) -> None:
    recording = record(
        bl.WindowingStrategy(MINUTES), Count(), *(Arrive(((key, Element(0, 0)),)) for key in keys)
    )

    with pytest.raises(RecordingError) as refused:
        recording.of_key(asked)

    assert str(refused.value) == message


# -- runs from elsewhere ---------------------------------------------------------------------


def run_of_two_keys() -> Run:
    both = Arrive((("a", Element(1, 0)), ("b", Element(2, 1)), ("a", Element(3, 2))))
    return run_in_memory(Grouping(EARLY_AND_LATE, Collect()), (both, AdvanceWatermark(60_000)))


def test_a_run_without_a_story_gets_one_whatever_the_order_of_keys_and_of_lists() -> None:
    reported = run_of_two_keys()
    a, b = reported.outputs
    unordered = attrs.evolve(a, effect=attrs.evolve(a.effect, value=[3, 1]))
    elsewhere = Run(reported.script, (b, unordered))

    recording = Recording.of(elsewhere, EARLY_AND_LATE, Collect())

    assert recording.run == Run(reported.script, (unordered, b), reported.trace)
    assert recording.moments[1].outputs == (unordered, b)


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (
            lambda a, b: (a,),
            "the ON_TIME pane 0 [2] of key 'b', window [00:00:00, 00:01:00), came out of the "
            "replay, and not of the run",
        ),
        (
            lambda a, b: (a, b, b),
            "the ON_TIME pane 0 [2] of key 'b', window [00:00:00, 00:01:00), came out of the "
            "run, and not of the replay",
        ),
        (
            lambda a, b: (attrs.evolve(a, effect=attrs.evolve(a.effect, value=[1])), b),
            "the ON_TIME pane 0 [1, 3] of key 'a', window [00:00:00, 00:01:00), came out of the "
            "replay, and not of the run",
        ),
    ],
)
def test_a_run_that_does_not_happen_again_is_refused_with_the_first_difference(
    change: Any, difference: str
) -> None:
    run = run_of_two_keys()

    with pytest.raises(RecordingError) as refused:
        Recording.of(attrs.evolve(run, outputs=change(*run.outputs)), EARLY_AND_LATE, Collect())

    assert str(refused.value) == (
        "the run cannot be shown step by step, because it does not happen again in memory: in "
        f"step 1 {difference}; give the strategy and the aggregation that the run had, and "
        "functions that always give the same answer"
    )


def test_what_passed_by_ungrouped_has_no_windows_to_look_at() -> None:
    run = run_in_memory(PassThrough(MINUTES), (arrive("a", (1, "x")), TO_INFINITY))

    recording = Recording.of(run, bl.WindowingStrategy(MINUTES), None)

    assert [moment.windows for moment in recording.moments] == [{"a": ()}, {"a": ()}]
    assert [len(moment.outputs) for moment in recording.moments] == [1, 0]


def test_nan_is_one_key_whatever_object_it_is() -> None:
    """Another process gives back another object, inside a tuple too."""
    nan = float("nan")
    for key, again in ((nan, float("nan")), ((nan, 1), (float("nan"), 1))):
        strategy = bl.WindowingStrategy(MINUTES)
        script = (Arrive(((key, Element("x", 1)), ("b", Element("y", 1)))), TO_INFINITY)
        here = run_in_memory(Grouping(strategy, Count()), script)
        elsewhere = attrs.evolve(
            here,
            outputs=tuple(
                attrs.evolve(output, key=again if output.key is key else output.key)
                for output in here.outputs
            ),
        )

        recording = Recording.of(elsewhere, strategy, Count())
        mine = recording.of_key(again)

        assert [shown for shown in recording.keys if shown is key] == [key]
        assert [output.effect.value for output in mine.run.outputs] == [1]
        assert [it.step for it in mine.run.trace] == [1]
        assert [view.window for view in mine.moments[0].windows[key]] == [MINUTE]
        assert "emits its last pane, ON_TIME 0: 1" in str(explain(recording, again))


# -- what a trigger says of itself ---------------------------------------------------------------


def waits(trigger: bl.Trigger, *script: ScriptStep) -> list[str]:
    """What each node waits for at the end, after its path."""
    last = record(bl.WindowingStrategy(MINUTES, trigger), Count(), *script).moments[-1]
    ((window,),) = last.windows.values()
    return [f"{node.path}: {node.waits_for}" for node in window.trigger.walk()]


ONE = arrive("a", (0, 0))


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        (bl.Never(), ["Never: nothing: it can never fire"]),
        (bl.Always(), ["Always: the next element: it is ready"]),
        (bl.AfterCount(3), ["AfterCount(3): 2 more elements (1 of 3)"]),
        (bl.AfterCount(1), ["AfterCount(1): nothing: it has finished"]),
        (
            bl.AfterFirst(bl.Never(), bl.AfterCount(3), AfterWatermark()),
            [
                "AfterFirst: 2 more elements (1 of 3) or the watermark to reach 00:01:00",
                "AfterFirst.1: nothing: it can never fire",
                "AfterFirst.2: 2 more elements (1 of 3)",
                "AfterFirst.3: the watermark to reach 00:01:00",
            ],
        ),
        (
            bl.AfterAll(
                bl.AfterCount(1),
                bl.AfterFirst(bl.AfterCount(3), AfterWatermark()),
                bl.AfterCount(2),
            ),
            [
                "AfterAll: (2 more elements (1 of 3) or the watermark to reach 00:01:00) and "
                "1 more element (1 of 2)",
                "AfterAll.1: nothing more: it is ready",
                "AfterAll.2: 2 more elements (1 of 3) or the watermark to reach 00:01:00",
                "AfterAll.2.1: 2 more elements (1 of 3)",
                "AfterAll.2.2: the watermark to reach 00:01:00",
                "AfterAll.3: 1 more element (1 of 2)",
            ],
        ),
        (
            bl.AfterAll(bl.AfterCount(2), bl.Never()),
            [
                "AfterAll: nothing: it can never fire",
                "AfterAll.1: 1 more element (1 of 2)",
                "AfterAll.2: nothing: it can never fire",
            ],
        ),
        (
            bl.AfterEach(bl.AfterCount(1), bl.Repeatedly(bl.AfterCount(2))),
            [
                "AfterEach: 2 more elements (0 of 2)",
                "AfterEach.1: nothing: it has finished",
                "AfterEach.2: 2 more elements (0 of 2)",
                "AfterEach.2.repeated: 2 more elements (0 of 2)",
            ],
        ),
        (
            bl.AfterEach(bl.AfterCount(2), bl.AfterProcessingTime("5 s")),
            [
                "AfterEach: 1 more element (1 of 2)",
                "AfterEach.1: 1 more element (1 of 2)",
                "AfterEach.2: its turn",
            ],
        ),
        (
            bl.OrFinally(bl.Repeatedly(bl.AfterProcessingTime("5 s")), bl.AfterCount(2)),
            [
                "OrFinally: the clock to pass 00:00:05 or 1 more element (1 of 2)",
                "OrFinally.main: the clock to pass 00:00:05",
                "OrFinally.main.repeated: the clock to pass 00:00:05",
                "OrFinally.until: 1 more element (1 of 2)",
            ],
        ),
    ],
)
def test_each_trigger_says_what_it_waits_for(trigger: bl.Trigger, expected: list[str]) -> None:
    assert waits(trigger, ONE) == expected


def test_the_end_of_the_global_window_is_the_end_of_time() -> None:
    strategy = bl.WindowingStrategy(bl.GlobalWindows(), AfterWatermark())

    (window,) = record(strategy, Count(), ONE).moments[-1].windows["a"]

    assert window.trigger.waits_for == "the watermark to reach the end of time"


# -- for any scenario ----------------------------------------------------------------------------

COMBINES = {"list": Collect(), "count": Count()}


class Watched(TriggerNode):
    """A trigger that is described each time it is asked, and compared with what it answers."""

    def __init__(self, inner: TriggerNode) -> None:
        super().__init__(inner.name, inner.subs, inner.merging)
        self.inner = inner
        self.asked = 0

    def start(self) -> TriggerState:
        return self.inner.start()

    def on_elements(self, state: TriggerState, count: int, now: Now) -> TriggerState:
        return self.inner.on_elements(state, count, now)

    def ready(self, state: TriggerState, now: Now) -> bool:
        answer = self.inner.ready(state, now)
        view = self.inner.view(state, now)
        self.asked += 1
        assert view.ready == answer, (view, state, now)
        assert view.waits_for.startswith("the next element") == answer, view
        return answer

    def fired(self, state: TriggerState, now: Now) -> TriggerState:
        return self.inner.fired(state, now)

    def on_merge(
        self, state: TriggerState, parts: Sequence[TriggerState], now: Now
    ) -> TriggerState:
        return self.inner.on_merge(state, parts, now)

    def needs_end_of_window_timer(self, state: TriggerState) -> bool:
        return self.inner.needs_end_of_window_timer(state)

    def targets(self, state: TriggerState) -> Any:
        return self.inner.targets(state)

    def because(self, state: TriggerState, now: Now) -> str:
        return self.inner.because(state, now)


SEEDS = range(400)


def test_a_trigger_is_described_as_ready_whenever_it_fires_and_only_then() -> None:
    asked = 0
    for seed in SEEDS:
        scenario = any_scenario(Random(f"recording:{seed}"))
        machine = Grouping(scenario.strategy, Count())
        watched = machine.trigger = Watched(machine.trigger)
        run_in_memory(machine, scenario.script)
        asked += watched.asked
    assert asked > 1_000


def test_the_windows_of_any_recording_agree_with_what_came_out() -> None:
    seen = {"closed": 0, "waiting": 0, "merged": 0, "dropped": 0}
    for seed in SEEDS:
        scenario = any_scenario(Random(f"recording:{seed}"))
        run = run_in_memory(Grouping(scenario.strategy, Collect()), scenario.script)

        recording = Recording.of(attrs.evolve(run, trace=()), scenario.strategy, Collect())

        assert recording.run == run
        assert tuple(o for m in recording.moments for o in m.outputs) == run.outputs
        assert tuple(t for m in recording.moments for t in m.trace) == run.trace
        for moment in recording.moments:
            for key, windows in moment.windows.items():
                _check_windows(recording, moment.step, key, windows)
                seen["closed"] += sum(window.closed for window in windows)
                seen["waiting"] += sum(window.waiting > 0 for window in windows)
            seen["merged"] += sum(
                isinstance(reported.happening, Merged) for reported in moment.trace
            )
            seen["dropped"] += sum(isinstance(output.effect, Drop) for output in moment.outputs)
    assert all(count > 50 for count in seen.values()), seen


def _check_windows(
    recording: Recording, step: int, key: Any, windows: Sequence[WindowView]
) -> None:
    moment = recording.moments[step]
    here = [reported.happening for reported in moment.trace if reported.key == key]
    panes = {reported.window: reported.pane for reported in here if isinstance(reported, Fired)}
    merged_away = {
        window for reported in here if isinstance(reported, Merged) for window in reported.sources
    }
    merged_away -= {reported.into for reported in here if isinstance(reported, Merged)}
    remembered = {view.window: view for view in windows}
    for view in windows:
        assert view.closed == view.trigger.finished
        assert not (view.closed and (view.waiting or view.trigger.ready))
        paths = [node.path for node in view.trigger.walk()]
        assert len(set(paths)) == len(paths)
    for window, pane in panes.items():
        view = remembered.get(window)
        if view is None:
            assert pane.info.is_last
            assert moment.watermark > recording.strategy.expiry(window)
        elif view.closed or moment.watermark > view.expires:
            assert pane.info.is_last
        else:
            assert (view.waiting, view.last_pane) == (0, pane.info)
    # A closed session merges with nothing: new elements open another beside it.
    assert all(remembered[window].closed for window in merged_away & remembered.keys())


def test_a_bundle_that_a_machine_was_given_needs_no_script_to_be_described() -> None:
    machine = Grouping(bl.WindowingStrategy(MINUTES, bl.AfterCount(2)), Count())
    state, effects = machine.step(KeyState(), Bundle((Element(0, 0),)))

    view = WindowView.of(machine, MINUTE, state.windows[MINUTE], state.watermark, state.clock)
    assert effects == ()
    assert view == WindowView(
        MINUTE,
        closed=False,
        trigger=TriggerView(
            *("AfterCount(2)", "AfterCount(2)", False, False, "1 more element (1 of 2)"),
            reason="at least 2 elements have come",
        ),
        waiting=1,
        last_pane=None,
        expires=59_999,
        next_timers=NextTimers(59_999, None),
    )
