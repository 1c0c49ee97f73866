"""Rows of frames, and what they say in words."""

import json
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import functions as F

from beamlike.runtime.session_identity import identity_bounds

Rows = list[dict[str, Any]]

IN_UTC = {"ignoreNullFields": "false", "timeZone": "UTC"}
"""How rows become JSON: nulls included, times in UTC whatever the session's zone."""


def shown(frame: Any) -> Rows:
    row = F.to_json(F.struct("*"), IN_UTC)
    return [json.loads(text) for (text,) in frame.select(row).collect()]


OF_A_PANE = ("window", "timestamp", "pane", "retraction", "change", "session_identity", "dropped")


def lines(rows: Rows) -> list[str]:
    """Each row as a line, sorted: rows of one micro-batch come in no promised order."""
    return sorted(lines_in_order(rows))


def lines_in_order(rows: Rows) -> list[str]:
    """Each row as a line, as they came: those of one key are in order."""
    return [_line_of(row) for row in rows]


def _line_of(row: dict[str, Any]) -> str:
    """All of a row in words; what follows from the rest is left out.

    ``ann 3 | 00:00-00:10 LATE 1``: the user's columns, window, timing, index. A timestamp is said
    if it is not the end of the window, and what is last, withdrawn or changed. Of a drop all
    facts that there are.
    """
    if row["dropped"]:
        reported = {name: fact for name, fact in row["dropped"].items() if fact is not None}
        stage, reason, element = (reported.pop(name) for name in ("stage", "reason", "element"))
        facts = ", ".join(f"{name} {_fact(fact)}" for name, fact in reported.items())
        return f"dropped by {stage}, {reason}: {element} | {facts}"
    own = " ".join(_fact(value) for name, value in row.items() if name not in OF_A_PANE)
    words = [_fact(row["window"])] if row["window"] else []
    pane = row["pane"]
    if pane:
        words += [pane["timing"], str(pane["index"])]
        end = row["window"]["end"]
        if end is None or (_moment(end) - _moment(row["timestamp"])).total_seconds() != 0.001:
            words.append(f"at {_fact(row['timestamp'])}")
        words += ["last"] if pane["is_last"] else []
    words += ["withdrawn"] if row.get("retraction") else []
    words += [row["change"]] if row.get("change") else []
    words += [f"session {_session(row)}"] if row.get("session_identity") else []
    return f"{own} | {' '.join(words)}"


def _session(row: dict[str, Any]) -> str:
    """The bounds in the identity of a session, as times of the day of these stories."""
    bounds = identity_bounds(row["session_identity"])
    times = [datetime.fromtimestamp(micros / 1_000_000, UTC) for micros in bounds]
    return "-".join(time.strftime("%H:%M") for time in times)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _fact(value: Any) -> str:
    match value:
        case None:
            return "-"
        case {"start": start, "end": end}:
            return "always" if end is None else f"{_fact(start)}-{_fact(end)}"
        case dict():
            return ":".join(map(_fact, value.values()))
        case list():
            return f"[{' '.join(map(_fact, value))}]"
        case str() if value.startswith("2020-01-01T"):
            # A time of the day on which all of these stories happen.
            return value[11:].removesuffix("Z").removesuffix(".000").removesuffix(":00")
        case _:
            return str(value)
