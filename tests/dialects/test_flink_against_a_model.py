"""Flink's windows, triggers and evictors on the machine, against its own operator in a few lines.

The model merges windows in flight as ``MergingWindowSet`` does, and keeps timers as
``WindowOperator`` does: triggers register and delete them, and one that is due asks the trigger
again. It differs from Flink in five things, as the words' docstrings say: an interval trigger does
not wait for instants that have passed (`Model.ahead`); with windows in event time one of the clock
does not mind their end; a timeout does not outlast the firing of the other trigger
(`Model.on_timer`), and with it no window is left behind for ever (`Model.clear`); and what comes in
a millisecond in which its window has been given out counts as a millisecond later (`Model.now`).
"""

import random
from collections.abc import Iterator

import attrs
import pytest

from beamlike.dialects import flink
from beamlike.dialects.stages import Row
from tests.support.examples import examples

STREAMS = examples(3000)
NEVER = 10**9


def gap_of(value: int) -> int:
    """A gap that differs from element to element; values are powers of two."""
    return 1 + value.bit_length() % 5


def far(before: int, after: int) -> float:
    """A distance that goes up and down."""
    return abs(after.bit_length() * 7 % 11 - before.bit_length() * 7 % 11)


@attrs.define(eq=False)
class InFlight:
    """A window of a key, with what its trigger remembers and the timers that are registered."""

    start: int
    end: int
    contents: list[tuple[int, int]] = attrs.field(factory=list)
    counted: int = 0
    pending: int | None = None
    last: int | None = None
    timeout: int | None = None
    silent: bool = False
    timers: set[tuple[str, int]] = attrs.field(factory=set)

    @property
    def max(self) -> int:
        return self.end - 1


@attrs.frozen
class Setting:
    """What a stream is run with. ``evictor`` of "": none."""

    windows: str
    by_clock: bool
    size: int
    slide: int
    offset: int
    lateness: int
    trigger: str
    by: int
    purging: bool
    timeout: int
    reset: bool
    clear: bool
    evictor: str
    keep: int
    after: bool


