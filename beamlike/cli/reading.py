"""The scenarios of files and folders, and what of them cannot be read."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import attrs

from beamlike.errors import TranscriptError
from beamlike.model.fingerprint import visible
from beamlike.testing.scenarios.files import Scenario, read_transcripts

_MOST_PROBLEMS = 5


@attrs.frozen
class Reading:
    """What was read.

    Args:
        scenarios: All that can be run.
        problems: What is wrong, a text for each file, with the places in it.
        unread: What cannot be run because of that, in the same order.
    """

    scenarios: tuple[Scenario, ...]
    problems: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def first_problems(self) -> str:
        """What is wrong with the first files."""
        more = len(self.problems) - _MOST_PROBLEMS
        ending = [f"... and {more} more files that cannot be used"] if more > 0 else []
        return "\n\n".join([*self.problems[:_MOST_PROBLEMS], *ending])

    def show_problems(self) -> None:
        """Say on standard error what is wrong, before anything runs."""
        print(f"beamlike: {visible(self.first_problems)}\n", file=sys.stderr, flush=True)

    def show_unread(self) -> None:
        """Repeat in a line for each file what has not run: the first message may be far above."""
        for what in self.unread:
            print(f"beamlike: not run, it cannot be read: {visible(what)}", file=sys.stderr)


def read_file(file: str) -> Reading:
    """The scenarios of a file."""
    return _all([_read(file)])


def read_files(names: Sequence[str]) -> Reading:
    """The scenarios of files and folders."""
    files = [file for name in names for file in _files(name)]
    return _all([_read(file) for file in files])


def _all(readings: Sequence[Reading]) -> Reading:
    whole = Reading(
        tuple(scenario for reading in readings for scenario in reading.scenarios),
        tuple(problem for reading in readings for problem in reading.problems),
        tuple(it for reading in readings for it in reading.unread),
    )
    if not whole.scenarios:
        raise TranscriptError(whole.first_problems)
    return whole


def _read(file: str) -> Reading:
    found = read_transcripts(file)
    if found.problem is not None:
        number = f"{found.unread} scenario{'s' * (found.unread != 1)} of {file}"
        return Reading(
            found.scenarios, (str(found.problem),), (number if found.scenarios else file,)
        )
    if not found.scenarios:
        problem = (
            f"{file}: there is no scenario in this file; beamlike replay --help shows one to begin "
            "with"
        )
        return Reading((), (problem,), (file,))
    return Reading(found.scenarios)


def _files(name: str) -> list[str]:
    if not os.path.isdir(name):
        return [name]
    found = sorted(map(str, Path(name).rglob("*.json")))
    if not found:
        raise TranscriptError(f"{name}: there is no *.json file in this folder")
    return found
