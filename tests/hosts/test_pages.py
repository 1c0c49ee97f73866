"""A shard's rows at rest: what is written, what is read, and what a worker remembers.

A shard here has rows of one number each, no number twice. What happens to it is what Spark does:
each step starts from an index as bytes, and what a failed step has written is thrown away. A
worker that never stepped the shard is one with an empty memory.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from random import Random

import attrs
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from beamlike.errors import StateError
from beamlike.hosts.spark import pages
from beamlike.hosts.spark.blobs import unpack_blob
from beamlike.hosts.spark.pages import Contents, Pages, Rows
from beamlike.testing.in_shard import DictStore

SCHEMA = pa.schema([("number", pa.int64())])
ROW = 8
"""Bytes of a row."""


class CountingStore(DictStore):
    """A store that tells which blobs were read, and how many bytes were written."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[int] = []
        self.written = 0

    def read(self, number: int) -> bytes | None:
        self.reads.append(number)
        return super().read(number)

    def write(self, number: int, blob: bytes | None) -> None:
        self.written += len(blob or b"")
        super().write(number, blob)


@attrs.frozen
class Checkpoint:
    """What is left of a shard when its query ends."""

    blobs: dict[int, bytes]
    index: bytes


class Shard:
    """A shard from step to step."""

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self.store = CountingStore()
        self.contents = Contents()
        self.step(new=numbers)

    def step(self, gone: Iterable[int] = (), new: Iterable[int] = ()) -> None:
        """These numbers go, and others come."""
        self.contents = self._replace(gone, new).contents

    def fail(self, gone: Iterable[int] = (), new: Iterable[int] = ()) -> None:
        """A step that raises after its write: nothing of it is left but the worker's memory."""
        blobs = dict(self.store.buckets)
        self._replace(gone, new)
        self.store.buckets = blobs

    @property
    def rows(self) -> Rows:
        return self._pages().read()

    @property
    def numbers(self) -> list[int]:
        """Those that are there."""
        rows = self.rows
        return list(rows.table.column("number").to_numpy()[rows.lives])

    def read(self) -> list[int]:
        """The numbers of the blobs that the worker reads if it goes on now."""
        self.store.reads = []
        self._pages().read()
        return self.store.reads

    def blobs(self) -> list[pa.Table]:
        """What rests, in order of number."""
        return [unpack_blob(blob)[0] for _, blob in sorted(self.store.buckets.items())]

    def end(self) -> Checkpoint:
        return Checkpoint(dict(self.store.buckets), json.dumps(self.contents.to_json()).encode())

    def go_on_from(self, checkpoint: Checkpoint) -> None:
        self.store.buckets = dict(checkpoint.blobs)
        self.contents = Contents.from_json(json.loads(checkpoint.index))

    def _replace(self, gone: Iterable[int], new: Iterable[int]) -> Pages:
        self.go_on_from(self.end())
        shard = self._pages()
        rows = shard.read()
        number = rows.table.column("number").to_numpy()
        places = np.nonzero(rows.lives & np.isin(number, list(gone)))[0]
        shard.replace(rows, places, table(new))
        return shard

    def _pages(self) -> Pages:
        return Pages(SCHEMA, self.store, self.contents)


def table(numbers: Iterable[int]) -> pa.Table:
    return pa.table({"number": pa.array(list(numbers), pa.int64())})


Limit = Callable[[str, int], None]
Worker = Callable[[], None]


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> Limit:
    """Sets one of the limits of pages."""
    return lambda name, to: monkeypatch.setattr(pages, name, to)


@pytest.fixture(autouse=True)
def another_worker(monkeypatch: pytest.MonkeyPatch) -> Worker:
    """From now on it is a worker that knows nothing; every test begins with one."""

    def take_over() -> None:
        monkeypatch.setattr(pages, "_MEMORY", pages._Memory())

    take_over()
    return take_over


# -- pages and log ---------------------------------------------------------------------------


