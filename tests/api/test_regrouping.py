"""Panes that are grouped again: each element counts once, or the grouping is refused."""

from collections import Counter, defaultdict
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.errors import UnsupportedError
from tests.support.queries.rows import SMALL, MakeFeed, Row
from tests.support.queries.shown import shown
from tests.support.refusals import refusal

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("no_empty_batches")]

Windowing = dict[str, Any]

HITS = "user string, at timestamp"
GAP = bl.Sessions("5 minutes")
TEN, HOUR = bl.FixedWindows("10 minutes"), bl.FixedWindows("1 hour")
EARLY_AND_LATE = bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1))
SPECULATIVE: Windowing = {
    "trigger": EARLY_AND_LATE,
    "accumulation": "accumulating",
    "allowed_lateness": "1 day",
}
DISCARDING: Windowing = SPECULATIVE | {"accumulation": "discarding"}


def hits(frame: Any) -> bl.Stream:
    return bl.stream(frame, timestamp="at", watermark="10 minutes" if frame.isStreaming else None)


def counted(frame: Any, window: Any = TEN, **windowing: Any) -> bl.Stream:
    rows = hits(frame).window(window, **windowing)
    return rows.group("user", {"n": bl.count()}, name="visits", **SMALL)


def known(frame: Any) -> bl.Stream:
    """A side input: who was there so far."""
    rows = bl.stream(frame, timestamp="at", watermark="0 s").with_columns({"there": F.lit(True)})
    often = bl.Repeatedly(bl.AfterCount(1))
    return rows.window(bl.GlobalWindows(), trigger=often, accumulation="discarding")


def in_all(panes: bl.Stream) -> bl.Stream:
    """How many hits there are in each hour."""
    hours = panes.window(
        HOUR,
        trigger=bl.AfterWatermark(late=bl.AfterCount(1)),
        accumulation="accumulating",
        allowed_lateness="2 days",
    )
    return hours.group([], {"n": bl.sum("n"), "panes": bl.count()}, name="hours", **SMALL)


@pytest.fixture
def streaming(feed: MakeFeed) -> Any:
    return feed(HITS).frame


@pytest.fixture
def bounded(spark: Any) -> Any:
    return spark.createDataFrame(
        [("ann", f"2020-01-01 00:0{minute}:00Z") for minute in range(4)], "user string, at string"
    )


# -- what would count several times is refused -----------------------------------------------

DISCARD = (
    "in the window(...) of 'visits' write accumulation=\"retracting\", so that each pane takes "
    'back the one before, or "discarding", so that a pane holds what is new; or one pane for each '
    "window, with "
)
ONE_PANE = "trigger=AfterWatermark(), allowed_lateness=0"
LAST = (
    '; or take its last panes only, with closing_behavior="fire_always" and where("pane.is_last")'
)


def counts_again(name: str, because: str, instead: str = ONE_PANE, last: str = LAST) -> str:
    return (
        f"the grouping {name!r} would count elements several times: 'visits' before it is "
        f"accumulating, and {because}; {DISCARD}{instead}{last}"
    )


OFTEN = (
    "AfterWatermark(early=AfterCount(2), late=AfterCount(1)) can fire several times for a window"
)


@pytest.mark.parametrize(
    ("windowing", "says"),
    [
        (SPECULATIVE, counts_again("hours", OFTEN)),
        (SPECULATIVE | {"window": GAP}, counts_again("hours", OFTEN)),
        (
            {"accumulation": "accumulating", "allowed_lateness": "1 hour"},
            counts_again("hours", "DefaultTrigger() can fire several times for a window"),
        ),
        (
            {
                "window": GAP,
                "accumulation": "accumulating",
                "allowed_lateness": 0,
                "late_check": "retain",
            },
            counts_again(
                "hours",
                'late_check="retain" puts the elements of a session that has expired into the '
                "panes of a longer one, too",
                f'{ONE_PANE}, late_check="assigned"',
                "",
            ),
        ),
    ],
    ids=["fixed", "sessions", "late", "retained"],
)
def test_panes_that_repeat_others_cannot_be_grouped_again(
    streaming: Any, windowing: Windowing, says: str
) -> None:
    panes = counted(streaming, **windowing)
    assert refusal(UnsupportedError, in_all, panes) == says


