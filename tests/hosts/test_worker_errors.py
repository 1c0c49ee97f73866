"""Errors of workers, as the text that Spark hands on, and as exceptions again."""

import os
import traceback
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from beamlike import errors
from beamlike.hosts.spark.worker_errors import as_raised, reporting


@pytest.fixture(autouse=True)
def environment() -> Iterator[None]:
    yield
    os.environ.pop("SPARK_HIDE_TRACEBACK", None)


class OddError(Exception):
    """An exception of a user's, which wants more than a text."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(code, text)
        self.code, self.text = code, text

    def __str__(self) -> str:
        return f"{self.code}, {self.text}"


def inner(error: BaseException) -> None:
    raise error


def outer(error: BaseException) -> BaseException:
    try:
        inner(error)
    except BaseException as raised:
        return raised
    raise AssertionError


def sent(error: BaseException, before: str = "\n") -> str:
    """What PySpark's worker writes of an error, in UTF-8, and Spark puts around it."""
    with pytest.raises(BaseException) as raised, reporting():  # noqa: PT011
        raise error
    lines = traceback.format_exception_only(raised.value)
    if "SPARK_HIDE_TRACEBACK" not in os.environ:
        lines = traceback.format_exception(raised.value)
    written = "".join(lines).encode("utf-8").decode("utf-8")
    return (
        "[STREAM_FAILED] Query [id = 7] terminated with exception: Job aborted: "
        f"[PYTHON_EXCEPTION] An exception was thrown from the Python worker: {before}{written}"
        " SQLSTATE: 38000\n\tat org.apache.spark.Thing\n=== Streaming Query ===\nIdentifier: 7"
    )


def restored(error: BaseException) -> BaseException:
    text = sent(error)
    with pytest.raises(BaseException) as raised, as_raised():  # noqa: PT011
        raise RuntimeError(text)
    return raised.value


def user_error(cause: BaseException, key: str | None = "'a'") -> errors.UserFunctionError:
    error = errors.UserFunctionError(
        "Sum().add", f"{type(cause).__name__}: {cause}", "3 elements together", key
    )
    return errors.because_of(error, outer(cause))


@pytest.mark.parametrize(
    "raised", [partial(ValueError, "x"), partial(OddError, 3, "no"), partial(SystemExit, "bye")]
)
@pytest.mark.parametrize("key", ["'a'", None, "('a', 1)"])
def test_an_error_of_a_function_comes_back_with_its_type_its_words_and_its_frames(
    raised: Callable[[], BaseException], key: str | None
) -> None:
    cause = raised()
    error = user_error(cause, key)
    back = restored(error)
    assert isinstance(back, errors.UserFunctionError)
    assert str(back) == str(error)
    assert (back.function, back.problem, back.place, back.key) == (
        error.function,
        error.problem,
        error.place,
        error.key,
    )
    assert isinstance(back.__cause__, type(cause))
    assert str(back.__cause__) == str(cause)
    frames = traceback.extract_tb(back.__cause__.__traceback__)
    assert [(frame.filename, frame.name, frame.line) for frame in frames] == [
        (__file__, "outer", "inner(error)"),
        (__file__, "inner", "raise error"),
    ]
    assert "".join(traceback.format_exception(back)).splitlines()[-1] == (
        f"{type(cause).__name__}: {cause}"
    )


def test_the_text_is_the_error_the_users_frames_and_the_cause() -> None:
    lines = sent(user_error(OddError(3, "no"))).splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("beamlike.errors."))
    assert [line for line in lines[at:] if not line.startswith("  File")] == [
        "beamlike.errors.UserFunctionError: Sum().add raised OddError: 3, no; it was called for 3 "
        "elements together, key 'a'; mend the function, or leave out what it cannot take with "
        'on_error="drop"',
        "    inner(error)",
        "    raise error",
        f"{__name__}.OddError: 3, no",
        " SQLSTATE: 38000",
        "\tat org.apache.spark.Thing",
        "=== Streaming Query ===",
        "Identifier: 7",
    ]


def test_it_may_begin_in_the_middle_of_a_line() -> None:
    # Batch jobs have it on a line of its own, streaming queries do not.
    text = sent(user_error(ValueError("x")), before="")
    with pytest.raises(errors.UserFunctionError) as raised, as_raised():
        raise RuntimeError(text)
    assert isinstance(raised.value.__cause__, ValueError)


@pytest.mark.parametrize(
    "error",
    [
        errors.InputRowError("3 row(s) cannot be grouped"),
        errors.StateError("the state\nis of another query"),
        errors.TransformError("Map(f)", "ValueError: x", "'1' at 12:00"),
    ],
)
def test_errors_without_a_cause_come_back_as_they_were(error: errors.BeamlikeError) -> None:
    back = restored(error)
    assert (type(back), str(back)) == (type(error), str(error))


def test_one_that_needs_more_than_a_text_comes_back_with_its_words() -> None:
    error = errors.because_of(
        errors.TooManyFailuresError("sums", 20, 20, "elements", 0.9, "f raised KeyError: 1"),
        outer(KeyError(1)),
    )
    back = restored(error)
    assert isinstance(back, errors.TooManyFailuresError)
    assert str(back) == str(error)
    assert isinstance(back.__cause__, KeyError)


@pytest.mark.parametrize("label", ["not ascii: \ud83d", "a\0b", "a" * 10**6])
def test_no_text_makes_spark_wait(label: str) -> None:
    text = sent(errors.TransformError(label, "ValueError: x", "'1'"))
    assert len(text) < 6_000
    assert "\0" not in text
    assert isinstance(
        restored(errors.TransformError(label, "ValueError: x", "'1'")), errors.TransformError
    )


def test_what_is_no_error_of_beamlike_keeps_its_traceback_and_its_type() -> None:
    text = sent(ZeroDivisionError("a\ud83d"))
    assert "ZeroDivisionError: a\\ud83d" in text
    assert "in sent\n" in text
    with pytest.raises(RuntimeError), as_raised():
        raise RuntimeError(text)


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), GeneratorExit()])
def test_what_stops_a_worker_passes_as_it_is(stop: BaseException) -> None:
    with pytest.raises(type(stop)) as raised, reporting():
        raise stop
    assert raised.value is stop
