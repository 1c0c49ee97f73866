"""Works that are pipelines: Beam's transforms and Scio's verbs, with one grouping and with two."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import beamlike.beam as beam
from beamlike.model.trigger_base import continuation
from beamlike.scio import ScioContext, WindowedValue, WindowOptions
from tests.crash.feed import arriving
from tests.crash.frames import BY_CLOCK, TREE, WAKE_EVERY
from tests.crash.functions import BEATS, beats
from tests.crash.sinks import Files
from tests.crash.work import KEEPS_ITS_LOG, Work

TOTALS: Final = "user string, points long, window string, pane string"
PANES: Final = (
    "user string, tags array<string>, points long, timestamp long, start long, end long, "
    "timing string, index long, nonspeculative_index long, is_first boolean, is_last boolean"
)


def _work(name: str, title: str, build: Callable[[Any], Any], schema: str, **judged: Any) -> Work:
    """A pipeline whose last collection is written as rows of a schema."""

    def start(spark: Any, inbox: Path, home: Path) -> Any:
        pipeline = beam.Pipeline()
        read = beam.FromDataFrame(arriving(spark, inbox), timestamp="at", watermark="1 min")
        build(pipeline | "Rows" >> read) | beam.WriteRows(schema, Files(home / "out"))
        # Only what waits for the clock asks how often it is woken.
        running: Any = pipeline.run(
            "spark", spark, checkpoint=str(home / "checkpoint"), shards=2, wake_every=WAKE_EVERY
        )
        return running.query

    return Work(name, title, start, "checkpoint/query", **judged)


def _points(row: Any) -> tuple[str, int]:
    return row.user or "nobody", row.points


def _team(pair: tuple[str, int]) -> tuple[str, int]:
    return ("a to e" if pair[0] < "f" else "f to z"), pair[1]


def _total(
    pair: tuple[str, int], window: Any = beam.DoFn.WindowParam, pane: Any = beam.DoFn.PaneInfoParam
) -> dict[str, Any]:
    return {"user": pair[0], "points": pair[1], "window": str(window), "pane": str(pane)}


def _one(rows: Any) -> Any:
    return (
        rows
        | "Pairs" >> beam.Map(_points)
        | beam.WindowInto(
            beam.Sessions("1 minute"),
            trigger=TREE,
            accumulation_mode=beam.AccumulationMode.ACCUMULATING,
            allowed_lateness="5 minutes",
        )
        | "Total" >> beam.CombinePerKey(sum)
        | "Row" >> beam.Map(_total)
    )


def _two(rows: Any) -> Any:
    return (
        rows
        | "Pairs" >> beam.Map(_points)
        | "Minutes"
        >> beam.WindowInto(
            beam.FixedWindows("2 minutes"),
            trigger=TREE,
            accumulation_mode=beam.AccumulationMode.DISCARDING,
            allowed_lateness="5 minutes",
        )
        | "Users" >> beam.CombinePerKey(sum)
        | "Teams" >> beam.Map(_team)
        | "Tens"
        >> beam.WindowInto(
            beam.FixedWindows("10 minutes"),
            trigger=continuation(TREE),
            accumulation_mode=beam.AccumulationMode.DISCARDING,
            allowed_lateness="5 minutes",
        )
        | "Total" >> beam.CombinePerKey(sum)
        | "Row" >> beam.Map(_total)
    )


def _two_of_scio(rows: Any) -> Any:
    def total(
        windowed_value: WindowedValue[tuple[str, Iterable[int]]],
    ) -> WindowedValue[dict[str, Any]]:
        team, sums = windowed_value.value
        return windowed_value.with_value(
            _total((team, sum(sums)), windowed_value.window, windowed_value.pane)
        )

    accumulating = WindowOptions(
        trigger=TREE, accumulation_mode="accumulating", allowed_lateness="5 minutes"
    )
    discarding = WindowOptions(accumulation_mode="discarding")
    rows = ScioContext(rows.pipeline).wrap(rows)
    sums = rows.map(_points).with_session_windows("1 minute", options=accumulating).sum_by_key()
    teams = sums.map(_team).with_fixed_windows("10 minutes", options=discarding).group_by_key()
    return teams.to_windowed().map(total).to_scollection()


def _by_clock(rows: Any) -> Any:
    def row(
        pair: tuple[str, Iterable[tuple[str, int]]],
        timestamp: Any = beam.DoFn.TimestampParam,
        window: Any = beam.DoFn.WindowParam,
        pane: Any = beam.DoFn.PaneInfoParam,
    ) -> dict[str, Any]:
        user, values = pair[0], list(pair[1])
        return {
            "user": user,
            "tags": [tag for tag, _ in values],
            "points": sum(points for _, points in values),
            "timestamp": timestamp.instant_ms,
            "start": window.start.instant_ms,
            "end": window.end.instant_ms,
            "timing": pane.timing.name,
            "index": pane.index,
            "nonspeculative_index": pane.nonspeculative_index,
            "is_first": pane.is_first,
            "is_last": pane.is_last,
        }

    return (
        rows
        | "Known" >> beam.Filter(lambda it: it.user is not None)
        | "Pairs" >> beam.Map(lambda it: (it.user, (it.tag, it.points)))
        | beam.WindowInto(
            BY_CLOCK["window"],
            trigger=BY_CLOCK["trigger"],
            accumulation_mode=BY_CLOCK["accumulation"],
            allowed_lateness=BY_CLOCK["allowed_lateness"],
        )
        | "All" >> beam.GroupByKey()
        | "Row" >> beam.Map(row)
    )


PIPELINES: Final = (
    _work("beam", "a pipeline of Beam's words", _one, TOTALS),
    _work("chain", "a pipeline of Beam's words, two groupings", _two, TOTALS),
    _work("scio", "a pipeline of Scio's verbs, two groupings", _two_of_scio, TOTALS),
    _work("beats", "a pipeline with states and looping timers", beats, BEATS),
)
"""Micro-batches are cut alike, so they do what an undisturbed run does."""

PIPELINES_WITH_CLOCK: Final = (
    _work(
        "clock-beam",
        "a delay by the clock, in a pipeline",
        _by_clock,
        PANES,
        windowing=BY_CLOCK,
        settings=KEEPS_ITS_LOG,
        watermark="rows",
        ticks=True,
    ),
)
"""The clock has a say in what comes out."""
