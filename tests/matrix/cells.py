"""The cells of the matrix: what becomes of a type in each aggregate, and where it differs."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.errors import BeamlikeError
from beamlike.runtime.row_metadata import canonical
from beamlike.testing import QueryTest
from tests.matrix.hosts import (
    SOURCE,
    WINDOWS,
    Ask,
    Results,
    exact,
    native_results,
    results_of,
    rows_of,
    with_values,
)
from tests.matrix.pairs import PAIRS, Pair, aggregate_of, column_of, native_of
from tests.matrix.values import TYPES, ValuesOfType

PAGE = Path(__file__).parents[2] / "docs/pages/types.md"

NOT_IN_ARROW = ("interval year to month", "variant")
"""Types that no table of Arrow has, and so no frame on ``local``."""

Cell = tuple[int, str]
"""The number of a type, and the name of an aggregate."""


def name_of(cell: Cell) -> str:
    """The column with the result of a cell."""
    return f"{cell[1]} of {cell[0]}"


@cache
def cells(spark: Any) -> dict[Cell, str]:
    """``=`` where beamlike and Spark take a type, ``refused`` or ``more`` where one of them does
    not, and ``(=)`` where not all values of the type add up."""
    said = dict[Cell, str]()
    for number, dtype in enumerate(TYPES):
        typed = with_values(rows_of(spark), "timestamp", [number])
        local = refusals_on_local(dtype, number)
        for name, pair in PAIRS.items():
            # What is refused is found sooner than what is not, for which Spark makes a plan.
            if local[name] and why_refused(typed, ["k"], aggregate_of(pair, number)):
                said[number, name] = "refused"
            elif not _spark_takes(typed.groupBy("k"), native_of(pair, number)):
                said[number, name] = "more"
            else:
                said[number, name] = "(=)" if pair.sums and not dtype.summable else "="
    return said


def cells_of_the_page() -> dict[Cell, str]:
    """The same as the page has it, for which Spark is not asked; `tests.matrix.test_table` is."""
    head, _, *rows = table_of_the_page().splitlines()
    _, _, *names = head.strip("| ").split(" | ")
    said = dict[Cell, str]()
    for number, row in enumerate(rows):
        _, _, *texts = row.strip("| ").split(" | ")
        said |= {(number, name): text for name, text in zip(names, texts, strict=True)}
    return said


def table_of_the_page() -> str:
    page = PAGE.read_text()
    return page[page.index("| type | key |") :].partition("\n\n")[0].strip()


def refusals_on_local(dtype: ValuesOfType, number: int) -> dict[str, str]:
    """Why aggregates of a type are refused on ``local``, by their names; empty if they are not."""
    why = dict[str, str]()

    def ask(rows: Any) -> Any:
        typed = with_values(rows, "timestamp", [number])
        for name, pair in PAIRS.items():
            why[name] = why_refused(typed, ["k"], aggregate_of(pair, number))
        return rows

    QueryTest(ask, SOURCE)
    return why


def _spark_takes(grouped: Any, column: Any) -> bool:
    try:
        grouped.agg(column)
    except AnalysisException:
        return False
    return True


def why_refused(rows: Any, keys: Sequence[str], aggregate: Any) -> str:
    """The one line that says why an aggregate is refused; empty if it is not."""
    try:
        Ask(lambda same: same, keys, WINDOWS["fixed"], {"x": aggregate}).panes(rows)
    except BeamlikeError as error:
        return str(error)
    return ""


def differences(
    spark: Any, host: Any, clock: Any, window: str, taken: Sequence[Cell]
) -> dict[Cell, tuple[str, str]]:
    """Where a host has another value than Spark in some window: what it has, and what Spark has."""
    taken = [cell for cell in taken if not is_list_of_void(cell)]
    if host.startswith("local"):
        taken = [cell for cell in taken if TYPES[cell[0]].name not in NOT_IN_ARROW]
    wanted = {name_of(cell): PAIRS[cell[1]] for cell in taken}
    aggregate = {name_of(cell): aggregate_of(PAIRS[cell[1]], cell[0]) for cell in taken}
    needed = sorted({number for number, _ in taken})

    def make(rows: Any) -> Any:
        return with_values(rows, clock, needed)

    native_columns = {name_of(cell): native_of(PAIRS[cell[1]], cell[0], window) for cell in taken}
    typed = make(rows_of(spark, streaming=host.endswith("stream")))
    for number in needed:
        if " collate " in TYPES[number].name:
            # Without code that it compiles, Spark's min_by of such strings has other bytes.
            plain = F.collate(column_of(number), "UTF8_BINARY")
            typed = typed.withColumn(column_of(number), plain)
    native = native_results(typed, ["k"], WINDOWS[window], native_columns)
    expected = results_of(canonical(native.toArrow()), ["k"], list(wanted))
    ask = Ask(make, ["k"], WINDOWS[window], aggregate)
    ours = results_of(ask.played(spark, host), ["k"], list(wanted))
    wrong = dict[Cell, tuple[str, str]]()
    assert ours.keys() == expected.keys(), (sorted(ours), sorted(expected))
    for cell in taken:
        name = name_of(cell)
        for place, row in expected.items():
            pair = compared(ours[place][name], wanted[name]), compared(row[name], wanted[name])
            if pair[0] != pair[1]:
                wrong[cell] = pair
    return wrong


def is_list_of_void(cell: Cell) -> bool:
    """Whether a result is a list of nulls, which PySpark cannot bring to Python as Arrow."""
    of_values = ("top", "bottom", "collect", "sample", "collect_set")
    return TYPES[cell[0]].name == "void" and cell[1] in of_values


def compared(value: Any, pair: Pair) -> str:
    """A result as far as it has to be the same."""
    signless = pair.order == "any of equal ones"
    if pair.order == "any" and value is not None:
        return str(sorted(exact(item) for item in value))
    return exact(value, signless=signless)


def type_differences(spark: Any, taken: Sequence[Cell]) -> dict[Cell, tuple[str, str]]:
    """Where a result has another type than Spark's."""
    typed = with_values(rows_of(spark), "timestamp", range(len(TYPES)))
    native_columns = {name_of(cell): native_of(PAIRS[cell[1]], cell[0]) for cell in taken}
    native = native_results(typed, ["k"], WINDOWS["fixed"], native_columns).schema
    aggregate = {name_of(cell): aggregate_of(PAIRS[cell[1]], cell[0]) for cell in taken}
    ours = Ask(lambda same: same, ["k"], WINDOWS["fixed"], aggregate).panes(typed).schema
    pairs = {
        cell: tuple(schema[name_of(cell)].dataType.simpleString() for schema in (ours, native))
        for cell in taken
    }
    return {cell: pair for cell, pair in pairs.items() if pair[0] != pair[1]}


