"""Options of DataFrames and streams: runs in this process that differ in one of them."""

from typing import Any, Final

import beamlike as bl
from tests.options.playing import (
    Differs,
    deduplicated,
    grouped,
    looked_up,
    numbered,
    played,
    windowed,
)

EARLY: Final[dict[str, Any]] = {
    "trigger": bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1)),
    "accumulation": "retracting",
    "allowed_lateness": "1 day",
}


def gap_of(page: str) -> int:
    return 1_000_000 * len(page)


class Failing(bl.FixedWindows):
    """Windows that cannot be had for noon."""

    def assign(self, timestamp: int, value: Any = None) -> Any:
        if timestamp == 12 * 3_600_000:
            raise ValueError("noon")
        return super().assign(timestamp, value)


def co_grouped(**options: Any) -> Any:
    def job(views: Any) -> bl.Stream:
        rows = bl.stream(views, timestamp="at", watermark="0 s").window(bl.Sessions(gap_of))
        return bl.co_group({"rows": rows}, "user", **options)

    return played(job)


def silent(**source: Any) -> Any:
    """A stream whose rows stop."""
    return grouped(source=source)


class Ringing:
    """Says when a timer of a time domain has called."""

    ring = bl.timer()

    def process(self, row: Any, ring: Any) -> None:
        ring.offset("1 minute").set_relative()

    def on_ring(self, timestamp: Any) -> Any:
        yield {"rung": timestamp}


class RingingByClock(Ringing):
    ring = bl.timer("processing")


def rung(fn: object) -> Any:
    def job(views: Any) -> Any:
        rows = bl.stream(views, timestamp="at", watermark="2 hours")
        return rows.apply_per_key("user", fn, "rung timestamp")

    return played(job)


class Kept:
    pages = bl.state("list")

    def process(self, row: Any, pages: Any) -> Any:
        pages.add(row.page)
        yield {"pages": pages.read()}


class KeptOnce(Kept):
    pages = bl.state("set")


def kept(fn: object) -> Any:
    def job(views: Any) -> Any:
        rows = bl.stream(views, timestamp="at", watermark="2 hours")
        return rows.apply_per_key("user", fn, "pages array<string>")

    return played(job)


def per(function: Any, base: dict[str, Any] | None = None, **option: Any) -> Differs:
    """Two runs of a function, one with an option beside what both have."""
    both = base or {}
    return Differs(lambda: function(**both), lambda: function(**both, **option))


STEP: Final[dict[str, Any]] = {"shards": 2, "buckets": 2, "name": "named", "wake_every": "7 s"}
BY_TIME: Final[dict[str, Any]] = {"window": bl.Sessions("30 minutes")}

RUNS: Final[dict[str, Differs]] = {
    "windowed.watermark": Differs(windowed, lambda: windowed(watermark="10 minutes")),
    "windowed.max_ahead": Differs(
        lambda: windowed(clock="1970-01-01 12:10:00"),
        lambda: windowed(clock="1970-01-01 12:10:00", max_ahead="1 minute"),
    ),
    "windowed.window": Differs(windowed, lambda: windowed(**BY_TIME)),
    "windowed.window_input": per(windowed, {"window": bl.Sessions(gap_of)}, window_input="page"),
    "windowed.output": per(windowed, output="dropped"),
    "windowed.render": per(windowed, EARLY, render="upserts"),
    "windowed.on_error": per(windowed, {"window": Failing("1 hour")}, on_error="fail"),
    "windowed.max_failures": per(windowed, max_failures=0.5),
    "windowed.lift": per(windowed, lift=True),
    "windowed.hot_key_fanout": per(windowed, hot_key_fanout=2),
    "windowed.machine": per(windowed, machine="reference"),
    "windowed.record": per(windowed, record=1000),
    "windowed.resolution": per(windowed, resolution="milliseconds"),
    "stream.watermark": Differs(silent, lambda: silent(watermark="10 minutes")),
    "stream.max_ahead": per(silent, max_ahead=None),
    "stream.idle_after": per(silent, idle_after="1 minute"),
    "stream.idle": per(silent, {"idle_after": "1 minute"}, idle="advance"),
    "stream.resolution": per(silent, resolution="milliseconds"),
    "stream.watermark_by": per(silent, {"idle_after": "1 minute"}, watermark_by="user"),
    "Stream.window.window": Differs(grouped, lambda: grouped(window=BY_TIME)),
    "Stream.group.render": per(grouped, {"window": EARLY}, render="upserts"),
    "Stream.group.carry": per(grouped, carry="page"),
    "Stream.group.on_error": per(
        grouped, {"window": {"window": Failing("1 hour")}}, on_error="fail"
    ),
    "Stream.group.max_failures": per(grouped, max_failures=0.5),
    "Stream.group.lift": per(grouped, lift=True),
    "Stream.group.hot_key_fanout": per(grouped, hot_key_fanout=2),
    "Stream.group.machine": per(grouped, machine="reference"),
    "Stream.group.record": per(grouped, record=1000),
    "Stream.group.watermark_per_key": per(grouped, watermark_per_key=True),
    "Stream.apply_per_key.on_error": per(numbered, on_error="fail"),
    "Stream.apply_per_key.max_failures": per(numbered, max_failures=0.5),
    "Stream.deduplicate.within": per(deduplicated, within="1 hour"),
    "Stream.deduplicate.time": per(deduplicated, time="processing"),
    "look_up.how": per(looked_up, {"side": bl.FixedWindows("1 minute")}, how="inner"),
    "look_up.window_input": per(looked_up, {"main": bl.Sessions(gap_of)}, window_input="page"),
    "co_group.window_input": per(co_grouped, window_input="page"),
    "timer.time": Differs(lambda: rung(Ringing()), lambda: rung(RingingByClock())),
    "state.kind": Differs(lambda: kept(Kept()), lambda: kept(KeptOnce())),
    **{f"windowed.{name}": per(windowed, **{name: value}) for name, value in STEP.items()},
    **{f"Stream.group.{name}": per(grouped, **{name: value}) for name, value in STEP.items()},
    **{
        f"Stream.apply_per_key.{name}": per(numbered, **{name: value})
        for name, value in STEP.items()
    },
    **{
        f"Stream.deduplicate.{name}": per(deduplicated, **{name: value})
        for name, value in STEP.items()
    },
    **{f"look_up.{name}": per(looked_up, **{name: value}) for name, value in STEP.items()},
}
