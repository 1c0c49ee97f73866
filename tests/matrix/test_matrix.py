"""Each type as key and as value of each aggregate, beside ``groupBy``: on each host, in bounded
data and in streams, under each setting that changes what Spark does."""

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
CLOCKS: Final = ("timestamp", "timestamp_ntz")


def _nightly(condition: bool) -> Any:
    return [pytest.mark.nightly] if condition else []


PLAYS: Final = [
    pytest.param(
        *(ansi, zone, host, window, clock),
        marks=_nightly((ansi, zone, window, clock) not in _DAILY[host]),
        id=f"{host}-{window}-{clock}-{zone}-ansi-{ansi}".replace(" ", "_"),
    )
    for _DAILY in [
        {
            "spark": [("true", "America/New_York", "fixed", "timestamp")],
            "spark stream": [("true", "Asia/Kathmandu", "sessions", "timestamp")],
            "local": [("false", "America/New_York", "sessions", "timestamp_ntz")],
            "local stream": [("true", "UTC", "sliding", "timestamp")],
        }
    ]
    for ansi, zone in SETTINGS
    for host in HOSTS
    for window in WINDOWS
    for clock in CLOCKS
]
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
    if window == "sliding":
        pytest.skip("rows have the same keys in each of their windows")
    with settings(spark, ansi, zone):
        ours, expected = key_differences(spark, host, clock, window)
    assert ours == expected


def test_results_have_the_types_of_spark(spark: Any) -> None:
    taken = [cell for cell, said in cells(spark).items() if said in ("=", "(=)")]
    wrong = {
        (TYPES[number].name, name): pair
        for (number, name), pair in type_differences(spark, taken).items()
    }
    assert wrong == {}


def test_what_is_refused_is_refused_on_each_host_in_the_same_words(spark: Any) -> None:
    from beamlike.testing import QueryTest

    said = cells(spark)
    here = with_values(rows_of(spark), "timestamp")
    seen = dict[Any, list[str]]()

    def note(rows: Any) -> Any:
        for (number, name), word in said.items():
            why = why_refused(rows, ["k"], aggregate_of(PAIRS[name], number))
            assert bool(why) == (word == "refused"), (TYPES[number].name, name, why)
            seen.setdefault((number, name), []).append(why)

    note(here)
    QueryTest(
        lambda rows: (note(with_values(rows, "timestamp")), rows)[1],
        "k string, i int, place int, us bigint",
    )
    for (number, name), (of_spark, of_local) in seen.items():
        assert of_spark == of_local
        if of_spark:
            assert "\n" not in of_spark
            assert f"column 'v{number}' is" in of_spark, (name, of_spark)
            assert "cast it" in of_spark or "make it" in of_spark, (name, of_spark)
