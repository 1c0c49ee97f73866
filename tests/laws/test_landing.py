"""Results land right, whatever brings them out: presets and thresholds, idle inputs and parts,
corrections, restarts and micro-batches that run again, in a table of SQLite.

What must be in the table is computed here without panes, triggers and clocks.
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import attrs
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import beamlike as bl
from beamlike.tables import SQLite
from beamlike.testing import QueryTest
from beamlike.testing.dataframes.rows import typed_rows
from tests.support.examples import examples

law = settings(
    max_examples=examples(15),
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

Hit = tuple[str, int, int, int]
"""Key, event time (ms), value, part."""
MINUTE = 60_000
START = 1_577_836_800_000  # 2020-01-01
CLOCK = START + 30 * 24 * 60 * MINUTE
SCHEMA = "k string, at timestamp, v int, part int"
EVER = "10 days"
LATE = bl.AfterCount(1)
WINDOWS = {
    "fixed": bl.FixedWindows("10 minutes"),
    "sliding": bl.SlidingWindows("20 minutes", "10 minutes"),
    "sessions": bl.Sessions("6 minutes"),
}
RETRACTING: dict[str, Any] = {"accumulation": "retracting", "allowed_lateness": EVER}
WAYS: Sequence[dict[str, Any]] = (
    dict(bl.every_update(EVER)),
    dict(bl.live_and_corrected("1 minute", EVER)),
    {"trigger": bl.AfterWatermark(late=LATE), **RETRACTING},
    {"trigger": bl.AfterWatermark(early=bl.Repeatedly(bl.AfterTotal(3)), late=LATE), **RETRACTING},
    {"trigger": bl.Repeatedly(bl.AfterFirst(bl.AfterTotal(5), bl.AfterWatermark())), **RETRACTING},
)
SOURCES: Sequence[dict[str, Any]] = (
    {},
    {"idle_after": "3 minutes", "idle": "advance"},
    {"idle_after": "3 minutes", "watermark_by": "part"},
    {"idle_after": "3 minutes", "watermark_by": "part", "idle": "advance"},
)


@attrs.frozen
class Case:
    """A query, and what happens to it: moves of the clock (ms), hits, and restarts."""

    window: str
    way: dict[str, Any]
    source: dict[str, Any]
    per_key: bool
    regrouped: bool
    render: Any
    machine: Any
    steps: Sequence[tuple[int, Sequence[Hit], bool]]

    def job(self, hits: Any) -> bl.Stream:
        rows = bl.stream(hits, timestamp="at", watermark="2 minutes", **self.source)
        small: dict[str, Any] = {"shards": 2, "buckets": 2, "machine": self.machine}
        grouped = rows.window(WINDOWS[self.window], **self.way).group(
            "k",
            {"n": bl.count(), "s": bl.sum("v")},
            window_input="v" if "Total" in str(self.way["trigger"]) else (),
            render="retractions" if self.regrouped else self.render,
            watermark_per_key=self.per_key,
            **small,
        )
        if not self.regrouped:
            return grouped
        halves = grouped.window(
            bl.FixedWindows("30 minutes"),
            trigger=bl.AfterWatermark(early=bl.AfterCount(2), late=LATE),
            **RETRACTING,
        )
        wanted = {"n": bl.sum("n"), "s": bl.sum("s"), "windows": bl.count()}
        return halves.group([], wanted, render=self.render, **small)


def any_case(random: Random) -> Case:
    steps, reached = [], 0
    for _ in range(random.randint(3, 10)):
        hits = []
        for _ in range(random.randrange(7)):
            reached += random.choice([0, 1, 2, 5, 15])
            at = START + max(0, reached - random.choice([0, 0, 1, 3, 8, 30])) * MINUTE
            hits.append((random.choice("abc"), at, random.randrange(5), random.randrange(3)))
        steps.append((random.choice([0, 1, 2, 6]) * MINUTE, hits, random.randrange(4) == 0))
    source = random.choice(SOURCES)
    per_key = "watermark_by" not in source and random.randrange(3) == 0
    return Case(
        random.choice([*WINDOWS]),
        random.choice(WAYS),
        source,
        per_key,
        not per_key and random.randrange(2) == 0,
        random.choice(["retractions", "changelog", "upserts"]),
        random.choice(["auto", "reference"]),
        steps,
    )


def spans(case: Case, hits: Sequence[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    """The windows of one key: start, end, number and sum of its hits."""
    found = defaultdict[tuple[int, int], list[int]](list)
    if case.window == "sessions":
        run: list[tuple[int, int]] = []
        for at, v in [*sorted(hits), (2**60, 0)]:
            if run and at >= run[-1][0] + 6 * MINUTE:
                found[run[0][0], run[-1][0] + 6 * MINUTE] = [each for _, each in run]
                run = []
            run.append((at, v))
    else:
        for at, v in hits:
            start = at - at % (10 * MINUTE)
            if case.window == "fixed":
                found[start, start + 10 * MINUTE].append(v)
            else:
                for first in (start, start - 10 * MINUTE):
                    found[first, first + 20 * MINUTE].append(v)
    return [(*span, len(values), sum(values)) for span, values in found.items()]


def expected(case: Case) -> Counter[tuple[Any, ...]]:
    of_keys = defaultdict[str, list[tuple[int, int]]](list)
    for _, hits, _ in case.steps:
        for k, at, v, _ in hits:
            of_keys[k].append((at, v))
    results = [(k, *span) for k, hits in of_keys.items() for span in spans(case, hits)]
    if not case.regrouped:
        return Counter(results)
    halves = defaultdict[int, list[tuple[int, int]]](list)
    for _, _, end, n, s in results:
        halves[(end - 1) // (30 * MINUTE) * 30 * MINUTE].append((n, s))
    return Counter(
        (None, start, start + 30 * MINUTE, sum(n for n, _ in its), sum(s for _, s in its))
        for start, its in halves.items()
    )


def landed(case: Case, random: Random, file: Path) -> Counter[tuple[Any, ...]]:
    query = QueryTest(case.job, SCHEMA, clock=CLOCK)
    run, numbers, clock = query._run, iter(range(10**6)), CLOCK
    ((name, schema),) = query._schemas.items()
    write = bl.upsert_into(SQLite(str(file), "results"), [] if case.regrouped else ["k"])

    def land(tables: Any) -> None:
        for table in tables:
            number = next(numbers)
            for _ in range(random.choice([1, 1, 2])):  # it was killed before it was committed
                write(table, number)

    for stretch, hits, restart in case.steps:
        if stretch:
            clock += stretch
            land(run.move_clock(clock))
        if hits:
            columns = ("k", "at", "v", "part")
            rows = [dict(zip(columns, hit, strict=True)) for hit in hits]
            land(run.send(name, typed_rows(name, schema, rows)))
        if restart:
            land(run.restart(case.job))
    land(run.end())
    if not file.exists():
        return Counter()
    key = "NULL" if case.regrouped else "k"
    with closing(sqlite3.connect(file)) as connection:
        if not connection.execute("PRAGMA table_info(results)").fetchall():
            return Counter()
        rows_of = connection.execute(f"SELECT {key}, window_start, window_end, n, s FROM results")
        return Counter((k, _ms(start), _ms(end), n, s) for k, start, end, n, s in rows_of)


def _ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


@law
@given(st.randoms(use_true_random=False))
def test_the_table_has_what_a_plain_computation_finds(random: Random) -> None:
    case = any_case(random)
    with TemporaryDirectory() as home:
        assert landed(case, random, Path(home) / "results.db") == expected(case)
