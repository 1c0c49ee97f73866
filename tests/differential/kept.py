"""What has been compared, chunk by chunk: in a file that outlives the run, and as a text."""

import platform
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

import attrs

from tests.exhaustive.progress import Lines, digest_of
from tests.support.differential import LAWS, ON_SPARK

__all__ = ["Checked", "Chunk", "Kept", "applied_laws", "report"]

SOURCES: Final = ("beamlike", "testing")
"""What a result is a result of."""


@attrs.frozen
class Chunk:
    """Some scenarios of a part, by their numbers, or some passes of many keys."""

    part: str
    seed: int
    numbers: range

    def __str__(self) -> str:
        return f"{self.part}/{self.seed}/{self.numbers.start}-{self.numbers.stop - 1}"


@attrs.frozen
class Checked:
    """How many scenarios of a chunk were compared, and how often each law applied."""

    chunk: str
    scenarios: int
    applied: Mapping[str, int]
    seconds: float


@attrs.frozen
class Kept:
    """The chunks in which every law holds, in a file to which each is added."""

    lines: Lines

    @classmethod
    def at(cls, path: Path) -> Self:
        return cls(Lines.at(path, digest_of(SOURCES)))

    def add(self, checked: Checked) -> None:
        self.lines.add(attrs.asdict(checked))

    def checked(self) -> dict[str, Checked]:
        found = [Checked(**line) for line in self.lines if "chunk" in line]
        return {one.chunk: one for one in found}


def applied_laws(checked: Mapping[str, Checked]) -> dict[str, int]:
    """How often each law was checked."""
    applied = Counter[str]()
    for one in checked.values():
        applied.update(one.applied)
    return {law: applied[law] for law in (*LAWS, ON_SPARK) if applied[law]}


def report(checked: Mapping[str, Checked], verdict: str) -> str:
    """What was compared, part by part and law by law."""
    parts: dict[str, list[Checked]] = {}
    for one in checked.values():
        parts.setdefault(one.chunk.partition("/")[0], []).append(one)
    counts = [
        f"| {part} | {sum(one.scenarios for one in them):,} | "
        f"{sum(one.seconds for one in them):,.0f} |"
        for part, them in parts.items()
    ]
    return "\n".join(
        [
            "# The latest comparison",
            "",
            f"`python -m tests.differential`, {datetime.now(UTC).date()}; "
            f"Python {platform.python_version()}. {verdict[0].upper()}{verdict[1:]}.",
            "",
            "| part | scenarios | seconds of work |",
            "|---|---|---|",
            *counts,
            "",
            "| law | scenarios |",
            "|---|---|",
            *(f"| {law} | {count:,} |" for law, count in applied_laws(checked).items()),
            "",
        ]
    )
