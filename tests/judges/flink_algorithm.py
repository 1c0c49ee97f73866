"""What Flink's WindowOperator makes of a case, with its accidents or without them.

`beamlike.dialects.flink` plays cases by the machine. This is Flink's own algorithm in a few lines:
with its accidents it has to give out what Flink did, and without them what beamlike does.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

BEHIND: Final = "behind"
"""A continuous trigger sets a timer for a multiple that has passed, and rounds towards zero."""
ORPHANS: Final = "orphans"
"""A window that has exactly the bounds of a merged session takes its place."""

_Window = tuple[int, int]
_NEVER: Final = -(10**15)


def rows_of_operator(
    document: Mapping[str, Any], accidents: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The rows that come out of a case in event time."""
    rows: list[dict[str, Any]] = []
    operators: dict[str, _Key] = {}
    watermark = _NEVER
    for step, what in enumerate(document["steps"]):

        def emit(key: str, word: str, value: Any, window: Any, time: int, at: int = step) -> None:
            row = {"step": at, "kind": word, "key": key, "value": value, "window": window}
            rows.append({**row, "ts_ms": time})

        for element in what.get("elements", ()):
            key = element["key"]
            operator = operators.setdefault(key, _Key(document, accidents, key))
            operator.process(element, watermark, emit)
        if what.get("advance_watermark_to_ms", _NEVER) > watermark:
            watermark = what["advance_watermark_to_ms"]
            for operator in operators.values():
                operator.advance(watermark, emit)
    return rows


