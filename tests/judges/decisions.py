"""What was decided about each difference between an engine and the scenarios.

`theirs`: the engine does by accident what cannot be wanted; a report to its authors is in
`docs/pages/engines.md`. `open`: the model leaves it open, and the page on semantics says so.
A difference that no decision covers makes ``python -m tests.judges`` fail.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from tests.conformance.beamlike_conformance.comparing import row_differences, unmatched
from tests.conformance.beamlike_conformance.rules import triggers_in
from tests.conformance.beamlike_conformance.scenarios import DialectCase, Scenario
from tests.judges.decision import Answer, Decision, agree_without
from tests.judges.kafka_algorithm import rows_of_stores
from tests.judges.python_decisions import PYTHON_DECISIONS

__all__ = ["DECISIONS", "Decision", "decision_of"]

_BEAMS: Final = ("beam_java", "beam_core")


def decision_of(engine: str, scenario: Scenario | DialectCase, answer: Answer) -> Decision | None:
    """What was decided about the way in which an engine differs; None: nothing yet."""
    for decision in DECISIONS:
        if engine in decision.engines and decision.covers(scenario, answer):
            return decision
    return None


# -- what scenarios have in common -----------------------------------------------------------


def _is_before_the_origin(scenario: Scenario, answer: Answer) -> bool:
    """Whether an element is before 1970, or a target of the clock before its offset."""
    clock, offset = 0, max(_offsets(scenario), default=-1)
    for step in scenario.steps:
        clock += step.get("advance_processing_time_by_ms", 0)
        elements = step.get("elements", ())
        if any(element["ts_ms"] < 0 for element in elements) or (elements and clock < offset):
            return True
    return False


def _offsets(scenario: Scenario) -> Iterator[int]:
    for node in triggers_in(scenario.windowing["trigger"]):
        for transform in node.get("transforms", ()):
            if "align_to" in transform:
                yield transform["align_to"].get("offset_ms", 0)


def _fails_for_no_window(scenario: Scenario, answer: Answer) -> bool:
    window = scenario.windowing["window"]
    has_gaps = window["fn"] == "sliding" and window["period_ms"] > window["size_ms"]
    words = ("requires windows", "IndexError")
    return has_gaps and any(word in answer.get("error", "") for word in words)


def _is_late_at_expiry(scenario: Scenario, answer: Answer) -> bool:
    """Whether all that differs are on-time panes at expiry, which came late or not at all."""
    if "panes" not in answer or not _drops_agree(scenario, answer):
        return False
    _, extra = unmatched(scenario, answer["panes"])
    on_time = [
        {**pane, "timing": "ON_TIME"} if pane in extra and pane["timing"] == "LATE" else pane
        for pane in answer["panes"]
    ]
    missing, extra = unmatched(scenario, on_time)
    return not extra and all(pane["timing"] == "ON_TIME" and pane["is_last"] for pane in missing)


def _drops_agree(scenario: Scenario, answer: Answer) -> bool:
    counts = answer.get("drop_counts")
    reasons = [drop["reason"] for drop in scenario.dropped]
    return counts is None or all(
        reasons.count(reason) == counts.get(reason, 0) for reason in ("expired", "closed")
    )


def _new_sessions_are_late_together(scenario: Scenario, answer: Answer) -> bool:
    """Whether a bundle opens a session by two elements whose windows are over already."""
    gap = scenario.windowing["window"].get("gap_ms")
    types = {node["type"] for node in triggers_in(scenario.windowing["trigger"])}
    if gap is None or "after_watermark" not in types:
        return False
    watermark = None
    for step in scenario.steps:
        watermark = step.get("advance_watermark_to_ms", watermark)
        times: dict[str, list[int]] = {}
        for element in step.get("elements", ()):
            if watermark is not None and element["ts_ms"] + gap <= watermark:
                times.setdefault(repr(element["key"]), []).append(element["ts_ms"])
        if any(_has_neighbours(instants, gap) for instants in times.values()):
            return True
    return False


def _has_neighbours(instants: Sequence[int], gap: int) -> bool:
    ordered = sorted(instants)
    return any(0 <= after - before < gap for before, after in pairwise(ordered))


def _opens_a_closed_identity(scenario: Scenario, answer: Answer) -> bool:
    """Whether a composite's closed session comes out again with the same bounds."""
    types = {node["type"] for node in triggers_in(scenario.windowing["trigger"])}
    if "gap_ms" not in scenario.windowing["window"] or not types & {"after_first", "after_all"}:
        return False
    _, extra = unmatched(scenario, answer.get("panes", ()))
    return bool(extra) and all(
        any(
            closed["is_last"]
            and closed["window"] == pane["window"]
            and closed["step"] < pane["step"]
            for closed in scenario.panes
        )
        for pane in extra
    )