# -- keys -----------------------------------------------------------------------------------------


@cache
def keys_taken(spark: Any) -> dict[int, bool]:
    """Which types are keys."""
    return {
        number: not why_refused(
            with_values(rows_of(spark), "timestamp", [number]), [f"v{number}"], bl.count()
        )
        for number in range(len(TYPES))
    }


def key_differences(spark: Any, host: Any, clock: Any, window: str) -> tuple[Results, Results]:
    """How many rows each key of each type has: of a host, and of Spark.

    All types are one key, of which only one is not as it is in all other rows.
    """
    numbers = [number for number, taken in keys_taken(spark).items() if taken]
    keys = [column_of(number) for number in numbers]

    def make(rows: Any) -> Any:
        typed = with_values(rows, clock, ())
        typed = typed.withColumn("turn", F.explode(F.lit(numbers)))
        columns = [
            F.expr(f"get({TYPES[number].array}, case when turn = {number} then i else 0 end)")
            for number in numbers
        ]
        named = (column.alias(key) for key, column in zip(keys, columns, strict=True))
        return typed.select("at", *named).filter(" and ".join(f"{key} is not null" for key in keys))

    rows = rows_of(spark, streaming=host.endswith("stream"))
    native = native_results(make(rows), keys, WINDOWS[window], {"n": F.count("*")})
    expected = results_of(canonical(native.toArrow()), keys, ["n"])
    ask = Ask(make, keys, WINDOWS[window], {"n": bl.count()})
    ours = results_of(ask.played(spark, host), keys, ["n"])
    return ours, expected


def table(said: Mapping[Cell, str], keys: Mapping[int, bool]) -> str:
    """The table of the page."""
    names = ["key", *PAIRS]
    lines = [f"| type | {' | '.join(names)} |", f"|---{'|---' * len(names)}|"]
    for number, dtype in enumerate(TYPES):
        texts = ["=" if keys[number] else "refused", *(said[number, name] for name in PAIRS)]
        lines.append(f"| `{dtype.name}` | {' | '.join(texts)} |")
    return "\n".join(lines)
