"""What decorators have noted on methods of functions with states and timers."""

from typing import Any, Final

ON_EXPIRATION: Final = "_on_window_expiration"
SORTED: Final = "_requires_time_sorted_input"

OF_BUNDLES: Final = ("start_bundle", "finish_bundle")
"""The methods of a ``DoFn`` that begin and end a bundle."""


def is_sorted(fn: Any) -> bool:
    """Whether ``process`` of a function needs its elements in order of event time."""
    return asks_for_order(getattr(fn, "process", None))


def asks_for_order(method: object) -> bool:
    """Whether a method is under ``requires_time_sorted_input``."""
    return bool(getattr(method, SORTED, False))


def calls_at_expiration(method: object) -> bool:
    """Whether a method is under ``on_window_expiration``."""
    return bool(getattr(method, ON_EXPIRATION, False))
