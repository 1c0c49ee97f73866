"""JSON text whose values can be found again: where each stands, for error messages.

A document is read as usual. Only when something is wrong with it is its text gone through once
more, along the way to the place in question.
"""

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from json import JSONDecodeError
from typing import Any, Final, Never

import attrs

Way = Sequence[str | int]
"""Names of members and positions in lists, from the top of a document."""

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_WORD: Final = re.compile(r"[-\w.+]*")
_CONSTANTS: Final = ("NaN", "Infinity", "-Infinity")
_WIDTH: Final = 80
"""Columns of an excerpt. A document without line breaks is one long line."""
_BEFORE: Final = 48
_DECODER: Final = json.JSONDecoder()


@attrs.frozen
class Span:
    """A part of a text: where it begins, and how long it is on its line."""

    at: int
    length: int = 1


class JsonError(ValueError):
    """The text is no JSON, or JSON with a duplicate member. ``span`` is None if it is unknown."""

    def __init__(self, problem: str, span: Span | None = None) -> None:
        super().__init__(problem)
        self.span = span


def parse(text: str) -> Any:
    """The value of a text. An object that has a member twice is refused, and so is NaN.

    Raises:
        JsonError: It has none.
        RecursionError: It is nested too deeply.
    """
    twins: list[str] = []
    constants: list[str] = []

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twins.append(next(name for name in names if names.count(name) > 1))
        return found

    try:
        value = json.loads(text, object_pairs_hook=members, parse_constant=constants.append)
    except JSONDecodeError as error:
        raise _no_json(text, error) from None
    except ValueError as error:  # a number with thousands of digits
        raise JsonError(f"is not usable JSON: {error}") from None
    if twins or constants:
        _refuse(text, _skip(text, 0))
    return value


def find(text: str, way: Way) -> Span:
    """Where a value of a document stands."""
    at = _skip(text, 0)
    for step in way:
        at = next(value_at for name, _, value_at in _members(text, at) if name == step)
    if text[at] in "{[":
        return Span(at)
    return Span(at, _DECODER.raw_decode(text, at)[1] - at)


def find_key(text: str, way: Way, name: str) -> Span:
    """Where the name of a member of an object stands."""
    at = find(text, way).at
    key_at = next(key_at for key, key_at, _ in _members(text, at) if key == name)
    return Span(key_at, _DECODER.raw_decode(text, key_at)[1] - key_at)


def line_and_column(text: str, at: int) -> tuple[int, int]:
    """Both count from 1, as editors do."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def excerpt(text: str, span: Span) -> str:
    """The line of a span with its number, and carets under the span. Long lines are cut."""
    number, column = line_and_column(text, span.at)
    begins = span.at - column + 1
    line = text[begins:].split("\n", 1)[0].rstrip("\r")
    cut = max(0, min(column - 1 - _BEFORE, len(line) - _WIDTH))
    shown, more = line[cut : cut + _WIDTH], len(line) - cut > _WIDTH
    # One character for one: what a terminal would act on, or set wider, must not move the carets.
    shown = "".join(c if c.isprintable() else " " for c in shown)
    before, after = "... " if cut else "", " ..." if more else ""
    margin = " " * (column - 1 - cut + len(before))
    carets = "^" * max(1, min(span.length, len(shown) - (column - 1 - cut)))
    label = str(number)
    return f"  {label} | {before}{shown}{after}\n  {' ' * len(label)} | {margin}{carets}"


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    assert space is not None, "nothing is a match, too"
    return space.end()


def _members(text: str, at: int) -> Iterator[tuple[str | int, int, int]]:
    """Of an object or a list: each name or position, where it stands, and where its value does.

    The text is known to be JSON.
    """
    number, closing = 0, {"{": "}", "[": "]"}[text[at]]
    at = _skip(text, at + 1)
    while text[at] != closing:
        name: str | int = number
        name_at = at
        if closing == "}":
            name, end = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, end) + 1)  # the colon
        yield name, name_at, at
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
        if text[at] == ",":
            at = _skip(text, at + 1)
        number += 1


def _refuse(text: str, at: int) -> Never:
    """Find what Python's reader takes although it is no JSON, or has a member twice."""
    span, problem = next(_faults(text, at))
    raise JsonError(problem, span)


def _faults(text: str, at: int) -> Iterator[tuple[Span, str]]:
    if text[at] in "{[":
        met: set[str | int] = set()
        for name, name_at, value_at in _members(text, at):
            if name in met:
                end = _DECODER.raw_decode(text, name_at)[1]
                yield Span(name_at, end - name_at), f"an object has the field {name!r} twice"
            met.add(name)
            yield from _faults(text, value_at)
    for constant in _CONSTANTS:
        if text.startswith(constant, at):
            yield Span(at, len(constant)), f"{constant} is not a JSON value"


def _no_json(text: str, error: JSONDecodeError) -> JsonError:
    if not text.strip():
        return JsonError("is empty; a transcript is a JSON document")
    hint, at = _advice(text, error.pos, error.msg)
    word = _WORD.match(text, at)
    length = len(word[0]) if word and word[0] else 1
    return JsonError(f"is not JSON: {hint}", Span(at, length))


def _advice(text: str, at: int, problem: str) -> tuple[str, int]:
    """What to do about text that is no JSON, and where. What people write, and JSON does not have.

    What is missing is shown where it belongs, which is before the place where it was missed.
    """
    before = text[:at].rstrip()
    here, last = text[at : at + 1], len(before) - 1
    if at >= len(text.rstrip()):
        return "the text ends here, and a bracket or a brace is still open", last
    if here in "}]" and before.endswith(","):
        return "remove the comma after the last one", last
    if text.startswith(("//", "/*", "#"), at):
        return 'there are no comments in JSON; write "notes", or a field such as "x_why"', at
    if here == "'":
        return _QUOTES, at
    if here in "}]":
        return "something is missing before this, or this closes what is not open", at
    by_message = (
        ("Illegal trailing comma", "remove the comma after the last one", at),
        ("Unterminated string", "the quote that ends this text is missing", at),
        ("Invalid control character", "write a line break in a text as \\n, and a tab as \\t", at),
        ("Invalid \\", "write a backslash in a text as \\\\", at),
        ("Extra data", "the document is over before this; several scenarios are a list", at),
    )
    for message, advice, place in by_message:
        if problem.startswith(message):
            return advice, place
    if here == "." or (here.isdigit() and text[at - 1 : at] == "0"):
        return "this is no number in JSON: write 0.5 for .5, and 1 for 01", at - here.isdigit()
    word = _WORD.match(text, at)
    if problem == "Expecting value" and word and (meant := _literal(word[0])):
        return f"did you mean {meant}?", at
    if problem.startswith("Expecting ','"):
        return "a comma is missing after this", last
    if problem.startswith("Expecting ':'"):
        return "a colon is missing after this", last
    return (_QUOTES if here.isalpha() else problem), at


_QUOTES: Final = 'texts and names stand in double quotes, "like this"'


def _literal(word: str) -> str:
    """The word of JSON that was meant; "" if none was."""
    if word in ("None", "nil", "undefined"):
        return "null"
    return "".join(difflib.get_close_matches(word.lower(), ("true", "false", "null"), n=1))