def test_a_step_writes_one_blob_and_leaves_the_others(limit: Limit) -> None:
    limit("FEW", 5)
    shard = Shard(range(10))
    before = dict(shard.store.buckets)

    shard.step(gone=[3, 4], new=[10])

    assert shard.numbers == [0, 1, 2, 5, 6, 7, 8, 9, 10]
    assert attrs.evolve(shard.contents, digests=()) == Contents((0,), (1,), (), 1, 2, 2)
    assert shard.store.buckets == {**before, 1: shard.store.buckets[1]}


def test_a_step_without_changes_writes_nothing() -> None:
    shard = Shard(range(10))
    before, written = shard.contents, shard.store.written

    shard.step()

    assert (shard.contents, shard.store.written) == (before, written)
    assert shard.numbers == list(range(10))


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        # 8 logged and 10 gone are as many as the 18 alive,
        (10, Contents((0,), (1, 2), (), logged=8, dead=10, next=3)),
        # and 8 logged and 11 gone are more than the 17 alive.
        (11, Contents((2,), (), (), logged=0, dead=0, next=3)),
    ],
)
def test_pages_are_written_anew_when_more_rows_are_gone_or_logged_than_alive(
    gone: int, expected: Contents, limit: Limit
) -> None:
    limit("FEW", 0)
    shard = Shard(range(20))
    shard.step(gone=range(4), new=range(20, 26))

    shard.step(gone=range(4, gone), new=[26, 27])

    assert attrs.evolve(shard.contents, digests=()) == expected
    assert shard.numbers == list(range(gone, 28))
    assert set(shard.store.buckets) == {*expected.pages, *expected.log}


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ([10], Contents((1,), (), (), logged=0, dead=0, next=2)),
        ([10, 11], Contents((0,), (1,), (), logged=2, dead=1, next=2)),
    ],
)
def test_few_rows_are_written_anew_without_a_log(
    new: list[int], expected: Contents, limit: Limit
) -> None:
    limit("FEW", 10)
    shard = Shard(range(10))

    shard.step(gone=[0], new=new)

    assert attrs.evolve(shard.contents, digests=()) == expected
    assert shard.numbers == [*range(1, 10), *new]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [(10, [10]), (11, [10, 1]), (20, [10, 10]), (21, [10, 10, 1])],
)
def test_a_page_has_no_more_bytes_than_it_may(
    rows: int, expected: list[int], limit: Limit, another_worker: Worker
) -> None:
    limit("PAGE", 10 * ROW)
    shard = Shard(range(rows))
    another_worker()

    assert [page.num_rows for page in shard.blobs()] == expected
    assert shard.contents.pages == tuple(range(len(expected)))
    assert shard.numbers == list(range(rows))


def test_a_row_larger_than_a_page_has_a_page_for_itself(limit: Limit) -> None:
    limit("PAGE", ROW - 1)
    shard = Shard(range(3))

    assert [page.num_rows for page in shard.blobs()] == [1, 1, 1]


@pytest.mark.parametrize("unused", [0, 1])
def test_a_log_has_no_more_blobs_than_it_may(unused: int, limit: Limit) -> None:
    limit("FEW", 0)
    shard, steps = Shard(range(1_000)), pages.LOG + 1 - unused

    for number in range(steps):
        shard.step(gone=[number], new=[1_000 + number])

    logged = (tuple(range(1, steps + 1)), steps) if unused else ((), 0)
    assert (shard.contents.log, shard.contents.logged) == logged
    assert shard.contents.pages == ((0,) if unused else (steps,))
    assert set(shard.store.buckets) == {*shard.contents.pages, *shard.contents.log}
    assert shard.numbers == list(range(steps, 1_000 + steps))


def test_when_all_rows_are_gone_no_blob_is_left_and_numbers_go_on(limit: Limit) -> None:
    limit("FEW", 3)
    limit("PAGE", 4 * ROW)
    shard = Shard(range(10))
    shard.step(new=[10])
    assert set(shard.store.buckets) == {0, 1, 2, 3}

    shard.step(gone=range(11))
    assert shard.store.buckets == {}
    assert shard.contents == Contents(next=4)
    assert shard.numbers == []

    shard.step(new=[5])
    assert set(shard.store.buckets) == {4}
    assert attrs.evolve(shard.contents, digests=()) == Contents((4,), next=5)
    assert shard.numbers == [5]


