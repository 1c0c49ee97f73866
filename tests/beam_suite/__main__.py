"""Run Beam's tests and programs on this package: ``python -m tests.beam_suite``.

Each runs with Beam's own runner, with `BeamlikeRunner`, and with the pocket edition in place of
Beam.

What Beam itself makes of them is kept in the folder of ``--work``, so that it runs them once. A run
that was interrupted goes on where it was.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.beam_suite.checkout import checkout_version, learning
from tests.beam_suite.environment import beam_environment, beam_folder, version_of
from tests.beam_suite.names import TARGET, names_of, written
from tests.beam_suite.programs import write_programs
from tests.beam_suite.rows import write_rows
from tests.beam_suite.stubs import FOLDER, write_stubs
from tests.beam_suite.table import compared, text_of
from tests.beam_suite.units import programs, tests
from tests.support.commands import command_parser

HERE: Final = Path(__file__).resolve().parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = parsed(arguments)
    work = Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    python = Path(options.beam) if options.beam else beam_environment(work, options.version)
    beam, version = beam_folder(python), version_of(python)
    if options.names:
        TARGET.write_text(written(names_of(beam), version), encoding="utf-8")
        write_stubs(FOLDER)
        return 0
    if options.programs:
        target = HERE / "PROGRAMS.md"
        kept, only = work / f"programs-{version}.json", options.only or ""
        print(write_programs(python, beam / "examples", version, kept, target, only))
        return 0
    if options.rows:
        print(write_rows(python, version, HERE / "ROWS.md"))
        return 0
    sources = Path(options.sources) if options.sources else None
    checkout = Path(options.checkout) if options.checkout else None
    units = [*tests(beam), *programs(beam, sources), *(learning(checkout) if checkout else ())]
    units = [unit for unit in units if not options.only or options.only in unit["unit"]]
    if options.list:
        print(*(unit["unit"] for unit in units), sep="\n")
        return 0
    kept = work / f"beam-{version}.jsonl"
    run(python, "beam", units, kept)
    run(
        python,
        "beam",
        [unit for unit in units if "file" in unit],
        work / f"beam-{version}-again.jsonl",
    )
    local = options.host == "local"
    mine = work / ("beamlike.jsonl" if local else f"beamlike-{options.host}.jsonl")
    ran = work / mine.name.replace("beamlike", "runner")
    if not (options.resume or options.table):
        forget(mine, units)
        forget(ran, units)
    if not local:  # a program prints where its functions run, which is in another process
        units = [
            unit | {"limit": 10 * unit["limit"], "whole": 3600}
            for unit in units
            if "file" not in unit
        ]
    if not options.table:
        run(python, "beamlike", units, mine, options.host)
        run(python, "runner", units, ran, options.host)
    real = stable(entries(kept), entries(work / f"beam-{version}-again.jsonl"))
    of_checkout = checkout_version(checkout) if checkout else ""
    done = entries(mine)
    found, left = (
        compared(units, real, done),
        [unit["unit"] for unit in units if unit["unit"] not in done],
    )
    by_runner = compared(units, real, entries(ran))
    table = text_of(found, version, of_checkout, options.host, options.only or "", left, by_runner)
    print(table)
    if not options.only or not local:  # Spark takes long: a part of the files says something, too
        (HERE / ("LATEST.md" if local else "SPARK.md")).write_text(table, encoding="utf-8")
    return 0


def run(
    python: Path,
    answers: str,
    units: Sequence[Mapping[str, Any]],
    output: Path,
    host: str = "local",
) -> None:
    """Run the units that the output does not have."""
    ended = {it["unit"] for it in read(output) if it["test"] is None}
    left = [unit for unit in units if unit["unit"] not in ended]
    if not left:
        return
    unfinished = {it["unit"] for it in left}
    keep(output, [it for it in read(output) if it["unit"] not in unfinished])
    plan = output.with_suffix(".plan.json")
    plan.write_text(json.dumps({"answers": answers, "host": host, "units": left}), encoding="utf-8")
    print(f"{answers}: {len(left)} of {len(units)} files to run", file=sys.stderr)
    subprocess.run([python, HERE / "probe.py", plan, output], check=True)


def forget(output: Path, units: Iterable[Mapping[str, Any]]) -> None:
    """Forget what these units did."""
    named = {unit["unit"] for unit in units}
    keep(output, [it for it in read(output) if it["unit"] not in named])


def read(output: Path) -> list[dict[str, Any]]:
    """All entries of an output."""
    if not output.exists():
        return []
    return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]


def keep(output: Path, found: Iterable[Mapping[str, Any]]) -> None:
    """Write an output anew, with these entries."""
    lines = [json.dumps(it) for it in found]
    output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def entries(output: Path) -> dict[str, list[dict[str, Any]]]:
    """The entries of each unit that ended."""
    found: dict[str, list[dict[str, Any]]] = {}
    ended = set()
    for it in read(output):
        if it["test"] is None:
            ended.add(it["unit"])
            found.setdefault(it["unit"], [])
        else:
            found.setdefault(it["unit"], []).append(it)
    return {unit: all_of for unit, all_of in found.items() if unit in ended}


def stable(
    first: dict[str, list[dict[str, Any]]], again: dict[str, list[dict[str, Any]]]
) -> dict[str, list[dict[str, Any]]]:
    """What Beam did, where a program says whether it prints the same twice."""
    for unit, all_of in first.items():
        printed = [it.get("printed") for it in again.get(unit, [])]
        for it in all_of:
            it["stable"] = "printed" in it and [it["printed"]] == printed
    return first


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = command_parser("tests.beam_suite", __doc__)
    parser.add_argument("--beam", metavar="PYTHON", help="a Python that has apache-beam")
    parser.add_argument("--version", default="2.77.0", help="of the Beam to install")
    parser.add_argument("--work", default="beam-suite", metavar="DIR", help="what is kept, here")
    parser.add_argument("--sources", metavar="DIR", help="a folder with more programs")
    parser.add_argument("--checkout", metavar="DIR", help="a checkout of Beam's repository")
    parser.add_argument("--only", metavar="TEXT", help="files with this in their names")
    parser.add_argument("--resume", action="store_true", help="go on with a run of beamlike")
    parser.add_argument("--table", action="store_true", help="run nothing, and write what is known")
    parser.add_argument("--host", choices=("local", "spark"), default="local", help="where to run")
    parser.add_argument("--list", action="store_true", help="say which files are run, and run none")
    parser.add_argument("--programs", action="store_true", help="run programs as they are")
    parser.add_argument("--rows", action="store_true", help="play the runners' table with Beam")
    parser.add_argument("--names", action="store_true", help="write the names that Beam has")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
