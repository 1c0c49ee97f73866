"""What Spark noted of each micro-batch as it began: which files are in it, and both clocks.

A micro-batch that is repeated is repeated by this note. So what comes out of a query follows from
its notes, whatever was killed meanwhile, and wherever its micro-batches were cut.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

import attrs

from tests.crash.feed import rows_of

DELAY: Final = 60_000
"""How far the watermark of each work trails its rows (ms)."""


@attrs.frozen
class Noted:
    """A micro-batch: the files whose rows it has, clock and watermark (ms; 0 if none is known)."""

    number: int
    files: range
    clock: int
    watermark: int


def last_commit(checkpoint: Path) -> int:
    """The last micro-batch that has ended, -1 if none has."""
    try:
        names = (path.name for path in (checkpoint / "commits").iterdir())
        return max((int(name) for name in names if name.isdecimal()), default=-1)
    except FileNotFoundError:
        return -1


def forget_commit(checkpoint: Path, number: int) -> None:
    """Have a micro-batch look as if it had not ended."""
    commits = checkpoint / "commits"
    (commits / str(number)).unlink()
    (commits / f".{number}.crc").unlink(missing_ok=True)


def file_in(checkpoint: Path, number: int) -> int:
    """The last file that has arrived by a micro-batch, -1 if none has."""
    if number < 0:
        return -1
    _, _, source, *_ = (checkpoint / "offsets" / str(number)).read_text("utf-8").splitlines()
    return -1 if source == "-" else int(json.loads(source)["logOffset"])


def noted(checkpoint: Path) -> list[Noted]:
    """All micro-batches that have ended. The checkpoint must still have the first one."""
    notes = []
    before = -1
    for number in range(last_commit(checkpoint) + 1):
        lines = (checkpoint / "offsets" / str(number)).read_text("utf-8").splitlines()
        last, metadata = file_in(checkpoint, number), json.loads(lines[1])
        files = range(before + 1, last + 1)
        before = last
        notes.append(
            Noted(number, files, metadata["batchTimestampMs"], metadata["batchWatermarkMs"])
        )
    return notes


def seen_by_rows(feed: Path, notes: Sequence[Noted]) -> list[Noted]:
    """The same, with the watermark that the rows of each micro-batch bring along themselves."""
    greatest = 0
    seen = []
    for note in notes:
        for number in note.files:
            greatest = max([greatest, *(at for _, at in timed(feed, number) if at is not None)])
        seen.append(attrs.evolve(note, watermark=max(0, greatest - DELAY)))
    return seen


def still_notes(feed: Path) -> list[Noted]:
    """A file, then a micro-batch that has seen it, and so on, while the clock stands still."""
    files = [range(index, index + 1) for index in range(len(list(feed.iterdir())))]
    arrive = seen_by_rows(feed, [Noted(index, file, 0, 0) for index, file in enumerate(files)])
    found, watermark = [], 0
    for it in arrive:
        found += [attrs.evolve(it, watermark=watermark), attrs.evolve(it, files=range(0))]
        watermark = it.watermark
    return [attrs.evolve(it, number=index) for index, it in enumerate(found)]


def timed(feed: Path, number: int) -> list[tuple[dict[str, object], int | None]]:
    """The rows of a file, each with its event time (ms), None if that cannot be read."""
    return [(row, _instant(row["at"])) for row in rows_of(feed, number)]


def _instant(at: str) -> int | None:
    try:
        return round(datetime.fromisoformat(at).timestamp() * 1_000_000) // 1_000
    except ValueError:
        return None
