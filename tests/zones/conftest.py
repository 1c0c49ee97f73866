"""Sessions of another time zone than the run's."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.support.zones import session_zone


@pytest.fixture
def in_zone(spark: Any) -> Iterator[Callable[[str], None]]:
    """Sets the zone of the session; when the test is over it has the one before."""
    with ExitStack() as stack:
        yield lambda zone: stack.enter_context(session_zone(spark, zone))
