"""A process that writes to a table is killed before, within and after the commit of a micro-batch:
what is in the table then, and that each micro-batch counts once when the query goes on.

The points of Delta Lake and Iceberg by Spark are in `tests.catalogs`, those of Kafka in
`tests.kafka`, those of files and of ``foreachBatch`` in `tests.crash`.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.landing.changes import standing_after
from tests.support.landing.child import main as write_here
from tests.support.landing.places import Place, places
from tests.support.landing.stopping import POINTS

ROOT = Path(__file__).resolve().parents[2]
STOPPED = 4
"""The number of the micro-batch that is stopped; it has dropped rows, which are written last."""
LAST = 7

Standing = tuple[list[tuple[str, int, int]], list[str]]


def write(kind: str, home: Path, table: str, first: int, *more: str) -> int:
    """The exit status of a process that writes micro-batches, from one to the last."""
    given = [kind, str(home), table, str(first), str(LAST), *more]
    command = [sys.executable, "-m", "tests.support.landing.child", *given]
    ran = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True)
    return ran.returncode


def standing(place: Place, table: str) -> Standing:
    """What is in the table, and its dead letters."""
    rows = sorted(
        (json.loads(row["row_key"])[0], int(str(row["window_end"])[14:16]), row["n"])
        for row in place.read(table)
    )
    return rows, sorted(row["element"] for row in place.read(f"{table}_lost"))


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize(
    "kind",
    [
        *("sqlite", "duckdb", "postgres", "delta", "iceberg"),
        pytest.param("jdbc", marks=[pytest.mark.nightly, pytest.mark.spark]),
    ],
)
def test_a_writer_that_dies_at_a_point_of_a_micro_batch_loses_and_doubles_nothing(
    kind: str, point: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    server = [request.getfixturevalue("server")] if kind == "postgres" else []
    table = f"stopped_{point}_{kind}"
    before, after = standing_after(range(STOPPED)), standing_after(range(STOPPED + 1))
    assert before[0] != after[0], "there is something to lose"
    assert before[1] != after[1], "and a dead letter"

    assert write(kind, tmp_path, table, 0, *server, point, str(STOPPED)) == -signal.SIGKILL
    if kind == "jdbc":  # which Spark reads: it may not be open in two processes
        assert write(kind, tmp_path, table, STOPPED) == 0
        request.getfixturevalue("spark")
        place = places(kind, tmp_path, table, *server)
    else:
        place = places(kind, tmp_path, table, *server)
        rows, letters = standing(place, table)
        # Delta Lake and Iceberg have no commit of two tables: the rows come first.
        rows_first = point == "within" and kind in ("delta", "iceberg")
        assert rows == (after if point == "after" or rows_first else before)[0]
        assert letters == (after if point == "after" else before)[1]
        # Spark has not noted its end, so it comes again, here to a process that never wrote.
        write_here(kind, str(tmp_path), table, str(STOPPED), str(LAST), *server)

    assert standing(place, table) == standing_after(range(LAST + 1))
