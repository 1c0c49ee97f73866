"""Values of a column, cut so that those that differ look different."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from beamlike.viz.cells import ShownColumn, columns, cut_all


def shown(values: list[Any], room: int) -> list[str]:
    column = ShownColumn(values)
    return [column.show(row, room) for row in range(len(values))]


def test_what_fits_is_whole() -> None:
    assert shown(["tea", {"n": 1}], 10) == ["'tea'", "{'n': 1}"]


def test_the_end_of_a_long_value_is_left_out() -> None:
    assert shown([list(range(9)), "tea"], 12) == ["[0, 1, 2,...", "'tea'"]


def test_panes_that_accumulate_show_what_they_have_more() -> None:
    assert shown([list(range(n)) for n in (30, 31, 32)], 30) == [
        "[0, 1, 2, ..., 26, 27, 28, 29]",
        "[0, 1, 2, ..., 27, 28, 29, 30]",
        "[0, 1, 2, ..., 28, 29, 30, 31]",
    ]


def test_keys_that_begin_alike_differ() -> None:
    keys = ["customer-000017", "customer-000018", "customer-000117", "guest"]
    assert cut_all(keys, 12) == ["cust...00017", "cust...00018", "cust...00117", "guest"]


def test_wide_letters_take_two_columns() -> None:
    assert cut_all(["お茶とお菓子の注文一", "お茶とお菓子の注文二"], 16) == [
        "お茶...の注文一",
        "お茶...の注文二",
    ]


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
