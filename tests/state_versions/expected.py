"""What each work has saved, and what comes out once its query goes on, in lines."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from tests.state_versions.works import USERS, Inbox, Work, event

OPEN = {
    "columnar": [
        "beamlike: ann, 1 00:01-00:14 0 new, ('ON_TIME', 1)",
        "beamlike: ann, 1 00:33-00:43 1 new, None",
        "beamlike: bob, 7 00:05-00:21 0 new, ('ON_TIME', 1)",
        "beamlike: cy, 1 00:30-00:41 0 new, ('EARLY', 0)",
    ],
    "deduplicate": ["once: ann, 1 00:00-01:00 0 new, None", "once: cy, 1 00:00-01:00 0 new, None"],
    "functions": [
        "visits: ann 00:00-01:00 0 new, None",
        "visits: bob 00:00-01:00 0 new, None",
        "visits: cy 00:00-01:00 0 new, None",
    ],
    "narrow": sorted(f"beamlike: {user} 00:01-00:11 1 new, None" for user in USERS),
    "per_key": [
        "beamlike: ann 00:01-00:02 0 new, ('ON_TIME', 0)",
        "beamlike: ann 00:04-00:05 0 new, ('ON_TIME', 0)",
        "beamlike: ann 00:33-00:34 1 new, None",
        "beamlike: bob 00:05-00:18 0 new, ('ON_TIME', 1)",
        "beamlike: cy 00:30-00:31 1 new, None",
        "beamlike: cy 00:31-00:32 1 new, None",
    ],
    "pipeline": [
        "Per till: 1 00:00-01:00 1 new, None",
        "Per till: 7 00:00-01:00 2 new, None",
        "Per user: ('ann', 1) 00:30-00:40 1 new, None",
        "Per user: ('cy', 1) 00:30-00:40 2 new, None",
    ],
    "pipeline_functions": [
        "Beats: ann 00:00-01:00 0 new, None",
        "Beats: bob 00:00-01:00 0 new, None",
        "Beats: cy 00:00-01:00 0 new, None",
    ],
}
"""The windows of each checkpoint."""

CAME = {
    "columnar": [
        "ann 1 2 6 3.0 [1, 5] [5, 1] | 00:01-00:14 ON_TIME 1 withdrawn",
        "ann 1 3 10 3.3333333333333335 [1, 5, 4] [5, 4] | 00:01-00:16 LATE 0",
        "ann 1 1 9 9.0 [9] [9] | 00:33-00:43 ON_TIME 0 last",
        "cy 1 2 8 4.0 [7, 1] [7, 1] | 00:30-00:41 EARLY 0 withdrawn",
        "cy 1 3 10 3.3333333333333335 [7, 1, 2] [7, 2] | 00:30-00:45 ON_TIME 0 last",
    ],
    "deduplicate": ["zoe 1 2020-01-01T09:00:00.000Z 1 | 09:00-10:00 UNKNOWN 0 last"],
    "functions": [
        "ann end [1] | 00:00-01:00 UNKNOWN 0 last",
        "ann quiet [9, 4] | 00:00-01:00 UNKNOWN 0 last",
        "ann till 1 [1, 4] | 00:00-01:00 UNKNOWN 0 last",
        "bob end [7] | 00:00-01:00 UNKNOWN 0 last",
        "bob till 7 [2, 3] | 00:00-01:00 UNKNOWN 0 last",
        "cy end [1] | 00:00-01:00 UNKNOWN 0 last",
        "cy quiet [7, 1, 2] | 00:00-01:00 UNKNOWN 0 last",
        "cy till 1 [7, 2] | 00:00-01:00 UNKNOWN 0 last",
    ],
    "narrow": [
        *(f"{user} 1 {v} | 00:01-00:11 ON_TIME 0 last" for v, user in enumerate(USERS)),
        "ann 1 4 | 00:06-00:16 ON_TIME 0 last",
        "cy 1 2 | 00:35-00:45 ON_TIME 0 last",
    ],
    "per_key": [
        "ann 1 0 | 00:06-00:07 LATE 0",
        "ann 1 0 | 00:33-00:34 ON_TIME 0 last",
        "cy 1 0 | 00:30-00:31 ON_TIME 0 last",
        "cy 1 0 | 00:31-00:32 ON_TIME 0 last",
        "cy 1 0 | 00:35-00:36 ON_TIME 0 last",
    ],
    "pipeline": ["1 [6, 9, 10]", "7 [2, 3]"],
    "pipeline_functions": [
        "ann 19 [1, 5, 9, 4]",
        "ann 19 [1, 5, 9, 4]",
        "bob 5 [2, 3]",
        "cy 10 [7, 1, 2]",
    ],
}
"""What comes out once its query has gone on."""


UTC_SHOWN = "datetime.timezone.utc"

KEPT = {
    "deduplicate": [
        "ann, 1 00:00-01:00: forget '' by event at 2020-01-01 00:48, holds nothing",
        "ann, 1 00:00-01:00: seen, value True",
        "cy, 1 00:00-01:00: forget '' by event at 2020-01-01 00:45, holds nothing",
        "cy, 1 00:00-01:00: seen, value True",
    ],
    "functions": [
        "ann 00:00-01:00: first, value {'v': 1, 'at': (2020, 1, 1, 0, 1)}",
        "ann 00:00-01:00: latest, map [(1, 9)]",
        "ann 00:00-01:00: never '' by processing at 2999-01-01 00:00, holds 01:13",
        "ann 00:00-01:00: of_till '1' by event at 2020-01-01 01:03, holds 00:33",
        "ann 00:00-01:00: quiet '' by event at 2020-01-01 00:38, holds 00:38",
        "ann 00:00-01:00: tills, set [1]",
        "ann 00:00-01:00: values, bag [9]",
        "bob 00:00-01:00: first, value {'v': 2, 'at': (2020, 1, 1, 0, 5)}",
        "bob 00:00-01:00: latest, map [(7, 3)]",
        "bob 00:00-01:00: never '' by processing at 2999-01-01 00:00, holds 00:51",
        "bob 00:00-01:00: of_till '7' by event at 2020-01-01 00:41, holds 00:11",
        "bob 00:00-01:00: tills, set [7]",
        "cy 00:00-01:00: first, value {'v': 7, 'at': (2020, 1, 1, 0, 30)}",
        "cy 00:00-01:00: latest, map [(1, 1)]",
        "cy 00:00-01:00: never '' by processing at 2999-01-01 00:00, holds 01:11",
        "cy 00:00-01:00: of_till '1' by event at 2020-01-01 01:01, holds 00:31",
        "cy 00:00-01:00: quiet '' by event at 2020-01-01 00:36, holds 00:36",
        "cy 00:00-01:00: tills, set [1]",
        "cy 00:00-01:00: values, bag [7, 1]",
    ],
    "pipeline_functions": [
        "ann 00:00-01:00: beat 'again' by event at 2020-01-01 00:44, holds 00:44",
        "ann 00:00-01:00: beat 'of an element' by event at 2020-01-01 00:43, holds 00:43",
        "ann 00:00-01:00: every, bag [1, 5, 9]",
        "ann 00:00-01:00: total, combined (1, 5, 9)",
        "bob 00:00-01:00: beat 'again' by event at 2020-01-01 00:51, holds 00:51",
        "bob 00:00-01:00: every, bag [2, 3]",
        "bob 00:00-01:00: total, combined (2, 3)",
        "cy 00:00-01:00: beat 'of an element' by event at 2020-01-01 00:41, holds 00:41",
        "cy 00:00-01:00: every, bag [7, 1]",
        "cy 00:00-01:00: total, combined (7, 1)",
    ],
}
"""The states and timers of each checkpoint that has some."""

COMBINED = {"(1, 5, 9)": "(15,)", "(2, 3)": "(5,)", "(7, 1)": "(8,)"}
"""What a state holds that combines values: each of them up to layout 5, later their sum."""


def kept_states(name: str, layout: int) -> list[str]:
    """The states and timers of a work in a checkpoint of a layout."""
    lines = KEPT.get(name, [])
    if layout < 6:
        return lines
    parts = (line.partition(", combined ") for line in lines)
    return [f"{state}{word}{COMBINED.get(values, values)}" for state, word, values in parts]


def span(start: str | None, end: str | None) -> str:
    return f"{str(start)[11:16]}-{str(end)[11:16]}"


def opened(state: Any) -> list[str]:
    """Each window: stage, key, span, new elements, last pane."""
    return sorted(
        f"{row['stage']}: {row['key']} {span(row['start'], row['end'])} {row['new_elements']} new, "
        f"{row['timing'] and (row['timing'], row['index'])}"
        for row in state.windows.to_pylist()
    )


def remembered(state: Any) -> list[str]:
    """Each state and each timer of functions: stage, key, span, and what is there."""
    places = [
        f"{cell['key']} {span(cell['start'], cell['end'])}" for cell in state.cells.to_pylist()
    ]
    cells = [
        f"{place}: {cell['state']}, {cell['kind']} "
        + cell["value"].replace("datetime.datetime", "").replace(f", tzinfo={UTC_SHOWN}", "")
        for place, cell in zip(places, state.cells.to_pylist(), strict=True)
    ]
    timers = [
        f"{timer['key']} {span(timer['start'], timer['end'])}: {timer['timer']} {timer['tag']!r} "
        f"by {timer['domain']} at {timer['at']:%Y-%m-%d %H:%M}, "
        + (f"holds {timer['output']:%H:%M}" if timer["output"] else "holds nothing")
        for timer in state.timers.to_pylist()
    ]
    return sorted(cells + timers)


def in_json(batch: Any) -> Any:
    """Rows as JSON, with their times in UTC."""
    from pyspark.sql import functions as F

    return batch.select(F.to_json(F.struct("*"), {"timeZone": "UTC"}))


def lines(rows: Iterable[str]) -> list[str]:
    """Rows of panes as lines: columns, window, timing, index, and whether they are withdrawn."""
    printed = []
    for text in rows:
        row = json.loads(text)
        pane, window = row.pop("pane", None), row.pop("window", None)
        withdrawn = " withdrawn" if row.pop("retraction", False) else ""
        row.pop("timestamp", None)
        own = " ".join(map(str, row.values()))
        if pane:
            last = " last" if pane["is_last"] else ""
            own += f" | {span(window['start'], window['end'])} {pane['timing']} {pane['index']}"
            own += last + withdrawn
        printed.append(own)
    return sorted(printed)


LATER: Final = (
    [event("ann", "00:06:00", 4), event("cy", "00:35:00", 2)],
    [event("zoe", "09:00:00", 1)],
)
"""Rows that are late for the first session of ann and in time for cy; then the end of all."""


def gone_on(spark: Any, work: Work, home: Path) -> list[str]:
    """What comes out of a work that goes on from the checkpoint in a folder, to its end."""
    from pyspark.errors import StreamingQueryException

    inbox, rows = Inbox(home), list[str]()

    def start() -> Any:
        return work.start(
            spark,
            inbox.rows(spark),
            str(home / "checkpoint"),
            lambda batch, _: rows.extend(text for (text,) in in_json(batch).collect()),
        )

    query, failed_starts = start(), 0
    try:
        for number, arriving in enumerate(LATER, 1_000):
            inbox.put(f"{number}", arriving)
            while True:
                try:
                    query.processAllAvailable()
                    break
                except StreamingQueryException as error:
                    # Spark gives a process ten seconds, and a busy machine takes longer.
                    failed_starts += 1
                    if "failed to connect back" not in str(error) or failed_starts > 5:
                        raise
                    query = start()
    finally:
        query.stop()
    return lines(rows)
