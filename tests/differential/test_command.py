"""``python -m tests.differential``: what it prints, and its exit status."""

import importlib
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from beamlike.runtime.column_shard import ColumnShard
from beamlike.runtime.memory import run_in_memory
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
    assert command(["--scenarios", "30", "--streams", "100", "--seed", "5"]) == 0

    said = capsys.readouterr().out.splitlines()
    assert [line[10:] for line in said[:-2]] == list(differential.LAWS)
    assert said[0] == "      30  a restart before every step changes nothing"
    # Forty keys in a pass.
    assert said[-1].startswith("150 scenarios of seed 5 in ")
    assert said[-1].endswith(" s: every law holds")


def test_jobs_share_the_work(command: Any, capsys: Any) -> None:
    assert command(["--scenarios", "300", "--streams", "0", "--jobs", "2"]) == 0

    assert capsys.readouterr().out.splitlines()[0].split()[0] == "300"


def test_what_breaks_a_law_is_printed_as_a_stream_to_paste_and_a_transcript_to_replay(
    command: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    law = "panes are early, on time, late, and counted"
    # Here a law is broken as soon as a pane comes out.
    laws = {law: lambda case: [f"{len(case.run.panes)} panes"] if case.run.panes else []}
    monkeypatch.setattr(differential, "LAWS", laws)
    monkeypatch.setattr(sys.modules[command.__module__], "LAWS", laws)
    monkeypatch.setattr("beamlike.testing.shrinking.LAWS", laws)

    assert command(["--scenarios", "1", "--first", "12", "--streams", "0"]) == 1

    said = capsys.readouterr().out
    assert f"scenario 12 of seed 0 breaks a law: {law}\n" in said
    again = "again: python -m tests.differential --seed 0 --first 12 --scenarios 1 --streams 0\n"
    assert again in said
    # A test stream to be pasted into a test.
    _, _, shown = said.partition("\nas a test stream:\n\n")
    names: dict[str, Any] = {}
    exec(textwrap.dedent(shown.partition("\n\n{\n")[0]), names)
    assert len(names["results"].panes) == 1
    # And a transcript.
    file = tmp_path / "smallest.json"
    file.write_text(said[said.index("\n{\n") : said.rindex("}") + 1], encoding="utf-8")
    (scenario,) = load_transcripts(file, must_expect=True)
    assert json.loads(file.read_text(encoding="utf-8"))["notes"] == f"breaks: {law}"
    run = run_in_memory(scenario.machine(), scenario.script)
    assert unlike_expected(scenario, run) == []
    assert len(run.panes) == 1


def test_a_key_that_comes_out_otherwise_is_left_alone_in_its_transcript(
    command: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = ColumnShard.step

    def deaf(shard: ColumnShard, store: Any, arrivals: Any, *clocks: Any) -> Any:
        keys = (table.column("key_key") for table in arrivals)
        others = (pc.fill_null(pc.not_equal(key, "k7"), True) for key in keys)
        heard = [table.filter(mask) for table, mask in zip(arrivals, others, strict=True)]
        return step(shard, store, heard, *clocks)

    monkeypatch.setattr(ColumnShard, "step", deaf)

    assert command(["--scenarios", "0", "--streams", "40", "--first", "2"]) == 1

    said = capsys.readouterr().out
    again = "again: python -m tests.differential --seed 0 --first 2 --scenarios 0 --streams 40\n"
    assert again in said
    document = json.loads(said[said.index("\n{\n") : said.rindex("}") + 1])
    keys = [one["key"] for step in document["steps"] for one in step.get("elements", ())]
    assert keys == ["k7"]
