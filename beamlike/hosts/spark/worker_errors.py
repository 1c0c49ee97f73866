"""Errors of workers as text for Spark, and as exceptions again on the driver.

Spark hands on the text of an error in a Python worker, and repeats it in its log and in exceptions
of its own. So the text is short: the error, the user's own frames, and on the last line the cause,
as Python writes it. It is always UTF-8: Spark would wait for ever for any other text.
"""

import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from types import FunctionType, TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from beamlike.errors import BeamlikeError, TransformError, UserFunctionError, because_of
from beamlike.hosts.failed_starts import advice_on
from beamlike.safe_text import USER_RAISED, safe_str, safe_text, short_problem, traceback_lines

if TYPE_CHECKING:
    import pyarrow as pa

    Batches = Iterator[pa.RecordBatch]

Error = TypeVar("Error", bound=BaseException)

_LONGEST: Final = 4_000
_FEW_LINES: Final = 40

# -- in a worker -----------------------------------------------------------------------------


@contextmanager
def reporting() -> Iterator[None]:
    """Raise errors of the block in a form that Spark can hand on."""
    try:
        yield
    except (GeneratorExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise _for_spark(error) from None


def reported(function: "Callable[[Batches], Batches]") -> "Callable[[Batches], Batches]":
    """A function for ``mapInArrow`` whose failures Spark can hand on."""

    def run(batches: "Batches") -> "Batches":
        with reporting():
            yield from function(batches)

    return run


def reported_group(
    function: "Callable[[pa.Table], pa.Table]",
) -> "Callable[[pa.Table], pa.Table]":
    """A function for ``applyInArrow`` whose failures Spark can hand on."""

    def run(group: "pa.Table") -> "pa.Table":
        with reporting():
            return function(group)

    return run


def _for_spark(error: BaseException) -> BaseException:
    if isinstance(error, BeamlikeError):
        notes = cause_lines(error)
    else:
        lines = "".join(traceback.format_exception(error)).splitlines()
        if len(lines) <= _FEW_LINES and all(safe_text(line, _LONGEST) == line for line in lines):
            return error
        notes = [safe_text(line, _LONGEST) for line in lines[-_FEW_LINES:]]
    # PySpark then writes the error without a traceback. This process ends with it.
    os.environ["SPARK_HIDE_TRACEBACK"] = "1"
    error = _with_text(error, safe_text(safe_str(error), _LONGEST))
    error.__notes__ = notes
    return error


def cause_lines(error: BeamlikeError) -> list[str]:
    """The user's frames and the cause of an error; none if the user's code is not the cause."""
    cause = error.__cause__
    lines = [] if cause is None else list(traceback_lines(cause))
    if cause is None or not (lines or isinstance(error, UserFunctionError | TransformError)):
        return []
    cls = type(cause)
    module = "" if cls.__module__ in ("builtins", "__main__") else f"{cls.__module__}."
    return [*lines, module + cls.__qualname__ + short_problem(cause).removeprefix(cls.__name__)]


def _with_text(error: Error, text: str) -> Error:
    """An error of the same type with this text."""
    try:
        if str(error) == text:
            return error
    except USER_RAISED:
        pass  # it gets a text of its own
    cls = type(error)
    named = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
    saying: type[Error] = type(cls.__name__, (cls,), {**named, "__str__": lambda self: text})
    return saying.__new__(saying, text)


# -- on the driver ---------------------------------------------------------------------------

_RAISED: Final = re.compile(
    r"(?:^|(?<=: ))(beamlike[.\w]*)\.(\w+): (.*?)"
    r"(?=^ SQLSTATE|^\tat |^=== Streaming|^Driver stack|\Z)",
    re.MULTILINE | re.DOTALL,
)
_FRAME: Final = re.compile(r'^  File "(.*)", line (\d+), in (.*)$')
_FUNCTION: Final = re.compile(r"(.*?) raised (.*); it was called for (.*); mend the function", re.S)


@contextmanager
def as_raised() -> Iterator[None]:
    """Raise the error of a worker in the block, in place of the exception that Spark makes of it.

    Raises:
        BeamlikeError: The worker's error, of its class. If a user's function is the cause, that is
            an exception of the type that was raised, if the driver knows it, with the user's
            frames.
    """
    try:
        yield
    except Exception as failure:
        error = _raised(str(failure))
        if error is None:
            raise
        raise error from error.__cause__


AFTER_A_TRANSFORM_FAILED: Final = (
    "Nothing of the micro-batch is lost. Mend the function, or have it leave out what it cannot "
    "take, and run the pipeline again with this checkpoint: the micro-batch is done again. A "
    "function with states and timers may drop what it raises for: "
    'ParDo(...).with_on_error("drop").'
)


def show_reason_last() -> None:
    """Make exceptions of failed queries end with the worker's error.

    Spark writes the state and the plan of the query below the reason. The exception stays a
    ``StreamingQueryException``.
    """
    from pyspark.sql.streaming.query import StreamingQuery

    for name in ("awaitTermination", "processAllAvailable"):
        waiting = getattr(StreamingQuery, name)
        if not hasattr(waiting, "__wrapped__"):
            setattr(StreamingQuery, name, _ending_with_reason(waiting))


def _ending_with_reason(waiting: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(waiting)
    def wait(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        try:
            return waiting(*args, **kwargs)
        except Exception as failure:
            text = str(failure)
            raised = _RAISED.search(text)
            if raised is None or not hasattr(failure, "_desc"):
                advice = advice_on(text)
                if advice is not None:
                    failure.add_note(advice)
                raise
            failure._desc = text[: raised.end()].rstrip()
            if raised[2] == TransformError.__name__:
                failure.add_note(AFTER_A_TRANSFORM_FAILED)
            raise failure.with_traceback(None) from None

    return wait


def _raised(text: str) -> BeamlikeError | None:
    for module, name, block in _RAISED.findall(text):
        cls = getattr(sys.modules.get(module), name, None)
        if isinstance(cls, type) and issubclass(cls, BeamlikeError):
            return _restored(cls, block.rstrip().splitlines())
    return None


def _restored(cls: type[BeamlikeError], lines: list[str]) -> BeamlikeError:
    frames = [index for index, line in enumerate(lines) if _FRAME.match(line)]
    has_cause = bool(frames) or issubclass(cls, UserFunctionError | TransformError)
    if not has_cause or len(lines) < 2:
        return _error(cls, "\n".join(lines))
    end = frames[0] if frames else len(lines) - 1
    error = _error(cls, "\n".join(line for line in lines[:end] if line.strip()))
    return because_of(error, cause_of(lines[end:]))


def cause_of(lines: Sequence[str]) -> BaseException | None:
    """The exception that `cause_lines` wrote as these lines; None if there are none."""
    if not lines:
        return None
    cause = _cause(lines[-1])
    cause.__traceback__ = _traceback([line for line in lines if _FRAME.match(line)])
    return cause


def _error(cls: type[BeamlikeError], text: str) -> BeamlikeError:
    if issubclass(cls, TransformError):
        label, _, rest = text.partition(" raised ")
        problem, _, place = rest.rpartition(" for ")
        return cls(label.strip("'"), problem, place)
    if issubclass(cls, UserFunctionError) and (match := _FUNCTION.match(text)):
        place, comma, key = match[3].rpartition(", key ")
        return cls(match[1], match[2], place, key) if comma else cls(match[1], match[2], key)
    try:
        return _with_text(cls(text), text)
    except TypeError:  # it needs more than a text
        return _with_text(cls.__new__(cls, text), text)


def _cause(line: str) -> BaseException:
    """The exception that Python would write as this line."""
    name, _, text = line.partition(": ")
    module, _, qualified = name.rpartition(".")
    places = (module,) if module else ("builtins", "__main__")
    for place in places:
        cls = getattr(sys.modules.get(place), qualified, None)
        if isinstance(cls, type) and issubclass(cls, BaseException):
            with suppress(Exception):  # its class may want more than a text
                return _with_text(cls.__new__(cls, text), text)
    named = {"__module__": module or "__main__"}
    unknown: type[Exception] = type(qualified, (Exception,), named)
    return unknown(text)


_NOWHERE: Final = b"\xff"
"""A table of locations without any: Python then shows the given line of a frame, and underlines
nothing. Source: ``Objects/locations.md`` of CPython."""


def _fail() -> float:
    return 1 / 0


def _traceback(frames: list[str]) -> TracebackType | None:
    """A traceback through these places, the innermost last."""
    trace: TracebackType | None = None
    for line in reversed(frames):
        if (match := _FRAME.match(line)) is None:
            continue
        code = _fail.__code__.replace(
            co_filename=match[1],
            co_name=match[3],
            co_qualname=match[3],
            co_linetable=_NOWHERE * len(_fail.__code__.co_code),
        )
        try:
            FunctionType(code, {"__name__": "worker"})()
        except ZeroDivisionError as error:
            inner = error.__traceback__.tb_next if error.__traceback__ else None
            if inner is not None:
                trace = TracebackType(trace, inner.tb_frame, 0, int(match[2]))
    return trace
