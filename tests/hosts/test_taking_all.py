"""Waiting for a query that is woken more often than its micro-batches take: it is never idle."""

from typing import Any, cast

import pytest

from beamlike.hosts.spark.graph import running
from beamlike.hosts.spark.graph.running import PipelineQuery
from beamlike.hosts.spark.ticks import is_tick

ASKED_MS = 1_700_000_000_000
BEFORE, AFTER = "2023-11-14T22:13:19.999Z", "2023-11-14T22:13:20.500Z"


def progress(began: str, rows: int, ticks: int) -> dict[str, Any]:
    """What Spark says of a micro-batch: a source of files, and the ticks."""
    files = {"endOffset": {"logOffset": 3}, "numInputRows": rows}
    return {
        "timestamp": began,
        "sources": [files, {"endOffset": {"tick": 1_700_000_000}, "numInputRows": ticks}],
    }


class Query:
    """A query that shows one progress after the other, and is idle when it is asked to be."""

    isActive = True

    def __init__(self, *seen: dict[str, Any] | None) -> None:
        self.left = [*seen]
        self.waited = False

    @property
    def lastProgress(self) -> dict[str, Any] | None:  # as Spark has it
        return self.left.pop(0)

    def processAllAvailable(self) -> None:  # as Spark has it
        self.waited = True


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "wall_clock_ms", lambda: ASKED_MS)
    monkeypatch.setattr(running, "_LOOKS_EVERY", 0.0)


def taken(query: Query, *, is_woken: bool) -> None:
    nothing: Any = None
    PipelineQuery(cast("Any", query), nothing, nothing, nothing, is_woken).take_all()


def test_a_micro_batch_without_data_that_began_since_then_is_waited_for() -> None:
    query = Query(
        None,
        progress(BEFORE, 0, 1),  # what came since is in none yet
        progress(AFTER, 2, 1),  # more may be there
        progress(AFTER, 0, 1),
        progress(AFTER, 5, 1),
    )
    taken(query, is_woken=True)
    assert len(query.left) == 1
    assert not query.waited


def test_one_that_nothing_wakes_is_waited_for_by_spark() -> None:
    query = Query()
    taken(query, is_woken=False)
    assert query.waited


@pytest.mark.parametrize(
    ("offset", "is_one"),
    [
        ({"tick": 12}, True),
        ('{"tick": 12}', True),
        ({"tick": {"0": 12}}, False),  # of a topic of Kafka with this name
        ({"logOffset": 12}, False),
        (None, False),
    ],
)
def test_offsets_of_ticks_are_known(offset: Any, is_one: bool) -> None:
    assert is_tick(offset) is is_one
