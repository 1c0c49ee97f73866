"""A recording as plain values for a page: all texts ready, all instants in milliseconds.

The page only places and shows. Values of users appear as shortened ``repr``, nothing else of
them does.
"""

import json
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Final

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Drop
from beamlike.machine.reference.running import TriggerView
from beamlike.model.fingerprint import how_many
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP, show_duration, show_instant
from beamlike.model.windows import IntervalWindow, Window
from beamlike.runtime.script import Arrive
from beamlike.viz.key_history import KeyHistory
from beamlike.viz.moments import Moment, WindowView
from beamlike.viz.narrative import Narrator
from beamlike.viz.recording import Recording
from beamlike.viz.scene import End
from beamlike.viz.sentences import OVER, Sentence, spoken, window_in_words
from beamlike.viz.table import lost_elements, shorten

_SHORT: Final = 200
"""Characters of a value in sentences and lists."""
_LABEL: Final = 36
"""Characters of a value inside the figure."""
_TONES: Final = {
    **{"arrived": "arrive", "homeless": "arrive", "dropped": "drop", "merged": "merge"},
    **{"withdrawn": "retract", "passed": "pane unknown"},
    **{"suppressed": "quiet", "forgotten": "quiet"},
}
_TIMING: Final = {"EARLY": "early", "ON_TIME": "on time", "LATE": "late"}

Plain = dict[str, Any]


def document_of(recording: Recording, title: str) -> Plain:
    """Everything that the page shows of a recording, as values that JSON can write.

    Returns:
        ``grouped``: whether anything is remembered; ``clockMoves``: whether processing time ever
        moves; ``steps``: each step of the script; ``streams``: for each key its elements, panes,
        drops, merges, lives of windows, and what happened in each step; ``views``: the states of
        windows that the steps refer to by number, each once.
    """
    views: dict[str, int] = {}
    moments = recording.moments
    keys = recording.keys or (None,)  # the clocks move although no element comes
    return {
        "title": title,
        "windowing": _windowing(recording),
        "grouped": recording.is_grouped,
        "clockMoves": any(clock for _, clock in recording.run.clocks()),
        "steps": [_step(moment) for moment in moments],
        "streams": [_Stream(recording, key, views).plain() for key in keys],
        "views": [json.loads(view) for view in views],
    }


def _windowing(recording: Recording) -> list[list[str]]:
    """The windowing as labelled parts: what is always decided, then what is not the default."""
    strategy = recording.strategy
    if not recording.is_grouped:
        return [["windows", f"{strategy.windows_in_words}, not grouped"]]
    parts = [
        ["windows", strategy.windows_in_words],
        ["trigger", str(strategy.trigger)],
        ["accumulation", strategy.accumulation.value],
        ["allowed lateness", show_duration(strategy.allowed_lateness)],
    ]
    return parts + [[name, option.value] for name, option in strategy.chosen.items()]


def _step(moment: Moment) -> Plain:
    elements = len(moment.elements)
    match moment.event:
        case Arrive():
            name, title = "arrive", f"{how_many(elements, 'element')} arrived"
        case AdvanceWatermark(to):
            name, title = "watermark", f"The watermark moved to {show_instant(to)}"
        case AdvanceClock(to):
            name, title = "clock", f"The clock moved to {show_instant(to)}"
    return {
        "step": moment.step,
        "kind": name,
        "title": title,
        "watermark": moment.watermark,
        "watermarkText": show_instant(moment.watermark),
        "clock": moment.clock,
        "clockText": show_instant(moment.clock),
        "outputText": show_instant(moment.output_watermark),
        "count": elements,
    }


def _span(window: Window | None) -> list[int] | None:
    """Start and end in ms; None for the global window, which has neither."""
    return [window.start, window.end] if isinstance(window, IntervalWindow) else None


