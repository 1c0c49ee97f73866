"""Flink's windows on the machine, against Flink's own algorithm written down in a few lines.

The model does with every element what ``WindowOperator`` and ``MergingWindowSet`` do: windows in
flight that touch the element's are merged first, then the merged window is asked whether it is
late, then the trigger is asked. Timers are due when the watermark has reached them. Run it on more
streams with ``python tests/dialects/test_flink_against_a_model.py 4000``.
"""

import random
import sys
from collections.abc import Iterator

import attrs
import pytest

from beamlike.dialects import flink
from beamlike.dialects.stages import Row

STREAMS = 300


def gap_of(value: int) -> int:
    """A gap that differs from element to element; values are powers of two."""
    return 1 + value.bit_length() % 5


@attrs.define
class InFlight:
    """A window of a key: bounds, contents, elements that the trigger counted, and its timer."""

    start: int
    end: int
    contents: list[tuple[int, int]]
    counted: int = 0
    timer: bool = False


@attrs.frozen
class Setting:
    """What a stream is run with. ``count`` of 0: an event-time trigger; ``keep_count`` and
    ``keep_time`` of 0: no such evictor."""

    windows: str
    size: int
    slide: int
    lateness: int
    count: int
    purging: bool
    keep_count: int = 0
    keep_time: int = 0


@attrs.define
class Model:
    said: Setting
    in_flight: dict[str, list[InFlight]] = attrs.field(factory=dict)
    watermark: int = -(10**9)

    def element(self, key: str, value: int, at: int) -> Iterator[Row]:
        taken = False
        windows = self.in_flight.setdefault(key, [])
        for start, end in self.assign(at, value):
            window = self.home(windows, start, end)
            if window.end - 1 + self.said.lateness <= self.watermark:
                windows.remove(window)
                continue
            taken = True
            window.contents.append((value, at))
            window.counted += 1
            if self.said.count:
                if window.counted >= self.said.count:
                    window.counted = 0
                    yield from self.fire(key, window)
            elif window.end - 1 <= self.watermark:
                yield from self.fire(key, window)
            else:
                window.timer = True
        if not taken and at + self.said.lateness <= self.watermark:
            yield Row("late", key, value, None, at)

    def assign(self, at: int, value: int) -> list[tuple[int, int]]:
        size, slide = self.said.size, self.said.slide
        if self.said.windows == "session":
            return [(at, at + size)]
        if self.said.windows == "dynamic":
            return [(at, at + gap_of(value))]
        last = at - at % slide
        return [(start, start + size) for start in range(last, at - size, -slide)]

    def home(self, windows: list[InFlight], start: int, end: int) -> InFlight:
        if self.said.windows in ("session", "dynamic"):
            met = [window for window in windows if window.start <= end and start <= window.end]
        else:
            met = [window for window in windows if window.start == start]
        window = InFlight(
            min([start, *(it.start for it in met)]),
            max([end, *(it.end for it in met)]),
            [value for it in met for value in it.contents],
            sum(it.counted for it in met),
        )
        window.timer = any(it.timer for it in met) and window.end - 1 > self.watermark
        for it in met:
            windows.remove(it)
        windows.append(window)
        return window

    def advance(self, to: int) -> Iterator[Row]:
        self.watermark = to
        due = [
            (window.end, key, window)
            for key, windows in self.in_flight.items()
            for window in windows
            if window.timer and window.end - 1 <= to
        ]
        for _, key, window in sorted(due, key=lambda it: it[0]):
            window.timer = False
            yield from self.fire(key, window)
        for windows in self.in_flight.values():
            windows[:] = [window for window in windows if window.end - 1 + self.said.lateness > to]

    def fire(self, key: str, window: InFlight) -> Iterator[Row]:
        if window.contents:
            self.evict(window)
            total = sum(value for value, _ in window.contents)
            yield Row("value", key, total, (window.start, window.end), window.end - 1)
        if self.said.purging:
            window.contents = []

    def evict(self, window: InFlight) -> None:
        if self.said.keep_count:
            window.contents = window.contents[-self.said.keep_count :]
        if self.said.keep_time:
            latest = max(at for _, at in window.contents)
            window.contents = [
                content for content in window.contents if content[1] > latest - self.said.keep_time
            ]


