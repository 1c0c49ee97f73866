"""Rows combined before they reach their shard: the same panes, and less to send."""

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any

import pytest
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.errors import WindowingError
from tests.support.queries.hours import hourly
from tests.support.queries.rows import SMALL, MakeFeed, Row
from tests.support.queries.shown import lines, shown
from tests.support.refusals import refusal
from tests.support.sums import SumOfTheLucky

pytestmark = pytest.mark.spark


EVENTS = "k string, at timestamp, v int"
TEN_MINUTES = bl.FixedWindows("10 minutes")
AGGREGATE = {"n": bl.count(), "sum": bl.sum("v"), "most": bl.max("v"), "mean": bl.mean("v")}
HOWS: dict[str, dict[str, Any]] = {
    "plain": {},
    "lifted": {"lift": True},
    "fanned out": {"hot_key_fanout": 3},
}
STRATEGIES: dict[str, dict[str, Any]] = {
    "default": {
        "window": TEN_MINUTES,
        "accumulation": "discarding",
        "allowed_lateness": "5 minutes",
    },
    "early and late, accumulating": {
        "window": bl.SlidingWindows("10 minutes", "5 minutes"),
        "trigger": bl.AfterWatermark(early=bl.AfterCount(3), late=bl.AfterCount(2)),
        "accumulation": "accumulating",
        "allowed_lateness": "10 minutes",
    },
    "sessions": {
        "window": bl.Sessions("2 minutes"),
        "trigger": bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1)),
        "accumulation": "retracting",
        "allowed_lateness": "5 minutes",
    },
}


def hows_of(strategy: str) -> list[str]:
    return [how for how in HOWS if strategy != "sessions" or how != "lifted"]


def random_batches(seed: int) -> list[list[Row]]:
    """One key has most of the rows. Some rows are late, and some too late."""
    dice, batches = Random(seed), []
    for number in range(6):
        rows = []
        for value in range(dice.randint(6, 14)):
            second = max(0, 3600 + 420 * number + dice.choice([0, 60, -200, -700, -1500]) + value)
            at = f"2020-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"
            rows.append({"k": dice.choice(["hot", "hot", "hot", "cold"]), "at": at, "v": value})
        batches.append(rows)
    return batches


def union(frames: Iterable[tuple[str, Any]]) -> Any:
    together = None
    for how, frame in frames:
        reported = frame.withColumn("how", F.lit(how))
        together = reported if together is None else together.unionByName(reported)
    return together


def by_how(rows: list[Row]) -> dict[str, list[Row]]:
    parted: dict[str, list[Row]] = {}
    for row in rows:
        if row["dropped"]:
            row["dropped"]["stage"] = "it"
        parted.setdefault(row.pop("how"), []).append(row)
    return parted


def panes_of(rows: list[Row]) -> list[Row]:
    return [row for row in rows if not row["dropped"]]


def drops_of(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["dropped"]]


def added_up(drops: list[Row]) -> Counter[tuple[Any, ...]]:
    """How many rows were dropped, by all that is said of a combined row but its time."""
    counts: Counter[tuple[Any, ...]] = Counter()
    for row in drops:
        reported, window = row["dropped"], row["window"]
        assert reported["window"] == window
        place = (row["k"], window["start"], window["end"])
        facts = (
            reported["reason"],
            reported["watermark"],
            reported["missed_ms"],
            reported["error"],
        )
        counts[place + facts] += reported["count"]
    return counts


@pytest.mark.nightly
@pytest.mark.parametrize("name", STRATEGIES)
def test_a_stream_with_late_rows_emits_the_same_also_after_a_restart(feed: MakeFeed, name: str):
    events, hows = feed(EVENTS), hows_of(name)

    def start() -> None:
        if name == "sessions":  # each input with a watermark of its own
            rows = bl.stream(events.frame, timestamp="at", watermark="1 minute")
            windowed = rows.window(**STRATEGIES[name])
            frames = [
                windowed.group("k", AGGREGATE, name=how, **HOWS[how], **SMALL).everything
                for how in hows
            ]
        else:  # Spark's watermark
            call = STRATEGIES[name] | SMALL | {"output": "all", "watermark": "1 minute"}
            frames = [
                hourly(events.frame, AGGREGATE, name=how, **HOWS[how], **call) for how in hows
            ]
        events.start(union(zip(hows, frames, strict=True)))

    start()
    everything: list[Row] = []
    for number, batch in enumerate(random_batches(sum(map(ord, name)))):
        if number == 3:
            events.stop()
            start()
        shown = by_how(events.send(*batch))
        plain = shown.get("plain", [])
        everything += plain
        for how in hows:
            assert lines(panes_of(shown.get(how, []))) == lines(panes_of(plain)), how
            assert added_up(drops_of(shown.get(how, []))) == added_up(drops_of(plain)), how
        assert lines(drops_of(shown.get("fanned out", []))) == lines(drops_of(plain))
        combined = drops_of(shown.get("lifted", []))
        # One row for each key and window, with the time of the latest, and without the elements.
        assert len(combined) == (len(added_up(drops_of(plain))) if "lifted" in hows else 0)
        for row in combined:
            own = [
                other["dropped"]["timestamp"]
                for other in drops_of(plain)
                if (other["k"], other["window"]) == (row["k"], row["window"])
            ]
            assert row["dropped"]["timestamp"] == max(own)
            assert row["dropped"]["element"] == f'{{"k":"{row["k"]}"}}'
    timings = {row["pane"]["timing"] for row in panes_of(everything)}
    assert timings == ({"ON_TIME", "LATE"} if name == "default" else {"EARLY", "ON_TIME", "LATE"})
    assert any(count > 1 for count in added_up(drops_of(everything)).values()) or hows != list(HOWS)
    assert drops_of(everything)


