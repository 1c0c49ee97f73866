"""What the report says about a strategy, and that streams keep its word."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import beamlike as bl
from beamlike.errors import UnsupportedError, WindowingError
from beamlike.machine import events
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect, Sum
from beamlike.model.report import windows_end
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Run
from tests.support.beam_python import loses_in_beam_python
from tests.support.examples import examples
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import any_strategy, gap_of_number
from tests.support.refusals import refusal

TEN, EVERYTHING, VISIT = bl.FixedWindows(10), bl.GlobalWindows(), bl.Sessions(10)
COUNT, DELAY, END = bl.AfterCount(2), bl.AfterProcessingTime(5), bl.AfterWatermark()


def shown(window_fn: bl.WindowFn, trigger: bl.Trigger, **parts: Any) -> bl.StrategyReport:
    return bl.report(bl.WindowingStrategy(window_fn, trigger, **parts))


# -- the answers -----------------------------------------------------------------------------

# The trigger; then whether it can finish and may lose data, each without and with lateness;
# then whether an on-time pane may be empty, and whether it never fires in windows that end and
# in the global one.
ANSWERS: list[tuple[bl.Trigger, str, str, bool, str]] = [
    (bl.DefaultTrigger(), "- -", "- -", False, "- never"),
    (END, "- yes", "- yes", False, "- never"),
    (bl.AfterWatermark(early=COUNT), "- yes", "- yes", True, "- -"),
    (bl.AfterWatermark(early=bl.Never()), "- yes", "- yes", False, "- never"),
    (bl.AfterWatermark(late=COUNT), "- -", "- -", False, "- never"),
    (bl.AfterWatermark(early=DELAY, late=COUNT), "- -", "- -", True, "- -"),
    (bl.Never(), "- -", "- -", False, "never never"),
    (bl.Always(), "- -", "- -", True, "- -"),
    (COUNT, "yes yes", "yes yes", False, "- -"),
    (DELAY, "yes yes", "yes yes", False, "- -"),
    (bl.AfterSynchronizedProcessingTime(), "yes yes", "yes yes", False, "- -"),
    (bl.Repeatedly(COUNT), "- -", "- -", True, "- -"),
    (bl.Repeatedly(END), "- -", "- -", False, "- never"),
    (bl.Repeatedly(bl.Never()), "- -", "- -", False, "never never"),
    (bl.AfterFirst(COUNT, END), "yes yes", "yes yes", False, "- -"),
    # Java looks no further than the root and takes these for unsafe.
    (bl.AfterFirst(bl.Never(), END), "- yes", "yes yes", False, "- never"),
    (bl.AfterAll(COUNT, END), "- yes", "yes yes", False, "- never"),
    (bl.AfterAll(COUNT, bl.Never()), "- -", "yes yes", False, "never never"),
    (bl.AfterEach(COUNT, END), "- yes", "yes yes", True, "- -"),
    (bl.AfterEach(bl.Never(), COUNT), "- -", "yes yes", False, "never never"),
    (bl.AfterEach(COUNT, bl.Repeatedly(COUNT)), "- -", "- -", True, "- -"),
    (bl.AfterEach(END, COUNT), "- yes", "yes yes", False, "- never"),
    (bl.OrFinally(bl.Repeatedly(COUNT), bl.AfterCount(9)), "yes yes", "yes yes", True, "- -"),
    (bl.OrFinally(bl.Repeatedly(COUNT), END), "- yes", "yes yes", True, "- -"),
    (bl.OrFinally(COUNT, bl.Always()), "yes yes", "yes yes", True, "- -"),
    (bl.OrFinally(bl.Never(), END), "- yes", "yes yes", False, "- never"),
]


@pytest.mark.parametrize(
    ("trigger", "finishes", "loses", "empty", "silent"),
    ANSWERS,
    ids=[str(row[0]) for row in ANSWERS],
)
def test_the_answers_for_every_kind_of_trigger(trigger, finishes, loses, empty, silent):
    strict, patient = shown(TEN, trigger), shown(TEN, trigger, allowed_lateness=7)
    everything = shown(EVERYTHING, trigger, allowed_lateness=7)

    def both(first: object, second: object, word: str = "yes") -> str:
        return f"{word if first else '-'} {word if second else '-'}"

    assert both(strict.can_finish, patient.can_finish) == finishes
    assert both(strict.may_lose_data, patient.may_lose_data) == loses
    # A global window has no time between its end and its expiry, whatever the lateness.
    assert bool(everything.can_finish) is bool(strict.can_finish)
    assert both(patient.never_fires, everything.never_fires, "never") == silent
    for one in (strict, patient, everything):
        assert bool(one.may_emit_empty_on_time) is empty
        assert not one.may_emit_empty_last
        assert one.may_emit_empty_pane is empty


@pytest.mark.parametrize(
    ("trigger", "lateness", "empty"),
    [
        (bl.DefaultTrigger(), 0, False),
        (bl.DefaultTrigger(), 7, True),
        (END, 7, False),
        (bl.AfterWatermark(late=COUNT), 0, False),
        (bl.AfterWatermark(late=COUNT), 7, True),
        (bl.AfterWatermark(early=COUNT), 0, True),
        (bl.Repeatedly(END), 0, False),
        (bl.Repeatedly(END), 7, True),
        (bl.AfterEach(END, COUNT), 7, True),
        (COUNT, 7, False),
        (bl.Never(), 7, False),
    ],
    ids=str,
)
def test_a_closing_pane_that_is_always_fired_may_be_empty_if_one_came_before(
    trigger, lateness, empty
):
    always = shown(TEN, trigger, allowed_lateness=lateness, closing_behavior="fire_always")
    assert bool(always.may_emit_empty_last) is empty
    assert not shown(TEN, trigger, allowed_lateness=lateness).may_emit_empty_last


def test_an_on_time_behavior_leaves_empty_panes_out():
    quiet = shown(TEN, bl.Repeatedly(COUNT), on_time_behavior="fire_if_non_empty")
    assert not quiet.may_emit_empty_pane


@pytest.mark.parametrize(
    ("trigger", "clock"),
    [
        (COUNT, False),
        (DELAY, True),
        (bl.AfterWatermark(early=bl.Repeatedly(bl.AfterFirst(COUNT, DELAY))), True),
        (bl.AfterEach(END, bl.AfterSynchronizedProcessingTime()), True),
    ],
    ids=str,
)
def test_it_knows_who_needs_the_clock(trigger, clock):
    assert bool(shown(TEN, trigger).needs_clock) is clock


# -- the sentences ---------------------------------------------------------------------------


def test_the_reasons_give_the_line_to_change():
    lossy = shown(TEN, bl.AfterWatermark(early=COUNT), allowed_lateness="1 h")
    assert lossy.warnings == (
        "AfterWatermark(early=AfterCount(2)) finishes at the end of the window, and data within "
        "the allowed lateness of 1h would be dropped; write "
        "AfterWatermark(early=AfterCount(2), late=AfterCount(1)), or allowed_lateness=0",
    )


def test_a_silent_and_growing_strategy_is_warned_of():
    assert shown(EVERYTHING, bl.DefaultTrigger()).warnings == (
        "in the global window nothing comes out of DefaultTrigger() before the end of time, which "
        "a stream does not reach; write trigger=Repeatedly(AfterCount(100)), or use FixedWindows",
        "the global window does not end, and DefaultTrigger() need not let anything out before; "
        "add early firings, such as AfterWatermark(early=AfterCount(100), late=AfterCount(1)), and "
        'accumulation="discarding", or use windows that end, as FixedWindows or Sessions with '
        "max_duration do",
    )


def test_nothing_is_warned_of_where_nothing_is_wrong():
    assert shown(TEN, bl.AfterWatermark(early=COUNT, late=COUNT), allowed_lateness=7).warnings == ()


def test_a_report_is_a_page_for_people():
    strategy = bl.WindowingStrategy(
        bl.FixedWindows("1 minute"),
        bl.Never(),
        "accumulating",
        "1 h",
        closing_behavior="fire_always",
    )
    assert (
        str(bl.report(strategy))
        == """\