def _merges_into_a_closed_identity(scenario: Scenario, answer: Answer) -> bool:
    """Whether the first pane that is missing has the bounds of a session that was closed."""
    missing, _ = unmatched(scenario, answer.get("panes", ()))
    first = min(missing, key=lambda pane: int(pane["step"]), default=None)
    return first is not None and any(
        pane["is_last"] and pane["step"] < first["step"]
        for pane in scenario.panes
        if (pane["key"], pane["window"]) == (first["key"], first["window"])
    )


def _loses_a_hold(scenario: Scenario, answer: Answer) -> bool:
    """Whether only timestamps differ, of sessions that wait for the clock and discard."""
    types = {node["type"] for node in triggers_in(scenario.windowing["trigger"])}
    return (
        "gap_ms" in scenario.windowing["window"]
        and "after_processing_time" in types
        and scenario.windowing["accumulation"] == "discarding"
        and agree_without(scenario, answer, "timestamp_ms")
    )


def _has_parts_in_a_phase(scenario: Scenario, answer: Answer) -> bool:
    """Whether an early or late trigger has parts."""
    return any(
        len(list(triggers_in(node[phase]))) > 1
        for node in triggers_in(scenario.windowing["trigger"])
        for phase in ("early", "late")
        if node.get(phase)
    )


def _turns_on_the_output_watermark(scenario: Scenario, answer: Answer) -> bool:
    """Whether it is one of the scenarios with several keys that hold each other back."""
    reasons = scenario.document.get("contested_reason", ())
    return any("output watermark" in reason for reason in reasons)


# -- what cases of other systems have in common ------------------------------------------------


def _is_what_the_stores_show(case: DialectCase, answer: Answer) -> bool:
    """Whether Kafka's stores, and what they show of closed sessions, make exactly these rows."""
    document = case.document
    if document["kind"] != "stream" or document["window"]["type"] != "session":
        return False
    if document["emit"] not in ("cached_update", "on_close") or "streams" in document:
        return False
    return row_differences(rows_of_stores(document), answer["rows"]) == []


def _fires_for_what_has_passed(case: DialectCase, answer: Answer) -> bool:
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


def _orphans_a_merged_window(case: DialectCase, answer: Answer) -> bool:
    """Whether a dynamic gap gives an element exactly the bounds of a session."""
    return case.document["window"].get("gap_ms", 0) is None


