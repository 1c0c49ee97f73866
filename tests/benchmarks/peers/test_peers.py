"""The rows, the plain computation, the comparison and the table, with engines of a few lines."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.benchmarks.data import benchmark_files
from tests.benchmarks.peers.__main__ import LATEST, time_peers
from tests.benchmarks.peers.engines import PEERS, Peer
from tests.benchmarks.peers.events import (
    DELAY_MS,
    GAP_MS,
    Disordered,
    Sources,
    exact_sessions,
    read_sessions,
)
from tests.support.environments import NotHere
from tests.support.latest import Latest

SHAPE = Disordered(events=2_500, batch=1_000, keys=20)

ENGINE = """
import subprocess, sys
from itertools import groupby
from pathlib import Path

how, source, home, runs, gap, delay = sys.argv[1:]
rows = sorted(line.split(",") for line in Path(source).read_text().splitlines())
for run in range(int(runs)):
    lines = []
    for key, group in groupby(rows, lambda row: row[0]):
        session = None
        for _, time, value in group:
            if session is None or int(time) - session[1] >= int(gap):
                session = [int(time), 0, 0, 0]
                lines.append((key, session))
            session[1:] = int(time), session[2] + 1, session[3] + int(value)
    if how == "wrong in the second run" and run:
        lines[7][1][3] += 1
    if how == "busy child":
        subprocess.run([sys.executable, "-c", "sum(range(20_000_000))"])
    folder = Path(home, "results", str(run))
    folder.mkdir(parents=True)
    text = (f"{key},{a},{b + int(gap)},{n},{s}\\n" for key, (a, b, n, s) in lines)
    (folder / "part-0").write_text("".join(text))
    print("run", flush=True)
sys.exit("out of order" if how == "broken" else 0)
"""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sources]:
    with benchmark_files() as files:
        yield Sources.written(files, SHAPE, tmp_path_factory.mktemp("sources"))


def peer(how: str, *, can_run: bool = True) -> Peer:
    def command(cache: Path) -> list[str | Path]:
        if not can_run:
            raise NotHere("there is no compiler")
        return [sys.executable, "-c", ENGINE, how]

    return Peer(how, PEERS["bytewax"].title, "lines", command)


def latest(folder: Path) -> Latest:
    return Latest(folder / "LATEST.md", "# Times\n\n", LATEST.columns, LATEST.named_by)


def timed(engine: Peer, folder: Path) -> int:
    return time_peers({engine.name: engine}, SHAPE, 1, folder, latest(folder))


def test_rows_come_out_of_order_by_no_more_than_watermarks_wait(sources: Sources) -> None:
    newest, behind = 0, []
    for line in sources.lines.read_text().splitlines():
        time = int(line.split(",")[1])
        newest = max(newest, time)
        behind.append(newest - time)

    assert len(behind) == SHAPE.events
    assert DELAY_MS / 2 < max(behind) < DELAY_MS


def test_all_forms_have_the_same_rows_and_parquet_one_that_closes_their_sessions(sources: Sources):
    header, *lines = sources.headed.read_text().splitlines()
    files = sorted(path.name for path in sources.parquet.iterdir())

    assert header.replace('"', "") == "key,ts,v"
    assert lines == sources.lines.read_text().splitlines()
    assert files == [f"{batch:04}-{part}.parquet" for batch in range(4) for part in (0, 1)]


def test_sessions_end_a_gap_after_their_last_row() -> None:
    rows = {"key": [*"baaab"], "ts": [5, 0, GAP_MS - 1, 2 * GAP_MS, 9], "v": [1, 2, 3, 4, 5]}
    assert exact_sessions(pa.table(rows)).to_pylist() == [
        {"key": "a", "start": 0, "end": 2 * GAP_MS - 1, "n": 2, "s": 5},
        {"key": "a", "start": 2 * GAP_MS, "end": 3 * GAP_MS, "n": 1, "s": 4},
        {"key": "b", "start": 5, "end": GAP_MS + 9, "n": 2, "s": 6},
    ]


def test_texts_with_names_quotes_and_times_are_read_and_hidden_files_are_not(tmp_path: Path):
    (tmp_path / "a.csv").write_text("key,start,end,n,s,time,diff\nann,5,15,2,7,12,1\n")
    (tmp_path / ".b.inprogress").write_text("ann,1,2,3,4\n")
    ann = {"key": "ann", "start": 5, "end": 15, "n": 2, "s": 7}
    assert read_sessions(tmp_path).to_pylist() == [ann]

    (tmp_path / "a.csv").write_text('ann,"1970-01-01 00:00:00.005","1970-01-01 00:00:01",2,7\n')
    assert read_sessions(tmp_path).to_pylist() == [ann | {"end": 1_000}]


def test_a_row_of_the_table_is_kept_for_an_engine_that_is_right(tmp_path: Path) -> None:
    assert timed(peer("busy child"), tmp_path) == 0

    ((name, row),) = latest(tmp_path).rows().items()
    cold, cold_cpu, warm, warm_cpu = (float(cell.strip(" s")) for cell in row.split("|")[3:7])
    assert name == ("Bytewax 0.21", "2,500, 1,000, 20")
    assert min(cold, warm) > 0
    assert min(cold_cpu, warm_cpu) > 0.1, "processes below the engine's count"


def test_wrong_sessions_fail_and_no_time_is_kept(tmp_path: Path, capsys: Any):
    assert timed(peer("wrong in the second run"), tmp_path) == 1

    assert "the sessions are wrong" in capsys.readouterr().out
    assert latest(tmp_path).rows() == {}


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        (peer("absent", can_run=False), "absent: left out, there is no compiler"),
        (peer("broken"), "broken: left out, Bytewax 0.21 ended with status 1:\nout of order"),
    ],
    ids=["absent", "broken"],
)
def test_an_engine_that_cannot_run_is_left_out_with_a_line(
    engine: Peer, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert timed(engine, tmp_path) == 0

    assert reason in capsys.readouterr().out
    assert latest(tmp_path).rows() == {}
