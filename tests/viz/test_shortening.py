"""Long values in a column are cut so that what differs between rows stays visible."""

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamlike.viz.cells import columns
from beamlike.viz.shortening import Column, cut_all

URL = "https://example.com/a/rather/long/path"


def shown(values: list[Any], room: int) -> list[str]:
    column = Column(values)
    return [column.show(row, room) for row in range(len(values))]


def test_what_fits_is_whole() -> None:
    assert shown([{"n": 1}, ["a", "b"], None, "tea"], 10) == [
        "{'n': 1}",
        "['a', 'b']",
        "None",
        "'tea'",
    ]


def test_fields_that_are_equal_in_all_rows_are_left_out() -> None:
    rows = [
        {"kind": "page view", "url": URL, "user": name, "n": n}
        for name, n in (("ann", 5), ("bob", 7))
    ]
    assert shown(rows, 44) == [
        "{..., 'user': 'ann', 'n': 5}",
        "{..., 'user': 'bob', 'n': 7}",
    ]
    assert shown(rows, 50) == [
        "{'kind': 'page view', ..., 'user': 'ann', 'n': 5}",
        "{'kind': 'page view', ..., 'user': 'bob', 'n': 7}",
    ]


def test_the_longest_of_the_fields_that_differ_is_cut() -> None:
    rows = [{"user": f"u{n}", "text": f"{n} " + "blah " * 20, "n": n} for n in (1, 2)]
    assert shown(rows, 40) == [
        "{'user': 'u1', 'text': '1 bl..., 'n': 1}",
        "{'user': 'u2', 'text': '2 bl..., 'n': 2}",
    ]


def test_of_one_row_the_longest_field_is_cut() -> None:
    assert shown([{"url": URL, "user": "ann", "n": 5}], 40) == [
        "{'url': 'http..., 'user': 'ann', 'n': 5}"
    ]


Pair = namedtuple("Pair", ["url", "n"])


class Row(tuple[Any, ...]):
    """As Spark has rows."""

    __fields__ = ("url", "n")

    def __repr__(self) -> str:
        return f"Row(url={self[0]!r}, n={self[1]!r})"


@attrs.frozen
class Attrs:
    url: str
    n: int
    secret: str = attrs.field(default="x" * 50, repr=False)


@dataclass
class Data:
    url: str
    n: int


class Own:
    def __init__(self, n: int) -> None:
        self.n = n

    def __repr__(self) -> str:
        return f"<an object of my own with a long text in it, number {self.n}>"


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda n: (URL, n), "(..., {n})"),
        (lambda n: Pair(URL, n), "Pair(..., n={n})"),
        (lambda n: Row((URL, n)), "Row(..., n={n})"),
        (lambda n: Attrs(URL, n), "Attrs(..., n={n})"),
        (lambda n: Data(URL, n), "Data(..., n={n})"),
        (lambda n: {"url": URL, 5: n}, "{{..., 5: {n}}}"),
        (lambda n: f"{URL}/{n}", "'https:...long/path/{n}'"),
        (lambda n: [URL, n], "['https...ng/path', {n}]"),
        (lambda n: Own(n), "<an obj...t, number {n}>"),
        (lambda n: {"at": {"url": URL, "n": n}}, "{{'at': ...h', 'n': {n}}}}}"),
    ],
)
def test_whatever_has_fields_shows_the_one_that_differs(make: Any, expected: str) -> None:
    assert shown([make(5), make(6)], 22) == [expected.format(n=5), expected.format(n=6)]


def test_panes_that_accumulate_show_what_they_have_more() -> None:
    assert shown([list(range(n)) for n in (30, 31, 32)], 30) == [
        "[0, 1, 2, ..., 26, 27, 28, 29]",
        "[0, 1, 2, ..., 27, 28, 29, 30]",
        "[0, 1, 2, ..., 28, 29, 30, 31]",
    ]


def test_keys_that_begin_alike_differ() -> None:
    keys = ["customer-000017", "customer-000018", "customer-000117", "guest"]
    assert cut_all(keys, 12) == ["cust...00017", "cust...00018", "cust...00117", "guest"]


def test_a_text_that_is_longer_by_its_end_alone_differs() -> None:
    assert cut_all(["a" * 20, "a" * 21, "a" * 20], 10) == ["aaa...aaa", "aaa...aaaa", "aaa...aaa"]


def test_equal_values_look_equal_wherever_they_stand() -> None:
    rows = [(URL, 1), (URL, 2), (URL, 1)]
    assert shown(rows, 12) == ["(..., 1)", "(..., 2)", "(..., 1)"]
    assert shown([(URL, 1)] * 2, 20) == ["('https://exa..., 1)"] * 2


def test_wide_letters_take_two_columns() -> None:
    rows = [{"菓子": "お茶とお菓子とお茶とお菓子", "n": n} for n in (1, 2)]
    assert shown(rows, 20) == ["{..., 'n': 1}", "{..., 'n': 2}"]
    texts = ["お茶とお菓子の注文一", "お茶とお菓子の注文二"]
    assert cut_all(texts, 16) == ["お茶...の注文一", "お茶...の注文二"]


def test_thousands_of_values_take_no_more_than_a_moment() -> None:
    lists = [list(range(n)) for n in range(1_500)]
    assert len(set(shown(lists, 30))) == len(lists)
    alike = ["a" * n for n in range(3_000)]
    assert max(map(len, cut_all(alike, 30))) == 30


PLAIN = st.one_of(st.integers(), st.text("ab茶", max_size=30), st.none())
VALUES = st.one_of(
    PLAIN,
    st.lists(PLAIN, max_size=8),
    st.tuples(PLAIN, PLAIN, PLAIN),
    st.dictionaries(st.text("xyz", max_size=3), PLAIN, max_size=5),
)


@given(st.lists(VALUES, max_size=6), st.integers(14, 60))
def test_nothing_is_wider_than_its_room(values: list[Any], room: int) -> None:
    assert [it for it in shown(values, room) if columns(it) > room] == []


@given(st.lists(st.text("ab", max_size=60), unique=True, max_size=8), st.integers(20, 60))
def test_texts_that_differ_look_different(texts: list[str], room: int) -> None:
    assert len(set(cut_all(texts, room))) == len(texts)
