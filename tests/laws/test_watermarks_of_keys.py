"""Each key has a watermark of its own: what comes out of a grouping is what comes out for each of
its keys alone.

Alone twice: in the same query over the rows of that key alone, where the watermark is
the input's and the columnar machine runs; and in memory, on the reference machine, with watermarks
that are computed here.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import beamlike as bl
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Drop, Effect, Element
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Count
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Script, ScriptStep
from beamlike.testing import QueryTest
from tests.support.examples import examples

law = settings(
    max_examples=examples(25),
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
chance = st.randoms(use_true_random=False)

Row = dict[str, Any]
MINUTE = 60_000
START = 1_577_836_800_000  # 2020-01-01
CLOCK = START + 30 * 24 * 60 * MINUTE
DEVICES = "abcdef"
SCHEMA = "device string, at timestamp"

WINDOWS = (
    bl.FixedWindows("10 minutes"),
    bl.SlidingWindows("20 minutes", "5 minutes"),
    bl.Sessions("6 minutes"),
)
TRIGGERS = (
    bl.DefaultTrigger(),
    bl.AfterWatermark(),
    bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1)),
    bl.AfterWatermark(early=bl.AfterProcessingTime("3 minutes"), late=bl.AfterCount(2)),
    bl.Repeatedly(bl.AfterFirst(bl.AfterCount(3), bl.AfterWatermark())),
)


@attrs.frozen
class Case:
    """A grouping, how its keys' watermarks follow their rows, and what happens."""

    strategy: dict[str, Any]
    follows: tuple[int, dict[str, Any]]
    """The delay (ms) of the watermark, and what happens when no row comes."""
    then: tuple[int, dict[str, Any]]
    """The same from the first restart on."""
    steps: Sequence[tuple[int, Sequence[tuple[str, int]], bool]]
    """Each with a stretch of processing time (ms), rows by device and time, and a restart."""
    lift: bool

    def grouped(self, rows: Any, restarted: bool, **options: Any) -> bl.Stream:
        delay, idle = self.then if restarted else self.follows
        source = bl.stream(rows, timestamp="at", watermark=f"{delay} ms", **idle)
        return source.window(**self.strategy).group(
            "device", {"n": bl.count()}, shards=2, buckets=2, **options
        )


def any_case(random: Random, *, restarts: bool = True) -> Case:
    window, trigger = random.choice(WINDOWS), random.choice(TRIGGERS)
    strategy: dict[str, Any] = {
        "window": window,
        "trigger": trigger,
        "accumulation": random.choice(["discarding", "accumulating", "retracting"]),
        "allowed_lateness": random.choice(["0 s", "4 minutes", "1 hour"]),
        "timestamp_combiner": random.choice(["end_of_window", "earliest", "latest"]),
        "closing_behavior": random.choice(["fire_if_non_empty", "fire_always"]),
        "on_time_behavior": random.choice(["fire_if_non_empty", "fire_always"]),
        "late_check": random.choice(["assigned", "merged", "element", "retain"]),
    }
    if not isinstance(window, bl.Sessions) and strategy["late_check"] == "retain":
        strategy["late_check"] = "assigned"
    if trigger == bl.AfterWatermark():  # it finishes with the window
        strategy["allowed_lateness"] = "0 s"
    follows = _any_rule(random)
    then = follows if random.randrange(2) else _any_rule(random)
    # Devices are hours apart, and each goes its own way at its own pace.
    reached = {device: START + random.randrange(600) * MINUTE for device in DEVICES}
    steps = []
    for _ in range(random.randint(4, 12)):
        rows = []
        for _ in range(random.randrange(8)):
            device = random.choice(DEVICES)
            reached[device] += random.choice([0, 1, 2, 5, 30]) * MINUTE
            rows.append((device, reached[device] - random.choice([0, 0, 1, 4, 20]) * MINUTE))
        restart = restarts and random.randrange(4) == 0
        steps.append((random.choice([1, 2, 8, 20]) * MINUTE, rows, restart))
    lift = (
        not isinstance(window, bl.Sessions)
        and strategy["timestamp_combiner"] == "end_of_window"
        and strategy["late_check"] != "element"
        and random.randrange(3) == 0
    )
    return Case(strategy, follows, then, steps, lift)


def _any_rule(random: Random) -> tuple[int, dict[str, Any]]:
    idle = random.choice(
        [
            {},
            {"idle_after": "10 minutes"},
            {"idle_after": "10 minutes", "idle": "advance"},
            {"idle_after": "1 minute", "idle": "advance"},
        ]
    )
    return random.choice([0, 1, 5]) * MINUTE, idle


