"""Sessions of another time zone than the run's."""

from collections.abc import Callable
from functools import partial

import pytest

from beamlike.hosts.spark.session import SESSION_ZONE


@pytest.fixture
def in_zone(setting: Callable[[str, str], None]) -> Callable[[str], None]:
    """Sets the zone of the session, until the test is over."""
    return partial(setting, SESSION_ZONE)
