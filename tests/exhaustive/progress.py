"""What has been searched already: a line for each piece of work in a file that outlives the run."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Self

import attrs

__all__ = ["Done", "Piece", "Progress", "digest_of_sources"]

ROOT: Final = Path(__file__).resolve().parents[2]

DECIDING: Final = (
    *("beamlike/machine", "beamlike/model"),
    *(
        f"tests/exhaustive/{name}.py"
        for name in ("events", "history", "triggers", "rules", "engines", "streams", "strategies")
    ),
)
"""What a result is a result of. After a change of these nothing counts as done."""


@attrs.frozen(order=True)
class Piece:
    """A part of the search: a strategy, one of its bounds, and the first step of its streams."""

    bound: str
    begin: int
    strategy: int

    def __str__(self) -> str:
        return f"{self.bound}/{self.begin}/{self.strategy}"


@attrs.frozen
class Done:
    """What came of a piece."""

    piece: str
    streams: int
    seconds: float
    differences: tuple[str, ...] = ()


@attrs.frozen
class Progress:
    """A file to which each piece is added as it is done."""

    path: Path
    sources: str

    @classmethod
    def at(cls, path: Path, *, fresh: bool = False) -> Self:
        """The file, begun anew if ``fresh`` or if it is of other sources."""
        progress = cls(path, digest_of_sources())
        if fresh or not path.exists() or not progress._is_of_these_sources():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"sources": progress.sources}) + "\n", encoding="utf-8")
        return progress

    def add(self, done: Done) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(attrs.asdict(done)) + "\n")

    def done(self) -> dict[str, Done]:
        """What is done, by the names of the pieces. One that found something is done again."""
        known = [
            Done(line["piece"], line["streams"], line["seconds"], tuple(line["differences"]))
            for line in self._lines()
            if "piece" in line
        ]
        return {one.piece: one for one in known if not one.differences}

    def _is_of_these_sources(self) -> bool:
        return next(self._lines(), {}).get("sources") == self.sources

    def _lines(self) -> Iterator[dict[str, Any]]:
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue  # the run ended in the middle of a line


def digest_of_sources() -> str:
    """The sources that decide what is found, in a few letters."""
    digest = hashlib.sha256()
    for name in DECIDING:
        path = ROOT / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
