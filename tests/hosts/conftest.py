"""What tests of the Spark host's shard share."""

from collections.abc import Iterator
from warnings import catch_warnings, simplefilter

import pytest

from beamlike.runtime.store import pages
from tests.support.machines.shard_of_numbers import Limit, Worker


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> Limit:
    """Sets one of the limits of pages."""
    return lambda name, to: monkeypatch.setattr(pages, name, to)


@pytest.fixture
def another_worker(monkeypatch: pytest.MonkeyPatch) -> Worker:
    """From now on it is a worker that knows nothing; a test with this begins with one."""

    def take_over() -> None:
        monkeypatch.setattr(pages, "_MEMORY", pages._Memory())

    take_over()
    return take_over


@pytest.fixture
def warnings_are_errors() -> Iterator[None]:
    """As those of numpy are, when a number leaves its range."""
    with catch_warnings():
        simplefilter("error")
        yield
