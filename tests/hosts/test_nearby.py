"""Copies of blobs that the workers of an executor share: what is read there, and what is not."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from beamlike.hosts.spark.state_cache import FileCache, may_copy, worker_state_cache
from beamlike.runtime.store.stores import NO_STATE_CACHE, Transaction
from tests.support.machines.shard_of_numbers import ROW, Limit, Shard, Worker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("another_worker")


@pytest.fixture
def nearby(tmp_path: Path) -> FileCache:
    return FileCache(tmp_path / "copies")


def names(nearby: Any) -> list[str]:
    return sorted(os.listdir(nearby._folder))


class Session:
    """A session with these settings."""

    def __init__(self, **settings: str) -> None:
        self.conf = {name.replace("_", "."): value for name, value in settings.items()}


# -- a folder -----------------------------------------------------------------------------------


def test_what_one_worker_keeps_another_finds_until_it_is_forgotten(tmp_path: Path) -> None:
    one, other = FileCache(tmp_path / "copies"), FileCache(tmp_path / "copies")

    assert other.find("a-0") is None
    one.keep("a-0", b"first")
    one.keep("a-0", b"first")
    one.keep("b-0", b"")
    assert (other.find("a-0"), other.find("b-0")) == (b"first", b"")
    other.forget("a-0")
    other.forget("a-0")

    assert (one.find("a-0"), names(one)) == (None, ["b-0"])


def test_only_who_runs_the_executor_may_look_into_the_folder(nearby: FileCache) -> None:
    nearby.keep("a-0", b"first")

    assert nearby._folder.stat().st_mode & 0o777 == 0o700
    assert (nearby._folder / "a-0").stat().st_mode & 0o777 == 0o600


def test_copies_that_were_used_longest_ago_make_room(tmp_path: Path) -> None:
    nearby = FileCache(tmp_path, most=320)
    for number in range(4):
        nearby.keep(f"a-{number}", bytes(80))
        os.utime(tmp_path / f"a-{number}", (number, number))
    assert nearby.find("a-0") == bytes(80)

    nearby.keep("a-4", bytes(80))

    assert names(nearby) == ["a-0", "a-2", "a-3", "a-4"]


@pytest.mark.parametrize("name", ["../secret", "a-0/../../secret", "", "secret", "a-0\n", "A-0"])
def test_a_name_from_a_checkpoint_leads_nowhere_else(name: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"of another user")
    nearby = FileCache(tmp_path / "copies")
    nearby.keep("a-0", b"first")

    nearby.keep(name, b"other")
    assert nearby.find(name) is None
    nearby.forget(name)

    assert (tmp_path / "secret").read_bytes() == b"of another user"
    assert names(nearby) == ["a-0"]


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for folder in (tmp_path / "file", tmp_path / "nowhere" / "below", Path("/proc/beamlike")):
        nearby = FileCache(folder)

        nearby.keep("a-0", b"first")
        nearby.forget("a-0")

        assert nearby.find("a-0") is None


def test_a_disk_that_is_full_leaves_no_part_of_a_copy(
    nearby: FileCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    nearby.keep("a-0", b"first")

    def full(path: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", full)
    nearby.keep("b-0", b"second")

    assert names(nearby) == ["a-0"]


@pytest.mark.parametrize(
    ("folders", "expected"), [("{0}/one,{0}/two", "one"), ("{0}/one", "one"), ("", None)]
)
def test_copies_lie_where_spark_has_its_files(
    folders: str, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").mkdir()
    monkeypatch.setenv("SPARK_LOCAL_DIRS", folders.format(tmp_path))

    nearby = worker_state_cache()
    nearby.keep("a-0", b"first")

    if expected is None:
        assert nearby is NO_STATE_CACHE
        assert nearby.find("a-0") is None
    else:
        assert (tmp_path / expected / "beamlike-nearby" / "a-0").read_bytes() == b"first"


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        (Session(), True),
        (Session(spark_io_encryption_enabled="false"), True),
        (Session(spark_io_encryption_enabled="true"), False),
        (Session(spark_io_encryption_enabled="True"), False),
    ],
)
def test_where_spark_encrypts_its_files_nothing_is_copied(session: Any, expected: bool) -> None:
    assert may_copy(session) is expected


# -- the rows of a shard ------------------------------------------------------------------------


@pytest.fixture
def shard(nearby: FileCache, limit: Limit, monkeypatch: pytest.MonkeyPatch) -> Shard:
    """A shard of two pages and a log of one blob."""
    limit("ALWAYS_REWRITTEN_ROWS", 0)
    limit("PAGE_BYTES", 10 * ROW)
    made = Shard()
    monkeypatch.setattr(made.store, "state_cache", nearby, raising=False)
    made.step(new=range(20))
    made.step(gone=[0], new=[20])
    return made


def test_a_worker_that_never_stepped_the_shard_reads_no_state(shard: Shard, another_worker: Worker):
    another_worker()

    assert (shard.read(), shard.numbers) == ([], list(range(1, 21)))
    pages, log = shard.contents.digests
    assert names(shard.store.state_cache) == sorted([f"{pages}-0", f"{pages}-1", f"{log}-0"])


def test_pages_that_are_written_anew_take_the_place_of_the_others(
    shard: Shard, another_worker: Worker
) -> None:
    shard.step(gone=range(12))
    another_worker()

    [digest] = shard.contents.digests
    assert names(shard.store.state_cache) == [f"{digest}-0"]
    assert (shard.read(), shard.numbers) == ([], list(range(12, 21)))

    shard.step(gone=range(12, 21))
    assert names(shard.store.state_cache) == []


def test_what_is_not_near_is_read_from_state_and_near_from_then_on(
    shard: Shard, another_worker: Worker
) -> None:
    pages, log = shard.contents.digests
    for missing, reads in ((f"{pages}-1", [0, 1]), (f"{log}-0", [2])):
        shard.store.state_cache.forget(missing)
        another_worker()
        assert (shard.read(), shard.numbers) == (reads, list(range(1, 21)))
        another_worker()
        assert shard.read() == []


def test_a_damaged_copy_is_no_damaged_state(shard: Shard, another_worker: Worker) -> None:
    for name in names(shard.store.state_cache):
        whole = shard.store.state_cache.find(name) or b""
        for damaged in (b"", whole[:-1], b"x" + whole[1:]):
            shard.store.state_cache.keep(name, damaged)
            another_worker()
            assert shard.numbers == list(range(1, 21))
            assert shard.store.state_cache.find(name) == whole


def test_after_a_rollback_older_rows_are_read_from_state(shard: Shard, another_worker: Worker):
    old = shard.end()
    shard.step(gone=range(12))
    newest = shard.end()

    shard.go_on_from(old)
    another_worker()
    assert (shard.read(), shard.numbers) == ([0, 1, 2], list(range(1, 21)))
    shard.step(gone=range(10))
    other = shard.end()

    for checkpoint, numbers in ((newest, range(12, 21)), (other, range(10, 21))):
        shard.go_on_from(checkpoint)
        another_worker()
        assert shard.numbers == list(numbers)


def test_a_step_on_trial_reads_and_keeps_copies(shard: Shard, another_worker: Worker) -> None:
    another_worker()

    assert Transaction(shard.store).state_cache is shard.store.state_cache


# -- a query ------------------------------------------------------------------------------------


@pytest.mark.spark
def test_a_query_leaves_copies_of_its_state_among_the_files_of_spark(
    spark: "SparkSession", count_in_minutes: Callable[[str], None]
) -> None:
    task = spark.sparkContext.parallelize([0], 1)
    [folders] = task.map(lambda _: os.environ["SPARK_LOCAL_DIRS"]).collect()
    folder = Path(folders.split(",")[0]) / "beamlike-nearby"
    before = set(folder.iterdir()) if folder.exists() else set()

    count_in_minutes("2026-01-01 12:00:00")

    assert len(set(folder.iterdir()) - before) == 1
