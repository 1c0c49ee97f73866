"""A shard's rows at rest: what a worker remembers of them, and when it reads them again.

The shard is `tests.support.machines.shard_of_numbers`. A worker that never stepped it is one with
an empty memory; every test begins with one. What is written is in `test_pages.py`.
"""

import json

import pytest

from beamlike.runtime.store import pages
from beamlike.runtime.store.pages import PageContents
from tests.support.machines.shard_of_numbers import ROW, Limit, Shard, Worker

pytestmark = pytest.mark.usefixtures("another_worker")


def test_a_worker_that_stepped_the_shard_reads_no_blob(limit: Limit, another_worker: Worker):
    limit("ALWAYS_REWRITTEN_ROWS", 0)
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
    limit("ALWAYS_REWRITTEN_ROWS", 0)
    one, other = pages.rows_memory(), pages.rows_memory()
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
        limit("ALWAYS_REWRITTEN_ROWS", few)
        shard = Shard(range(10))

        shard.fail(gone=[1, 2], new=[10, 11])
        assert shard.numbers == list(range(10))
        shard.fail(gone=range(10))
        shard.step(gone=[1], new=[12])

        assert shard.numbers == [0, *range(2, 10), 12]
        assert shard.read() == []


def test_after_a_rollback_no_one_sees_newer_rows(limit: Limit) -> None:
    for few in (0, 1_000):
        limit("ALWAYS_REWRITTEN_ROWS", few)
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
        assert shard.contents.next == PageContents.from_json(json.loads(newest.index)).next
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


def test_shards_of_which_only_some_blobs_are_equal_are_not_taken_for_each_other(limit: Limit):
    limit("ALWAYS_REWRITTEN_ROWS", 0)
    limit("PAGE_BYTES", 10 * ROW)
    one, other = Shard(range(20)), Shard([*range(10), *range(30, 40)])
    assert (one.store.blobs[0], one.numbers) == (other.store.blobs[0], list(range(20)))
    assert other.numbers == [*range(10), *range(30, 40)]

    one.step(gone=[0], new=[50])
    other.step(gone=[0], new=[50])

    assert one.store.blobs[2] == other.store.blobs[2]
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
        limit("ALWAYS_REWRITTEN_ROWS", few)
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
    limit("ALWAYS_REWRITTEN_ROWS", 0)
    workers = [pages.rows_memory(), pages.rows_memory()]
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
        limit("ALWAYS_REWRITTEN_ROWS", few)
        limit("REMEMBERED", 10**9)
        idle, shard = Shard(range(1_000, 1_010)), Shard(range(10))
        limit("REMEMBERED", 4 * 10 * (ROW + 1))

        for _ in range(20):
            shard.fail(gone=[0], new=[10])

        assert idle.read() == []
        assert shard.numbers == list(range(10))
