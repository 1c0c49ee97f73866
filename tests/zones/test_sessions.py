"""The zone of a session is its user's: what beamlike starts leaves it alone."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import beamlike as bl
from beamlike.hosts.spark.session import SESSION_ZONE
from beamlike.testing import TestStream

pytestmark = pytest.mark.spark


def test_a_session_that_runs_keeps_its_zone(spark: Any, in_zone: Callable[[str], None]) -> None:
    in_zone("Asia/Kathmandu")

    def zone_of_local_session() -> str:
        return str(bl.local_session().conf.get(SESSION_ZONE))

    # On another thread no session is active.
    with ThreadPoolExecutor() as pool:
        zones = [zone_of_local_session(), pool.submit(zone_of_local_session).result()]
    stream = TestStream().add_elements_at_time("12:00:00", ("a", 1)).advance_watermark_to_infinity()
    stream.run(window=bl.FixedWindows("1 hour"), host="spark")

    assert [*zones, spark.conf.get(SESSION_ZONE)] == ["Asia/Kathmandu"] * 3
