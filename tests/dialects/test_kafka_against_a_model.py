"""Kafka's sessions on the machine, against Kafka's own algorithm written down in a few lines.

The model keeps what Kafka keeps, a store of closed bounds, and does with every record what
``KStreamSessionWindowAggregate`` does. It knows nothing of windows that are half open, watermarks
or panes.
"""

import random
from collections.abc import Iterator
from operator import eq
from typing import Any

import attrs
import pytest

from beamlike.dialects import kafka
from beamlike.dialects.stages import Row
from beamlike.model.strategy import WindowingStrategy
from tests.support.examples import examples

STREAMS = examples(1500)
LONG = 1000
"""A retention of so many milliseconds more than needed: no session is ever forgotten."""


@attrs.define
class Model:
    """``count``, and the same as text, of sessions in a store.

    With a retention of gap + grace + 1 ms, a millisecond more than Kafka's own, the store shows
    every session that is still open, and none that is closed.
    """

    gap: int
    grace: int
    retention: int
    store: dict[tuple[str, int, int], Any] = attrs.field(factory=dict)
    observed: int = -1
    stream_time: int = -1
    closed_until: int | None = None

    def process(self, key: str, value: str, at: int, *, on_close: bool) -> Iterator[Row]:
        self.stream_time = max(self.stream_time, at)
        close_time = self.stream_time - self.gap - self.grace
        start = end = at
        aggregate, merged = "0", []
        for found in self.visible():
            of, first, last = found
            if of == key and last >= at - self.gap and first <= at + self.gap:
                merged.append(found)
                aggregate += "|" + self.store[found]
                start, end = min(start, first), max(end, last)
        if end < close_time:
            yield Row("dropped", key, value, (start, end), at, "expired_window")
        else:
            if (start, end) != (at, at):
                for found in merged:
                    del self.store[found]
                    if not on_close:
                        yield Row("tombstone", key, None, found[1:], found[2])
            aggregate += "+" + value
            self.store[key, start, end] = aggregate
            self.observed = max(self.observed, end)
            if not on_close:
                yield Row("value", key, aggregate, (start, end), end)
        if on_close:
            yield from self.close(close_time)

    def visible(self) -> list[tuple[str, int, int]]:
        alive = [it for it in self.store if it[2] >= self.observed - self.retention + 1]
        return sorted(alive, key=lambda it: (it[2], it[1]))

    def close(self, close_time: int) -> Iterator[Row]:
        since = self.closed_until
        for key, first, last in sorted(self.store, key=lambda it: (it[2], it[1], it[0])):
            if last < close_time and (since is None or last >= since):
                value = self.store[key, first, last]
                yield Row("value", key, value, (first, last), last)
        self.closed_until = close_time


def one_stream(seed: int) -> tuple[int, int, list[tuple[str, str, int]]]:
    """A gap, a grace, and records out of order, some of them far too late."""
    some = random.Random(seed)
    gap, grace = some.randint(1, 8), some.choice([0, 0, 1, 3, 12])
    time, records = some.randint(0, 5), []
    for number in range(some.randint(5, 30)):
        time += some.choice([0, 0, 1, 1, 2, gap, gap + 1])
        late = some.choice([0, 0, 0, 1, gap, gap + 1, 2 * gap, gap + grace, gap + grace + 1])
        records.append((some.choice("ab"), str(number), max(0, time - late)))
    return gap, grace, records


@attrs.frozen
class LateChecked(kafka.KTable):
    """A table with another rule of what is late."""

    late_check: str = "merged"

    @property
    def strategy(self) -> WindowingStrategy:
        return super().strategy.configured(late_check=self.late_check)


def compare(
    seed: int,
    *,
    on_close: bool,
    late_check: str = "merged",
    longer: int = 1,
    caching: bool = True,
    named: bool = False,
) -> tuple[list[list[Row]], list[list[Row]]]:
    """The rows of each record, here and by the model, whose store keeps sessions for so many
    milliseconds longer than gap and grace. The table's does so where the retention is named."""
    store = kafka.Materialized.as_("texts")
    gap, grace, records = one_stream(seed)
    windows = kafka.SessionWindows.of_inactivity_gap_and_grace(gap, grace)
    if named:
        store = store.with_retention(gap + grace + longer)
    windowed = kafka.group_by_key().windowed_by(windows)
    if on_close:
        windowed = windowed.emit_strategy(kafka.EmitStrategy.on_window_close())
    table = windowed.aggregate(
        lambda: "0",
        lambda key, value, text: f"{text}+{value}",
        lambda key, one, other: f"{one}|{other}",
        store if caching else store.with_caching_disabled(),
    )
    checked = LateChecked(**attrs.asdict(table, recurse=False), late_check=late_check)
    driver = checked.driver()
    model = Model(gap, grace, gap + grace + longer)
    here = [driver.pipe_input(*record) for record in records]
    return here, [list(model.process(*record, on_close=on_close)) for record in records]


@pytest.mark.parametrize("on_close", [False, True], ids=["on update", "on close"])
def test_every_record_makes_the_changes_that_kafka_makes(on_close: bool) -> None:
    for seed in range(STREAMS):
        here, there = compare(seed, on_close=on_close)
        assert here == there, f"stream {seed}"


def test_without_a_cache_the_store_hides_a_session_as_early_as_that_of_kafka() -> None:
    alone = 0
    for seed in range(STREAMS):
        here, there = compare(seed, on_close=False, longer=0, caching=False)
        assert here == there, f"stream {seed}"
        alone += here != compare(seed, on_close=False)[0]
    assert alone > 0


@pytest.mark.parametrize("caching", [False, True], ids=["no cache", "cache"])
@pytest.mark.parametrize("on_close", [False, True], ids=["on update", "on close"])
@pytest.mark.parametrize("longer", [1, 2, 3, 9, LONG])
def test_a_store_of_a_named_retention_has_closed_sessions_merge_as_long_as_that(
    longer: int, on_close: bool, caching: bool
) -> None:
    merged = 0
    for seed in range(STREAMS // 3):
        here, there = compare(seed, on_close=on_close, longer=longer, caching=caching, named=True)
        assert here == there, f"stream {seed}"
        merged += here != compare(seed, on_close=on_close)[0]
    assert (merged > 0) == (longer > 1)


OTHERWISE: dict[str, dict[str, Any]] = {
    "Beam's own late check": {"late_check": "assigned"},
    "Kafka's default retention": {"longer": 0},
    "a long retention": {"longer": LONG},
}
"""What makes some streams come out otherwise, all with one result on close."""


@pytest.mark.parametrize("how", OTHERWISE.values(), ids=OTHERWISE)
def test_with_something_else_some_streams_come_out_otherwise(how: dict[str, Any]) -> None:
    alike = sum(eq(*compare(seed, on_close=True, **how)) for seed in range(STREAMS))
    print(f"{alike} of {STREAMS} streams are alike")  # in the table of README.md
    assert alike < STREAMS


def test_the_streams_close_merge_and_drop() -> None:
    records = (rows for seed in range(50) for rows in compare(seed, on_close=False)[0])
    kinds = {tuple(row.kind for row in rows) for rows in records}

    assert kinds >= {("value",), ("dropped",), ("tombstone", "value")}
    assert ("tombstone", "tombstone", "value") in kinds