def test_nor_joined_flattened_or_looked_into(streaming: Any) -> None:
    panes = counted(streaming, **SPECULATIVE)
    names = hits(streaming).window(TEN, **SPECULATIVE).with_columns({"name": F.col("user")})
    after = panes.strategy
    names = bl.Stream(after, names.inputs)
    refused: dict[str, Callable[[], Any]] = {
        "join": lambda: bl.join(panes, names, "user", name="join"),
        "other side": lambda: bl.join(names, panes.select("user", "n"), "user", name="other side"),
        "together": lambda: bl.co_group({"a": names, "b": panes}, "user", name="together"),
        "found side": lambda: bl.look_up(names, panes.select("user", "n"), on="user", name="found"),
        "flat": lambda: bl.flatten(
            [names.select("user", F.lit(1).cast("bigint").alias("n")), panes.select("user", "n")]
        ).group("user", {"n": bl.sum("n")}, name="flat"),
        "changed": lambda: (
            panes.with_columns({"twice": F.col("n") * 2})
            .explode(F.array("twice"), "again")
            .where("n > 1")
            .remerge()
            .group("user", {"n": bl.sum("again")}, name="changed")
        ),
        "after a look-up": lambda: bl.look_up(panes, known(streaming), on="user").group(
            "user", {"n": bl.count()}, name="after a look-up"
        ),
    }
    for name, make in refused.items():
        assert refusal(UnsupportedError, make) == counts_again(name, OFTEN)


def test_in_bounded_data_a_trigger_of_elements_fires_before_the_end(bounded: Any) -> None:
    panes = counted(bounded, **SPECULATIVE)
    # What a second grouping would count: the same four hits in two panes.
    assert [(row["n"], row["pane"]["timing"]) for row in shown(panes.rows)] == [
        (4, "EARLY"),
        (4, "ON_TIME"),
    ]
    assert refusal(UnsupportedError, in_all, panes) == counts_again("hours", OFTEN)


def test_a_grouping_that_withdraws_panes_repeats_none(streaming: Any) -> None:
    hours = in_all(counted(streaming, **SPECULATIVE | {"accumulation": "retracting"}))
    assert hours.columns == ["window", "n", "panes", "timestamp", "pane"]


# -- what counts once stays allowed ----------------------------------------------------------


