"""What a worker raised, of which Spark only hands on the words."""

import builtins
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from beamlike.errors import PipelineError, TransformError

_RAISED: Final = re.compile(r"^(beamlike[.\w]*)\.(\w+): (.*)$", re.MULTILINE)


@contextmanager
def as_raised() -> Iterator[None]:
    """Raise what a worker raised in the block, in place of what Spark makes of it.

    Raises:
        TransformError: A function of the user's raised. Its cause is of the type of what was
            raised, if that is one of Python's own.
        PipelineError: Of the class that was raised.
    """
    try:
        yield
    except Exception as failure:
        error = _raised(str(failure))
        if error is None:
            raise
        raise error from (error.__cause__ or failure)


def _raised(words: str) -> PipelineError | TransformError | None:
    errors = [_error(*found) for found in _RAISED.findall(words)]
    known = [error for error in errors if error is not None]
    # A failure of a transform says more than what it was raised for.
    known.sort(key=lambda error: not isinstance(error, TransformError))
    return known[0] if known else None


def _error(module: str, name: str, text: str) -> PipelineError | TransformError | None:
    kind = getattr(sys.modules.get(module), name, None)
    if not isinstance(kind, type):
        return None
    if issubclass(kind, TransformError):
        return _transform_error(text)
    return kind(text) if issubclass(kind, PipelineError) else None


def _transform_error(text: str) -> TransformError:
    label, _, rest = text.partition(" raised ")
    problem, _, place = rest.rpartition(" for ")
    error = TransformError(label.strip("'"), problem, place)
    name, _, said = problem.partition(": ")
    cause = getattr(builtins, name, None)
    if isinstance(cause, type) and issubclass(cause, Exception):
        try:
            error.__cause__ = cause(said)
        except TypeError:  # it needs more than a text
            return error
    return error
