"""When files of other systems changed, in a process of another time zone than UTC."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import fsspec
import pytest

from beamlike.api.pipelines.io.fsspec_files import FsspecFileSystem

NOON = datetime(2020, 6, 1, 12, tzinfo=UTC)


@pytest.fixture(params=["Asia/Kathmandu", "America/New_York"])
def zone_of_process(request: pytest.FixtureRequest) -> Iterator[str]:
    before = os.environ["TZ"]
    os.environ["TZ"] = request.param
    time.tzset()
    yield request.param
    os.environ["TZ"] = before
    time.tzset()


class Listing:
    """A file system that says of each file when it was changed."""

    def __init__(self, changed: Any) -> None:
        self._changed = changed

    def exists(self, path: str) -> bool:
        return True

    def info(self, path: str) -> dict[str, Any]:
        return {"name": path, "size": 5, "mtime": self._changed}


@pytest.mark.usefixtures("zone_of_process")
@pytest.mark.parametrize(
    "changed",
    [
        NOON.timestamp(),
        NOON,
        NOON.astimezone(timezone(timedelta(hours=9))),
        NOON.replace(tzinfo=None),
    ],
    ids=str,
)
def test_a_file_was_changed_at_the_same_instant(
    changed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fsspec, "filesystem", lambda _scheme: Listing(changed))

    found = FsspecFileSystem("listed").metadata("listed://orders/1.csv")

    assert found is not None
    assert found.last_updated_in_seconds == NOON.timestamp()