FixedWindows(1m), Never(), accumulating, allowed lateness 1h, closing behavior fire_always
  may lose data         no: whatever comes before its window expires gets into a pane
  can finish            no: the trigger does not finish before its window expires
  never fires           yes: Never() never gets ready, and a window's content comes out once, at its
                          end plus 1h; write AfterWatermark(late=AfterCount(1)) for a pane at the
                          end and one for late data
  empty on-time pane    no: no pane comes before it and leaves the window open
  empty last pane       no: no pane comes before it and leaves the window open
  needs the clock       no: the same data and watermarks give the same panes at any speed
  bounded state per key yes: a window is 1m long, and is forgotten 1h after its end"""
    )


class Mine(bl.Trigger):
    pass


def test_of_a_trigger_of_ones_own_nothing_can_be_reported():
    with pytest.raises(UnsupportedError, match="is not a trigger that beamlike knows"):
        shown(TEN, bl.Repeatedly(Mine()))


def in_beam_python(strategy: bl.WindowingStrategy) -> bool:
    """Beam Python's answer to ``may_lose_data``, which looks at every node of the trigger."""
    return loses_in_beam_python(strategy.trigger, strategy.allowed_lateness)


def test_beam_python_asks_the_whole_tree():
    nested = bl.AfterFirst(bl.Never(), END)
    strict, patient = (
        bl.WindowingStrategy(TEN, nested),
        bl.WindowingStrategy(TEN, nested, "discarding", 1),
    )
    assert not in_beam_python(strict)
    assert in_beam_python(patient)
    assert bl.report(strict).may_lose_data
    assert in_beam_python(bl.WindowingStrategy(TEN, bl.AfterAll(COUNT, DELAY)))
    assert not in_beam_python(bl.WindowingStrategy(TEN, bl.AfterAll(COUNT, bl.Never())))


