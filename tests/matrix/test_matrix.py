"""Each type as key and as value of each aggregate, beside ``groupBy``: on each host, in bounded
data and in streams, under each setting that changes what Spark does."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.matrix.cells import (
    cells,
    differences,
    key_differences,
    keys_taken,
    refusals_on_local,
    table,
    type_differences,
    why_refused,
)
from tests.matrix.hosts import HOSTS, WINDOWS, rows_of, with_values
from tests.matrix.pairs import PAIRS, aggregate_of
from tests.matrix.values import TYPES

pytestmark = pytest.mark.spark

PAGE: Final = Path(__file__).parents[2] / "docs/pages/types.md"
SETTINGS: Final = [
    (ansi, zone)
    for ansi in ("true", "false")
    for zone in ("UTC", "Asia/Kathmandu", "America/New_York")
]
KINDS: Final = [(window, clock) for window in WINDOWS for clock in ("timestamp", "timestamp_ntz")]


def _plays() -> Iterator[Any]:
    """Each host under each setting; under all of them it has each kind of window and of time."""
    for host_index, host in enumerate(HOSTS):
        for index, setting in enumerate(SETTINGS):
            window, clock = KINDS[(index + host_index) % len(KINDS)]
            daily = index == host_index + 2
            yield pytest.param(
                *(*setting, host, window, clock),
                marks=() if daily else pytest.mark.nightly,
                id="-".join((host.replace(" ", "_"), window, clock, setting[1], setting[0])),
            )


PLAYS: Final = [*_plays()]
"""A sample for each change; all of them at night."""


@contextmanager
def settings(spark: Any, ansi: str, zone: str) -> Iterator[None]:
    """The session has these settings inside the block."""
    wanted = {"spark.sql.ansi.enabled": ansi, "spark.sql.session.timeZone": zone}
    before = {name: spark.conf.get(name) for name in wanted}
    try:
        for name, value in wanted.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def test_the_table_of_the_page_says_what_is_taken(spark: Any) -> None:
    seen = table(cells(spark), keys_taken(spark))
    page = PAGE.read_text()
    said = page[page.index("| type | key |") :].partition("\n\n")[0].strip()
    assert seen == said, f"\n{seen}"


@pytest.mark.parametrize(("ansi", "zone", "host", "window", "clock"), PLAYS)
def test_panes_have_what_spark_has(
    spark: Any, ansi: str, zone: str, host: Any, window: str, clock: Any
) -> None:
    taken = [cell for cell, said in cells(spark).items() if said == "="]
    with settings(spark, ansi, zone):
        assert differences(spark, host, clock, window, taken) == {}


@pytest.mark.parametrize(("ansi", "zone", "host", "window", "clock"), PLAYS)
def test_keys_are_those_of_spark(
    spark: Any, ansi: str, zone: str, host: Any, window: str, clock: Any
) -> None:
    with settings(spark, ansi, zone):
        ours, expected = key_differences(spark, host, clock, window)
    assert ours == expected


def test_results_have_the_types_of_spark(spark: Any) -> None:
    """But for strings with a collation, which come out as plain ones."""
    taken = [cell for cell, said in cells(spark).items() if said in ("=", "(=)")]
    differing = type_differences(spark, taken)
    assert {TYPES[number].name for number, _ in differing} == {
        "string collate UTF8_LCASE",
        "string collate UNICODE_CI_RTRIM",
    }
    for ours, native in differing.values():
        assert ours == re.sub(r" collate \w+", "", native)


def test_what_is_refused_is_refused_on_each_host_in_the_same_line(spark: Any) -> None:
    for number, dtype in enumerate(TYPES):
        local = refusals_on_local(dtype, number)
        typed = with_values(rows_of(spark), "timestamp", [number])
        for name in (
            name for name, pair in PAIRS.items() if cells(spark)[number, name] == "refused"
        ):
            why = why_refused(typed, ["k"], aggregate_of(PAIRS[name], number))
            assert why == local[name]
            assert "\n" not in why
            assert f"column 'v{number}' is" in why, (dtype.name, name, why)
            assert "cast it" in why or "make it" in why, (dtype.name, name, why)


@pytest.fixture(autouse=True)
def wide_queries(spark: Any) -> Iterator[None]:
    """Queries of hundreds of columns over few rows: to compile them takes longer than to run them.

    And Spark has a type for times of day where it is asked to.
    """
    wanted = {
        "spark.sql.timeType.enabled": "true",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    for name, value in wanted.items():
        spark.conf.set(name, value)
    yield
    for name in wanted:
        spark.conf.unset(name)
