"""Warnings that point at the line of the user's program that brought them about."""

import inspect
import warnings

from beamlike.errors import DurationWarning
from beamlike.model.time import without_unit
from beamlike.model.windowfns import WindowFn

__all__ = ["warn_of_numbers", "warn_user"]


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn where the first caller stands that is no part of this package."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("beamlike."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, level + 1)


def warn_of_numbers(owner: str, window: WindowFn | None = None, **durations: object) -> None:
    """Warn of durations that were given as numbers and may not be meant in milliseconds.

    Args:
        owner: What was given them; it opens the message.
        window: A window function with durations of its own.
        durations: Other durations, by argument.
    """
    if window is not None:
        inside = window.without_unit.items()
        durations |= {f"{type(window).__name__} {name}": it for name, it in inside}
    for argument, number in without_unit(**durations).items():
        warn_user(
            f"{owner}: {argument}={number} is {number} milliseconds; write "
            f'"{number} seconds" or "{number} minutes" if that is meant, and "{number} ms" if not',
            DurationWarning,
        )
