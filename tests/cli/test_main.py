"""The command itself: help, version, mistakes, and what it does not import."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

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
    listed = [line.split()[0] for line in nothing_said.splitlines() if line.startswith("    ")]
    assert [name for name in listed if name in COMMANDS] == list(COMMANDS)
    assert "  beamlike replay scenario.json --format timeline " in nothing_said


def test_the_help_of_replay_explains_formats_and_exit_status(capsys: pytest.CaptureFixture[str]):
    assert main(["replay", "--help"]) == 0

    text = capsys.readouterr().out
    for line in (
        "  json       one document with the panes and drops of all scenarios, for",
        "  1   something came out otherwise, or a scenario failed",
        "  beamlike replay cases/ --host spark --format json > panes.json",
    ):
        assert line in text.splitlines()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("replya", "beamlike: COMMAND: invalid choice: 'replya' (choose from "),
        ("--quick", "beamlike: unrecognized arguments: --quick"),
        ("replay", "beamlike replay: the following arguments are required: FILE"),
        ("replay --fromat timeline f", "beamlike: unrecognized arguments: --fromat"),
        (
            "replay f --format tmieline",
            "beamlike replay: --format: invalid choice: 'tmieline' (choose from ",
        ),
        ("replay f --out", "beamlike replay: --out: expected one argument"),
        ("explain a b", "beamlike: unrecognized arguments: b"),
        (
            "state f --limit -1",
            "beamlike state: --limit: must be a whole number of 0 or more, got '-1'",
        ),
        (
            "state f --batch last",
            "beamlike state: --batch: must be a whole number of 0 or more, got 'last'",
        ),
        (
            "demo --days none",
            "beamlike demo: --days: must be a whole number of 1 or more, got 'none'",
        ),
    ],
)
def test_what_is_not_understood_is_refused_in_two_lines(capsys: Any, arguments: str, says: str):
    assert main(arguments.split()) == 2

    out, (said, how) = (text.splitlines() for text in capsys.readouterr())
    assert (out, how) == ([], f"{says.partition(':')[0]} --help shows how it is used")
    assert said.startswith(says)


@pytest.mark.parametrize(
    ("arguments", "which"),
    [
        (["replay", ""], "replay: FILE"),
        (["replay", "f", "--out", ""], "replay: --out"),
        (["explain", ""], "explain: FILE"),
        (["state", ""], "state: CHECKPOINT"),
        (["capture", "--key", "k", ""], "capture: CHECKPOINT"),
        (["capture", "f", "--key", "k", "--out", ""], "capture: --out"),
        (["drain", ""], "drain: CHECKPOINT"),
        (["demo", "--out", ""], "demo: --out"),
    ],
)
def test_an_empty_name_is_not_the_folder_that_one_stands_in(
    capsys: pytest.CaptureFixture[str], arguments: list[str], which: str
) -> None:
    assert main(arguments) == 2

    assert capsys.readouterr().err.splitlines()[0] == (
        f"beamlike {which}: must be the name of a file or a folder, got {arguments[-1]!r}; is a "
        "variable of the shell not set?"
    )


def test_an_option_may_be_cut_short(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "--hel"]) == 0
    assert capsys.readouterr().out.startswith("usage: beamlike replay ")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_tells_its_exit_status_and_shows_examples(capsys: Any, command: str):
    assert main([command, "--help"]) == 0

    text = capsys.readouterr().out
    assert "\nexit status:\n  0   " in text
    examples = text.partition("\nexamples:\n")[2].splitlines()
    assert len(examples) > 2
    assert all(line.startswith(f"  beamlike {command} ") or not line for line in examples)


def test_the_exit_status_of_all_commands_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    main([])

    section = capsys.readouterr().out.partition("exit status:\n")[2].partition("\n\n")[0]
    assert [line.split()[0] for line in section.splitlines()] == ["0", "1", "2", "70", "130", "141"]


@pytest.mark.parametrize("error", [RuntimeError("impossible"), ConnectionError("impossible")])
def test_a_mistake_of_beamlike_s_own_is_told_apart_from_a_difference(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def wrong(options: object) -> int:
        raise error

    monkeypatch.setattr("beamlike.cli.replay.run", wrong)

    assert main(["replay", "file"]) == 70
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "Traceback (most recent call last):"
    assert said[-2:] == [
        f"{type(error).__name__}: impossible",
        "beamlike: this should not have happened, and is a mistake in beamlike itself; please "
        "report it with the lines above",
    ]


def test_an_interrupt_is_no_mistake(capsys: Any, monkeypatch: pytest.MonkeyPatch):
    def interrupted(options: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("beamlike.cli.replay.run", interrupted)

    assert main(["replay", "file"]) == 130
    assert capsys.readouterr().err == "beamlike: interrupted\n"


def test_replay_in_memory_imports_neither_spark_nor_plotting() -> None:
    program = (
        "import sys; from beamlike.cli import main; main(['replay', '--help']); "
        "print(sorted({'pyspark', 'resvg_py', 'PIL', 'rich', 'pandas'} & set(sys.modules)))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert shown.stdout.splitlines()[-1] == "[]"


LONG = "x" * 5_000
DEEP = "[" * 100_000
CASE = str(Path(__file__).parents[1] / "conformance" / "cases" / "blog" / "blog_session.json")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["replay", CASE, "--format", "html", "--out", LONG], f"beamlike: {LONG}: File name too "),
        (["state", LONG], f"beamlike: {LONG}/offsets: File name too long"),
        (["drain", LONG], f"beamlike: the files of {LONG} cannot be reached: "),
        (["explain", "a\0b"], "beamlike explain: FILE: no name of a file has a NUL in it, got 'a"),
        (["explain", CASE, "--key", DEEP], f"beamlike: there is no key '{DEEP}'; the only key is "),
        (
            ["explain", CASE, "--window", "7" * 5_000, "8"],
            f"beamlike: --window START is not an instant: '{'7' * 119}... (5,002 characters); ",
        ),
        (
            ["state", "f", "--batch", "7" * 5_000],
            "beamlike state: --batch: must be a whole number of 0 or more, got '77777",
        ),
        (["--\x1b[2J"], r"beamlike: unrecognized arguments: --\x1b[2J"),
        (["drain", "dbfs://orders"], "beamlike: the files of dbfs://orders cannot be reached: "),
        (
            ["state", "file:///no/such/folder"],
            "beamlike: there is no folder /no/such/folder; give the folder that the query has",
        ),
    ],
    ids=lambda it: it[0] if isinstance(it, list) else "",
)
def test_whatever_is_typed_is_refused_in_a_line_and_no_mistake_of_beamlike_s(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(says)
    assert all(letter.isprintable() for line in err.splitlines() for letter in line)


def test_a_disk_that_is_full_is_reported_in_a_line() -> None:
    program = "import sys; from beamlike.cli import main; sys.exit(main(sys.argv[1:]))"
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            [sys.executable, "-c", program, "explain", CASE],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert (ran.returncode, ran.stderr) == (2, "beamlike: No space left on device\n")
