"""What was decided about each difference between an engine and the scenarios.

`theirs`: the engine does by accident what cannot be wanted; a report to its authors is in
`docs/pages/engines.md`. `open`: the model leaves it open, and the page on semantics says so.
A difference that no decision covers makes ``python -m tests.judges`` fail.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import attrs

from tests.conformance.beamlike_conformance.comparing import differences, row_differences
from tests.conformance.beamlike_conformance.scenarios import DialectCase, Scenario
from tests.conformance.beamlike_conformance.verdicts import AS_EXPECTED, judge
from tests.judges.beam_accidents import MERGES, ORIGIN, OUTPUT, PARTS, PHASES, STALE, outcomes_with
from tests.judges.decision import Answer, Decision
from tests.judges.flink_algorithm import BEHIND, ORPHANS, rows_of_operator
from tests.judges.kafka_algorithm import rows_of_stores
from tests.judges.python_decisions import PYTHON_DECISIONS

_BEAMS: Final = ("beam_java", "beam_core")


_AT_ONCE: Final = 5
"""How many accidents one scenario may show."""


def decisions_of(
    engine: str, scenario: Scenario | DialectCase, answer: Answer, inside: Answer | None = None
) -> tuple[Decision, ...]:
    """What was decided about the way in which an engine differs; empty: nothing yet.

    Args:
        engine: Its name.
        scenario: What it played.
        answer: What it gave out.
        inside: What it gave out for the scenario without the elements that are in no window.
    """
    if isinstance(scenario, Scenario):
        return _accidents_of(engine, scenario, answer, inside)
    for decision in DECISIONS:
        if engine in decision.engines and decision.covers(scenario, answer):
            return (decision,)
    return ()


def accidents_of(engine: str) -> list[str]:
    """The accidents of an engine that are known."""
    return [one.accident for one in DECISIONS if engine in one.engines and one.accident]


def turns_on(document: Mapping[str, Any], accidents: Sequence[str]) -> bool:
    """Whether something else comes out of a scenario with these accidents."""
    scenario = Scenario(document["id"], "", "", "core", False, document)
    outcome = next(outcomes_with(document, accidents), None)
    return outcome is not None and bool(differences(scenario, outcome["panes"], outcome["dropped"]))


def _accidents_of(
    engine: str, scenario: Scenario, answer: Answer, inside: Answer | None
) -> tuple[Decision, ...]:
    """The fewest accidents with which the machine gives out what the engine did."""
    before: tuple[Decision, ...] = ()
    document, came = scenario.document, answer
    if _NO_WINDOW.covers(scenario, answer):
        without = scenario_inside(scenario.document)
        if inside is None or without is None:
            return ()
        before, document, came = (_NO_WINDOW,), without, inside
    known = [one for one in DECISIONS if engine in one.engines and one.accident]
    for count in range(0 if before else 1, _AT_ONCE + 1):
        for combination in combinations(known, count):
            changes = [one.accident for one in combination]
            for outcome in outcomes_with(document, changes):
                expected = attrs.evolve(scenario, document={**document, **outcome})
                if judge(expected, came).word == AS_EXPECTED:
                    return (*before, *combination)
    named = (one for one in DECISIONS if engine in one.engines and one.covers(scenario, came))
    others = tuple(one for one in named if one is not _NO_WINDOW)
    return (*before, *others) if others else ()


# -- what scenarios have in common -----------------------------------------------------------


def _fails_for_no_window(scenario: Scenario, answer: Answer) -> bool:
    words = ("requires windows", "IndexError")
    leaves_out = scenario_inside(scenario.document) is not None
    return leaves_out and any(word in answer.get("error", "") for word in words)


def scenario_inside(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """A scenario without the elements that are in no window; None if all are in one.

    Beam Java takes a remainder with ``%``: an element before 1970 may be in no window there only.
    """
    window = document["windowing"]["window"]
    if window["fn"] != "sliding" or window["period_ms"] <= window["size_ms"]:
        return None

    def is_inside(element: Mapping[str, Any]) -> bool:
        since = element["ts_ms"] - window.get("offset_ms", 0)
        floored, period = since % window["period_ms"], window["period_ms"]
        cut_off = floored if since + period >= 0 or floored == 0 else floored - period
        return bool(floored < window["size_ms"] and cut_off < window["size_ms"])

    steps = [
        {**step, "elements": list(filter(is_inside, step["elements"]))}
        if "elements" in step
        else step
        for step in document["steps"]
    ]
    if steps == list(document["steps"]):
        return None
    return {**document, "id": f"{document['id']}_inside", "steps": steps}


# -- what cases of other systems have in common ------------------------------------------------


def _is_what_the_stores_show(case: DialectCase, answer: Answer) -> bool:
    """Whether Kafka's stores, and what they show of closed sessions, make exactly these rows."""
    document = case.document
    if document["kind"] != "stream" or document["window"]["type"] != "session":
        return False
    if document["emit"] not in ("cached_update", "on_close") or "streams" in document:
        return False
    # The same algorithm without that has to give what is expected, or the expectation is wrong.
    without = rows_of_stores(document, shows_closed=False)
    return (
        row_differences(rows_of_stores(document), answer["rows"]) == []
        and row_differences(without, document["expect"]) == []
    )