# -- streams keep its word -------------------------------------------------------------------

law = settings(max_examples=examples(300), derandomize=True, database=None)
chance = st.randoms(use_true_random=False)


def played(random: Random) -> tuple[bl.StrategyReport, Run]:
    # Discarding shows by its value whether a pane is empty; the rules are those of every mode.
    strategy = any_strategy(random, accumulation=bl.AccumulationMode.DISCARDING)
    return bl.report(strategy), run_in_memory(Grouping(strategy, Collect()), any_script(random))


def broken_promises(shown: bl.StrategyReport, run: Run) -> list[object]:
    """Everything that came out although the report said that it cannot."""
    broken: list[object] = []
    for output in run.outputs:
        effect = output.effect
        if isinstance(effect, events.Drop):
            if effect.reason is events.DropReason.CLOSED and not shown.can_finish:
                broken.append(output)
        elif effect.value == []:
            excused = (
                effect.info.timing is bl.Timing.ON_TIME and shown.may_emit_empty_on_time
            ) or (effect.info.is_last and shown.may_emit_empty_last)
            if not excused:
                broken.append(output)
    if shown.never_fires:
        fired = [line.happening for line in run.trace]
        broken += [
            happening
            for happening in fired
            if isinstance(happening, events.Fired | events.Suppressed)
            and happening.by != "expiry of the window"
        ]
    return broken


@law
@given(chance)
def test_what_a_report_rules_out_does_not_happen(random: Random):
    shown, run = played(random)
    assert broken_promises(shown, run) == []


@law
@given(chance)
def test_who_can_finish_may_lose_data(random: Random):
    shown = bl.report(any_strategy(random))
    assert shown.may_lose_data or not shown.can_finish


@law
@given(chance)
def test_who_does_not_need_the_clock_gives_the_same_panes_without_it(random: Random):
    strategy, script = any_strategy(random), any_script(random)
    machine = Grouping(strategy, Collect())
    still = tuple(happens for happens in script if not isinstance(happens, events.AdvanceClock))
    with_clock = [(o.key, o.effect) for o in run_in_memory(machine, script).outputs]
    without = [(o.key, o.effect) for o in run_in_memory(machine, still).outputs]
    assert bl.report(strategy).needs_clock or with_clock == without


def test_the_streams_above_do_everything_that_a_report_can_rule_out():
    seen: Counter[str] = Counter()
    for seed in range(150):
        shown, run = played(Random(seed))
        effects = [output.effect for output in run.outputs]
        empty = [e for e in effects if isinstance(e, events.Pane) and e.value == []]
        seen["silent"] += bool(shown.never_fires and effects)
        seen["closed"] += any(
            isinstance(e, events.Drop) and e.reason is events.DropReason.CLOSED for e in effects
        )
        seen["empty on time"] += any(pane.info.timing is bl.Timing.ON_TIME for pane in empty)
        seen["empty last"] += any(pane.info.timing is not bl.Timing.ON_TIME for pane in empty)
    assert min(seen[kind] for kind in ("silent", "closed", "empty on time", "empty last")) > 3


