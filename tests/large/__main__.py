"""Large values on Spark, each result against a plain aggregation: ``python -m tests.large``.

More than two gigabytes of text in a shard, and in what it emits at once; a million elements of one
key in one window; a hundred thousand windows of one key that are due at once; texts of fifty
megabytes. What each took, of time and memory, goes to ``LATEST.md`` beside this file. ``--only``
takes some of them, and keeps the rows of the others.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import attrs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import beamlike as bl
from tests.benchmarks.workers import WorkerMemory, descendants, status_bytes
from tests.support.commands import command_parser
from tests.support.latest import Latest

LATEST: Final = Latest(
    Path(__file__).with_name("LATEST.md"),
    """# The latest run

`python -m tests.large`: each trial with what came of it, the seconds of its longest micro-batch,
and the peaks of memory of the largest Python worker and of Java (which may take 4 GB of heap).

""",
    ("trial", "result", "longest micro-batch", "worker", "Java", "on"),
)
_START: Final = 1_767_225_600  # 2026-01-01, in seconds


@attrs.frozen
class Trial:
    """A query and its input.

    Args:
        batches: So many micro-batches.
        rows: Rows of each, as columns of ``id``: ``user``, ``at`` and ``text``.
        window: The windows.
        shards: Of the grouping.
        says: What comes out, in words.
    """

    batches: int
    each: int
    user: str
    seconds: str
    text: str
    window: bl.FixedWindows
    shards: int
    says: str


TRIALS: Final[Mapping[str, Trial]] = {
    "3 GB of text in a shard": Trial(
        24,
        13_000,
        "concat('user ', id % 1000)",
        f"{_START}",
        "repeat(sha2(cast(id as string), 512), 80)",
        bl.FixedWindows("1 hour"),
        1,
        "a thousand lists, 3.2 GB at once",
    ),
    "a million elements of one key": Trial(
        10,
        100_000,
        "'one'",
        f"{_START}",
        "cast(id as string)",
        bl.FixedWindows("1 hour"),
        2,
        "a list of a million texts",
    ),
    "a hundred thousand windows at once": Trial(
        1,
        200_000,
        "'one'",
        f"{_START} + id % 100000",
        "cast(id as string)",
        bl.FixedWindows("1 second"),
        2,
        "a hundred thousand lists of two",
    ),
    "texts of 50 MB": Trial(
        2,
        2,
        "'one'",
        f"{_START}",
        "repeat(sha2(cast(id as string), 512), 410000)",
        bl.FixedWindows("1 hour"),
        2,
        "a list of four texts of 52 MB",
    ),
}


def rows_of(spark: SparkSession, trial: Trial, batch: int) -> DataFrame:
    """The rows of a micro-batch."""
    ids = spark.range(batch * trial.each, (batch + 1) * trial.each, numPartitions=2)
    at = F.expr(f"timestamp_seconds({trial.seconds})")
    return ids.select(
        F.expr(trial.user).alias("user"), at.alias("at"), F.expr(trial.text).alias("text")
    )


def run(spark: SparkSession, trial: Trial) -> tuple[bool, float, int, int]:
    """Whether all came out, the longest micro-batch (s), the peaks of worker and Java (bytes)."""
    with TemporaryDirectory() as folder, WorkerMemory() as memory:
        home = Path(folder)
        for batch in range(trial.batches):
            _file(rows_of(spark, trial, batch), home, batch)
        end = spark.sql(f"select 'end' user, timestamp_seconds({_START} + 86400 * 9) at, '' text")
        _file(end, home, trial.batches)
        source = spark.readStream.schema("user string, at timestamp, text string")
        lists = bl.windowed(
            source.option("maxFilesPerTrigger", 1).parquet(str(home / "in")),
            key="user",
            timestamp="at",
            watermark="1 hour",
            window=trial.window,
            aggregate={"n": bl.count(), "texts": bl.collect("text")},
            shards=trial.shards,
        )
        found: list[tuple[int, ...]] = []

        def add(frame: DataFrame, _: int) -> None:
            found.append(_summary(frame.select("texts", "window.start")))

        writer = lists.writeStream.foreachBatch(add).trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(home / "state")).start()
        query.awaitTermination()
        longest = max(it["durationMs"]["triggerExecution"] for it in query.recentProgress) / 1000
        java = [status_bytes(it, "VmHWM") or 0 for it, name in descendants() if "java" in name]
        rows = spark.read.parquet(str(home / "in")).filter("user != 'end'")
        start = F.window("at", f"{trial.window.size} milliseconds")["start"]
        wanted = _summary(rows.select(F.array("text").alias("texts"), start.alias("start")))
    came = tuple(map(sum, zip(*found, strict=True)))
    return came == wanted, longest, memory.peak_bytes or 0, max(java, default=0)


def _file(frame: DataFrame, home: Path, batch: int) -> None:
    """One file, whose name says its place."""
    frame.coalesce(1).write.parquet(str(home / "made"), mode="overwrite")
    (made,) = (home / "made").glob("*.parquet")
    (home / "in").mkdir(exist_ok=True)
    # Spark takes files by the time when they were written.
    made.rename(home / "in" / f"{batch:03}.parquet")


def _summary(frame: DataFrame) -> tuple[int, ...]:
    """Texts, their characters, and sums of their digests, alone and with their windows.

    A row for each text would be another copy of the list.
    """
    each = "length(it)", "crc32(it)", "crc32(concat(crc32(it), start))"
    sums = (f"aggregate(texts, 0L, (sum, it) -> sum + {one})" for one in each)
    row = frame.agg(*(F.sum(F.expr(one)) for one in ("size(texts)", *sums))).first()
    assert row is not None, "an aggregate has a row"
    return tuple(it or 0 for it in row)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trials; 1 if something is missing or wrong."""
    parser = command_parser("tests.large", __doc__)
    parser.add_argument("--only", nargs="+", choices=TRIALS, default=list(TRIALS), metavar="TRIAL")
    asked = parser.parse_args(arguments)
    failed = 0
    for name in asked.only:
        spark = bl.local_session()
        begun = time.monotonic()
        good, longest, worker, java = run(spark, TRIALS[name])
        spark.stop()
        said = TRIALS[name].says if good else "failed"
        memory = (f"{size / 1e9:.1f} GB" for size in (worker, java))
        cells = (name, said, f"{longest:.1f} s", *memory)
        print(*cells, f"after {time.monotonic() - begun:.0f} s", sep=" | ", flush=True)
        LATEST.keep(*cells, order=[*TRIALS])
        failed += not good
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
