"""What users' functions raise, as `run` raises it."""

from collections.abc import Iterator
from contextlib import contextmanager

from beamlike.errors import TransformError


@contextmanager
def raising_causes() -> Iterator[None]:
    """Raise what a user's function raised itself: Beam has said in which transform."""
    try:
        yield
    except TransformError as error:
        if error.__cause__ is None:
            raise
        raise error.__cause__ from error.__cause__.__cause__
