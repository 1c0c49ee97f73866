"""``python -m tests.nightly`` as a command. Its trials run for hours, and not here."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.nightly import __main__ as nightly

TESTS = Path(__file__).resolve().parents[1]


def test_each_command_of_the_tests_is_a_trial_or_no_test() -> None:
    commands = {f"tests.{main.parent.name}" for main in TESTS.glob("*/__main__.py")}
    no_tests = {
        *("tests.nightly", "tests.conformance", "tests.saved_notebooks", "tests.state_versions")
    }
    assert {trial[0] for trial in nightly.TRIALS.values()} == (commands - no_tests) | {"pytest"}


def test_the_trials_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert nightly.main(["--list", "--only", "crash", "fuzz"]) == 0
    assert capsys.readouterr().out == (
        "crash          python -m tests.crash --kills 55\n"
        "fuzz           python -m tests.fuzz --minutes 30\n"
    )


def test_a_trial_that_fails_is_named_and_the_others_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def run(command: list[str], **_: Any) -> SimpleNamespace:
        ran.append(command[2])
        return SimpleNamespace(returncode=int(command[2] == "tests.crash"))

    monkeypatch.setattr(nightly.subprocess, "run", run)
    assert nightly.main(["--only", "crash", "endurance"]) == 1
    assert ran == ["tests.crash", "tests.endurance"]
    assert capsys.readouterr().out == (
        "crash: exit status 1 after 0 minutes\n"
        "endurance: exit status 0 after 0 minutes\n"
        "failed: crash\n"
    )
