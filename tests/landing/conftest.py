"""A database server for all tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.support.landing.servers import postgres_server


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with postgres_server() as connection:
        yield connection
