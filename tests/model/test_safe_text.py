"""Texts of users' values and exceptions, however bad they are."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from beamlike import safe_text

HALF = "\ud83d"


class Silent:
    """A value that cannot be shown."""

    def __repr__(self) -> str:
        raise LookupError("no words")

    __str__ = __repr__


class Leaving:
    def __repr__(self) -> str:
        sys.exit(3)


class Mute(Exception):
    def __str__(self) -> str:
        raise LookupError("no words")


@pytest.mark.parametrize("show", [safe_text.safe_repr, safe_text.safe_str, safe_text.short_repr])
@pytest.mark.parametrize(
    "value", ["a", HALF, "\0", "a" * 10**6, Silent(), Leaving(), [Silent()], b"\xff", "é\U0001f600"]
)
def test_any_value_becomes_text_that_is_short_and_has_a_form_in_utf_8(
    show: Callable[[Any], str], value: Any
) -> None:
    text = show(value)
    assert text.encode("utf-8").decode("utf-8") == text
    assert len(text) < 3_000
    assert "\0" not in text


def test_what_cannot_be_shown_says_so() -> None:
    assert safe_text.short_repr(Silent()).startswith("<Silent instance at")
    assert safe_text.safe_repr(Leaving()) == "<Leaving, whose repr raises SystemExit>"
    assert safe_text.problem_of(Mute()) == "Mute: <Mute, whose text raises LookupError>"


def test_a_text_says_what_was_left_out_of_it() -> None:
    assert safe_text.safe_text("ab\0" + HALF) == "ab\\x00\\ud83d"
    assert safe_text.safe_text("a" * 12, longest=10) == "a" * 10 + "... (2 characters more)"


def test_a_problem_of_several_lines_is_one_line_where_it_is_short() -> None:
    error = ValueError("one\n  two\nthree")
    assert safe_text.problem_of(error) == "ValueError: one\n  two\nthree"
    assert safe_text.short_problem(error) == "ValueError: one two three"


def parse(text: str) -> int:
    try:
        return {"1": 1}[text]
    except KeyError as missing:
        raise ValueError(f"{text} is not a number") from missing


def test_a_traceback_has_the_users_frames_and_what_they_handled() -> None:
    with pytest.raises(ValueError, match="x is not a number") as raised:
        parse("x")
    lines = [
        line for line in safe_text.traceback_lines(raised.value) if not line.startswith("    ")
    ]
    assert [line.partition(", in ")[2] or line for line in lines] == [
        "  because of KeyError: 'x'",
        "parse",
        "test_a_traceback_has_the_users_frames_and_what_they_handled",
        "parse",
    ]


@dataclass(frozen=True)
class Frozen(Exception):
    value: int


def test_an_exception_that_takes_no_changes_is_taken_as_well() -> None:
    with pytest.raises(Frozen) as raised:
        raise Frozen(1)
    safe_text.keep_user_frames(raised.value)
    assert safe_text.problem_of(raised.value).startswith("Frozen: ")


def endless(depth: int) -> int:
    return other(depth + 1)


def other(depth: int) -> int:
    return endless(depth + 1)


def test_a_traceback_of_an_endless_recursion_fits_on_a_screen() -> None:
    with pytest.raises(RecursionError) as raised:
        endless(0)
    assert len(list(safe_text.traceback_lines(raised.value))) == 25


def test_frames_of_beamlike_are_taken_out_of_a_traceback() -> None:
    from beamlike.combine_fns import Count
    from beamlike.model.combine.base import CombineFn

    class Picky(CombineFn):
        def create(self) -> int:
            return 0

        def add(self, accumulator: int, values: Any, timestamps: Any) -> int:
            return int(missing)  # type: ignore[name-defined] # noqa: F821

        def merge(self, first: int, second: int) -> int:
            return first + second

    from beamlike.model.combine import Together

    both = Together({"n": (Count(), None), "p": (Picky(), None)})
    with pytest.raises(NameError) as raised:
        both.add(both.create(), [1], [0])
    safe_text.keep_user_frames(raised.value)
    trace, names = raised.value.__traceback__, []
    while trace is not None:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert names == ["test_frames_of_beamlike_are_taken_out_of_a_traceback", "add"]
