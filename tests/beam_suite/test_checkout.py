"""Which programs of a checkout are run, and in which folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.beam_suite.checkout import SAMPLES, checkout_version, learning
from tests.beam_suite.probe import run_program
from tests.beam_suite.table import Compared, text_of

PLAY = "gs://apache-beam-samples/shakespeare/kinglear.txt"
KATA = "learning/katas/python/Examples/Count/task.py"
TOUR = "learning/tour-of-beam/learning-content/io/read/python-example/task.py"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    texts = {
        KATA: "p = beam.Pipeline()\nimport helper\nprint(open('words.txt').read())\n",
        "learning/katas/python/Examples/Count/helper.py": "open('out', 'w').write('b\\na\\n')\n",
        "learning/katas/python/Examples/Count/words.txt": "tea",
        "learning/katas/python/Examples/Count/tests/test_task.py": "beam.Pipeline()",
        TOUR: f"class beam:\n    Pipeline = print\nbeam.Pipeline(open('{PLAY}').readline())\n",
        TOUR.replace("example", "challenge"): "beam.Pipeline()",
        TOUR.replace("/read/", "/query/"): "beam.Pipeline() | ReadFromBigQuery()",
        TOUR.replace("/read/", "/bucket/"): "beam.Pipeline() | ReadFromText('gs://mine/a')",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_programs_that_need_no_service_are_run(checkout: Path) -> None:
    found = {it["unit"]: it["samples"] for it in learning(checkout)}
    assert found == {KATA: {}, TOUR: {PLAY: SAMPLES[PLAY]}}


def ran(unit: dict[str, Any], monkeypatch: pytest.MonkeyPatch, folder: Path) -> dict[str, Any]:
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.path", ["", *__import__("sys").path])
    monkeypatch.setattr("sys.argv", [])
    output = folder.with_suffix(".jsonl")
    run_program(unit, output)
    (line,) = output.read_text(encoding="utf-8").splitlines()
    entry: dict[str, Any] = json.loads(line)
    return entry


def test_a_program_runs_in_a_copy_of_its_folder_with_its_samples(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kata, tour = learning(checkout)
    monkeypatch.setattr("builtins.beam", type("beam", (), {"Pipeline": object}), raising=False)
    entry = ran(kata, monkeypatch, tmp_path / "first")
    assert (entry["outcome"], entry["printed"]) == ("passed", ["out: a", "out: b", "tea"])
    entry = ran(tour, monkeypatch, tmp_path / "second")
    assert (entry["outcome"], entry["printed"]) == ("passed", ["", "KING LEAR"])
    assert not (checkout / KATA).with_name("out").exists()


def test_the_table_says_of_which_checkout_programs_are(checkout: Path) -> None:
    entries = [{"test": "", "outcome": "passed", "printed": [], "stable": True}]
    found = [Compared({"unit": KATA, "kind": "programs"}, entries, entries)]
    version = checkout / "sdks/python/apache_beam/version.py"
    assert checkout_version(checkout) == ""
    version.parent.mkdir(parents=True)
    version.write_text("__version__ = '2.64.0.dev'\n", encoding="utf-8")
    text = text_of(found, "2.77.0", checkout_version(checkout))
    assert "Tour of Beam of a checkout of 2.64.0.dev, `--checkout`" in text
    assert "of a checkout, `--checkout`" in text_of(found, "2.77.0")
