"""Streams on Spark, in a process that is killed twice."""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.beam_runner.scenarios.json_files import add_file
from tests.beam_runner.scenarios.source_job import END, add_lines


def command_of(job: str, *arguments: object) -> list[str]:
    """What runs a job of this folder."""
    return [sys.executable, "-m", f"tests.beam_runner.scenarios.{job}", *map(str, arguments)]


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Those of the source, of the rows and of the checkpoint."""
    log, out, checkpoint = (tmp_path / name for name in ("log", "out", "checkpoint"))
    log.mkdir()
    out.mkdir()
    return log, out, checkpoint


def rows_in(out: Path) -> list[tuple[Any, ...]]:
    files = sorted(out.glob("*.json"), key=lambda path: int(path.stem))
    return [tuple(row) for path in files for row in json.loads(path.read_text(encoding="utf-8"))]


def killed_after(command: list[str], enough: Callable[[], bool]) -> None:
    """Run a job in a process of its own, and kill it when enough has come."""
    running = subprocess.Popen(command)
    until = time.time() + 300
    while not enough() and time.time() < until and running.poll() is None:
        time.sleep(0.2)
    running.kill()
    running.wait()
    assert enough()


def test_a_log_is_read_on_from_where_a_killed_reader_was(folders: tuple[Path, Path, Path]) -> None:
    log, out, checkpoint = folders
    command = command_of("source_job", "log", log, out, checkpoint)
    expected: list[tuple[str, int, str, int]] = []

    def add(partition: str, *records: tuple[int, str]) -> None:
        offset = sum(1 for row in expected if row[0] == partition)
        for place, (_, word) in enumerate(records, offset):
            expected.append((partition, {"tea": 3, "milk": 2}[word], place, word))
        add_lines(log, partition, *records)

    def records() -> list[tuple[Any, ...]]:
        return sorted(row for row in rows_in(out) if row[3] != "sum")

    add("p0", (1, "tea"), (2, "milk"), (11, "tea"))
    add("p1", (3, "milk"))
    killed_after(command, lambda: len(records()) == 4)
    add("p0", (12, "milk"), (25, "tea"))
    add("p1", (14, "tea"), (26, "tea"))
    killed_after(command, lambda: len(records()) == 8)
    add("p1", (38, "milk"))
    add_lines(log, "p0", END)
    add_lines(log, "p1", END)
    assert subprocess.run(command, check=False, timeout=400).returncode == 0
    assert records() == sorted(expected)
    sums = Counter({("tea", 0): 3, ("milk", 0): 4, ("tea", 10): 6, ("milk", 10): 2})
    sums.update({("tea", 20): 6, ("milk", 30): 2})
    sums_written = [row for row in rows_in(out) if row[3] == "sum"]
    assert sorted(sums_written) == sorted(
        (word, n, start, "sum") for (word, start), n in sums.items()
    )


def test_files_that_come_are_each_read_once_whatever_is_killed(folders: tuple[Path, Path, Path]):
    log, out, checkpoint = folders
    command = command_of("source_job", "files", log, out, checkpoint)

    def counts() -> dict[str, int]:
        latest: dict[str, int] = {}
        for word, n, _, _ in rows_in(out):
            latest[word] = max(n, latest.get(word, 0))
        return latest

    add_lines(log, "a", (1, "tea"), (2, "milk"))
    killed_after(command, lambda: counts() == {"tea": 1, "milk": 1})
    add_lines(log, "b", (3, "tea"))
    killed_after(command, lambda: counts() == {"tea": 2, "milk": 1})
    add_lines(log, "c", (3, "tea"), (4, "salt"))
    assert subprocess.run([*command, "drain"], check=False, timeout=400).returncode == 0
    assert counts() == {"tea": 3, "milk": 1, "salt": 1}


def games_of(folder: Path, number: int) -> list[tuple[str, int, int]]:
    """Write the scores of some minutes as a file; the same as tuples, with the hour of each."""
    year = 1_704_067_200
    minutes = range(40 * number, 40 * number + 40)
    scores = [(f"team {n % 3}", n, f"2024-01-01 {n // 60:02}:{n % 60:02}:00") for n in minutes]
    names = ("team", "score", "at")
    add_file(folder, number, [dict(zip(names, score, strict=True)) for score in scores])
    return [(team, score, year + score // 60 * 3_600) for team, score, _ in scores]


def rows_of(folder: Path) -> list[tuple[str, int, int]]:
    """The rows that all micro-batches have written."""
    files = [json.loads(file.read_text(encoding="utf-8")) for file in folder.iterdir()]
    return [(team, score, hour) for rows in files for team, score, hour in rows]


def test_the_leader_board_and_states_killed_twice_give_what_a_plain_computation_gives(
    tmp_path: Path,
) -> None:
    folder, out, totals = (tmp_path / name for name in ("games", "panes", "totals"))
    for empty in (folder, out, totals):
        empty.mkdir()
    command = command_of("leader_board_job", folder, out, totals, tmp_path / "checkpoint")
    scores: list[tuple[str, int, int]] = []
    for number in range(9):
        scores += games_of(folder, number)
        if number in (2, 5):
            written = len([*out.iterdir()]) + 2
            killed_after(command, lambda least=written: len([*out.iterdir()]) >= least)
    assert subprocess.run([*command, "drain"], check=False, timeout=400).returncode == 0
    expected: dict[tuple[str, int], int] = {}
    for team, score, hour in scores:
        expected[team, hour] = expected.get((team, hour), 0) + score
    latest: dict[tuple[str, int], int] = {}
    for team, score, hour in rows_of(out):
        latest[team, hour] = max(score, latest.get((team, hour), 0))
    assert latest == expected
    assert sorted(rows_of(totals)) == sorted(
        (team, n, hour) for (team, hour), n in expected.items()
    )


def test_what_the_main_program_defines_is_there_after_kills(tmp_path: Path) -> None:
    """Keys, accumulators and states are objects of classes of the main program."""
    folder, hourly, bests = (tmp_path / name for name in ("games", "hourly", "bests"))
    for empty in (folder, hourly, bests):
        empty.mkdir()
    command = command_of("main_program_job", folder, hourly, bests, tmp_path / "checkpoint")
    scores: list[tuple[str, int, int]] = []
    for number in range(5):
        scores += games_of(folder, number)
        if number in (1, 3):
            written = len([*bests.iterdir()]) + 2
            killed_after(command, lambda least=written: len([*bests.iterdir()]) >= least)
    assert subprocess.run([*command, "drain"], check=False, timeout=400).returncode == 0
    totals: Counter[tuple[str, int, bool]] = Counter()
    for team, score, hour in scores:
        totals[team, hour, score >= 100] += score
    assert sorted(rows_of(hourly)) == sorted(
        (team, n, hour) for (team, hour, _), n in totals.items()
    )
    better = [(team, score, 0) for team, score, _ in scores]
    assert sorted(rows_of(bests)) == sorted([("low", 0, 0), *better])
