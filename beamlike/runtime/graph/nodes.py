"""What each kind of node of a graph does.

Those that keep state are `beamlike.runtime.graph.stateful`; the others are here.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from beamlike.errors import UnsupportedError
from beamlike.machine.assigning import assigned
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.machine.failures import FunctionFailure
from beamlike.model.bundle import Bundle, Spans, WindowsOfEach
from beamlike.model.column_bundle import ColumnBundle
from beamlike.model.graph import (
    MAIN,
    FlattenNode,
    GroupNode,
    KnownSideInputNode,
    Node,
    ParDoNode,
    ReadNode,
    SideInputNode,
    StatefulParDoNode,
    WindowNode,
)
from beamlike.model.panes import NO_FIRING
from beamlike.model.sessions import Sessions
from beamlike.model.windowfns import FixedWindows, GlobalWindows, WindowFn
from beamlike.model.windows import GLOBAL_WINDOWS, Window
from beamlike.runtime.graph.known_sides import KnownSideInputWorker
from beamlike.runtime.graph.machine_node import MachineNode, MachineWorker
from beamlike.runtime.graph.side_inputs import SideInputWorker
from beamlike.runtime.graph.source_steps import in_parts
from beamlike.runtime.graph.stateful import GroupingWorker, StatefulParDoWorker
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.graph.worker import FunctionWorker, Tagged, Worker
from beamlike.runtime.script import Arrive, ScriptStep
from beamlike.safe_text import USER_RAISED


def spans_at(window_fn: WindowFn, timestamps: Sequence[int]) -> Spans | None:
    """The windows of elements at these event times (ticks), as `WindowFn.assign` has them.

    None if elements may be in several windows, if the window function looks at their values or is
    a user's own, and near the end of time, where windows are cut short: then `assign` is called.
    """
    if type(window_fn) is GlobalWindows:
        return Spans.all_in(GLOBAL_WINDOWS[window_fn.resolution], len(timestamps))
    grid = _grid(window_fn, max(timestamps, default=0))
    if grid is None:
        return None
    size, period, offset = grid
    starts = [timestamp - (timestamp - offset) % period for timestamp in timestamps]
    return Spans(starts, [start + size for start in starts])


def window_columns(window_fn: WindowFn, times: Any) -> Window | tuple[Any, Any] | None:
    """What `spans_at` says of event times in an array, as `ColumnBundle` has windows."""
    if type(window_fn) is GlobalWindows:
        return GLOBAL_WINDOWS[window_fn.resolution]
    grid = _grid(window_fn, int(times.max(initial=0)))
    if grid is None:
        return None
    size, period, offset = grid
    starts = times - (times - offset) % period
    return starts, starts + size


def _grid(window_fn: WindowFn, latest: int) -> tuple[int, int, int] | None:
    """The size of windows, and where they begin: how far from one another, and from the epoch.

    None if that depends on more than event times up to the latest.
    """
    cls = type(window_fn)  # and no subclass, which may assign as it likes
    if cls is FixedWindows:
        assert isinstance(window_fn, FixedWindows)
        size, period, offset = window_fn.size, window_fn.size, window_fn.offset
    elif cls is Sessions:
        assert isinstance(window_fn, Sessions)
        if not isinstance(window_fn.gap, int) or window_fn.ends_with is not None:
            return None
        size, period, offset = window_fn.gap, 1, 0
    else:
        return None
    return (
        None
        if latest > window_fn.resolution.end_of_global_window - size
        else (size, period, offset)
    )


class _Source(Worker):
    """Plays what happens to a source."""

    def __init__(self, node: ReadNode) -> None:
        super().__init__(node)
        self._wire, self._window = Wire.declared(), GLOBAL_WINDOWS[node.resolution]

    def take(self, bundles: Sequence[Bundle]) -> Tagged:
        raise AssertionError("a source reads nothing")

    def happen(self, events: Sequence[ScriptStep]) -> Tagged:
        for event in events:
            if isinstance(event, AdvanceWatermark):
                self.watermark = event.to
            elif isinstance(event, Arrive):
                for part in in_parts(event.elements):
                    elements = [element for _, element in part]
                    windows = Spans.of(element.window or self._window for element in elements)
                    values = self._wire.round_trip_all([element.value for element in elements])
                    times = [element.timestamp for element in elements]
                    yield MAIN, Bundle(values, times, windows, [NO_FIRING] * len(elements))


class _WindowAssigner(Worker):
    """Puts elements into windows."""

    def __init__(self, node: WindowNode) -> None:
        super().__init__(node)
        self._node = node

    def take(self, bundles: Sequence[Bundle]) -> Tagged:
        return ((MAIN, self._assigned(part)) for part in bundles[0].parts())

    def _assigned(self, part: Bundle) -> Bundle:
        if isinstance(part, ColumnBundle):
            window = window_columns(self._node.window_fn, part.times)
            if window is not None:
                return part.in_windows(window)
        bundle, _ = part.one_window_each()
        windows: WindowsOfEach | None = spans_at(self._node.window_fn, bundle.timestamps)
        if windows is None:
            windows = [*map(self._windows, bundle.values, bundle.timestamps)]
        return bundle.with_windows(windows)

    def _windows(self, value: Any, timestamp: int) -> tuple[Window, ...]:
        window_fn = self._node.window_fn
        try:
            return assigned(window_fn, timestamp, value)
        except USER_RAISED as cause:
            failure = FunctionFailure.of(window_fn, "assign", cause, (Element(value, timestamp),))
            raise failure.error_in(window_fn.resolution) from cause


class _Joining(Worker):
    """Makes one collection of several."""

    def take(self, bundles: Sequence[Bundle]) -> Tagged:
        for bundle in bundles:
            yield MAIN, bundle


def worker_of(node: Node) -> Worker:
    """What does the work of a node, before anything has happened.

    Raises:
        UnsupportedError: A node of a kind that is not in `beamlike.model.graph`.
    """
    if type(node) not in _WORKERS:
        raise UnsupportedError(f"{node.label!r} is a {type(node).__name__}, which no host knows")
    return _WORKERS[type(node)](node)


_WORKERS: Final[Mapping[type[Node], Callable[[Any], Worker]]] = {
    ReadNode: _Source,
    ParDoNode: lambda node: FunctionWorker(node, node.do),
    WindowNode: _WindowAssigner,
    FlattenNode: _Joining,
    GroupNode: GroupingWorker,
    SideInputNode: SideInputWorker,
    KnownSideInputNode: KnownSideInputWorker,
    StatefulParDoNode: StatefulParDoWorker,
    MachineNode: MachineWorker,
}
