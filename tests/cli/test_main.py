"""The command itself: help, version, mistakes, and what it does not import."""

import subprocess
import sys
from importlib import metadata

import pytest

from beamlike.cli import COMMANDS, main


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"beamlike {metadata.version('beamlike')}\n"


def test_without_a_command_the_help_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    nothing_said = capsys.readouterr().out
    assert main(["--help"]) == 0

    assert capsys.readouterr().out == nothing_said
    for name in COMMANDS:
        assert f"\n    {name} " in nothing_said
    assert "  beamlike replay scenario.json --format timeline " in nothing_said


def test_the_help_of_replay_explains_formats_and_exit_status(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["replay", "--help"]) == 0

    text = capsys.readouterr().out
    for line in (
        "  json       one document with the panes and drops of all scenarios, for",
        "  1   something came out otherwise, or a scenario failed",
        "  beamlike replay cases/*.json --host spark --format json > panes.json",
    ):
        assert line in text.splitlines()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["replya"], "beamlike: error: argument COMMAND: invalid choice: 'replya'"),
        (["replay"], "beamlike replay: error: the following arguments are required: FILE"),
        (["replay", "f", "--host", "flink"], "argument --host: invalid choice: 'flink'"),
        (["--quick"], "beamlike: error: unrecognized arguments: --quick"),
    ],
)
def test_a_request_that_is_not_understood_is_status_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert main(arguments) == 2
    assert says in capsys.readouterr().err


def test_replay_in_memory_imports_neither_spark_nor_plotting() -> None:
    program = (
        "import sys; from beamlike.cli import main; main(['replay', '--help']); "
        "print(sorted({'pyspark', 'matplotlib', 'rich', 'pandas'} & set(sys.modules)))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert shown.stdout.splitlines()[-1] == "[]"
