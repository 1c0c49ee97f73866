"""What functions of a pipeline read from a file, wherever they run.

Source: Scio ``DistCache``.
"""

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar
from uuid import uuid4

T = TypeVar("T")

_HELD: Final[dict[str, Any]] = {}
"""What this process has made already, by the cache."""


class DistCache(Generic[T]):
    """Something that is made where functions of the pipeline first ask for it: ``cache()``.

    It is made once in each process, however often it is asked for.

    Args:
        make: Makes it. It has to come to Spark's workers, as functions of the pipeline do.

    Source: Scio ``DistCache``.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make, self._key = make, uuid4().hex

    def __call__(self) -> T:
        """What was made."""
        if self._key not in _HELD:
            _HELD[self._key] = self._make()
        held: T = _HELD[self._key]
        return held
