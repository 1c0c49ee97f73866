"""A shard's rows at rest: what is written and what is read.

The shard is `tests.support.machines.shard_of_numbers`. A worker that never stepped it is one with
an empty memory; every test begins with one. What workers remember is in `test_pages_remembered.py`.
"""

from collections.abc import Sequence
from random import Random

import attrs
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from beamlike.errors import StateError
from beamlike.runtime.store import pages
from beamlike.runtime.store.pages import PageContents
from tests.support.examples import examples
from tests.support.machines.shard_of_numbers import ROW, Checkpoint, Limit, Shard, Worker
from tests.support.refusals import refusal

pytestmark = pytest.mark.usefixtures("another_worker")

_NUMBERS = ("start", "end", "bucket")


def test_a_step_writes_one_blob_and_leaves_the_others(limit: Limit) -> None:
    limit("ALWAYS_REWRITTEN_ROWS", 5)
    shard = Shard(range(10))
    before = dict(shard.store.blobs)

    shard.step(gone=[3, 4], new=[10])

    assert shard.numbers == [0, 1, 2, 5, 6, 7, 8, 9, 10]
    assert attrs.evolve(shard.contents, digests=()) == PageContents((0,), (1,), (), 1, 2, 2, 9)
    assert shard.store.blobs == {**before, 1: shard.store.blobs[1]}


@given(dice=st.randoms(use_true_random=False))
def test_rows_are_saved_in_one_order_whatever_the_order_in_which_they_came(dice: Random) -> None:
    places = [(bucket, end, key) for bucket in (0, 3) for end in (60, 61) for key in "abc"]
    rows = [
        {"key_key": key, "start": start, "end": end, "bucket": bucket}
        for bucket, end, key in dice.sample(places, dice.randint(0, len(places)))
        for start in (0, 1)
    ]
    table = pa.Table.from_pylist(
        rows, pa.schema([("key_key", pa.string()), *((name, pa.int64()) for name in _NUMBERS)])
    )

    came = table.take(pa.array(dice.sample(range(len(rows)), len(rows)), pa.int64()))

    by_all = sorted(rows, key=lambda row: (row["bucket"], row["end"], row["start"], row["key_key"]))
    assert pages.in_order(came).to_pylist() == by_all


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
        (10, PageContents((0,), (1, 2), (), logged=8, dead=10, next=3, living=18)),
        # and 8 logged and 11 gone are more than the 17 alive.
        (11, PageContents((2,), (), (), logged=0, dead=0, next=3, living=17)),
    ],
)
def test_pages_are_written_anew_when_more_rows_are_gone_or_logged_than_alive(
    gone: int, expected: PageContents, limit: Limit
) -> None:
    limit("ALWAYS_REWRITTEN_ROWS", 0)
    shard = Shard(range(20))
    shard.step(gone=range(4), new=range(20, 26))

    shard.step(gone=range(4, gone), new=[26, 27])

    assert attrs.evolve(shard.contents, digests=()) == expected
    assert shard.numbers == list(range(gone, 28))
    assert set(shard.store.blobs) == {*expected.pages, *expected.log}


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ([10], PageContents((1,), (), (), logged=0, dead=0, next=2, living=10)),
        ([10, 11], PageContents((0,), (1,), (), logged=2, dead=1, next=2, living=11)),
    ],
)
def test_few_rows_are_written_anew_without_a_log(
    new: list[int], expected: PageContents, limit: Limit
) -> None:
    limit("ALWAYS_REWRITTEN_ROWS", 10)
    shard = Shard(range(10))

    shard.step(gone=[0], new=new)

    assert attrs.evolve(shard.contents, digests=()) == expected
    assert shard.numbers == [*range(1, 10), *new]


@pytest.mark.parametrize(
    ("rows", "expected"), [(10, [10]), (11, [6, 5]), (20, [10, 10]), (21, [7, 7, 7])]
)
def test_a_page_has_no_more_bytes_than_it_may(
    rows: int, expected: list[int], limit: Limit, another_worker: Worker
) -> None:
    limit("PAGE_BYTES", 10 * ROW)
    shard = Shard(range(rows))
    another_worker()

    assert [page.num_rows for page in shard.blobs()] == expected
    assert shard.contents.pages == tuple(range(len(expected)))
    assert shard.numbers == list(range(rows))


