"""Checks of what users pass to a dialect: things of the right kind, functions, keys."""

from typing import Any

from beamlike.errors import BeamlikeError, CombineError, WindowingError
from beamlike.model.combine import CombineFn


def check_kind(argument: str, given: object, kind: type | tuple[type, ...], example: str) -> None:
    """Refuse what is of none of these kinds.

    Raises:
        WindowingError: It is of another one. The message shows the example.
    """
    if not isinstance(given, kind):
        raise WindowingError(f"{argument} must be such as {example}, got {given!r}")


def check_key(key: object) -> None:
    """Refuse a key that cannot be hashed.

    Raises:
        WindowingError: It cannot.
    """
    try:
        hash(key)
    except TypeError as cause:
        raise WindowingError(
            f"a key must be a value that can be hashed, got {key!r}; let it be a text, a number, "
            "or a tuple of such"
        ) from cause


def check_function(
    argument: str, given: Any, takes: str, error: type[BeamlikeError] = CombineError
) -> None:
    """Refuse what cannot be called.

    Args:
        takes: What the function is of, in words.
        error: What is raised: CombineError for what makes values.

    Raises:
        BeamlikeError: It cannot be called; of the class that was given.
    """
    if not callable(given):
        raise error(f"{argument} must be a function of {takes}, got {given!r}")


def check_combine(argument: str, given: object) -> None:
    """Refuse what is no combine function.

    Raises:
        CombineError: It is none.
    """
    if not isinstance(given, CombineFn):
        hint = f"; write {given.__name__}()" if isinstance(given, type) else ""
        raise CombineError(
            f"{argument} must be a combine function such as Sum(), got {given!r}{hint}"
        )
