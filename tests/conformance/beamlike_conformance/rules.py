"""Which rules a scenario turns on: those that its windowing, its steps and its outcome show.

The numbers are those of beamlike's page on semantics, which has each rule in words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from .scenarios import Scenario

__all__ = ["RULES", "Rule", "rules_of"]


@attrs.frozen
class Rule:
    """A rule of the model.

    Attributes:
        number: Its number on the page on semantics.
        feature: What people call it.
        group: What it belongs to, for tables.
        shows: Whether a scenario turns on it.
    """

    number: str
    feature: str
    group: str
    shows: Callable[[Scenario], bool] = attrs.field(repr=False)


def rules_of(scenario: Scenario) -> list[Rule]:
    """The rules that a scenario turns on, in the order of the page."""
    return [rule for rule in RULES if rule.shows(scenario)]


def _window(name: str) -> Callable[[Scenario], bool]:
    return lambda scenario: scenario.windowing["window"]["fn"].startswith(name)


def _trigger(*names: str) -> Callable[[Scenario], bool]:
    return lambda scenario: any(
        node["type"] in names for node in triggers_in(scenario.windowing["trigger"])
    )


def triggers_in(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A trigger and all inside it."""
    yield node
    for part in node.values():
        for child in part if isinstance(part, Sequence) and not isinstance(part, str) else [part]:
            if isinstance(child, Mapping) and "type" in child:
                yield from triggers_in(child)


def _phases(*names: str) -> Callable[[Scenario], bool]:
    return lambda scenario: any(
        node["type"] == "after_watermark" and any(node.get(name) for name in names)
        for node in triggers_in(scenario.windowing["trigger"])
    )


def _setting(name: str, value: Any) -> Callable[[Scenario], bool]:
    return lambda scenario: scenario.windowing[name] == value


def _pane(**fields: Any) -> Callable[[Scenario], bool]:
    return lambda scenario: any(
        all(pane.get(name) == value for name, value in fields.items()) for pane in scenario.panes
    )


def _drop(reason: str) -> Callable[[Scenario], bool]:
    return lambda scenario: any(drop["reason"] == reason for drop in scenario.dropped)


def _empty_pane(scenario: Scenario) -> bool:
    return any(pane["value"] in ([], 0, None) for pane in scenario.panes)


def _earliest_element(scenario: Scenario) -> int:
    times = [element["ts_ms"] for step in scenario.steps for element in step.get("elements", ())]
    return min(times, default=0)


def _merges(scenario: Scenario) -> bool:
    """Whether a pane or a drop is of a session that more than one element made."""
    gap = scenario.windowing["window"].get("gap_ms")
    return gap is not None and any(
        pane["window"][1] - pane["window"][0] > gap for pane in (*scenario.panes, *scenario.dropped)
    )


def _keys(scenario: Scenario) -> bool:
    keys = {repr(element["key"]) for step in scenario.steps for element in step.get("elements", ())}
    return len(keys) > 1


RULES: Final = (
    Rule("1.1", "times before 1970", "time", lambda scenario: _earliest_element(scenario) < 0),
    Rule("2.1", "fixed windows", "windows", _window("fixed")),
    Rule("2.2", "sliding windows", "windows", _window("sliding")),
    Rule("2.3", "sessions", "windows", _window("sessions")),
    Rule("2.4", "calendar windows", "windows", _window("calendar")),
    Rule("1.1", "the global window", "windows", _window("global")),
    Rule("3.1", "elements that expired", "late data", _drop("expired")),
    Rule("3.5", "elements of a closed window", "late data", _drop("closed")),
    Rule("5.1", "accumulating panes", "panes", _setting("accumulation", "accumulating")),
    Rule("5.2", "empty panes", "panes", _empty_pane),
    Rule("5.3", "early panes", "panes", _pane(timing="EARLY")),
    Rule("5.3", "on-time panes", "panes", _pane(timing="ON_TIME")),
    Rule("5.3", "late panes", "panes", _pane(timing="LATE")),
    Rule("5.6", "last panes", "panes", _pane(is_last=True)),
    Rule("5.2", "fire_always when closing", "panes", _setting("closing_behavior", "fire_always")),
    Rule("6.1", "DefaultTrigger", "triggers", _trigger("default")),
    Rule("6.2", "AfterWatermark", "triggers", _trigger("after_watermark")),
    Rule("6.3", "early and late triggers", "triggers", _phases("early", "late")),
    Rule("6.5", "AfterCount", "triggers", _trigger("after_count")),
    Rule(
        "6.6",
        "AfterProcessingTime",
        "triggers",
        _trigger("after_processing_time", "after_synchronized_processing_time"),
    ),
    Rule("6.7", "Repeatedly", "triggers", _trigger("repeatedly")),
    Rule("6.8", "AfterEach", "triggers", _trigger("after_each")),
    Rule("6.9", "AfterFirst and AfterAll", "triggers", _trigger("after_first", "after_all")),
    Rule("6.10", "OrFinally", "triggers", _trigger("or_finally")),
    Rule("6.11", "Never and Always", "triggers", _trigger("never", "always")),
    Rule("7.1", "sessions that merge", "merging", _merges),
    Rule("8.1", "several keys", "output watermark", _keys),
    Rule(
        "8.3",
        "earliest and latest timestamps",
        "output watermark",
        lambda scenario: scenario.windowing["timestamp_combiner"] != "end_of_window",
    ),
    Rule("9.1", "retracting panes", "retractions", _setting("accumulation", "retracting")),
)
"""All rules that can be seen in a scenario."""
