"""Random cases of other systems, with what `beamlike.dialects` makes of them."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from tests.conformance.beamlike_conformance.scenarios import DialectCase
from tests.support.dialects.plays import play
from tests.support.generated.strategies import pick


def random_cases(dialect: str, count: int, seed: int) -> Iterator[Mapping[str, Any]]:
    """Cases of a system, as documents; the case of a number does not depend on the count."""
    draw = {"kafka": _kafka, "flink": _flink}[dialect]
    for number in range(count):
        document = {
            "id": f"{dialect}-random-{seed}-{number}",
            "source": "a random stream",
            "provenance": "derived",
            "dialect": dialect,
            "kind": "stream",
            "keyed": True,
            **draw(Random(f"{seed}:{number}")),
        }
        yield {**document, "expect": _played(document)}


def _played(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    fields = ("id", "dialect", "kind", "provenance", "source")
    case = DialectCase(*(document[name] for name in fields), document)
    # The words for a reason are the systems' own, and not part of a random case.
    return [{name: row[name] for name in row if name != "reason"} for row in play(case)]


def _kafka(random: Random) -> dict[str, Any]:
    return _time_windows(random) if random.randrange(3) == 0 else _sessions(random)


def _time_windows(random: Random) -> dict[str, Any]:
    size, grace = pick(random, (1, 2, 3, 5, 10)), pick(random, (0, 0, 1, 3, 10))
    emit = pick(random, ("on_update", "on_close", "suppress_until_close"))
    window: dict[str, Any] = {"type": "tumbling", "size_ms": size, "time": "event"}
    if random.randrange(2):
        slide = random.randint(max(1, size // 3), size)
        window = {**window, "type": "sliding", "slide_ms": slide}
    time, steps = 0, list[dict[str, Any]]()
    for number in range(random.randint(3, 12)):
        moves = (0, 1, 1, size - 1, size, size + 1, 2 * size, -1, -size, -2 * size, -size - grace)
        time = max(0, time + pick(random, moves))
        element = {"key": pick(random, "ab"), "value": f"{number}", "ts_ms": time}
        steps.append({"elements": [element]})
    return {
        "window": window,
        "trigger": {"type": "on_close" if emit == "on_close" else "per_record"},
        "accumulation": "accumulating",
        "aggregate": pick(random, ("count", "reduce:+")),
        "watermark_convention": "stream_time",
        "grace_ms": grace,
        "order": "strict" if emit == "on_close" else "per_step_any",
        "emit": emit,
        "steps": steps,
    }


def _sessions(random: Random) -> dict[str, Any]:
    gap, grace = pick(random, (0, 1, 2, 3, 5, 10)), pick(random, (0, 0, 1, 3, 10))
    stores = {
        "on_update": "rocksdb",
        "on_close": "time_ordered",
        "cached_update": "cached",
        "suppress_until_close": "rocksdb",
    }
    emit = pick(random, (*stores, "on_update", "cached_update"))
    store: dict[str, Any] = {"kind": stores[emit]}
    streams = 2 if emit == "on_update" and random.randrange(3) == 0 else 1
    # With less the store of a case with gap and grace of 0 would keep nothing.
    if gap + grace == 0 or emit == "suppress_until_close" or random.randrange(2):
        store["retention_ms"] = gap + grace + 1
    time, steps = 0, list[dict[str, Any]]()
    for number in range(random.randint(3, 12)):
        moves = (0, 1, 1, gap - 1, gap, gap + 1, 2 * gap, -1, -gap, -2 * gap, -gap - grace)
        time = max(0, time + pick(random, moves))
        if random.randrange(10) == 0:
            time += gap + grace + random.randint(0, 2)
        element = {"key": pick(random, "ab"), "value": f"+{number}", "ts_ms": time}
        if streams > 1:
            element["stream"] = random.randint(1, streams)
        steps.append({"elements": [element]})
        if emit == "cached_update" and random.randrange(3) == 0:
            steps.append({"flush_cache": True})
    if emit == "cached_update":
        steps.append({"flush_cache": True})
    return {
        "window": {"type": "session", "gap_ms": gap, "bounds": "closed", "time": "event"},
        "trigger": {"type": "on_close" if emit == "on_close" else "per_record"},
        "accumulation": "accumulating",
        "aggregate": "signed0" if streams > 1 else pick(random, ("count", "reduce:+")),
        "watermark_convention": "stream_time",
        "grace_ms": grace,
        "order": "per_step_any" if emit == "suppress_until_close" else "strict",
        "emit": emit,
        "store": store,
        "steps": steps,
    }


def _flink(random: Random) -> dict[str, Any]:
    size = pick(random, (1, 2, 3, 5, 8))
    shape = pick(random, ("session", "session", "session", "dynamic", "tumbling", "sliding"))
    windows: dict[str, dict[str, Any]] = {
        "session": {"type": "session", "gap_ms": size, "time": "event"},
        "dynamic": {"type": "session", "gap_ms": None, "time": "event"},
        "tumbling": {"type": "tumbling", "size_ms": size, "time": "event"},
        "sliding": {"type": "sliding", "size_ms": 2 * size, "slide_ms": size, "time": "event"},
    }
    trigger: dict[str, Any] = pick(
        random,
        (
            {"type": "event_time"},
            {"type": "event_time"},
            {"type": "count", "count": random.randint(1, 3)},
            {"type": "continuous_event_time", "interval_ms": random.randint(1, 4)},
        ),
    )
    if random.randrange(3) == 0:
        trigger = {"type": "purging", "of": trigger}
    time, watermark, steps = 20, -1, list[dict[str, Any]]()
    for number in range(random.randint(4, 14)):
        if random.randrange(3) == 0:
            watermark = max(watermark, time + pick(random, (-size, -1, 0, 1, size - 2, size)))
            steps.append({"advance_watermark_to_ms": watermark})
            continue
        moves = (0, 1, 1, size - 1, size, size + 1, 2 * size, -1, -size, -2 * size)
        time = max(-20, time + pick(random, moves))
        element: dict[str, Any] = {"key": pick(random, "ab"), "value": 2**number, "ts_ms": time}
        if shape == "dynamic":
            element["gap_ms"] = random.randint(1, 6)
        steps.append({"elements": [element]})
    steps.append({"advance_watermark_to_ms": 1000})
    return {
        "window": windows[shape],
        "trigger": trigger,
        "accumulation": "accumulating",
        "aggregate": "sum",
        "watermark_convention": "inclusive",
        "allowed_lateness_ms": pick(random, (0, 0, 1, 3, 10)),
        "late_output": random.randrange(2) == 0,
        "order": "per_step_any",
        "steps": steps,
    }
