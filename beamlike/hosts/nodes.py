"""What each kind of node of a graph does, in memory.

A worker is given the elements of a step, then the watermark, and answers with what comes out.
"""

import reprlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import attrs

from beamlike.errors import (
    BeamlikeError,
    PipelineError,
    StateError,
    TransformError,
    UnsupportedError,
    UserFunctionError,
)
from beamlike.hosts.keys import UncertainKeyError, UnfitKeyError, key_bytes, key_of
from beamlike.hosts.memory import MemoryStage
from beamlike.hosts.script import Arrive, Machine, Run, ScriptStep
from beamlike.hosts.wire import Wire
from beamlike.machine.assigning import windows_of
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Drop, Element, Pane
from beamlike.machine.failures import OnFailure
from beamlike.machine.reference.step import Grouping
from beamlike.machine.side_input import Main, Side, SideInputs
from beamlike.machine.stateful import StatefulMap
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
from beamlike.model.time import MIN_TIMESTAMP, show_instant
from beamlike.model.windows import GLOBAL_WINDOW
from beamlike.model.words import in_words

__all__ = ["SourceWorker", "StagedWorker", "Tagged", "Worker", "worker_of"]

Tagged = Iterable[tuple[str, Windowed]]


class Worker(ABC):
    """Does the work of one node."""

    watermark = MIN_TIMESTAMP

    def __init__(self, label: str) -> None:
        self.label = label

    @property
    def output_watermark(self) -> int:
        """Only what is late comes out with an event time (ms) before it."""
        return self.watermark

    @abstractmethod
    def take(self, given: Sequence[Sequence[Windowed]]) -> Tagged:
        """A bundle of elements from each source."""

    def reached(self, watermarks: Sequence[int]) -> Tagged:
        """The sources have come so far: the watermark of each (ms), in order."""
        least = min(watermarks)
        return self.advance(least) if least > self.watermark else ()

    def advance(self, to: int) -> Tagged:
        """The input watermark becomes this (ms)."""
        self.watermark = to
        return ()

    def clock(self, to: int) -> Tagged:
        """Processing time becomes this (ms)."""
        return ()

    def happen(self, events: Sequence[ScriptStep]) -> Tagged:
        """Events of a source."""
        raise AssertionError("only a source has events")

    def dropped(self) -> Iterable[tuple[Any, Drop]]:
        """What was dropped since this was asked last, by key."""
        return ()

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """What fails inside the block names this node.

        Raises:
            TransformError: A function of the user's raised.
            PipelineError: An element came that this node cannot take.
            StateError: What it remembers cannot be read.
        """
        try:
            yield
        except UserFunctionError as error:
            cause = error.__cause__
            if isinstance(cause, TransformError | PipelineError):
                raise cause from cause.__cause__
            key = "" if error.key is None else f", key {error.key}"
            problem = f"{error.problem} in {error.function}"
            raise TransformError(self.label, problem, f"{error.place}{key}") from cause
        except UnfitKeyError as error:
            raise PipelineError(f"{self.label!r}: {error}") from error
        except (TransformError, PipelineError):
            raise
        except StateError as error:
            raise StateError(f"{self.label!r}: {error}") from error
        except BeamlikeError as error:
            raise PipelineError(f"{self.label!r}: {error}") from error

    def setup(self) -> None:  # noqa: B027 (most have no use for it)
        """Before anything happens."""

    def teardown(self) -> None:  # noqa: B027 (likewise)
        """After everything."""


class SourceWorker(Worker):
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

    def _guard(self, what: Any, name: str) -> Any:
        try:
            return what()
        except Exception as cause:
            raise _raised(self.label, cause, name) from cause


def _raised(label: str, cause: Exception, place: str) -> Exception:
    if isinstance(cause, TransformError | PipelineError):
        return cause
    return TransformError(label, f"{type(cause).__name__}: {cause}", place)


