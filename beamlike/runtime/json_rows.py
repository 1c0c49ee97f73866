"""Rows as JSON, wherever they are dropped: as Spark's ``to_json`` writes them.

Spark's ``from_json`` gives back what is written here, to the microsecond and the bit: binary is
base64, times are in UTC. A map is an object if its keys are texts, else the array of its entries:
``array<struct<key: K, value: V>>``, of which ``map_from_entries`` makes the map again. Spark's
``from_json`` reads no map of other keys.

Source: Spark ``JacksonGenerator``, ``IntervalUtils.toDayTimeIntervalString``.
"""

import base64
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa

TO_JSON: Final[Mapping[str, str]] = {
    "ignoreNullFields": "false",
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""The options of ``to_json`` with which Spark writes the same."""


def write_row(row: Mapping[str, pa.Scalar]) -> str:
    """A row as ``to_json`` writes it with `TO_JSON`, nulls included.

    >>> write_row({"at": pa.scalar(2**62, pa.timestamp("us", "UTC")), "n": pa.scalar(1)})
    '{"at":"+148108-07-06T14:00:27.387904Z","n":1}'
    """
    fields = (f"{_quoted(name)}:{_json(value)}" for name, value in row.items())
    return f"{{{','.join(fields)}}}"


def scalars(types: Mapping[str, pa.DataType], values: Iterable[Any]) -> dict[str, pa.Scalar]:
    """Values of Python in these types, by the names of their columns."""
    pairs = zip(types.items(), values, strict=True)
    return {name: pa.scalar(value, dtype) for (name, dtype), value in pairs}


def _json(value: pa.Scalar) -> str:
    dtype, is_a = value.type, pa.types
    if not value.is_valid:
        return "null"
    if is_a.is_struct(dtype):
        names = [field.name for field in dtype]
        items = (f"{_quoted(name)}:{_json(value[index])}" for index, name in enumerate(names))
        return f"{{{','.join(items)}}}"
    if is_a.is_map(dtype) and is_a.is_string(dtype.key_type):
        entries = (f"{_json(key)}:{_json(item)}" for key, item in _pairs(value))
        return f"{{{','.join(entries)}}}"
    if is_a.is_map(dtype):
        entries = (f'{{"key":{_json(key)},"value":{_json(item)}}}' for key, item in _pairs(value))
        return f"[{','.join(entries)}]"
    if is_a.is_nested(dtype):
        return f"[{','.join(map(_json, value.values))}]"
    # Of times Python has not all that Spark has.
    if is_a.is_timestamp(dtype):
        instant = np.datetime64(value.value, "us")
        return f'"{_with_year(str(instant))}{"" if dtype.tz is None else "Z"}"'
    if is_a.is_date32(dtype):
        return f'"{_with_year(str(np.datetime64(value.value, "D")))}"'
    if is_a.is_float32(dtype):  # with no more digits than tell it from its neighbours
        return _double(float(str(np.float32(value.as_py()))))
    if is_a.is_duration(dtype):
        return _quoted(_interval(value.value))
    return _plain_json(value.as_py())


def _pairs(entries: pa.MapScalar) -> Iterator[tuple[pa.Scalar, pa.Scalar]]:
    return ((entry[0], entry[1]) for entry in entries.values)


def _plain_json(value: Any) -> str:
    match value:
        case bool() | int():
            return json.dumps(value)
        case float():
            return _double(value)
        case Decimal():
            return format(value, "f")
        case bytes():
            return f'"{base64.b64encode(value).decode()}"'
    return _quoted(str(value))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _with_year(text: str) -> str:
    """A date as Java writes it: years have four digits, and a sign if they have more."""
    year, rest = re.fullmatch(r"(-?\d+)(-.*)", text).groups()  # type: ignore[union-attr]
    sign = "-" if year.startswith("-") else "+" if len(year) > 4 else ""
    return f"{sign}{year.lstrip('-').zfill(4)}{rest}"


def _interval(micros: int) -> str:
    """A duration as a literal of SQL."""
    seconds, fraction = divmod(abs(micros), 1_000_000)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    part = f".{fraction:06}".rstrip("0") if fraction else ""
    sign = "-" if micros < 0 else ""
    return f"INTERVAL '{sign}{days} {hour:02}:{minute:02}:{second:02}{part}' DAY TO SECOND"


def _double(value: float) -> str:
    """As Java writes it."""
    if not math.isfinite(value):
        return {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}[str(value)]
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    digits, exponent = f"{Decimal(repr(value)):e}".lower().split("e")
    units, _, fraction = digits.partition(".")
    return f"{units}.{fraction.rstrip('0') or '0'}E{int(exponent)}"
