"""Sessions of another time zone than the run's."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.zones import SESSION_ZONE


@pytest.fixture
def in_zone(spark: Any) -> Iterator[Callable[[str], None]]:
    """Sets the zone of the session; when the test is over it has the one before."""
    before = spark.conf.get(SESSION_ZONE)
    yield lambda zone: spark.conf.set(SESSION_ZONE, zone)
    spark.conf.set(SESSION_ZONE, before)
