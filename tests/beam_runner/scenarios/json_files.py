"""Files of rows that streams of Spark read, in the order in which they are added."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_FIRST = 1_700_000_000
"""When the first file was written, as Spark is to see it (s): it reads the oldest first."""


def add_file(folder: Path, number: int, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as a file, which is there as a whole or not."""
    hidden = folder / f".{number}.json"
    hidden.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    os.utime(hidden, (_FIRST + number,) * 2)
    hidden.rename(folder / f"{number}.json")
