"""Assertions about a pipeline: recorded while it is built, checked when it has run.

All that do not hold are reported together, each with the line of the test that makes it. What
checks nothing is reported as well: an `expect` without a matcher, and assertions of a pipeline
that never ran.
"""

import inspect
import linecache
import textwrap
import warnings
from collections.abc import Callable, Iterable
from itertools import count
from typing import Final

import attrs

from beamlike.errors import PipelineError
from beamlike.model.graph import Edge
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.testing.assertions.failures import AssertedGrouping, PaneAssertionError, asserted_in

Ask = Callable[[PipelineRun], str | None]
"""What is wrong with a run, None if nothing is."""


class NothingRanWarning(UserWarning):
    """A test asserted something about a pipeline, or described a job, that never ran."""


@attrs.frozen
class TestLine:
    """A line of a test, and its code."""

    file: str
    line: int
    code: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def calling_place() -> TestLine:
    """The line that called beamlike."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("beamlike."):
        frame = frame.f_back
    if frame is None:  # pragma: no cover (there is a caller)
        return TestLine("?", 0, "")
    first, last, *_ = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    if first is None or last is None:
        first = last = frame.f_lineno
    path = frame.f_code.co_filename
    code = "".join(linecache.getline(path, line) for line in range(first, last + 1))
    return TestLine(
        path.replace("\\", "/").rpartition("/")[2], first, textwrap.dedent(code).rstrip()
    )


def takes(function: object, count: int) -> bool:
    """Whether a function can be called with so many arguments; yes if it does not say."""
    try:
        inspect.signature(function).bind(*range(count))  # type: ignore[arg-type]
    except TypeError:  # also of what cannot be called at all
        return False
    except ValueError:  # some functions in C have no signature
        return True
    return True


_creations: Final = count()


def creation_number() -> int:
    """A number that grows, for what a test makes."""
    return next(_creations)


@attrs.frozen
class PendingAssertion:
    """A description of what has not run yet, and when it was made."""

    text: str
    created_at: int


pending_assertions: Final[dict[int, PendingAssertion]] = {}
"""What was asserted or described and has not run yet, by an identity."""

collected_unrun: Final[list[str]] = []
"""Descriptions of what never ran and never will."""


def report_unrun(identity: int) -> None:
    """Report what was deleted and never ran."""
    waiting = pending_assertions.pop(identity, None)
    if waiting is not None:
        collected_unrun.append(waiting.text)
        warnings.warn(waiting.text, NothingRanWarning, stacklevel=3)


@attrs.define
class Check:
    """Something asserted on a line of a test; ``ask`` is None until it says what must hold."""

    place: TestLine
    ask: Ask | None = None
    todo: str = ""
    about: Edge | None = None

    def problem_of(self, run: PipelineRun) -> str | None:
        """What is wrong with a run, None if nothing is."""
        if self.ask is None:
            return f"this checks nothing; {self.todo}"
        try:
            return self.ask(run)
        except AssertionError as failed:
            return f"AssertionError: {failed}" if str(failed) else "AssertionError"
        except Exception as error:
            error.add_note(f"checked at {self.place}: {self.place.code}")
            raise


def opened(checks: list[Check], check: Check) -> Callable[[Ask], None]:
    """Add a check; what is to hold is given later, on the line that then counts as its own."""
    checks.append(check)

    def assert_with(ask: Ask) -> None:
        if check.ask is None:
            check.place, check.ask = calling_place(), ask
        else:  # one expect(...) may be used twice
            checks.append(Check(calling_place(), ask, about=check.about))

    return assert_with


@attrs.frozen
class _Error:
    """An error that a run has to end with."""

    place: TestLine
    error_class: type[Exception]
    text: str

    def problem_of(self, error: Exception | None) -> str | None:
        """What is wrong with an error, or with there being none; None if nothing is."""
        wanted = self.error_class.__name__
        if error is None:
            return f"the pipeline ran to its end, and should have raised {wanted}"
        if isinstance(error, self.error_class) and self.text in str(error):
            return None
        with_text = f" with {self.text!r} in it" if self.text else ""
        return f"the pipeline raised {type(error).__name__}: {error}\n\nand not {wanted}{with_text}"


class HasRunError(PipelineError, RuntimeError):
    """Something is asserted about a pipeline that has run."""


class Checks:
    """The assertions about one pipeline."""

    def __init__(self, todo: str) -> None:
        self._checks: list[Check] = []
        self._todo, self._created_at = todo, creation_number()
        self._is_over = False
        self._error: _Error | None = None

    def open(
        self, todo: str = "add .to(...) or .not_to(...) with a matcher", about: Edge | None = None
    ) -> Callable[[Ask], None]:
        """Another assertion, on the calling line; what to check is given later."""
        assert_with = opened(self._checks, Check(self._place(), todo=todo, about=about))
        self._wait()
        return assert_with

    def _place(self) -> TestLine:
        place = calling_place()
        if self._is_over:
            raise HasRunError(
                f"{place} asserts something about a pipeline that has run already; write all "
                "assertions before it runs, inside the block"
            )
        return place

    def expect_error(self, error_class: type[Exception], text: str) -> None:
        """Assert that the run ends with an error that contains this text."""
        place = self._place()
        if self._error is not None:
            raise PipelineError(
                f"{place} expects an error of a pipeline that {self._error.place} expects one of; "
                "a run ends with one"
            )
        self._error = _Error(place, error_class, text)
        self._wait()

    @property
    def wants_error(self) -> bool:
        """Whether the run has to end with an error."""
        return self._error is not None

    def evaluate_error(self, error: Exception) -> None:
        """Check that this is the error that the run has to end with, and that nothing else was
        asserted, which can no longer be checked.
        """
        __tracebackhide__ = True
        self.give_up()
        if self._error is None:
            raise error
        text = self._error.problem_of(error)
        failures = [] if text is None else [_numbered(1, self._error.place, text)]
        for check in self._checks:
            text = "a pipeline that ends with an error has nothing to check; use another for this"
            failures.append(_numbered(len(failures) + 1, check.place, text))
        if failures:
            raise _all_of(failures, len(self._checks) + 1) from error

    def add(self, checks: Iterable[Check]) -> None:
        """More assertions, made elsewhere."""
        self._checks += checks

    def __len__(self) -> int:
        return len(self._checks)

    def evaluate(self, run: PipelineRun) -> None:
        """Check everything. What does not hold, or checks nothing, is raised together."""
        __tracebackhide__ = True
        self.give_up()
        failures: list[str] = []
        if self._error is not None:
            failures.append(_numbered(1, self._error.place, str(self._error.problem_of(None))))
        groupings: dict[str, AssertedGrouping] = {}
        for check in self._checks:
            text = check.problem_of(run)
            if text is not None:
                failures.append(_numbered(len(failures) + 1, check.place, text))
                asserted = None if check.about is None else asserted_in(run, check.about)
                if asserted is not None:
                    groupings[asserted.label] = asserted
        if failures:
            raise _all_of(failures, len(self._checks) + self.wants_error, groupings.values())

    def give_up(self) -> None:
        """Nothing is checked any more: the pipeline ran, or something else went wrong before."""
        self._is_over = True
        pending_assertions.pop(id(self), None)

    def _wait(self) -> None:
        places = [check.place for check in self._checks]
        places += [] if self._error is None else [self._error.place]
        lines = ", ".join(map(str, places))
        text = f"nothing was checked: the pipeline of {lines} never ran; {self._todo}"
        pending_assertions[id(self)] = PendingAssertion(text, self._created_at)

    def __del__(self) -> None:
        report_unrun(id(self))


def _numbered(number: int, place: TestLine, text: str) -> str:
    lines = textwrap.indent(f"{place.code}\n\n{text}", "    ").splitlines()
    return "\n".join([f"{number}) {place}", *(line.rstrip() for line in lines)])


def _all_of(
    failures: list[str], number: int, groupings: Iterable[AssertedGrouping] = ()
) -> PaneAssertionError:
    subject = f"{len(failures)} of {number} assertions do"
    heading = f"{'the assertion does' if number == 1 else subject} not hold:"
    drawn = [asserted.timeline for asserted in groupings]
    return PaneAssertionError("\n\n".join([heading, *failures, *drawn]), groupings)