@pytest.mark.parametrize(
    "windowing",
    [
        DISCARDING,
        DISCARDING | {"window": GAP, "late_check": "retain"},
        {},
        {"accumulation": "accumulating"},
        {"window": GAP, "accumulation": "accumulating"},
        SPECULATIVE | {"trigger": bl.AfterWatermark(), "allowed_lateness": 0},
        SPECULATIVE | {"trigger": bl.AfterWatermark(late=bl.AfterCount(1)), "allowed_lateness": 0},
        SPECULATIVE | {"trigger": bl.AfterWatermark(early=bl.Never()), "allowed_lateness": 0},
        SPECULATIVE | {"trigger": bl.Never()},
        {"accumulation": "accumulating", "late_check": "retain"},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::beamlike.errors.UnwiseStrategyWarning")
def test_panes_that_hold_each_element_once_are_grouped_again(streaming: Any, windowing: Windowing):
    assert in_all(counted(streaming, **windowing)).columns == [
        *("window", "n", "panes"),
        *("timestamp", "pane"),
    ]


def test_in_bounded_data_other_triggers_give_one_pane(bounded: Any) -> None:
    trigger = bl.AfterWatermark(early=bl.AfterProcessingTime("1 minute"), late=bl.AfterCount(1))
    hours = in_all(counted(bounded, **SPECULATIVE | {"trigger": trigger}))
    assert [(row["n"], row["panes"]) for row in shown(hours.rows)] == [(4, 1)]


def test_of_panes_that_repeat_others_the_last_ones_can_be_grouped(bounded: Any, streaming: Any):
    last = counted(bounded, **SPECULATIVE).where("n > 0 and pane.is_last")
    assert [(row["n"], row["panes"]) for row in shown(in_all(last).rows)] == [(4, 1)]
    panes = counted(streaming, **SPECULATIVE)
    for condition in (
        F.col("pane.is_last"),
        F.col("pane")["is_last"],
        F.col("pane.timing") == "ON_TIME",
        F.col("pane.index") == 0,
    ):
        in_all(panes.where(condition))
    # A session that merges may have been on time before.
    sessions = counted(streaming, GAP, **SPECULATIVE)
    in_all(sessions.where(F.col("pane.is_last")))
    for condition in ("pane.timing = 'ON_TIME'", "pane.is_first", "pane.is_last or n > 1"):
        with pytest.raises(UnsupportedError, match="'hours' would count elements several times"):
            in_all(sessions.where(condition))


def test_panes_that_repeat_others_can_look_up(feed: MakeFeed, streaming: Any) -> None:
    found = bl.look_up(counted(streaming, **SPECULATIVE), known(feed(HITS).frame), on="user")
    assert found.columns == ["user", "window", "n", "at", "there", "timestamp", "pane"]
    in_all(found.where("pane.is_last"))


# -- and it does count once ------------------------------------------------------------------


def visits(random: Random) -> list[tuple[int, str]]:
    """Hits by minute and user, in bursts that lie within an hour; some come an hour late."""
    arrivals = []
    for hour in range(6):
        for user in "abc":
            start = 60 * hour + random.randrange(5, 20)
            for _ in range(random.randrange(1, 9)):
                minute = start + random.randrange(0, 30)
                delay = random.choice((0, 0, 3, 70))
                arrivals.append((minute + delay, minute, user))
    return [(minute, user) for _, minute, user in sorted(arrivals)]


def hit(minute: int, user: str) -> Row:
    return {"user": user, "at": f"2020-01-01T{minute // 60:02}:{minute % 60:02}:00Z"}


def sessions_of(came: list[tuple[int, str]]) -> Counter[int]:
    """How many sessions end in each hour, as a batch job finds them."""
    minutes: dict[str, list[int]] = defaultdict(list)
    for minute, user in sorted(came):
        minutes[user].append(minute)
    ends: Counter[int] = Counter()
    for of_user in minutes.values():
        for minute, after in zip(of_user, [*of_user[1:], 10**6], strict=True):
            ends[(minute + 5) // 60] += after - minute >= 5
    return ends


@pytest.mark.nightly
@pytest.mark.parametrize("how", ["discarding", "last panes"])
def test_hits_per_hour_are_those_of_a_batch_job(feed: MakeFeed, how: str) -> None:
    came = visits(Random(5))
    events = feed(HITS)
    if how == "discarding":
        panes = counted(events.frame, GAP, **DISCARDING)
    else:
        always = SPECULATIVE | {"closing_behavior": "fire_always"}
        panes = counted(events.frame, GAP, **always).where("pane.is_last")
    events.start(in_all(panes).rows)
    rows = [
        row
        for start in range(0, len(came), 7)
        for row in events.send(*(hit(*it) for it in came[start : start + 7]))
    ]
    rows += events.send({"user": "z", "at": "2020-01-09T00:00:00Z"})
    rows += events.send({"user": "z", "at": "2020-02-09T00:00:00Z"})
    # Of each hour the last pane, which has everything; the two last rows only move the watermark.
    found = {
        int(row["window"]["start"][11:13]): (row["n"], row["panes"])
        for row in rows
        if row["window"]["start"].startswith("2020-01-01")
    }
    assert {hour: n for hour, (n, _) in found.items()} == Counter(
        minute // 60 for minute, _ in came
    )
    if how == "last panes":
        assert {hour: n for hour, (_, n) in found.items()} == +sessions_of(came)
    else:
        assert sum(panes for _, panes in found.values()) > sum(sessions_of(came).values())
