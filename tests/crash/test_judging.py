"""What is judged by Spark's notes: nothing wrong is right there, and what is wrong is named."""

import argparse
import errno
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from tests.crash import feed, full_disk, judging, noted, played, report, rules, works

SECOND = 1_000
NOON = 1_600_000_000_000
"""The clock at the first micro-batch (ms)."""

Rows = dict[int, list[dict[str, Any]]]


class Run:
    """A run of the pipeline that waits for the clock, as it lies in its folder.

    A file comes in every third micro-batch, and the clock moves on by a second in each.
    """

    def __init__(self, home: Path) -> None:
        self.home, self.feed = home, home / "feed"
        self.work = works.WORKS["clock-beam"]
        feed.write_feed(self.feed, 6, seed=1)
        checkpoint = home / self.work.name / self.work.checkpoint
        for folder in ("offsets", "commits"):
            (checkpoint / folder).mkdir(parents=True)
        for index in range(18):
            clocks = {"batchWatermarkMs": 0, "batchTimestampMs": NOON + index * SECOND}
            file = json.dumps({"logOffset": (index - 1) // 3}) if index > 0 else "-"
            lines = ["v1", json.dumps(clocks), file, json.dumps({"tick": index})]
            (checkpoint / "offsets" / str(index)).write_text("\n".join(lines))
            (checkpoint / "commits" / str(index)).touch()
        self.notes = noted.noted(checkpoint)
        seen = noted.seen_by_rows(self.feed, self.notes)
        rows: Rows = played.played(self.feed, self.work.windowing, seen, begins=False)
        self.rows = {at: [it for it in of if "dropped" not in it] for at, of in rows.items()}

    def wrong(self) -> list[str]:
        out = self.home / self.work.name / "out"
        out.mkdir(exist_ok=True)
        for number, rows in self.rows.items():
            lines = "".join(f"{json.dumps(row)}\n" for row in rows)
            (out / f"{number:06}.lines").write_text(lines, "utf-8")
        found: list[str] = judging.wrong(self.work, self.home, self.feed, self.home)
        return found


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_notes_say_which_files_came_and_what_the_clock_said(run: Run) -> None:
    files = [list(note.files) for note in run.notes]

    assert files == [[], [0], [], [], [1], [], [], [2], [], [], [3], [], [], [4], [], [], [5], []]
    assert [note.clock - NOON for note in run.notes] == [index * SECOND for index in range(18)]


def test_what_follows_from_the_notes_is_right(run: Run) -> None:
    timings = {row["timing"] for rows in run.rows.values() for row in rows}

    assert timings == {"EARLY", "ON_TIME", "LATE"}
    assert run.wrong() == []


def test_the_micro_batch_in_which_the_query_was_stopped_may_be_there_without_rows(run: Run) -> None:
    run.rows[18] = []

    assert run.wrong() == []


def first_pane(rows: Rows) -> tuple[int, dict[str, Any]]:
    """The first early one, which its on-time pane follows; and its micro-batch."""
    return next((at, it) for at, of in rows.items() for it in of if it["timing"] == "EARLY")


def lose_one(rows: Rows) -> None:
    at, pane = first_pane(rows)
    rows[at].remove(pane)


def double_one(rows: Rows) -> None:
    at, pane = first_pane(rows)
    rows[at].append(pane)


def delay_one(rows: Rows) -> None:
    at, pane = first_pane(rows)
    rows[at].remove(pane)
    rows[at + 1].insert(0, pane)


def number_it_otherwise(rows: Rows) -> None:
    _, pane = first_pane(rows)
    pane["index"] += 1


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lose_one, {"lost", "has other numbers", "whatever the clock"}),
        (double_one, {"too many", "has other numbers", "counts 2 times", "whatever the clock"}),
        (delay_one, {"lost", "too many"}),
        (number_it_otherwise, {"lost", "too many", "has other numbers"}),
    ],
)
def test_what_does_not_follow_from_them_is_named(
    spoil: Callable[[Rows], None], words: set[str], run: Run
) -> None:
    spoil(run.rows)
    wrong = "\n".join(run.wrong())

    every = {"lost", "too many", "has other numbers", "counts 2 times", "whatever the clock"}
    assert {text for text in every if text in wrong} == words, wrong


@pytest.mark.parametrize("name", ["clock", "intervals"])
def test_what_a_window_holds_does_not_follow_from_the_clock(name: str, tmp_path: Path):
    lines = tmp_path / "feed"
    feed.write_feed(lines, 9, seed=1)
    windowing = works.WORKS[name].windowing
    still = noted.still_notes(lines)
    moving = [attrs.evolve(it, clock=NOON + it.number * SECOND) for it in still]
    rows = [
        [row for of in played.played(lines, windowing, it, begins=True).values() for row in of]
        for it in (still, moving)
    ]
    contents = [rules.content(row, merging=name == "intervals") for row in rows]

    assert len(rows[0]) < len(rows[1])
    assert contents[0] == contents[1]


def test_somebody_else_takes_what_is_given_back_and_leaves_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space, taken = 10 * 4096, threading.Event()

    def write(file: int, block: bytes) -> int:
        nonlocal space
        if len(block) > space:
            raise OSError(errno.ENOSPC, "no space left")
        space -= len(block)
        taken.set()
        return len(block)

    # Others in this process go on writing.
    monkeypatch.setattr(full_disk, "os", SimpleNamespace(**vars(os) | {"write": write}))
    with full_disk.SomebodyElse(tmp_path):
        assert space == 0
        taken.clear()
        space = 4096
        assert taken.wait(60)
        assert space == 0

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("full_disks", "is_said"), [(2, True), (0, False)])
def test_where_nothing_can_be_mounted_the_report_says_so(full_disks: int, is_said: bool) -> None:
    options = argparse.Namespace(
        kills=1, per_run=None, seed=0, files=1, no_faults=False, full_disks=full_disks
    )
    result = report.Result(options, ["clock"], [], None, [], ["kafka is left out: no"], 1.0)
    page = result.markdown()

    assert ("No file system could be mounted here, so that none was full." in page) is is_said
