"""Side inputs of Beam as groupings of the graph, and which of their windows an element sees."""

from typing import Any

import attrs

from beamlike.errors import UnsupportedError
from beamlike.model.options import AccumulationMode
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.triggers import DefaultTrigger
from beamlike.model.windowfns import GlobalWindows, MappingWindowFn, WindowFn
from beamlike.model.windows import Window, bounds, window_of
from beamlike.runners.beam.sdk import Urn, maps_windows_by_default, pickler
from beamlike.runners.beam.strategies import Strategy
from beamlike.runners.beam.windows import UNIT, Windows


@attrs.frozen
class SideWindows(MappingWindowFn):
    """The windows of a side input, seen as Beam's ``window_mapping_fn`` says.

    Args:
        mapping: That function, by Beam's pickler.
        main: How the windows of the elements travel that look there.
        side: How those of the side input do.
        window_fn: The window function of the side input.
        by_default: Whether the function is Beam's own.
    """

    resolution = UNIT
    mapping: bytes
    main: Windows
    side: Windows
    window_fn: WindowFn
    by_default: bool

    def assign(self, timestamp: int, value: Any = None) -> tuple[Window, ...]:
        return self.window_fn.assign(timestamp, value)

    def side_window(self, main_window: Window) -> Window:
        mapping = pickler.loads(self.mapping)
        seen = mapping(self.main.window(bounds(main_window)))
        return window_of(*self.side.span(seen))

    @property
    def looks_back(self) -> bool:
        return not self.by_default

    def __str__(self) -> str:
        return str(self.window_fn)


def check_sides(label: str, main: Strategy, side: Strategy, data: Any) -> None:
    """Refuse a side input that cannot be looked into."""
    if data.access_pattern not in (Urn.ITERABLE, Urn.MULTIMAP):
        raise UnsupportedError(
            f"{label!r} looks into a side input by {data.access_pattern}, which BeamlikeRunner "
            "does not know; use AsSingleton, AsIter, AsList, AsDict or AsMultiMap"
        )
    if main.windows.carries_object and not maps_windows_by_default(data):
        raise UnsupportedError(
            f"{label!r} maps windows of {type(main.beam.windowfn).__name__} to those of a side "
            "input by a function of its own, which BeamlikeRunner can do for FixedWindows, "
            "SlidingWindows, Sessions and GlobalWindows; window the main input with one of these"
        )


def side_strategy(
    main: Strategy, side: Strategy, data: Any, *, all_at_once: bool
) -> WindowingStrategy:
    """How the elements of a side input are listed.

    Args:
        main: The windowing of the elements that look there.
        side: Its own.
        data: Beam's ``SideInputData``.
        all_at_once: Whether everything has arrived before anything is seen: then all panes that
            a collection has are seen together, as Beam has it for bounded data; else the latest.
    """
    rules, by_default = side.rules, maps_windows_by_default(data)
    from_global = isinstance(main.rules.window_fn, GlobalWindows)
    to_global = isinstance(rules.window_fn, GlobalWindows)
    plain = by_default and not side.windows.carries_object and (to_global or not from_global)
    window_fn: WindowFn = rules.window_fn
    if not plain:
        mapping = pickler.dumps(data.window_mapping_fn)
        window_fn = SideWindows(mapping, main.windows, side.windows, window_fn, by_default)
    if all_at_once:
        discarding = AccumulationMode.DISCARDING
        rules = rules._with(trigger=DefaultTrigger(), accumulation=discarding)
    return rules if plain else rules._with(window_fn=window_fn)
