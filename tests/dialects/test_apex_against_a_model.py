"""Apex's windows on the machine, against Apex's own algorithm written down in a few lines.

The model does what ``AbstractWindowedOperator`` does, for time windows and the global one: an
element is judged by itself, a window has one count and one rhythm for all of its keys, counts are
taken modulo, and watermarks and times are looked at when a batch ends. Of operators of two streams
it has the joins and the smaller of two watermarks.

Left out are elements that come first to a window that is over, or are the first of their key
there: Apex waits with them for the next watermark if the window is new, and for a late firing if it
is not. So are counts beside times in the global window, whose rhythm Apex begins without elements.
Where an operator without keys fires and holds nothing, Apex fails, and the model gives out nothing.
"""

import random
from collections.abc import Callable, Iterator
from typing import Any, Literal

import attrs

from beamlike.dialects import apex
from beamlike.dialects.stages import Row
from beamlike.model.options import AccumulationMode
from tests.support.examples import examples

STREAMS = examples(1500)

Bounds = tuple[int, int] | Literal["global"]


# -- what is accumulated: a state, how elements change it, and what it says ------------------------


def summed(elements: list[tuple[int, int]]) -> Any:
    return sum(value for _, value in elements)


def paired(elements: list[tuple[int, int]]) -> Any:
    """Both sides are sets."""
    one = dict.fromkeys(value for stream, value in elements if stream == 1)
    other = dict.fromkeys(value for stream, value in elements if stream == 2)
    return [[left, right] for left in one for right in other]


def paired_by_parity(elements: list[tuple[int, int]]) -> Any:
    """Both sides are lists, and what matches nothing stays alone."""
    one = [value for stream, value in elements if stream == 1]
    other = [value for stream, value in elements if stream == 2]
    pairs: list[list[int | None]] = []
    for left in one:
        met = [right for right in other if right % 2 == left % 2]
        pairs += [[left, right] for right in met] or [[left, None]]
    return pairs + [[None, it] for it in other if not any(it % 2 == left % 2 for left in one)]


def parity(value: int) -> int:
    return value % 2


ACCUMULATIONS: dict[Callable[[list[tuple[int, int]]], Any], Any] = {
    summed: apex.Sum(),
    paired: apex.InnerJoin(),
    paired_by_parity: apex.FullOuterJoin(parity, parity),
}


# -- the model -------------------------------------------------------------------------------------


@attrs.define
class State:
    """A window: its tuples, what each key has and gave out, when it fired, and if it is over."""

    tuples: int = 0
    keys: set[Any] = attrs.field(factory=set)
    data: dict[Any, list[tuple[int, int]]] = attrs.field(factory=dict)
    given_out: dict[Any, Any] = attrs.field(factory=dict)
    fired_at: int = -1
    over: bool = False


@attrs.frozen
class Setting:
    """A size of 0 is the global window."""

    size: int
    slide: int
    lateness: int | None
    keyed: bool
    trigger: apex.TriggerOption
    says: Callable[[list[tuple[int, int]]], Any]
    interval: int

    @property
    def streams(self) -> int:
        return 1 if self.says is summed else 2


@attrs.define
class Model:
    said: Setting
    states: dict[Bounds, State] = attrs.field(factory=dict)
    watermark: int = -1
    given: dict[int, int] = attrs.field(factory=dict)
    clock: int = 0

    def __attrs_post_init__(self) -> None:
        if self.said.size == 0:
            self.states["global"] = State()

    def windows(self, at: int) -> list[Bounds]:
        size, slide = self.said.size, self.said.slide
        if size == 0:
            return ["global"]
        last = at - at % slide
        return [(start, start + size) for start in range(last, at - size, -slide)]

    def is_over(self, window: Bounds) -> bool:
        return window != "global" and window[1] < self.watermark

    def begins_over(self, key: Any, at: int) -> bool:
        return any(
            self.is_over(window) and key not in self.states.get(window, State()).keys
            for window in self.windows(at)
        )

    def element(self, stream: int, key: Any, value: int, at: int) -> Iterator[Row]:
        said = self.said.trigger
        if self.said.lateness is not None and at < self.watermark - self.said.lateness:
            yield Row("dropped", key, value, None, at, "element_behind_horizon")
            return
        for window in self.windows(at):
            state = self.states.setdefault(window, State())
            state.tuples += 1
            state.keys.add(key)
            state.data.setdefault(key, []).append((stream, value))
            every = said.late_count if state.over else said.early_count
            if every and state.tuples % every == 0:
                yield from self.fire(window, state)

    def end_batch(self) -> Iterator[Row]:
        if len(self.given) == self.said.streams and min(self.given.values()) > self.watermark:
            self.watermark = min(self.given.values())
            yield from self.take_watermark()
            yield Row("watermark", None, None, None, self.watermark)
        for window, state in self.states.items():
            every = self.said.trigger.late_every if state.over else self.said.trigger.early_every
            if every and state.fired_at + every <= self.clock:
                yield from self.fire(window, state)
        self.clock += self.said.interval

    def take_watermark(self) -> Iterator[Row]:
        lateness = self.said.lateness
        for window, state in list(self.states.items()):
            if self.is_over(window) and not state.over:
                state.over = True
                if self.said.trigger.on_time:
                    yield from self.fire(window, state)
            if lateness is None or window == "global":
                continue
            if window[1] < self.watermark - lateness:
                del self.states[window]

    def fire(self, window: Bounds, state: State) -> Iterator[Row]:
        said, begin = self.said.trigger, 0 if window == "global" else window[0]
        now = {key: self.said.says(elements) for key, elements in state.data.items()}
        stands = {
            key
            for key, value in now.items()
            if said.only_updated and key in state.given_out and state.given_out[key] == value
        }
        if said.mode is AccumulationMode.RETRACTING:
            for key, value in state.given_out.items():
                if key not in stands:
                    yield Row("retract", key, value, window, begin)
        for key, value in now.items():
            if key not in stands:
                yield Row("value", key, value, window, begin)
        state.given_out |= now
        state.fired_at = self.clock
        if said.mode is AccumulationMode.DISCARDING:
            state.data.clear()


