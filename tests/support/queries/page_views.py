"""Page views of users as rows of a query, visits made of them, and what comes out as lines."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import Row

import beamlike as bl
from beamlike.testing import QueryTest

VIEWS = "user string, at timestamp, page string"
SMALL: dict[str, Any] = {"shards": 2, "buckets": 2}
MINUTES, HOURS = bl.FixedWindows("1 minute"), bl.FixedWindows("1 hour")

Step = Callable[[QueryTest], Any]


def view(user: str | None, at: str, page: str = "tea") -> dict[str, Any]:
    return {"user": user, "at": at, "page": page}


def send(*rows: dict[str, Any], to: str | None = None) -> Step:
    return lambda query: query.send(*rows, to=to)


def to(instant: str) -> Step:
    return lambda query: query.advance_watermark_to(instant)


def wait(duration: str) -> Step:
    return lambda query: query.advance_processing_time(duration)


def end(query: QueryTest) -> Any:
    return query.advance_watermark_to_infinity()


def clock(at: datetime | None) -> str | None:
    return None if at is None else at.strftime("%H:%M:%S")


def line(row: dict[str, Any]) -> str:
    """A row as text: the columns, the window, the event time and when its pane fired."""
    if row.get("dropped") is not None:
        it = row["dropped"]
        window = it["window"] and f"{clock(it['window']['start'])}-{clock(it['window']['end'])}"
        return (
            f"dropped by {it['stage']}, {it['reason']}: {it['element']} in {window}, {it['error']}"
        )
    shown = {k: v for k, v in row.items() if k not in ("window", "timestamp", "pane", "dropped")}
    values = " ".join(str(value) for value in shown.values())
    window = f"{clock(row['window']['start'])}-{clock(row['window']['end'])}"
    timing = row["pane"]["timing"]
    return f"{values} at {clock(row['timestamp'])} in {window}" + f" {timing}" * (
        timing != "UNKNOWN"
    )


def came(
    job: Callable[..., Any], *steps: Step, columns: Any = VIEWS, restarts: bool = False, **more: Any
) -> list[list[str]]:
    """What comes out in each step, in order; with a restart after each of them if wanted."""
    found = []
    with QueryTest(job, columns, **more) as query:
        for step in steps:
            found.append(sorted(map(line, step(query))))
            if restarts and step is not end:
                query.restart()
    return found


def stream(df: Any, window: Any = None, **parts: Any) -> bl.Stream:
    rows = bl.stream(df, timestamp="at", watermark="0 s")
    return rows if window is None else rows.window(window, **parts)


class Visits:
    """The pages of a visit, which is over after ten minutes without one."""

    pages, quiet = bl.state("list"), bl.timer("event")

    def process(self, row: Row, timestamp: datetime, pages: Any, quiet: Any) -> Any:
        pages.add(row.page)
        quiet.set(timestamp + timedelta(minutes=10))

    def on_quiet(self, key: Row, pages: Any, timestamp: datetime) -> Any:
        yield {"visit": f"{key.user}: {','.join(pages.read())}", "over": timestamp}
        pages.clear()


def visits(views: Any) -> Any:
    found = stream(views).apply_per_key("user", Visits(), "visit string, over timestamp", **SMALL)
    return found.everything
