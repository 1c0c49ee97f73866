"""Calls that are tried again when they raise, with longer and longer pauses.

Source: Beam Python ``apache_beam.utils.retry``.
"""

import logging
import random
import time
import traceback
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from beamlike.api.pipelines.io.errors import BeamIOError
from beamlike.errors import PipelineError

__all__ = [
    "SERVER_ERROR_OR_TIMEOUT_CODES",
    "Clock",
    "FuzzedExponentialIntervals",
    "PermanentException",
    "no_retries",
    "retry_if_valid_input_but_server_error_and_timeout_filter",
    "retry_on_beam_io_error_filter",
    "retry_on_server_errors_and_notfound_filter",
    "retry_on_server_errors_and_timeout_filter",
    "retry_on_server_errors_filter",
    "with_exponential_backoff",
]

P = ParamSpec("P")
R = TypeVar("R")

Filter = Callable[[Exception], bool]

SERVER_ERROR_OR_TIMEOUT_CODES: Final = [408, 500, 502, 503, 504, 598, 599]
_LOGGER: Final = logging.getLogger(__name__)
_MOST_RETRIES: Final = 10_000


class PermanentException(Exception):
    """An error that comes again however often a call is tried."""


class Clock:
    """Sleeps."""

    def sleep(self, value: float) -> None:
        """Wait so many seconds."""
        time.sleep(value)


class FuzzedExponentialIntervals:
    """Pauses in seconds, each longer than the one before by a factor, and partly random.

    Args:
        initial_delay_secs: The first one.
        num_retries: How many there are.
        factor: How much longer the next one is.
        fuzz: Which share of a pause is random, from 0 to 1.
        max_delay_secs: The longest.
        stop_after_secs: The most that all of them take together; None: as long as they take.

    Raises:
        PipelineError: A number is out of bounds.

    Source: Beam ``FuzzedExponentialIntervals``.
    """

    def __init__(
        self,
        initial_delay_secs: float,
        num_retries: int,
        factor: float = 2,
        fuzz: float = 0.5,
        max_delay_secs: float = 3600,
        stop_after_secs: float | None = None,
    ) -> None:
        if num_retries > _MOST_RETRIES:
            raise PipelineError(f"num_retries parameter cannot exceed 10000, got {num_retries}")
        if not 0 <= fuzz <= 1:
            raise PipelineError(f"fuzz parameter expected to be in [0, 1] range, got {fuzz}")
        self._first, self._retries, self._factor = initial_delay_secs, num_retries, factor
        self._fuzz, self._longest, self._total = fuzz, max_delay_secs, stop_after_secs

    def __iter__(self) -> Iterator[float]:
        pause, total = min(self._longest, self._first), 0.0
        for _ in range(self._retries):
            chosen = pause * (1 - self._fuzz * random.random())
            total += chosen
            if self._total is not None and total > self._total:
                return
            yield chosen
            pause = min(self._longest, pause * self._factor)


def _status(error: Exception) -> int | None:
    """The status that a server answered with, as the usual clients have it; None: none."""
    found = getattr(error, "status_code", getattr(error, "code", None))
    return found if isinstance(found, int) else None


def retry_on_server_errors_filter(exception: Exception) -> bool:
    """Whether a server failed, or no server answered and the error is not permanent."""
    status = _status(exception)
    return status >= 500 if status else not isinstance(exception, PermanentException)


def retry_on_server_errors_and_notfound_filter(exception: Exception) -> bool:
    """The same, and if something was not found."""
    return _status(exception) == 404 or retry_on_server_errors_filter(exception)


def retry_on_server_errors_and_timeout_filter(exception: Exception) -> bool:
    """The same, and if it took too long."""
    return _status(exception) == 408 or retry_on_server_errors_filter(exception)


def retry_if_valid_input_but_server_error_and_timeout_filter(exception: Exception) -> bool:
    """The same, unless a value was wrong."""
    if isinstance(exception, ValueError):
        return False
    return retry_on_server_errors_and_timeout_filter(exception)


def retry_on_beam_io_error_filter(exception: Exception) -> bool:
    """Whether a file system failed."""
    return isinstance(exception, BeamIOError)


def with_exponential_backoff(
    num_retries: int = 7,
    initial_delay_secs: float = 5.0,
    logger: Callable[..., object] = _LOGGER.warning,
    retry_filter: Filter = retry_on_server_errors_filter,
    clock: Any = None,
    fuzz: bool = True,
    factor: float = 2,
    max_delay_secs: float = 3600,
    stop_after_secs: float | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator of functions that are called again when they raise.

        @retry.with_exponential_backoff(num_retries=3)
        def fetch(address): ...

    Args:
        num_retries: How often, at most.
        initial_delay_secs: The first pause.
        logger: Is given a message and its parts before each pause.
        retry_filter: Whether an error may go away.
        clock: What sleeps; None is a `Clock`.
        fuzz: Whether pauses are partly random.
        factor: How much longer each pause is than the one before.
        max_delay_secs: The longest pause.
        stop_after_secs: The most that all pauses take together.

    Source: Beam ``with_exponential_backoff``.
    """
    sleeps = Clock() if clock is None else clock
    intervals = FuzzedExponentialIntervals(
        initial_delay_secs,
        num_retries,
        factor,
        0.5 if fuzz else 0,
        max_delay_secs,
        stop_after_secs,
    )

    def decorated(fn: Callable[P, R]) -> Callable[P, R]:
        @wraps(fn)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            pauses = iter(intervals)
            while True:
                try:
                    return fn(*args, **kwargs)
                except Exception as error:
                    pause = next(pauses, None) if retry_filter(error) else None
                    if pause is None:
                        raise
                    logger(
                        "Retry with exponential backoff: waiting for %s seconds before "
                        "calling %s again, which raised: %sTraceback:\n%s",
                        pause,
                        getattr(fn, "__name__", str(fn)),
                        "".join(traceback.format_exception_only(error)),
                        "".join(traceback.format_tb(error.__traceback__)),
                    )
                sleeps.sleep(pause)

        return call

    return decorated


def no_retries(fn: Callable[P, R]) -> Callable[P, R]:
    """A decorator of functions that are called once. Source: Beam ``no_retries``."""
    return with_exponential_backoff(retry_filter=lambda _: False)(fn)