def _fires_for_what_has_passed(case: DialectCase) -> bool:
    """Whether a continuous trigger has a timer that is not ahead as an element comes.

    That is one for the first multiple after it, or for the end of a session that it joins.
    """
    trigger = case.document["trigger"]
    trigger = trigger.get("of", trigger)
    if trigger["type"] != "continuous_event_time":
        return False
    interval, watermark = trigger["interval_ms"], None
    ends: dict[str, list[tuple[int, int]]] = {}
    for step in case.document["steps"]:
        watermark = step.get("advance_watermark_to_ms", watermark)
        for element in step.get("elements", ()):
            time = element["ts_ms"]
            gap = element.get("gap_ms") or case.document["window"].get("gap_ms") or 0
            joined = [
                end
                for start, end in ends.get(element["key"], ())
                if start <= time + gap and time <= end
            ]
            ends.setdefault(element["key"], []).append((time, time + gap))
            timers = [time - time % interval + interval, *(end - 1 for end in joined if gap)]
            if time < 0 or (watermark is not None and min(timers) <= watermark):
                return True
    return False


def _orphans_a_merged_window(case: DialectCase) -> bool:
    """Whether a dynamic gap gives an element exactly the bounds of a session."""
    return case.document["window"].get("gap_ms", 0) is None


def _is_made_by(
    shows: Callable[[DialectCase], bool], *accidents: str
) -> Callable[[DialectCase, Answer], bool]:
    """Whether Flink's algorithm makes what is expected without accidents, and these rows with some;
    or, where it does not know in which step a timer fires, whether the case shows one."""

    def covers(case: DialectCase, answer: Answer) -> bool:
        document = case.document
        if case.kind != "stream" or document["window"].get("time") != "event":
            return False
        without = row_differences(document["expect"], rows_of_operator(document), any_order=True)
        if without:
            return False
        return shows(case) or any(
            row_differences(rows_of_operator(document, some), answer["rows"], any_order=True) == []
            for some in ([accidents[0]], accidents)
        )

    return covers


_NO_WINDOW: Final = Decision(
    "an element in no window",
    (*_BEAMS, "beam_python"),
    "theirs",
    "Sliding windows with a period longer than their size have gaps. An element in a gap fails "
    "the pipeline in 2.73, and the run in Beam Python. Here it is in no pane, and is not "
    "dropped. Without these elements the scenarios agree.",
    "WindowedValues.java:276 requires a window, and WindowEvaluatorFactory.java:92 passes an "
    "empty collection on (2.73).",
    _fails_for_no_window,
    smallest=(
        "Sliding windows of 3 every 10, one element at 3: the pipeline fails with "
        '"WindowedValue requires windows, but there were none".'
    ),
)

