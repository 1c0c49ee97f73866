"""`beamlike capture`: from the checkpoint of a query to a scenario that is replayed."""

from pathlib import Path
from typing import Any

import pytest

import beamlike as bl
from beamlike.cli import main
from tests.support.queries.checkpoints import leave_checkpoint

EVENTS = "user string, at timestamp, v int"
HITS = (("ann", "12:00:00", 1), ("ann", "12:01:00", 3), ("bob", "14:30:00", 9))


def query(rows: Any) -> Any:
    return bl.windowed(
        rows,
        key="user",
        timestamp="at",
        watermark="1 minute",
        window=bl.Sessions("10 minutes"),
        trigger=bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1)),
        accumulation="retracting",
        allowed_lateness="1 hour",
        aggregate={"n": bl.count(), "s": bl.sum("v")},
        record=1_000_000,
        shards=2,
    )


@pytest.mark.spark
@pytest.mark.nightly
def test_a_late_row_of_production_is_dropped_in_the_test(spark: Any, tmp_path: Path, capsys: Any):
    arrivals = [[{"user": u, "at": f"2026-01-01T{at}Z", "v": v}] for u, at, v in HITS]
    late = [{"user": "ann", "at": "2026-01-01T12:05:00Z", "v": 4}]
    checkpoint = leave_checkpoint(spark, tmp_path / "query", EVENTS, query, *arrivals, late)
    file = tmp_path / "dropped.json"

    ask = ["capture", str(checkpoint), "--key", "ann", "--aggregation", "sum", "--column", "v"]
    assert main([*ask, "--only", "4", "--out", str(file)]) == 0

    assert tuple(capsys.readouterr()) == (
        "",
        "   1  dropped of [2026-01-01 12:05:00, 2026-01-01 12:15:00), expired: 4\n"
        "beamlike: 1 element of 'ann' written\n",
    )
    assert main(["replay", str(file), "--host", "local"]) == 0
    assert "as expected" in capsys.readouterr().out
