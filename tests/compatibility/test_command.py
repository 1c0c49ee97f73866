"""The command that tries versions and clusters, as far as it can be tried without them."""

import re
import sys
import zipfile
from pathlib import Path

import pytest
from attrs import evolve

from tests.compatibility import __main__ as command
from tests.compatibility.__main__ import LATEST, main
from tests.compatibility.bounds import constraints
from tests.compatibility.probe import zipped
from tests.compatibility.settings import CANNOT_CONNECT, SETTINGS, Setting, Suite
from tests.compatibility.steps import Ended, StepFailed
from tests.support.environments import interpreter
from tests.support.latest import Latest

ROOT = Path(__file__).resolve().parents[2]


def test_the_settings_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "pyspark-4.1",
        "pyspark-4.2",
        "python-3.12",
        "python-3.13",
        "connect",
        "local-cluster",
        "standalone",
        "submit",
        "lower-bounds",
    ]


def test_the_settings_name_tests_that_are_there() -> None:
    named = {
        word.partition("::")[0]
        for setting in SETTINGS
        for each in setting.does
        if isinstance(each, Suite)
        for word in each.options
        if word.startswith("tests/")
    }
    assert {name for name in named if not (ROOT / name).exists()} == set()
    for test in CANNOT_CONNECT:
        file, _, rest = test.partition("::")
        assert f"def {rest.partition('[')[0]}(" in (ROOT / file).read_text(), test


def test_whatever_is_needed_has_a_lower_bound() -> None:
    pinned = dict(line.split("==") for line in constraints())

    assert {"attrs", "cloudpickle", "numpy", "pandas", "protobuf", "pyarrow"} <= pinned.keys()
    assert {"pyspark", "resvg-py", "rich", "datasketches", "hypothesis"} <= pinned.keys()
    assert all(re.fullmatch(r"\d+(\.\d+)*", version) for version in pinned.values())


def test_this_python_is_found_and_one_that_there_is_not_is_not() -> None:
    major, minor = sys.version_info[:2]
    assert interpreter(f"{major}.{minor}") == sys.executable
    assert interpreter("2.99") is None


def test_a_row_takes_the_place_of_the_one_before_it_and_others_and_the_notes_stay(tmp_path: Path):
    latest = Latest(tmp_path / "LATEST.md", "# Latest\n\n", ("trial", "result", "on"))
    notes = "\nA note that somebody wrote.\n\n| of | its own |\n|---|---|\n| a | table |\n"
    latest.path.write_text(
        "# Latest\n\n| trial | result | on |\n|---|---|---|\n| b | fails | 2026-01-01 |\n"
        f"| a | holds | 2026-01-01 |\n| old | holds | 2026-01-01 |\n{notes}"
    )

    latest.keep("b", "holds | now", order=["a", "b"])

    *head, first, second = latest.path.read_text().removesuffix(notes).splitlines()
    assert latest.path.read_text().endswith(notes)
    assert head == ["# Latest", "", "| trial | result | on |", "|---|---|---|"]
    assert first == "| a | holds | 2026-01-01 |"
    assert second.startswith("| b | holds / now | 20")


def test_a_setting_that_cannot_be_had_says_so_and_the_next_one_is_tried(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def prepared(setting: Setting, home: Path, source: Path) -> Path:
        if setting.name == "submit":
            return Path(sys.executable)
        saw = "exit status 1"
        raise StepFailed(Ended("pip install", False, saw, ["ERROR: no such version"], 3))

    monkeypatch.setattr(command, "prepared", prepared)
    monkeypatch.setattr(command, "done", lambda *_: Ended("probe submit", True, "2 panes", (), 9))
    monkeypatch.setattr(command, "printed_by", lambda *_: "3.11.7 4.3.0")
    monkeypatch.setattr(command, "checkout", lambda root, to: to)
    monkeypatch.setattr(command, "LATEST", evolve(LATEST, path=tmp_path / "LATEST.md"))

    assert main(["--only", "standalone", "submit", "--write"]) == 1

    assert capsys.readouterr().out.splitlines() == [
        "standalone",
        "  pip install: WRONG, exit status 1 (3 s)",
        "    | ERROR: no such version",
        "standalone: WRONG, pip install: exit status 1",
        "submit",
        "  probe submit: ok, 2 panes (9 s)",
        "submit: ok, probe submit: 2 panes",
    ]
    rows = (tmp_path / "LATEST.md").read_text().splitlines()[8:]
    assert [row.split(" | ")[:5] for row in rows] == [
        ["| standalone", "3.11", "pyspark>=4.1,<4.4", "wrong", "pip install: exit status 1"],
        ["| submit", "3.11.7", "4.3.0", "ok", "probe submit: 2 panes"],
    ]


def test_the_package_that_is_shipped_has_all_of_its_modules(tmp_path: Path) -> None:
    with zipfile.ZipFile(zipped(tmp_path)) as shipped:
        names = set(shipped.namelist())
    assert {"beamlike/__init__.py", "beamlike/hosts/spark/processor.py"} < names
    assert {"beamlike/testing/__init__.py", "beamlike/inspect/live/page.html"} < names