def test_steps_that_change_one_row_in_a_hundred_write_a_few_times_what_changed() -> None:
    dice = Random(0)
    living = dice.sample(range(2**62), 10_000)  # numbers that compression makes no smaller
    shard, most = Shard(living), 0
    pages_once = shard.store.written

    for _ in range(100):
        gone = dice.sample(living, 100)
        new = dice.sample(range(2**62), 100)
        shard.step(gone, new)
        living = [number for number in living if number not in gone] + new
        most = max(most, shard.contents.dead + len(living))

    changed = 100 * 2 * 100 * ROW
    assert shard.store.written < pages_once + 3 * changed
    assert shard.numbers == living
    # At rest there are at most half as many more rows as are alive.
    assert most == 15_000


# -- what a worker remembers -----------------------------------------------------------------


def test_a_worker_that_stepped_the_shard_reads_no_blob(
    limit: Limit, another_worker: Worker
) -> None:
    limit("FEW", 0)
    shard = Shard(range(10))
    assert shard.read() == []
    shard.step(gone=[0], new=[10])
    assert shard.read() == []

    another_worker()
    assert shard.read() == [0, 1]
    assert shard.read() == []
    assert shard.numbers == list(range(1, 11))


def test_a_worker_that_stepped_the_shard_before_reads_what_was_logged_since(
    limit: Limit, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit("FEW", 0)
    one, other = pages._Memory(), pages._Memory()
    shard, reads = Shard(range(10)), []

    for number, worker in enumerate([one, other, other, one, other, one]):
        monkeypatch.setattr(pages, "_MEMORY", worker)
        reads.append(shard.read())
        if number == 4:
            shard.step(gone=[0, 6], new=[20])  # more than half of all: pages
        else:
            shard.step(gone=[number + 1], new=[10 + number])

    assert reads == [[0], [0, 1], [], [2, 3], [4], [5]]
    assert shard.numbers == [5, 7, 8, 9, 10, 11, 12, 13, 20, 15]


def test_a_failed_step_is_forgotten_when_it_is_tried_again_with_other_rows(limit: Limit) -> None:
    for few in (0, 1_000):
        limit("FEW", few)
        shard = Shard(range(10))

        shard.fail(gone=[1, 2], new=[10, 11])
        assert shard.numbers == list(range(10))
        shard.fail(gone=range(10))
        shard.step(gone=[1], new=[12])

        assert shard.numbers == [0, *range(2, 10), 12]
        assert shard.read() == []


def test_after_a_rollback_nobody_sees_newer_rows(limit: Limit) -> None:
    for few in (0, 1_000):
        limit("FEW", few)
        shard = Shard(range(10))
        shard.step(gone=[0], new=[10])
        old = shard.end()
        for number in range(1, 4):
            shard.step(gone=[number], new=[10 + number])
        newest = shard.end()

        shard.go_on_from(old)
        assert shard.numbers == list(range(1, 11))
        # The same numbers of blobs, with other bytes.
        for number in range(7, 10):
            shard.step(gone=[number], new=[10 + number])
        assert shard.contents.next == Contents.from_json(json.loads(newest.index)).next
        assert shard.numbers == [*range(1, 7), 10, 17, 18, 19]

        shard.go_on_from(newest)
        assert shard.numbers == list(range(4, 14))


def test_of_two_shards_with_equal_bytes_one_may_change() -> None:
    one, other = Shard(range(10)), Shard(range(10))
    assert one.end() == other.end()

    one.step(gone=[0], new=[10])

    assert (one.numbers, other.numbers) == (list(range(1, 11)), list(range(10)))
    other.step(gone=[9])
    assert (one.numbers, other.numbers) == (list(range(1, 11)), list(range(9)))


def test_shards_of_which_only_some_blobs_are_equal_are_not_taken_for_each_other(
    limit: Limit,
) -> None:
    limit("FEW", 0)
    limit("PAGE", 10 * ROW)
    one, other = Shard(range(20)), Shard([*range(10), *range(30, 40)])
    assert (one.store.buckets[0], one.numbers) == (other.store.buckets[0], list(range(20)))
    assert other.numbers == [*range(10), *range(30, 40)]

    one.step(gone=[0], new=[50])
    other.step(gone=[0], new=[50])

    assert one.store.buckets[2] == other.store.buckets[2]
    assert one.numbers == [*range(1, 20), 50]
    assert other.numbers == [*range(1, 10), *range(30, 40), 50]


def test_rows_stay_as_they_are_when_others_follow_them() -> None:
    shard = Shard(range(4))
    rows = shard.rows

    for new in ([], [4]):
        shard.step(gone=[3], new=new)

    assert rows.table.column("number").to_pylist() == [0, 1, 2, 3]
    assert rows.lives.tolist() == [True] * 4


def test_a_worker_forgets_the_rows_that_it_stepped_longest_ago(limit: Limit) -> None:
    shards = [Shard(range(at, at + 10)) for at in (0, 100, 200)]
    limit("REMEMBERED", sum(shard.rows.size for shard in shards))
    assert [shard.read() for shard in shards] == [[], [], []]

    shards[0].step(gone=[0], new=[10])
    last = Shard(range(300, 310))

    assert shards[0].read() == []
    assert shards[1].read() == [0]
    assert last.read() == []
    assert [shard.numbers for shard in shards[:2]] == [list(range(1, 11)), list(range(100, 110))]


@pytest.mark.parametrize(("asked", "reads"), [(0, [0]), (1, [0]), (2, []), (3, [])])
def test_a_worker_forgets_as_many_shards_as_a_large_one_needs(
    asked: int, reads: list[int], limit: Limit
) -> None:
    limit("REMEMBERED", 45 * (ROW + 1))
    shards = [Shard(range(at, at + 10)) for at in (0, 100, 200)]

    shards.append(Shard(range(300, 335)))

    assert shards[asked].read() == reads


def test_a_shard_that_is_larger_than_the_memory_is_not_remembered(limit: Limit) -> None:
    limit("REMEMBERED", 50 * (ROW + 1))
    shard = Shard(range(51))

    assert (shard.read(), shard.read()) == ([0], [0])
    assert shard.numbers == list(range(51))


def test_superseded_rows_do_not_fill_the_memory(limit: Limit) -> None:
    for few in (0, 1_000):  # in the log, and in pages
        limit("FEW", few)
        limit("REMEMBERED", 10**9)
        idle, shard = Shard(range(1_000, 1_010)), Shard(range(10))
        limit("REMEMBERED", 4 * 10 * (ROW + 1))

        for number in range(40):
            shard.step(gone=[number], new=[10 + number])

        assert idle.read() == []
        assert shard.numbers == list(range(40, 50))


def test_rows_that_a_worker_has_caught_up_from_do_not_fill_its_memory(
    limit: Limit, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit("FEW", 0)
    workers = [pages._Memory(), pages._Memory()]
    idle, shard = Shard(range(1_000, 1_010)), Shard(range(100))
    for worker in workers:
        monkeypatch.setattr(pages, "_MEMORY", worker)
        idle.read()
    limit("REMEMBERED", 3 * 100 * (ROW + 1))

    for number in range(40):
        monkeypatch.setattr(pages, "_MEMORY", workers[number % 2])
        shard.step(gone=[number], new=[100 + number])

    for worker in workers:
        monkeypatch.setattr(pages, "_MEMORY", worker)
        assert idle.read() == []
    assert shard.numbers == list(range(40, 140))


def test_a_step_that_fails_again_and_again_does_not_fill_the_memory(limit: Limit) -> None:
    for few in (0, 1_000):
        limit("FEW", few)
        limit("REMEMBERED", 10**9)
        idle, shard = Shard(range(1_000, 1_010)), Shard(range(10))
        limit("REMEMBERED", 4 * 10 * (ROW + 1))

        for _ in range(20):
            shard.fail(gone=[0], new=[10])

        assert idle.read() == []
        assert shard.numbers == list(range(10))


@pytest.mark.parametrize("lost", [0, 2])
def test_a_missing_blob_is_named(lost: int, limit: Limit, another_worker: Worker) -> None:
    limit("FEW", 0)
    shard = Shard(range(10))
    shard.step(new=[10])
    shard.step(new=[11])
    del shard.store.buckets[lost]
    another_worker()

    with pytest.raises(StateError) as refused:
        shard.step(new=[12])

    assert str(refused.value) == (
        f"the state names blob {lost} of a shard, and it is not there; the checkpoint is damaged: "
        "continue from a copy of it, or start with a new checkpointLocation"
    )


# -- whatever happens ------------------------------------------------------------------------

COUNTS = st.sampled_from([0, 1, 2, 5, 30])
PLACES = st.integers(0, 1)


class Query(RuleBasedStateMachine):
    """Two shards, two workers and a query that is restarted now and then: a list of rows each."""

    def __init__(self) -> None:
        super().__init__()
        self._limits = pytest.MonkeyPatch()
        self._shards = [Shard(), Shard()]
        self._expected: list[list[int]] = [[], []]
        self._ends: list[list[tuple[Checkpoint, list[int]]]] = [[], []]
        self._next = 0

    @initialize(
        few=st.sampled_from([0, 3, 10]),
        rows=st.sampled_from([1, 4, 1_000]),
        log=st.sampled_from([0, 1, 3, 64]),
        remembered=st.sampled_from([0, 20, 10**9]),
    )
    def start(self, few: int, rows: int, log: int, remembered: int) -> None:
        limits = {"FEW": few, "PAGE": rows * ROW, "LOG": log, "REMEMBERED": remembered * ROW}
        for name, limit in limits.items():
            self._limits.setattr(pages, name, limit)
        self._workers = [pages._Memory(), pages._Memory()]

    def teardown(self) -> None:
        self._limits.undo()

    @rule(at=PLACES, share=st.sampled_from([0, 0.1, 0.5, 1]), new=COUNTS, dice=st.randoms())
    def step(self, at: int, share: float, new: int, dice: Random) -> None:
        gone, come = self._any_change(at, share, new, dice)
        self._shards[at].step(gone, come)
        kept = [number for number in self._expected[at] if number not in gone]
        self._expected[at] = kept + come

    @rule(at=PLACES, share=st.sampled_from([0, 0.3, 1]), new=COUNTS, dice=st.randoms())
    def fail(self, at: int, share: float, new: int, dice: Random) -> None:
        self._shards[at].fail(*self._any_change(at, share, new, dice))

    @rule(at=PLACES)
    def note(self, at: int) -> None:
        self._ends[at].append((self._shards[at].end(), self._expected[at]))

    @rule(at=PLACES, of=PLACES, dice=st.randoms())
    def go_on_from_another_state(self, at: int, of: int, dice: Random) -> None:
        """An older one, a newer one after all, or that of the other shard."""
        if self._ends[of]:
            end, self._expected[at] = dice.choice(self._ends[of])
            self._shards[at].go_on_from(end)

    @rule()
    def another_worker(self) -> None:
        self._workers.reverse()

    @rule()
    def new_worker(self) -> None:
        self._workers[0] = pages._Memory()

    @rule(at=PLACES)
    def read(self, at: int) -> None:
        assert self._shards[at].numbers == self._expected[at]

    @invariant()
    def rows_are_as_expected(self) -> None:
        for shard, expected in zip(self._shards, self._expected, strict=True):
            self._limits.setattr(pages, "_MEMORY", pages._Memory())
            assert shard.numbers == expected
            contents = shard.contents
            assert set(shard.store.buckets) == {*contents.pages, *contents.log}
            assert all(number < contents.next for number in shard.store.buckets)
            assert len(contents.log) <= pages.LOG
        self._limits.setattr(pages, "_MEMORY", self._workers[0])

    def _any_change(
        self, at: int, share: float, new: int, dice: Random
    ) -> tuple[Sequence[int], list[int]]:
        expected = self._expected[at]
        gone = dice.sample(expected, int(share * len(expected)))
        # What failed may come again, and what came of one shard may come of the other.
        first = self._next
        self._next += dice.choice([0, new])
        come = [number for number in range(first, first + new) if number not in expected]
        return gone, come


Query.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestWhateverHappens = Query.TestCase
