"""Beam Python's hints about types: write the types of Python."""

from collections.abc import Callable
from typing import Any, TypeVar

from beamlike.api.pipelines.types import with_output_types

__all__ = ["with_input_types", "with_output_types"]

T = TypeVar("T")


def with_input_types(*_types: Any, **_named: Any) -> Callable[[T], T]:
    """The function or class as it is."""
    return lambda decorated: decorated
