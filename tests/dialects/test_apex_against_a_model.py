"""Apex's windows on the machine, against Apex's own algorithm written down in a few lines.

The model does what ``AbstractWindowedOperator`` does, for time windows: an element is judged by
itself, counts are taken modulo, watermarks are looked at when a batch ends. Left out are elements
that are the first of their key in a window that is over: Apex waits with them for the next
watermark if the window is new, and for a late firing if it is not. Run it on more streams with
``python tests/dialects/test_apex_against_a_model.py 4000``.
"""

import random
import sys
from collections.abc import Iterator
from typing import Any

import attrs

from beamlike.dialects import apex
from beamlike.dialects.rows import Row
from beamlike.model.combine import Sum
from beamlike.model.options import AccumulationMode

STREAMS = 300


@attrs.define
class State:
    """A window: its tuples, their keys, what each key has and gave out, and if it is over."""

    tuples: int = 0
    keys: set[Any] = attrs.field(factory=set)
    data: dict[Any, int] = attrs.field(factory=dict)
    given_out: dict[Any, int] = attrs.field(factory=dict)
    over: bool = False


@attrs.frozen
class Setting:
    size: int
    slide: int
    lateness: int | None
    keyed: bool
    trigger: apex.TriggerOption


@attrs.define
class Model:
    said: Setting
    states: dict[tuple[int, int], State] = attrs.field(factory=dict)
    watermark: int = -1
    given: int | None = None

    def windows(self, at: int) -> list[tuple[int, int]]:
        size, slide = self.said.size, self.said.slide
        last = at - at % slide
        return [(start, start + size) for start in range(last, at - size, -slide)]

    def begins_over(self, key: Any, at: int) -> bool:
        return any(
            window[1] < self.watermark and key not in self.states.get(window, State()).keys
            for window in self.windows(at)
        )

    def element(self, key: Any, value: int, at: int) -> Iterator[Row]:
        said = self.said.trigger
        if self.said.lateness is not None and at < self.watermark - self.said.lateness:
            yield Row("dropped", key, value, None, at, "element_behind_horizon")
            return
        for window in self.windows(at):
            state = self.states.setdefault(window, State())
            state.tuples += 1
            state.keys.add(key)
            state.data[key] = state.data.get(key, 0) + value
            every = said.late_count if state.over else said.early_count
            if every and state.tuples % every == 0:
                yield from self.fire(window, state)

    def end_batch(self) -> Iterator[Row]:
        if self.given is None or self.given <= self.watermark:
            return
        self.watermark, self.given = self.given, None
        for window, state in list(self.states.items()):
            if window[1] < self.watermark and not state.over:
                state.over = True
                if self.said.trigger.on_time:
                    yield from self.fire(window, state)
            lateness = self.said.lateness
            if lateness is not None and window[1] < self.watermark - lateness:
                del self.states[window]
        yield Row("watermark", None, None, None, self.watermark)

    def fire(self, window: tuple[int, int], state: State) -> Iterator[Row]:
        said = self.said.trigger
        for key, value in state.data.items():
            before = state.given_out.get(key)
            if said.only_updated and before == value:
                continue
            if said.mode is AccumulationMode.RETRACTING and before is not None:
                yield Row("retract", key, before, window, window[0])
            yield Row("value", key, value, window, window[0])
            state.given_out[key] = value
        if said.mode is AccumulationMode.DISCARDING:
            state.data.clear()


def one_setting(some: random.Random) -> Setting:
    keyed, size = some.random() < 0.4, some.choice([2, 4, 6])
    mode = some.choice(list(AccumulationMode))
    on_time = some.random() < 0.7
    early = None if keyed else some.choice([None, 1, 2, 3])
    if mode is AccumulationMode.RETRACTING and not on_time:
        early = early and 1
    late = 1 if on_time and not keyed and some.random() < 0.5 else None
    only_updated = mode is not AccumulationMode.DISCARDING and some.random() < 0.3
    trigger = apex.TriggerOption(on_time, early, late, mode, only_updated)
    slide = some.choice([size, size // 2])
    return Setting(size, slide, some.choice([None, 0, 2, 5]), keyed, trigger)


def compare(seed: int) -> tuple[list[list[Row]], list[list[Row]]]:
    """The rows of each step, here and by the model."""
    some = random.Random(seed)
    said = one_setting(some)
    model = Model(said)
    run = apex.WindowedOperator(
        apex.WindowOption.sliding_time_windows(said.size, said.slide),
        Sum(),
        said.trigger,
        allowed_lateness=said.lateness,
        keyed=said.keyed,
    ).run()
    here, there, time = [], [], 5
    for number in range(some.randint(10, 30)):
        time += some.choice([0, 1, 1, 2, said.size])
        if some.random() < 0.3:
            model.given = max(1, time - some.choice([0, 1, 3]))
            run.process_watermark(model.given)
        if some.random() < 0.5:
            there.append(in_order(model.end_batch()))
            here.append(in_order(run.end_batch()))
        at = max(0, time - some.choice([0, 0, 1, 2, said.size, 2 * said.size]))
        # Zeros among the values: what is fired then is as before.
        key, value = some.choice("ab") if said.keyed else None, some.choice([0, 1, number])
        if not model.begins_over(key, at):
            there.append(in_order(model.element(key, value, at)))
            here.append(in_order(run.process(value, at, key)))
    return here, there


def in_order(rows: Any) -> list[Row]:
    """Windows and keys of one step come in no promised order."""
    return sorted(rows, key=lambda row: (row.timestamp, str(row.key), row.kind, str(row)))


def test_every_step_brings_the_rows_that_apex_gives_out() -> None:
    for seed in range(STREAMS):
        here, there = compare(seed)
        assert here == there, f"stream {seed}: {one_setting(random.Random(seed))}"


def test_the_streams_have_rows_of_all_kinds() -> None:
    kinds = {row.kind for seed in range(60) for rows in compare(seed)[0] for row in rows}

    assert kinds == {"value", "retract", "dropped", "watermark"}


if __name__ == "__main__":
    for stream in range(int(sys.argv[1])):
        ours, theirs = compare(stream)
        assert ours == theirs, stream
    print("all alike")
