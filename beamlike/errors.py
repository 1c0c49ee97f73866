"""Every error that beamlike raises on purpose, one class per kind of mistake.

Each message says which argument, which value, and what to do instead. Anything that
is not a `BeamlikeError` is a bug in beamlike.
"""

from typing import Final, Self, TypeVar

from beamlike.safe_text import keep_user_frames, short_problem, short_repr

__all__ = [
    "BeamlikeError",
    "CoderError",
    "ColumnError",
    "CombineError",
    "DurationWarning",
    "EnvironmentProblem",
    "InputRowError",
    "OutgrownError",
    "PipelineError",
    "PipelineTypeError",
    "RecordingError",
    "RepeatedElementsWarning",
    "SessionOverflowError",
    "StateError",
    "StreamAssertionError",
    "TestStreamError",
    "TimeError",
    "TooManyFailuresError",
    "TranscriptError",
    "TransformError",
    "TriggerError",
    "TypeCheckError",
    "UnsafeTriggerError",
    "UnsupportedError",
    "UnusedHintWarning",
    "UnwiseSessionWarning",
    "UnwiseStrategyWarning",
    "UserFunctionError",
    "UserStateError",
    "WatermarkError",
    "WindowError",
    "WindowingError",
    "WorkerMemoryError",
]


class BeamlikeError(Exception):
    """Root of all errors that beamlike raises on purpose."""


Because = TypeVar("Because", bound=BeamlikeError)


def because_of(error: Because, cause: BaseException | None) -> Because:
    """An error whose cause is what a function of the user's raised.

    Python prints the user's own frames above it, and the cause once more as the last line.
    """
    error.__cause__ = cause
    if cause is not None:
        keep_user_frames(cause)
        error.add_note(short_problem(cause))
    return error


class TimeError(BeamlikeError, ValueError):
    """A duration or an instant cannot be read, or lies outside what Beam can represent."""


class TimeTypeError(TimeError, TypeError):
    """What was given as a duration or an instant is of another type, or a text that says none."""


class WindowError(BeamlikeError, ValueError):
    """A window or a window function was given parameters that make no windows."""


class TriggerError(BeamlikeError, ValueError):
    """A trigger was given parameters that make no trigger."""


class WindowingError(BeamlikeError, ValueError):
    """The parts of a windowing strategy do not go together."""


class UnsafeTriggerError(WindowingError):
    """The trigger can finish while data may still arrive, and that data would be lost."""


class WatermarkError(BeamlikeError, ValueError):
    """A watermark or a clock would move back."""


class TestStreamError(BeamlikeError, ValueError):
    """A test stream has an event that no stream can have."""

    __test__ = False  # the name starts with Test, but it is no test for pytest to collect


class StreamAssertionError(TestStreamError, AssertionError):
    """An event of a test stream that Beam Python refuses by an assertion."""


class TranscriptError(BeamlikeError, ValueError):
    """A transcript file does not follow the format."""


class RecordingError(BeamlikeError, LookupError):
    """A recorded run lacks what is looked up in it, or does not happen again in memory."""


class ColumnError(BeamlikeError, ValueError):
    """A DataFrame lacks a column, or the column has a type that cannot be used."""


class CoderError(BeamlikeError, ValueError):
    """A value cannot be made bytes, or does not come back from them."""


class CombineError(BeamlikeError, ValueError):
    """A combine function was given a parameter, value or accumulator that it cannot use."""


class InputRowError(BeamlikeError, ValueError):
    """A row cannot be grouped, and the query is set to fail on such rows."""


