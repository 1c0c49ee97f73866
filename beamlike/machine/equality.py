"""Whether a pane equals the one before it."""

from typing import Any


def is_same(a: Any, b: Any) -> bool:
    """Whether two values are equal, and NaN is NaN, in lists, tuples and dicts too.

    Equality alone would depend on where they were: Python takes a NaN in a tuple for equal to
    itself, but not to the one that was saved in its place.
    """
    match a, b:
        case (list(), list()) | (tuple(), tuple()):
            return len(a) == len(b) and all(map(is_same, a, b))
        case dict(), dict():
            return a.keys() == b.keys() and all(is_same(a[key], b[key]) for key in a)
        case float(), float() if a != a:
            return b != b
    try:
        return bool(a == b)
    except Exception:
        return False  # values that cannot be compared are not known to be equal
