"""What the user's expressions do, as far as a stream has to know: stars, and many rows of one.

A stream has a hidden column, which a ``*`` must not take, and an event time for each row, which
rows that an expression makes would lack.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from beamlike.errors import ColumnError
from beamlike.hosts.spark.inputs import column, own_names

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_QUOTED = re.compile(r"'[^']*'|`[^`]*`")
_MAKES_ROWS = r"(?:(?:pos)?explode|inline|stack)(?:_outer)?"
_ROWS_OF_A_ROW = re.compile(rf"\s*{_MAKES_ROWS}\s*\(", re.IGNORECASE)
_STAR_INSIDE = re.compile(r"[(,]\s*\*\s*[,)]")


@attrs.frozen
class _Shape:
    """What is found in an expression: that it makes rows, is a star, or has one inside."""

    makes_rows: bool = False
    is_star: bool = False
    has_star: bool = False


def selected(df: "DataFrame", given: Iterable["Column | str"]) -> list["Column | str"]:
    """What is selected of rows with the hidden column: ``*`` stands for all others.

    Raises:
        ColumnError: As `check_expression`.
    """
    found: list[Column | str] = []
    for each in given:
        if each == "*" if isinstance(each, str) else _shape(df, each).is_star:
            found += [column(name) for name in own_names(df)]
        else:
            if not isinstance(each, str):
                check_expression(df, each)
            found.append(each)
    return found


def check_expression(df: "DataFrame", given: "Column") -> None:
    """Refuse what does not make one value of one row, or reads the hidden column by accident.

    Args:
        df: The rows that it is selected from.

    Raises:
        ColumnError: With what to write instead.
    """
    shape = _shape(df, given)
    if shape.makes_rows:
        raise ColumnError(
            f"{_text(given)} makes several rows of one, or none; write stream.explode(array, name) "
            "with an array of what it makes, which also keeps the watermark going"
        )
    if shape.is_star or shape.has_star:
        raise ColumnError(
            f"{_text(given)}: a star among other things would take a hidden column, too; name the "
            "columns, for example F.struct(*stream.columns)"
        )


def _shape(df: "DataFrame", given: "Column") -> _Shape:
    # Spark Connect shows texts without quotes, but what it sends to the server can be looked at.
    # Classic Spark has no such thing, and its texts are quoted.
    # A column has an attribute for any name, its fields: only the module shows the kind.
    if type(given).__module__.startswith("pyspark.sql.connect."):
        sent: Any = given
        return _shape_of_message(sent.to_plan(df.sparkSession.client))
    return _shape_of_text(_text(given))


def _text(given: "Column") -> str:
    return str(given).removeprefix("Column<'").removesuffix("'>").strip()


def _shape_of_text(text: str) -> _Shape:
    """Of SQL, as it was written or as Spark writes it."""
    text = _QUOTED.sub("''", text).strip()
    return _Shape(
        _ROWS_OF_A_ROW.match(text) is not None,
        text == "*",
        _STAR_INSIDE.search(text) is not None,
    )


def _shape_of_message(message: Any) -> _Shape:
    """Of Spark Connect's ``Expression``, which is its protocol and the same in all versions."""
    while message.HasField("alias"):
        message = message.alias.expr
    if message.HasField("expression_string"):
        return _shape_of_text(message.expression_string.expression)
    called = message.unresolved_function.function_name
    return _Shape(
        re.fullmatch(_MAKES_ROWS, called, re.IGNORECASE) is not None,
        message.HasField("unresolved_star"),
        any(it.is_star or it.has_star for it in map(_shape_of_message, _inside(message))),
    )


def _inside(message: Any) -> Iterator[Any]:
    """The expressions that one is made of, whichever kinds of message lie between."""
    for _, value in message.ListFields():
        several = isinstance(value, Sequence) and not isinstance(value, str | bytes)
        for each in value if several else [value]:
            if not hasattr(each, "ListFields"):
                continue  # a number or a text
            if each.DESCRIPTOR.full_name == "spark.connect.Expression":
                yield each
            else:
                yield from _inside(each)
