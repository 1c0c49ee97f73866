"""Cases of other systems that are no streams: stores, merges and settings, asked one by one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from beamlike.dialects import kafka
from beamlike.dialects.kafka_store import Session
from beamlike.errors import BeamlikeError, UnsupportedError
from beamlike.model.session_merging import merge_overlapping
from beamlike.model.sessions import Sessions
from beamlike.model.windows import IntervalWindow, bounds
from tests.conformance.beamlike_conformance.scenarios import DialectCase
from tests.support.dialects.apex_questions import assigned, combined, recovered, validated
from tests.support.dialects.player import unless
from tests.support.dialects.session_store import SessionStore

__all__ = ["wrong_answers"]


def wrong_answers(case: DialectCase) -> list[str]:
    """What is answered otherwise than a case says; nothing if all is well."""
    asked: Mapping[tuple[str, str], Callable[[DialectCase], Iterator[str]]] = {
        ("apex", "assign"): assigned,
        ("apex", "combine"): combined,
        ("apex", "storage"): recovered,
        ("apex", "validation"): validated,
        ("flink", "merge_windows"): _merges,
        ("flink", "window_set"): _window_set,
        ("kafka", "store"): _store,
        ("kafka", "validation"): _validation,
    }
    if (case.dialect, case.kind) not in asked:
        raise UnsupportedError(f"cases of {case.dialect} of the kind {case.kind}")
    return list(asked[case.dialect, case.kind](case))


# -- Kafka Streams ---------------------------------------------------------------------------


def _store(case: DialectCase) -> Iterator[str]:
    store = SessionStore(case.document["retention_ms"])
    for index, step in enumerate(case.steps):
        found: Any
        match step:
            case {"put": it}:
                store.put(it["key"], tuple(it["window"]), it["value"])
                continue
            case {"remove": it}:
                store.remove(it["key"], tuple(it["window"]))
                continue
            case {"find_sessions": it}:
                found = _shown(
                    store.find_sessions(
                        it["key"],
                        it["earliest_end"],
                        it["latest_start"],
                        backward=it.get("backward", False),
                    )
                )
            case {"fetch": it}:
                found = _shown(store.fetch(it["key"]))
            case {"fetch_session": it}:
                found = store.fetch_session(it["key"], *it["window"])
            case _:
                raise UnsupportedError(f"a step with {', '.join(step)}")
        yield from unless(f"step {index}", step["expect"], found)


def _shown(sessions: Sequence[Session]) -> list[list[Any]]:
    return [[session.key, list(session.window), session.value] for session in sessions]


def _validation(case: DialectCase) -> Iterator[str]:
    for it in case.document["cases"]:
        materialized = kafka.Materialized.as_("sessions")
        try:
            if "retention_ms" in it:
                materialized = materialized.with_retention(it["retention_ms"])
            windows = kafka.SessionWindows.of_inactivity_gap_and_grace(it["gap_ms"], it["grace_ms"])
            kafka.group_by_key().windowed_by(windows).count(materialized)
            taken = True
        except BeamlikeError:
            taken = False
        yield from unless(f"{it} is taken", it["ok"], taken)


# -- Flink -----------------------------------------------------------------------------------

_TOUCHING = Sessions(1, merge_touching=True)  # the gap has no say in what merges


def _window(said: Sequence[int]) -> IntervalWindow:
    return IntervalWindow(*said)


class _Span(NamedTuple):
    """The bounds of a window of Flink, which may be empty. Merging looks at nothing else."""

    start: int
    end: int


def _merges(case: DialectCase) -> Iterator[str]:
    windows: Any = [_Span(*said) for said in case.document["windows"]]
    merges = [
        {"result": list(bounds(it.into)), "merged": [list(bounds(part)) for part in it.sources]}
        for it in merge_overlapping(windows, touching=True)
    ]
    yield from unless("merges", case.document["expect_merges"], merges)


def _window_set(case: DialectCase) -> Iterator[str]:
    """The windows in flight of a key. What stores their contents is nobody's business here."""
    in_flight = set[IntervalWindow]()
    for index, step in enumerate(case.steps):
        if "retire" in step:
            window = _window(step["retire"])
            yield from unless(f"step {index} retires one in flight", True, window in in_flight)
            in_flight.discard(window)
            continue
        window = _window(step["add"])
        plan = [it for it in _TOUCHING.merge({*in_flight, window}) if window in it.sources]
        result, parts = (plan[0].into, set(plan[0].sources)) if plan else (window, {window})
        merged = sorted(list(bounds(part)) for part in (parts & in_flight) - {result})
        in_flight = in_flight - parts | {result}
        yield from unless(f"step {index} result", step["result"], list(bounds(result)))
        yield from unless(f"step {index} merged", step.get("merged", []), merged)
