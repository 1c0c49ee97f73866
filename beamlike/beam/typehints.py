"""Beam Python's hints about types, which change nothing here: write the types of Python."""

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["with_input_types", "with_output_types"]

T = TypeVar("T")


def with_input_types(*_types: Any, **_named: Any) -> Callable[[T], T]:
    """The function or class as it is."""
    return lambda decorated: decorated


def with_output_types(*_types: Any) -> Callable[[T], T]:
    """The function or class as it is."""
    return lambda decorated: decorated
