"""The narrative of one key from a recording: a sentence for each event, and the reason."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from beamlike.machine.events import (
    AdvanceClock,
    AdvanceWatermark,
    Drop,
    Element,
    Fired,
    Merged,
    Pane,
    Suppressed,
)
from beamlike.model.fingerprint import how_many, visible
from beamlike.model.options import LateCheck
from beamlike.model.time import MIN_TIMESTAMP, show_duration, show_instant
from beamlike.model.windows import Window, bounds
from beamlike.runtime.script import Arrive
from beamlike.viz import reasons as because
from beamlike.viz.moments import Moment, WindowView
from beamlike.viz.recording import Recording
from beamlike.viz.sentences import KeyStory, Sentence, spoken, window_in_words
from beamlike.viz.table import lost_elements, shorten
from beamlike.viz.what_if import Rescue

_SHOWN_VALUE: Final = 60


class Narrator:
    """Writes the narrative of a recording of one key. If it advises, it says what would have saved
    a drop, which is found by trying."""

    def __init__(self, recording: Recording, *, advises: bool = True) -> None:
        self._recording = recording
        self._advises = advises
        self._strategy = recording.strategy
        (self.key,) = recording.keys
        self._rescue = Rescue(recording.run.script, recording.strategy)
        self.is_grouped = recording.is_grouped
        self._before: dict[Window, WindowView] = {}
        self._fresh: dict[Window, int] = {}
        self._showed: set[Window] = set()
        """Windows that have emitted a pane."""
        self._grew: set[Window] = set()
        """Sessions that have not, but grew from such windows."""

    def windows(self) -> set[Window]:
        """Every window that the key had, or that an element of it was to go to."""
        windows: set[Window] = set()
        for moment in self._recording.moments:
            windows |= {view.window for view in moment.windows.get(self.key, ())}
            windows |= {effect.window for effect in moment.effects if effect.window is not None}
            windows |= {
                window for merge in moment.merges for window in (merge.into, *merge.sources)
            }
        return windows

    def all(self) -> KeyStory:
        return self._story((*self._with_quiet(), *self._ending()))

    def about(self, window: Window) -> KeyStory:
        """Only what concerns a window, and those that it grew from."""
        sentences = [sentence for _, step in self.steps() for sentence in step]
        sentences += self._ending()
        lineage = {window}
        for sentence in reversed(sentences):
            if sentence.topic == "merged" and sentence.windows[0] in lineage:
                lineage |= set(sentence.windows)
        concerned = (
            sentence
            for sentence in sentences
            if lineage & set(sentence.windows[:1])
            or (sentence.topic in ("merged", "withdrawn") and window in sentence.windows)
        )
        return self._story(tuple(concerned))

    def _story(self, sentences: tuple[Sentence, ...]) -> KeyStory:
        steps = (sentence.step for sentence in sentences)
        headings = {step: self._heading(step) for step in steps if step is not None}
        end = f"at the end, {self._clocks(self._recording.moments[-1])}"
        return KeyStory(self.key, headings, sentences, end)

    # -- headings --------------------------------------------------------------------------

    def _heading(self, step: int) -> str:
        moment = self._recording.moments[step]
        if isinstance(moment.event, Arrive):
            number = len(moment.event.elements)
            arrivals = f"{number} elements arrive" if number > 1 else "an element arrives"
            return f"step {step}: {arrivals}, {self._clocks(moment)}"
        return f"step {step}: {self._move(moment)}"

    def _clocks(self, moment: Moment) -> str:
        text = f"the watermark at {show_instant(moment.watermark)}"
        text = "before any watermark" if moment.watermark == MIN_TIMESTAMP else text
        needs_clock = self._strategy.trigger.needs_clock
        return f"{text}, the clock at {show_instant(moment.clock)}" if needs_clock else text

    def _move(self, moment: Moment) -> str:
        if isinstance(moment.event, AdvanceWatermark):
            return f"the watermark moves to {show_instant(moment.watermark)}"
        return f"the clock moves to {show_instant(moment.clock)}"

    # -- steps -----------------------------------------------------------------------------

    def _with_quiet(self) -> Iterator[Sentence]:
        """All sentences, and one for each row of steps in which nothing was due."""
        quiet: list[Moment] = []
        began = False
        for moment, sentences in self.steps():
            if sentences:
                yield from self._quiet(quiet)
                yield from sentences
                began, quiet = True, []
            elif began and not isinstance(moment.event, Arrive):
                quiet.append(moment)
        yield from self._quiet(quiet)

    def _quiet(self, moments: Sequence[Moment]) -> Iterator[Sentence]:
        if not moments:
            return
        first, last = moments[0].step, moments[-1].step
        steps = f"steps {first} {'to' if last - first > 1 else 'and'} {last}"
        steps = f"step {first}" if first == last else steps
        # Of several moves of a clock the last says all.
        moves = {type(moment.event): self._move(moment) for moment in moments}
        text = f"{steps}: {', '.join(moves.values())}; nothing is due"
        clock, views = moments[-1].clock, moments[-1].windows.get(self.key, ())
        is_target = clock in {view.next_timers.clock for view in views}
        if is_target and isinstance(moments[-1].event, AdvanceClock):
            text += f", because the clock is at {show_instant(clock)} and has to pass it"
        yield Sentence(first, "quiet", (), text)

    def steps(self) -> Iterator[tuple[Moment, list[Sentence]]]:
        """Each step with its sentences."""
        self._before, self._fresh = {}, {}
        self._showed, self._grew = set(), set()
        for moment in self._recording.moments:
            yield moment, list(self._step(moment))
            views = moment.windows.get(self.key, ())
            self._before = {view.window: view for view in views}

    def _step(self, moment: Moment) -> Iterator[Sentence]:
        drops = moment.traced(Drop)
        self._fresh = {
            window: view.waiting for window, view in self._before.items() if not view.closed
        }
        for drop in drops:
            if drop.element is not None:
                yield self._dropped(moment, drop)
        yield from self._arrivals(moment)
        withdrawn: list[Pane] = []
        panes = iter(moment.traced(Fired))
        for pane in moment.panes:
            if not self.is_grouped:
                yield self._passed(moment, pane)
            elif pane.retraction:
                withdrawn.append(pane)
            else:
                fired = next(panes)
                for old in withdrawn:
                    yield self._withdrawn(moment, fired, old)
                yield self._fired(moment, fired)
                withdrawn = []
        for silent in moment.traced(Suppressed):
            yield self._silent(moment, silent)
        for drop in drops:
            if drop.element is None:
                yield self._dropped(moment, drop)
        yield from self._forgotten(moment)

    # -- what comes ------------------------------------------------------------------------

    def _arrivals(self, moment: Moment) -> Iterator[Sentence]:
        home: dict[Window, Window] = {}
        for merge in moment.merges:
            home |= dict.fromkeys(merge.sources, merge.into)
        arrivals, _ = moment.arrivals(self._strategy.window_fn) if self.is_grouped else ([], [])
        came: dict[Window, list[Element]] = {}
        """What arrived for each window and was not dropped, as it was before any merging."""
        for arrival in arrivals:
            for window in arrival.taken:
                came.setdefault(window, []).append(arrival.element)
        views = {view.window: view for view in moment.windows.get(self.key, ())}
        fired = {
            happening.window
            for happening in moment.happenings
            if isinstance(happening, Fired | Suppressed)
        }
        nowhere = [
            arrival.element for arrival in arrivals if not arrival.windows and not arrival.drops
        ]
        if nowhere:
            yield self._homeless(moment, nowhere)
        for merge in moment.merges:
            yield self._merged(moment, merge, came)
        for window, elements in came.items():
            into = home.get(window, window)
            self._fresh[into] = self._fresh.get(into, 0) + len(elements)
            if window not in home:
                yield self._joined(moment, window, elements)
        for into in dict.fromkeys(home.get(window, window) for window in came):
            if into in views and into not in fired and not views[into].closed:
                waits = because.waits(views[into])
                text = f"Nothing comes out yet: {window_in_words(into)} {waits}."
                yield Sentence(moment.step, "waiting", (into,), text)

    def _homeless(self, moment: Moment, elements: Sequence[Element]) -> Sentence:
        """Elements that the window function gave no window. Nothing else reports them."""
        verb, whom = ("is", "it") if len(elements) == 1 else ("are", "them")
        text = (
            f"{because.elements_in_words(elements)} {verb} in no window: "
            f"{self._strategy.window_fn} has none there. As in Beam, no pane and no drop reports "
            f"{whom}."
        )
        return Sentence(moment.step, "homeless", (), text)

    def _merged(self, moment: Moment, merge: Merged, came: dict[Window, list[Element]]) -> Sentence:
        open_before = {window for window, view in self._before.items() if not view.closed}
        live = sorted((source for source in merge.sources if source in open_before), key=bounds)
        joining = [came.get(window, []) for window in merge.sources if window not in live]
        elements = list(chain.from_iterable(joining))
        text = because.merged_because(merge, live, elements, self._strategy.window_fn)
        if merge.into not in live and (self._showed | self._grew).intersection(live):
            self._grew.add(merge.into)
        self._fresh[merge.into] = sum(self._fresh.pop(source, 0) for source in merge.sources)
        return Sentence(moment.step, "merged", (merge.into, *merge.sources), text)

    def _joined(self, moment: Moment, window: Window, elements: Sequence[Element]) -> Sentence:
        who, name = because.elements_in_words(elements), window_in_words(window)
        verb_ending = "s" if len(elements) == 1 else ""
        if window in self._before:
            text = f"{who} go{'es' if verb_ending else ''} into {name}."
        else:
            near, views = "", list(self._before.values())
            if self._strategy.is_merging:
                rules = self._strategy.window_fn, moment.watermark
                near = because.alone_because(window, views, *rules)
            text = f"{who} open{verb_ending} {name}. {near}".rstrip()
        return Sentence(moment.step, "arrived", (window,), text)

    def _dropped(self, moment: Moment, drop: Drop) -> Sentence:
        windows = () if drop.window is None else (drop.window,)
        name = "".join(map(window_in_words, windows))
        subject = lost_elements(drop, _SHOWN_VALUE)
        if drop.timestamp is not None:
            subject += f" at {show_instant(drop.timestamp)}"
        if drop.error is not None:
            why = f" because {visible(' '.join(drop.error.split()))}"
        elif drop.missed_by is None:
            why = f": the trigger of its window {name} has finished"
        else:
            why = f": {self._expired(moment, drop, name)}"
        live = [window for window, view in self._before.items() if not view.closed]
        advice = self._rescue.advice(moment.step, drop, live) if self._advises else ""
        verb = "is" if drop.count == 1 else "are"
        text = f"{subject} {verb} dropped{why}. {advice}".rstrip()
        return Sentence(moment.step, "dropped", windows, text)

    def _expired(self, moment: Moment, drop: Drop, name: str) -> str:
        """How an element was late, for a window or by itself."""
        deadline = moment.watermark - (drop.missed_by or 0)
        late, until = self._strategy.allowed_lateness, show_instant(deadline + 1)
        plus = f" plus the allowed lateness of {show_duration(late)}" if late else ""
        reached = f"when the watermark reached {until}"
        if drop.window is not None and deadline == self._strategy.expiry(drop.window):
            return f"its window {name} expired {reached}{', its end' if plus else ''}{plus}"
        if self._strategy.late_check is LateCheck.MERGED:
            return f"the session that its window {name} merges into expired {reached}"
        return f'by late_check="element" its time{plus} was over {reached}'

    # -- what comes out --------------------------------------------------------------------

    def _fired(self, moment: Moment, fired: Fired) -> Sentence:
        pane, info = fired.pane, fired.pane.info
        before = self._before.get(fired.window)
        name = f"{info.timing.value} pane {info.index}"
        name = f"its last pane, {info.timing.value} {info.index}" if info.is_last else name
        text = f"{window_in_words(fired.window)} emits {name}: {shorten(pane.value, _SHOWN_VALUE)}"
        if pane.timestamp != fired.window.max_timestamp:
            text += f" stamped {show_instant(pane.timestamp)}"
        why = because.fired_because(fired.by, fired.window, moment, before, self._strategy)
        text += f", by {fired.by}: {why}."
        if not self._fresh.get(fired.window, 0):
            text += f" {because.empty_because(fired, self._strategy)}"
        if info.index == 0 and fired.window in self._grew:
            ends = because.ends_with_events(self._strategy.window_fn)
            how = "has other bounds" if ends else "has grown"
            text += f" Its panes are counted from 0 again, because the session {how}."
        text += f" {because.held_because(fired)}".rstrip()
        left = {view.window for view in moment.windows[self.key]}
        if fired.window in left and fired.by == because.EXPIRY:
            reach = because.reaching(self._strategy.window_fn, "overlap", "touch")
            text += f' It is retained, for what may still {reach} it (late_check="retain").'
        if info.is_last and fired.by != because.EXPIRY:
            text += f" {because.closed_to(self._strategy)}"
        self._grew.discard(fired.window)
        self._showed.add(fired.window)
        return Sentence(moment.step, "fired", (fired.window,), text, info.timing.value.lower())

    def _withdrawn(self, moment: Moment, fired: Fired, old: Pane) -> Sentence:
        name = f"{old.info.timing.value} pane {old.info.index}"
        of = f"{name} of {window_in_words(old.window)}, which it grew from"
        whose = f"its {name}" if old.window == fired.window else of
        value = shorten(old.value, _SHOWN_VALUE)
        text = f"{window_in_words(fired.window)} withdraws {whose}: {value}."
        return Sentence(moment.step, "withdrawn", (fired.window, old.window), text)

    def _passed(self, moment: Moment, pane: Pane) -> Sentence:
        value = f"{shorten(pane.value, _SHOWN_VALUE)} at {show_instant(pane.timestamp)}"
        text = f"{value} comes out at once, in {window_in_words(pane.window)}: nothing is grouped."
        return Sentence(moment.step, "passed", (pane.window,), text)

    def _silent(self, moment: Moment, fired: Suppressed) -> Sentence:
        why = because.silent_because(fired.by, self._fresh.get(fired.window, 0), self._strategy)
        verb = f"fires without a pane by {fired.by}"
        verb = "expires without a pane" if fired.by == because.EXPIRY else verb
        text = f"{window_in_words(fired.window)} {verb}: {why}."
        return Sentence(moment.step, "suppressed", (fired.window,), text)

    def _forgotten(self, moment: Moment) -> Iterator[Sentence]:
        if not isinstance(moment.event, AdvanceWatermark):
            return
        left = {view.window for view in moment.windows.get(self.key, ())}
        spoke = {event.window for event in moment.happenings if not isinstance(event, Merged)}
        for window, view in self._before.items():
            if window in left or window in spoke:
                continue
            why = "its trigger had finished" if view.closed else "no element can reach it any more"
            text = f"{window_in_words(window)} is forgotten: {why}."
            yield Sentence(moment.step, "forgotten", (window,), text)

    # -- how it ends -----------------------------------------------------------------------

    def _ending(self) -> Iterator[Sentence]:
        last = self._recording.moments[-1]
        for view in last.windows.get(self.key, ()):
            name = window_in_words(view.window)
            if view.closed:
                text = f"{name} is closed: its trigger has finished, and it takes nothing in."
            elif view.resting:
                reach = because.reaching(self._strategy.window_fn, "overlaps", "touches")
                text = f"{name} has expired and is retained: only an element that {reach} it "
                text += "reopens it."
            else:
                came = f"{how_many(view.waiting, 'element')} that no pane has shown"
                came = came if view.waiting else "nothing new"
                text = f"{name} is open with {came}, and {because.waits(view)}."
            yield Sentence(None, "waiting", (view.window,), text)
            if view.closed or view.resting:
                continue
            for node in spoken(view.trigger).walk():
                if node.path != view.trigger.path:
                    text = f"{node.path}, {node.name}, waits for {node.waits_for}."
                    yield Sentence(None, "waiting", (view.window,), text)
