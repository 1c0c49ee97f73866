"""What a trigger makes of a history: is it ready, has it finished, when does it wake. Section 6.

A trigger has no state here. The history of a tree is handed down: each child has its own part of
it, what it saw since it last started over, and every question is asked of that.
"""

from collections.abc import Iterable
from functools import lru_cache

import beamlike as bl
from tests.exhaustive.history import Came, Cleared, Ended, Fired, Grew, Happened, History, Now

AT_END = "end of window"
"""The timer that an event-time trigger sets. Others are instants of processing time (ms)."""

Timer = int | str

_CLOCKS = bl.AfterProcessingTime | bl.AfterSynchronizedProcessingTime

_remembering = lru_cache(maxsize=50_000)
"""Many streams ask the same of a history: then it is read once."""


@_remembering
def finished(trigger: bl.Trigger, history: History) -> bool:
    """Whether it has fired for the last time."""
    match trigger:
        case bl.AfterWatermark():
            return trigger.late is None and _end_was_processed(history)
        case bl.AfterCount():
            grew = _last_growth(history)
            merged = grew is not None and any(finished(trigger, part) for part in grew.parts)
            return merged or _fired_since_growth(history)
        case bl.AfterProcessingTime() | bl.AfterSynchronizedProcessingTime():
            grew = _last_growth(history)
            same = None if grew is None or grew.same is None else grew.parts[grew.same]
            return (same is not None and finished(trigger, same)) or _fired_since_growth(history)
        case bl.AfterFirst():
            return _fired_since_growth(history) or any(_finished_children(trigger, history))
        case bl.AfterAll():
            return _fired_since_growth(history) or all(_finished_children(trigger, history))
        case bl.AfterEach():
            return all(_finished_children(trigger, history))
        case bl.OrFinally():
            return any(_finished_children(trigger, history))
        case _:
            return False


@_remembering
def ready(trigger: bl.Trigger, history: History, now: Now) -> bool:
    """Whether it should fire."""
    shares = _shares(trigger, history)
    match trigger:
        case bl.DefaultTrigger():
            return now.is_over
        case bl.AfterWatermark():
            early, late = _children(trigger)
            if _end_was_processed(history):
                return ready(late, shares[1], now)
            return now.is_over or ready(early, shares[0], now)
        case bl.AfterCount():
            return _count(trigger, history) >= trigger.count
        case bl.AfterProcessingTime() | bl.AfterSynchronizedProcessingTime():
            target = _target(trigger, history)
            return target is not None and now.clock > target
        case bl.Repeatedly():
            return ready(trigger.trigger, shares[0], now)
        case bl.AfterFirst():
            return any(_satisfied(trigger, shares, now))
        case bl.AfterAll():
            return all(_satisfied(trigger, shares, now))
        case bl.AfterEach():
            at = _current(trigger, shares)
            return at is not None and ready(trigger.triggers[at], shares[at], now)
        case bl.OrFinally():
            return any(ready(c, s, now) for c, s in zip(_children(trigger), shares, strict=True))
        case _:
            return isinstance(trigger, bl.Always)


@_remembering
def timers(trigger: bl.Trigger, history: History) -> frozenset[Timer]:
    """Every timer that was set for this window, by its bounds; none is ever taken back."""
    found: frozenset[Timer] = frozenset()
    for index, entry in enumerate(history):
        if isinstance(entry, Grew):
            found = frozenset() if entry.same is None else timers(trigger, entry.parts[entry.same])
        found |= _set_by(trigger, history[:index], entry)
    return found


# -- leaves ------------------------------------------------------------------------------------


def _last_growth(history: History) -> Grew | None:
    # Windows merge at the beginning of a history and nowhere else.
    return history[0] if history and isinstance(history[0], Grew) else None


def _fired_since_growth(history: History) -> bool:
    return any(isinstance(entry, Fired | Ended) for entry in history)


def _count(trigger: bl.AfterCount, history: History) -> int:
    """Elements since it was cleared; those of merged windows count unless it had finished."""
    count = 0
    for entry in history:
        match entry:
            case Came():
                count += 1
            case Fired() | Cleared() | Ended():
                count = 0
            case Grew():
                if not any(finished(trigger, part) for part in entry.parts):
                    count = sum(_count(trigger, part) for part in entry.parts)
    return count


def _target(trigger: _CLOCKS, history: History) -> int | None:
    """The instant that the clock must pass, counted from the first element."""
    target: int | None = None
    for entry in history:
        match entry:
            case Came():
                target = _moved(trigger, entry.now.clock) if target is None else target
            case Fired() | Cleared() | Ended():
                target = None
            case Grew():
                targets = [_target(trigger, part) for part in entry.parts]
                known = [target for target in targets if target is not None]
                gone = finished(trigger, (entry,))
                target = min(known) if known and not gone else None
    return target


def _moved(trigger: _CLOCKS, arrival: int) -> int:
    if isinstance(trigger, bl.AfterSynchronizedProcessingTime):
        return arrival
    for transform in trigger.transforms:
        match transform:
            case bl.Delay(by):
                arrival += by
            case bl.AlignTo(period, offset):
                while (arrival - offset) % period:
                    arrival += 1
    return arrival


def _end_was_processed(history: History) -> bool:
    """Of `AfterWatermark`: whether it has fired for the end of the window."""
    over = False
    for entry in history:
        match entry:
            case Fired(now=now):
                over = over or now.is_over
            case Grew(parts, _, now):
                over = now.is_over and all(_end_was_processed(part) for part in parts)
    return over