# -- bounded state ---------------------------------------------------------------------------

LATE = bl.AfterWatermark(late=bl.AfterCount(1))
SPECULATIVE = bl.AfterWatermark(early=COUNT, late=bl.AfterCount(1))
SHORT_VISIT = bl.Sessions(10, max_duration=30)

# The window function, trigger, accumulation and lateness; then whether state is bounded.
GROWTH: list[tuple[bl.WindowFn, bl.Trigger, str, int, bool]] = [
    (TEN, bl.DefaultTrigger(), "discarding", 0, True),
    (TEN, LATE, "accumulating", 7, True),
    (TEN, LATE, "retracting", 7, True),
    (TEN, bl.Never(), "accumulating", 7, True),
    (TEN, COUNT, "accumulating", 7, True),
    (TEN, bl.DefaultTrigger(), "discarding", MAX_TIMESTAMP, False),
    (bl.SlidingWindows(10, 5), LATE, "accumulating", 7, True),
    (SHORT_VISIT, LATE, "accumulating", 7, True),
    (VISIT, LATE, "discarding", 7, False),
    (VISIT, SPECULATIVE, "discarding", 7, True),
    (VISIT, SPECULATIVE, "accumulating", 7, False),
    (VISIT, COUNT, "accumulating", 7, True),
    (VISIT, bl.Repeatedly(bl.AfterAll(COUNT, END)), "discarding", 7, False),
    (VISIT, COUNT, "accumulating", MAX_TIMESTAMP, False),
    (EVERYTHING, bl.DefaultTrigger(), "discarding", 0, False),
    (EVERYTHING, bl.Never(), "discarding", 0, False),
    (EVERYTHING, bl.Always(), "discarding", MAX_TIMESTAMP, True),
    (EVERYTHING, bl.Always(), "accumulating", 0, False),
    (EVERYTHING, bl.Repeatedly(DELAY), "discarding", 0, True),
    (EVERYTHING, bl.Repeatedly(bl.AfterFirst(COUNT, bl.Never())), "discarding", 0, True),
    (EVERYTHING, bl.AfterEach(COUNT, bl.Never()), "discarding", 0, False),
    (EVERYTHING, bl.AfterEach(COUNT, bl.Repeatedly(COUNT), bl.Never()), "discarding", 0, True),
    (EVERYTHING, bl.AfterEach(COUNT, DELAY), "accumulating", 0, True),
    (EVERYTHING, bl.AfterEach(COUNT, bl.Always()), "accumulating", 0, False),
    (EVERYTHING, bl.OrFinally(bl.Repeatedly(COUNT), bl.AfterCount(9)), "accumulating", 0, True),
    (EVERYTHING, bl.OrFinally(bl.Repeatedly(COUNT), END), "accumulating", 0, False),
    (EVERYTHING, bl.OrFinally(bl.Never(), END), "discarding", 0, False),
    (EVERYTHING, bl.AfterFirst(END, COUNT), "retracting", 0, True),
]


def kept(strategy: bl.WindowingStrategy, milliseconds: int) -> int:
    """The most windows and elements that a key has ever kept in a stream without a pause."""
    machine = Grouping(strategy, Collect())
    state, most = KeyState(), 0
    for now in range(1, milliseconds + 1):
        for event in (
            events.AdvanceWatermark(now - 3),
            events.AdvanceClock(now),
            events.Bundle((events.Element(1, now),)),
        ):
            state, _ = machine.step(state, event)
        held = [len(machine.combine.extract(w.accumulator)) for w in state.windows.values()]
        most = max(most, len(held) + sum(held))
    return most


@pytest.mark.parametrize(("window_fn", "trigger", "accumulation", "lateness", "bounded"), GROWTH)
def test_state_is_bounded_where_the_report_says_so_and_grows_elsewhere(
    window_fn, trigger, accumulation, lateness, bounded
):
    strategy = bl.WindowingStrategy(window_fn, trigger, accumulation, lateness)
    assert bool(bl.report(strategy).bounded_state_per_key) is bounded
    assert (kept(strategy, 80) == kept(strategy, 160)) is bounded


