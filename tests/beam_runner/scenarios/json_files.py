"""Files of rows that streams of Spark read, and that jobs write for each micro-batch."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

_FIRST = 1_700_000_000
"""When the first file was written, as Spark is to see it (s): it reads the oldest first."""


def add_file(folder: Path, number: int, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as a file, which is there as a whole or not. Spark reads files by number."""
    hidden = folder / f".{number}.json"
    hidden.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    os.utime(hidden, (_FIRST + number,) * 2)
    hidden.rename(folder / f"{number}.json")


def batch_writer(folder: str) -> Callable[[Any, int], None]:
    """A function for ``WriteRows``: the rows of a micro-batch become a file of its number."""

    def write(frame: Any, number: int) -> None:
        rows = [[*row] for row in frame.collect()]
        Path(folder, f"{number}.json").write_text(json.dumps(rows), encoding="utf-8")

    return write


def run_to_end(pipeline: Any, *, drains: bool) -> None:
    """Run a pipeline over files until it is killed, or, if it drains, until it has taken all."""
    result = pipeline.run()
    if drains:
        result.query.processAllAvailable()
        result.drain()
    else:
        result.wait_until_finish()
