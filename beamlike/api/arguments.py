"""Checks of what users pass, and warnings that point at the line of their program."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Final

from beamlike.errors import (
    BeamlikeError,
    ColumnError,
    DurationWarning,
    StateError,
    UnusedHintWarning,
    WindowingError,
)
from beamlike.model.aggregates import Aggregate
from beamlike.model.options import MAX_FAILURES, whole_number
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import DurationLike, duration_ms, show_duration, without_unit
from beamlike.model.triggers import Trigger
from beamlike.model.warn import warn_user
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.options import OnError
from beamlike.safe_text import short_repr

A_KEY: Final = 'the names of its columns, such as key=["user"], or key=[] for a single group'
"""What to write where a key is missing."""

A_TIMESTAMP: Final = 'the column with the event time, such as timestamp="at"'
"""What to write where the event time is missing."""

AN_AGGREGATE: Final = 'what is to be in a pane, such as aggregate={"n": bl.count()}'
"""What to write where aggregates are missing."""


def aggregates(aggregate: object) -> Mapping[str, Aggregate]:
    """What is aggregated under which name, once everything is of the right kind."""
    example = 'such as {"n": bl.count()}'
    if not isinstance(aggregate, Mapping):
        raise ColumnError(f"aggregate must map names to aggregates, {example}, got {aggregate!r}")
    if not aggregate:
        raise ColumnError(f"aggregate must name at least one aggregate, {example}")
    for name in aggregate:
        if not isinstance(name, str) or not name:
            raise ColumnError(f"aggregate: a column's name must be a text, got {name!r}")
    return aggregate


def column_names(columns: object, argument: str) -> list[str]:
    """The names of columns, given as a list or one alone."""
    names = [columns] if isinstance(columns, str) else columns
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise ColumnError(f"{argument} must be a column's name or a list of names, got {columns!r}")
    return list(names)


def check_choice(argument: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a word that is none of the choices."""
    if value not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        raise WindowingError(f"{argument} must be one of {known}, got {value!r}")


def counted(argument: str, number: object) -> int:
    """A number of 1 or more."""
    return whole_number(number, 1, argument, WindowingError)


def check_name(name: object) -> None:
    """Refuse what cannot be the name of a grouping."""
    if not isinstance(name, str) or not name:
        raise WindowingError(f'name must be a text such as "sales per hour", got {name!r}')


def check_watermark(present: bool, wanted: object) -> None:
    """Refuse a stream without a watermark, or with two.

    Args:
        wanted: The one that is asked for; None if none is.
    """
    if not present and wanted is None:
        raise WindowingError(
            "watermark is missing, and without one no window of a stream ever ends; add "
            'watermark="10 minutes", or as long as rows may be out of order. If df.withWatermark '
            "was called before, keep its column until here"
        )
    if present and wanted is not None:
        raise WindowingError(
            f"df has a watermark already, and watermark={wanted!r} would be a second one; leave "
            "one of the two out"
        )


def positive_duration(argument: str, value: DurationLike) -> int:
    """A duration in milliseconds that is more than 0."""
    duration = duration_ms(value, argument)
    if duration == 0:
        raise WindowingError(f'{argument} must be more than 0 ms; give one such as "5 seconds"')
    return duration


def check_idle(
    advances: bool, silence: int | None, error: type[BeamlikeError] = WindowingError
) -> None:
    """Refuse ``idle="advance"`` of a source that never counts as idle.

    Args:
        silence: What is asked for as ``idle_after``, in any unit.
    """
    if advances and silence is None:
        raise error(
            'idle="advance" says what happens after idle_after, which is missing; add '
            'idle_after="5 minutes", or as long as no row may mean nothing'
        )


def check_jump(
    jump: int | None,
    delay: int | None,
    error: type[BeamlikeError] = WindowingError,
) -> None:
    """Refuse a ``max_jump`` that would hold what is in time.

    Args:
        jump: What is asked for as ``max_jump`` (ms).
        delay: As ``watermark`` (ms).
    """
    if jump is None:
        return
    if jump <= 0 or jump < (delay or 0):
        raise error(
            f"max_jump is {show_duration(jump)}, and rows in time lie up to the delay of the "
            f"watermark apart, {show_duration(delay or 0)}; give it the longest gap in the data, "
            'such as max_jump="1 day"'
        )


def jump_ms(max_jump: DurationLike | None, delay: int | None) -> int | None:
    """A ``max_jump`` (ms), once it is checked; see `check_jump`."""
    jump = None if max_jump is None else duration_ms(max_jump, "max_jump")
    check_jump(jump, delay)
    return jump


def folder(argument: str, path: str | PathLike[str]) -> str:
    """The folder of a query's checkpoint."""
    if not isinstance(path, str | PathLike):
        raise StateError(f"{argument} must be the folder of a query's checkpoint, got {path!r}")
    return fspath(path)


def checked_share(max_failures: object, on_error: OnError, lifts: bool = False) -> float:
    """The share of calls that may fail; the default if none is given."""
    if max_failures is None:
        return MAX_FAILURES
    if on_error == "fail":
        raise WindowingError(
            f'max_failures={max_failures!r} says how much may be dropped, and with on_error="fail" '
            "nothing is; leave one of the two out"
        )
    if lifts:
        raise WindowingError(
            f"max_failures={max_failures!r} counts what shards are given row by row, and lift and "
            "hot_key_fanout combine rows before; leave one or the other out"
        )
    is_number = isinstance(max_failures, int | float) and not isinstance(max_failures, bool)
    if not is_number or not 0 <= max_failures <= 1:  # type: ignore[operator]
        raise WindowingError(
            f"max_failures must be a share from 0 to 1, such as 0.5, got {max_failures!r}"
        )
    return float(max_failures)  # type: ignore[arg-type]


def warn_of_hint(owner: str, argument: str, value: object, why: str) -> None:
    """Warn that an argument of Beam or Scio has no effect here."""
    hint = f"{argument}={short_repr(value)}"
    warn_user(f"{owner}: {hint} has no effect: {why}; leave it out", UnusedHintWarning)


def warn_of_numbers(
    owner: str,
    window: WindowFn | None = None,
    trigger: Trigger | None = None,
    strategy: WindowingStrategy | None = None,
    **durations: object,
) -> None:
    """Warn of durations that were given as numbers and may not be meant in milliseconds."""
    numbers = dict(without_unit(**durations))
    if strategy is not None:
        numbers |= strategy.without_unit
        window, trigger = strategy.window_fn, strategy.trigger
    parts: list[WindowFn | Trigger] = [
        *([] if window is None else [window]),
        *([] if trigger is None else trigger.walk()),
    ]
    for part in parts:
        numbers |= {
            f"{type(part).__name__} {name}": duration
            for name, duration in part.without_unit.items()
        }
    for argument, number in numbers.items():
        warn_user(
            f"{owner}: {argument}={number} is {number} milliseconds; write "
            f'"{number} seconds" or "{number} minutes" if that is meant, and "{number} ms" if not',
            DurationWarning,
        )
