"""A worker that runs out of memory, or that ends without a word, is named with its largest key."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

import beamlike as bl
from beamlike.errors import WorkerMemoryError
from beamlike.hosts import step_notes
from beamlike.hosts.failed_starts import ADVICE_ON_DEAD_WORKERS, advice_on
from beamlike.runtime.column_shard import ColumnShard
from beamlike.runtime.store.blobs import words_of_largest
from beamlike.testing import QueryTest
from tests.support.queries.hours import hourly
from tests.support.sums import Added

SCHEMA = "device string, at timestamp, n int"
READINGS = [
    {"device": "loud" if number % 4 else "quiet", "at": "12:01:00", "n": number}
    for number in range(40)
]


collected = partial(
    hourly, key="device", aggregate={"all": bl.collect("n")}, watermark="1 minute", shards=1
)


def test_a_step_without_memory_names_the_shard_the_largest_key_and_the_largest_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    query = QueryTest(collected, SCHEMA)
    query.send(*READINGS)

    def step(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(ColumnShard, "step", step)
    with pytest.raises(WorkerMemoryError) as refused:
        query.send(*READINGS[:8])

    words, _, advice = str(refused.value).partition(". Nothing")
    assert words.partition(", which")[0] == (
        "a worker ran out of memory in shard 0 of the 1 of 'beamlike'"
    )
    assert words.partition(": ")[2] == (
        "8 rows arrived, 75% of them of key device='loud'; of the state the window "
        "[12:00:00, 13:00:00) of key device='loud' has the most, 30 of a value"
    )
    assert advice.startswith(" of the micro-batch is lost: start the query again with more memory")


def test_a_query_that_ran_out_of_memory_goes_on_from_its_checkpoint() -> None:
    query = QueryTest(collected, SCHEMA)
    with pytest.MonkeyPatch.context() as patch:

        def step(*_: Any) -> Any:
            raise pa.ArrowMemoryError("malloc of size 7 failed")

        patch.setattr(ColumnShard, "step", step)
        with pytest.raises(WorkerMemoryError):
            query.send(*READINGS)
    query.restart()
    query.advance_watermark_to_infinity()

    assert {row["device"]: len(row["all"]) for row in query.rows} == {"loud": 30, "quiet": 10}


def test_the_most_frequent_key_is_looked_for_in_a_sample_of_many_rows() -> None:
    keys = ["loud" if number % 10 else "quiet" for number in range(50_000)]
    rows = pa.table({"key_device": keys, "ts": [0] * len(keys)})
    plan_resolution = bl.WindowingStrategy(bl.GlobalWindows()).resolution

    assert words_of_largest([rows], plan_resolution) == (
        "50,000 rows arrived, 90% of them of key device='loud'"
    )
    assert words_of_largest([rows], plan_resolution, 999).startswith("50,000 rows arrived, about ")


def test_the_step_of_a_process_that_is_gone_is_read_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(step_notes.tempfile, "gettempdir", lambda: str(tmp_path))
    step_notes._note_of.cache_clear()
    with step_notes.step_noted("alive"):
        child = os.fork()
        if not child:
            with step_notes.step_noted("'hours', group 7, which got 3 bytes"):
                os._exit(1)
        os.waitpid(child, 0)
        assert step_notes.steps_that_ended_workers() == ["'hours', group 7, which got 3 bytes"]
        assert step_notes.steps_that_ended_workers() == []
    (folder,) = tmp_path.iterdir()
    (own,) = folder.iterdir()
    assert (own.name, own.read_bytes()[:1]) == (str(os.getpid()), b"\0")


def test_what_spark_says_of_a_dead_worker_leads_to_memory_and_to_its_last_step(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(step_notes.tempfile, "gettempdir", lambda: str(tmp_path))
    words = "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)."
    assert advice_on(words) == ADVICE_ON_DEAD_WORKERS
    child = os.fork()
    if not child:
        with step_notes.step_noted("'hours', group 7"):
            os._exit(1)
    os.waitpid(child, 0)
    assert advice_on(words) == f"{ADVICE_ON_DEAD_WORKERS}; its last step was 'hours', group 7"


class Exits(Added):
    """Ends its process for a number."""

    def add(self, accumulator: int, values: Any, timestamps: Any) -> int:
        if 13 in values:
            os._exit(1)
        return super().add(accumulator, values, timestamps)


@pytest.mark.nightly
@pytest.mark.spark
def test_a_worker_that_a_function_ends_is_named_by_the_error_of_the_query(
    feed: Callable[[str], Any],
) -> None:
    stream = feed(SCHEMA)
    total = {"n": bl.combine(Exits(), "n", "int")}
    stream.start(collected(stream.frame, aggregate=total))
    with pytest.raises(PySparkException) as ended:
        stream.send({"device": "loud", "at": "2020-01-01 12:01:00Z", "n": 13})

    text = f"{ended.value}\n" + "\n".join(getattr(ended.value, "__notes__", []))
    assert "Python worker exited unexpectedly" in text
    assert f"{ADVICE_ON_DEAD_WORKERS}; its last step was 'beamlike', group " in text
