"""Whether a pane equals the one before it."""

from typing import Any


def is_same(a: Any, b: Any) -> bool:
    """Whether two values are equal, and NaN is NaN, in lists, tuples and dicts too.

    With ``==`` alone the answer would depend on objects: Python takes a NaN in a tuple for equal to
    the same object, but not to a NaN that was saved and read again.
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