DECISIONS: Final = (
    Decision(
        "closed sessions that a store shows",
        ("kafka_streams",),
        "open",
        "A record cache shows closed sessions, and a record that is in time merges with one of "
        "them. With results on close, a store with the shortest retention hides a session one "
        "millisecond before it is closed, and a record exactly one gap after it is separate. "
        "In beamlike.dialects an open session is always found. A closed session is found "
        "within an explicit retention, and never without one.",
        "CachingSessionStore.findSessions merges the contents of the cache with those of the "
        "store below, and does not check the retention of either. "
        "AbstractRocksDBSegmentedBytesStore.get and getActualFrom of the store below hide "
        "sessions that end before observedStreamTime - retentionPeriod + 1. putAndMaybeForward "
        "forwards no tombstone for hidden sessions.",
        _is_what_the_stores_show,
        smallest=(
            "Gap 5, no grace, record cache; a at 0, b at 8, a at 5: Kafka gives a [0, 5] of "
            "both, and [0, 0] was closed."
        ),
    ),
    Decision(
        "a dynamic gap with the bounds of a session",
        ("flink",),
        "theirs",
        "If the window of an element has exactly the bounds of a previously merged session, "
        "the element takes over the window, and the contents of the session are lost.",
        "MergingWindowSet.java:220, addWindow: a group of equal windows is not a merge, and "
        "mapping.put(resultWindow, resultWindow) replaces the state window that the "
        "session had.",
        _is_made_by(_orphans_a_merged_window, ORPHANS),
        smallest=(
            "Elements (0, gap 4) = 1, (2, gap 4) = 2, (0, gap 6) = 4: Flink's result is 4, but "
            "the sum of the elements is 7."
        ),
    ),
    Decision(
        "a continuous trigger behind the watermark",
        ("flink",),
        "theirs",
        "For an element behind the watermark, the first multiple of the interval after it has "
        "already passed. Flink still sets a timer for it, which fires with the next watermark, "
        "whatever that is. Here firings begin with the first multiple ahead. Before 1970 Flink "
        "rounds towards zero, and the first firing is one interval later.",
        "ContinuousEventTimeTrigger.onElement computes start = timestamp - (timestamp % "
        "interval), and registers a timer for start + interval, even if it has passed; onMerge "
        "does the same for the least timer of the merged windows.",
        _is_made_by(_fires_for_what_has_passed, BEHIND, ORPHANS),
        smallest=(
            "Tumbling windows of 5, interval 3, watermark 27, an element at 25: Flink fires "
            "with the next watermark and at the end; beamlike fires once."
        ),
    ),
    Decision(
        "before the origin",
        _BEAMS,
        "theirs",
        "Before 1970, or before an offset, Beam rounds towards zero: an element is in a window "
        "that does not contain it, and an aligned target is a period too late.",
        "FixedWindows.java:78, SlidingWindows.java:171 and "
        "AfterDelayFromFirstElementStateMachine.java:296 take a remainder with %, which is "
        "negative for negative times; CalendarWindows.java:119 divides whole days by the "
        "number of days, truncated towards zero.",
        accident=ORIGIN,
        smallest="Fixed windows of 10, an element at -15: Beam gives [-10, 0).",
    ),
    _NO_WINDOW,
    Decision(
        "the output watermark moves first, and for all keys",
        ("beam_java",),
        "open",
        "The DirectRunner moves its output watermark before it fires the timers of a "
        "watermark: to the earliest hold or timer of any key. If the trigger of a window sets "
        "no timer for its end, the window has only the timer of its expiry. If one move passes "
        "both, the last pane of the window is late, and an empty last pane is emitted only "
        "with fire_always. Holds of one key can also make a pane of another key be on time. "
        "runners-core, which has one key and moves the output watermark after the timers, "
        "agrees with beamlike.",
        "WatermarkManager.java:467-476: the output watermark is the least of the input watermark, "
        "the holds and getEarliestTimerTimestamp(), for all keys of a transform; "
        "PaneInfoTracker.java:102 asks it as the timers fire.",
        accident=OUTPUT,
        smallest=(
            "Fixed windows of 10, Repeatedly(AfterCount(1)), discarding, lateness 5; an "
            "element at 1, watermark 15: an empty on-time pane in beamlike, none in the "
            "DirectRunner."
        ),
    ),
    Decision(
        "a merge without an open window",
        _BEAMS,
        "theirs",
        "This is about merges of new windows only, and about merges into the bounds of a "
        "session whose trigger has finished. Beam still asks the triggers to merge, with the "
        "bits of the closed session and without any merging window. An AfterWatermark then "
        "counts as finished and drops the elements as closed, or starts in the late phase. A "
        "composite computes again from its parts whether it is finished, so a closed session "
        "opens again. The elements of a live session are lost with a closed one. In a test "
        "stream such a pipeline may never end. Here new windows start from the beginning, and "
        "a closed session stays closed.",
        "ReduceFnRunner.java:519 calls triggerRunner.onMerge without an active window, and "
        "MergingActiveWindowSet.java:268 makes the result active; "
        "AfterWatermarkStateMachine.java:306 asks finishedInAllMergingWindows(), which is true "
        "for no windows; AfterFirstStateMachine.java:123-128 and AfterAllStateMachine.java:83 "
        "reset the bit.",
        accident=MERGES,
        smallest=(
            "Sessions of 10, AfterWatermark(), lateness 100; watermark 50, then 1 and 2 in "
            "one bundle: both are dropped as closed. Sessions of 10, AfterFirst(Always, Never); 0 "
            "and 5 in a bundle close [0, 15), and the same in the next bundle: Beam emits [0, 15) "
            "once more. Sessions of 9, AfterCount(2); {0, 8} closes [0, 17); 0 alone opens "
            "[0, 9) beside it; 8 merges both to [0, 17): the element at 0 is lost."
        ),
    ),
    Decision(
        "an AfterWatermark with early or late firings that is a part, in a merge",
        _BEAMS,
        "theirs",
        "After a merge past the end of the window, the early trigger of this AfterWatermark is "
        "finished, but the AfterWatermark itself is not. Without a late trigger it then never "
        "fires and never finishes. Here it has finished.",
        "AfterWatermarkStateMachine.java:142-168, AfterWatermarkEarlyAndLate.onMerge sets the "
        "finished bit of the early trigger, and never its own.",
        accident=PHASES,
        smallest=(
            "Sessions of 8, AfterAll(AfterWatermark(early=Never()), Always()), lateness 30; "
            "watermark 178, then 169 and 170 in one bundle: Beam waits for the expiry."
        ),
    ),
    Decision(
        "an early or late trigger with parts",
        _BEAMS,
        "theirs",
        "After the first pane of an early AfterAll its parts stay finished, so each bundle "
        "fires a pane. Here the early trigger starts again completely.",
        "AfterWatermarkStateMachine.java:229 and 256 call setFinished(false) of "
        "the early or late trigger itself, and not of its parts; RepeatedlyStateMachine resets "
        "the whole tree.",
        accident=PARTS,
        smallest=(
            "Fixed windows, AfterWatermark(early=AfterAll(AfterCount(1), AfterCount(2))): "
            "after the first early pane each bundle fires one."
        ),
    ),
    Decision(
        "the timer of a session that was merged away",
        _BEAMS,
        "theirs",
        "A session was merged into another one, and its processing-time timer still fires. The "
        "timer sets another timer, for the expiry of the merged session. In discarding mode "
        "this timer clears the hold of the live session: with the combiner earliest the pane "
        "has the end of the window as timestamp.",
        "ReduceFnRunner.java:844, onTimers, sets a cleanup timer for a window that is not "
        "active. Line 902, clearAllState, clears the holds under the name of that window, "
        "under which MergingActiveWindowSet keeps the state of the live session.",
        accident=STALE,
        smallest=(
            "Sessions of 10, AfterAll(AfterProcessingTime(20), Never), discarding, lateness "
            "100, earliest; 8 and 0 in a bundle, then 14, watermark 18, the clock advances by "
            "21, the end: the timestamp is 23, and not 0."
        ),
    ),
    *PYTHON_DECISIONS,
)
"""All of them, in the order in which they are asked."""
