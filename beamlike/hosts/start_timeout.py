"""What Spark says when a Python process of a query's start came too late, and what helps.

Spark gives such a process ten seconds to connect, and fails the query otherwise; nothing sets more.
The query can be started again: no micro-batch was done, and its checkpoint has what was before.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

_TOO_LATE: Final = "Timed out while waiting for the Python worker to connect back"

ADVICE: Final = (
    "a Python process of the query did not connect within the ten seconds that Spark gives it: "
    "the machine was too busy, or reads Python from a slow disk. Start the query again, which "
    "continues from its checkpoint; leave a core to the driver; see "
    '"Python worker failed to connect back" in docs/pages/operating.md'
)


def came_too_late(words: str | None) -> bool:
    """Whether that is why a query has failed, by the words of Spark's exception."""
    return words is not None and _TOO_LATE in words


@contextmanager
def advising() -> Iterator[None]:
    """Add `ADVICE` to what fails in the block for that reason."""
    try:
        yield
    except Exception as failure:
        if came_too_late(str(failure)):
            failure.add_note(ADVICE)
        raise


def all_processed(query: Any, start: Callable[[], Any]) -> Any:
    """Have a streaming query process what is there, and start it once more if that is why it fails.

    Args:
        query: As Spark has started it.
        start: Starts it again, from the same checkpoint or from the beginning.

    Returns:
        The query that has processed all.

    Raises:
        Exception: As Spark raises it; the second time with `ADVICE`.
    """
    try:
        query.processAllAvailable()
        return query
    except Exception as failure:
        if not came_too_late(str(failure)):
            raise
    again = start()
    with advising():
        again.processAllAvailable()
    return again
