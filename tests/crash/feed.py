"""What arrives: files of rows, one for each micro-batch, the same for the same seed.

Event time moves on by two minutes a file. Some rows are late and in time for a late pane, some are
too late, a few cannot be read. The last two files hold one row each, far ahead: the first moves
the watermark past everything, the second has the query see it.
"""

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

SCHEMA: Final = "user string, at string, points long, tag string"
BALLAST: Final = "ballast"
"""Users whose windows are open all day. They make the state so large that a step appends to it."""

LAST: Final = "end"
"""The user of the last two files. The window of the very last row is never over."""

START: Final = datetime(2020, 1, 1, 8, tzinfo=UTC)
END: Final = datetime(2020, 1, 9, tzinfo=UTC)
USERS: Final = ("ann", "bob", "eva", "joe", "zoë")
ROWS: Final = 14
BALLAST_USERS: Final = 1_200


def write_feed(folder: Path, files: int, seed: int) -> None:
    """Write all files that will arrive."""
    folder.mkdir(parents=True)
    draw = random.Random(seed)
    for number in range(files):
        if number >= files - 2:
            rows = [_row(LAST, END + timedelta(days=number), 0, f"{number}.0")]
        else:
            now = START + timedelta(minutes=2 * number)
            rows = [_some_row(draw, now, f"{number}.{index}") for index in range(ROWS)]
        if number == 0:
            rows += [
                _row(f"{BALLAST}{index}", START, 1, "ballast") for index in range(BALLAST_USERS)
            ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{number:04}.json").write_text(text, encoding="utf-8")


def put_next(feed: Path, inbox: Path) -> bool:
    """Have the next file arrive, all at once; whether there was one."""
    waiting = sorted(
        {path.name for path in feed.iterdir()} - {path.name for path in inbox.iterdir()}
    )
    if not waiting:
        return False
    # Spark reads nothing that begins with a dot.
    hidden = inbox / f".{waiting[0]}"
    hidden.write_bytes((feed / waiting[0]).read_bytes())
    hidden.rename(inbox / waiting[0])
    return True


def rows_of(feed: Path, number: int) -> list[dict[str, Any]]:
    """The rows of a file that anybody but the ballast sends."""
    rows = map(json.loads, (feed / f"{number:04}.json").read_text("utf-8").splitlines())
    return [row for row in rows if not (row["user"] or "").startswith(BALLAST)]


def arriving(spark: Any, inbox: Path, *, ballast: bool = False) -> Any:
    """The stream of what has arrived: a file in each micro-batch."""
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(inbox))
    return rows if ballast else rows.where(f"user is null or user not like '{BALLAST}%'")


def _some_row(draw: random.Random, now: datetime, tag: str) -> dict[str, Any]:
    user = draw.choice(USERS)
    behind = draw.choice([0, 0, 0, 30, 60, 90, 200, 300, 420, 1_200])
    at = now + timedelta(seconds=draw.randrange(120) - behind)
    row = _row(user, at, draw.randrange(100), tag)
    match draw.randrange(40):
        case 0:
            row["user"] = None
        case 1:
            row["at"] = "no idea"
    return row


def _row(user: str, at: datetime, points: int, tag: str) -> dict[str, Any]:
    return {"user": user, "at": at.strftime("%Y-%m-%d %H:%M:%SZ"), "points": points, "tag": tag}
