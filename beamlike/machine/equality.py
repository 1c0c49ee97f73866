"""Whether a pane equals the one before it."""

from typing import Any


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal, and NaN is NaN, in lists, tuples and dicts too.

    Equality alone would depend on where they were: Python takes a NaN in a tuple for equal to
    itself, but not to the one that was saved in its place.
    """
    match one, other:
        case (list(), list()) | (tuple(), tuple()):
            return len(one) == len(other) and all(map(is_same, one, other))
        case dict(), dict():
            return one.keys() == other.keys() and all(is_same(one[at], other[at]) for at in one)
        case float(), float() if one != one:
            return other != other
    try:
        return bool(one == other)
    except Exception:
        return False  # values that cannot be compared are not known to be equal
