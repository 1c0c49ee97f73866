"""What other systems do, as cases, and how far `beamlike.dialects` does the same in memory.

Every case passes, or is in one of two lists: where beamlike differs on purpose, with what it says
instead; and what nobody has seen happen. A case that has no place in a list and fails is an error,
and so is one that has a place and passes.
"""

from collections import Counter

import pytest

from beamlike.errors import UnsupportedError
from tests.conformance.beamlike_conformance.comparing import row_differences
from tests.conformance.beamlike_conformance.scenarios import DialectCase, load_cases
from tests.support.dialects.player import CaseRow
from tests.support.dialects.plays import play, played_state
from tests.support.dialects.questions import wrong_answers

CASES = {case.id: case for case in load_cases()}


def value(
    step: int, key: object, value: object, window: object, ts_ms: int, kind: str = "value"
) -> CaseRow:
    parts = {"step": step, "kind": kind, "key": key, "value": value}
    return {**parts, "window": window, "ts_ms": ts_ms}


DIFFERS: dict[str, tuple[str, list[CaseRow]]] = {
    "akka-bursts-further-apart-than-the-gap-can-share-a-session": (
        "a session does not take in what came after its deadline, whenever somebody looks",
        [value(4, None, ["a"], None, 2000), value(4, None, ["b"], None, 3000)],
    ),
    "apex-count-trigger-restarts-on-extension": (
        "a session goes on counting as it grows",
        [
            value(1, "a", 2, (1200000, 1201100), 1200000),
            value(3, "a", 4, (1200000, 1201200), 1200000),
        ],
    ),
    "apex-discarding-forgets-the-session": (
        "a firing empties a session and does not end it",
        [
            value(0, "a", 1, (1200000, 1201000), 1200000),
            value(1, "a", 2, (1200000, 1201500), 1200000),
            value(2, "a", 4, (1200000, 1202000), 1200000),
        ],
    ),
    "apex-keyed-only-updated-needs-an-extra-store": (
        "a value whose withdrawal is left out is not fired again",
        [
            value(1, "a", 1, (1200000, 1201000), 1200000),
            value(1, "b", 2, (1200000, 1201000), 1200000),
            value(3, "a", 1, (1200000, 1201000), 1200000, "retract"),
            value(3, "a", 5, (1200000, 1201000), 1200000),
        ],
    ),
    "apex-touching-sessions-merge-on-a-duplicate": (
        "an element at a time that was there before changes no bounds",
        [
            value(0, "a", 1, (1200000, 1201000), 1200000),
            value(1, "a", 1, (1201000, 1202000), 1201000),
            value(2, "a", 2, (1200000, 1201000), 1200000),
        ],
    ),
    "flink-dynamic-gap-equal-window-discards-earlier-contents": (
        "no element is lost because a window has bounds that were there before",
        [value(2, "a", 7, (0, 6), 5)],
    ),
}

UNVERIFIED = {"kafka-in-memory-store-with-emit-final-loses-results"}

NO_COUNTERPART = {name for name in CASES if name.startswith("kafka-sliding-by-record")}
"""Kafka's `SlidingWindows`, which begin and end with records."""


def found_wrong(case: DialectCase) -> list[str]:
    """How a case comes out otherwise than it says: rows, and what is left in a table."""
    if case.kind != "stream":
        return wrong_answers(case)
    found = row_differences(case.rows, play(case), case.any_order)
    expected = case.document.get("expect_state")
    if expected is not None:
        state = played_state(case)
        if sorted(map(str, state)) != sorted(map(str, expected)):
            found.append(f"state {state}; expected: {expected}")
    return found


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.id)
        for case in CASES.values()
        if case.id not in DIFFERS.keys() | UNVERIFIED | NO_COUNTERPART
    ],
)
def test_a_case_comes_out_as_in_its_system(case: DialectCase) -> None:
    assert found_wrong(case) == []
    # Such a case says what is right, and beside it what the system gives out.
    assert not case.document.get("defect") or "apex_output" in case.document
    assert not case.document.get("unverified")


@pytest.mark.parametrize("name", DIFFERS)
def test_beamlike_differs_on_purpose(name: str) -> None:
    case, (_, instead) = CASES[name], DIFFERS[name]

    assert found_wrong(case) != []
    assert row_differences(instead, play(case), case.any_order) == []


@pytest.mark.parametrize("name", sorted(UNVERIFIED))
def test_a_case_that_no_one_has_seen_happen_is_not_followed(name: str) -> None:
    assert CASES[name].document["unverified"]
    assert found_wrong(CASES[name]) != []


@pytest.mark.parametrize("name", sorted(NO_COUNTERPART))
def test_a_case_of_windows_that_the_model_does_not_have_is_refused(name: str) -> None:
    with pytest.raises(UnsupportedError, match="by_record windows"):
        play(CASES[name])


def test_every_case_is_accounted_for_once() -> None:
    lists = [*DIFFERS, *UNVERIFIED, *NO_COUNTERPART]

    assert [name for name, times in Counter(lists).items() if times > 1] == []
    assert set(lists) <= CASES.keys()
    assert {case.id for case in CASES.values() if case.document.get("unverified")} == UNVERIFIED
    assert [name for name in DIFFERS if not CASES[name].document.get("defect")] == []
    assert {case.id for case in CASES.values() if case.document.get("defect")} - DIFFERS.keys() == {
        "apex-acc-average-merge"  # says what is right itself
    }
    assert Counter(case.dialect for case in CASES.values()) == {
        "akka": 9,
        "apex": 35,
        "flink": 25,
        "kafka": 58,
    }
