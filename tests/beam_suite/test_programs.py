"""How programs are run and compared: exit status, printed lines, and files."""

import sys
from pathlib import Path

import pytest

from tests.beam_suite.programs import Outcome, Program, differences, run_program, text_of

PROGRAM = Program("job.py", ("--output", "OUT/out"))


def outcome(status: int = 0, printed: tuple[str, ...] = (), **files: list[str]) -> Outcome:
    return Outcome(status, printed, files, "ValueError: no")


@pytest.mark.parametrize(
    ("real", "mine", "found"),
    [
        (outcome(printed=("a",), out=["x"]), outcome(printed=("a",), out=["x"]), []),
        (outcome(), outcome(1), ["exit status 1, not 0: ValueError: no"]),
        (outcome(out=[]), outcome(), ["files [], not ['out']"]),
        (
            outcome(printed=("a",), out=["x"]),
            outcome(out=["y"]),
            ["it printed something else", "other lines in out"],
        ),
    ],
)
def test_what_differs(real: Outcome, mine: Outcome, found: list[str]) -> None:
    assert differences(PROGRAM, real, mine) == found


def test_of_what_is_chosen_at_random_only_the_files_count() -> None:
    chooses = Program("pi.py", chooses=True)
    assert differences(chooses, outcome(out=["3.1"]), outcome(out=["3.2"])) == []


def test_a_program_runs_in_a_folder_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "job.py"
    file.write_text(
        "import sys\n"
        "from pathlib import Path\n"
        "Path(sys.argv[2]).write_text('b\\na\\n')\n"
        "print('second', object())\n"
        "print('first', Path('lines.txt').exists())\n"
        "sys.exit('no more')\n"
    )
    assert run_program(PROGRAM, file, [sys.executable], ()) == Outcome(
        1, ["first True", "second <object object at ...>"], {"out": ["a", "b"]}, "no more"
    )


def test_the_table_counts_what_runs_with_beam() -> None:
    rows = [("one.py", [0, [], []]), ("two.py", [0, [], ["files"]]), ("broken.py", [1, [], []])]
    assert text_of(rows, "2.77.0").splitlines()[7:] == [
        "2 of 2 programs do the same by the runner, and 1 in the",
        "pocket edition.",
        "",
        "| program | what differs by the runner | and in the pocket edition |",
        "|---|---|---|",
        "| one.py |  |  |",
        "| two.py |  | files |",
    ]
