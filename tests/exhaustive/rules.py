"""The rules of windows, triggers and panes in the plainest way: a function of all that happened.

Written from the rules alone (sections of the notes on Beam's semantics are named), without a look
at any machine. `outcome` takes the whole history of one key and answers with all that comes out.
What `beamlike.model` says by its values is all that is shared. Answers to the same question about
the same history are remembered (`triggers`), and nothing else: of each stream all is read.
"""

from functools import cache

import beamlike as bl
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MIN_TIMESTAMP
from tests.exhaustive.events import Arrive, Clock, Event, Row, Stream, Watermark, content
from tests.exhaustive.history import (
    Came,
    Fired,
    Grew,
    History,
    Now,
    PaneOut,
    everything,
    hold_of,
    new_since_pane,
    previous_pane,
    unretracted_panes,
)
from tests.exhaustive.triggers import AT_END, finished, ready, timers

Span = tuple[int, int]
"""A window: its start and its end, which is not in it (ms)."""

GLOBAL: Span = (MIN_TIMESTAMP, END_OF_GLOBAL_WINDOW + 1)


def outcome(strategy: bl.WindowingStrategy, stream: Stream) -> list[Row]:
    """Everything that comes out of one key's stream, step by step."""
    key = _Key(strategy)
    for step, event in enumerate(stream):
        key.happens(step, event)
    return key.rows


@cache
def windows_at(window_fn: bl.WindowFn, time: int) -> tuple[Span, ...]:
    """The windows of an element, before any merging. Section 2."""
    match window_fn:
        case bl.GlobalWindows():
            return (GLOBAL,)
        case bl.FixedWindows(size, offset):
            starts = [
                index for index in range(time - size + 1, time + 1) if (index - offset) % size == 0
            ]
        case bl.SlidingWindows(size, period, offset):
            starts = [
                index
                for index in range(time - size + 1, time + 1)
                if (index - offset) % period == 0
            ]
        case bl.Sessions(gap=int(size)):
            starts = [time]
        case _:
            raise ValueError(f"the model has no rules for {window_fn}")
    return tuple((start, min(start + size, END_OF_GLOBAL_WINDOW + 1)) for start in starts)