def test_a_row_larger_than_a_page_has_a_page_for_itself(limit: Limit) -> None:
    limit("PAGE_BYTES", ROW - 1)
    shard = Shard(range(3))

    assert [page.num_rows for page in shard.blobs()] == [1, 1, 1]


@pytest.mark.parametrize("unused", [0, 1])
def test_a_log_has_no_more_blobs_than_it_may(unused: int, limit: Limit) -> None:
    limit("ALWAYS_REWRITTEN_ROWS", 0)
    shard, steps = Shard(range(1_000)), pages.LOG_BLOBS + 1 - unused

    for number in range(steps):
        shard.step(gone=[number], new=[1_000 + number])

    logged = (tuple(range(1, steps + 1)), steps) if unused else ((), 0)
    assert (shard.contents.log, shard.contents.logged) == logged
    assert shard.contents.pages == ((0,) if unused else (steps,))
    assert set(shard.store.blobs) == {*shard.contents.pages, *shard.contents.log}
    assert shard.numbers == list(range(steps, 1_000 + steps))


def test_when_all_rows_are_gone_no_blob_is_left_and_numbers_go_on(limit: Limit) -> None:
    limit("ALWAYS_REWRITTEN_ROWS", 3)
    limit("PAGE_BYTES", 4 * ROW)
    shard = Shard(range(10))
    shard.step(new=[10])
    assert set(shard.store.blobs) == {0, 1, 2, 3}

    shard.step(gone=range(11))
    assert shard.store.blobs == {}
    assert shard.contents == PageContents(next=4)
    assert shard.numbers == []

    shard.step(new=[5])
    assert set(shard.store.blobs) == {4}
    assert attrs.evolve(shard.contents, digests=()) == PageContents((4,), next=5, living=1)
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


@pytest.mark.parametrize("lost", [0, 2])
def test_a_missing_blob_is_named(lost: int, limit: Limit, another_worker: Worker) -> None:
    limit("ALWAYS_REWRITTEN_ROWS", 0)
    shard = Shard(range(10))
    shard.step(new=[10])
    shard.step(new=[11])
    del shard.store.blobs[lost]
    another_worker()

    assert refusal(StateError, lambda: shard.step(new=[12])) == (
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
        limits = {
            "ALWAYS_REWRITTEN_ROWS": few,
            "PAGE_BYTES": rows * ROW,
            "LOG_BLOBS": log,
            "REMEMBERED": remembered * ROW,
        }
        for name, limit in limits.items():
            self._limits.setattr(pages, name, limit)
        self._workers = [pages.rows_memory(), pages.rows_memory()]

    def teardown(self) -> None:
        self._limits.undo()

    @rule(at=PLACES, share=st.sampled_from([0, 0.1, 0.5, 1]), new=COUNTS, dice=st.randoms())
    def step(self, at: int, share: float, new: int, dice: Random) -> None:
        gone, come = self._any_change(at, share, new, dice)
        self._shards[at].step(gone, come)
        self._expected[at] = [number for number in self._expected[at] if number not in gone] + come

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
        self._workers[0] = pages.rows_memory()

    @rule(at=PLACES)
    def read(self, at: int) -> None:
        assert self._shards[at].numbers == self._expected[at]

    @invariant()
    def rows_are_as_expected(self) -> None:
        for shard, expected in zip(self._shards, self._expected, strict=True):
            self._limits.setattr(pages, "_MEMORY", pages.rows_memory())
            assert shard.numbers == expected
            contents = shard.contents
            assert set(shard.store.blobs) == {*contents.pages, *contents.log}
            assert all(number < contents.next for number in shard.store.blobs)
            assert len(contents.log) <= pages.LOG_BLOBS
        self._limits.setattr(pages, "_MEMORY", self._workers[0])

    def _any_change(
        self, at: int, share: float, new: int, dice: Random
    ) -> tuple[Sequence[int], list[int]]:
        expected = self._expected[at]
        gone = dice.sample(expected, int(share * len(expected)))
        # What failed may come again, and what came of one shard may come of the other.
        first = self._next
        self._next += dice.choice([0, new])
        return gone, [number for number in range(first, first + new) if number not in expected]


Query.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=30)
TestWhateverHappens = Query.TestCase
