"""Which test stream ran in the example of hypothesis that an exception comes from.

hypothesis reports several failures of one test as a group, when all examples have run. What each
of them is about must be kept while its example runs.
"""

import inspect
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

from beamlike.testing.assertions.groupings import Asserted, listening

__hypothesistracebackhide__ = True  # of this module's frames hypothesis shows none

_MOST: Final = 100
"""The examples that hypothesis reports are the last ones that it runs, one for each failure."""


class Examples:
    """The last examples of a test, each with what it raised and the last stream that it ran."""

    def __init__(self) -> None:
        self._last: deque[tuple[BaseException | None, Sequence[Asserted]]] = deque(maxlen=_MOST)

    def ran(self, error: BaseException) -> Sequence[Asserted] | None:
        """What ran in the example that raised this very exception; None if it is not known."""
        return next((ran for raised, ran in self._last if raised is error), None)

    def watched(self, test: Callable[..., Any]) -> Callable[..., Any]:
        """The same test; its examples are recorded."""

        @wraps(test)
        def example(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            with listening() as ran, _Raised() as raised:
                raised.on_exit = lambda error: self._last.append((error, tuple(ran)))
                return test(*args, **kwargs)

        return example


class _Raised:
    """Reports what its block raised, None if nothing.

    Whatever happens, the same lines run: hypothesis reports lines that only ran in failing
    examples.
    """

    def __init__(self) -> None:
        self.on_exit: Callable[[BaseException | None], None] = lambda error: None

    def __enter__(self) -> "_Raised":
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.on_exit(error)


@contextmanager
def examples_of(test: object) -> Iterator[Examples]:
    """Record the examples of a test while it runs. One without hypothesis has none.

    Args:
        test: The function or method that pytest calls.
    """
    examples, handle = Examples(), getattr(test, "hypothesis", None)
    inner = getattr(handle, "inner_test", None)
    if handle is None or not callable(inner) or inspect.iscoroutinefunction(inner):
        yield examples
        return
    # The place where hypothesis lets other plugins wrap the test.
    handle.inner_test = examples.watched(inner)
    try:
        yield examples
    finally:
        handle.inner_test = inner
