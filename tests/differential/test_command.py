"""``python -m tests.differential``: what it prints, and its exit status."""

import json
import textwrap
from pathlib import Path
from typing import Any

import attrs
import pyarrow.compute as pc
import pytest

from beamlike.runtime.clock import ShardInput
from beamlike.runtime.column_shard import ColumnShard
from beamlike.runtime.memory import run_in_memory
from beamlike.testing.scenarios.files import differences as unlike_expected
from beamlike.testing.scenarios.files import load_transcripts
from tests.differential.__main__ import main
from tests.support import differential
from tests.support.laws import Laws

ROOT = Path(__file__).resolve().parents[2]


def test_it_counts_how_often_each_law_was_checked(capsys: Any) -> None:
    assert main(["--scenarios", "30", "--streams", "41", "--seed", "5"]) == 0

    said = capsys.readouterr().out.splitlines()
    assert [line[10:] for line in said[:-2]] == list(differential.LAWS)
    assert said[0] == "      30  a restart before every step changes nothing"
    assert said[3] == f"      30  {differential.ON_LOCAL}"
    # Those of memory and local, the same ones under all laws, and forty keys in each pass.
    assert said[-1].startswith("140 scenarios of seed 5 in ")
    assert said[-1].endswith(" s: every law holds")


@pytest.mark.nightly
def test_jobs_share_the_work(capsys: Any) -> None:
    assert main(["--parts", "laws", "--scenarios", "300", "--streams", "0", "--jobs", "2"]) == 0

    assert capsys.readouterr().out.splitlines()[0].split()[0] == "300"


def test_it_goes_on_where_it_was_and_writes_the_result_of_all(
    capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file, written = tmp_path / "p.jsonl", tmp_path / "R.md"
    monkeypatch.setattr("tests.differential.__main__.CHUNK", 10)
    kept = ["--parts", "local", "--progress", str(file), "--report", str(written)]
    assert main([*kept, "--scenarios", "30", "--minutes", "0"]) == 0
    assert main([*kept, "--scenarios", "20"]) == 0
    assert main([*kept, "--scenarios", "20"]) == 0

    said = [line for line in capsys.readouterr().out.splitlines() if line]
    assert [line.split()[0] for line in said] == ["10", "10", "20", "20", "20", "20"]
    header, *lines = map(json.loads, file.read_text().splitlines())
    assert list(header) == ["sources"]
    assert [line["chunk"] for line in lines] == ["local/0/0-9", "local/0/10-19"]
    assert [line["applied"] for line in lines] == [{differential.ON_LOCAL: 10}] * 2
    text = written.read_text().splitlines()
    assert text[:2] == ["# The latest comparison", ""]
    assert text[2].endswith(". Every law holds.")
    assert text[6].startswith("| local | 20 | ")
    assert text[-1] == f"| {differential.ON_LOCAL} | 20 |"


def test_a_scenario_that_local_emits_otherwise_is_found(
    capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    play = differential.run_in_local

    def silent(*stage: Any) -> Any:
        run = play(*stage)
        return attrs.evolve(run, outputs=run.outputs[1:])

    monkeypatch.setattr(differential, "run_in_local", silent)
    file = tmp_path / "p.jsonl"

    asked = ["--parts", "local", "--scenarios", "1", "--first", "3", "--progress", str(file)]
    assert main(asked) == 1

    said = capsys.readouterr().out
    assert f"scenario 3 of seed 0 breaks a law: {differential.ON_LOCAL}\n" in said
    assert len(file.read_text().splitlines()) == 1  # what is broken is not kept as done


def test_what_breaks_a_law_is_printed_as_a_stream_to_paste_and_a_transcript_to_replay(
    capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    law = "panes are early, on time, late, and counted"
    # Here a law is broken as soon as a pane comes out.
    laws = Laws({law: lambda case: [f"{len(case.run.panes)} panes"] if case.run.panes else []})
    monkeypatch.setattr("tests.differential.__main__.LAWS", laws)
    monkeypatch.setattr("tests.support.generated.shrinking.LAWS", laws)

    assert main(["--parts", "laws", "--scenarios", "1", "--first", "12", "--streams", "0"]) == 1

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
    capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = ColumnShard.step

    def deaf(shard: ColumnShard, store: Any, batch: ShardInput, *more: Any) -> Any:
        keys = (table.column("key_key") for table in batch.tables)
        others = (pc.fill_null(pc.not_equal(key, "k7"), True) for key in keys)
        tables = [table.filter(mask) for table, mask in zip(batch.tables, others, strict=True)]
        return step(shard, store, attrs.evolve(batch, tables=tables), *more)

    monkeypatch.setattr(ColumnShard, "step", deaf)

    assert main(["--scenarios", "0", "--streams", "40", "--first", "2"]) == 1

    said = capsys.readouterr().out
    again = "again: python -m tests.differential --seed 0 --first 2 --scenarios 0 --streams 40\n"
    assert again in said
    document = json.loads(said[said.index("\n{\n") : said.rindex("}") + 1])
    keys = [one["key"] for step in document["steps"] for one in step.get("elements", ())]
    assert keys == ["k7"]
