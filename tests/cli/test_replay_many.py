"""`beamlike replay` of many files: folders, and what is wrong with them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from beamlike.cli import main


@pytest.fixture
def scenario(capsys: pytest.CaptureFixture[str]) -> str:
    """The scenario that the help begins with."""
    main(["replay", "--help"])
    text = capsys.readouterr().out
    return text[text.index("\n{\n") : text.index("\n}\n") + 3]


def write(folder: Path, scenario: str, *names: str) -> Path:
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(scenario.replace("late milk", file.stem), encoding="utf-8")
    return folder


def test_the_scenario_of_the_help_can_be_run_as_it_is(tmp_path: Path, scenario: str, capsys: Any):
    file = tmp_path / "scenario.json"
    file.write_text(scenario, encoding="utf-8")

    assert main(["replay", str(file)]) == 0
    assert (
        capsys.readouterr().out
        == """\
== late milk
FixedWindows(5m), AfterWatermark(late=AfterCount(1)), accumulating, allowed lateness 10m; \
list of each pane

  step  key        window                timing   #  ns  place  timestamp     value
  1     'table 3'  [00:00:00, 00:05:00)  ON_TIME  0  0   first  00:04:59.999  ['tea']
  2     'table 3'  [00:00:00, 00:05:00)  LATE     1  1          00:04:59.999  ['tea', 'milk']

nothing expected

1 scenario: 1 nothing expected
"""
    )


def test_of_a_folder_all_files_below_it_are_run_by_their_names(
    tmp_path: Path, scenario: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path, scenario, "b.json", "deep/er/a.json", "a.json", "notes.txt")

    assert main(["replay", str(folder), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [entry["id"] for entry in document["scenarios"]] == ["a", "b", "a"]


def test_a_folder_without_scenarios_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["replay", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"beamlike: {tmp_path}: there is no *.json file in this folder\n"
    )


def test_what_is_wrong_with_any_of_the_files_is_shown_and_the_others_are_played(
    tmp_path: Path, scenario: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path, scenario, "good.json")
    write(folder, scenario.replace('"aggregation"', '"agregation"'), "keys.json")
    write(folder, "{", "open.json")

    assert main(["replay", str(folder)]) == 2
    out, err = capsys.readouterr()
    assert out.startswith("== good\n")
    assert out.endswith("\n1 scenario: 1 nothing expected\n")
    assert (
        err
        == f"""\
beamlike: {folder}/keys.json: scenario 'keys': unknown field 'agregation'; did you mean \
'aggregation'?

{folder}/open.json:1:2: is not JSON: Expecting property name enclosed in double quotes

beamlike: not run, it cannot be read: {folder}/keys.json
beamlike: not run, it cannot be read: {folder}/open.json
"""
    )


def test_of_very_many_files_that_cannot_be_used_the_first_are_shown(tmp_path: Path, capsys: Any):
    folder = write(tmp_path, "{}", *(f"{number}.json" for number in range(9)))

    assert main(["replay", str(folder)]) == 2
    said = capsys.readouterr().err
    assert [int(number) for number in re.findall(r"/(\d)\.json: lacks ", said)] == [0, 1, 2, 3, 4]
    assert said.endswith("\n\n... and 4 more files that cannot be used\n")
