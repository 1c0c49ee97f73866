"""Warnings that point at the line of the user's program that brought them about."""

import inspect
import warnings

from beamlike.errors import DurationWarning, UnusedHintWarning
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import without_unit
from beamlike.model.triggers import Trigger
from beamlike.model.windowfns import WindowFn
from beamlike.safe_text import short_repr


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn where the first caller stands that is no part of this package."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("beamlike."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, level + 1)


def warn_of_hint(owner: str, argument: str, value: object, why: str) -> None:
    """Warn that an argument of Beam or Scio has no effect here.

    Args:
        owner: Whose argument it is; it opens the message.
        argument: Its name.
        value: What the caller wrote.
        why: What is done instead.
    """
    hint = f"{argument}={short_repr(value)}"
    warn_user(f"{owner}: {hint} has no effect: {why}; leave it out", UnusedHintWarning)


def warn_of_numbers(
    owner: str,
    window: WindowFn | None = None,
    trigger: Trigger | None = None,
    strategy: WindowingStrategy | None = None,
    **durations: object,
) -> None:
    """Warn of durations that were given as numbers and may not be meant in milliseconds.

    Args:
        owner: What was given them; it opens the message.
        window: A window function with durations of its own.
        trigger: A trigger, some of whose parts may have durations of their own.
        strategy: A strategy with both, and with a lateness.
        durations: Other durations, by argument.
    """
    found = dict(without_unit(**durations))
    if strategy is not None:
        found |= strategy.without_unit
        window, trigger = strategy.window_fn, strategy.trigger
    parts: list[WindowFn | Trigger] = [
        *([] if window is None else [window]),
        *([] if trigger is None else trigger.walk()),
    ]
    for part in parts:
        found |= {f"{type(part).__name__} {name}": it for name, it in part.without_unit.items()}
    for argument, number in found.items():
        warn_user(
            f"{owner}: {argument}={number} is {number} milliseconds; write "
            f'"{number} seconds" or "{number} minutes" if that is meant, and "{number} ms" if not',
            DurationWarning,
        )
