"""What came out of a work, and where two runs differ."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

import attrs

SHOWN: Final = 10
"""Differences that are named; the others are counted."""


@attrs.frozen
class Output:
    """All rows by their micro-batch, as JSON; Spark's own file sink has them as one.

    ``repeated`` are the micro-batches that came to the sink again, ``changed`` those of them that
    were not the same then.
    """

    rows: Mapping[int, list[str]]
    repeated: list[int]
    changed: list[str]

    @property
    def unordered(self) -> Mapping[int, list[str]]:
        """The rows of each micro-batch, whatever their order."""
        return {number: sorted(lines) for number, lines in self.rows.items()}

    @property
    def flat(self) -> list[str]:
        """All rows, without their micro-batches."""
        return sorted(line for lines in self.rows.values() for line in lines)


def output_of(home: Path) -> Output:
    """What came out of a work, by its folder."""
    out = home / "out"
    if (home / "read").exists():
        rows = {0: _lines(home / "read")}
    elif (out / "panes.db").exists():
        rows = _of_database(out / "panes.db")
    else:
        rows = {int(path.stem): _lines(path) for path in sorted(out.glob("*.lines"))}
    return Output(rows, list(map(int, _lines(out / "repeated"))), _lines(out / "differs"))


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []


def _of_database(path: Path) -> dict[int, list[str]]:
    with closing(sqlite3.connect(path)) as base:
        rows: dict[int, list[str]] = {
            number: [] for (number,) in base.execute("select number from batches order by number")
        }
        for number, line in base.execute("select number, line from rows order by rowid"):
            rows[number].append(line)
    return rows


def standing_of(panes: Output) -> list[str]:
    """The rows of sessions by user that stand after panes and retractions, as those of a table."""
    rows: dict[str, str] = {}
    for number in sorted(panes.rows):
        for row in map(json.loads, panes.rows[number]):
            if row["dropped"]:
                continue
            window = row["window"]
            place = json.dumps([row["user"], window["start"], window["end"]])
            rows.pop(place, None)
            if not row["retraction"]:
                row_of_table = {name: row[name] for name in ("user", "n", "points")}
                rows[place] = json.dumps({**row_of_table, "timing": row["pane"]["timing"]})
    return sorted(rows.values())


def differences(expected: Output, output: Output) -> list[str]:
    """Each difference in words; none if all is the same, micro-batch for micro-batch."""
    lines = list(_differences(expected, output))
    hidden = len(lines) - SHOWN
    return lines if hidden <= 0 else [*lines[:SHOWN], f"and {hidden} more"]


def _differences(expected: Output, output: Output) -> Iterator[str]:
    for number in sorted({*expected.rows, *output.rows}):
        before, now = expected.rows.get(number), output.rows.get(number)
        if before == now:
            continue
        if before is None or now is None:
            yield f"micro-batch {number} {'is missing' if now is None else 'should not be there'}"
            continue
        wanted, had = Counter(before), Counter(now)
        for line, count in (wanted - had).items():
            yield f"micro-batch {number} lost {count} of {_short(line)}"
        for line, count in (had - wanted).items():
            yield f"micro-batch {number} has {count} too many of {_short(line)}"
        if wanted == had:
            yield f"micro-batch {number} has the rows of a key in another order"
    for line in output.changed:
        yield f"micro-batch {json.loads(line)['batch']} was another one when it came again"


def _short(line: str) -> str:
    fields = {name: value for name, value in json.loads(line).items() if value is not None}
    return json.dumps(fields, ensure_ascii=False)
