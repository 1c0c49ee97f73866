"""A recording as plain values for a page: all texts ready, all instants in milliseconds.

The page only places and shows. Values of users appear as shortened ``repr``, nothing else of
them does.
"""

import json
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Final

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Drop, Pane
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
from beamlike.viz.scene import Box, End, Life
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
        "streams": [_stream(recording, key, views) for key in keys],
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


def _stream(recording: Recording, key: Hashable, views: dict[str, int]) -> Plain:
    """One key of a recording."""
    moments = (recording.of_key(key) if recording.keys else recording).moments
    history = KeyHistory(moments, recording.strategy, key)
    history.play({moment.step: moment.step for moment in moments})
    boxes, watermark, before = iter(history.boxes), MIN_TIMESTAMP, list[int]()
    steps: Iterable[tuple[Moment, list[Sentence]]] = ((moment, []) for moment in moments)
    if recording.keys:  # else only the clocks move
        steps = Narrator(recording.of_key(key), advises=False).steps()
    elements, losses, panes, merges = (list[Plain]() for _ in range(4))
    happened = list[Plain | None]()
    for moment, sentences in steps:
        step = {"step": moment.step}
        elements += (step | plain for plain in _elements(moment, recording, key, watermark))
        for drop in moment.drops:
            if drop.element is None:  # it was accepted, and its pane could not be made
                text = f"{lost_elements(drop, _LABEL)} dropped: {_why(drop)}"
                losses.append(step | {"window": _span(drop.window), "text": text})
        for pane in moment.panes:
            box = None if pane.retraction else next(boxes)
            panes.append(step | _pane(pane, box, is_grouped=recording.is_grouped))
        for merge in moment.merges:
            sources = [_span(source) for source in merge.sources]
            merges.append(step | {"sources": sources, "into": _span(merge.into)})
        said = [[_tone(line), line.text] for line in sentences if line.topic != "waiting"]
        shown = [_view(view, recording.strategy) for view in moment.windows.get(key, ())]
        windows = [views.setdefault(json.dumps(view), len(views)) for view in shown]
        # With many keys, most steps are of no concern to most of them: nothing is new.
        is_new = bool(said) or windows != before
        happened.append({"said": said, "windows": windows} if is_new else None)
        watermark, before = moment.watermark, windows
    return {
        "key": "no key" if key is None else shorten(key, _SHORT),
        "elements": elements,
        "losses": losses,
        "panes": panes,
        "merges": merges,
        # What is not grouped is in windows, but nothing is remembered of them.
        "lives": list(map(_life, history.lives)) if recording.is_grouped else [],
        "moments": happened,
    }


def _elements(moment: Moment, recording: Recording, key: Any, watermark: int) -> Iterator[Plain]:
    """What arrived in a step, when the watermark was there."""
    values = moment.running(key)
    for number, arrival in enumerate(moment.arrivals(recording.strategy.window_fn)[0]):
        element, lost, running = arrival.element, arrival.lost, values.get(number)
        why = "; ".join(dict.fromkeys(map(_why, arrival.drops)))
        refused = [drop.window for drop in arrival.drops]
        yield {
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


def _pane(pane: Pane, box: Box | None, *, is_grouped: bool) -> Plain:
    """A pane, or a withdrawal, which has no box."""
    return {
        "window": _span(pane.window),
        "name": window_in_words(pane.window),
        "timing": _TIMING.get(pane.info.timing.value, "unknown"),
        "index": pane.info.index,
        "nonspeculative": pane.info.nonspeculative_index,
        "last": pane.info.is_last and is_grouped,
        "value": shorten(pane.value, _SHORT),
        "at": show_instant(pane.timestamp),
        "retraction": pane.retraction,
        # The step since which what it holds came.
        "since": None if box is None else box.below,
        "withdrawn": None if box is None else box.withdrawn,
        "by": "" if box is None else box.by,
    }


def _life(life: Life) -> Plain:
    """From which step to which step a window was there, and how it ended."""
    is_open = life.end is End.OPEN
    return {
        "window": _span(life.window),
        "name": window_in_words(life.window),
        "start": life.opened,
        "end": None if is_open else life.ended,
        "fate": None if is_open else life.end.value,
        "closed": life.closed,
    }


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
