"""The zone of a test run: asked for, drawn, or that of the process that shares its tests."""

import os
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.refusals import refusal
from tests.support.zones import DRAWN, TEST_ZONE, ZONES, set_zone, zone_in_words


class Config:
    """As much of pytest's configuration as is asked for."""

    def __init__(self, zone: str | None, **more: Any) -> None:
        self._zone = zone
        self.__dict__ |= more

    def getoption(self, name: str) -> str | None:
        assert name == "--zone"
        return self._zone


@pytest.fixture(autouse=True)
def variables() -> Iterator[None]:
    """The variables of this run, again afterwards."""
    before = {name: os.environ[name] for name in (TEST_ZONE, "TZ")}
    yield
    os.environ.update(before)
    time.tzset()


def zone_with(zone: str | None, **more: Any) -> str:
    set_zone(Config(zone, **more))  # type: ignore[arg-type]
    assert os.environ["TZ"] == os.environ[TEST_ZONE]
    return os.environ["TZ"]


def test_the_option_counts_before_the_variable_and_the_process_is_in_that_zone() -> None:
    os.environ[TEST_ZONE] = "Europe/Berlin"

    assert zone_with(None) == "Europe/Berlin"
    assert zone_with("Asia/Kathmandu") == "Asia/Kathmandu"
    assert datetime(2020, 6, 1).astimezone().utcoffset() == timedelta(hours=5, minutes=45)
    assert zone_in_words() == (
        "zone: Asia/Kathmandu; --zone=Asia/Kathmandu runs in it again, --zone=drawn in any"
    )


def test_all_processes_of_a_run_have_the_zone_that_the_first_one_drew() -> None:
    drawn = zone_with(DRAWN)

    assert drawn in ZONES
    assert {zone_with(DRAWN, workerinput={}) for _ in range(20)} == {drawn}
    os.environ[TEST_ZONE] = DRAWN
    assert len({zone_with(DRAWN) for _ in range(100)}) == len(ZONES)


@pytest.mark.parametrize("name", ["Nowhere/At", "", "../UTC", "Kathmandu"])
def test_a_zone_that_is_not_one_is_refused(name: str) -> None:
    os.environ[TEST_ZONE] = name
    assert refusal(pytest.UsageError, lambda: set_zone(Config(None))) == (
        f"--zone, or BEAMLIKE_TEST_ZONE: no time zone is called {name!r}; write one such as UTC, "
        "Asia/Kathmandu, America/New_York, Europe/Berlin, drawn"
    )