class OutgrownError(InputRowError):
    """An aggregate became more than its type can hold, and `on_error="fail"` is set.

    Attributes:
        aggregate: Which one, as ``aggregate 'total'``.
        kind: Its type, as ``int64``.
        problem: What does not fit, and why.
        place: For which element or elements, and in which window.
        key: The key that they belong to, in words; see `UserFunctionError`.
    """

    def __init__(
        self, aggregate: str, kind: str, problem: str, place: str = "", key: str | None = None
    ) -> None:
        super().__init__(aggregate, kind, problem, place, key)  # as it is pickled
        self.aggregate, self.kind, self.problem = aggregate, kind, problem
        self.place, self.key = place, key

    @property
    def reason(self) -> str:
        """What happened, without where and what to do about it."""
        return f"{self.aggregate} outgrew its type {self.kind}: {self.problem}"

    def of_place(self, place: str) -> Self:
        """The same error with the place in its message, to be raised in its place."""
        return type(self)(self.aggregate, self.kind, self.problem, place, self.key)

    def of_key(self, key: object) -> Self:
        """This error with the key in its message, to be raised in its place."""
        return type(self)(self.aggregate, self.kind, self.problem, self.place, short_repr(key))

    def __str__(self) -> str:
        place = f"; it was computed for {self.place}" if self.place else ""
        key = "" if self.key is None else f", key {self.key}"
        return (
            f'{self.reason}{place}{key}; on_error="drop" leaves out the rows that it cannot hold, '
            "also in a query that restarts from its checkpoint; or cast its input column to "
            "decimal(38, 0) or double before the call, which takes a new checkpoint"
        )


class StateError(BeamlikeError, RuntimeError):
    """Saved state cannot be used: it was written by another query or layout version, or it is
    damaged."""


class UnsupportedError(BeamlikeError, NotImplementedError):
    """The request has a meaning, but this host or this version does not support it."""


class UserFunctionError(BeamlikeError, RuntimeError):
    """A function of the user's raised: a window function, or a part of a combine function.

    The exception that it raised is the ``__cause__``.

    Attributes:
        function: Which function, as ``Sum().add``.
        problem: What it raised, as ``TypeError: ...``.
        place: For which element or elements, and in which window.
        key: The key that they belong to, in words. A machine knows one key only and not its
            name; the caller that has it adds it with `of_key`.
        known_key: The key that `of_key` was called with. Where keys have other names inside, this
            finds the key; two keys may look alike in words.
    """

    known_key: object = None

    def __init__(self, function: str, problem: str, place: str, key: str | None = None) -> None:
        super().__init__(function, problem, place, key)  # as it is pickled
        self.function, self.problem, self.place, self.key = function, problem, place, key

    def of_key(self, key: object) -> Self:
        """This error with the key in its message, to be raised in its place."""
        known = type(self)(self.function, self.problem, self.place, short_repr(key))
        known.known_key = key
        return because_of(known, self.__cause__)

    def __str__(self) -> str:
        key = "" if self.key is None else f", key {self.key}"
        return (
            f"{self.function} raised {self.problem}; it was called for {self.place}{key}; mend the "
            'function, or leave out what it cannot take with on_error="drop"'
        )


class TooManyFailuresError(BeamlikeError, RuntimeError):
    """Nearly all that a function of the user's was called for has failed, and would be dropped.

    What the function raised is the ``__cause__``.

    Attributes:
        stage: The name of the grouping.
        failed: How many elements or panes have failed.
        called: Of how many.
        noun: ``elements`` or ``panes``.
        max_failures: The share that may fail.
        error: Which function raised what, in words.
    """

    def __init__(
        self, stage: str, failed: int, called: int, noun: str, max_failures: float, error: str
    ) -> None:
        super().__init__(stage, failed, called, noun, max_failures, error)  # as it is pickled
        self.stage, self.failed, self.called, self.noun = stage, failed, called, noun
        self.max_failures, self.error = max_failures, error

    def __str__(self) -> str:
        return (
            f"{self.stage!r}: {self.failed} of the last {self.called} {self.noun} of a shard have "
            f"failed, and max_failures={self.max_failures:g} is the greatest share that may; "
            f"{self.error}; mend the function and start the query again, or set max_failures=1 to "
            "drop all that fails"
        )


USERS_FAULT: Final = (OutgrownError, TooManyFailuresError, UserFunctionError)
"""Errors whose cause is a function or a value of the user's."""


