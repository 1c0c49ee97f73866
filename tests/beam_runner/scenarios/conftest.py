"""The hosts that each scenario runs on. What a scenario defines travels with its pipeline."""

import os
import sys
from collections.abc import Iterator

import cloudpickle
import pytest
from apache_beam.internal.cloudpickle import cloudpickle as beams_cloudpickle

HOSTS = os.environ.get("BEAMLIKE_BEAM_HOSTS", "local,memory").split(",")


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest) -> str:
    """A host."""
    return str(request.param)


@pytest.fixture(autouse=True, scope="module")
def travelling(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let classes and functions of the module travel by value: Spark's workers lack it."""
    module = sys.modules[request.module.__name__]
    picklers = cloudpickle, beams_cloudpickle
    for pickler in picklers:
        pickler.register_pickle_by_value(module)
    yield
    for pickler in picklers:
        pickler.unregister_pickle_by_value(module)
