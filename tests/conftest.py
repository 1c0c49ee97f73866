"""One Spark session for all tests, and the hosts that scenarios run on."""

import os
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from typing import Any

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """What hypothesis keeps goes to a folder that is gone afterwards, and not to the checkout."""
    if "HYPOTHESIS_STORAGE_DIRECTORY" not in os.environ:
        kept = TemporaryDirectory(prefix="beamlike-hypothesis-")
        config.add_cleanup(kept.cleanup)
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = kept.name


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """The one local session. Nothing of it is left when the tests are over."""
    from beamlike.hosts.spark.replay import close_replayer
    from beamlike.hosts.spark.session import local_session

    session = local_session("beamlike tests")
    yield session
    close_replayer()
    session.stop()


@pytest.fixture(params=["memory", pytest.param("spark", marks=pytest.mark.spark)])
def host(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What to pass to `TestStream.run` so that a scenario runs on this host."""
    if request.param == "memory":
        return {"host": "memory"}
    return {"host": "spark", "spark": request.getfixturevalue("spark")}