class _Assigning(Worker):
    def __init__(self, node: Assigned) -> None:
        super().__init__(node.label)
        self._node = node

    def take(self, given: Sequence[Sequence[Windowed]]) -> Tagged:
        for element in given[0]:
            plain = Element(element.value, element.timestamp)
            windows = windows_of(plain, self._node.window_fn, OnFailure.FAIL, self.watermark)
            assert not isinstance(windows, Drop), "a failure is raised"
            yield MAIN, Windowed(element.value, element.timestamp, windows, element.pane)


class _Joining(Worker):
    def take(self, given: Sequence[Sequence[Windowed]]) -> Tagged:
        for elements in given:
            for element in elements:
                yield MAIN, element


class StagedWorker(Worker):
    """A node with a machine, which remembers."""

    def __init__(self, label: str, machine: Machine) -> None:
        super().__init__(label)
        self.machine = machine
        self._stage = MemoryStage(machine)
        self._wire = Wire.declared()
        self._keys: dict[Hashable, Hashable] = {}
        self._drops: list[tuple[Any, Drop]] = []

    @property
    def output_watermark(self) -> int:
        return self._stage.output_watermark

    @property
    def run(self) -> Run:
        """Everything that happened to the machine so far, with the keys as they came."""
        run = self._stage.run
        return Run(
            tuple(
                Arrive(tuple((self._keys[key], element) for key, element in step.elements))
                if isinstance(step, Arrive)
                else step
                for step in run.script
            ),
            tuple(attrs.evolve(output, key=self._keys[output.key]) for output in run.outputs),
            tuple(attrs.evolve(told, key=self._keys[told.key]) for told in run.story),
        )

    def clock(self, to: int) -> Tagged:
        return self._play(AdvanceClock(to))

    def advance(self, to: int) -> Tagged:
        self.watermark = to
        return self._play(AdvanceWatermark(to))

    def take(self, given: Sequence[Sequence[Windowed]]) -> Tagged:
        arriving = self.arriving(given)
        return self._play(
            Arrive(tuple((self._known(key), self._through(element)) for key, element in arriving))
        )

    def _through(self, element: Element) -> Element:
        """As it would come to another process."""
        value = self._wire.through(element.value)
        return element if value is element.value else attrs.evolve(element, value=value)

    def _known(self, key: Hashable) -> Hashable:
        """What is equal for this key and no other."""
        coders = self._wire.coders
        try:
            blob = key_bytes(key, coders)
            known: Hashable = blob
            if coders and blob not in self._keys:
                key = key_of(blob, coders)
        except UncertainKeyError:
            raise
        except PipelineError:
            if not _is_compared_by_value(key):
                raise
            known = key  # in this process it is what it is; it could not go to another one
        self._keys.setdefault(known, key)
        return known

    def dropped(self) -> Iterable[tuple[Any, Drop]]:
        drops, self._drops = self._drops, []
        return drops

    def _play(self, step: ScriptStep) -> Tagged:
        found: list[tuple[str, Windowed]] = []
        try:
            outputs = self._stage.play(step)
        except UserFunctionError as error:
            # The stage knows the key by another name.
            said = {reprlib.repr(known): key for known, key in self._keys.items()}
            raise error.of_key(said[error.key or ""]) from error.__cause__
        for output in outputs:
            key = self._keys[output.key]
            if isinstance(output.effect, Drop):
                self._drops.append((key, output.effect))
            else:
                shown = self.shown(key, output.effect)
                found.append((MAIN, attrs.evolve(shown, value=self._wire.through(shown.value))))
        return found

    @abstractmethod
    def arriving(self, given: Sequence[Sequence[Windowed]]) -> Iterator[tuple[Hashable, Element]]:
        """What the machine is given of the elements, by key."""

    @abstractmethod
    def shown(self, key: Hashable, pane: Pane) -> Windowed:
        """The element that a pane of the machine becomes."""

    def comes_first(self, element: Element) -> bool:
        """Whether this comes before the others of a bundle, wherever they come from."""
        return False


def _is_compared_by_value(key: Any) -> bool:
    if isinstance(key, tuple | frozenset):
        return all(map(_is_compared_by_value, key))
    compared: object = type(key).__eq__
    return compared is not object.__eq__


