"""Users' functions over elements, as a host calls them."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

from beamlike.errors import PipelineError, TransformError, because_of
from beamlike.model.bundle import Bundle
from beamlike.model.copies import own_copies
from beamlike.model.graph import Do, RaisedFor
from beamlike.model.time import show_instant
from beamlike.runtime.graph.worker import Tagged, Worker
from beamlike.safe_text import USER_RAISED, UserRaised, problem_of

Contents = Sequence[Sequence[Any]]
"""The items of each side input, in the order of the node's side inputs."""

Answer = TypeVar("Answer")


class FunctionWorker(Worker):
    """Calls a user's function, element by element."""

    def __init__(self, label: str, do: Do) -> None:
        super().__init__(label)
        self._do = do

    def setup(self) -> None:
        self._guard(self._do.setup, "setup")

    def teardown(self) -> None:
        self._guard(self._do.teardown, "teardown")

    def take(self, bundles: Sequence[Bundle]) -> Tagged:
        (bundle,) = bundles
        parts = bundle.parts()
        if self.shares_elements and self._do.changes_elements:
            parts = [part.with_values(own_copies(part.values)) for part in parts]
        return self.run(((), part) for part in parts)

    def run(self, seen: Iterable[tuple[Contents, Bundle]]) -> Tagged:
        """What one bundle becomes, whose parts see different side inputs.

        Raises:
            TransformError: The function raised; names the method, and the element that it raised
                for.
        """
        self._guard(self._do.start_bundle, "start_bundle")
        for contents, bundle in seen:
            self._guard(partial(self._do.see, contents), "its side inputs")
            try:
                yield from self._do.run(bundle)
            except RaisedFor as failure:
                element, cause = failure.element, failure.__cause__
                assert isinstance(cause, USER_RAISED), "it says what was raised"
                place = f"{self._do.describe(element)} at {show_instant(element.timestamp)}"
                raise _raised(self.label, cause, place) from cause
        try:
            for tag, output in self._do.finish_bundle():
                yield tag, Bundle.of([output])
        except USER_RAISED as cause:
            raise _raised(self.label, cause, "finish_bundle") from cause

    def _guard(self, method: Callable[[], Answer], name: str) -> Answer:
        try:
            return method()
        except USER_RAISED as cause:
            raise _raised(self.label, cause, name) from cause


def _raised(label: str, cause: UserRaised, place: str) -> Exception:
    if isinstance(cause, TransformError | PipelineError):
        return cause
    return because_of(TransformError(label, problem_of(cause), place), cause)
