# ruff: noqa: B008 (that is how parameters ask)
"""The queries whose checkpoints are kept: one for each way in which state comes to rest.

What a query needs on the workers lies inside of functions, because these have no tests.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

import beamlike as bl
import beamlike.beam as beam

SCHEMA: Final = "user string, till int, at timestamp, v int"

Keep = Callable[[Any, int], None]
"""Takes the rows of a micro-batch, with its number."""

Start = Callable[[Any, Any, str, Keep], Any]
"""Starts the query: session, rows, checkpoint, and what takes the rows that come out."""

Row = Mapping[str, Any]


def event(user: str, time: str, v: int, till: int = 1) -> Row:
    """A row of the day on which everything happens."""
    return {"user": user, "till": till, "at": f"2020-01-01T{time}Z", "v": v}


@attrs.frozen
class Work:
    """A query, and what arrives before its checkpoint is kept.

    Args:
        name: The name of its file.
        start: Starts it.
        before: Rows that arrive together, each taken in before the next.
        query: The folder of Spark's own checkpoint in that of the work.
    """

    name: str
    start: Start
    before: Sequence[Sequence[Row]]
    query: str = ""


class Inbox:
    """The folder that a query reads."""

    def __init__(self, home: Path) -> None:
        self.path = home / "in"
        self.path.mkdir(parents=True)

    def rows(self, spark: Any) -> Any:
        """What is in it, as a stream, one file in a micro-batch."""
        return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(self.path))

    def put(self, name: str, rows: Sequence[Row]) -> None:
        """Rows arrive together."""
        hidden = self.path / f".{name}.json"
        hidden.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        hidden.rename(self.path / f"{name}.json")


def _started(panes: Any, checkpoint: str, keep: Keep) -> Any:
    return panes.writeStream.foreachBatch(keep).option("checkpointLocation", checkpoint).start()


def _columnar(spark: Any, rows: Any, checkpoint: str, keep: Keep) -> Any:
    """Retracting sessions with early and late panes, by two columns."""
    panes = bl.windowed(
        rows,
        key=["user", "till"],
        timestamp="at",
        watermark="10 minutes",
        window=bl.Sessions("10 minutes"),
        trigger=bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1)),
        accumulation="retracting",
        allowed_lateness="2 hours",
        aggregate={
            "n": bl.count(),
            "total": bl.sum("v"),
            "mean": bl.mean("v"),
            "all": bl.collect("v"),
            "most": bl.top("v", 2),
        },
        shards=2,
        buckets=2,
        machine="columnar",
    )
    return _started(panes, checkpoint, keep)


def _narrow(spark: Any, rows: Any, checkpoint: str, keep: Keep) -> Any:
    """Sessions of so many users in one shard that their numbers are saved in few bytes."""
    panes = bl.windowed(
        rows,
        key="user",
        timestamp="at",
        watermark="10 minutes",
        window=bl.Sessions("10 minutes"),
        aggregate={"n": bl.count(), "total": bl.sum("v")},
        shards=1,
    )
    return _started(panes, checkpoint, keep)


def _per_key(spark: Any, rows: Any, checkpoint: str, keep: Keep) -> Any:
    """Sessions whose gap a function knows, and a combine function with pickled accumulators."""

    def gap_of(till: int) -> int:
        return till * 60_000

    class Span(bl.CombineFn):
        """The distance between the least and the greatest."""

        def create(self) -> Any:
            return None

        def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
            known = [*(accumulator or ()), *values]
            return min(known), max(known)

        def merge(self, first: Any, second: Any) -> Any:
            if first is None or second is None:
                return first or second
            return min(first[0], second[0]), max(first[1], second[1])

        def extract(self, accumulator: Any) -> Any:
            return None if accumulator is None else accumulator[1] - accumulator[0]

        def __str__(self) -> str:
            return "Span()"

    panes = bl.windowed(
        rows,
        key="user",
        timestamp="at",
        watermark="10 minutes",
        window=bl.Sessions(gap_of, max_duration="1 hour"),
        window_input="till",
        trigger=bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1)),
        accumulation="accumulating",
        allowed_lateness="2 hours",
        aggregate={"n": bl.count(), "span": bl.combine(Span(), "v", "int")},
        shards=2,
        buckets=2,
    )
    return _started(panes, checkpoint, keep)


def _pipeline(spark: Any, rows: Any, checkpoint: str, keep: Keep) -> Any:
    """Two groupings, one after the other, of Python values."""
    pipeline = beam.Pipeline()
    per_user = (
        pipeline
        | "Rows" >> beam.FromDataFrame(rows, timestamp="at", watermark="10 minutes")
        | "Pairs" >> beam.Map(lambda row: ((row.user, row.till), row.v))
        | "Tens" >> beam.WindowInto(beam.FixedWindows("10 minutes"))
        | "Per user" >> beam.CombinePerKey(sum)
    )
    hours = (
        per_user
        | "Sums" >> beam.Map(lambda pair: (pair[0][1], pair[1]))
        | "Hours" >> beam.WindowInto(beam.FixedWindows("1 hour"))
        | "Per till" >> beam.GroupByKey()
        | "Sorted" >> beam.Map(lambda pair: (pair[0], sorted(pair[1])))
    )
    hours | "Write" >> beam.WriteRows("till int, sums array<int>", keep)
    return pipeline.run("spark", spark, checkpoint=checkpoint, shards=2).query


def _visits() -> Any:
    """A function over rows, with states of each kind and timers of both clocks."""
    from datetime import datetime, timedelta

    class Visits:
        values, first = bl.state("list"), bl.state()
        tills, latest = bl.state("set"), bl.state("map")
        quiet, of_till, never = bl.timer("event"), bl.timer("event"), bl.timer("processing")

        def process(
            self,
            row: Any,
            timestamp: datetime,
            values: Any,
            first: Any,
            tills: Any,
            latest: Any,
            quiet: Any,
            of_till: Any,
            never: Any,
        ) -> None:
            values.add(row.v)
            if first.read() is None:
                first.write({"v": row.v, "at": timestamp})
            tills.add(row.till)
            latest.put(row.till, row.v)
            quiet.set(timestamp + timedelta(minutes=5))
            of_till.set(timestamp + timedelta(minutes=30), str(row.till), timestamp)
            never.set(datetime(2999, 1, 1), "", timestamp + timedelta(minutes=40))

        def on_quiet(self, values: Any) -> Any:
            yield {"what": "quiet", "all": values.read()}
            values.clear()

        def on_of_till(self, tag: str, first: Any, latest: Any) -> Any:
            yield {"what": f"till {tag}", "all": [first.read()["v"], latest.get(int(tag))]}

        def on_never(self) -> Any:
            yield {"what": "never"}

        def on_window_expiration(self, tills: Any, values: Any) -> Any:
            yield {"what": "end", "all": [*tills.read(), *values.read()]}

    return Visits()


def _functions(spark: Any, rows: Any, checkpoint: str, keep: Keep) -> Any:
    """Rows given to a function with states and timers."""
    hours = bl.stream(rows, timestamp="at", watermark="10 minutes").window(
        bl.FixedWindows("1 hour"), accumulation="discarding", allowed_lateness="2 hours"
    )
    visits = hours.apply_per_key(
        "user", _visits(), "what string, all array<int>", shards=2, buckets=2, name="visits"
    )
    return _started(visits.rows, checkpoint, keep)


def _deduplicate(spark: Any, rows: Any, checkpoint: str, keep: Keep) -> Any:
    """The first row of each user and hour."""
    hours = bl.stream(rows, timestamp="at", watermark="10 minutes").window(
        bl.FixedWindows("1 hour"), accumulation="discarding", allowed_lateness="2 hours"
    )
    first = hours.deduplicate(["user", "till"], "15 minutes", shards=2, buckets=2, name="once")
    return _started(first.rows, checkpoint, keep)


def _pipeline_functions(spark: Any, rows: Any, checkpoint: str, keep: Keep) -> Any:
    """Pairs given to a function with states and a looping timer."""
    specs = beam.transforms.userstate
    total = specs.CombiningValueStateSpec("total", sum)
    every = specs.BagStateSpec("every", beam.coders.VarIntCoder())
    beat = specs.TimerSpec("beat", beam.transforms.timeutil.TimeDomain.WATERMARK)

    class Beats(beam.DoFn[Any, Any]):
        def process(  # type: ignore[override]
            self,
            element: Any,
            at: Any = beam.DoFn.TimestampParam,
            total: Any = beam.DoFn.StateParam(total),
            every: Any = beam.DoFn.StateParam(every),
            beat: Any = beam.DoFn.TimerParam(beat),
        ) -> Any:
            total.add(element[1])
            every.add(element[1])
            beat.set(at + 600, "of an element")
            return ()

        @specs.on_timer(beat)
        def on_beat(
            self,
            user: Any = beam.DoFn.KeyParam,
            at: Any = beam.DoFn.TimestampParam,
            total: Any = beam.DoFn.StateParam(total),
            every: Any = beam.DoFn.StateParam(every),
            beat: Any = beam.DoFn.TimerParam(beat),
        ) -> Any:
            yield {"user": user, "total": total.read(), "every": every.read()}
            if at + 1_800 <= beat.latest:
                beat.set(at + 1_800, "again")

    pipeline = beam.Pipeline()
    pairs = (
        pipeline
        | "Rows" >> beam.FromDataFrame(rows, timestamp="at", watermark="10 minutes")
        | "Pairs" >> beam.Map(lambda row: (row.user, row.v))
        | "Hours" >> beam.WindowInto(beam.FixedWindows("1 hour"))
    )
    beats = pairs | "Beats" >> beam.ParDo(Beats())
    beats | "Write" >> beam.WriteRows("user string, total int, every array<int>", keep)
    return pipeline.run("spark", spark, checkpoint=checkpoint, shards=2).query


EARLY: Final = (
    [event("ann", "00:01:00", 1), event("ann", "00:04:00", 5), event("bob", "00:05:00", 2, 7)],
    # The watermark is at 00:20 after this: ann's session has ended, and waits for late rows.
    [event("cy", "00:30:00", 7), event("bob", "00:11:00", 3, 7), event("cy", "00:31:00", 1)],
    [event("ann", "00:33:00", 9)],
)

USERS: Final = [f"user {number}" for number in range(300)]
MANY = [[event(user, "00:01:00", number) for number, user in enumerate(USERS)]]
"""A row of each of these users."""

WORKS: Final[Mapping[str, Work]] = {
    work.name: work
    for work in (
        Work("columnar", _columnar, EARLY),
        Work("deduplicate", _deduplicate, EARLY),
        Work("functions", _functions, EARLY),
        Work("narrow", _narrow, MANY),
        Work("per_key", _per_key, EARLY),
        Work("pipeline", _pipeline, EARLY, "query"),
        Work("pipeline_functions", _pipeline_functions, EARLY, "query"),
    )
}
"""All works, by name."""
