"""Calls that are tried again, with Beam's decorator."""

from typing import Any

import pytest

from beamlike.beam.io.filesystem import BeamIOError
from beamlike.beam.utils import retry
from beamlike.errors import PipelineError


class Slept:
    """A clock that does not wait."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def sleep(self, value: float) -> None:
        self.pauses.append(value)


class Flaky:
    """Raises so often, and then answers."""

    def __init__(self, failures: int, error: Exception) -> None:
        self.left, self.error = failures, error

    def __call__(self, answer: int) -> int:
        if self.left:
            self.left -= 1
            raise self.error
        return answer


class StatusError(Exception):
    def __init__(self, status_code: int) -> None:
        self.status_code = status_code


def backoff(clock: Slept, **how: Any) -> Any:
    how = {"num_retries": 3, "initial_delay_secs": 1, "fuzz": False, "clock": clock, **how}
    return retry.with_exponential_backoff(logger=lambda *_: None, **how)


def test_pauses_become_longer_until_a_call_succeeds() -> None:
    clock = Slept()
    assert backoff(clock)(Flaky(3, OSError()))(7) == 7
    assert clock.pauses == [1, 2, 4]


def test_the_last_error_is_raised() -> None:
    clock = Slept()
    with pytest.raises(OSError, match="no"):
        backoff(clock)(Flaky(4, OSError("no")))(7)
    assert clock.pauses == [1, 2, 4]


def test_pauses_have_a_longest_and_a_sum() -> None:
    assert [*retry.FuzzedExponentialIntervals(1, 4, fuzz=0, max_delay_secs=3)] == [1, 2, 3, 3]
    assert [*retry.FuzzedExponentialIntervals(1, 4, fuzz=0, stop_after_secs=3)] == [1, 2]
    assert all(0.5 <= it <= 1 for it in retry.FuzzedExponentialIntervals(1, 9, factor=1))
    with pytest.raises(PipelineError, match="cannot exceed 10000"):
        retry.FuzzedExponentialIntervals(1, 10_001)
    with pytest.raises(ValueError, match="fuzz parameter"):
        retry.FuzzedExponentialIntervals(1, 1, fuzz=2)


def test_a_permanent_error_is_not_tried_again() -> None:
    clock = Slept()
    with pytest.raises(retry.PermanentException):
        backoff(clock)(Flaky(1, retry.PermanentException()))(7)
    with pytest.raises(OSError, match="once"):
        retry.no_retries(Flaky(1, OSError("once")))(7)
    assert clock.pauses == []


@pytest.mark.parametrize(
    ("filter_", "error", "again"),
    [
        (retry.retry_on_server_errors_filter, StatusError(503), True),
        (retry.retry_on_server_errors_filter, StatusError(404), False),
        (retry.retry_on_server_errors_and_notfound_filter, StatusError(404), True),
        (retry.retry_on_server_errors_and_timeout_filter, StatusError(408), True),
        (
            retry.retry_if_valid_input_but_server_error_and_timeout_filter,
            ValueError("wrong"),
            False,
        ),
        (retry.retry_on_beam_io_error_filter, BeamIOError("no file"), True),
        (retry.retry_on_beam_io_error_filter, OSError(), False),
    ],
)
def test_which_errors_may_go_away(filter_: Any, error: Exception, again: bool) -> None:
    assert filter_(error) is again
