"""Programs of Beam with their command lines, run as they are: by Python with Beam's own runner and
with ``--runner=beamlike.BeamlikeRunner``, and by ``beamlike run``, the pocket edition.

What they print, the files that they write and their exit status are compared. Where a program says
nothing of the order of lines, or of what it chooses at random, neither does this.

``python -m tests.beam_suite --programs`` writes ``PROGRAMS.md``.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]

_LINES: Final = (
    "Flourish stomach Flourish\nthe cat sat on the mat\n"
    "The dog, the cat and the king\n\nto be or not Flourish\n"
)
_SCORES: Final = "".join(
    f"user{n % 5}_team{n % 2},team{n % 2},{n},{1447686663000 + n * 1000},2015-11-16\n"
    for n in range(20)
)
_EDITS: Final = "".join(
    json.dumps({"timestamp": index * 900, "contributor_username": f"editor{index % 3}"}) + "\n"
    for index in range(40)
)
_TRANSACTIONS: Final = "".join(
    f"{index},2019-12-{9 - index % 9},2206{index},Thing,{5 + index}.0,{15 + index},1749{index},UK\n"
    for index in range(9)
)

INPUTS: Final[Mapping[str, str]] = {
    "lines.txt": _LINES,
    "scores.csv": _SCORES,
    "edits.json": _EDITS,
    "input.csv": "TransactionNo,Date,ProductNo,ProductName,Price,Quantity,CustomerNo,Country\n"
    + _TRANSACTIONS,
    "games.json": '{"host": ["Germany", 1], "guest": ["Italy", 0]}\n'
    '{"host": ["Germany", 1], "guest": ["Brasil", 3]}\n'
    '{"host": ["Brasil", 1], "guest": ["Italy", 0]}\n',
    "players.csv": "joe,10\nmary,20\njoe,30\n",
    "matrix.txt": "0: 2 0\n1: 1 3\n",
    "vector.txt": "1 2\n",
    "email.tsv": "joe\tjoe@example.com\nann\tann@example.com\n",
    "phone.tsv": "joe\t111\n",
    "snailmail.tsv": "ann\tHigh Street 1\n",
    "myfile.txt": "Hello\nworld\n",
}


@dataclass(frozen=True)
class Program:
    """A program of Beam's.

    Args:
        path: Where it is below the folder of Beam's examples, or below that of other sources.
        arguments: Its command line; ``IN/`` stands for the folder of inputs and ``OUT/`` for that
            of what it writes.
        chooses: Whether what it writes is chosen at random: then only the files count.
        source: The text of a program that is written here.
    """

    path: str
    arguments: Sequence[str] = ()
    chooses: bool = False
    source: str = field(default="", repr=False)


def _in_out(path: str, given: str = "lines.txt", *more: str) -> Program:
    return Program(path, ("--input", f"IN/{given}", "--output", "OUT/out", *more))


RUNNER: Final = "--runner=beamlike.BeamlikeRunner"

PROGRAMS: Final = (
    _in_out("wordcount.py"),
    _in_out("wordcount_minimal.py"),
    _in_out("wordcount_debugging.py"),
    _in_out("wordcount_with_metrics.py"),
    Program(
        "matrix_power.py",
        (
            *("--input_matrix", "IN/matrix.txt", "--input_vector", "IN/vector.txt"),
            *("--output", "OUT/out", "--exponent", "3"),
        ),
    ),
    _in_out("cookbook/coders.py", "games.json"),
    _in_out("cookbook/custom_ptransform.py"),
    _in_out("cookbook/group_with_coder.py", "players.csv"),
    Program(
        "cookbook/mergecontacts.py",
        (
            *("--input_email", "IN/email.tsv", "--input_phone", "IN/phone.tsv"),
            *("--input_snailmail", "IN/snailmail.tsv"),
            *("--output_tsv", "OUT/tsv", "--output_stats", "OUT/stats"),
        ),
    ),
    _in_out("cookbook/multiple_output_pardo.py"),
    _in_out("complete/autocomplete.py"),
    Program("complete/estimate_pi.py", ("--output", "OUT/out"), chooses=True),
    Program("complete/tfidf.py", ("--uris", "IN/lines.txt,IN/myfile.txt", "--output", "OUT/out")),
    _in_out("complete/top_wikipedia_sessions.py", "edits.json", "--sampling_threshold", "1.0"),
    _in_out("complete/game/user_score.py", "scores.csv"),
)


@dataclass(frozen=True)
class Outcome:
    """What came of a program: its exit status, the lines it printed and those of its files."""

    status: int
    printed: Sequence[str]
    files: Mapping[str, Sequence[str]]
    error: str = ""


Row = Sequence[Any]
"""The exit status of a program with Beam, what differs by our runner, and in the pocket edition."""

_ADDRESS: Final = re.compile(r"0x[0-9a-f]+|beamlike-run-\w+|/tmp/\S+")


def run_program(
    program: Program, file: Path, command: Sequence[str], between: Sequence[str]
) -> Outcome:
    """Run a program in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="beam-program-") as folder:
        given, out = Path(folder, "in"), Path(folder, "work")
        given.mkdir()
        out.mkdir()
        for name, text in INPUTS.items():
            given.joinpath(name).write_text(text, encoding="utf-8")
            out.joinpath(name).write_text(text, encoding="utf-8")
        before = {path.name for path in out.iterdir()}
        arguments = [
            argument.replace("IN/", f"{given}/").replace("OUT/", f"{out}/")
            for argument in program.arguments
        ]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
        done = subprocess.run(
            [*command, str(file), *between, *arguments],
            cwd=out,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        found = [
            path for path in sorted(out.rglob("*")) if path.is_file() and path.name not in before
        ]
        files = {
            it.relative_to(out).as_posix(): sorted(it.read_text("utf-8").splitlines())
            for it in found
        }
    printed = sorted(_ADDRESS.sub("...", line) for line in done.stdout.splitlines())
    last = done.stderr.strip().splitlines()[-1:] or [""]
    return Outcome(done.returncode, printed, files, _ADDRESS.sub("...", last[0]))


def differences(program: Program, real: Outcome, outcome: Outcome) -> list[str]:
    """How what a program did here differs from what it did with Beam."""
    found = []
    if real.status != outcome.status:
        found.append(f"exit status {outcome.status}, not {real.status}: {outcome.error}")
    elif real.files.keys() != outcome.files.keys():
        found.append(f"files {sorted(outcome.files)}, not {sorted(real.files)}")
    elif not program.chooses:
        if real.printed != outcome.printed:
            found.append("it printed something else")
        found += [
            f"other lines in {name}"
            for name in real.files
            if real.files[name] != outcome.files[name]
        ]
    return found


def write_programs(
    python: Path, examples: Path, version: str, kept: Path, target: Path, only: str
) -> str:
    """Run programs with both, and write the table of what differs when all have run."""
    known: dict[str, Row] = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    for program in PROGRAMS:
        if only not in program.path:
            continue
        file = examples / program.path
        real = run_program(program, file, [str(python)], ())
        ran = run_program(program, file, [str(python)], (RUNNER,))
        between = ("--",) if program.arguments else ()
        mine = run_program(program, file, [sys.executable, "-m", "beamlike.cli", "run"], between)
        found = [differences(program, real, other) for other in (ran, mine)]
        known[program.path] = [real.status, *found]
        kept.write_text(json.dumps(known), encoding="utf-8")
        print(program.path, *(it or "same" for it in found), file=sys.stderr)
    text = text_of([(it.path, known[it.path]) for it in PROGRAMS if it.path in known], version)
    if len(known) == len(PROGRAMS):
        target.write_text(text, encoding="utf-8")
    return text


def text_of(rows: Iterable[tuple[str, Row]], version: str) -> str:
    """The table, in Markdown. What fails with Beam itself does not count."""
    counted = [(path, *found) for path, (status, *found) in rows if status == 0]
    by_runner, in_pocket = (sum(not row[place] for row in counted) for place in (1, 2))
    lines = [
        "# Programs of Apache Beam, as they are",
        "",
        f"apache-beam {version}, each with its command line: by Python with Beam, the same with",
        f"`{RUNNER}`, and by `beamlike run`, the pocket edition. Compared are exit",
        "status, what is printed, and files with their lines. Written by",
        "`python -m tests.beam_suite --programs`.",
        "",
        f"{by_runner} of {len(counted)} programs do the same by the runner, and {in_pocket} in the",
        "pocket edition.",
        "",
        "| program | what differs by the runner | and in the pocket edition |",
        "|---|---|---|",
    ]
    for path, *found in counted:
        cells = ("; ".join(it).replace("|", "/") for it in found)
        lines.append(f"| {path} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
