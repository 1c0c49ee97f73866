"""Akka's sessions on the machine, against a buffer and a deadline for each key."""

import random

import attrs
import pytest

from beamlike.dialects import akka
from beamlike.dialects.stages import Row
from beamlike.errors import SessionOverflowError
from tests.support.examples import examples

STREAMS = examples(1500)


@attrs.define
class Model:
    """A buffer for each key, emptied as soon as more than the gap has passed."""

    gap: int
    size: int
    drop_oldest: bool
    clock: int = 0
    buffers: dict[str, list[int]] = attrs.field(factory=dict)
    deadlines: dict[str, int] = attrs.field(factory=dict)

    def push(self, value: int, key: str) -> list[Row]:
        buffer = self.buffers.setdefault(key, [])
        self.deadlines[key] = self.clock + self.gap
        if len(buffer) < self.size:
            buffer.append(value)
            return []
        if not self.drop_oldest:
            return [Row("dropped", key, value, None, self.clock, "overflow_newest")]
        buffer.append(value)
        return [Row("dropped", key, buffer.pop(0), None, self.clock, "overflow_oldest")]

    def advance(self, by: int) -> list[Row]:
        rows = []
        for _ in range(by):
            self.clock += 1
            for key in sorted(self.buffers):
                if self.clock > self.deadlines[key]:
                    buffer = self.buffers.pop(key)
                    rows.append(Row("value", key, buffer, None, self.clock, "inactivity"))
        return rows

    def complete(self) -> list[Row]:
        return [
            Row("value", key, buffer, None, self.clock, "end_of_input")
            for key, buffer in self.buffers.items()
        ]


def in_order(rows: list[Row]) -> list[Row]:
    """Sessions of several keys that end together come in no promised order."""
    return sorted(rows, key=lambda row: (row.timestamp, row.kind, row.key))


def compare(seed: int) -> tuple[list[list[Row]], list[list[Row]]]:
    """The rows of each step, here and by the model."""
    some = random.Random(seed)
    gap, size, oldest = some.randint(1, 6), some.randint(2, 4), some.random() < 0.5
    flow = akka.SessionWindow(gap, size, "drop_oldest" if oldest else "drop_newest")
    run, model = flow.run(), Model(gap, size, oldest)
    here, there = [], []
    for number in range(30):
        if some.random() < 0.4:
            by = some.choice([0, 1, 1, 2, gap, gap + 1, 3 * gap])
            here.append(in_order(run.advance(by)))
            there.append(in_order(model.advance(by)))
        key = some.choice("ab")
        here.append(run.push(number, key))
        there.append(model.push(number, key))
    return [*here, in_order(run.complete())], [*there, in_order(model.complete())]


def test_every_step_brings_the_rows_of_the_buffer() -> None:
    for seed in range(STREAMS):
        here, there = compare(seed)
        assert here == there, f"stream {seed}"


def test_the_streams_have_sessions_of_both_ends_and_drops() -> None:
    reasons = {row.reason for seed in range(30) for rows in compare(seed)[0] for row in rows}

    assert reasons == {"inactivity", "end_of_input", "overflow_oldest", "overflow_newest"}


def test_a_full_session_that_must_not_overflow_names_its_key_its_window_and_its_limit() -> None:
    run = akka.SessionWindow("1 second", max_size=2).run()
    run.push("open", "joe")
    run.advance(400)
    run.push("close", "joe")
    run.advance(400)

    with pytest.raises(akka.SessionOverflowException) as caught:
        run.push("open again", "joe")

    assert isinstance(caught.value, SessionOverflowError)
    assert (caught.value.key, caught.value.window, caught.value.limit) == ("joe", (0, 1800), 2)
    assert str(caught.value) == (
        "the session from 0 ms to 1800 ms of key 'joe' has 2 elements already, which is max_size; "
        "make it larger, or choose what is dropped with "
        'overflow_strategy="drop_oldest" or "drop_newest"'
    )
