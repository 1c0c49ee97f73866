"""Visits to a web site as files of lines, and what has to come of them, without beamlike.

Lines come out of order by less than four minutes. A visit of a user ends when ten minutes pass
without a line; for each country and each hour in which visits end, the result has how many did, of
how many lines they are, and how many the longest has.
"""

import json
import os
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

Line = dict[str, Any]
Result = tuple[str, str, int, int, int]
"""Country, start of the hour, visits, lines, lines of the longest visit."""

COLUMNS: Final = "line int, user string, country string, at string"
_DAY: Final = datetime(2026, 5, 4, tzinfo=UTC)
_WRITTEN: Final = 1_750_000_000
_GAP: Final = 600
_HOUR: Final = 3600
_COUNTRIES: Final = ("at", "ch", "de", "fr", "it")


def lines_of(seed: int, count: int, hours: int = 6) -> list[Line]:
    """Lines in the order in which they come."""
    random, users = Random(seed), max(10, count // 40)
    came = []
    for number in range(count):
        user = min(random.randrange(users), random.randrange(users))
        second = random.randrange(hours * _HOUR)
        line = {
            "line": number,
            "user": f"user {user}",
            "country": _COUNTRIES[user % len(_COUNTRIES)],
            "at": _text(second),
        }
        came.append((second + random.choice([0, 0, 0, 30, 120, 239]), number, line))
    last = [
        {"line": -hour, "user": "clock", "country": "", "at": _text(hour * _HOUR)}
        for hour in (hours + 12, hours + 24)
    ]
    return [line for *_, line in sorted(came, key=lambda item: item[:2])] + last


def _text(second: int) -> str:
    return f"{_DAY + timedelta(seconds=second):%Y-%m-%d %H:%M:%S}"


def seconds_of(text: str) -> int:
    """The second of the day in which a line was made."""
    return round((datetime.fromisoformat(text).replace(tzinfo=UTC) - _DAY).total_seconds())


def write_files(lines: Sequence[Line], folder: Path, files: int) -> None:
    """Write the lines, as many to each file; the last file has those that only end windows."""
    folder.mkdir(parents=True, exist_ok=True)
    *usual, nearly_last, last = lines
    size = -(-len(usual) // files)
    parts = [usual[start : start + size] for start in range(0, len(usual), size)]
    for number, part in enumerate([*parts, [nearly_last], [last]]):
        text = "".join(json.dumps(line) + "\n" for line in part)
        path = folder / f"{number:04}.json"
        path.write_text(text, encoding="utf-8")
        # Spark reads them in the order of their times.
        os.utime(path, (_WRITTEN + number, _WRITTEN + number))


def expected(lines: Sequence[Line]) -> list[Result]:
    """What has to come out."""
    seconds = defaultdict(list)
    for line in lines:
        if line["user"] != "clock":
            seconds[line["user"], line["country"]].append(seconds_of(line["at"]))
    hours: dict[tuple[str, int], list[int]] = defaultdict(list)
    for (_, country), times in seconds.items():
        times.sort()
        first = 0
        for number, second in enumerate(times):
            if number + 1 == len(times) or times[number + 1] - second >= _GAP:
                # The end itself is not in the visit: it is over a millisecond before.
                ends_in = (second + _GAP - 1) // _HOUR
                hours[country, ends_in].append(number + 1 - first)
                first = number + 1
    return sorted(
        (country, _text(hour * _HOUR), len(visits), sum(visits), max(visits))
        for (country, hour), visits in hours.items()
    )