def one_stream(seed: int) -> tuple[Setting, list[tuple[str, int, int] | int]]:
    """A setting, and elements out of order with watermarks between them."""
    some = random.Random(seed)
    windows = some.choice(["session", "dynamic", "tumbling", "sliding"])
    size = some.randint(2, 8)
    slide = some.randint(1, size + 3) if windows == "sliding" else size
    count = some.choice([0, 0, 1, 2, 3])
    said = Setting(windows, size, slide, some.choice([0, 0, 1, 4, 15]), count, some.random() < 0.5)
    # Sessions that merge leave the order of their elements open, so that none is the newest.
    evicts = some.choice(
        ["", "", "time", "count" if windows in ("tumbling", "sliding") else "time"]
    )
    if evicts:
        said = attrs.evolve(said, **{f"keep_{evicts}": some.randint(1, 4)})
    time, watermark, steps = some.randint(0, 5), -1, list[tuple[str, int, int] | int]()
    for number in range(some.randint(5, 30)):
        time += some.choice([0, 0, 1, 1, 2, size, size + 1])
        if some.random() < 0.4:
            watermark = max(watermark, time - some.choice([0, 1, 3, size]))
            steps.append(watermark)
        late = some.choice([0, 0, 0, 1, size, size + 1, 2 * size, size + said.lateness])
        steps.append((some.choice("ab"), 2**number, max(0, time - late)))
    return said, [*steps, time + 100]


def operator(said: Setting) -> flink.WindowedOperator:
    match said.windows:
        case "session":
            assigner = flink.EventTimeSessionWindows.with_gap(said.size)
        case "dynamic":
            assigner = flink.EventTimeSessionWindows.with_dynamic_gap(gap_of)
        case "tumbling":
            assigner = flink.TumblingEventTimeWindows.of(said.size)
        case _:
            assigner = flink.SlidingEventTimeWindows.of(said.size, said.slide)
    trigger = flink.CountTrigger.of(said.count) if said.count else flink.EventTimeTrigger.create()
    if said.purging:
        trigger = flink.PurgingTrigger.of(trigger)
    windowed = (
        flink.key_by()
        .window(assigner)
        .trigger(trigger)
        .allowed_lateness(said.lateness)
        .side_output_late_data()
    )
    if said.keep_count:
        windowed = windowed.evictor(flink.CountEvictor.of(said.keep_count))
    if said.keep_time:
        windowed = windowed.evictor(flink.TimeEvictor.of(said.keep_time))
    return windowed.reduce(lambda one, other: one + other)


def in_order(rows: list[Row]) -> list[Row]:
    """Rows of one step: keys, and windows of one element, come in no promised order."""
    return sorted(rows, key=lambda row: (row.timestamp, str(row)))


def compare(seed: int) -> tuple[list[list[Row]], list[list[Row]]]:
    """The rows of each step, here and by the model."""
    said, steps = one_stream(seed)
    harness, model = operator(said).harness(), Model(said)
    here, there = [], []
    for step in steps:
        if isinstance(step, int):
            here.append(in_order(harness.process_watermark(step)))
            there.append(in_order(list(model.advance(step))))
        else:
            here.append(in_order(harness.process_element(*step)))
            there.append(in_order(list(model.element(*step))))
    return here, there


def test_every_step_brings_the_rows_that_flink_gives_out() -> None:
    for seed in range(STREAMS):
        here, there = compare(seed)
        assert here == there, f"stream {seed}: {one_stream(seed)[0]}"


@pytest.mark.parametrize("windows", ["session", "dynamic", "tumbling", "sliding"])
def test_the_streams_have_results_and_late_elements_of_all_windows(windows: str) -> None:
    kinds = {
        row.kind
        for seed in range(80)
        if one_stream(seed)[0].windows == windows
        for rows in compare(seed)[0]
        for row in rows
    }

    assert kinds == {"value", "late"}


def compare_by_the_clock(seed: int) -> tuple[list[list[Row]], list[list[Row]]]:
    """Sessions in processing time, and timers that are due millisecond by millisecond."""
    some = random.Random(seed)
    gap, clock = some.randint(2, 6), 0
    windows = flink.ProcessingTimeSessionWindows.with_gap(gap)
    harness = flink.key_by().window(windows).reduce(lambda one, other: one + other).harness()
    open_: dict[str, tuple[int, int, int]] = {}
    here, there = [], []
    for number in range(25):
        to = clock + some.choice([0, 1, 1, 2, gap - 1, gap, gap + 1, 3 * gap])
        due = []
        for now in range(clock, to + 1):
            for key, (start, end, total) in list(open_.items()):
                if now >= end - 1:
                    due.append(Row("value", key, total, (start, end), end - 1))
                    del open_[key]
        clock = to
        there.append(in_order(due))
        here.append(in_order(harness.set_processing_time(to)))
        key = some.choice("ab")
        start, _, total = open_.get(key, (clock, 0, 0))
        open_[key] = (start, clock + gap, total + 2**number)
        there.append([])
        here.append(harness.process_element(key, 2**number, some.randint(0, 99)))
    return here, there


def test_sessions_in_processing_time_are_those_of_timers_on_the_clock() -> None:
    for seed in range(STREAMS):
        here, there = compare_by_the_clock(seed)
        assert here == there, f"stream {seed}"


if __name__ == "__main__":
    for stream in range(int(sys.argv[1])):
        for way in (compare, compare_by_the_clock):
            ours, theirs = way(stream)
            assert ours == theirs, (way, stream)
    print("all alike")
