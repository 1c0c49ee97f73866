"""Warnings that name the line of the user, however deep in this package they come up."""

import inspect
import warnings


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn where the first caller stands that is not a part of this package."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("beamlike."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, level + 1)