@pytest.mark.parametrize("name", STRATEGIES)
def test_bounded_rows_make_the_same_panes(spark: Any, name: str):
    rows = [tuple(row.values()) for batch in random_batches(3) for row in batch]
    frame = spark.createDataFrame(rows, "k string, at string, v int").repartition(3)
    hows = hows_of(name)
    call = STRATEGIES[name] | SMALL | {"output": "all"}
    frames = [hourly(frame, AGGREGATE, **call, **HOWS[how]) for how in hows]
    came = by_how(shown(union(zip(hows, frames, strict=True))))
    plain = lines(came["plain"])
    assert {how: lines(came[how]) for how in hows} == dict.fromkeys(hows, plain)
    assert len(plain) > 5
    assert sum(row["n"] for row in came["plain"]) >= len(rows)


@pytest.mark.parametrize("how", HOWS)
def test_a_row_that_a_function_cannot_take_is_dropped_alone(spark: Any, how: str) -> None:
    frame = spark.createDataFrame(
        [(key, f"2020-01-01 00:0{v % 10}:00Z", v) for key in "ab" for v in (1, 13, 2)],
        "k string, at string, v int",
    ).coalesce(1)
    sums = {"n": bl.count(), "sum": bl.combine(SumOfTheLucky(), "v", "int", "int")}
    out = hourly(frame, sums, window=TEN_MINUTES, output="all", **SMALL, **HOWS[how])
    reported = (
        "timestamp 00:03, window 00:00-00:10, count 1, error add of the aggregates n, sum raised "
        "ValueError: 13 is unlucky"
    )
    assert lines(shown(out)) == [
        "a 2 3 | 00:00-00:10 ON_TIME 0 last",
        "b 2 3 | 00:00-00:10 ON_TIME 0 last",
        f'dropped by beamlike, failed: {{"k":"a","v":13}} | {reported}',
        f'dropped by beamlike, failed: {{"k":"b","v":13}} | {reported}',
    ]


# -- calls that cannot work -------------------------------------------------------------------


@pytest.fixture(scope="module")
def unread(spark: Any) -> Any:
    """A bounded frame that nobody can read."""
    return spark.sql(
        "select raise_error('the data was read') || 'a' k, timestamp '2020-01-01' at, 1 v"
    )


BEFORE = "elements cannot be combined before they are grouped: "
LIFT, FANOUT = HOWS["lifted"], HOWS["fanned out"]
REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        LIFT | FANOUT,
        "lift and hot_key_fanout both combine rows before they are grouped; leave one out",
    ),
    ({"hot_key_fanout": 0}, "hot_key_fanout must be a whole number of 1 or more, got 0"),
    (
        LIFT | {"timestamp_combiner": "earliest"},
        BEFORE + "timestamp_combiner='earliest' needs the time of each",
    ),
    (
        FANOUT | {"timestamp_combiner": "latest"},
        BEFORE + "timestamp_combiner='latest' needs the time of each",
    ),
    (
        FANOUT | {"late_check": "element"},
        BEFORE + "late_check='element' judges each by its own time",
    ),
    (
        LIFT | {"window": bl.Sessions("1 minute")},
        BEFORE + "each has its own Sessions(1m) window, and may be late alone",
    ),
    (
        FANOUT | {"window": bl.Sessions("1 minute", max_duration="1 hour")},
        BEFORE
        + "Sessions(1m, max_duration=1h) cuts sessions where all of their elements are known",
    ),
    (
        FANOUT | {"window": bl.Sessions("1 minute", max_elements=5)},
        BEFORE + "Sessions(1m, max_elements=5) cuts sessions where all of their elements are known",
    ),
]


@pytest.mark.parametrize(("changes", "text"), REFUSED, ids=[text[-60:] for _, text in REFUSED])
def test_what_needs_each_row_is_not_combined_early(unread: Any, changes: dict[str, Any], text: str):
    call = {"window": TEN_MINUTES} | changes
    with pytest.raises(WindowingError) as wrong:
        bl.windowed(unread, key="k", timestamp="at", aggregate=AGGREGATE, **call)
    assert str(wrong.value) == text

    options = {name: call.pop(name) for name in ("lift", "hot_key_fanout") if name in call}
    rows = bl.stream(unread, timestamp="at").window(**call)
    assert refusal(WindowingError, lambda: rows.group("k", AGGREGATE, **options)) == text
