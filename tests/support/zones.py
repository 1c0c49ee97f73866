"""The time zone of a test run: that of the process, of Spark's workers and of the session.

Nothing that beamlike computes depends on it, so each run may have another one. What a test asserts
are instants, or texts that name their zone.
"""

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest

from beamlike.hosts.spark.session import SESSION_ZONE
from tests.support.sharing import is_shared

ZONES: Final = ("UTC", "Asia/Kathmandu", "America/New_York", "Europe/Berlin")
"""What a run draws from: UTC, minutes off the hour, and summer time behind and ahead of UTC."""

DRAWN: Final = "drawn"
"""The word for one of `ZONES`, whichever."""

TEST_ZONE: Final = "BEAMLIKE_TEST_ZONE"
"""The variable with the zone of a run, for each of its processes."""


def zone_of_run() -> str:
    """The zone of this run; UTC where none was asked for."""
    return os.environ.get(TEST_ZONE, "UTC")


def add_zone_option(parser: pytest.Parser) -> None:
    """Take ``--zone``."""
    parser.addoption(
        "--zone",
        metavar="ZONE",
        help=f"the time zone of this run, such as {ZONES[1]}, or {DRAWN!r} for one of "
        f"{', '.join(ZONES)}; by default what the variable {TEST_ZONE} says, or UTC",
    )


def set_zone(config: pytest.Config) -> None:
    """Give this process and all that it starts the zone of the run; Java reads it at its start."""
    # Processes that share the tests have the zone that the first one drew.
    zone = zone_of_run() if is_shared(config) else config.getoption("--zone") or zone_of_run()
    if zone == DRAWN:
        zone = random.SystemRandom().choice(ZONES)
    try:
        ZoneInfo(zone)
    except (LookupError, OSError, ValueError) as error:
        known = ", ".join((*ZONES, DRAWN))
        raise pytest.UsageError(
            f"--zone, or {TEST_ZONE}: no time zone is called {zone!r}; write one such as {known}"
        ) from error
    os.environ[TEST_ZONE] = os.environ["TZ"] = zone
    time.tzset()


def zone_in_words() -> str:
    """The line of pytest's header with which the run can be repeated."""
    return f"zone: {zone_of_run()}; --zone={zone_of_run()} runs in it again, --zone={DRAWN} in any"


@contextmanager
def session_zone(spark: Any, zone: str) -> Iterator[None]:
    """Give the session another zone for a while."""
    before = spark.conf.get(SESSION_ZONE)
    spark.conf.set(SESSION_ZONE, zone)
    try:
        yield
    finally:
        spark.conf.set(SESSION_ZONE, before)
