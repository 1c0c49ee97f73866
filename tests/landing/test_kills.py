"""A process that writes to a table is killed again and again: each batch lands once.

``BEAMLIKE_KILLS`` in the environment says how often, by default three times for each table.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from tests.support.landing.changes import standing_after
from tests.support.landing.places import places

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("BEAMLIKE_KILLS", "3"))
LAST = 10 * KILLS
"""The number of the last batch."""


class Child:
    """The process that writes, from one batch on."""

    def __init__(self, kind: str, home: Path, table: str, first: int, server: list[str]) -> None:
        given = [kind, str(home), table, str(first), str(LAST), *server]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.landing.child", *given],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self._said = self._process.stdout
        assert self._said.readline() == "ready\n"

    def killed_after(self, batches: int, seconds: float) -> int | None:
        """The last number that it said, when it was killed a moment after so many batches."""
        said = [self._said.readline() for _ in range(batches)]
        time.sleep(seconds)
        return self._end(said, kill=True)

    def to_the_end(self) -> int | None:
        return self._end([], kill=False)

    def _end(self, said: list[str], *, kill: bool) -> int | None:
        if kill:
            os.killpg(self._process.pid, signal.SIGKILL)  # and the Java of Spark
        said += self._said.readlines()
        code = self._process.wait()
        assert kill or code == 0
        return max([int(line) for line in said if line.endswith("\n")], default=None)


@pytest.mark.parametrize(
    "kind",
    [
        "postgres",
        *(
            pytest.param(it, marks=pytest.mark.nightly)
            for it in ("sqlite", "duckdb", "delta", "iceberg")
        ),
        pytest.param("jdbc", marks=[pytest.mark.nightly, pytest.mark.spark]),
    ],
)
def test_each_batch_lands_once(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    server = [request.getfixturevalue("server")] if kind == "postgres" else []
    table, random, following = f"killed_{kind}", Random(5), 0
    for _ in range(KILLS):
        child = Child(kind, tmp_path, table, following, server)
        done = child.killed_after(random.randrange(4), random.random() * 0.06)
        following = following if done is None else done + 1
    Child(kind, tmp_path, table, following, server).to_the_end()
    if kind == "jdbc":
        request.getfixturevalue("spark")
    place = places(kind, tmp_path, table, *server)
    rows = sorted(
        (json.loads(row["row_key"])[0], int(str(row["window_end"])[14:16]), row["n"])
        for row in place.read(table)
    )
    letters = sorted(row["element"] for row in place.read(f"{table}_lost"))
    assert (rows, letters) == standing_after(range(LAST + 1))