class Growing(bl.WindowFn):
    """Windows of which only their author knows how long they get."""

    def assign(self, timestamp: int, value: Any = None) -> tuple[bl.IntervalWindow, ...]:
        return (bl.IntervalWindow(0, max(timestamp, 0) + 1),)

    def __str__(self) -> str:
        return "Growing()"


@pytest.mark.parametrize(
    ("window_fn", "expected"),
    [
        (bl.FixedWindows("1 minute"), "yes: a window is 1m long"),
        (bl.SlidingWindows("1 h", "1 minute"), "yes: a window is 1h long"),
        (
            bl.CalendarDays(2),
            "yes: a window of CalendarDays(2, UTC, from 1970-01-01) has its end in the calendar",
        ),
        (
            VISIT,
            "no: a window of Sessions(10ms) stays open while data comes without a longer pause",
        ),
        (SHORT_VISIT, "yes: a window is at most 30ms long"),
        (bl.Sessions(10, max_elements=5), "yes: a window is at most 50ms long"),
        (bl.Sessions(10, max_duration=30, max_elements=5), "yes: a window is at most 30ms long"),
        (bl.Sessions(10, max_duration=90, max_elements=5), "yes: a window is at most 50ms long"),
        (
            bl.Sessions(gap_of_number, max_elements=5),
            "no: a window of Sessions(gap_of_number, max_elements=5) stays open while data comes "
            "without a longer pause",
        ),
        (EVERYTHING, "no: the global window does not end"),
        (Growing(), "no: how long a window of Growing() can get is not known"),
    ],
    ids=str,
)
def test_which_windows_end_by_themselves(window_fn, expected):
    assert str(windows_end(window_fn)) == expected


def test_a_window_that_is_retained_is_forgotten_later():
    strategy = bl.WindowingStrategy(SHORT_VISIT, allowed_lateness=5, late_check="retain")
    assert str(bl.report(strategy).bounded_state_per_key) == (
        "yes: a window is at most 30ms long, and is forgotten 14ms after its end"
    )


def test_sessions_that_a_grouping_has_merged_grow_no_more():
    strategy = bl.WindowingStrategy(VISIT, allowed_lateness=5).after_grouping()
    assert str(bl.report(strategy).bounded_state_per_key) == (
        "yes: a window that a grouping has merged grows no more, and is forgotten 5ms after its end"
    )


def test_what_is_retained_loses_nothing():
    assert str(bl.report(bl.WindowingStrategy(VISIT, late_check="retain")).may_lose_data) == (
        "no: whatever comes before its window expires gets into a pane, and into one session with "
        "whatever is less than a gap away from it"
    )


# -- what an empty pane shows --------------------------------------------------------------------

EARLY = bl.AfterWatermark(early=bl.AfterCount(2))


def test_an_empty_pane_shows_the_identity_where_scio_fails() -> None:
    strategy = bl.WindowingStrategy(bl.FixedWindows(10), EARLY)
    shown = bl.report(strategy, Sum()).may_emit_empty_on_time
    assert str(shown).endswith("; it shows 0, where sumByKey of Scio raises an error")


def test_an_empty_pane_shows_what_beam_shows_where_scio_does_too() -> None:
    strategy = bl.WindowingStrategy(bl.FixedWindows(10), EARLY)
    assert str(bl.report(strategy, Collect()).may_emit_empty_on_time).endswith("; it shows []")


def test_an_accumulating_pane_without_news_shows_what_it_had() -> None:
    strategy = bl.WindowingStrategy(
        bl.FixedWindows(10), bl.AfterWatermark(early=bl.AfterCount(2)), "accumulating"
    )
    shown = bl.report(strategy, Sum()).may_emit_empty_on_time
    assert str(shown).endswith("; it shows the value of the pane before again")


def test_where_no_pane_is_empty_there_is_nothing_to_show() -> None:
    strategy = bl.WindowingStrategy(bl.FixedWindows(10))
    assert bl.report(strategy, Sum()) == bl.report(strategy)


@pytest.mark.parametrize("given", [None, bl.FixedWindows(5), "1 hour"])
def test_what_is_no_strategy_has_no_report(given: Any) -> None:
    assert refusal(WindowingError, lambda: bl.report(given)) == (
        f'report needs a strategy such as WindowingStrategy(FixedWindows("1 hour")), got {given!r}'
    )