class _Stream:
    """One key of a recording."""

    def __init__(self, recording: Recording, key: Hashable, views: dict[str, int]) -> None:
        self.recording = recording
        self.key = key
        self.moments = (recording.of_key(key) if recording.keys else recording).moments
        self.views = views
        self.history = KeyHistory(self.moments, recording.strategy, key)
        self.history.play({moment.step: moment.step for moment in self.moments})

    def plain(self) -> Plain:
        return {
            "key": "no key" if self.key is None else shorten(self.key, _SHORT),
            "elements": list(self._elements()),
            "losses": list(self._losses()),
            "panes": list(self._panes()),
            "merges": list(self._merges()),
            # What is not grouped is in windows, but nothing is remembered of them.
            "lives": list(self._lives()) if self.recording.is_grouped else [],
            "moments": list(self._moments()),
        }

    # -- what lies on the time axis ----------------------------------------------------------

    def _elements(self) -> Iterator[Plain]:
        watermark, window_fn = MIN_TIMESTAMP, self.recording.strategy.window_fn
        for moment in self.moments:
            values = moment.running(self.key)
            for number, arrival in enumerate(moment.arrivals(window_fn)[0]):
                element, lost, running = arrival.element, arrival.lost, values.get(number)
                why = "; ".join(dict.fromkeys(map(_why, arrival.drops)))
                refused = [drop.window for drop in arrival.drops]
                yield {
                    "step": moment.step,
                    "at": element.timestamp,
                    "when": show_instant(element.timestamp),
                    "value": shorten(element.value, _SHORT),
                    "label": shorten(element.value, _LABEL),
                    "late": element.timestamp < watermark,
                    "lost": lost,
                    "why": ": ".join(filter(None, [arrival.refused, why])),
                    "refused": ", ".join(window_in_words(w) for w in refused if w is not None),
                    "running": None if lost or running is None else [running[0], _span(running[1])],
                }
            watermark = moment.watermark

    def _losses(self) -> Iterator[Plain]:
        """Elements that were accepted, and whose pane could not be made."""
        for moment in self.moments:
            for drop in moment.drops:
                if drop.element is None:
                    text = f"{lost_elements(drop, _LABEL)} dropped: {_why(drop)}"
                    yield {"step": moment.step, "window": _span(drop.window), "text": text}

    def _panes(self) -> Iterator[Plain]:
        boxes = iter(self.history.boxes)
        for moment in self.moments:
            for pane in moment.panes:
                box = None if pane.retraction else next(boxes)
                yield {
                    "step": moment.step,
                    "window": _span(pane.window),
                    "name": window_in_words(pane.window),
                    "timing": _TIMING.get(pane.info.timing.value, "unknown"),
                    "index": pane.info.index,
                    "nonspeculative": pane.info.nonspeculative_index,
                    "last": pane.info.is_last and self.recording.is_grouped,
                    "value": shorten(pane.value, _SHORT),
                    "at": show_instant(pane.timestamp),
                    "retraction": pane.retraction,
                    # The step since which what it holds came.
                    "since": None if box is None else box.below,
                    "withdrawn": None if box is None else box.withdrawn,
                    "by": "" if box is None else box.by,
                }

    def _merges(self) -> Iterator[Plain]:
        for moment in self.moments:
            for merge in moment.merges:
                sources = [_span(source) for source in merge.sources]
                yield {"step": moment.step, "sources": sources, "into": _span(merge.into)}

    def _lives(self) -> Iterator[Plain]:
        """From which step to which step each window was there, and how it ended."""
        for life in self.history.lives:
            is_open = life.end is End.OPEN
            yield {
                "window": _span(life.window),
                "name": window_in_words(life.window),
                "start": life.opened,
                "end": None if is_open else life.ended,
                "fate": None if is_open else life.end.value,
                "closed": life.closed,
            }

    # -- what happened, in words ---------------------------------------------------------------

    def _moments(self) -> Iterator[Plain | None]:
        """What happened in each step and what was there after it; None for nothing new."""
        strategy, before = self.recording.strategy, list[int]()
        steps: Iterable[tuple[Moment, list[Sentence]]] = ((moment, []) for moment in self.moments)
        if self.recording.keys:  # else only the clocks move
            steps = Narrator(self.recording.of_key(self.key), advises=False).steps()
        for moment, sentences in steps:
            said = [[_tone(line), line.text] for line in sentences if line.topic != "waiting"]
            views = [_view(view, strategy) for view in moment.windows.get(self.key, ())]
            windows = [self.views.setdefault(json.dumps(v), len(self.views)) for v in views]
            # With many keys, most steps are of no concern to most of them.
            yield {"said": said, "windows": windows} if said or windows != before else None
            before = windows


def _tone(sentence: Sentence) -> str:
    """How a sentence is set off: as what it is about."""
    if sentence.topic == "fired":
        return f"pane {sentence.timing.replace('_', '')}"
    return _TONES[sentence.topic]


def _why(drop: Drop) -> str:
    if drop.error is not None:
        return f"{drop.reason.value}, {' '.join(drop.error.split())}"
    if drop.missed_by is None:
        return f"{drop.reason.value}, the trigger had finished"
    nearest = drop.nearest_session
    joined = f", nearly joined {window_in_words(nearest)}" if nearest else ""
    return f"{drop.reason.value}, missed by {show_duration(drop.missed_by)}{joined}"


def _view(view: WindowView, strategy: WindowingStrategy) -> Plain:
    return {
        "window": _span(view.window),
        "name": window_in_words(view.window),
        "closed": view.closed,
        "resting": view.resting,
        "forgotten": show_instant(strategy.forgotten(view.window)),
        "waiting": view.waiting,
        "shown": view.last_pane is not None,
        "expires": show_instant(view.expires),
        "trigger": _trigger(spoken(view.trigger)),
    }


def _trigger(view: TriggerView) -> Plain:
    return {
        "name": view.name,
        "path": view.path,
        "finished": view.finished,
        "over": view.waits_for == OVER,
        "ready": view.ready,
        "waits": view.waits_for,
        "subs": [_trigger(sub) for sub in view.subs],
    }
