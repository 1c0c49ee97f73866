"""Short runs in this process, whose results show whether an option has an effect."""

import io
import warnings
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from typing import Any, Final
from unittest.mock import patch

import attrs

import beamlike as bl
import beamlike.beam as beam
from beamlike.errors import BeamlikeError, UnusedHintWarning
from beamlike.hosts.local.tables.verbs import TableFrames
from beamlike.scio import ScioContext, TimestampedValue
from beamlike.testing import QueryTest, TestStream

VIEWS: Final = "user string, at timestamp, page string, v int"
HOUR: Final = bl.FixedWindows("1 hour")
COUNT: Final = {"n": bl.count()}
SENT: Final = (
    ("ann", "12:00:00", "tea", 5),
    ("bob", "12:01:00", "milk", 3),
    ("ann", "12:20:00", "milk", 4),
    ("bob", "13:05:00", "tea", 1),
    ("ann", "12:01:00", "salt", 2),
    (None, "13:06:00", "tea", 7),
    ("ann", "14:10:00", "tea", None),
)


@attrs.frozen
class Differs:
    """Two runs that differ in one option alone: what they give differs, or one is refused."""

    without: Callable[[], Any]
    by_option: Callable[[], Any]

    def outcomes(self) -> tuple[str, str]:
        return outcome(self.without), outcome(self.by_option)


def outcome(run: Callable[[], Any]) -> str:
    """What a run gives or prints, or how it is refused, and the hints that it warns of."""
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(printed):
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UnusedHintWarning)
        try:
            result = repr(run())
        except BeamlikeError as error:
            result = f"{type(error).__name__}: {error}"
    return "\n".join([result, printed.getvalue(), *(str(warning.message) for warning in caught)])


_OF_PLANS: Final = (
    *("shards", "buckets", "lift", "fanout", "machine_name", "record", "name", "on_error"),
    *("render", "clocks", "key_clock", "max_failures"),
)


def played(job: Callable[..., Any], inputs: Any = VIEWS, *, clock: str = "2100-01-01") -> Any:
    """The rows of a query micro-batch by micro-batch, the plans of its stages, and how often each
    of them gets a micro-batch without data (ms)."""
    run = TableFrames.run
    with patch.object(TableFrames, "run", autospec=True, side_effect=run) as runs:
        query = QueryTest(job, inputs, clock=clock)
    groupings = [call.args[2] for call in runs.call_args_list]
    plans = [{name: getattr(plan, name) for name in _OF_PLANS} for plan in groupings]
    wakes_every = [call.args[3] for call in runs.call_args_list]
    names = [None] if isinstance(inputs, str) else list(inputs)
    steps = [
        query.send({"user": user, "at": at, "page": page, "v": v}, to=name)
        for user, at, page, v in SENT
        for name in names
    ]
    steps += [query.advance_processing_time("5 minutes") for _ in range(3)]
    steps.append(query.advance_watermark_to_infinity())
    return [sorted(map(repr, rows)) for rows in steps], plans, wakes_every


def windowed(**options: Any) -> Any:
    """A run of `beamlike.windowed`."""
    call = {"key": "user", "watermark": "0 s", "window": HOUR, "aggregate": COUNT} | options
    clock = call.pop("clock", "2100-01-01")
    return played(lambda views: bl.windowed(views, timestamp="at", **call), clock=clock)


def grouped(
    source: Mapping[str, Any] | None = None, window: Mapping[str, Any] | None = None, **options: Any
) -> Any:
    """A run of `Stream.group`."""

    def job(views: Any) -> bl.Stream:
        rows = bl.stream(views, timestamp="at", **({"watermark": "0 s"} | dict(source or {})))
        rows = rows.window(**({"window": HOUR} | dict(window or {})))
        return rows.group("user", COUNT, **options)

    return played(job)


class Numbered:
    """Numbers the rows of a user, and raises for salt."""

    seen = bl.state()

    def process(self, row: Any, seen: Any) -> Any:
        seen.write((seen.read() or 0) + 1)
        if row.page == "salt":
            raise ValueError("salt")
        yield {"number": seen.read()}


def numbered(**options: Any) -> Any:
    """A run of `Stream.apply_per_key`."""

    def job(views: Any) -> Any:
        rows = bl.stream(views, timestamp="at", watermark="2 hours")
        return rows.apply_per_key("user", Numbered(), "number int", **options).everything

    return played(job)


def deduplicated(window: bl.WindowFn | None = None, **options: Any) -> Any:
    """A run of `Stream.deduplicate`."""

    def job(views: Any) -> Any:
        rows = bl.stream(views, timestamp="at", watermark="0 s")
        return rows.window(window).deduplicate("user", **options)

    return played(job)


def looked_up(main: bl.WindowFn = HOUR, side: bl.WindowFn = HOUR, **options: Any) -> Any:
    """A run of `beamlike.look_up`."""

    def job(views: Any, other: Any) -> Any:
        rows = [bl.stream(df, timestamp="at", watermark="0 s") for df in (views, other)]
        counts = rows[1].window(side).group("page", COUNT, name="counting")
        return bl.look_up(rows[0].window(main), counts, on="page", **options)

    return played(job, {"views": VIEWS, "other": VIEWS})


def tested(**options: Any) -> Any:
    """A run of a test stream."""
    stream = (
        TestStream()
        .add_elements_at_time("12:01:00", ("a", 1), ("b", 2))
        .advance_watermark_to("13:00:00")
        .add_elements_at_time("12:59:00", ("a", 3))
        .add_elements_at_time("12:01:00", ("a", 1))
        .advance_processing_time("1 hour")
        .advance_watermark_to_infinity()
    )
    return str(stream.run(**({"window": HOUR} | options)))


def beamed(build: Callable[[Any], Any]) -> list[Any]:
    """What a transform makes of three numbers at 0, 1 and 2 hours."""
    pipeline = beam.Pipeline()
    numbers = [beam.TimestampedValue(n, n * 3600) for n in (0, 1, 2)]
    return came(pipeline, build(pipeline | "Numbers" >> beam.Create(numbers)))


def scio(build: Callable[[Any], Any], *values: Any) -> list[Any]:
    """What a verb makes of values, the first at 0 hours, the next at 1 and so on."""
    sc = ScioContext()
    timed = [TimestampedValue(value, n * 3_600_000) for n, value in enumerate(values)]
    return came(sc.pipeline, build(sc.parallelize(timed)))


def came(pipeline: Any, pcoll: Any) -> list[Any]:
    """The elements of a collection after a run, with their times, windows and panes."""
    elements = [output.element for output in pipeline.run().out_of(pcoll.edge)]
    return [(e.value, e.timestamp, str(e.windows), str(e.pane)) for e in elements]
