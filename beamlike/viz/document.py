"""A recording as plain values for a page: all texts ready, all instants in milliseconds.

The page only places and shows. Values of users appear as shortened ``repr``, nothing else of
them does.
"""

import json
from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import Any, Final

from beamlike.machine.events import AdvanceWatermark, Drop, Fired, Merged, Pane
from beamlike.machine.reference.running import TriggerView
from beamlike.model.fingerprint import how_many
from beamlike.model.panes import PaneInfo
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP, show_duration, show_instant
from beamlike.model.windows import IntervalWindow, Window
from beamlike.runtime.script import Arrive, ScriptStep
from beamlike.viz.narrative import Narrator
from beamlike.viz.recording import Moment, Recording, WindowView
from beamlike.viz.run_index import own_windows, take_drops
from beamlike.viz.sentences import OVER, Sentence, spoken
from beamlike.viz.table import lost_elements, shorten, show_window

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
        moves; ``accumulates``: whether a pane holds what was in those before it; ``steps``: each
        step of the script; ``streams``: for each key its elements, panes, drops, merges, lives of
        windows, and what happened in each step; ``views``: the states of windows that the steps
        refer to by number, each once.
    """
    views: dict[str, int] = {}
    moments = recording.moments
    keys = recording.keys or (None,)  # the clocks move although no element comes
    return {
        "title": title,
        "windowing": _windowing(recording),
        "grouped": recording.is_grouped,
        "accumulates": recording.strategy.accumulates,
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
    chosen = [[name, option.value] for name, option in strategy.chosen.items()]
    return parts + chosen


def _step(moment: Moment) -> Plain:
    event = moment.event
    return {
        "step": moment.step,
        "kind": _kind_of_step(event),
        "title": _title(event),
        "watermark": moment.watermark,
        "watermarkText": show_instant(moment.watermark),
        "clock": moment.clock,
        "clockText": show_instant(moment.clock),
        "outputText": show_instant(moment.output_watermark),
        "count": len(event.elements) if isinstance(event, Arrive) else 0,
    }


def _kind_of_step(event: ScriptStep) -> str:
    if isinstance(event, Arrive):
        return "arrive"
    return "watermark" if isinstance(event, AdvanceWatermark) else "clock"


def _title(event: ScriptStep) -> str:
    if isinstance(event, Arrive):
        return how_many(len(event.elements), "element") + " arrived"
    if isinstance(event, AdvanceWatermark):
        return f"The watermark moved to {show_instant(event.to)}"
    return f"The clock moved to {show_instant(event.to)}"


def _span(window: Window) -> list[int] | None:
    """Start and end in ms; None for the global window, which has neither."""
    return [window.start, window.end] if isinstance(window, IntervalWindow) else None


def _name(window: Window) -> str:
    return show_window(window) if isinstance(window, IntervalWindow) else "the global window"


class _Stream:
    """One key of a recording."""

    def __init__(self, recording: Recording, key: Hashable, views: dict[str, int]) -> None:
        self.recording = recording
        self.key = key
        self.moments = (recording.of_key(key) if recording.keys else recording).moments
        self.views = views
        # What is not grouped is in windows, but nothing is remembered of them.
        self.lives = list(self._lives()) if recording.is_grouped else []

    def plain(self) -> Plain:
        return {
            "key": "no key" if self.key is None else shorten(self.key, _SHORT),
            "elements": list(self._elements()),
            "losses": list(self._losses()),
            "panes": list(self._panes()),
            "merges": list(self._merges()),
            "lives": self.lives,
            "moments": list(self._moments()),
        }

    # -- what lies on the time axis ----------------------------------------------------------

    def _elements(self) -> Iterator[Plain]:
        watermark = MIN_TIMESTAMP
        for moment in self.moments:
            drops = self._dropped(moment)
            values = moment.running(self.key)
            running = {at: [words, _span(window)] for at, (words, window) in values.items()}
            for number, element in enumerate(moment.elements):
                windows = set(own_windows(self.recording.strategy.window_fn, element))
                mine = take_drops(element, drops, max(len(windows), 1))
                lost, refused = _lost(windows, mine)
                yield {
                    "step": moment.step,
                    "at": element.timestamp,
                    "when": show_instant(element.timestamp),
                    "value": shorten(element.value, _SHORT),
                    "label": shorten(element.value, _LABEL),
                    "late": element.timestamp < watermark,
                    "lost": lost,
                    "why": refused + "; ".join(dict.fromkeys(_why(drop) for drop in mine)),
                    "refused": ", ".join(
                        _name(drop.window) for drop in mine if drop.window is not None
                    ),
                    "running": None if lost or number not in running else running[number],
                }
            watermark = moment.watermark

    def _losses(self) -> Iterator[Plain]:
        """Elements that were accepted, and whose pane could not be made."""
        for moment in self.moments:
            for drop in self._dropped(moment):
                if drop.element is None:
                    window = None if drop.window is None else _span(drop.window)
                    text = f"{lost_elements(drop, _LABEL)} dropped: {_why(drop)}"
                    yield {"step": moment.step, "window": window, "text": text}

    def _panes(self) -> Iterator[Plain]:
        panes: list[Plain] = []
        for moment in self.moments:
            reasons = self._reasons(moment)
            for pane in self._emitted(moment):
                if pane.retraction:
                    self._withdraw(panes, pane, moment.step)
                panes.append(
                    {
                        "step": moment.step,
                        "window": _span(pane.window),
                        "name": _name(pane.window),
                        "timing": _TIMING.get(pane.info.timing.value, "unknown"),
                        "index": pane.info.index,
                        "nonspeculative": pane.info.nonspeculative_index,
                        "last": pane.info.is_last and self.recording.is_grouped,
                        "value": shorten(pane.value, _SHORT),
                        "at": show_instant(pane.timestamp),
                        "retraction": pane.retraction,
                        "withdrawn": None,
                        "by": "" if pane.retraction else reasons.get((pane.window, pane.info), ""),
                    }
                )
        yield from panes

    def _withdraw(self, panes: Sequence[Plain], pane: Pane, step: int) -> None:
        """Mark the pane that a retraction takes back."""
        wanted = (_span(pane.window), pane.info.index, False, None)
        for earlier in reversed(panes):
            found = tuple(earlier[name] for name in ("window", "index", "retraction", "withdrawn"))
            if found == wanted:
                earlier["withdrawn"] = step
                return

    def _merges(self) -> Iterator[Plain]:
        for moment in self.moments:
            for merge in self._merged(moment):
                yield {
                    "step": moment.step,
                    "sources": [_span(source) for source in merge.sources],
                    "into": _span(merge.into),
                }

    def _merged(self, moment: Moment) -> list[Merged]:
        return [it.happening for it in moment.trace if isinstance(it.happening, Merged)]

    def _reasons(self, moment: Moment) -> dict[tuple[Window, PaneInfo], str]:
        """Which part of the trigger each pane came by. A host may emit in another order."""
        fired = (traced.happening for traced in moment.trace)
        return {(it.window, it.pane.info): it.by for it in fired if isinstance(it, Fired)}

    def _emitted(self, moment: Moment) -> list[Pane]:
        return [output.effect for output in moment.outputs if isinstance(output.effect, Pane)]

    def _dropped(self, moment: Moment) -> list[Drop]:
        return [output.effect for output in moment.outputs if isinstance(output.effect, Drop)]

    def _lives(self) -> Iterator[Plain]:
        """From which step to which step each window was there, and how it ended."""
        lives: dict[Window, Plain] = {}
        for moment in self.moments:
            there = {view.window: view for view in moment.windows.get(self.key, ())}
            merged = {source for merge in self._merged(moment) for source in merge.sources}
            known = lives.keys() | there.keys()
            for window in [window for window in lives if window not in there]:
                fate = "merged" if window in merged else "expired"
                yield lives.pop(window) | {"end": moment.step, "fate": fate}
            # A window may come and go in one step, and only its panes show it. One that
            # withdraws may be of a window that merged long ago.
            panes = [it for it in self._emitted(moment) if not it.retraction]
            panes = [pane for pane in panes if pane.window not in known]
            for brief in dict.fromkeys(pane.window for pane in panes):
                yield self._life(brief, moment.step) | {"end": moment.step, "fate": "expired"}
            for window, view in there.items():
                life = lives.setdefault(window, self._life(window, moment.step))
                if view.closed and life["closed"] is None:
                    life["closed"] = moment.step
        yield from lives.values()

    def _life(self, window: Window, step: int) -> Plain:
        return {
            "window": _span(window),
            "name": _name(window),
            "start": step,
            "end": None,
            "fate": None,
            "closed": None,
        }

    # -- what happened, in words ---------------------------------------------------------------

    def _moments(self) -> Iterator[Plain | None]:
        """What happened in each step and what was there after it; None for nothing new."""
        strategy, before = self.recording.strategy, list[int]()
        for moment, sentences in self._told():
            said = [
                [_tone(sentence), sentence.text]
                for sentence in sentences
                if sentence.kind != "waiting"
            ]
            views = [_view(view, strategy) for view in moment.windows.get(self.key, ())]
            windows = [self.views.setdefault(json.dumps(v), len(self.views)) for v in views]
            # With many keys, most steps are of no concern to most of them.
            yield {"said": said, "windows": windows} if said or windows != before else None
            before = windows

    def _told(self) -> Iterator[tuple[Moment, list[Sentence]]]:
        """Each step with what happened in it, in words."""
        if not self.recording.keys:  # only the clocks move
            return iter([(moment, []) for moment in self.moments])
        return Narrator(self.recording.of_key(self.key), advises=False).steps()


def _tone(sentence: Sentence) -> str:
    """How a sentence is set off: as what it is about."""
    if sentence.kind == "fired":
        return f"pane {sentence.timing.replace('_', '')}"
    return _TONES[sentence.kind]


def _lost(windows: Collection[Window], drops: Sequence[Drop]) -> tuple[str, str]:
    """How much of an element was dropped: "", "some" of its windows, or "all"; and of "some",
    how many."""
    if not drops:
        return "", ""
    if any(drop.window is None for drop in drops) or len(windows) <= len(drops):
        return "all", ""
    return "some", f"dropped from {len(drops)} of {len(windows)} windows: "


def _why(drop: Drop) -> str:
    if drop.error is not None:
        return f"{drop.reason.value}, {' '.join(drop.error.split())}"
    if drop.missed_by is None:
        return f"{drop.reason.value}, the trigger had finished"
    nearest_session = (
        f", nearly joined {_name(drop.nearest_session)}" if drop.nearest_session else ""
    )
    return f"{drop.reason.value}, missed by {show_duration(drop.missed_by)}{nearest_session}"


def _view(view: WindowView, strategy: WindowingStrategy) -> Plain:
    return {
        "window": _span(view.window),
        "name": _name(view.window),
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
