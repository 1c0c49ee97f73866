"""Which panes a condition on rows leaves, as far as its text says.

Only what certainly holds for every row that is left is found. A condition that is written in
another way, however right, counts as one that says nothing of panes.
"""

import re
from collections.abc import Iterator
from typing import Final

_IN_PANE: Final = r"`?pane`?(?:\.`?{0}`?|\['{0}'\]|\[{0}\])"
_IS: Final = r"(?:{0}==?true|=\({0},true\)|{0})"


def _equal(field: str, value: str) -> str:
    of_pane = _IN_PANE.format(field)
    return rf"(?:{of_pane}==?{value}|=\({of_pane},{value}\))"


_MARKS: Final = {
    "is_first": rf"{_IS.format(_IN_PANE.format('is_first'))}|{_equal('index', '0')}",
    "is_last": _IS.format(_IN_PANE.format("is_last")),
    "on_time": _equal("timing", "'?on_time'?"),
}
"""Of each mark of `beamlike.model.repetition.Repetition`, its form in a condition. Without blanks
and in lower case, as SQL, and as classic Spark and Spark Connect show a column."""

_RETRACTION: Final = re.compile(r"\bretraction\b", re.IGNORECASE)
_CALLED: Final = re.compile(r"and\((.*)\)", re.DOTALL)
_COMMA: Final = re.compile(",")
_QUOTES: Final = "'\"`"
_AND: Final = re.compile(r"\band\b", re.IGNORECASE)
_NOT_ALL: Final = re.compile(r"\b(?:or|case|between|not)\b|\|\||--|/\*|\\", re.IGNORECASE)


def marks_of_all(condition: object) -> frozenset[str]:
    """The marks that every pane has for which a condition holds.

    One more, ``retraction``, says that the condition names the column for withdrawals.

    Args:
        condition: SQL, or a column of Spark.
    """
    text = str(condition)
    if not isinstance(condition, str):
        text = text.removeprefix("Column<'").removesuffix("'>")
    parts = [re.sub(r"\s+", "", part).lower() for part in _all_of(text.strip())]
    marks = (
        mark
        for mark, form in _MARKS.items()
        if any(re.fullmatch(form, part) is not None for part in parts)
    )
    named = ("retraction",) if _RETRACTION.search(text) else ()
    return frozenset((*marks, *named))


def _all_of(text: str) -> Iterator[str]:
    """The conditions that all have to hold."""
    called = _CALLED.fullmatch(text)
    sides = _cut(called[1], _COMMA) if called else []
    open_text = _masked(text)
    if len(sides) == 2 and ")" not in open_text[:-1]:
        parts = sides
    elif text.startswith("(") and open_text.find(")") == len(text) - 1:
        parts = [text[1:-1]]
    else:
        parts = [] if _NOT_ALL.search(open_text) else _cut(text, _AND)
        if len(parts) < 2:
            yield text
            return
    for part in parts:
        yield from _all_of(part.strip())


def _cut(text: str, between: re.Pattern[str]) -> list[str]:
    """The parts of a text between what stands neither in brackets nor in quotes."""
    starts = [0]
    ends = []
    for found in between.finditer(_masked(text)):
        ends.append(found.start())
        starts.append(found.end())
    return [text[start:end] for start, end in zip(starts, [*ends, len(text)], strict=True)]


def _masked(text: str) -> str:
    """The text with underscores for what stands in brackets or in quotes."""
    shown, quote, depth = [], "", 0
    for character in text:
        depth -= character == ")" and not quote
        shown.append("_" if quote or depth else character)
        if quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES:
            quote = character
        depth += character == "(" and not quote
    return "".join(shown)
