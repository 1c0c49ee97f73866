# ruff: noqa: B008 (that is how parameters ask)
"""Works with states and timers: rows of a DataFrame, and a pipeline."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

import beamlike as bl
import beamlike.beam as beam
from beamlike.beam.transforms.timeutil import TimeDomain
from beamlike.beam.transforms.userstate import (
    BagStateSpec,
    CombiningValueStateSpec,
    MapStateSpec,
    ReadModifyWriteStateSpec,
    TimerSpec,
    on_timer,
    on_window_expiration,
)

BEATS: Final = "user string, what string, at long, points long, tags array<string>"

UNLUCKY: Final = 13
"""Rows with so many points fail, after they have changed the state."""


class Visits:
    """What a user did until it was quiet for a while, likewise of each fifth of the points."""

    tags = bl.state("list")
    points = bl.state("value")
    fifths = bl.state("set")
    latest = bl.state("map")
    quiet = bl.timer("event")
    of_fifth = bl.timer("event")

    def process(
        self,
        row: Any,
        timestamp: datetime,
        tags: Any,
        points: Any,
        fifths: Any,
        latest: Any,
        quiet: Any,
        of_fifth: Any,
    ) -> Iterable[Any]:
        tags.add(row.tag)
        points.write((points.read() or 0) + row.points)
        fifth = row.points % 5
        latest.put(fifth, row.tag)
        quiet.set(timestamp + timedelta(seconds=90))
        if fifths.add(fifth):
            of_fifth.set(timestamp + timedelta(seconds=40), str(fifth))
        if row.points == UNLUCKY:
            raise ValueError(row.tag)
        if fifth == 0:
            yield {"what": "at once", "points": row.points, "tags": [row.tag]}

    def on_quiet(self, tags: Any, points: Any) -> Iterable[Any]:
        yield {"what": "quiet", "points": points.read(), "tags": tags.read()}
        tags.clear()
        points.clear()

    def on_of_fifth(self, tag: str, fifths: Any, latest: Any) -> Iterable[Any]:
        yield {"what": f"fifth {tag}", "tags": [latest.get(int(tag))]}
        fifths.remove(int(tag))

    def on_window_expiration(self, tags: Any, points: Any) -> Iterable[Any]:
        yield {"what": "end", "points": points.read(), "tags": tags.read()}


def visits(rows: Any) -> Any:
    """Rows given to a function, and what it dropped."""
    once = bl.stream(rows, timestamp="at", watermark="1 minute")
    tens = once.window(
        bl.FixedWindows("10 minutes"), accumulation="discarding", allowed_lateness="5 minutes"
    )
    returns = "what string, points long, tags array<string>"
    return tens.apply_per_key("user", Visits(), returns, shards=2).everything


class Beats(beam.DoFn[Any, Any]):
    """Says every thirty seconds what a user has done, until its window is over."""

    POINTS = CombiningValueStateSpec("points", sum)
    TAGS = BagStateSpec("tags", beam.coders.StrUtf8Coder())
    COUNTS = MapStateSpec("counts", beam.coders.StrUtf8Coder(), beam.coders.VarIntCoder())
    BEGUN = ReadModifyWriteStateSpec("begun", beam.coders.BooleanCoder())
    BEAT = TimerSpec("beat", TimeDomain.WATERMARK)

    def process(  # type: ignore[override]
        self,
        element: Any,
        at: Any = beam.DoFn.TimestampParam,
        points: Any = beam.DoFn.StateParam(POINTS),
        tags: Any = beam.DoFn.StateParam(TAGS),
        counts: Any = beam.DoFn.StateParam(COUNTS),
        begun: Any = beam.DoFn.StateParam(BEGUN),
        beat: Any = beam.DoFn.TimerParam(BEAT),
    ) -> Iterable[Any]:
        _, (number, tag) = element
        points.add(number)
        tags.add(tag)
        counts.put(tag[0], (counts.get(tag[0]) or 0) + 1)
        if not begun.read():
            begun.write(True)
            beat.set(min(at + 30, beat.latest))
        if number == UNLUCKY:
            raise ValueError(tag)
        return ()

    @on_timer(BEAT)
    def on_beat(
        self,
        user: Any = beam.DoFn.KeyParam,
        at: Any = beam.DoFn.TimestampParam,
        points: Any = beam.DoFn.StateParam(POINTS),
        tags: Any = beam.DoFn.StateParam(TAGS),
        beat: Any = beam.DoFn.TimerParam(BEAT),
    ) -> Iterable[Any]:
        yield _row(user, "beat", at, points.read(), tags.read())
        if at + 30 <= beat.latest:
            beat.set(at + 30)

    @on_window_expiration
    def on_end(
        self,
        user: Any = beam.DoFn.KeyParam,
        at: Any = beam.DoFn.TimestampParam,
        points: Any = beam.DoFn.StateParam(POINTS),
        counts: Any = beam.DoFn.StateParam(COUNTS),
    ) -> Iterable[Any]:
        by_file = [f"{file}: {count}" for file, count in counts.items()]
        yield _row(user, "end", at, points.read(), by_file)


def _row(user: str, what: str, at: Any, points: int, tags: list[str]) -> dict[str, Any]:
    return {"user": user, "what": what, "at": at.instant_ms, "points": points, "tags": tags}


def beats(rows: Any) -> Any:
    """Pairs given to a function with looping timers."""
    return (
        rows
        | "Pairs" >> beam.Map(lambda row: (row.user or "no user", (row.points, row.tag)))
        | "Minutes"
        >> beam.WindowInto(
            beam.FixedWindows("2 minutes"),
            trigger=bl.AfterWatermark(late=bl.AfterCount(1)),
            accumulation_mode=beam.AccumulationMode.DISCARDING,
            allowed_lateness="5 minutes",
        )
        | "Beats" >> beam.ParDo(Beats()).with_on_error("drop")
    )