DECISIONS: Final = (
    Decision(
        "closed sessions that a store shows",
        ("kafka_streams",),
        "open",
        "A record cache shows sessions that are closed, and a record that is in time merges with "
        "one of them. Where results come on close, a store with the shortest retention hides a "
        "session one millisecond before it is closed, and the record that is exactly a gap after "
        "it is apart. In beamlike.dialects a closed session is never found again, and an open one "
        "always.",
        "CachingSessionStore.findSessions finds what is in the cache without regard to "
        "the retention; the stores below hide what ends at the latest end less the "
        "retention.",
        _is_what_the_stores_show,
        smallest=(
            "Gap 5, no grace, record cache; a at 0, b at 8, a at 5: Kafka gives a [0, 5] of "
            "both, and [0, 0] was closed."
        ),
    ),
    Decision(
        "a continuous trigger behind the watermark",
        ("flink",),
        "theirs",
        "The first multiple of the interval after an element behind the watermark has passed. "
        "Flink sets a timer for it all the same, and fires with the next watermark, whatever it "
        "is; here the rhythm begins with the first multiple ahead. Before 1970 Flink rounds "
        "towards zero, and the first firing is an interval later.",
        "ContinuousEventTimeTrigger.onElement computes start = timestamp - (timestamp % "
        "interval), and registers a timer for start + interval, where that may be.",
        _fires_for_what_has_passed,
        smallest=(
            "Tumbling windows of 5, interval 3, watermark 27, an element at 25: Flink fires "
            "with the next watermark and at the end; here once."
        ),
    ),
    Decision(
        "a dynamic gap with the bounds of a session",
        ("flink",),
        "theirs",
        "An element whose own window is exactly the session that was merged before takes the "
        "window for itself, and what was in it is lost.",
        "MergingWindowSet.addWindow: a group of equal windows is not a merge, and "
        "mapping.put(resultWindow, resultWindow) replaces the state window that the "
        "session had.",
        _orphans_a_merged_window,
        smallest=(
            "Elements (0, gap 4) = 1, (2, gap 4) = 2, (0, gap 6) = 4: Flink gives 4, and 7 came."
        ),
    ),
    Decision(
        "before the origin",
        _BEAMS,
        "theirs",
        "Before 1970, or before an offset, Beam rounds towards zero: an element is in a window "
        "that does not contain it, and an aligned target is a period too late.",
        "FixedWindows.assignWindow, SlidingWindows.lastStartFor and "
        "AfterProcessingTimeStateMachine's alignment take a remainder with %, which is "
        "negative for what is; CalendarWindows counts whole units from the start date, "
        "cut off towards zero.",
        _is_before_the_origin,
        smallest=("Fixed windows of 10, an element at -15: Beam gives [-10, 0)."),
    ),
    Decision(
        "an element in no window",
        (*_BEAMS, "beam_python"),
        "theirs",
        "Sliding windows with a period longer than their size have gaps. An element in a gap fails "
        "the pipeline in 2.73, and the run in Beam Python; here it is in no pane, and is not "
        "dropped.",
        "WindowedValues.of requires a window, and the WindowEvaluator passes an empty "
        "collection on (2.73).",
        _fails_for_no_window,
        smallest=(
            "Sliding windows of 3 every 10, one element at 3: the pipeline fails with "
            '"WindowedValue requires windows, but there were none".'
        ),
    ),
    Decision(
        "one jump over end and expiry",
        ("beam_java",),
        "open",
        "A window whose trigger sets no timer for its end, and whose panes hold nothing back, "
        "expires in the same move of the watermark in which it ends. DirectRunner has moved its "
        "output watermark by then: the last pane is late, and, if it is empty, comes only with "
        "fire_always. runners-core alone gives the on-time pane, as here.",
        "WatermarkManager holds the output watermark at the earliest timer that is "
        "pending. That is the one of the expiry where the trigger has set none for the "
        "end, and so the output watermark is past the end when PaneInfoTracker asks it.",
        _is_late_at_expiry,
        smallest=(
            "Fixed windows of 10, Repeatedly(AfterCount(1)), discarding, lateness 5; an "
            "element at 1, watermark 15: an empty on-time pane here, none in the "
            "DirectRunner."
        ),
    ),
    Decision(
        "two new late sessions in one bundle",
        _BEAMS,
        "theirs",
        "Two elements of one bundle open a session that is over already. Beam takes its "
        "AfterWatermark for finished, and drops both as closed, or begins in the late phase. What "
        "they hold back is never released, and the pipeline of a test stream does not end.",
        "AfterWatermarkStateMachine.FromEndOfWindow.onMerge asks "
        "finishedInAllMergingWindows(), which is true where none of the merging windows "
        "is active.",
        _new_sessions_are_late_together,
        smallest=(
            "Sessions of 10, AfterWatermark(), lateness 100; watermark 50, then 1 and 2 in "
            "one bundle: both are dropped as closed."
        ),
    ),
    Decision(
        "a closed session opened again",
        _BEAMS,
        "theirs",
        "Windows that are new merge to the bounds of a session whose trigger has finished. A "
        "composite computes anew from its parts whether it is finished, and the session comes out "
        "once more; here it stays closed.",
        "AfterFirstStateMachine.onMerge and AfterAllStateMachine.onMerge end with "
        "updateFinishedStatus, which sets the finished bit from those of the children, "
        "also back.",
        _opens_a_closed_identity,
        smallest=(
            "Sessions of 10, AfterFirst(Always, Never); elements at 0 and 5 in a bundle close "
            "[0, 15), and the same in the next bundle: Beam emits [0, 15) once more."
        ),
    ),
    Decision(
        "live data merged into a closed session",
        _BEAMS,
        "theirs",
        "A live session and a new element merge to exactly the bounds of a session whose trigger "
        "has finished. Beam drops the element as closed and loses what the live session held; "
        "here the session opens once more, with index 0.",
        "ReduceFnRunner.processElement asks triggerRunner.isClosed of the merged window, "
        "whose finished bits are those of the closed session, after "
        "MergingActiveWindowSet has merged the live window into it.",
        _merges_into_a_closed_identity,
        smallest=(
            "Sessions of 9, AfterCount(2); {0, 8} closes [0, 17); 0 alone opens [0, 9) beside"
            " it; 8 merges both to [0, 17): Beam loses the element at 0, and drops the one at"
            " 8."
        ),
    ),
    Decision(
        "an early or late trigger with parts",
        _BEAMS,
        "theirs",
        "After the first pane of an early AfterAll its parts stay finished, so each "
        "bundle brings a pane. Here it starts over completely.",
        "AfterWatermarkStateMachine.onNonLateFiring calls setFinished(false) of the early"
        " trigger itself, and not of its parts; RepeatedlyStateMachine resets the whole "
        "tree.",
        _has_parts_in_a_phase,
        smallest=(
            "Fixed windows, AfterWatermark(early=AfterAll(AfterCount(1), AfterCount(2))): "
            "after the first early pane each bundle brings one."
        ),
    ),
    Decision(
        "the timer of a session that was merged away",
        _BEAMS,
        "theirs",
        "A timer of the clock of a session that another has taken in fires, and clears the hold of "
        "the live session in discarding mode: with the combiner earliest its pane has the end of "
        "the window as timestamp.",
        "ReduceFnRunner.onTimers asks for the state of the timer's window, which "
        "MergingActiveWindowSet gives as that of the window it was merged into; a timer of a "
        "window that is not active is not left out before.",
        _loses_a_hold,
        smallest=(
            "Sessions of 10, AfterAll(AfterProcessingTime(20), Never), discarding, lateness 100, "
            "earliest; 8 and 0 in a bundle, then 14, watermark 18, the clock 21 on, the end: the "
            "timestamp is 23, and not 0."
        ),
    ),
    Decision(
        "one output watermark for all keys",
        ("beam_java",),
        "open",
        "The output watermark that makes a pane late is one for all keys of a grouping in the "
        "DirectRunner, so that a pane of one key is on time while another key's data holds it "
        "back. Here each key has one. runners-core with one key agrees.",
        "WatermarkManager keeps the holds of a transform for all keys together.",
        _turns_on_the_output_watermark,
    ),
    *PYTHON_DECISIONS,
)
"""All of them, in the order in which they are asked."""