# -- random streams --------------------------------------------------------------------------------


def one_setting(some: random.Random) -> Setting:
    keyed, size = some.random() < 0.5, some.choice([0, 2, 4, 6, 6])
    interval = some.choice([2, 3, 5])
    mode = some.choice(list(AccumulationMode))
    on_time = some.random() < 0.7
    early = some.choice([None, None, 1, 2, 3])
    early_every = some.choice([None, *times(interval)])
    if not on_time and some.random() < 0.5:
        early_every = None
    if size == 0 and early_every:
        early = None
    late_every = some.choice([None, *times(interval)]) if on_time else None
    only_updated = mode is not AccumulationMode.DISCARDING and some.random() < 0.3
    plain = mode is AccumulationMode.ACCUMULATING and not (only_updated or early_every)
    late = some.choice([None, 1, 1, 2, 3]) if on_time or plain else None
    trigger = apex.TriggerOption(on_time, early, late, mode, only_updated, early_every, late_every)
    slide = some.choice([size, size // 2])
    says = some.choice([summed, summed, paired, paired_by_parity])
    return Setting(size, slide, some.choice([None, 0, 2, 5]), keyed, trigger, says, interval)


def times(interval: int) -> list[int]:
    """Without those by which a window of the first batches would fire a batch earlier in Apex,
    whose first interval begins a millisecond before the first batch."""
    return [time for time in (2, 3, 4, 5, 7, 10) if time % interval != 1]


def operator_of(said: Setting) -> apex.WindowedOperator:
    of_streams = apex.WindowedOperator if said.streams == 1 else apex.WindowedMergeOperator
    window = (
        apex.WindowOption.sliding_time_windows(said.size, said.slide)
        if said.size
        else apex.WindowOption.global_window()
    )
    return of_streams(
        window,
        ACCUMULATIONS[said.says],
        said.trigger,
        allowed_lateness=said.lateness,
        keyed=said.keyed,
    )


def compare(seed: int) -> tuple[list[list[Row]], list[list[Row]]]:
    """The rows of each step, here and by the model."""
    some = random.Random(seed)
    said = one_setting(some)
    model, run = Model(said), operator_of(said).run(said.interval)
    here, there, time = [], [], 5
    for number in range(some.randint(10, 40)):
        time += some.choice([0, 1, 1, 2, said.size])
        if some.random() < 0.3:
            stream = some.randint(1, said.streams)
            model.given[stream] = max(1, time - some.choice([0, 1, 3]))
            tell = run.process_watermark if stream == 1 else run.process_watermark2
            tell(model.given[stream])
        if some.random() < 0.5:
            there.append(in_order(model.end_batch()))
            here.append(in_order(run.end_batch()))
        at = max(0, time - some.choice([0, 0, 1, 2, said.size, 2 * said.size]))
        # Zeros among the values: what is fired then is as before.
        key, value = some.choice("ab") if said.keyed else None, some.choice([0, 1, number])
        stream = some.randint(1, said.streams)
        if not model.begins_over(key, at):
            there.append(in_order(model.element(stream, key, value, at)))
            process = run.process if stream == 1 else run.process2
            here.append(in_order(process(value, at, key)))
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