class _Key:
    """The operator and the trigger of one key."""

    def __init__(self, document: Mapping[str, Any], accidents: Sequence[str], key: str) -> None:
        self._key = key
        self._window = document["window"]
        trigger = document["trigger"]
        self._purges = trigger["type"] == "purging"
        self._trigger = trigger["of"] if self._purges else trigger
        self._lateness = document.get("allowed_lateness_ms", 0)
        self._late = "late" if document.get("late_output") else "dropped"
        self._behind, self._orphans = BEHIND in accidents, ORPHANS in accidents
        self._state_of: dict[_Window, _Window] = {}
        self._contents: dict[_Window, Any] = {}
        self._timers: set[tuple[int, _Window]] = set()
        self._cleanups: set[tuple[int, _Window]] = set()
        self._values: dict[_Window, int] = {}
        """Of each window the count, or the next firing, of its trigger."""

    # -- the operator --------------------------------------------------------------------------

    def process(
        self, element: Mapping[str, Any], watermark: int, emit: Callable[..., None]
    ) -> None:
        is_skipped, time = True, element["ts_ms"]
        for window in self._assigned(element):
            if self._window["type"] == "session":
                window = self._add_window(window, watermark)
            if self._cleanup_time(window) <= watermark:
                self._state_of.pop(window, None)
                continue
            is_skipped = False
            state = self._state_of.get(window, window)
            self._contents[state] = (self._contents.get(state) or 0) + element["value"]
            if self._on_element(window, time, watermark):
                self._fire(window, emit)
            self._cleanups.add((self._cleanup_time(window), window))
        if is_skipped and time + self._lateness <= watermark:
            emit(self._key, self._late, element["value"], None, time)

    def advance(self, watermark: int, emit: Callable[..., None]) -> None:
        while due := [timer for timer in self._timers | self._cleanups if timer[0] <= watermark]:
            time, window = min(due)
            self._timers.discard((time, window))
            self._cleanups.discard((time, window))
            if self._window["type"] == "session" and window not in self._state_of:
                continue
            # A timer sees the watermark of its own time.
            if self._on_timer(window, time):
                self._fire(window, emit)
            if time == self._cleanup_time(window):
                self._contents.pop(self._state_of.get(window, window), None)
                self._clear_trigger(window)
                self._state_of.pop(window, None)

    def _fire(self, window: _Window, emit: Callable[..., None]) -> None:
        state = self._state_of.get(window, window)
        if self._contents.get(state) is not None:
            emit(self._key, "value", self._contents[state], list(window), window[1] - 1)
        if self._purges:
            self._contents.pop(state, None)

    def _cleanup_time(self, window: _Window) -> int:
        return window[1] - 1 + self._lateness

    def _assigned(self, element: Mapping[str, Any]) -> Iterator[_Window]:
        time, window = element["ts_ms"], self._window
        if window["type"] == "session":
            gap = element["gap_ms"] if window["gap_ms"] is None else window["gap_ms"]
            yield time, time + gap
            return
        size = window["size_ms"]
        slide = window.get("slide_ms", size)
        start = time - time % slide
        while start > time - size:
            yield start, start + size
            start -= slide

    def _add_window(self, window: _Window, watermark: int) -> _Window:
        merged: list[list[_Window]] = []
        for one in sorted({*self._state_of, window}):
            # Flink's windows merge where they touch.
            if merged and one[0] <= max(end for _, end in merged[-1]):
                merged[-1].append(one)
            else:
                merged.append([one])
        result, took_new = window, False
        for group in merged:
            if len(group) == 1:
                continue
            span = (group[0][0], max(end for _, end in group))
            others = [one for one in group if one != window]
            if window in group and (window not in self._state_of or len(group) > 1):
                result, took_new = span, True
            self._merge(span, others if window not in self._state_of else group, watermark)
        if result not in self._state_of or (self._orphans and result == window and not took_new):
            self._state_of[result] = result
            if self._orphans:
                self._contents.setdefault(result, None)
        return result

    def _merge(self, span: _Window, group: Sequence[_Window], watermark: int) -> None:
        known = [one for one in group if one in self._state_of]
        if not known:
            return
        states = [self._state_of.pop(one) for one in known]
        target = states[0]
        self._state_of[span] = target
        if known == [span]:
            return
        sums = [self._contents.pop(state, None) for state in states]
        values = [value for value in sums if value is not None]
        self._contents[target] = sum(values) if values else None
        self._merge_trigger(span, known, watermark)
        for one in known:
            if one != span:
                self._clear_trigger(one)
                self._cleanups.discard((self._cleanup_time(one), one))

    # -- the trigger ---------------------------------------------------------------------------

    def _on_element(self, window: _Window, time: int, watermark: int) -> bool:
        last = window[1] - 1
        if self._trigger["type"] == "count":
            self._values[window] = self._values.get(window, 0) + 1
            if self._values[window] >= self._trigger["count"]:
                del self._values[window]
                return True
            return False
        if last <= watermark:
            return True
        self._timers.add((last, window))
        if self._trigger["type"] == "continuous_event_time" and window not in self._values:
            interval = self._trigger["interval_ms"]
            rest = abs(time) % interval
            start = time - (rest if time >= 0 else -rest)
            if not self._behind:
                # The first multiple that is ahead, also before 1970.
                start = max(time, watermark) // interval * interval
            self._wait_for(window, start + interval)
        return False

    def _wait_for(self, window: _Window, time: int) -> None:
        self._values[window] = min(time, window[1] - 1)
        self._timers.add((self._values[window], window))

    def _on_timer(self, window: _Window, time: int) -> bool:
        if self._trigger["type"] == "count":
            return False
        if time == window[1] - 1:
            return True
        if self._values.get(window) == time and self._trigger["type"] == "continuous_event_time":
            self._wait_for(window, time + self._trigger["interval_ms"])
            return True
        return False

    def _merge_trigger(self, span: _Window, parts: Sequence[_Window], watermark: int) -> None:
        values = [self._values.pop(part) for part in parts if part in self._values]
        if self._trigger["type"] == "count":
            if values:
                self._values[span] = sum(values)
        elif self._trigger["type"] == "event_time":
            if span[1] - 1 > watermark:
                self._timers.add((span[1] - 1, span))
        elif values:
            first = min(values)
            if not self._behind:
                interval, behind = self._trigger["interval_ms"], watermark + 1 - first
                first += max(-(-behind // interval) * interval, 0)
                first = min(first, span[1] - 1)
                if watermark >= span[1] - 1:
                    return
            self._values[span] = first
            self._timers.add((first, span))

    def _clear_trigger(self, window: _Window) -> None:
        if self._trigger["type"] == "event_time":
            self._timers.discard((window[1] - 1, window))
        elif window in self._values:
            self._timers.discard((self._values[window], window))
        self._values.pop(window, None)
