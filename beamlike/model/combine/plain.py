"""Plain values as text, equal for equal values, and as numbers that look random.

Python's own ``hash`` of a text differs from process to process, and pickles of equal values may
differ; what is decided by a value must be decided by this instead.
"""

import hashlib
from collections.abc import Iterable, Mapping, Set
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Integral, Rational
from typing import Any

import attrs

from beamlike.errors import CombineError


def digest(value: Any, salt: str = "") -> int:
    """A number of 64 bits, signed, for a value that `plain_text` can read: the same for equal ones
    in every process."""
    text = f"{salt}|{plain_text(value)}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big", signed=True)


def plain_text(value: Any) -> str:
    """A text for a value: the same for equal values, another for others.

    Equal is what is equal in Python: 1, 1.0, ``Decimal("1.00")`` and True are. Besides, all NaN
    are one value, and so are a list and a tuple of equal items.

    Raises:
        CombineError: The value is no null, number, text, bytes, date or time, and no list, tuple,
            set, mapping or attrs class of such.

    >>> plain_text([1.0, 0.5, "a"])
    '[n1;n1/2;s1:a;]'
    """
    match value:
        case None:
            return "null"
        case str():
            return f"s{len(value)}:{value}"
        case Integral():  # a bool too
            return f"n{int(value)}"
        case float() | Decimal() | Rational():
            return f"n{_number(value)}"
        case bytes() | bytearray():
            return f"b{value.hex()}"
        case datetime() if value.utcoffset() is not None:
            return f"i{value.astimezone(UTC).replace(tzinfo=None).isoformat()}"
        case datetime():
            return f"l{value.isoformat()}"
        case date():
            return f"d{value.isoformat()}"
        case time():
            return f"t{value.isoformat()}"
        case timedelta():
            return f"w{value // timedelta(microseconds=1)}"
        case list() | tuple():
            return f"[{_items(map(plain_text, value))}]"
        case Set():
            return f"<{_items(sorted(map(plain_text, value)))}>"
        case Mapping():
            pairs = ((plain_text(key), plain_text(item)) for key, item in value.items())
            return f"{{{_items(f'{key}={item}' for key, item in sorted(pairs))}}}"
    if attrs.has(type(value)):
        return f"{type(value).__qualname__}{plain_text(attrs.astuple(value, recurse=False))}"
    raise CombineError(
        f"a sample or a count of distinct values needs plain values, got {value!r} of type "
        f"{type(value).__name__}; give it as a text, a number, a tuple or a mapping of them"
    )


def _items(texts: Iterable[str]) -> str:
    return "".join(f"{text};" for text in texts)


def _number(value: Any) -> str:
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    above, below = value.as_integer_ratio()
    return str(above) if below == 1 else f"{above}/{below}"