@attrs.define
class Model:
    said: Setting
    in_flight: dict[str, list[InFlight]] = attrs.field(factory=dict)
    watermark: int = -NEVER
    clock: int = 0
    given_out: bool = False

    # -- the operator ------------------------------------------------------------------------

    def element(self, key: str, value: int, at: int) -> Iterator[Row]:
        said, taken = self.said, False
        at = self.now(value) if said.by_clock else at
        windows = self.in_flight.setdefault(key, [])
        for start, end in self.assign(at, value):
            window = self.home(windows, start, end)
            if not said.by_clock and self.cleanup(window) <= self.watermark:
                windows.remove(window)
                continue
            taken = True
            window.contents.append((value, at))
            if self.on_element(window, value, at):
                yield from self.fire(key, window)
            if self.cleanup(window) < NEVER:
                window.timers.add((self.domain, self.cleanup(window)))
        if not taken and at + said.lateness <= self.watermark:
            yield Row("late", key, value, None, at)

    def now(self, value: int) -> int:
        is_over = any(end - 1 <= self.clock for _, end in self.assign(self.clock, value))
        return self.clock + (self.given_out and is_over)

    @property
    def domain(self) -> str:
        return "clock" if self.said.by_clock else "event"

    def cleanup(self, window: InFlight) -> int:
        return NEVER if self.said.windows == "global" else window.max + self.said.lateness

    def assign(self, at: int, value: int) -> list[tuple[int, int]]:
        size, slide = self.said.size, self.said.slide
        match self.said.windows:
            case "global":
                return [(-NEVER, NEVER)]
            case "session":
                return [(at, at + size)]
            case "dynamic":
                return [(at, at + gap_of(value))]
        last = at - (at - self.said.offset) % slide
        return [(start, start + size) for start in range(last, at - size, -slide)]

    def home(self, windows: list[InFlight], start: int, end: int) -> InFlight:
        if self.said.windows in ("session", "dynamic"):
            met = [window for window in windows if window.start <= end and start <= window.end]
        else:
            met = [window for window in windows if window.start == start]
        if len(met) == 1 and met[0].start <= start and end <= met[0].end:
            return met[0]
        window = InFlight(
            min([start, *(it.start for it in met)]),
            max([end, *(it.end for it in met)]),
            [content for it in met for content in it.contents],
            sum(it.counted for it in met),
        )
        for it in met:
            windows.remove(it)
        windows.append(window)
        if met:
            self.on_merge(window, [it.pending for it in met if it.pending is not None])
        return window

    def advance_watermark(self, to: int) -> Iterator[Row]:
        self.watermark = to
        yield from self.run_timers("event", to)

    def advance_clock(self, to: int) -> Iterator[Row]:
        self.given_out = self.given_out and to == self.clock
        self.clock = to
        yield from self.run_timers("clock", to)

    def run_timers(self, domain: str, to: int) -> Iterator[Row]:
        while due := [
            (at, number, key, window)
            for key, windows in self.in_flight.items()
            for number, window in enumerate(windows)
            for of, at in window.timers
            if of == domain and at <= to
        ]:
            at, _, key, window = min(due, key=lambda it: it[:3])
            window.timers.discard((domain, at))
            is_timeout = at == window.timeout and at not in (window.max, window.pending)
            self.given_out |= self.said.by_clock and at == to and not is_timeout
            if self.on_timer(window, domain, at):
                yield from self.fire(key, window)
            if domain == self.domain and at == self.cleanup(window):
                self.in_flight[key].remove(window)

    def fire(self, key: str, window: InFlight) -> Iterator[Row]:
        if window.contents:
            if not self.said.after:
                self.evict(window)
            total = sum(value for value, _ in window.contents)
            in_global = self.said.windows == "global"
            bounds = None if in_global else (window.start, window.end)
            yield Row("value", key, total, bounds, None if in_global else window.max)
            if self.said.after:
                self.evict(window)
        if self.said.purging:
            window.contents = []

    def evict(self, window: InFlight) -> None:
        there, keep = window.contents, self.said.keep
        match self.said.evictor:
            case "count":
                window.contents = there[-keep:]
            case "time":
                latest = max(at for _, at in there)
                window.contents = [it for it in there if it[1] > latest - keep]
            case "delta":
                window.contents = [it for it in there if far(it[0], there[-1][0]) < keep]

    # -- the triggers ------------------------------------------------------------------------

    def on_element(self, window: InFlight, value: int, at: int) -> bool:
        fires = self.on_element_nested(window, value, at)
        if not self.said.timeout:
            return fires
        if fires:
            self.clear(window)
            return True
        if window.timeout is not None and self.said.reset:
            window.timers.discard(("clock", window.timeout))
            window.timeout = None
        if window.timeout is None:
            window.timeout = self.clock + self.said.timeout
            window.timers.add(("clock", window.timeout))
        return False

    def on_element_nested(self, window: InFlight, value: int, at: int) -> bool:
        window.silent = False
        match self.said.trigger:
            case "end" | "every":
                time = self.clock if self.said.by_clock else self.watermark
                # A timer of the clock is due when the clock is set the next time.
                if window.max <= time and not self.said.by_clock:
                    return True
                if self.said.windows != "global":
                    window.timers.add((self.domain, window.max))
                if self.said.trigger == "every" and window.pending is None:
                    self.wait(window, self.ahead(at - at % self.said.by + self.said.by, window))
            case "every by clock":
                if window.pending is None:
                    window.pending = self.clock - self.clock % self.said.by + self.said.by
                    window.timers.add(("clock", window.pending))
            case "count":
                window.counted += 1
                if window.counted >= self.said.by:
                    window.counted = 0
                    return True
            case "delta":
                if window.last is None:
                    window.last = value
                elif far(window.last, value) > self.said.by:
                    window.last = value
                    return True
        return False

    def ahead(self, at: int, window: InFlight) -> int | None:
        """The first instant of a rhythm that has not passed; none after the end of the window."""
        time = self.clock if self.said.by_clock else self.watermark
        if self.said.by_clock:
            return min(at, window.max)
        while at <= time:
            at += self.said.by
        return min(at, window.max) if window.max > time else None

    def wait(self, window: InFlight, at: int | None) -> None:
        window.pending = at
        if at is not None:
            window.timers.add((self.domain, at))

    def on_merge(self, window: InFlight, pending: list[int]) -> None:
        if self.said.trigger == "every by clock" and pending:
            window.pending = min(pending)
            window.timers.add(("clock", window.pending))
        elif pending:
            self.wait(window, self.ahead(min(pending), window))

    def on_timer(self, window: InFlight, domain: str, at: int) -> bool:
        fires = self.on_timer_nested(window, domain, at)
        if not self.said.timeout or window.silent:
            return fires and not window.silent
        if self.said.clear:
            self.clear(window)
        elif fires and window.timeout is not None:
            window.timers.discard(("clock", window.timeout))
            window.timeout = None
        return True

    def on_timer_nested(self, window: InFlight, domain: str, at: int) -> bool:
        match self.said.trigger:
            case "end":
                return domain == self.domain and at == window.max
            case "every":
                if at == window.max:
                    return True
                if at == window.pending:
                    self.wait(window, min(at + self.said.by, window.max))
                    return True
            case "every by clock":
                if domain == "clock" and at == window.pending:
                    window.pending = at + self.said.by
                    window.timers.add(("clock", window.pending))
                    return True
        return False

    def clear(self, window: InFlight) -> None:
        if window.timeout is not None:
            window.timers.discard(("clock", window.timeout))
            window.timeout = None
        window.counted, window.last = 0, None
        if self.said.trigger == "end" and self.cleanup(window) > window.max:
            window.timers.discard((self.domain, window.max))
        elif self.said.trigger == "end":
            window.silent = True  # Flink deletes the timer for the cleanup with the other


