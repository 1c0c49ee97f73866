"""What was decided about the differences of Beam Python's streaming runner.

Each is a divergence of its own from Beam Java, whose model the scenarios are. They are known by
what differs, the narrowest first.
"""

from typing import Final

from tests.conformance.beamlike_conformance.comparing import unmatched
from tests.conformance.beamlike_conformance.rules import triggers_in
from tests.conformance.beamlike_conformance.scenarios import Scenario
from tests.judges.decision import Answer, Decision, agree_without

__all__ = ["PYTHON_DECISIONS"]

_PYTHON: Final = ("beam_python",)
_COMPOSITES: Final = {"after_first", "after_all", "after_each", "or_finally", "repeatedly"}


def _is_stuck_or_lacks_the_end(scenario: Scenario, answer: Answer) -> bool:
    """Whether the run never ends, or all that is missing are panes of windows that expire."""
    if "panes" not in answer or any("never ends" in note for note in answer.get("notes", ())):
        words = ("does not get past", "derive from BaseException", "progress", "never ends")
        return any(word in str(answer) for word in words)
    missing, extra = unmatched(scenario, answer["panes"])
    came = {(str(pane["key"]), str(pane["window"]), pane["index"]) for pane in extra}
    gone = [
        pane
        for pane in missing
        if (str(pane["key"]), str(pane["window"]), pane["index"]) not in came
    ]
    same = {(str(pane["key"]), str(pane["window"]), pane["index"]) for pane in missing}
    return (
        bool(gone)
        and all(pane["is_last"] for pane in gone)
        and all((str(p["key"]), str(p["window"]), p["index"]) in same for p in extra)
        and not _waits_for_the_clock(scenario, answer)
    )


def _waits_for_the_clock(scenario: Scenario, answer: Answer) -> bool:
    types = {node["type"] for node in triggers_in(scenario.windowing["trigger"])}
    return any("processing_time" in name for name in types)


def _is_at_the_boundary(scenario: Scenario, answer: Answer) -> bool:
    """Whether an element comes as the watermark is exactly at the expiry of its window."""
    lateness, watermark = scenario.windowing["allowed_lateness_ms"], None
    expiries = {
        drop["window"][1] + lateness
        for drop in scenario.dropped
        if drop["window"] != "global" and drop["reason"] == "expired"
    }
    for step in scenario.steps:
        watermark = step.get("advance_watermark_to_ms", watermark)
        if watermark in expiries:
            return True
    return False


def _types(scenario: Scenario) -> set[str]:
    return {node["type"] for node in triggers_in(scenario.windowing["trigger"])}


PYTHON_DECISIONS: Final = (
    Decision(
        "Beam Python: which pane is the last",
        _PYTHON,
        "theirs",
        "A pane is the last only if the trigger has finished; one at the expiry of its window is "
        "not.",
        "trigger.py: GeneralTriggerDriver._output takes is_last from the trigger alone.",
        lambda scenario, answer: agree_without(scenario, answer, "is_last"),
    ),
    Decision(
        "Beam Python: no timer at the expiry",
        _PYTHON,
        "theirs",
        "Nothing happens when a window expires: what no trigger asked for is never released, an "
        "empty on-time pane of a trigger without a watermark does not come, and a hold that stays "
        "keeps the run from ending.",
        "trigger.py: GeneralTriggerDriver sets no timer for garbage collection.",
        _is_stuck_or_lacks_the_end,
    ),
    Decision(
        "Beam Python: timestamps keep the elements of earlier panes",
        _PYTHON,
        "theirs",
        "Early panes do not release the hold of the watermark, so that with the timestamp combiner "
        "earliest or latest a later pane is stamped with elements of those before.",
        "trigger.py: GeneralTriggerDriver._output keeps the hold while an on-time pane may come.",
        lambda scenario, answer: agree_without(scenario, answer, "is_last", "timestamp_ms"),
    ),
    Decision(
        "Beam Python: the clock",
        _PYTHON,
        "theirs",
        "A timer of the clock fires at its target, not after it; any of them makes every trigger "
        "of the window that waits for the clock ready, and the time of the timer is compared with "
        "the end of the window as if it were the watermark.",
        "trigger.py: AfterProcessingTime.should_fire looks at the domain, not at its target.",
        _waits_for_the_clock,
    ),
    Decision(
        "Beam Python: on time, or early and late",
        _PYTHON,
        "theirs",
        "A pane is on time only if a timer of the watermark brought it. One that late data brings "
        "while the output watermark is held back is early there, and not on time.",
        "trigger.py: GeneralTriggerDriver._output, by the output watermark and maybe_ontime.",
        lambda scenario, answer: agree_without(
            scenario, answer, "is_last", "timestamp_ms", "timing", "nonspeculative_index"
        ),
    ),
    Decision(
        "Beam Python: one tick at the expiry",
        _PYTHON,
        "theirs",
        "Data for a window is dropped once the watermark is past its end and the lateness; Java "
        "drops it as the watermark gets there.",
        "trigger.py: GeneralTriggerDriver.process_elements compares with >.",
        _is_at_the_boundary,
    ),
    Decision(
        "Beam Python: sessions",
        _PYTHON,
        "theirs",
        "A session whose trigger has finished stays in the set of windows, takes in new data and "
        "drops it; a merged session takes the furthest phase of its parts, and an AfterEach does "
        "not go back.",
        "trigger.py: GeneralTriggerDriver._output adds a TOMBSTONE, which the window keeps; and "
        "on_merge of each trigger.",
        lambda scenario, answer: "gap_ms" in scenario.windowing["window"],
    ),
    Decision(
        "Beam Python: composites",
        _PYTHON,
        "theirs",
        "AfterAny, AfterAll and OrFinally finish only if those of their parts do that fire, and "
        "Repeatedly starts anew only then.",
        "trigger.py: _ParallelTriggerFn.on_fire returns combine_op of what the parts return.",
        lambda scenario, answer: bool(_types(scenario) & _COMPOSITES),
    ),
)
"""In the order in which they are asked."""
