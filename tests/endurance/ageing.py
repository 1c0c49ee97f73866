"""What must not grow with the age of a query, or with the number of those that have been."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import pandas as pd
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

import beamlike as bl
from tests.benchmarks.workers import cpu_seconds
from tests.endurance.memory import Held, heap_used, held_now
from tests.endurance.report import Finding
from tests.endurance.soak import growth
from tests.endurance.stream import numbers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import StreamingQuery

FLAT: Final = 1.05
"""What is held may be more by so much from the second to the last quarter."""

SLACK: Final[Mapping[str, int]] = {
    **dict.fromkeys(("driver", "java", "heap", "workers"), 8 << 20),
    **{"threads": 3, "files": 3, "processes": 1},
}
"""And by so much, whatever the share: pools of threads and caches of Java come and go."""

SLOWER: Final = 1.1
"""A micro-batch may take more of the processor by so much."""

_BATCHES_OF_A_LOOK: Final = 10
"""Micro-batches of which the mean is taken: their processor time is read from outside."""

_LONG: Final = 60
"""Starts after which all is judged. Until then Spark's pools fill, of which a few have 100 threads,
and Java's heap has not been as large as it may."""

_FILLING: Final = ("java", "threads", "files")

_CLOSING: Final = 10
"""Seconds in which Java closes what it has collected."""

_ROCKS_DB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

BOUND_MIB: Final = 64
_BOUND: Final[Mapping[str, str]] = {
    # Of each version that Spark keeps it knows all files, by default of a hundred.
    "spark.sql.streaming.minBatchesToRetain": "20",
    "spark.sql.streaming.stateStore.rocksdb.boundedMemoryUsage": "true",
    "spark.sql.streaming.stateStore.rocksdb.maxMemoryUsageMB": str(BOUND_MIB),
}


def grown(
    held: Sequence[Held], *, but: Sequence[str] = (), spares: Mapping[str, float] = {}
) -> tuple[dict[str, str], list[str]]:
    """Figures of what was held over time, and what of it grew.

    Args:
        held: Looks at equal distances.
        but: What may grow.
        spares: By how much more each may grow.
    """
    figures, wrong = {}, []
    for name, slack in SLACK.items():
        before, after = growth([getattr(look, name) for look in held])
        words = f"{_shown(name, before)}, {_shown(name, after)}"
        figures[f"{name}, second and last quarter"] = words
        spare = slack + spares.get(name, 0)
        if name not in but and after > before * FLAT and after - before > spare:
            wrong.append(f"{name} grew from the second to the last quarter: {words}")
    return figures, wrong


def _shown(name: str, amount: float) -> str:
    is_count = name in ("threads", "files", "processes")
    return f"{amount:,.0f}" if is_count else f"{amount / 2**20:,.1f} MiB"


def paced(times_ms: Sequence[int]) -> dict[str, str]:
    """How long micro-batches took, which other users of the machine decide as well: not judged."""
    before, after = growth(times_ms)
    words = f"{before / 1000:.2f} s, {after / 1000:.2f} s"
    return {"micro-batches": f"{len(times_ms):,}", "batch time, second and last quarter": words}


def slower(cpu: Sequence[float]) -> tuple[dict[str, str], list[str]]:
    """What a micro-batch took of the processor (s), look by look, and whether later ones took more.

    Of a run that is too short for one look nothing is said.
    """
    if not cpu:
        return {}, []
    before, after = growth(cpu)
    words = f"{before:.2f} s, {after:.2f} s"
    figures = {"CPU of a micro-batch, second and last quarter": words}
    is_slower = after > before * SLOWER and after - before > 0.1
    return figures, [f"micro-batches take more of the processor: {words}"] if is_slower else []