# -- streams ---------------------------------------------------------------------------------

Step = tuple[str, int, int] | tuple[str, int]


def one_stream(seed: int) -> tuple[Setting, list[Step]]:
    """A setting; elements out of order, with watermarks and a clock between them."""
    some = random.Random(seed)
    by_clock = some.random() < 0.4
    windows = some.choice(["session", "dynamic", "tumbling", "sliding", "global"])
    if by_clock and windows == "global":
        windows = "tumbling"
    merges, is_global = windows in ("session", "dynamic"), windows == "global"
    trigger = some.choice(["end", "every", "every by clock", "count", "delta"])
    if is_global and trigger in ("end", "every"):
        trigger = "count"
    if by_clock and trigger == "every by clock":
        trigger = "every"
    if merges and trigger == "delta":
        trigger = "count"
    timeout = 0
    if not merges and trigger in ("end", "count") and some.random() < 0.7:
        timeout = some.randint(1, 8)
    evictors = ["", "", "delta"] if merges else ["", "count", "delta"]
    size = some.randint(1, 9)
    slide = some.randint(1, size + 3) if windows == "sliding" else size
    said = Setting(
        windows,
        by_clock,
        size,
        slide,
        some.randrange(slide),
        0 if by_clock else some.choice([0, 0, 1, 4, 15]),
        trigger,
        some.randint(1, 6),
        some.random() < 0.4,
        timeout,
        some.random() < 0.5,
        some.random() < 0.5,
        some.choice(evictors if by_clock else [*evictors, "time"]),
        some.randint(1, 4),
        some.random() < 0.5,
    )
    time, watermark, clock, steps = some.randint(0, 5), -1, 0, list[Step]()
    for number in range(some.randint(5, 30)):
        time += some.choice([0, 0, 1, 1, 2, size, size + 1])
        if some.random() < 0.4:
            watermark = max(watermark, time - some.choice([0, 1, 3, size]))
            steps.append(("watermark", watermark))
        if some.random() < 0.5:
            clock += some.choice([0, 1, 1, 2, size, size + 2])
            steps.append(("clock", clock))
        late = some.choice([0, 0, 0, 1, size, size + 1, 2 * size, size + said.lateness])
        steps.append((some.choice("ab"), 2**number, max(0, time - late)))
    return said, [*steps, ("clock", clock + 40), ("watermark", time + 100), ("clock", clock + 60)]


