"""Assertions about a pipeline: written down while it is built, asked when it has run.

All that do not hold are reported together, each with the line of the test that makes it. What
can say nothing is reported as well: an `expect` without a matcher, and assertions of a pipeline
that never ran.
"""

import inspect
import linecache
import textwrap
import warnings
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Final

import attrs

from beamlike.errors import PipelineError
from beamlike.hosts.pipeline import PipelineRun
from beamlike.testing.failures import PaneAssertionError

__all__ = ["Checks", "NothingRanWarning", "Place", "here", "lose", "lost", "unfinished"]

Ask = Callable[[PipelineRun], str | None]
"""What is wrong with a run, None if nothing is."""


class NothingRanWarning(UserWarning):
    """A test asserted something about a pipeline, or described a job, that never ran."""


@attrs.frozen
class Place:
    """A line of a test, and what it says."""

    file: str
    line: int
    code: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def here() -> Place:
    """The line that called beamlike."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("beamlike."):
        frame = frame.f_back
    if frame is None:  # pragma: no cover (somebody has called)
        return Place("?", 0, "")
    first, last = _lines_of(frame)
    path = frame.f_code.co_filename
    code = "".join(linecache.getline(path, line) for line in range(first, last + 1))
    return Place(path.replace("\\", "/").rpartition("/")[2], first, textwrap.dedent(code).rstrip())


def _lines_of(frame: FrameType) -> tuple[int, int]:
    """First and last line of the call that a frame is at."""
    code: CodeType = frame.f_code
    positions = list(code.co_positions())
    first, last, *_ = positions[frame.f_lasti // 2]
    if first is None or last is None:
        return frame.f_lineno, frame.f_lineno
    return first, last


unfinished: Final[dict[int, str]] = {}
"""What was asserted or described and has not run yet, by an identity, in words."""

lost: Final[list[str]] = []
"""What never ran and never will, in words."""


def lose(identity: int) -> None:
    """Say of what is gone if it never ran."""
    words = unfinished.pop(identity, None)
    if words is not None:
        lost.append(words)
        warnings.warn(words, NothingRanWarning, stacklevel=3)


@attrs.define
class _Check:
    place: Place
    ask: Ask | None = None


class Checks:
    """The assertions about one pipeline.

    Args:
        todo: What makes the pipeline run, for messages.
    """

    def __init__(self, todo: str) -> None:
        self._checks: list[_Check] = []
        self._todo = todo
        self._is_over = False

    def open(self) -> Callable[[Ask], None]:
        """Another assertion, on the calling line; what to ask is told later.

        Raises:
            PipelineError: The pipeline has run.
        """
        place = here()
        if self._is_over:
            raise PipelineError(
                f"{place} asserts something about a pipeline that has run already; write all "
                "assertions before it runs, inside the block"
            )
        check = _Check(place)
        self._checks.append(check)
        unfinished[id(self)] = self._unheard()

        def told(ask: Ask) -> None:
            if check.ask is None:
                check.place, check.ask = here(), ask
            else:  # one expect(...) may be asked twice
                self._checks.append(_Check(here(), ask))

        return told

    def add(self, place: Place, ask: Ask) -> None:
        """Another assertion, made on this line."""
        self._checks.append(_Check(place, ask))

    def __len__(self) -> int:
        return len(self._checks)

    def evaluate(self, run: PipelineRun) -> None:
        """Ask everything.

        Raises:
            PaneAssertionError: Something does not hold, or asks nothing.
        """
        __tracebackhide__ = True
        self.give_up()
        failures: list[str] = []
        for check in self._checks:
            text = _problem(check, run)
            if text is not None:
                shown = textwrap.indent(f"{check.place.code}\n\n{text}", "    ")
                failures.append(f"{len(failures) + 1}) {check.place}\n{_bare(shown)}")
        if failures:
            number = len(self._checks)
            some = f"{len(failures)} of {number} assertions do"
            heading = f"{'the assertion does' if number == 1 else some} not hold:"
            raise PaneAssertionError("\n\n".join([heading, *failures]))

    def give_up(self) -> None:
        """Nothing is asked any more: the pipeline ran, or something else went wrong before."""
        self._is_over = True
        unfinished.pop(id(self), None)

    def _unheard(self) -> str:
        lines = ", ".join(str(check.place) for check in self._checks)
        return f"nothing was checked: the pipeline of {lines} never ran; {self._todo}"

    def __del__(self) -> None:
        lose(id(self))


def _problem(check: _Check, run: PipelineRun) -> str | None:
    if check.ask is None:
        return "this asks nothing; add .to(...) or .not_to(...) with a matcher"
    try:
        return check.ask(run)
    except AssertionError as failed:
        return f"AssertionError: {failed}" if str(failed) else "AssertionError"
    except Exception as error:
        error.add_note(f"asked at {check.place}: {check.place.code}")
        raise


def _bare(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines())
