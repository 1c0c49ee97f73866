"""Corrections flow through groupings: what stands at the end of a chain of groupings is at any time
the batch result over what the first one accepted.

The batch result is computed here without panes, triggers and clocks. Random streams go through
random chains of two and three groupings on the local host, on both machines, with restarts.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any

import attrs
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import beamlike as bl
from beamlike.testing import QueryTest
from tests.support.examples import examples

law = settings(
    max_examples=examples(8),
    derandomize=True,
    database=None,
    phases=[Phase.generate],  # a chain takes a second: to shrink one takes minutes
)
chance = st.randoms(use_true_random=False)

Row = dict[str, Any]
EVENTS = "id int, k string, at timestamp, v int, f double"
SMALL: dict[str, Any] = {"shards": 2, "buckets": 2}
EAGER = bl.Repeatedly(bl.AfterCount(1))
PATIENT = (
    bl.AfterWatermark(late=bl.AfterCount(1)),
    bl.AfterWatermark(early=bl.AfterCount(3), late=bl.AfterCount(2)),
    bl.DefaultTrigger(),
    bl.Repeatedly(bl.AfterCount(4)),
)
MINUTE = 60_000
GAP = 5 * MINUTE


@attrs.frozen
class Link:
    """One grouping of a chain."""

    key: tuple[str, ...]
    window: bl.WindowFn | None
    trigger: bl.Trigger
    lateness: str
    aggregate: Mapping[str, bl.Aggregate]

    def group(self, rows: bl.Stream, name: str, machine: Any, **options: Any) -> bl.Stream:
        windowed = rows.window(
            self.window,
            trigger=self.trigger,
            accumulation="retracting",
            allowed_lateness=self.lateness,
        )
        return windowed.group(
            self.key, self.aggregate, name=name, machine=machine, **SMALL, **options
        )


FIRST = {"n": bl.count(), "s": bl.sum("v"), "x": bl.max("v"), "t": bl.sum("f")}
EVERY = {
    "n": bl.count(),
    "there": bl.count("x"),
    "s": bl.sum("s"),
    "total": bl.sum("t"),
    "mean": bl.mean("s"),
    "least": bl.min("s"),
    "x": bl.max("x"),
    "all": bl.collect("n"),
    "set": bl.collect_set("s"),
    "different": bl.count_distinct("n"),
    "top": bl.top("s", 2),
    "bottom": bl.bottom("n", 2),
    "best": bl.top("s", 3, by="s"),
    "some": bl.sample("s", 1000),
    "own": bl.combine(bl.combine_fns.Max(), "s", returns="bigint"),
}
LAST = {"n": bl.count(), "s": bl.sum("s"), "total": bl.sum("total"), "sets": bl.collect_set("x")}

BATCH: dict[str, Callable[[list[Row], tuple[str, ...]], Any]] = {
    "count": lambda rows, of: sum(row[of[0]] is not None for row in rows) if of else len(rows),
    "sum": lambda rows, of: sum(row[of[0]] for row in rows),
    "mean": lambda rows, of: sum(row[of[0]] for row in rows) / len(rows),
    "min": lambda rows, of: min(row[of[0]] for row in rows),
    "max": lambda rows, of: max(row[of[0]] for row in rows),
    "collect": lambda rows, of: sorted(row[of[0]] for row in rows),
    "collect_set": lambda rows, of: sorted({row[of[0]] for row in rows}),
    "count_distinct": lambda rows, of: len({row[of[0]] for row in rows}),
    "sample": lambda rows, of: sorted(row[of[0]] for row in rows),
    "combine": lambda rows, of: max(row[of[0]] for row in rows),
}


def batch_value(rows: list[Row], wanted: bl.Aggregate) -> Any:
    of = wanted.columns
    if wanted.kind in ("top", "bottom"):
        rank = of[-1]
        ordered = sorted((row[rank] for row in rows), reverse=wanted.kind == "top")
        return ordered[: wanted.fn.n]
    return BATCH[wanted.kind](rows, of)


def windows_of(rows: list[Row], window: Any) -> Iterable[tuple[tuple[int, int], list[Row]]]:
    """The windows of the rows of one key; of a row it is known which it was too late for."""
    if isinstance(window, bl.Sessions):
        run: list[Row] = []
        for row in sorted(rows, key=lambda row: row["ts"]):
            if run and row["ts"] >= run[-1]["ts"] + GAP:
                yield (run[0]["ts"], run[-1]["ts"] + GAP), run
                run = []
            run = [*run, row]
        if run:
            yield (run[0]["ts"], run[-1]["ts"] + GAP), run
        return
    found = defaultdict(list)
    for row in rows:
        for each in window.assign(row["ts"]):
            if (each.start, each.end) not in row.get("missed", ()):
                found[each.start, each.end].append(row)
    yield from found.items()


def batch(rows: Iterable[Row], link: Link) -> list[Row]:
    """The results of one grouping, as a batch job finds them."""
    by_key = defaultdict(list)
    for row in rows:
        by_key[tuple(row[name] for name in link.key)].append(row)
    return [
        dict(zip(link.key, key, strict=True))
        | {"ts": end - 1, "window": (start, end)}
        | {name: batch_value(own, wanted) for name, wanted in link.aggregate.items()}
        for key, of_key in by_key.items()
        for (start, end), own in windows_of(of_key, link.window)
    ]


# -- what stands -----------------------------------------------------------------------------


def span(window: Any) -> tuple[int, int]:
    return tuple(round(window[end].timestamp() * 1000) for end in ("start", "end"))  # type: ignore[return-value]


def plain(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(sorted(value))
    return f"{round(value, 6) + 0.0:.6f}" if isinstance(value, float) else value


def record(row: Row, link: Link) -> tuple[Any, ...]:
    window = row["window"]
    window = window if isinstance(window, tuple) else span(window)
    return (
        *(row[name] for name in link.key),
        window,
        *(plain(row[name]) for name in link.aggregate),
    )


class ShardStatus:
    """The results that stand after all rows that came out, and what was dropped."""

    def __init__(self, last: Link, render: str) -> None:
        self._last, self._render = last, render
        self._table: dict[Any, Any] = {}
        self._panes: Counter[tuple[Any, ...]] = Counter()
        self.dropped: list[Row] = []

    def take(self, rows: Sequence[Row]) -> None:
        for row in rows:
            if row["dropped"] is not None:
                self.dropped.append(row["dropped"])
            elif self._render == "retractions":
                pane = (*record(row, self._last), row["timestamp"], str(row["pane"]))
                self._panes[pane] += -1 if row["retraction"] else 1
                assert self._panes[pane] >= 0, f"withdrawn before it came: {pane}"
            else:
                by_session = self._render == "upserts"
                place = row["session_identity"] if by_session else span(row["window"])
                name = (*(row[name] for name in self._last.key), place)
                self._table.pop(name, None)
                if row["change"] == "upsert":
                    self._table[name] = record(row, self._last)

    @property
    def results(self) -> Counter[tuple[Any, ...]]:
        if self._render != "retractions":
            return Counter(self._table.values())
        return Counter({pane[:-2]: n for pane, n in self._panes.items() if n})


def accepted(sent: Sequence[Row], dropped: Sequence[Row]) -> list[Row]:
    """What the first grouping accepted, each with the windows that it was too late for."""
    missed = defaultdict(set)
    for drop in dropped:
        assert drop["stage"] == "first", f"a correction came too late: {drop}"
        missed[json.loads(drop["element"])["id"]].add(span(drop["window"]))
    return [row | {"missed": missed[row["id"]]} for row in sent]


# -- random chains ---------------------------------------------------------------------------


def any_chain(random: Random, length: int, triggers: Sequence[bl.Trigger]) -> list[Link]:
    windows = [bl.FixedWindows("10 minutes"), bl.SlidingWindows("10 minutes", "5 minutes")]
    window = random.choice([*windows, bl.Sessions("5 minutes")])
    # A session that expired is no part of one that comes after it, as it would be in a batch.
    lateness = "10 days" if isinstance(window, bl.Sessions) else random.choice(["7 min", "10 days"])
    chain = [Link(("k",), window, random.choice(triggers), lateness, FIRST)]
    later = [bl.FixedWindows("30 minutes"), bl.SlidingWindows("20 minutes", "10 minutes")]
    key = random.choice([(), ("k",), ("n",), ("k", "x")])
    aggregate = {name: it for name, it in EVERY.items() if name not in key}
    chain.append(Link(key, random.choice(later), random.choice(triggers), lateness, aggregate))
    if length == 3:
        key = random.choice([(), ("different",), ("least",)])
        trigger = random.choice(triggers)
        last = {name: it for name, it in LAST.items() if name != "sets" or "x" not in chain[1].key}
        chain.append(Link(key, bl.FixedWindows("1 hour"), trigger, lateness, last))
    return chain


def any_event(random: Random, number: int, now: int) -> Row:
    at = max(0, now + random.randrange(-25, 10)) * MINUTE
    f = random.choice([0.1, 0.2, 0.7, -3.3])
    return {"id": number, "k": random.choice("ab"), "ts": at, "v": random.randrange(4), "f": f}


def sent_as(event: Row) -> Row:
    seconds = event["ts"] // 1000
    at = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return {"id": event["id"], "k": event["k"], "at": at, "v": event["v"], "f": event["f"]}


def check_chain(random: Random, length: int, eager: bool) -> None:
    chain = any_chain(random, length, [EAGER] if eager else PATIENT)
    machine = random.choice(["columnar", "reference"])
    render = random.choice(["retractions", "changelog", "upserts"])

    def job(events: Any) -> bl.Stream:
        rows = bl.stream(events, timestamp="at", watermark="0 s")
        rows = chain[0].group(rows, "first", machine, carry="id")
        for number, link in enumerate(chain[1:-1], 2):
            rows = link.group(rows, f"grouping {number}", machine)
        return chain[-1].group(rows, "last", machine, render=render)

    standing, sent, now = ShardStatus(chain[-1], render), list[Row](), 0

    def batch_result() -> Counter[tuple[Any, ...]]:
        rows = accepted(sent, standing.dropped)
        for link in chain:
            rows = batch(rows, link)
        return Counter(record(row, chain[-1]) for row in rows)

    with QueryTest(job, EVENTS) as query:
        for _ in range(random.randrange(4, 12)):
            match random.randrange(5):
                case 0:
                    now = max([now, *(it["ts"] // MINUTE + 1 for it in sent)])
                    now += random.randrange(1, 15)
                    hours, minutes = divmod(now, 60)
                    standing.take(query.advance_watermark_to(f"{hours:02}:{minutes:02}:00"))
                case 1:
                    standing.take(query.restart())
                case _:
                    count = random.randrange(1, 5)
                    events = [any_event(random, len(sent) + index, now) for index in range(count)]
                    sent += events
                    standing.take(query.send(*map(sent_as, events)))
            if eager:
                assert standing.results == batch_result()
        standing.take(query.advance_watermark_to_infinity())
    assert standing.results == batch_result()


@law
@given(chance)
def test_with_any_lateness_no_correction_of_a_session_comes_too_late(random: Random) -> None:
    """The next grouping is that of the panes that stand, which may be split by what came late."""
    lateness = random.choice(["0 s", "2 min", "12 min"])
    combiner = random.choice(["end_of_window", "earliest", "latest"])
    machine = random.choice(["columnar", "reference"])
    window = random.choice([bl.Sessions("5 minutes"), bl.FixedWindows("40 minutes")])
    first = Link(("k",), window, random.choice(PATIENT), lateness, FIRST)
    last = Link((), bl.FixedWindows("10 minutes"), random.choice(PATIENT), lateness, EVERY)

    def visits(events: Any) -> bl.Stream:
        rows = bl.stream(events, timestamp="at", watermark="0 s")
        rows = rows.window(
            first.window,
            trigger=first.trigger,
            accumulation="retracting",
            allowed_lateness=lateness,
            timestamp_combiner=combiner,
        )
        return rows.group(first.key, first.aggregate, name="first", machine=machine, **SMALL)

    panes, found = Counter[str](), dict[str, Row]()
    standing, now, latest = ShardStatus(last, "retractions"), 0, 0
    with (
        QueryTest(visits, EVENTS) as alone,
        QueryTest(lambda rows: last.group(visits(rows), "last", machine), EVENTS) as both,
    ):

        def happen(step: Callable[[QueryTest], list[Row]]) -> None:
            for row in step(alone):
                if row["dropped"] is None:
                    pane = repr((record(row, first), row["timestamp"]))
                    panes[pane] += -1 if row["retraction"] else 1
                    found[pane] = row
            standing.take(step(both))
            assert {drop["stage"] for drop in standing.dropped} <= {"first"}

        for number in range(random.randrange(10, 40)):
            if random.random() < 0.2:
                now = max(now, latest) + random.choice([0, 1, 1, 15])
                hours, minutes = divmod(now, 60)
                happen(lambda query: query.advance_watermark_to(f"{hours:02}:{minutes:02}:00"))  # noqa: B023
            else:
                # Sessions that grow for long, while the watermark follows close behind.
                at = max(0, max(now, latest) + random.choice([-6, -1, 0, 1, 2, 3])) * MINUTE
                event = any_event(random, number, now) | {"ts": at}
                latest = max(latest, at // MINUTE)
                happen(lambda query: query.send(sent_as(event)))  # noqa: B023
        happen(lambda query: query.advance_watermark_to_infinity())
    stood = [
        dict(found[name]) | {"ts": round(found[name]["timestamp"].timestamp() * 1_000_000) // 1_000}
        for name, count in panes.items()
        for _ in range(count)
    ]
    assert standing.results == Counter(record(row, last) for row in batch(stood, last))


@pytest.mark.parametrize("length", [2, 3])
@law
@given(chance)
def test_at_any_time_a_chain_stands_where_a_batch_would(length: int, random: Random) -> None:
    check_chain(random, length, eager=True)


@pytest.mark.parametrize("length", [2, 3])
@law
@given(chance)
def test_with_any_trigger_it_does_so_in_the_end(length: int, random: Random) -> None:
    check_chain(random, length, eager=False)