def operator(said: Setting) -> flink.WindowedOperator:
    time = "ProcessingTime" if said.by_clock else "EventTime"
    sessions: type[flink.EventTimeSessionWindows] = getattr(flink, f"{time}SessionWindows")
    tumbling: type[flink.TumblingEventTimeWindows] = getattr(flink, f"Tumbling{time}Windows")
    sliding: type[flink.SlidingEventTimeWindows] = getattr(flink, f"Sliding{time}Windows")
    windows: dict[str, flink.Assigner] = {
        "session": sessions.with_gap(said.size),
        "dynamic": sessions.with_dynamic_gap(gap_of),
        "tumbling": tumbling.of(said.size, said.offset % said.size),
        "sliding": sliding.of(said.size, said.slide, said.offset),
        "global": flink.GlobalWindows.create(),
    }
    of_time = flink.ProcessingTimeTrigger if said.by_clock else flink.EventTimeTrigger
    by_clock = said.by_clock or said.trigger == "every by clock"
    every = flink.ContinuousProcessingTimeTrigger if by_clock else flink.ContinuousEventTimeTrigger
    match said.trigger:
        case "end":
            trigger = of_time.create()
        case "count":
            trigger = flink.CountTrigger.of(said.by)
        case "delta":
            trigger = flink.DeltaTrigger.of(said.by, far)
        case _:
            trigger = every.of(said.by)
    if said.timeout:
        wrap = flink.ProcessingTimeoutTrigger.of
        trigger = wrap(trigger, said.timeout, said.reset, said.clear)
    if said.purging:
        trigger = flink.PurgingTrigger.of(trigger)
    windowed = flink.key_by().window(windows[said.windows]).trigger(trigger)
    windowed = windowed.allowed_lateness(said.lateness).side_output_late_data()
    evictors: dict[str, flink.Evictor] = {
        "count": flink.CountEvictor.of(said.keep, said.after),
        "time": flink.TimeEvictor.of(said.keep, said.after),
        "delta": flink.DeltaEvictor.of(said.keep, far, said.after),
    }
    if said.evictor:
        windowed = windowed.evictor(evictors[said.evictor])
    return windowed.reduce(lambda one, other: one + other)


def in_order(rows: list[Row]) -> list[Row]:
    """Rows of one step: keys, and windows of one element, come in no promised order."""
    return sorted(rows, key=str)


def compare(seed: int) -> tuple[list[list[Row]], list[list[Row]]]:
    """The rows of each step, here and by the model."""
    said, steps = one_stream(seed)
    harness, model = operator(said).harness(), Model(said)
    here, there = [], []
    for step in steps:
        match step:
            case ("watermark", int(to)):
                here.append(in_order(harness.process_watermark(to)))
                there.append([] if said.by_clock else in_order(list(model.advance_watermark(to))))
            case ("clock", int(to)):
                here.append(in_order(harness.set_processing_time(to)))
                there.append(in_order(list(model.advance_clock(to))))
            case (key, value, at):
                here.append(in_order(harness.process_element(key, value, at)))
                there.append(in_order(list(model.element(key, value, at))))
    return here, there


def test_every_step_brings_the_rows_that_flink_gives_out() -> None:
    for seed in range(STREAMS):
        here, there = compare(seed)
        assert here == there, f"stream {seed}: {one_stream(seed)[0]}"


@pytest.mark.parametrize("windows", ["session", "dynamic", "tumbling", "sliding", "global"])
def test_the_streams_have_results_of_all_windows_and_late_elements_of_those_that_end(windows: str):
    streams = [seed for seed in range(120) if one_stream(seed)[0].windows == windows]
    kinds = {row.kind for seed in streams for rows in compare(seed)[0] for row in rows}

    assert kinds == ({"value"} if windows == "global" else {"value", "late"})
