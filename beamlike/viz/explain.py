"""A recorded run in words: what merged, fired, was dropped or withdrawn, and why; or why not."""

from collections.abc import Sequence
from typing import Any, Final

import attrs

from beamlike.errors import RecordingError
from beamlike.machine.events import Drop
from beamlike.model.time import InstantLike, instant_ms
from beamlike.model.windows import GlobalWindow, IntervalWindow, Window, bounds
from beamlike.viz.narrative import Narrator
from beamlike.viz.recording import Recording
from beamlike.viz.sentences import KeyStory, Sentence, wrapped
from beamlike.viz.table import lost_elements, shorten, show_window

WindowLike = Window | tuple[InstantLike, InstantLike]
"""A window, or its start and its end."""

_SHOWN_KEY: Final = 40
_NEAREST: Final = 3


@attrs.frozen
class Explanation:
    """A run in words. ``str`` of it is the text, of at most 100 columns.

    Args:
        title: How the run was windowed.
        keys: The keys to explain.
    """

    title: str
    keys: tuple[KeyStory, ...]

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """All of them, key by key."""
        return tuple(sentence for key in self.keys for sentence in key.sentences)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """A notebook shows the text."""
        printer.text(str(self))

    def __str__(self) -> str:
        title = "\n".join(wrapped(self.title, "", "  "))
        if not self.keys:
            return f"{title}\n\nNothing happened: no element came."
        return "\n\n".join([title, *map(str, self.keys)])


def explain(recording: Recording, key: Any = None, window: WindowLike | None = None) -> Explanation:
    """Say what happened and why, in order.

    Args:
        recording: The run.
        key: Only this key; None for all of them (``recording.of_key(None)`` has only what came
            without a key).
        window: Only what concerns this window: what went into it, the windows that it grew from,
            its panes and drops, and what it became.
    """
    keys = recording.keys if key is None else (recording.by_key.known(key),)
    stories = [Narrator(recording.of_key(key)) for key in keys]
    title = str(recording.strategy)
    if not recording.is_grouped:
        title = f"{recording.strategy.window_fn}, not grouped"
    if window is not None:
        wanted = _window(window)
        known = {window: None for trace in stories for window in trace.windows()}
        if wanted not in known:
            raise RecordingError(_no_window(wanted, list(known), key, recording))
        stories = [trace for trace in stories if wanted in trace.windows()]
        return Explanation(title, tuple(story.about(wanted) for story in stories))
    return Explanation(title, tuple(trace.all() for trace in stories))


def _window(window_like: WindowLike) -> Window:
    if isinstance(window_like, IntervalWindow | GlobalWindow):
        return window_like
    if isinstance(window_like, tuple) and len(window_like) == 2:
        start, end = window_like
        return IntervalWindow(instant_ms(start, "window start"), instant_ms(end, "window end"))
    raise RecordingError(
        "window must be a window, or its start and end as a pair such as "
        f'("00:00:00", "00:10:00"), got {shorten(window_like, _SHOWN_KEY)}'
    )


def _no_window(
    wanted: Window,
    known: Sequence[Window],
    key: Any,
    recording: Recording,
) -> str:
    of_key = "" if key is None else f" of key {shorten(key, _SHOWN_KEY)}"
    drops = [drop.effect for drop in recording.run.drops if key is None or drop.key == key]
    # A session that one would have made, had it not been dropped.
    missed = next(
        (drop for drop in drops if isinstance(drop, Drop) and drop.nearest_session == wanted), None
    )
    if missed is not None:
        value = lost_elements(missed, _SHOWN_KEY)
        of_key += f": it would have come to be, had {value} not been dropped"
    elif key is not None:
        having = [
            shorten(key, _SHOWN_KEY)
            for key in recording.keys
            if wanted in Narrator(recording.of_key(key)).windows()
        ]
        if having:
            ending = f" and {len(having) - _NEAREST} more" if len(having) > _NEAREST else ""
            verb = "have" if having[1:] else "has"
            of_key += f", but {', '.join(having[:_NEAREST])}{ending} {verb} it"
    if not known:
        return f"there is no window {show_window(wanted)}{of_key}: no element got into any window"

    def distance(window: Window) -> tuple[int, tuple[int, int]]:
        return abs(window.start - wanted.start) + abs(window.end - wanted.end), bounds(window)

    near = sorted(known, key=distance)[:_NEAREST]
    verb = "is" if len(near) == 1 else "are"
    named = ", ".join(map(show_window, near))
    return f"there is no window {show_window(wanted)}{of_key}; the nearest {verb} {named}"
