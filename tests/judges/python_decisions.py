"""What was decided about the differences of Beam Python's streaming runner.

Each is a divergence of its own from Beam Java, whose model the scenarios are, and a change of the
machine that gives out exactly what Beam Python does. Lines are those of release 2.77.
"""

from typing import Final

from tests.judges import python_accidents
from tests.judges.decision import Decision

_PYTHON: Final = ("beam_python",)

_NOT_PREDICTED: Final = {
    "edge_session_pane_restarts_on_merge",
    "fuzz_360",
    "gen_mixed_1_00007",
    "gen_mixed_1_00025",
    "gen_mixed_1_00033",
    "gen_time_1_00032",
    "leaderboard_observably_late",
    "scio_leaderboard_observably_late",
    "target_late_by_input_1",
    "target_pt_merge_max_3",
    "target_pt_ready_inclusive_6",
    "target_until_cleared_5",
}
"""Those few that the machine with all accidents does not predict to the last pane, by name."""

PYTHON_DECISIONS: Final = (
    Decision(
        "Beam Python: no timer at the expiry",
        _PYTHON,
        "theirs",
        "Nothing happens when a window expires. A pane is the last one only if the trigger has "
        "finished. Data for which no trigger fires is never emitted, and a trigger that does "
        "not wait for the watermark has no on-time pane. A hold that is never released stalls "
        "the run: it ends with TypeError, because executor.py:640 offers a tuple, which line "
        "462 raises.",
        "trigger.py:1464-1492, GeneralTriggerDriver.process_elements sets no timer for the "
        "expiry, and trigger.py:1546 takes is_last from the trigger alone.",
        accident=python_accidents.EXPIRY,
        smallest=(
            "Fixed windows of 10, DefaultTrigger, no lateness; an element at 1, watermark 10: "
            "the pane is not the last. With Never() in place of the trigger, the element is "
            "never emitted."
        ),
    ),
    Decision(
        "Beam Python: one tick at the expiry",
        _PYTHON,
        "theirs",
        "An element is dropped once the watermark is past the end of its window plus the "
        "lateness. Java drops it when the watermark reaches that instant.",
        "trigger.py:1426, `if input_watermark > window.end + self.allowed_lateness`: "
        "window.end is not an instant of the window, so the comparison has to be >=.",
        accident=python_accidents.TICK,
        smallest=(
            "Fixed windows of 10, AfterWatermark(late=AfterCount(1)), lateness 5; watermark 15, an "
            "element at 1: a late pane, and in Java it is dropped."
        ),
    ),
    Decision(
        "Beam Python: timestamps keep the elements of earlier panes",
        _PYTHON,
        "theirs",
        "Early panes do not release the hold of the watermark. So with the timestamp combiner "
        "earliest or latest, the timestamp of a later pane includes elements of earlier panes. "
        "Late elements also hold the watermark back, always at the end of the window.",
        "trigger.py:1560, GeneralTriggerDriver._output keeps the hold while an on-time pane "
        "may come; trigger.py:1470-1481 adds one for a window that has ended, because "
        "OutputAtEndOfWindowImpl.merge ignores the elements.",
        accident=python_accidents.HOLD,
        smallest=(
            "Fixed windows of 10, AfterWatermark(early=AfterCount(1)), discarding, earliest; 2, "
            "then 7: the second pane has the timestamp 2."
        ),
    ),
    Decision(
        "Beam Python: on time, or early and late",
        _PYTHON,
        "theirs",
        "A pane is on time only if a timer of the watermark fires it. A pane that late data "
        "fires while the output watermark is held back is early there, and not on time.",
        "trigger.py:1529-1544, GeneralTriggerDriver._output: `output_watermark <= "
        "window.max_timestamp()` alone makes a pane early, whatever the input watermark is.",
        accident=python_accidents.TIMING,
        smallest=(
            "Fixed windows of 10, Repeatedly(AfterCount(2)), lateness 100, earliest; an element at "
            "1, watermark 20, another at 2: an early pane, and in Java it is on time."
        ),
    ),
    Decision(
        "Beam Python: the clock",
        _PYTHON,
        "theirs",
        "A processing-time timer fires at its target, not after it. Any such timer makes all "
        "processing-time triggers of the window ready. The time of the timer is compared with "
        "the end of the window as if it were the watermark, so an early pane can be late.",
        "trigger.py:407, AfterProcessingTime.should_fire checks the domain, and not its "
        "target; trigger.py:1514-1523, process_timer passes the time of the timer to "
        "should_fire, on_fire and _output, which take a watermark.",
        accident=python_accidents.CLOCK,
        smallest=(
            "Fixed windows of 10, Repeatedly(AfterProcessingTime(20)); an element at 1, the clock "
            "to 20: a pane, and it is late."
        ),
    ),
    Decision(
        "Beam Python: sessions",
        _PYTHON,
        "theirs",
        "A session whose trigger has finished stays in the set of windows: elements that merge "
        "with it are dropped, and so are the elements of a live session that merges with it. A "
        "merged session takes the furthest phase of its parts, and an AfterEach takes its "
        "furthest trigger.",
        "trigger.py:1433, known_windows() has windows with a TOMBSTONE (line 1552), which "
        "merge with others, and line 1466 skips the elements of the result; trigger.py:556, "
        "LATE_TAG is merged with any, and line 901, INDEX_TAG with max.",
        accident=python_accidents.SESSIONS,
        smallest=(
            "Sessions of 10, AfterCount(1); an element at 0, then one at 8: no second pane, and in "
            "Java [8, 18) opens beside [0, 10)."
        ),
    ),
    Decision(
        "Beam Python: one output watermark for all keys",
        _PYTHON,
        "open",
        "A hold of one key holds back the output watermark of all keys, and a hold behind the "
        "output watermark moves it back.",
        "watermark_manager.py:289-292: the least of all keyed holds, assigned without a maximum.",
        accident=python_accidents.ALL_KEYS,
    ),
    Decision(
        "Beam Python: composites",
        _PYTHON,
        "theirs",
        "AfterAny, AfterAll and OrFinally finish only if the parts finish that are ready by "
        "the watermark when they fire. A part that fires by the clock alone does not finish "
        "AfterAny.",
        "trigger.py:818-829, _ParallelTriggerFn.on_fire asks should_fire(TimeDomain.WATERMARK, "
        "...) of each part, and returns combine_op of the results.",
        accident=python_accidents.COMPOSITES,
        smallest=(
            "Fixed windows of 10, AfterAny(AfterCount(2), AfterProcessingTime(5)); an element, "
            "the clock advances by 10, an element: two panes."
        ),
    ),
    Decision(
        "Beam Python: a timer for each part",
        _PYTHON,
        "theirs",
        "Each part of a trigger that waits for the end of the window has its own timer. Timers "
        "that are due together fire one after the other, the second one without new elements.",
        "trigger.py:588 and 341 set timers under the name of the part; transform_evaluator.py "
        "gives each of them to process_timer, which fires whenever the trigger is ready.",
        accident=python_accidents.TIMERS,
        smallest=(
            "Fixed windows of 10, Repeatedly(AfterAll(AfterWatermark(), AfterWatermark())); an "
            "element at 1, watermark 10: an on-time pane, and a late one that is empty."
        ),
    ),
    Decision(
        "Beam Python: not predicted to the last pane",
        _PYTHON,
        "theirs",
        "Several of the accidents above meet in these scenarios, which are listed by name: "
        "holds that a merge or a firing leaves behind, and processing-time timers of merged "
        "sessions. The machine with all of them predicts most of their panes, but not each. "
        "Beam Java gives the expected output.",
        "trigger.py, as above.",
        lambda scenario, answer: scenario.id in _NOT_PREDICTED,
    ),
)
"""In the order in which they are tried."""
