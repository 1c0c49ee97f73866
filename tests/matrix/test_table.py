"""The table of the page: what is taken, in which types, and what is refused in which words."""

import re
from typing import Any

import pytest

from tests.matrix import cells
from tests.matrix.hosts import WINDOWS, Ask, rows_of, with_values
from tests.matrix.pairs import PAIRS, aggregate_of
from tests.matrix.values import TYPES

# For each change `test_matrix` has panes of all that the page says is taken.
pytestmark = [pytest.mark.spark, pytest.mark.nightly]


def test_the_table_of_the_page_says_what_is_taken(spark: Any) -> None:
    seen = cells.table(cells.cells(spark), cells.keys_taken(spark))
    assert seen == cells.table_of_the_page(), f"\n{seen}"


def test_results_have_the_types_of_spark(spark: Any) -> None:
    """But for strings with a collation, which come out as plain ones."""
    taken = [cell for cell, said in cells.cells(spark).items() if said in ("=", "(=)")]
    differing = cells.type_differences(spark, taken)
    assert {TYPES[number].name for number, _ in differing} == {
        "string collate UTF8_LCASE",
        "string collate UNICODE_CI_RTRIM",
    }
    for ours, native in differing.values():
        assert ours == re.sub(r" collate \w+", "", native)


def test_what_is_refused_is_refused_on_each_host_in_the_same_line(spark: Any) -> None:
    for number, dtype in enumerate(TYPES):
        local = cells.refusals_on_local(dtype, number)
        typed = with_values(rows_of(spark), "timestamp", [number])
        for name in (
            name for name, pair in PAIRS.items() if cells.cells(spark)[number, name] == "refused"
        ):
            why = cells.why_refused(typed, ["k"], aggregate_of(PAIRS[name], number))
            assert why == local[name]
            assert "\n" not in why
            assert f"column 'v{number}' is" in why, (dtype.name, name, why)
            assert "cast it" in why or "make it" in why, (dtype.name, name, why)


def test_lists_of_void_are_empty(spark: Any) -> None:
    taken = [cell for cell in cells.cells(spark) if cells.is_list_of_void(cell)]
    (number,) = {number for number, _ in taken}
    typed = with_values(rows_of(spark), "timestamp", [number])
    aggregate = {name: aggregate_of(PAIRS[name], number) for _, name in taken}
    panes = Ask(lambda same: same, ["k"], WINDOWS["fixed"], aggregate).panes(typed)
    assert {cells.cells(spark)[cell] for cell in taken} == {"="}
    assert {tuple(map(str, row)) for row in panes.select(*aggregate).collect()} == {("[]",) * 5}
