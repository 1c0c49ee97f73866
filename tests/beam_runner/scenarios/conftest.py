"""The hosts that each scenario runs on."""

import os

import pytest

HOSTS = os.environ.get("BEAMLIKE_BEAM_HOSTS", "local,memory").split(",")


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest) -> str:
    """A host."""
    return str(request.param)
