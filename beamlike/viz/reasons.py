"""Why windows merged, fired, stayed silent, or wait: one or two sentences each."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from beamlike.machine.events import AdvanceWatermark, Element, Fired, Merged
from beamlike.machine.reference.running import TriggerView
from beamlike.model.options import OnTimeBehavior, Unchanged
from beamlike.model.panes import Timing
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import END_OF_GLOBAL_WINDOW, show_duration, show_instant
from beamlike.model.windowfns import MergingWindowFn, WindowFn
from beamlike.model.windows import GlobalWindow, IntervalWindow, Window, bounds
from beamlike.viz.moments import Moment, WindowView
from beamlike.viz.sentences import window_in_words
from beamlike.viz.table import shorten

EXPIRY = "expiry of the window"
"""What the trace has in place of a path where the trigger was not evaluated."""

_SHOWN_VALUE = 40
_MOST_NAMED = 3


def elements_in_words(elements: Sequence[Element]) -> str:
    """Some elements, with value and event time; the first of them if there are many."""
    names = [f"{shorten(e.value, _SHOWN_VALUE)} at {show_instant(e.timestamp)}" for e in elements]
    if len(names) > _MOST_NAMED + 1:
        names = [*names[:_MOST_NAMED], f"{len(names) - _MOST_NAMED} more elements"]
    return _and(names)


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


# -- windows that merge, and that do not -----------------------------------------------------


def merged_because(
    merge: Merged,
    live: Sequence[IntervalWindow],
    came: Sequence[Element],
    window_fn: WindowFn,
) -> str:
    """A merge: what came, which windows it joined, and how near they were."""
    who, into = elements_in_words(came), window_in_words(merge.into)
    is_single = len(came) == 1
    if live and merge.into.end < max(window.end for window in live):
        session = window_in_words(live[0]) if len(live) == 1 else into
        ends = "ends" if is_single else "end"
        return f"{who} {ends} the session {session} at {show_instant(merge.into.end)}."
    names = _and(list(map(window_in_words, live)))
    if not came:
        joins = f"{names} become {into}"
    elif len(live) > 1:
        joins = f"{who} {'bridges' if is_single else 'bridge'} {names} into {into}"
    elif not live:
        joins = f"{who} make one session, {into}"
    elif live[0] == merge.into:
        joins = f"{who} {'falls' if is_single else 'fall'} into the session {into}"
    else:
        stretch = "stretches" if is_single else "stretch"
        joins = f"{who} {stretch} the session {window_in_words(live[0])} to {into}"
    return f"{joins}{_nearness(merge.sources, live, window_fn)}."


def _nearness(
    sources: Sequence[IntervalWindow], live: Sequence[IntervalWindow], window_fn: WindowFn
) -> str:
    """How far apart those are that merged, and how far they may be."""
    gap = window_fn.gap if isinstance(window_fn, Sessions) else None
    if ends_with_events(window_fn):
        return ""  # a session that has ended does not say where its last element is
    new = [window for window in sources if window not in live]
    if not isinstance(gap, int):
        overlaps = [show_duration(-silence) for silence in _silences(sources) if silence]
        return f": their windows {f'overlap by {_and(overlaps)}' if overlaps else 'touch'}"
    # The last element of what reaches furthest lies a gap before its end.
    if len(new) > 1 or not live:
        apart = [silence + gap for silence in _silences(sources)]
        far = [show_duration(distance) for distance in apart if distance > 0]
    else:
        came_at, only = new[0].start if new else 0, len(live) == 1
        far = []
        for window in live:
            name, last = window_in_words(window), window.end - gap
            if window.start > came_at:
                whose = "its first element" if only else f"{name} begins"
                far.append(f"{show_duration(window.start - came_at)} before {whose}")
            elif came_at > last:
                whose = "its last element" if only else f"the last element of {name}"
                far.append(f"{show_duration(came_at - last)} after {whose}")
    if not far:
        return ", between its elements"
    if len(new) > 1 or not live:
        far = [f"{_and(far)} apart"]
    less = "no more" if _merges_touching(window_fn) else "less"
    less = f"each {less}" if len(far) > 1 or len(new) > 2 else less
    return f": {_and(far)}, {less} than the gap of {show_duration(gap)}"


def ends_with_events(window_fn: WindowFn) -> bool:
    """Whether events may end its sessions."""
    return isinstance(window_fn, Sessions) and window_fn.ends_with is not None


def _merges_touching(window_fn: WindowFn) -> bool:
    return isinstance(window_fn, MergingWindowFn) and window_fn.merge_touching


def reaching(window_fn: WindowFn, overlaps: str, touches: str) -> str:
    """What a window has to do with a session in order to join it, in these words."""
    return f"{overlaps} or {touches}" if _merges_touching(window_fn) else overlaps


def _silences(windows: Sequence[IntervalWindow]) -> list[int]:
    """From the end of each to the start of the next (ms); negative where they overlap."""
    ordered = sorted(windows, key=bounds)
    reach, silences = ordered[0].end, []
    for before, window in pairwise(ordered):
        reach = max(reach, before.end)
        silences.append(window.start - reach)
    return silences


def alone_because(
    window: Window, live: Sequence[WindowView], window_fn: WindowFn, watermark: int
) -> str:
    """Why an element opened a session of its own next to others; nothing if none is near."""
    if not isinstance(window, IntervalWindow) or not isinstance(window_fn, Sessions):
        return ""
    for view in live:
        near = view.window
        if not isinstance(near, IntervalWindow) or near == window:
            continue
        name = window_in_words(near)
        touches = near.end == window.start or window.end == near.start
        if window.intersects(near) or (touches and window_fn.merge_touching):
            if view.closed:
                return f"It does not join {name}, whose trigger has finished."
            if watermark > view.expires:
                return f"It does not join {name}, which has expired."
            return f"It does not join {name}: together they would be too long or too full."
        if near.end == window.start and ends_with_events(window_fn):
            return f"It comes after {name} has ended."
        if isinstance(window_fn.gap, int) and near.end == window.start:
            gap = show_duration(window_fn.gap)
            return (
                f"It comes exactly one gap, {gap}, after the last element of {name}; only "
                "less than the gap joins it."
            )
        if window.end == near.start:
            return f"It ends just where {name} begins, and windows that only touch stay apart."
    return ""


# -- windows that fire -----------------------------------------------------------------------


def fired_because(
    by: str, window: Window, moment: Moment, before: WindowView | None, strategy: WindowingStrategy
) -> str:
    """What made a trigger ready, or a window expire."""
    if by == EXPIRY:
        return _expired(window, strategy)
    after = (view for view in chain(*moment.windows.values()) if view.window == window)
    view = before or next(after, None)
    reasons = dict.fromkeys(_reasons(by, view.trigger if view else None, window, moment))
    return _and(list(reasons)) or "its trigger is ready"


def _reasons(by: str, tree: TriggerView | None, window: Window, moment: Moment) -> Iterator[str]:
    if "[end of window]" in by:
        yield _end_passed(window, moment)
    leaves: dict[str, TriggerView] = {}
    for leaf in tree.walk() if tree else ():
        if leaf.subs or not re.search(rf"{re.escape(leaf.name)}(?![.\[\w(])", by):
            continue
        # Of several with one name, the one that was evaluated.
        if leaf.name not in leaves or not (leaf.finished or leaf.waits_for == "its turn"):
            leaves[leaf.name] = leaf
    for leaf in leaves.values():
        if f"{leaf.name} finished" in by:
            yield f"{leaf.name} had fired already"
        elif leaf.reason is None:
            yield _end_passed(window, moment)
        else:
            yield leaf.reason.replace("{time}", _time_of(leaf))


def _time_of(leaf: TriggerView) -> str:
    """The time that it waits for, if it says so."""
    _, known, time = leaf.waits_for.partition(" to pass ")
    return time if known else f"the time of {leaf.name}"


def _end_passed(window: Window, moment: Moment) -> str:
    end = "the end of time" if isinstance(window, GlobalWindow) else show_instant(window.end)
    if isinstance(moment.event, AdvanceWatermark):
        return f"the watermark has reached {end}"
    return f"an element came, and the watermark has reached {end} already"


def _expired(window: Window, strategy: WindowingStrategy) -> str:
    if window.end > END_OF_GLOBAL_WINDOW:
        return "the watermark has reached the end of time"
    until = show_instant(strategy.expiry(window) + 1)
    if strategy.expiry(window) == END_OF_GLOBAL_WINDOW:
        return "the watermark has reached the end of time, and windows do not outlive it"
    if not strategy.allowed_lateness:
        return f"the watermark has reached {until}, and there is no allowed lateness"
    late = show_duration(strategy.allowed_lateness)
    return f"the watermark has reached {until}, its end plus the allowed lateness of {late}"


def held_because(fired: Fired) -> str:
    """Why the first pane after the end is a late one; nothing if it is not so."""
    info = fired.pane.info
    if info.timing is not Timing.LATE or info.nonspeculative_index:
        return ""
    return (
        "It is LATE, although it is the first one after the end, because the output watermark "
        "had passed the end before."
    )


def closed_to(strategy: WindowingStrategy) -> str:
    """What becomes of data for a window whose trigger has finished."""
    if not strategy.is_merging:
        return "The trigger has finished, so whatever still comes for it is dropped."
    reach = reaching(strategy.window_fn, "overlaps", "touches")
    return (
        f"The trigger has finished, so nothing joins it any more: what {reach} it opens another "
        "session beside it, and only what has this very window is dropped."
    )


def empty_because(fired: Fired, strategy: WindowingStrategy) -> str:
    """Why a pane with nothing new came out."""
    on_time = fired.pane.info.timing is Timing.ON_TIME
    if on_time and strategy.on_time_behavior is OnTimeBehavior.FIRE_ALWAYS:
        rule = 'on_time_behavior="fire_always"'
    else:
        rule = 'closing_behavior="fire_always"'
    return f"Nothing came since its last pane; it comes out all the same because of {rule}."


def silent_because(by: str, new_elements: int, strategy: WindowingStrategy) -> str:
    """Why a trigger fired and no pane came out."""
    if new_elements:
        return 'its value is what it was, and unchanged="omit" leaves such a pane out'
    nothing = "nothing came since its last pane"
    if strategy.unchanged is Unchanged.OMIT:
        return f"{nothing}, so its value is what it was"
    if by == EXPIRY:
        return f'{nothing} (closing_behavior="{strategy.closing_behavior.value}")'
    if strategy.on_time_behavior is OnTimeBehavior.FIRE_ALWAYS:
        return nothing
    return f'{nothing} (on_time_behavior="{strategy.on_time_behavior.value}")'


# -- windows that wait -----------------------------------------------------------------------


def waits(view: WindowView) -> str:
    """What an open window waits for: the end of a sentence that begins with it."""
    waits_for = view.trigger.waits_for
    if not waits_for.startswith("nothing"):
        return f"waits for {waits_for}"
    expires = show_instant(view.expires + 1)
    if view.expires >= END_OF_GLOBAL_WINDOW:
        expires = "the end of time"
    return f"waits for its expiry, the watermark at {expires}, because its trigger can never fire"
