"""What a function of the user's raised, as a pipeline raises it: with its own type, too.

So ``except ValueError`` around a pipeline finds the ``ValueError`` of a function, as in Beam.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from beamlike.errors import TransformError, because_of


@contextmanager
def with_own_types() -> Iterator[None]:
    """A `TransformError` that is raised in the block becomes one of its cause's type as well."""
    __tracebackhide__ = True
    try:
        yield
    except TransformError as error:
        cause = error.__cause__
        kind = None if cause is None else _of_both(type(cause))  # type: ignore[arg-type]
        if kind is None:
            raise
        raise because_of(kind(error.label, error.problem, error.place), cause) from cause


@cache
def _of_both(kind: type[BaseException]) -> type[TransformError] | None:
    if issubclass(TransformError, kind) or not issubclass(kind, Exception):
        return None
    try:
        made = type("TransformError", (TransformError, kind), {"__module__": __name__})
        made("label", "problem", "place")
    except TypeError:  # Python has no class that is both
        return None
    return made