def _pair(value: Any, label: str, verb: str) -> tuple[Hashable, Any]:
    if not isinstance(value, tuple) or len(value) != 2:
        raise PipelineError(
            f"{label!r} {verb} pairs of key and value, and got {value!r}; make pairs before it, "
            "for example with WithKeys(...) or Map(lambda x: (key, x))"
        )
    try:
        hash(value[0])
    except TypeError:
        raise PipelineError(
            f"{label!r} got the key {value[0]!r}, which cannot be compared by value; use a tuple "
            "instead of a list, or a frozen class"
        ) from None
    return value


class _Grouping(StagedWorker):
    def __init__(self, node: Grouped) -> None:
        super().__init__(node.label, Grouping(node.strategy, node.combine))

    def arriving(self, given: Sequence[Sequence[Windowed]]) -> Iterator[tuple[Hashable, Element]]:
        for it in given[0]:
            key, value = _pair(it.value, self.label, "groups")
            for window in it.windows:
                yield key, Element(value, it.timestamp, window)

    def shown(self, key: Hashable, pane: Pane) -> Windowed:
        return Windowed((key, pane.value), pane.timestamp, (pane.window,), pane.info)


class _Remembering(StagedWorker):
    def __init__(self, node: Remembered) -> None:
        def fn(state: Any, given: tuple[Any, Any], at: int) -> tuple[Any, list[Any]]:
            pair, info = given
            after, outputs = node.fn(state, pair, at)
            # What is not grouped keeps its pane.
            return after, [(output, info) for output in outputs]

        fn.__qualname__ = in_words(node.fn)
        windowing = node.windowing
        machine = StatefulMap(
            windowing.window_fn,
            fn,
            windowing.allowed_lateness,
            already_merged=windowing.already_merged,
        )
        super().__init__(node.label, machine)

    def arriving(self, given: Sequence[Sequence[Windowed]]) -> Iterator[tuple[Hashable, Element]]:
        for it in given[0]:
            key, _ = _pair(it.value, self.label, "remembers")
            for window in it.windows:
                yield key, Element((it.value, it.pane), it.timestamp, window)

    def shown(self, key: Hashable, pane: Pane) -> Windowed:
        value, info = pane.value
        return Windowed(value, pane.timestamp, (pane.window,), info)


class _Seeing(StagedWorker):
    def __init__(self, node: Seen) -> None:
        machine = SideInputs(
            node.main.window_fn,
            node.side.window_fn,
            node.main.allowed_lateness,
            join="view",
            side_trigger=node.side.trigger,
        )
        super().__init__(node.label, machine)
        self._side = MIN_TIMESTAMP

    def reached(self, watermarks: Sequence[int]) -> Tagged:
        to, side = watermarks
        if (to, side) == (self.watermark, self._side):
            return ()
        self.watermark, self._side = to, side
        return self._play(AdvanceWatermark(to, side))

    def arriving(self, given: Sequence[Sequence[Windowed]]) -> Iterator[tuple[Hashable, Element]]:
        main, side = given
        for it in side:
            _, items = it.value
            for window in it.windows:
                yield (), Element(Side(items), it.timestamp, window)
        for it in main:
            for window in it.windows:
                # What is not grouped keeps its pane.
                yield (), Element(Main((it.value, it.pane)), it.timestamp, window)

    def comes_first(self, element: Element) -> bool:
        # What arrives together sees what arrives with it.
        return isinstance(element.value, Side)

    def shown(self, key: Hashable, pane: Pane) -> Windowed:
        (value, info), items = pane.value
        return Windowed((value, items), pane.timestamp, (pane.window,), info)


def worker_of(node: Node) -> Worker:
    match node:
        case Given():
            return SourceWorker(node.label)
        case Each():
            return _Doing(node.label, node.do)
        case Assigned():
            return _Assigning(node)
        case Joined():
            return _Joining(node.label)
        case Grouped():
            return _Grouping(node)
        case Seen():
            return _Seeing(node)
        case Remembered():
            return _Remembering(node)
    raise UnsupportedError(f"{node.label!r} is a {type(node).__name__}, which no host knows")
