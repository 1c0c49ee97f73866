"""Elements in the form of the graph, in bundles, and in the form of Beam, as windowed values.

An edge of the graph has an `ElementForm`. Elements of windows that are objects are pairs of the
bytes of the window and the value; before a grouping, pairs have keys as `Keys` makes them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any, TypeVar

import attrs

from beamlike.model.bundle import Bundle, Retraction, Spans, Windowed
from beamlike.model.graph import MAIN, Do
from beamlike.model.panes import NO_FIRING
from beamlike.model.windows import bounds, window_of
from beamlike.runners.beam.keys import Keys
from beamlike.runners.beam.sdk import PANE_INFO_UNKNOWN, windowed_value
from beamlike.runners.beam.strategies import last_instant
from beamlike.runners.beam.windows import (
    MOST_KNOWN,
    UNIT,
    Assigning,
    KnownWindows,
    ObjectWindows,
    Span,
    Windows,
    pane_from_beam,
    pane_to_beam,
)

T = TypeVar("T")


class BundleDo(Do):
    """A function that takes whole bundles, and leaves elements as they are, as Beam has it."""

    @property
    def changes_elements(self) -> bool:
        return False


@attrs.frozen
class Repacking(BundleDo):
    """Elements with other values, which a function makes of those of a bundle."""

    repack: Callable[[Sequence[Any]], list[Any]]

    def run(self, bundle: Bundle) -> Iterable[tuple[str, Bundle]]:
        return [(MAIN, bundle.with_values(self.repack(bundle.values)))]


@attrs.frozen(slots=False)
class ElementForm:
    """How the elements of an edge are in the graph.

    Args:
        windows: How their windows travel.
        keys: How the keys of pairs are; None: elements are as Beam has them.
        retracts: Whether some may be a `Retraction`.
    """

    windows: Windows
    keys: Keys | None = None
    retracts: bool = False

    def __getstate__(self) -> dict[str, Any]:
        # Derived values stay behind.
        return {"windows": self.windows, "keys": self.keys, "retracts": self.retracts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    # -- out of the graph --------------------------------------------------------------------

    def values(self, bundle: Bundle) -> Iterator[Any]:
        """The elements of a bundle as windowed values of Beam."""
        if not isinstance(bundle.windows, Spans) and not self.windows.carries_object:
            return map(self._in_several, bundle)
        elements, spans = bundle.one_window_each()
        values, encoded = self._opened(elements.values)
        if not isinstance(self.windows, ObjectWindows):
            return self._in_bounds(values, elements, spans)
        windows = map(partial(_decoded_window, self.windows), encoded)
        panes = map(pane_to_beam, elements.panes)
        return map(windowed_value, values, elements.timestamps, windows, panes)

    def _in_bounds(self, values: Sequence[Any], elements: Bundle, spans: Spans) -> Iterator[Any]:
        known: dict[Span, KnownWindows] = {}
        times, panes = elements.timestamps, elements.panes
        is_exact = max(times, default=0) < UNIT.end_of_global_window
        pane, shown = NO_FIRING, PANE_INFO_UNKNOWN
        for value, time, start, end, of_element in zip(
            values, times, spans.starts, spans.ends, panes, strict=True
        ):
            span = start, end
            windows = known.get(span)
            if windows is None:
                windows = known[span] = KnownWindows(self.windows.window(span), span)
            if of_element is not pane:
                pane, shown = of_element, pane_to_beam(of_element)
            micros = time if is_exact else last_instant(self.windows, span, time)
            yield windowed_value(value, micros, windows, shown)

    def _opened(self, values: Sequence[Any]) -> tuple[Sequence[Any], Sequence[bytes]]:
        """Values as Beam has them, and the bytes of the windows that came in them."""
        keys, encoded = self.keys, list[bytes]()
        if keys is None and not self.windows.carries_object:
            return values, encoded
        retracted = [type(value) is Retraction for value in values] if self.retracts else []
        if any(retracted):
            pairs = zip(values, retracted, strict=True)
            values = [value.element if is_retracted else value for value, is_retracted in pairs]
        if self.windows.carries_object:
            if keys is None:
                encoded, values = [w for w, _ in values], [value for _, value in values]
            else:
                encoded = [window for (window, _), _ in values]
                values = [(key, value) for (_, key), value in values]
        values = values if keys is None else keys.grouped(values)
        if any(retracted):
            pairs = zip(values, retracted, strict=True)
            values = [Retraction(value) if is_retracted else value for value, is_retracted in pairs]
        return values, encoded

    def _in_several(self, element: Windowed) -> Any:
        """An element that may be in several windows."""
        spans = [*map(bounds, element.windows)]
        windows = [*map(self.windows.window, spans)]
        micros = max(
            (last_instant(self.windows, span, element.timestamp) for span in spans), default=0
        )
        return windowed_value(element.value, micros, windows, pane_to_beam(element.pane))

    def plain(self, bundle: Bundle) -> Sequence[Any]:
        """The values of a bundle's elements, as Beam has them."""
        if self.keys is None and not self.windows.carries_object:
            values: Sequence[Any] = bundle.values
            return values
        return [element.value for element in self.values(bundle)]

    # -- into the graph ----------------------------------------------------------------------

    def bundle(self, elements: Sequence[Any]) -> Bundle:
        """Windowed values of Beam as a bundle."""
        values = [element.value for element in elements]
        windows = [element.windows for element in elements]
        times = [element.timestamp_micros for element in elements]
        shown = _of_each(pane_from_beam, [element.pane_info for element in elements])
        in_one = all(len(of_element) == 1 for of_element in windows)
        if isinstance(self.windows, ObjectWindows) or (self.keys is not None and not in_one):
            return self._by_window(values, times, windows, shown)
        if self.keys is not None:
            values = self.keys.paired(values)
        if not in_one:
            several = [
                tuple(window_of(*self._span(window)) for window in of_one) for of_one in windows
            ]
            return Bundle(values, times, several, shown)
        spans = _of_each(self._span_of_all, windows)
        starts, ends = [start for start, _ in spans], [end for _, end in spans]
        return Bundle(values, times, Spans(starts, ends), shown)

    def _span_of_all(self, windows: Any) -> Span:
        """The bounds of the only window of an element."""
        return windows.span if type(windows) is KnownWindows else self._span(windows[0])

    def assigned(self, elements: Sequence[Any], assigning: Assigning) -> Bundle:
        """Windowed values of Beam as a bundle, in the windows that they are now put into."""
        if not all(len(element.windows) == 1 for element in elements):
            elements = [element for element in elements for _ in element.windows]
        times = [element.timestamp_micros for element in elements]
        spans = assigning.spans(times)
        if spans is None:
            return self.bundle([*map(assigning.one_by_one, elements)])
        values = [element.value for element in elements]
        if self.keys is not None:
            values = self.keys.paired(values)
        panes = _of_each(pane_from_beam, [element.pane_info for element in elements])
        return Bundle(values, times, Spans(*spans), panes)

    def _by_window(
        self, values: list[Any], times: list[int], windows: list[Any], panes: list[Any]
    ) -> Bundle:
        """Each element once for each of its windows."""
        places = [place for place, of_element in enumerate(windows) for _ in of_element]
        flat = [window for of_element in windows for window in of_element]
        exploded = [values[place] for place in places]
        encoded: list[bytes] = []
        objects = self.windows if isinstance(self.windows, ObjectWindows) else None
        if objects is not None:
            encoded = [objects.coder.encode(window) for window in flat]
            spans = objects.spans_of(encoded, flat)
        else:
            spans = [*map(self._span, flat)]
        if self.keys is not None:
            keyed = self.keys.paired(exploded)
            if objects is not None:
                keyed = [
                    ((window_bytes, key), v)
                    for window_bytes, (key, v) in zip(encoded, keyed, strict=True)
                ]
            exploded = keyed
        elif objects is not None:
            exploded = [*zip(encoded, exploded, strict=True)]
        starts, ends = [start for start, _ in spans], [end for _, end in spans]
        times = [times[place] for place in places]
        return Bundle(exploded, times, Spans(starts, ends), [panes[place] for place in places])

    @cached_property
    def _spans(self) -> dict[Any, Span]:
        return {}

    def _span(self, window: Any) -> Span:
        span = self._spans.get(window)
        if span is None:
            if len(self._spans) >= MOST_KNOWN:
                self._spans.clear()
            span = self._spans[window] = self.windows.span(window)
        return span


def _of_each(convert: Callable[[Any], T], objects: Sequence[Any]) -> list[T]:
    """What a function makes of each object: few are different ones."""
    distinct = dict(zip(map(id, objects), objects, strict=True))
    converted = {number: convert(held) for number, held in distinct.items()}
    return [*map(converted.__getitem__, map(id, objects))]


@lru_cache(maxsize=MOST_KNOWN)
def _decoded_window(objects: ObjectWindows, encoded: bytes) -> list[Any]:
    return [objects.coder.decode(encoded)]