class UserStateError(BeamlikeError, ValueError):
    """A function asked for a state or a timer that it does not declare, or used one as it cannot be
    used: a timer set to an instant after the end of its window, for example."""


class PipelineError(BeamlikeError, ValueError):
    """A pipeline was built or run in a way that has no meaning."""


class PipelineTypeError(PipelineError, TypeError):
    """A part of a pipeline was given something of another type."""


class MissingMethodError(PipelineError, NotImplementedError):
    """A class of the user's lacks the method that says what it does."""


class UnpicklableError(PipelineError, RuntimeError):
    """A function of a pipeline holds what cannot go to another process."""


class TypeCheckError(PipelineTypeError):
    """A transform is applied to what has no elements. Source: Beam Python ``TypeCheckError``."""


class TransformError(BeamlikeError, RuntimeError):
    """A function of the user's raised inside a pipeline. What it raised is the ``__cause__``.

    Attributes:
        label: The transform that it belongs to.
        problem: What it raised, as ``TypeError: ...``.
        place: For which element.
    """

    def __init__(self, label: str, problem: str, place: str) -> None:
        super().__init__(label, problem, place)  # as it is pickled
        self.label, self.problem, self.place = label, problem, place

    def __str__(self) -> str:
        return f"{self.label!r} raised {self.problem} for {self.place}"


class SessionOverflowError(BeamlikeError, RuntimeError):
    """A session has as many elements as it may have, and one more is a failure.

    Attributes:
        key: The key of the session.
        window: Its bounds (ms), as they would be with that element.
        limit: The most elements that it may have.
    """

    def __init__(self, key: object, window: tuple[int, int], limit: int) -> None:
        super().__init__(key, window, limit)  # as it is pickled
        self.key, self.window, self.limit = key, window, limit

    def __str__(self) -> str:
        start, end = self.window
        return (
            f"the session from {start} ms to {end} ms of key {short_repr(self.key)} has "
            f"{self.limit} element{'s' * (self.limit != 1)} already, which is max_size; make "
            'it larger, or choose what is dropped with overflow_strategy="drop_oldest" or '
            '"drop_newest"'
        )


class BufferFullError(BeamlikeError, RuntimeError):
    """More results wait than may, and that is a failure.

    Attributes:
        limit: How many may wait.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(limit)  # as it is pickled
        self.limit = limit

    def __str__(self) -> str:
        return (
            f"more than {self.limit} result{'s' * (self.limit != 1)} would wait, and max_records "
            "allows no more; make it larger, or, where results need not be final, let those that "
            "wait longest come out with emit_early_when_full()"
        )


class WorkerMemoryError(BeamlikeError, MemoryError):
    """A worker ran out of memory in the step of a shard."""


class EnvironmentProblem(BeamlikeError, RuntimeError):
    """The machine lacks what is needed to run: Java, a suitable version of Spark, or a library."""


class UnwiseStrategyWarning(UserWarning):
    """What was requested can be done, and will not do what its author expects."""


class DurationWarning(UnwiseStrategyWarning):
    """A duration was given as a number, which counts milliseconds, and is no whole number of
    seconds: ``Sessions(30)`` has a gap of 30 ms.

    >>> import warnings
    >>> warnings.filterwarnings("ignore", category=DurationWarning)  # where that is meant
    """


class RepeatedElementsWarning(UnwiseStrategyWarning):
    """A grouping of a pipeline may count elements several times, because panes that it is given
    repeat what earlier ones held."""


class UnwiseSessionWarning(UserWarning):
    """A session of Spark is set up so that a query takes much longer than it has to."""


class UnusedHintWarning(UserWarning):
    """An argument that says how Beam or Scio should compute something, and not what, has no
    effect here: the results are the same without the argument.

    >>> import warnings
    >>> warnings.filterwarnings("ignore", category=UnusedHintWarning)  # in a program of Beam's
    """