# -- trees -------------------------------------------------------------------------------------


def _children(trigger: bl.Trigger) -> tuple[bl.Trigger, ...]:
    if isinstance(trigger, bl.AfterWatermark):
        return trigger.early or bl.Never(), trigger.late or bl.Never()
    return trigger.children


def _finished_children(trigger: bl.Trigger, history: History) -> list[bool]:
    shares = _shares(trigger, history)
    return [finished(c, share) for c, share in zip(_children(trigger), shares, strict=True)]


def _satisfied(trigger: bl.Trigger, shares: tuple[History, ...], now: Now) -> Iterable[bool]:
    pairs = zip(_children(trigger), shares, strict=True)
    return (finished(child, share) or ready(child, share, now) for child, share in pairs)


def _current(trigger: bl.AfterEach, shares: tuple[History, ...]) -> int | None:
    """The first child that has not finished."""
    for index, (child, share) in enumerate(zip(trigger.triggers, shares, strict=True)):
        if not finished(child, share):
            return index
    return None


def _shares(trigger: bl.Trigger, history: History) -> tuple[History, ...]:
    """What each child has seen since it started over."""
    shares: tuple[History, ...] = tuple(() for _ in _children(trigger))
    if not shares:
        return shares
    for index, entry in enumerate(history):
        before = history[:index]
        match entry:
            case Came():
                sees = _who_sees(trigger, before, shares, entry.now)
                shares = tuple(
                    (*share, entry) if sees[i] else share for i, share in enumerate(shares)
                )
            case Fired():
                shares = _after_firing(trigger, before, shares, entry)
            case Cleared():
                shares = tuple((*share, entry) for share in shares)
            case Ended():
                shares = tuple(() for _ in shares)
            case Grew():
                shares = _after_merging(trigger, entry)
    return shares


def _who_sees(
    trigger: bl.Trigger, before: History, shares: tuple[History, ...], now: Now
) -> list[bool]:
    """Which children an element goes to."""
    everyone = [True] * len(shares)
    match trigger:
        case bl.AfterWatermark() if not now.merging:
            over = _end_was_processed(before)
            return [not over, over]
        case bl.AfterEach() if not now.merging:
            current = _current(trigger, shares)
            return [index == current for index in range(len(shares))]
        case bl.AfterAll():
            return [not finished_child for finished_child in _finished_children(trigger, before)]
        case _:
            return everyone


def _after_firing(
    trigger: bl.Trigger, before: History, shares: tuple[History, ...], entry: Fired
) -> tuple[History, ...]:
    """What the children have seen after the tree has fired. A child that starts over: nothing."""
    fired = tuple((*share, entry) for share in shares)
    cleared = tuple((*share, Cleared()) for share in shares)
    pairs = list(zip(_children(trigger), shares, strict=True))
    match trigger:
        case bl.AfterWatermark():
            if _end_was_processed(before):
                return shares[0], ()
            return ((Ended(),), ()) if entry.now.is_over else ((), shares[1])
        case bl.Repeatedly():
            return ((),) if finished(trigger.trigger, fired[0]) else fired
        case bl.AfterFirst():
            fires = [ready(child, share, entry.now) for child, share in pairs]
            return tuple(
                fired[index] if fires[index] else cleared[index] for index in range(len(pairs))
            )
        case bl.AfterEach():
            current = _current(trigger, shares)
            after = tuple(fired[index] if index == current else s for index, s in enumerate(shares))
            return tuple((*s, Cleared()) for s in after) if entry.now.merging else after
        case bl.OrFinally():
            if ready(trigger.until, shares[1], entry.now):
                return cleared[0], fired[1]
            return fired[0], shares[1]
        case _:
            return fired


def _after_merging(trigger: bl.Trigger, entry: Grew) -> tuple[History, ...]:
    """What the children have seen after windows merged into this one."""
    parts = [_shares(trigger, part) for part in entry.parts]
    merged = [
        (Grew(tuple(part[index] for part in parts), entry.same, entry.now),)
        for index in range(len(_children(trigger)))
    ]
    if isinstance(trigger, bl.AfterWatermark):
        if _end_was_processed((entry,)):
            return (Ended(),), merged[1]
        # Its early trigger merges like any other, and is then unfinished whatever came of that.
        early, _ = _children(trigger)
        return () if finished(early, merged[0]) else merged[0], ()
    if isinstance(trigger, bl.AfterEach):
        before = [True]
        for child, share in zip(trigger.triggers, merged, strict=True):
            before.append(before[-1] and finished(child, share))
        return tuple(share if before[index] else () for index, share in enumerate(merged))
    return tuple(merged)


def _set_by(trigger: bl.Trigger, before: History, entry: Happened) -> set[Timer]:
    """The timers that are set because of this: an element, or a merge."""
    if not isinstance(entry, Came | Grew):
        return set()
    found: set[Timer] = set()
    if isinstance(trigger, bl.DefaultTrigger | bl.AfterWatermark) and not entry.now.is_over:
        found.add(AT_END)
    if isinstance(trigger, _CLOCKS):
        started = isinstance(entry, Grew) or _target(trigger, before) is None
        target = _target(trigger, (*before, entry))
        if started and target is not None:
            found.add(max(target, entry.now.clock))
    were, are = _shares(trigger, before), _shares(trigger, (*before, entry))
    for child, had, has in zip(_children(trigger), were, are, strict=True):
        if has and has != had:
            found |= _set_by(child, had if isinstance(entry, Came) else (), has[-1])
    return found
