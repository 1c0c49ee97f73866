"""What was decided about each difference between an engine and the scenarios.

`theirs`: the engine does by accident what nobody can want; a report to its authors is in
`docs/pages/engines.md`. `open`: the model leaves it open, and the page on semantics says so.
A difference that no decision covers makes ``python -m tests.judges`` fail.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, Literal

import attrs

from tests.conformance.beamlike_conformance.comparing import unmatched
from tests.conformance.beamlike_conformance.rules import triggers_in
from tests.conformance.beamlike_conformance.scenarios import DialectCase, Scenario

__all__ = ["DECISIONS", "Decision", "decision_of"]

Answer = Mapping[str, Any]
Covers = Callable[[Scenario, Answer], bool]

_BEAMS: Final = ("beam_java", "beam_core")


@attrs.frozen
class Decision:
    """What a difference is.

    Attributes:
        name: A name for it, and its heading on the page.
        engines: Those that differ in this way.
        verdict: ``theirs``, or ``open``.
        text: What differs, in a sentence or two.
        cause: Where in the engine's source.
        covers: Whether a scenario, with what an engine gave out, is a case of it.
    """

    name: str
    engines: tuple[str, ...]
    verdict: Literal["theirs", "open"]
    text: str
    cause: str
    covers: Covers = attrs.field(repr=False)


def decision_of(engine: str, scenario: Scenario | DialectCase, answer: Answer) -> Decision | None:
    """What was decided about the way in which an engine differs; None: nothing yet."""
    if isinstance(scenario, DialectCase):
        return None
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
    return (
        "requires windows" in answer.get("error", "")
        and scenario.windowing["window"]["fn"] == "sliding"
    )


def _is_late_at_expiry(scenario: Scenario, answer: Answer) -> bool:
    """Whether all that differs are on-time panes at expiry, which came late or not at all."""
    if "panes" not in answer or not _drops_agree(scenario, answer):
        return False
    missing, extra = unmatched(scenario, answer["panes"])
    late = [{**pane, "timing": "ON_TIME"} for pane in extra if pane["timing"] == "LATE"]
    return (
        bool(missing)
        and len(late) == len(extra)
        and all(pane["timing"] == "ON_TIME" and pane["is_last"] for pane in missing)
        and all(dict(pane) in missing for pane in late)
    )


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
    closed = [pane["window"] for pane in scenario.panes if pane["is_last"]]
    return bool(extra) and all(pane["window"] in closed for pane in extra)


def _merges_into_a_closed_identity(scenario: Scenario, answer: Answer) -> bool:
    """Whether the first pane that is missing has the bounds of a session that was closed."""
    missing, _ = unmatched(scenario, answer.get("panes", ()))
    first = min(missing, key=lambda pane: int(pane["step"]), default=None)
    return first is not None and any(
        pane["is_last"] and pane["step"] < first["step"]
        for pane in scenario.panes
        if (pane["key"], pane["window"]) == (first["key"], first["window"])
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


DECISIONS: Final = (
    Decision(
        "before the origin",
        _BEAMS,
        "theirs",
        "Before 1970, or before an offset, Beam rounds towards zero: an element is in a window "
        "that does not contain it, and an aligned target is a period too late.",
        "FixedWindows.assignWindow, SlidingWindows.lastStartFor and "
        "TimestampTransform.AlignTo use % on what may be negative; CalendarWindows counts "
        "whole units from the start date.",
        _is_before_the_origin,
    ),
    Decision(
        "an element in no window",
        _BEAMS,
        "theirs",
        "Sliding windows with a period longer than their size have gaps. An element in a gap fails "
        "the pipeline in 2.73; here it is in no pane, and is not dropped.",
        "WindowedValues.of requires a window; AssignWindowsDoFn passes the empty collection on.",
        _fails_for_no_window,
    ),
    Decision(
        "one jump over end and expiry",
        ("beam_java",),
        "open",
        "A window whose trigger sets no timer for its end, and whose panes hold nothing back, "
        "expires in the same move of the watermark in which it ends. DirectRunner has moved its "
        "output watermark by then: the last pane is late, and, if it is empty, comes only with "
        "fire_always. runners-core alone gives the on-time pane, as here.",
        "WatermarkManager of the DirectRunner updates the output watermark before it delivers "
        "the timer of the expiry; PaneInfoTracker.describePane reads it.",
        _is_late_at_expiry,
    ),
    Decision(
        "two new late sessions in one bundle",
        _BEAMS,
        "theirs",
        "Two elements of one bundle open a session that is over already. Beam takes its "
        "AfterWatermark for finished, and drops both as closed, or begins in the late phase.",
        "AfterWatermarkStateMachine.onMerge asks whether all merging windows are finished, "
        "and there is none: MergingFinishedSets over no active window is true.",
        _new_sessions_are_late_together,
    ),
    Decision(
        "a closed session opened again",
        _BEAMS,
        "theirs",
        "Windows that are new merge to the bounds of a session whose trigger has finished. A "
        "composite computes anew from its parts whether it is finished, and the session comes out "
        "once more; here it stays closed.",
        "AfterFirstStateMachine.onMerge and AfterAllStateMachine.onMerge call "
        "setFinished from their children.",
        _opens_a_closed_identity,
    ),
    Decision(
        "live data merged into a closed session",
        _BEAMS,
        "theirs",
        "A live session and a new element merge to exactly the bounds of a session whose trigger "
        "has finished. Beam drops the element as closed and loses what the live session held; "
        "here the session opens once more, with index 0.",
        "ReduceFnRunner.processElement asks triggerRunner.isClosed of the merged window, "
        "whose finished bits are those of the closed session; MergingActiveWindowSet has merged "
        "the live state into it by then.",
        _merges_into_a_closed_identity,
    ),
    Decision(
        "an early or late trigger with parts",
        _BEAMS,
        "theirs",
        "After the first pane of an early trigger such as AfterAll its parts stay finished, so each "
        "bundle brings a pane. Here it starts over completely.",
        "AfterWatermarkStateMachine.onNonLateFiring resets only the finished bit of the early "
        "trigger itself; Repeatedly resets the whole tree.",
        _has_parts_in_a_phase,
    ),
    Decision(
        "one output watermark for all keys",
        ("beam_java",),
        "open",
        "The output watermark that makes a pane late is one for all keys of a grouping in the "
        "DirectRunner, so that a pane of one key is on time while another key's data holds it "
        "back. Here each key has one. runners-core with one key agrees.",
        "WatermarkManager keeps one hold for a transform, the least of its keys.",
        _turns_on_the_output_watermark,
    ),
)
"""All of them, in the order in which they are asked."""
