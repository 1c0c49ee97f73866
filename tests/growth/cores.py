"""The same work on one core, on two, and on a standalone cluster of one worker and of two."""

import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from attrs import frozen
from pyspark.sql import SparkSession

from beamlike.hosts.spark.session import SETTINGS
from tests.benchmarks.data import FileCache, Stream
from tests.benchmarks.measure import timed_run
from tests.benchmarks.queries import beamlike_sessions, native_sessions
from tests.benchmarks.works import Contender
from tests.compatibility.probe import standalone

PLACES: Final = ("local[1]", "local[2]", "a cluster of one worker", "a cluster of two workers")
ENGINES: Final = ("beamlike", "native")


@frozen
class Speed:
    """What each measured micro-batch of so many events took (ms), of one engine at one place."""

    place: str
    engine: str
    events: int
    ms: tuple[int, ...]

    @property
    def a_second(self) -> float:
        """Events."""
        return self.events * 1000 / statistics.median(self.ms)


def measured(files: FileCache, scale: float, rounds: int) -> Iterator[Speed]:
    """Each engine at each place."""
    shape = Stream(max(500, round(500_000 * scale)), max(200, round(200_000 * scale)), 8)
    for place in PLACES:
        with _session(place) as spark:
            contenders = [
                Contender("beamlike", "beamlike", beamlike_sessions(), shape),
                Contender("native", "native", native_sessions(), shape),
            ]
            runs = [
                (contender.engine, timed_run(spark, files, contender))
                for _ in range(rounds)
                for contender in contenders
            ]
        for engine in ENGINES:
            took = [ms for name, run in runs if name == engine for ms in run.times_ms[shape.events]]
            yield Speed(place, engine, shape.events, tuple(took))


@contextmanager
def _session(place: str) -> Iterator[SparkSession]:
    with ExitStack() as stack:
        cores = 1 if place in (PLACES[0], PLACES[2]) else 2
        if place.startswith("local"):
            master = place
        else:
            master = stack.enter_context(standalone(workers=cores, memory="3g"))
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder: Any = SparkSession.builder
        session = (
            builder.master(master)
            .appName("beamlike growth")
            .config("spark.driver.memory", "3g")
            .config("spark.executor.memory", "2g")
            .config("spark.sql.shuffle.partitions", cores)
            .config(map=SETTINGS)
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
        try:
            yield session
        finally:
            session.stop()


def section(speeds: Sequence[Speed]) -> str:
    """A table, with what a second core brings."""
    events = {(speed.place, speed.engine): speed.a_second for speed in speeds}
    rows = [
        f"| {place} | "
        + " | ".join(
            f"{events[place, engine]:,.0f} | {events[place, engine] / events[less, engine]:.2f}"
            for engine in ENGINES
        )
        + " |"
        for place, less in zip(PLACES, (PLACES[0], PLACES[0], PLACES[2], PLACES[2]), strict=True)
    ]
    return "\n".join(
        [
            "## Cores",
            "",
            f"Sessions, count and sum, {speeds[0].events:,} events in a micro-batch: events in a "
            "second, and how many",
            "times those of one core or one worker. Workers have a core each.",
            "",
            "| place | beamlike | | `session_window` | |",
            "|---|---|---|---|---|",
            *rows,
            "",
        ]
    )
