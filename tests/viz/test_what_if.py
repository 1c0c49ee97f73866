"""What would have saved a dropped element, tried."""

import inspect
import re
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import WindowingError
from beamlike.machine.events import AdvanceWatermark, Drop, DropReason, Element
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.time import END_OF_GLOBAL_WINDOW, duration_ms
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Script
from beamlike.viz.recording import Recording
from beamlike.viz.what_if import Rescue
from tests.support.generated.scenarios import any_scenario

ENOUGH = re.compile(r"(.*) more of allowed lateness(?: \(.* in all\))? would have saved it\.")
NOTHING = "Neither more allowed lateness nor another late_check would have saved it."
NO_LATENESS = "No lateness would have saved it"
ALONE = "because as it is the trigger finishes before"
PARTS = [part for part in inspect.signature(bl.WindowingStrategy).parameters if part != "self"]
SESSION = bl.IntervalWindow(0, 10)


def advised() -> Iterator[tuple[bl.WindowingStrategy, Script, int, Drop, str]]:
    """Elements that random runs dropped, and what is said of each."""
    for seed in range(200):
        scenario = any_scenario(Random(f"rescue:{seed}"))
        strategy = scenario.strategy
        machine = Grouping(strategy, Collect())
        recording = Recording.of(run_in_memory(machine, scenario.script), strategy, Collect())
        for key in recording.keys:
            mine = recording.of_key(key)
            rescue = Rescue(mine.run.script, strategy)
            for shown in mine.run.trace:
                drop = shown.happening
                if isinstance(drop, Drop) and drop.element is not None:
                    advice = rescue.advice(shown.step, drop)
                    yield strategy, mine.run.script, shown.step, drop, advice


def is_lost(
    strategy: bl.WindowingStrategy, script: Script, step: int, drop: Drop, **changes: Any
) -> bool:
    """Whether the element is dropped from the window under another strategy too."""
    parts = {part: getattr(strategy, part) for part in PARTS}
    again = run_in_memory(Grouping(bl.WindowingStrategy(**parts | changes), Collect()), script)
    return drop.window in [
        it.effect.window
        for it in again.drops
        if it.step == step and it.effect.element is drop.element
    ]


def test_what_would_have_saved_a_dropped_element_does_save_it() -> None:
    """The lateness that is named is enough, and a millisecond less is not."""
    saved = 0
    for strategy, script, step, drop, advice in advised():
        named = ENOUGH.match(advice)
        if drop.missed_by is None or not named:
            continue
        saved += 1
        for less in (0, 1):
            lateness = strategy.allowed_lateness + duration_ms(named[1], "more") - less
            assert is_lost(strategy, script, step, drop, allowed_lateness=lateness) == bool(less)
    assert saved > 50


def test_what_is_said_to_save_nothing_saves_nothing() -> None:
    """Every lateness up to what was missed, and much more, by itself."""
    useless = 0
    for strategy, script, step, drop, advice in advised():
        if not advice.startswith(NO_LATENESS) and ALONE not in advice:
            continue
        useless += 1
        now, missed = strategy.allowed_lateness, drop.missed_by or 0
        for lateness in (*range(now + 1, now + min(missed, 30) + 2), now + missed + 10_000):
            assert is_lost(strategy, script, step, drop, allowed_lateness=lateness)
    assert useless > 50


class Lonely(bl.MergingWindowFn):
    """Windows that never merge, and of which there may be two."""

    def assign(self, timestamp: int, value: Any = None) -> tuple[bl.IntervalWindow, ...]:
        return (bl.IntervalWindow(timestamp, timestamp + 10),)

    def merge(self, windows: Iterable[bl.IntervalWindow]) -> tuple[bl.Merge, ...]:
        if len(list(windows)) > 2:
            raise RuntimeError("three windows")
        return ()


def advice_for(strategy: bl.WindowingStrategy, script: Script) -> list[tuple[DropReason, str]]:
    """What is said of each element that a script drops."""
    recording = Recording.of(
        run_in_memory(Grouping(strategy, Collect()), script), strategy, Collect()
    )
    rescue = Rescue(script, strategy)
    return [
        (shown.happening.reason, rescue.advice(shown.step, shown.happening))
        for shown in recording.run.trace
        if isinstance(shown.happening, Drop)
    ]


def test_of_windows_that_were_merged_before_nothing_is_tried_and_the_text_says_so() -> None:
    untried = "What would have saved it was not tried: its windows were merged before."
    script = (
        Arrive((("a", Element("first", 1, window=SESSION)),)),
        AdvanceWatermark(50),
        Arrive((("a", Element("late", 5, window=SESSION)),)),
        AdvanceWatermark(END_OF_GLOBAL_WINDOW + 1),
        Arrive((("a", Element("too late", 5, window=SESSION)),)),
    )

    merged = bl.WindowingStrategy(bl.Sessions(10)).after_grouping()
    finishes = bl.WindowingStrategy(
        bl.Sessions(10), bl.AfterCount(1), "discarding", allowed_lateness=90
    )

    assert advice_for(merged, script) == [
        (DropReason.EXPIRED, untried),
        (DropReason.EXPIRED, "Nothing would have saved it: the watermark is past the end of time."),
    ]
    assert advice_for(finishes.after_grouping(), script[:3]) == [(DropReason.CLOSED, untried)]


LATE = (
    Arrive((("a", Element("first", 2)), ("a", Element("second", 20)))),
    AdvanceWatermark(12),
    Arrive((("a", Element("late", 1)),)),
)


def test_a_lateness_with_which_a_function_raises_is_no_rescue() -> None:
    strategy = bl.WindowingStrategy(Lonely())

    assert advice_for(strategy, LATE) == [(DropReason.EXPIRED, NOTHING)]

    parts = {part: getattr(strategy, part) for part in PARTS}
    for changes in (
        *({"allowed_lateness": lateness} for lateness in (1, 2, 3, 100)),
        *({"late_check": check} for check in (bl.LateCheck.ASSIGNED, bl.LateCheck.MERGED)),
    ):
        changed = Grouping(bl.WindowingStrategy(**parts | changes), Collect(), "drop")
        lost = [(drop.step, drop.effect.value) for drop in run_in_memory(changed, LATE).drops]
        assert lost == [(2, "late")]


def test_where_another_windowing_cannot_be_tried_the_text_says_so(monkeypatch: pytest.MonkeyPatch):
    def refuse(*given: object) -> None:
        raise WindowingError("no such grouping")

    monkeypatch.setattr("beamlike.viz.what_if.Grouping", refuse)
    untried = (
        "What would have saved it was not tried: the run cannot be repeated with another windowing."
    )

    expired, closed = (
        bl.WindowingStrategy(bl.Sessions(10)),
        bl.WindowingStrategy(bl.Sessions(10), bl.AfterCount(1)),
    )
    same = Arrive((("a", Element("same", 2)),))

    assert advice_for(expired, LATE) == [(DropReason.EXPIRED, untried)]
    assert advice_for(closed, (LATE[0], same)) == [(DropReason.CLOSED, untried)]