class RunningCount(StatefulProcessor):
    """How many rows of each key there have been."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._count = handle.getValueState("count", "n bigint")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Any:
        """Count them."""
        (counted,) = self._count.get() or (0,)
        count = counted + sum(map(len, rows))
        self._count.update((count,))
        yield pd.DataFrame({"key": [key[0]], "n": [count]})


@attrs.define
class _Counts:
    """What came out of a query: the elements in its panes, less those of panes withdrawn."""

    elements: int = 0

    def __call__(self, rows: Any, number: int) -> None:
        sign = "IF(retraction, -n, n)" if "retraction" in rows.columns else "n"
        (total,) = rows.selectExpr(f"coalesce(sum({sign}), 0)").first()
        self.elements += total


def _panes(rows: Any, name: str = "counts", **options: Any) -> Any:
    usual = {"window": bl.FixedWindows("1 minute"), "aggregate": {"n": bl.count()}, "shards": 2}
    read = {"key": "key", "timestamp": "at", "watermark": "0 s"}
    return bl.windowed(rows, name=name, **{**read, **usual, **options})


def started_and_stopped(
    spark: "SparkSession", home: Path, times: int, rest: float = 150
) -> Finding:
    """A query that is started, takes a file and is stopped, again and again.

    Another does so before, which is written with Spark's ``transformWithStateInPandas`` alone: what
    Spark keeps of each start is seen there, and this may keep no more.

    Args:
        spark: The session.
        home: An empty folder.
        times: Starts and stops of each query.
        rest: Seconds without a query before a look. Spark looks once a minute for stores of
            stopped queries, and ends threads of its pools that were idle for another.
    """
    counts, began = _Counts(), time.monotonic()

    def panes(files: Any) -> Any:
        return _panes(files, accumulation="retracting").writeStream.foreachBatch(counts)

    native = _looks_between_starts(spark, home / "native", times, rest, _natively_counted)
    held = _looks_between_starts(spark, home / "beamlike", times, rest, panes)
    spares = {name: _grown_by(native, name) for name in SLACK}
    figures, wrong = grown(held, but=_FILLING if times < _LONG else (), spares=spares)
    expected = 20 * (times - 1)  # the last minute is not over
    if counts.elements != expected:
        wrong.append(f"{counts.elements:,} elements came out, and it must be {expected:,}")
    took = f"{(time.monotonic() - began) / times / 2:.1f} s"
    of_native = {f"Spark's own query: {name}": words for name, words in grown(native)[0].items()}
    figures = {"each, with the rests": took, **figures, **of_native}
    return Finding(f"a query started and stopped {times} times", figures, wrong)


def _looks_between_starts(
    spark: "SparkSession", home: Path, times: int, rest: float, writer: Callable[[Any], Any]
) -> list[Held]:
    """What was held after each quarter of the starts and a rest."""
    (home / "in").mkdir(parents=True)
    held = []
    for number in range(times):
        minute = f"2026-01-01T{number // 60:02}:{number % 60:02}:00Z"
        rows = [{"key": f"key {number % 5}", "at": minute} for _ in range(20)]
        hidden = home / "in" / f".{number:04}.json"
        hidden.write_text("".join(json.dumps(row) + "\n" for row in rows))
        hidden.rename(home / "in" / f"{number:04}.json")
        files = spark.readStream.schema("key string, at timestamp").json(str(home / "in"))
        checkpoint = str(home / "checkpoint")
        query = writer(files).option("checkpointLocation", checkpoint).start()
        query.processAllAvailable()
        query.stop()
        if (number + 1) * 4 // times > number * 4 // times:
            heap_used(spark)  # what is garbage by now is cleaned up in the rest
            time.sleep(rest)
            heap_used(spark)  # and what Spark let go in it: sockets close with their objects
            time.sleep(_CLOSING)
            held.append(held_now(spark))
    return held


def _natively_counted(files: Any) -> Any:
    """A query of Spark's alone, with a stateful operator in Python."""
    files.sparkSession.conf.set("spark.sql.streaming.stateStore.providerClass", _ROCKS_DB)
    counted = files.groupBy("key").transformWithStateInPandas(
        RunningCount(), "key string, n bigint", "Append", "none"
    )
    return counted.writeStream.foreachBatch(lambda rows, number: rows.collect())


def _grown_by(held: Sequence[Held], name: str) -> float:
    before, after = growth([getattr(look, name) for look in held])
    return max(after - before, 0)


def together(spark: "SparkSession", home: Path, batches: int, rows: int = 500) -> Finding:
    """Three queries in one session: fixed windows, retracting sessions, and key by key."""
    stream = numbers(spark, rows, key="concat('key ', value % 50)", at=f"value * 60000 DIV {rows}")
    early = bl.AfterWatermark(early=bl.AfterCount(100), late=bl.AfterCount(1))
    shown = {
        "fixed": _panes(stream, "fixed"),
        "sessions": _panes(
            stream,
            "sessions",
            window=bl.Sessions("1 second"),
            trigger=early,
            accumulation="retracting",
            allowed_lateness="1 minute",
        ),
        "by key": _panes(stream, "by key", machine="reference"),
    }
    counts = {name: _Counts() for name in shown}
    queries = {}
    for name, panes in shown.items():
        writer = panes.writeStream.foreachBatch(counts[name])
        queries[name] = writer.option("checkpointLocation", str(home / name)).start()
    held, times, cpu = _watched(spark, queries, lambda seen: min(seen.values()) >= batches)
    figures, wrong = grown(held)
    taken, slow = slower(cpu)
    for name, of_query in times.items():
        figures |= {f"{name}: {what}": words for what, words in paced(of_query).items()}
        if counts[name].elements <= 0:
            wrong.append(f"{name}: nothing came out")
    return Finding("three queries in one session", {**taken, **figures}, [*wrong, *slow])


