"""What each kind of node of a graph does.

Those that keep state are `beamlike.runtime.graph.staged`; the others are here.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from beamlike.errors import PipelineError, TransformError, UnsupportedError
from beamlike.machine.assigning import assigned
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.machine.failures import Failure
from beamlike.model.bundle import Bundle, Spans, WindowsOfEach
from beamlike.model.copies import own_copies
from beamlike.model.graph import (
    MAIN,
    Do,
    FlattenNode,
    GroupNode,
    Node,
    ParDoNode,
    RaisedFor,
    ReadNode,
    SideInputNode,
    StatefulParDoNode,
    WindowNode,
)
from beamlike.model.panes import NO_FIRING
from beamlike.model.sessions import Sessions
from beamlike.model.time import END_OF_GLOBAL_WINDOW, show_instant
from beamlike.model.windowfns import FixedWindows, GlobalWindows, WindowFn
from beamlike.model.windows import GLOBAL_WINDOW, Window
from beamlike.runtime.graph.staged import GroupingWorker, SideInputWorker, StatefulParDoWorker
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.graph.worker import Tagged, Worker
from beamlike.runtime.script import Arrive, ScriptStep

Answer = TypeVar("Answer")


def spans_at(window_fn: WindowFn, timestamps: Sequence[int]) -> Spans | None:
    """The windows of elements at these event times (ms), as `WindowFn.assign` has them.

    None if elements may be in several windows, if the window function looks at their values or is
    a user's own, and near the end of time, where windows are cut short: then `assign` is called.
    """
    kind = type(window_fn)  # and no subclass, which may assign as it likes
    if kind is GlobalWindows:
        return Spans.all_in(GLOBAL_WINDOW, len(timestamps))
    if kind is FixedWindows:
        assert isinstance(window_fn, FixedWindows)
        size, offset = window_fn.size, window_fn.offset
        starts = [at - (at - offset) % size for at in timestamps]
    elif kind is Sessions:
        assert isinstance(window_fn, Sessions)
        if not isinstance(window_fn.gap, int) or window_fn.ends_with is not None:
            return None
        size, starts = window_fn.gap, list(timestamps)
    else:
        return None
    if max(timestamps, default=0) > END_OF_GLOBAL_WINDOW - size:
        return None
    return Spans(starts, [start + size for start in starts])


class _Source(Worker):
    """Plays what happens to a source."""

    def __init__(self, label: str) -> None:
        super().__init__(label)
        self._wire = Wire.declared()

    def take(self, given: Sequence[Bundle]) -> Tagged:
        raise AssertionError("a source reads nothing")

    def happen(self, events: Sequence[ScriptStep]) -> Tagged:
        for event in events:
            if isinstance(event, AdvanceWatermark):
                self.watermark = event.to
            elif isinstance(event, Arrive):
                elements = [element for _, element in event.elements]
                windows = Spans.of(it.window or GLOBAL_WINDOW for it in elements)
                values = self._wire.all_through([element.value for element in elements])
                times = [element.timestamp for element in elements]
                yield MAIN, Bundle(values, times, windows, [NO_FIRING] * len(elements))


class _Doing(Worker):
    """Calls functions of the user's, element by element."""

    def __init__(self, label: str, do: Do) -> None:
        super().__init__(label)
        self._do = do

    @property
    def paces(self) -> bool:
        return self._do.paces

    def setup(self) -> None:
        self._guard(self._do.setup, "setup")

    def teardown(self) -> None:
        self._guard(self._do.teardown, "teardown")

    def take(self, given: Sequence[Bundle]) -> Tagged:
        (bundle,) = given
        if self.shares_elements:
            bundle = bundle.with_values(own_copies(bundle.values))
        self._guard(self._do.start_bundle, "start_bundle")
        try:
            yield from self._do.run(bundle)
        except RaisedFor as failure:
            element, cause = failure.element, failure.__cause__
            assert isinstance(cause, Exception), "it says what was raised"
            place = f"{self._do.describe(element)} at {show_instant(element.timestamp)}"
            raise _raised(self.label, cause, place) from cause
        try:
            for tag, output in self._do.finish_bundle():
                yield tag, Bundle.of([output])
        except Exception as cause:
            raise _raised(self.label, cause, "finish_bundle") from cause

    def _guard(self, what: Callable[[], Answer], name: str) -> Answer:
        try:
            return what()
        except Exception as cause:
            raise _raised(self.label, cause, name) from cause


def _raised(label: str, cause: Exception, place: str) -> Exception:
    if isinstance(cause, TransformError | PipelineError):
        return cause
    return TransformError(label, f"{type(cause).__name__}: {cause}", place)


class _Assigning(Worker):
    """Puts elements into windows."""

    def __init__(self, node: WindowNode) -> None:
        super().__init__(node.label)
        self._node = node

    def take(self, given: Sequence[Bundle]) -> Tagged:
        bundle, _ = given[0].one_window_each()
        windows: WindowsOfEach | None = spans_at(self._node.window_fn, bundle.timestamps)
        if windows is None:
            windows = [*map(self._windows, bundle.values, bundle.timestamps)]
        yield MAIN, bundle.with_windows(windows)

    def _windows(self, value: Any, timestamp: int) -> tuple[Window, ...]:
        window_fn = self._node.window_fn
        try:
            return assigned(window_fn, timestamp, value)
        except Exception as cause:
            failure = Failure.of(window_fn, "assign", cause, (Element(value, timestamp),))
            raise failure.error from cause


class _Joining(Worker):
    """Makes one collection of several."""

    def take(self, given: Sequence[Bundle]) -> Tagged:
        for bundle in given:
            yield MAIN, bundle


def worker_of(node: Node) -> Worker:
    """What does the work of a node, before anything has happened.

    Raises:
        UnsupportedError: A node of a kind that is not in `beamlike.model.graph`.
    """
    match node:
        case ReadNode():
            return _Source(node.label)
        case ParDoNode():
            return _Doing(node.label, node.do)
        case WindowNode():
            return _Assigning(node)
        case FlattenNode():
            return _Joining(node.label)
        case GroupNode():
            return GroupingWorker(node)
        case SideInputNode():
            return SideInputWorker(node)
        case StatefulParDoNode():
            return StatefulParDoWorker(node)
    raise UnsupportedError(f"{node.label!r} is a {type(node).__name__}, which no host knows")
