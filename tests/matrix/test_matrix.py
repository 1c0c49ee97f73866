"""Each type as key and as value of each aggregate, beside ``groupBy``: on each host, in bounded
data and in streams, under each setting that changes what Spark does."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from beamlike.hosts.spark.session import SESSION_ZONE
from tests.matrix.cells import cells_of_the_page, differences, key_differences
from tests.matrix.hosts import HOSTS, WINDOWS

pytestmark = pytest.mark.spark

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


@pytest.mark.parametrize(("ansi", "zone", "host", "window", "clock"), PLAYS)
def test_panes_have_what_spark_has(
    spark: Any, setting: Any, ansi: str, zone: str, host: Any, window: str, clock: Any
) -> None:
    taken = [cell for cell, said in cells_of_the_page().items() if said == "="]
    setting("spark.sql.ansi.enabled", ansi)
    setting(SESSION_ZONE, zone)
    assert differences(spark, host, clock, window, taken) == {}


@pytest.mark.parametrize(("ansi", "zone", "host", "window", "clock"), PLAYS)
def test_keys_are_those_of_spark(
    spark: Any, setting: Any, ansi: str, zone: str, host: Any, window: str, clock: Any
) -> None:
    setting("spark.sql.ansi.enabled", ansi)
    setting(SESSION_ZONE, zone)
    ours, expected = key_differences(spark, host, clock, window)
    assert ours == expected
