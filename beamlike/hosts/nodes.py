"""What each kind of node of a graph does.

Those that remember are `beamlike.hosts.staged`; the others are here.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from beamlike.errors import PipelineError, TransformError, UnsupportedError
from beamlike.hosts.script import Arrive, ScriptStep
from beamlike.hosts.staged import GroupingWorker, RememberingWorker, SeeingWorker
from beamlike.hosts.wire import Wire
from beamlike.hosts.worker import Tagged, Worker
from beamlike.machine.assigning import windows_of
from beamlike.machine.events import AdvanceWatermark, Drop, Element
from beamlike.machine.failures import OnFailure
from beamlike.model.graph import (
    MAIN,
    Assigned,
    Do,
    Each,
    Given,
    Grouped,
    Joined,
    Node,
    Remembered,
    Seen,
    Windowed,
)
from beamlike.model.time import show_instant
from beamlike.model.windows import GLOBAL_WINDOW

__all__ = ["worker_of"]

Answer = TypeVar("Answer")


class _Source(Worker):
    """Plays what happens to a source."""

    def __init__(self, label: str) -> None:
        super().__init__(label)
        self._wire = Wire.declared()

    def take(self, given: Sequence[Sequence[Windowed]]) -> Tagged:
        raise AssertionError("a source reads nothing")

    def happen(self, events: Sequence[ScriptStep]) -> Tagged:
        for event in events:
            if isinstance(event, AdvanceWatermark):
                self.watermark = event.to
            elif isinstance(event, Arrive):
                for _, element in event.elements:
                    window = GLOBAL_WINDOW if element.window is None else element.window
                    value = self._wire.through(element.value)
                    yield MAIN, Windowed(value, element.timestamp, (window,))


class _Doing(Worker):
    """Calls functions of the user's, element by element."""

    def __init__(self, label: str, do: Do) -> None:
        super().__init__(label)
        self._do = do

    def setup(self) -> None:
        self._guard(self._do.setup, "setup")

    def teardown(self) -> None:
        self._guard(self._do.teardown, "teardown")

    def take(self, given: Sequence[Sequence[Windowed]]) -> Tagged:
        (elements,) = given
        self._guard(self._do.start_bundle, "start_bundle")
        found: list[tuple[str, Windowed]] = []
        for element in elements:
            try:
                found += self._do.process(element)
            except Exception as cause:
                place = f"{self._do.in_words(element)} at {show_instant(element.timestamp)}"
                raise _raised(self.label, cause, place) from cause
        found += self._guard(lambda: list(self._do.finish_bundle()), "finish_bundle")
        return found

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

    def __init__(self, node: Assigned) -> None:
        super().__init__(node.label)
        self._node = node

    def take(self, given: Sequence[Sequence[Windowed]]) -> Tagged:
        # An element of several windows is one element in each, and one of none is no more.
        for element in (one for one in given[0] for _ in one.windows):
            plain = Element(element.value, element.timestamp)
            windows = windows_of(plain, self._node.window_fn, OnFailure.FAIL, self.watermark)
            assert not isinstance(windows, Drop), "a failure is raised"
            yield MAIN, Windowed(element.value, element.timestamp, windows, element.pane)


class _Joining(Worker):
    """Makes one collection of several."""

    def take(self, given: Sequence[Sequence[Windowed]]) -> Tagged:
        for elements in given:
            for element in elements:
                yield MAIN, element


def worker_of(node: Node) -> Worker:
    """What does the work of a node, before anything has happened.

    Raises:
        UnsupportedError: A node of a kind that is not in `beamlike.model.graph`.
    """
    match node:
        case Given():
            return _Source(node.label)
        case Each():
            return _Doing(node.label, node.do)
        case Assigned():
            return _Assigning(node)
        case Joined():
            return _Joining(node.label)
        case Grouped():
            return GroupingWorker(node)
        case Seen():
            return SeeingWorker(node)
        case Remembered():
            return RememberingWorker(node)
    raise UnsupportedError(f"{node.label!r} is a {type(node).__name__}, which no host knows")
