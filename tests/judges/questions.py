"""Ten streams on which the systems part, put to each engine in its own words.

Elements arrive one by one. The watermark of systems that are given one is the greatest event time
so far, less a delay; Kafka's grace and Spark's delay are the delay and the lateness together. The
last element has another key and a time far ahead, so that every window is over.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from beamlike.runtime.memory import run_in_memory
from beamlike.testing.scenarios.files import transcripts_of
from beamlike.testing.scenarios.results import to_document

END: Final = "end"
"""The key of the element that ends a stream."""
_FAR: Final = 1000


@attrs.frozen
class Question:
    """A stream of one key, and how it is windowed.

    Attributes:
        name: For files and links.
        title: What differs.
        text: What happens, and what to look for.
        window: ``session`` with ``gap_ms``, or ``tumbling`` and ``sliding`` with ``size_ms``.
        times: The event times of the elements, in order of arrival.
        delay: By how much the watermark trails the greatest event time (ms).
        lateness: How long a window is kept for late data (ms).
        early: Whether a result comes for each element.
        accumulating: Whether a later result of a window has the elements of those before.
    """

    name: str
    title: str
    text: str
    window: Mapping[str, Any]
    times: tuple[int, ...]
    delay: int = 0
    lateness: int = 0
    early: bool = False
    accumulating: bool = True


_SESSIONS: Final = {"type": "session", "gap_ms": 10}
_TUMBLING: Final = {"type": "tumbling", "size_ms": 10}

QUESTIONS: Final = (
    Question(
        "late_data",
        "Late data, and no lateness",
        "5 comes after 12, when [0, 10) is over.",
        _TUMBLING,
        (3, 12, 5, 14),
    ),
    Question(
        "late_within_lateness",
        "Late data within the lateness",
        "5 comes late, and the window is kept for 20 more. Is there another result, or does "
        "one result wait for it?",
        _TUMBLING,
        (3, 12, 5, 14),
        lateness=20,
    ),
    Question(
        "two_late",
        "Two late elements",
        "5 and 6 come late. Is there one more result, or two, and what do they hold?",
        _TUMBLING,
        (3, 12, 5, 6),
        lateness=20,
        accumulating=False,
    ),
    Question(
        "accumulating",
        "The same, accumulating",
        "5 and 6 come late, and each result holds the whole window.",
        _TUMBLING,
        (3, 12, 5, 6),
        lateness=20,
    ),
    Question(
        "gap",
        "Exactly one gap apart",
        "0 and 10, with a gap of 10: one session, or two?",
        _SESSIONS,
        (0, 10),
        delay=20,
    ),
    Question(
        "late_merge",
        "A session merged by late data",
        "0 and 12 are two sessions, until 6 comes in between.",
        _SESSIONS,
        (0, 12, 6),
        lateness=30,
    ),
    Question(
        "late_joins_live",
        "Late data for a session that is still open",
        "1 comes when a session of 1 alone would have ended, but the session of 0 and 9 is "
        "still open.",
        _SESSIONS,
        (0, 9, 15, 1),
    ),
    Question(
        "early_then_late",
        "Early results, then late data",
        "A result for each element; 5 comes late.",
        _TUMBLING,
        (3, 4, 12, 5),
        lateness=20,
        early=True,
    ),
    Question(
        "early_sessions",
        "Early results of sessions that merge",
        "0 and 12 have results before 6 merges them into one session. Are these withdrawn?",
        _SESSIONS,
        (0, 12, 6),
        delay=30,
        early=True,
    ),
    Question(
        "gaps_between_windows",
        "An element between two windows",
        "Windows of 3 every 10: 4 is in none.",
        {"type": "sliding", "size_ms": 3, "slide_ms": 10},
        (1, 4, 11),
    ),
)
"""All of them, in the order of the page."""


@attrs.frozen
class Outcome:
    """A row that an engine gives out.

    Attributes:
        after: The number of the element that brings it, counted from 1.
        elements: The numbers of the elements that it holds.
        window: Its bounds as the engine shows them.
        word: What it is: a timing, ``result``, ``withdrawn`` or ``dropped``.
    """

    after: int
    elements: tuple[int, ...]
    window: tuple[int, int] | None
    word: str


def documents_for(dialect: str | None) -> list[dict[str, Any]]:
    """The questions in the words of an engine: its cases, or scenarios of Beam's model."""
    writers = {None: _scenario, "kafka": _kafka, "flink": _flink, "plain": _plain}
    return [writers[dialect](question) for question in QUESTIONS]


def _elements(question: Question) -> list[dict[str, Any]]:
    elements = [
        {"key": "k", "value": 2**number, "ts_ms": time}
        for number, time in enumerate(question.times)
    ]
    return [*elements, {"key": END, "value": 2 ** len(elements), "ts_ms": _FAR}]


def _plain(question: Question) -> dict[str, Any]:
    return {
        **attrs.asdict(question),
        "id": f"question-{question.name}",
        "elements": _elements(question),
    }