def many_keys(spark: "SparkSession", home: Path, batches: int, keys: int) -> Finding:
    """So many keys that are there after a fifth of the micro-batches, and change until the end."""
    rows = -(-keys * 5 // batches)
    stream = numbers(spark, rows, key=f"concat('key ', value % {keys})", at="value DIV 1000")
    counts = _Counts()
    panes = _panes(
        stream,
        window=bl.FixedWindows("365 days"),
        # Each pass over the keys does the same, as soon as each has had a pane.
        trigger=bl.AfterWatermark(early=bl.AfterCount(1)),
        accumulation="discarding",
        allowed_lateness="0 s",
    )
    writer = panes.writeStream.foreachBatch(counts)
    query = writer.option("checkpointLocation", str(home / "checkpoint")).start()
    held, times, cpu = _watched(spark, {"counts": query}, lambda seen: seen["counts"] >= batches)
    figures, wrong = grown(held)
    taken, slow = slower(cpu)
    if counts.elements <= 0:
        wrong.append("nothing came out")
    figures = {"rows of a micro-batch": f"{rows:,}", **paced(times["counts"]), **taken, **figures}
    return Finding(f"{keys:,} keys, all of which stay open", figures, [*wrong, *slow])


def ticking(spark: "SparkSession", home: Path, minutes: float, rows: int = 200) -> Finding:
    """A trigger by processing time, and a micro-batch every five seconds."""
    stream = numbers(spark, rows, key="concat('key ', value % 50)", at=f"value * 60000 DIV {rows}")
    trigger = bl.AfterWatermark(early=bl.EveryProcessingTime("10 seconds"))
    counts = _Counts()
    panes = _panes(
        stream,
        window=bl.FixedWindows("5 minutes"),
        trigger=trigger,
        accumulation="discarding",
        allowed_lateness="0 s",
    )
    writer = panes.writeStream.foreachBatch(counts).trigger(processingTime="5 seconds")
    query = writer.option("checkpointLocation", str(home / "checkpoint")).start()
    until = time.monotonic() + 60 * minutes
    held, times, cpu = _watched(spark, {"ticks": query}, lambda _: time.monotonic() >= until)
    figures, wrong = grown(held)
    taken, slow = slower(cpu)
    if counts.elements <= 0:
        wrong.append("nothing came out")
    title = f"a trigger by processing time for {minutes:g} minutes"
    return Finding(title, {**paced(times["ticks"]), **taken, **figures}, [*wrong, *slow])


def state_beyond_its_bound(spark: "SparkSession", home: Path, mebibytes: int) -> Finding:
    """State that grows to so many MiB and stays so large, while RocksDB may have less memory."""
    for name, setting in _BOUND.items():
        spark.conf.set(name, setting)
    letters, rows = 1_024, 4_000
    filled = -(-mebibytes * 2**20 // (letters * rows))  # micro-batches, of a minute each
    stream = numbers(
        spark, rows, key="concat('key ', value)", at=f"value * 60000 DIV {rows}"
    ).selectExpr(
        "key", "at", f"left(repeat(sha2(cast(value AS string), 512), 8), {letters}) AS text"
    )
    aggregate, counts = {"n": bl.count(), "texts": bl.collect("text")}, _Counts()
    panes = _panes(stream, window=bl.Sessions(f"{filled} minutes"), aggregate=aggregate)
    writer = panes.writeStream.foreachBatch(counts)
    query = writer.option("checkpointLocation", str(home / "checkpoint")).start()
    held, times, cpu = _watched(spark, {"counts": query}, lambda seen: seen["counts"] >= 8 * filled)
    figures, wrong = grown(held)
    taken, slow = slower(cpu)
    if counts.elements <= 0:
        wrong.append("nothing came out")
    title = f"{mebibytes} MiB of state, and RocksDB bounded to {BOUND_MIB} MiB"
    return Finding(title, {**paced(times["counts"]), **taken, **figures}, [*wrong, *slow])


def _watched(
    spark: "SparkSession",
    queries: Mapping[str, "StreamingQuery"],
    until: Callable[[Mapping[str, int]], bool],
) -> tuple[list[Held], dict[str, list[int]], list[float]]:
    """What was held every few seconds, how long the micro-batches of each query took (ms), and what
    one of them took of the processor (s), from look to look.
    """
    held, times = list[Held](), {name: dict[int, int]() for name in queries}
    cpu, before, batches = list[float](), cpu_seconds().total, 0
    try:
        while not until(Counter({name: len(of_query) for name, of_query in times.items()})):
            time.sleep(2)
            for name, query in queries.items():
                for shown in query.recentProgress:
                    if "addBatch" in shown.durationMs:
                        times[name][shown.batchId] = shown.durationMs["triggerExecution"]
                if not query.isActive:
                    query.awaitTermination()
                    raise RuntimeError(f"{name} ended by itself")
            held.append(held_now(spark))
            if (passed := sum(map(len, times.values())) - batches) >= _BATCHES_OF_A_LOOK:
                taken = cpu_seconds().total
                cpu.append((taken - before) / passed)
                before, batches = taken, batches + passed
    finally:
        for query in queries.values():
            query.stop()
    return held, {name: list(of_query.values()) for name, of_query in times.items()}, cpu
