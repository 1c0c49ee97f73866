"""Cases of other systems that are no streams: stores, merges and settings, asked one by one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from beamlike.dialects import apex, kafka
from beamlike.dialects.folds import Reduce
from beamlike.dialects.kafka_store import Session
from beamlike.errors import BeamlikeError, UnsupportedError
from beamlike.model.combine import CombineFn, Count, Max, Mean, Min, Sum, Together
from beamlike.model.sessions import Sessions
from beamlike.model.windows import GLOBAL_WINDOW, IntervalWindow, bounds
from beamlike.testing.dialect_cases import DialectCase

__all__ = ["wrong_answers"]


def wrong_answers(case: DialectCase) -> list[str]:
    """What is answered otherwise than a case says; nothing if all is well.

    Raises:
        UnsupportedError: The case needs what `beamlike.dialects` does not have.
    """
    asked: Mapping[tuple[str, str], Callable[[DialectCase], Iterator[str]]] = {
        ("apex", "assign"): _assign,
        ("apex", "combine"): _combine,
        ("apex", "validation"): _extracted,
        ("flink", "merge_windows"): _merges,
        ("flink", "window_set"): _window_set,
        ("kafka", "store"): _store,
        ("kafka", "validation"): _validation,
    }
    if (case.dialect, case.kind) not in asked:
        raise UnsupportedError(f"cases of {case.dialect} of the kind {case.kind}")
    return list(asked[case.dialect, case.kind](case))


def _unless(what: str, expected: Any, got: Any) -> Iterator[str]:
    if got != expected:
        yield f"{what}: {got!r}; expected: {expected!r}"


# -- Kafka Streams ---------------------------------------------------------------------------


def _store(case: DialectCase) -> Iterator[str]:
    store = kafka.SessionStore(case.settings["retention_ms"])
    for at, step in enumerate(case.steps):
        found: Any
        match step:
            case {"put": it}:
                store.put(it["key"], tuple(it["window"]), it["value"])
                continue
            case {"remove": it}:
                store.remove(it["key"], tuple(it["window"]))
                continue
            case {"find_sessions": it}:
                found = _told(
                    store.find_sessions(
                        it["key"],
                        it["earliest_end"],
                        it["latest_start"],
                        backward=it.get("backward", False),
                    )
                )
            case {"fetch": it}:
                found = _told(store.fetch(it["key"]))
            case {"fetch_session": it}:
                found = store.fetch_session(it["key"], *it["window"])
            case _:
                raise UnsupportedError(f"a step with {', '.join(step)}")
        yield from _unless(f"step {at}", step["expect"], found)


def _told(sessions: Sequence[Session]) -> list[list[Any]]:
    return [[it.key, list(it.window), it.value] for it in sessions]


def _validation(case: DialectCase) -> Iterator[str]:
    for it in case.settings["cases"]:
        materialized = kafka.Materialized.as_("sessions")
        try:
            if "retention_ms" in it:
                materialized = materialized.with_retention(it["retention_ms"])
            windows = kafka.SessionWindows.of_inactivity_gap_and_grace(it["gap_ms"], it["grace_ms"])
            kafka.group_by_key().windowed_by(windows).count(materialized)
            taken = True
        except BeamlikeError:
            taken = False
        yield from _unless(f"{it} is taken", it["ok"], taken)


# -- Flink -----------------------------------------------------------------------------------

_TOUCHING = Sessions(1, merge_touching=True)  # the gap has no say in what merges


def _window(said: Sequence[int]) -> IntervalWindow:
    start, end = said
    if start == end:
        raise UnsupportedError("windows of length 0")
    return IntervalWindow(start, end)


def _merges(case: DialectCase) -> Iterator[str]:
    plan = _TOUCHING.merge(map(_window, case.settings["windows"]))
    merges = [
        {"result": list(bounds(it.into)), "merged": [list(bounds(part)) for part in it.sources]}
        for it in plan
    ]
    yield from _unless("merges", case.settings["expect_merges"], merges)


def _window_set(case: DialectCase) -> Iterator[str]:
    """The windows in flight of a key. What stores their contents is nobody's business here."""
    in_flight = set[IntervalWindow]()
    for at, step in enumerate(case.steps):
        if "retire" in step:
            window = _window(step["retire"])
            yield from _unless(f"step {at} retires one in flight", True, window in in_flight)
            in_flight.discard(window)
            continue
        window = _window(step["add"])
        plan = [it for it in _TOUCHING.merge({*in_flight, window}) if window in it.sources]
        result, parts = (plan[0].into, set(plan[0].sources)) if plan else (window, {window})
        merged = sorted(list(bounds(it)) for it in (parts & in_flight) - {result})
        in_flight = in_flight - parts | {result}
        yield from _unless(f"step {at} result", step["result"], list(bounds(result)))
        yield from _unless(f"step {at} merged", step.get("merged", []), merged)


# -- Apex ------------------------------------------------------------------------------------


def _assign(case: DialectCase) -> Iterator[str]:
    match case.settings["window"]:
        case {"type": "global"}:
            option = apex.WindowOption.global_window()
        case {"type": "sliding", "size_ms": size, "slide_ms": slide}:
            option = apex.WindowOption.sliding_time_windows(size, slide)
        case said:
            raise UnsupportedError(f"the window {said}")
    for it in case.settings["cases"]:
        windows: Any = "global"
        if it["windows"] != "global":
            assigned = option.window_fn.assign(it["ts_ms"])
            windows = sorted(list(bounds(window)) for window in assigned)
        elif option.window_fn.assign(it["ts_ms"]) != (GLOBAL_WINDOW,):
            windows = "others"
        yield from _unless(f"windows at {it['ts_ms']}", it["windows"], windows)


def _extracted(case: DialectCase) -> Iterator[str]:
    """Where elements with a timestamp extractor, with a time of their own, and without are."""
    for it in case.settings["cases"]:
        if "tuple" not in it:
            raise UnsupportedError("storages, which nobody chooses here")
        run = apex.WindowedOperator(
            apex.WindowOption.time_windows(1),
            Count(),
            timestamp_extractor=None if it["extractor"] is None else lambda value: value * 10,
        ).run()
        if it["tuple"] == "timestamped":
            run.process("any", it["ts_ms"])
        else:
            run.process(it.get("value", "any"))
        yield from _unless(f"time of {it}", [it["ts_ms"]], [row.timestamp for row in run.windows()])


def _combine(case: DialectCase) -> Iterator[str]:
    """Accumulations are the package's own combine functions."""
    parts: Mapping[str, CombineFn] = {"sum": Sum(), "count": Count(), "max": Max(), "min": Min()}
    match case.settings:
        case {"function": "composite", "parts": names}:
            combine: CombineFn = Together({name: (parts[name], None) for name in names})
        case {"function": "average"}:
            combine = Mean()
        case {"function": "reduce", "separator": between}:
            combine = Reduce(lambda one, other: f"{one}{between}{other}")
        case said:
            raise UnsupportedError(f"the accumulation {said['function']}")
    accumulator = combine.create()
    for group in case.settings.get("groups", [case.settings.get("inputs", [])]):
        added = combine.add(combine.create(), group, [0] * len(group))
        accumulator = combine.merge(accumulator, added)
    got = combine.extract(accumulator)
    yield from _unless(
        "output", case.settings["output"], list(got) if isinstance(got, tuple) else got
    )
