"""What a live view learns of queries that ran before it, without Spark."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from beamlike.inspect.live.history import History
from beamlike.inspect.queries import listening
from beamlike.inspect.queries.listening import Listener
from tests.support.queries.reports import report


class Streams:
    """A manager of queries that takes listeners, and tells them nothing."""

    def addListener(self, listener: Any) -> None:
        self.listener = listener


def running(*batches: int) -> Any:
    """A query that has done these micro-batches."""
    progress = [SimpleNamespace(json=report(batch, query="q", run="r")) for batch in batches]
    return SimpleNamespace(id="q", runId="r", name="sales", recentProgress=progress, isActive=True)


@pytest.mark.parametrize(
    ("batches", "since"),
    [((3, 4), 1_767_225_603_000), ((), 1_767_225_700_000)],
    ids=["from its first report", "from now on without any"],
)
def test_a_query_that_runs_already_runs_since_the_first_that_is_known_of_it(
    batches: tuple[int, ...], since: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "wall_clock_ms", lambda: 1_767_225_700_000)
    history, streams = History(), Streams()

    Listener(history).begin(streams, [running(*batches)])  # type: ignore[arg-type]

    (query,) = json.loads(history.snapshot()[1])
    assert (query["since"], [it["batch"] for it in query["recent"]]) == (since, [*batches])
