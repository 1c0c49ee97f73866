"""What a host calls on every node of a graph, and the node of a user's function.

A worker is given the elements of a step, then the watermark, and answers with what comes out.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from beamlike.errors import (
    BeamlikeError,
    PipelineError,
    StateError,
    TooManyFailuresError,
    TransformError,
    UserFunctionError,
    WorkerMemoryError,
    because_of,
)
from beamlike.machine.events import Drop
from beamlike.model.bundle import Bundle
from beamlike.model.copies import own_copies
from beamlike.model.graph import Do, Node, RaisedFor
from beamlike.runtime.graph.keys import UnfitKeyError
from beamlike.runtime.script import Run, ScriptStep
from beamlike.safe_text import USER_RAISED, UserRaised, problem_of, safe_repr

Tagged = Iterable[tuple[str, Bundle]]
"""Elements, by the name of the output that they come out of."""
Contents = Sequence[Sequence[Any]]
"""The items of each side input, in the order of the node's side inputs."""


class Recorded(ABC):
    """The history of a node."""

    @property
    @abstractmethod
    def run(self) -> Run:
        """Everything that happened so far, with the keys as they came."""


class Worker(ABC):
    """Does the work of one node."""

    shares_elements = False
    """Whether something else holds the elements that it is given: another node, or a record."""

    records = False
    """Whether it records what happens inside of it."""

    def __init__(self, node: Node) -> None:
        self.label, self.resolution = node.label, node.resolution
        self.watermark = self.resolution.earliest
        self._drops: list[tuple[Any, Drop]] = []

    @property
    def takes_parts(self) -> bool:
        """Whether the elements of a step may come in several bundles, and the same comes out."""
        return True

    @property
    def output_watermark(self) -> int:
        """The output watermark (ticks): only late elements come out with an earlier event time."""
        return self.watermark

    @property
    def outlasts_input(self) -> bool:
        """See `beamlike.model.stateful.StatefulFn.outlasts_input`."""
        return False

    @property
    def wakes_at(self) -> int | None:
        """The processing time (ticks) that the clock has to pass for something to happen; None if
        nothing waits for the clock."""
        return None

    @abstractmethod
    def take(self, bundles: Sequence[Bundle]) -> Tagged:
        """A bundle of elements from each source."""

    def advance_sources(self, watermarks: Sequence[int]) -> Tagged:
        """The watermarks of the sources become these (ticks), in order of the sources."""
        least = min(watermarks)
        return self.advance(least) if least > self.watermark else ()

    def advance(self, to: int) -> Tagged:
        """The input watermark becomes this (ticks)."""
        self.watermark = to
        return ()

    def advance_clock(self, to: int) -> Tagged:
        """Processing time becomes this (ticks)."""
        return ()

    def happen(self, events: Sequence[ScriptStep]) -> Tagged:
        """Events of a source."""
        raise AssertionError("only a source has events")

    def dropped(self) -> Iterable[tuple[Any, Drop]]:
        """What was dropped since the last call, by key."""
        drops, self._drops = self._drops, []
        return drops

    @contextmanager
    def errors_name_this_node(self) -> Iterator[None]:
        """What fails inside the block names this node, if it has a label: one that is run by
        itself has none, and its errors are those of the user's function.

        Raises:
            TransformError: A function of the user's raised.
            PipelineError: An element came that this node cannot take.
            StateError: What it remembers cannot be read.
        """
        if not self.label:
            yield
            return
        try:
            yield
        except UserFunctionError as error:
            cause = error.__cause__
            if isinstance(cause, TransformError | PipelineError):
                raise cause from cause.__cause__
            key = "" if error.key is None else f", key {error.key}"
            problem = f"{error.problem} in {error.function}"
            failure = TransformError(self.label, problem, f"{error.place}{key}")
            raise because_of(failure, cause) from cause
        except UnfitKeyError as error:
            raise PipelineError(f"{self.label!r}: {error}") from error
        except (TransformError, PipelineError, TooManyFailuresError, WorkerMemoryError):
            raise
        except StateError as error:
            raise StateError(f"{self.label!r}: {error}") from error
        except BeamlikeError as error:
            raise PipelineError(f"{self.label!r}: {error}") from error

    def setup(self) -> None:  # noqa: B027 (most have no use for it)
        """Before anything happens."""

    def teardown(self) -> None:  # noqa: B027 (most have no use for it)
        """After everything."""


class FunctionWorker(Worker):
    """Calls a user's function, element by element."""

    def __init__(self, node: Node, do: Do) -> None:
        super().__init__(node)
        self._do = do

    def setup(self) -> None:
        with self._errors_say("setup"):
            self._do.setup()

    def teardown(self) -> None:
        with self._errors_say("teardown"):
            self._do.teardown()

    def take(self, bundles: Sequence[Bundle]) -> Tagged:
        (bundle,) = bundles
        parts = bundle.parts()
        if self.shares_elements and self._do.changes_elements:
            parts = [part.with_values(own_copies(part.values)) for part in parts]
        return self.run(pair for part in parts for pair in self.looking(part))

    def looking(self, part: Bundle) -> Iterable[tuple[Contents, Bundle]]:
        """Elements with the side inputs that they see: none."""
        return (((), part),)

    def run(self, seen: Iterable[tuple[Contents, Bundle]]) -> Tagged:
        """What one bundle becomes, whose parts see different side inputs.

        Raises:
            TransformError: The function raised; names the method, and the element that it raised
                for.
        """
        with self._errors_say("start_bundle"):
            self._do.start_bundle()
        for contents, bundle in seen:
            with self._errors_say("its side inputs"):
                self._do.see(contents)
            try:
                yield from self._do.run(bundle)
            except RaisedFor as failure:
                element, cause = failure.element, failure.__cause__
                assert isinstance(cause, USER_RAISED), "it says what was raised"
                instant = self.resolution.show_instant(element.timestamp)
                place = f"{safe_repr(element.value)} at {instant}"
                raise _raised(self.label, cause, place) from cause
        with self._errors_say("finish_bundle"):
            for tag, output in self._do.finish_bundle():
                yield tag, Bundle.of([output])

    @contextmanager
    def _errors_say(self, place: str) -> Iterator[None]:
        try:
            yield
        except USER_RAISED as cause:
            raise _raised(self.label, cause, place) from cause


def _raised(label: str, cause: UserRaised, place: str) -> Exception:
    if isinstance(cause, TransformError | PipelineError):
        return cause
    return because_of(TransformError(label, problem_of(cause), place), cause)
