"""Scenario files of the conformance suite, each read once in a process."""

from functools import cache
from pathlib import Path

from beamlike.testing.scenarios.files import Scenario, load_transcripts


def scenarios_of(file: Path) -> tuple[Scenario, ...]:
    """The scenarios of a file, each of which expects something."""
    return _read(file, file.stat().st_mtime_ns)


@cache
def _read(file: Path, _changed: int) -> tuple[Scenario, ...]:
    return load_transcripts(file, must_expect=True)
