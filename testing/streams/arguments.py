"""Arguments of a test's words."""

from collections.abc import Iterable
from typing import Any

from beamlike.errors import TestStreamError


def several(elements: Iterable[Any], owner: str) -> tuple[Any, ...]:
    """The elements that a matcher is given.

    Raises:
        TestStreamError: They are none that can be listed.
    """
    if not isinstance(elements, Iterable):
        raise TestStreamError(f"{owner} needs a list of elements, got {elements!r}")
    return tuple(elements)
