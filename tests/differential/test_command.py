"""``python -m tests.differential``: what it prints, and its exit status."""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from beamlike.hosts.memory import run_in_memory
from beamlike.testing import differential
from beamlike.testing.transcripts import differences as unlike_expected
from beamlike.testing.transcripts import load_transcripts

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command's ``main``, as it is found from the top of the checkout."""
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("tests.differential.__main__").main


def test_it_counts_how_often_each_law_was_checked(command: Any, capsys: Any) -> None:
    assert command(["--scenarios", "30", "--seed", "5"]) == 0

    said = capsys.readouterr().out.splitlines()
    assert [line[10:] for line in said[:-2]] == list(differential.LAWS)
    assert said[0] == "      30  a restart before every step changes nothing"
    assert said[-1].startswith("30 scenarios of seed 5 in ")
    assert said[-1].endswith(" s: every law holds")


def test_jobs_share_the_work(command: Any, capsys: Any) -> None:
    assert command(["--scenarios", "300", "--jobs", "2"]) == 0

    assert capsys.readouterr().out.splitlines()[0].split()[0] == "300"


def test_what_breaks_a_law_is_printed_as_a_transcript_to_replay(
    command: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    law = "panes are early, on time, late, and counted"
    # Here a law is broken as soon as a pane comes out.
    laws = {law: lambda case: [f"{len(case.run.panes)} panes"] if case.run.panes else []}
    monkeypatch.setattr(differential, "LAWS", laws)
    monkeypatch.setattr(sys.modules[command.__module__], "LAWS", laws)
    monkeypatch.setattr("beamlike.testing.shrinking.LAWS", laws)

    assert command(["--scenarios", "1", "--first", "12"]) == 1

    said = capsys.readouterr().out
    assert f"scenario 12 of seed 0 breaks a law: {law}\n" in said
    assert "again: python -m tests.differential --seed 0 --first 12 --scenarios 1\n" in said
    file = tmp_path / "smallest.json"
    file.write_text(said[said.index("\n{\n") : said.rindex("}") + 1], encoding="utf-8")
    (scenario,) = load_transcripts(file, must_expect=True)
    assert json.loads(file.read_text(encoding="utf-8"))["notes"] == f"breaks: {law}"
    run = run_in_memory(scenario.machine(), scenario.script)
    assert unlike_expected(scenario, run) == []
    assert len(run.panes) == 1
