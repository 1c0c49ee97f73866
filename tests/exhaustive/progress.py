"""What has been searched already: a line for each piece of work in a file that outlives the run."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Self

import attrs

ROOT: Final = Path(__file__).resolve().parents[2]

DECIDING: Final = (
    *("beamlike/machine", "beamlike/model", "beamlike/runtime"),
    *(
        f"tests/exhaustive/{name}.py"
        for name in (
            *("events", "history", "triggers", "rules", "scripts", "engines", "shards"),
            *("streams", "strategies", "search", "laws"),
        )
    ),
)
"""What a result is a result of. After a change of these nothing counts as done."""


@attrs.frozen(order=True)
class Piece:
    """A part of the search: one of the bounds of a strategy."""

    bound: str
    strategy: int

    def __str__(self) -> str:
        return f"{self.bound}/{self.strategy}"


@attrs.frozen
class Done:
    """What came of a piece."""

    piece: str
    streams: int
    seconds: float
    differences: tuple[str, ...] = ()


@attrs.frozen
class Lines:
    """A file of lines that outlives the run: each says something that was found out.

    ``sources`` is what they are results of. A file of other sources is begun anew.
    """

    path: Path
    sources: str

    @classmethod
    def at(cls, path: Path, sources: str, *, fresh: bool = False) -> Self:
        """The file, begun anew if ``fresh`` or if it is of other sources."""
        lines = cls(path, sources)
        if fresh or not path.exists() or next(iter(lines), {}).get("sources") != sources:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"sources": sources}) + "\n", encoding="utf-8")
        return lines

    def add(self, line: Mapping[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue  # the run ended in the middle of a line


@attrs.frozen
class Progress:
    """The pieces that are done, in a file to which each is added."""

    lines: Lines

    @classmethod
    def at(cls, path: Path, *, fresh: bool = False) -> Self:
        """The file, begun anew if ``fresh`` or if it is of other sources."""
        return cls(Lines.at(path, digest_of_sources(), fresh=fresh))

    def add(self, done: Done) -> None:
        self.lines.add(attrs.asdict(done))

    def done(self) -> dict[str, Done]:
        """What is done, by the names of the pieces. One that found something is done again."""
        known = [
            Done(line["piece"], line["streams"], line["seconds"], tuple(line["differences"]))
            for line in self.lines
            if "piece" in line
        ]
        return {one.piece: one for one in known if not one.differences}


def digest_of_sources() -> str:
    """The sources that decide what this search finds, in a few letters."""
    return digest_of(DECIDING)


def digest_of(names: Iterable[str]) -> str:
    """Sources by their names from the top of the checkout, whole folders or files."""
    digest = hashlib.sha256()
    for name in names:
        path = ROOT / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