def played(case: Case, devices: str, host: Any = "local", **how: Any) -> list[Row]:
    """All rows that come out of the grouping when these devices send, and no others."""
    given = {"lift": case.lift} | how
    query = QueryTest(
        lambda rows: case.grouped(rows, False, **given), SCHEMA, clock=CLOCK, host=host
    )
    for stretch, rows, restart in case.steps:
        query.advance_processing_time(stretch)
        own = [{"device": device, "at": at} for device, at in rows if device in devices]
        if own:
            query.send(*own)
        if restart:
            query.restart(lambda rows: case.grouped(rows, True, **given))
    query.advance_watermark_to_infinity()
    query.close()
    return query.rows


def in_any_order(rows: Sequence[Any]) -> list[Any]:
    return sorted(rows, key=repr)


@law
@given(chance)
def test_a_key_is_as_if_no_other_sent_anything(random: Random) -> None:
    case = any_case(random)
    alone = [row for device in DEVICES for row in played(case, device)]
    assert in_any_order(played(case, DEVICES, watermark_per_key=True)) == in_any_order(alone)


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3))
def test_so_it_is_on_spark(spark: Any, seed: int) -> None:
    case = any_case(Random(seed))
    # That the clock moves on is a source of ticks, and Spark goes on with the sources that it had.
    case = attrs.evolve(case, then=case.follows, steps=case.steps[:5])
    together = played(case, DEVICES, watermark_per_key=True)
    assert together
    on_spark = played(case, DEVICES, host="spark", watermark_per_key=True)
    assert in_any_order(on_spark) == in_any_order(together)


def script(case: Case, device: str) -> Iterator[ScriptStep]:
    """What happens to a key, with its watermark computed from its rows."""
    watermark, clock, greatest, active = MIN_TIMESTAMP, CLOCK, None, 0
    (delay, patience), then = _numbers(*case.follows), _numbers(*case.then)
    for stretch, rows, restart in case.steps:
        clock += stretch
        yield AdvanceClock(clock)
        for times in ([], [at for other, at in rows if other == device]):
            if times:
                yield Arrive(tuple((device, Element(None, time)) for time in times))
                greatest, active = max([*times, greatest or MIN_TIMESTAMP]), clock
            if greatest is not None:
                silent = max(0, clock - active - patience)
                watermark = max(watermark, greatest - delay + silent)
                yield AdvanceWatermark(watermark)
        if restart:
            delay, patience = then
    yield AdvanceWatermark(MAX_TIMESTAMP)


def _numbers(delay: int, idle: dict[str, Any]) -> tuple[int, int]:
    """A rule in milliseconds: the delay, and after how long a silence the clock moves on."""
    known = {"10 minutes": 10 * MINUTE, "1 minute": MINUTE}
    return delay, known[idle["idle_after"]] if idle.get("idle") == "advance" else 10**15


def effects(case: Case, script: Script) -> list[Any]:
    strategy = bl.WindowingStrategy(
        case.strategy["window"],
        *(case.strategy[name] for name in ("trigger", "accumulation")),
        **{name: case.strategy[name] for name in case.strategy if name not in _POSITIONAL},
    )
    run = run_in_memory(Grouping(strategy, Count()), script)
    return [(output.key, _of_effect(output.effect)) for output in run.outputs]


_POSITIONAL = ("window", "trigger", "accumulation")


def _of_effect(effect: Effect) -> Any:
    window = effect.window
    assert window is not None
    if isinstance(effect, Drop):
        return effect.reason.value, window.start, effect.timestamp, effect.missed_by
    return (
        window.start,
        window.end,
        effect.value,
        effect.timestamp,
        effect.info.index,
        (effect.info.timing.value, effect.info.is_last, effect.retraction),
    )


def _of_row(row: Row) -> Any:
    if (dropped := row["dropped"]) is not None:
        return (
            dropped["reason"],
            _ms(dropped["window"]["start"]),
            _ms(dropped["timestamp"]),
            (dropped["missed_ms"]),
        )
    window, pane = row["window"], row["pane"]
    return (
        _ms(window["start"]),
        _ms(window["end"]),
        row["n"],
        _ms(row["timestamp"]),
        (pane["index"]),
        (pane["timing"], pane["is_last"], row.get("retraction", False)),
    )


def _ms(at: Any) -> int:
    return round(at.timestamp() * 1_000_000) // 1_000


@law
@given(chance)
def test_a_key_is_as_the_reference_machine_has_it_alone(random: Random) -> None:
    case = attrs.evolve(any_case(random), lift=False)
    alone = [effect for device in DEVICES for effect in effects(case, tuple(script(case, device)))]
    together = [
        (row["device"], _of_row(row)) for row in played(case, DEVICES, watermark_per_key=True)
    ]
    assert in_any_order(together) == in_any_order(alone)