def _scenario(question: Question) -> dict[str, Any]:
    size = question.window.get("size_ms")
    window: dict[str, Any] = {"fn": "sessions", "gap_ms": question.window.get("gap_ms")}
    if question.window["type"] == "tumbling":
        window = {"fn": "fixed", "size_ms": size}
    elif question.window["type"] == "sliding":
        window = {"fn": "sliding", "size_ms": size, "period_ms": question.window["slide_ms"]}
    every_element = {"type": "after_count", "count": 1}
    late = every_element if question.lateness else None
    steps: list[dict[str, Any]] = []
    greatest = -_FAR
    for element in _elements(question):
        greatest = max(greatest, element["ts_ms"])
        steps += [{"elements": [element]}, {"advance_watermark_to_ms": greatest - question.delay}]
    return {
        "format": "beamlike-transcript-v1",
        "id": f"question-{question.name}",
        "source": "a question of the judges",
        "windowing": {
            "window": window,
            "trigger": {
                "type": "after_watermark",
                "early": every_element if question.early else None,
                "late": late,
            },
            "accumulation": "accumulating" if question.accumulating else "discarding",
            "allowed_lateness_ms": question.lateness,
            "timestamp_combiner": "end_of_window",
            "closing_behavior": "fire_if_non_empty",
            "on_time_behavior": "fire_always",
        },
        "aggregation": "sum",
        "steps": steps,
        "complete": True,
        "panes": [],
        "dropped": [],
    }


def _case(question: Question, dialect: str) -> dict[str, Any]:
    return {
        "id": f"question-{question.name}",
        "source": "a question of the judges",
        "provenance": "run",
        "dialect": dialect,
        "kind": "stream",
        "keyed": True,
        "window": dict(question.window),
        "accumulation": "accumulating",
        "expect": [],
    }


def _kafka(question: Question) -> dict[str, Any]:
    steps = [
        {"elements": [{**element, "value": str(element["value"])}]}
        for element in _elements(question)
    ]
    return {
        **_case(question, "kafka"),
        "trigger": {"type": "per_record" if question.early else "on_close"},
        "aggregate": "reduce:+",
        "watermark_convention": "stream_time",
        "grace_ms": question.delay + question.lateness,
        "emit": "on_update" if question.early else "on_close",
        "steps": steps,
    }


def _flink(question: Question) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    greatest = -_FAR
    for element in _elements(question):
        greatest = max(greatest, element["ts_ms"])
        watermark = greatest - question.delay - 1  # Flink's includes its own instant
        steps += [{"elements": [element]}, {"advance_watermark_to_ms": watermark}]
    trigger: dict[str, Any] = {"type": "count", "count": 1}
    if not question.early:
        trigger = {"type": "event_time"}
    if not question.accumulating:
        trigger = {"type": "purging", "of": trigger}
    return {
        **_case(question, "flink"),
        "trigger": trigger,
        "aggregate": "sum",
        "watermark_convention": "inclusive",
        "allowed_lateness_ms": question.lateness,
        "steps": steps,
    }


def outcomes(answer: Mapping[str, Any], steps_each: int) -> list[Outcome] | str:
    """What an engine gives out for a question; a text if it cannot say it, or fails."""
    for field in ("unsupported", "error"):
        if field in answer:
            return f"{'fails' if field == 'error' else 'cannot be said'}: {answer[field]}"
    rows = [
        Outcome(
            pane["step"] // steps_each + 1,
            _numbers(pane["value"]),
            _bounds(pane["window"]),
            pane["timing"].lower().replace("_", "-"),
        )
        for pane in answer.get("panes", ())
        if pane["key"] != END
    ]
    rows += [
        Outcome(
            drop["step"] // steps_each + 1,
            _numbers(drop["value"]),
            _bounds(drop["window"]),
            "dropped",
        )
        for drop in answer.get("dropped", ())
    ]
    rows.sort(key=lambda row: row.after)
    words = {"value": "result", "tombstone": "withdrawn", "dropped": "dropped", "late": "dropped"}
    rows += [
        Outcome(
            row["step"] // steps_each + 1,
            _numbers(row["value"]),
            _bounds(row["window"]),
            words[row["kind"]],
        )
        for row in answer.get("rows", ())
        if row["key"] != END
    ]
    return rows


def outcomes_here() -> dict[str, list[Outcome]]:
    """What beamlike gives out for each question, by its name."""
    results: dict[str, list[Outcome]] = {}
    for question in QUESTIONS:
        (scenario,) = transcripts_of(json.dumps(_scenario(question)), question.name).scenarios
        rows = outcomes(to_document(run_in_memory(scenario.machine(), scenario.script)), 2)
        assert not isinstance(rows, str)
        results[question.name] = rows
    return results


def _bounds(window: Any) -> tuple[int, int] | None:
    return (window[0], window[1]) if isinstance(window, Sequence) and len(window) == 2 else None


def _numbers(value: Any) -> tuple[int, ...]:
    """The numbers of the elements whose values, powers of two, make this sum."""
    parts = str(value or 0).split("+")
    total = sum(int(float(part)) for part in parts)
    return tuple(number + 1 for number in range(total.bit_length()) if total >> number & 1)