class _Key:
    """One key, from its first event on."""

    def __init__(self, strategy: bl.WindowingStrategy) -> None:
        self.strategy = strategy
        self.merging = isinstance(strategy.window_fn, bl.Sessions)
        self.watermark, self.clock, self.promised = MIN_TIMESTAMP, 0, MIN_TIMESTAMP
        self.live: dict[Span, History] = {}
        self.closed: set[Span] = set()
        self.rows: list[Row] = []
        self.step = self.arrived = 0

    def happens(self, step: int, event: Event) -> None:
        self.step = step
        match event:
            case Arrive(times):
                self._bundle(times)
            case Watermark(to):
                self._watermark(to)
            case Clock(to):
                self._clock(to)
        held = [hold_of(self.strategy.timestamp_combiner, one) for one in self.live.values()]
        least = min([self.watermark, *(hold for hold in held if hold is not None)])
        self.promised = max(self.promised, least)

    def _now(self, span: Span) -> Now:
        return Now(self.watermark, self.clock, self.promised, span[1] - 1, self.merging)

    def _expiry(self, span: Span) -> int:
        return min(span[1] - 1 + self.strategy.allowed_lateness, END_OF_GLOBAL_WINDOW)

    # -- a bundle: section 4 -------------------------------------------------------------------

    def _bundle(self, times: tuple[int, ...]) -> None:
        accepted: list[tuple[int, int, Span]] = []
        for number, time in enumerate(times, self.arrived):
            for span in windows_at(self.strategy.window_fn, time):
                late_by = self.watermark - self._expiry(span)
                if late_by > 0:
                    self.rows.append((self.step, "expired", *span, number, late_by))
                else:
                    accepted.append((number, time, span))
        self.arrived += len(times)
        became = self._merge({span for _, _, span in accepted}) if self.merging else {}
        touched = {became.get(span, span) for _, _, span in accepted} - self.closed
        for number, time, own in accepted:
            span = became.get(own, own)
            if span in self.closed:
                self.rows.append((self.step, "closed", *span, number, None))
            else:
                came = Came(number, time, self._now(span))
                self.live[span] = (*self.live.get(span, ()), came)
        self._fire(touched)

    def _merge(self, arriving: set[Span]) -> dict[Span, Span]:
        """Merge what overlaps, live or arriving; which window each has become. Section 7."""
        became: dict[Span, Span] = {}
        for group in _overlapping({*self.live, *arriving}):
            result = (min(start for start, _ in group), max(end for _, end in group))
            became |= dict.fromkeys(group, result)
            parts = [span for span in group if span in self.live]
            if parts:
                same = parts.index(result) if result in parts else None
                histories = tuple(self.live.pop(span) for span in parts)
                self.live[result] = (Grew(histories, same, self._now(result)),)
                self.closed.discard(result)
        return became

    # -- clocks: section 5.2 -------------------------------------------------------------------

    def _watermark(self, to: int) -> None:
        before, self.watermark = self.watermark, to
        due = set()
        for span in list(self.live):
            if to > self._expiry(span):
                self._pane(span, is_last=True)
                del self.live[span]
            elif before <= span[1] - 1 < to and AT_END in self._timers(span):
                due.add(span)
        self.closed = {span for span in self.closed if to <= self._expiry(span)}
        self._fire(due)

    def _clock(self, to: int) -> None:
        before, self.clock = self.clock, to
        self._fire(
            {
                span
                for span in self.live
                if any(
                    isinstance(timer, int) and before <= timer < to for timer in self._timers(span)
                )
            }
        )

    def _timers(self, span: Span) -> frozenset[int | str]:
        return timers(self.strategy.trigger, self.live[span])

    # -- panes: sections 5.1, 5.3 and 9 --------------------------------------------------------

    def _fire(self, asked: set[Span]) -> None:
        trigger = self.strategy.trigger
        for span in asked:
            if not ready(trigger, self.live[span], self._now(span)):
                continue
            done = finished(trigger, (*self.live[span], Fired(self._now(span), None)))
            pane = self._pane(span, is_last=done)
            self.live[span] = (*self.live[span], Fired(self._now(span), pane))
            if done:
                del self.live[span]
                self.closed.add(span)

    def _pane(self, span: Span, *, is_last: bool) -> PaneOut | None:
        """The pane of a window as it is now, written down; None if it is not wanted."""
        history, strategy = self.live[span], self.strategy
        new = new_since_pane(history)
        previous = previous_pane(history)
        timing = self._timing(span, previous)
        wanted = (
            bool(new)
            or (timing == "ON_TIME" and strategy.on_time_behavior is bl.OnTimeBehavior.FIRE_ALWAYS)
            or (is_last and strategy.closing_behavior is bl.ClosingBehavior.FIRE_ALWAYS)
        )
        if not wanted:
            return None
        discarding = strategy.accumulation is bl.AccumulationMode.DISCARDING
        hold = hold_of(strategy.timestamp_combiner, history)
        before = -1 if previous is None else previous.nonspeculative
        pane = PaneOut(
            *span,
            content(new if discarding else everything(history)),
            span[1] - 1 if hold is None else min(hold, span[1] - 1),
            timing,
            0 if previous is None else previous.number + 1,
            -1 if timing == "EARLY" else before + 1,
            previous is None,
            is_last,
        )
        if strategy.accumulation is bl.AccumulationMode.RETRACTING:
            self.rows += [old.row(self.step, "withdrawn") for old in unretracted_panes(history)]
        self.rows.append(pane.row(self.step))
        return pane

    def _timing(self, span: Span, previous: PaneOut | None) -> str:
        only_early = previous is None or previous.timing == "EARLY"
        if self.promised > span[1] - 1 or not only_early:
            return "LATE"
        return "EARLY" if self.watermark <= span[1] - 1 else "ON_TIME"


def _overlapping(spans: set[Span]) -> list[list[Span]]:
    """The groups of two windows and more that overlap; those that touch do not. Section 2."""
    groups: list[list[Span]] = []
    for span in sorted(spans):
        if groups and span[0] < max(end for _, end in groups[-1]):
            groups[-1].append(span)
        else:
            groups.append([span])
    return [group for group in groups if len(group) > 1]
