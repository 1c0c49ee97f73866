"""Whether what came out of a work is right.

Where micro-batches are cut alike in each run, it is what came out of an undisturbed run, one for
one. Else Spark's own notes say how they were cut, and what came out is what these say (`played`);
besides, it keeps the rules that hold whatever they say (`rules`).
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import beamlike as bl
from tests.crash.noted import Noted, noted, seen_by_rows, still_notes
from tests.crash.outputs import Output, differences, output_of
from tests.crash.played import Plain, plain, played
from tests.crash.rules import broken, content
from tests.crash.work import Work

Rows = Mapping[int, Sequence[Plain]]


def wrong(work: Work, home: Path, feed: Path, undisturbed: Path) -> list[str]:
    """What is wrong with the output of a work, in words."""
    output = output_of(home / work.name)
    if work.windowing is None:
        return differences(output_of(undisturbed / work.name), output)
    notes = noted(home / work.name / work.checkpoint)
    merging = isinstance(work.windowing["window"], bl.Sessions)
    expected = _played(work, feed, notes)
    # When it was stopped at the end it may have been in a micro-batch, which had nothing to do.
    rows = {at: of for at, of in plain(output).items() if at in expected or of}
    reports = differences(_lines(expected), _lines(rows, output))
    drops = work.watermark == "spark"
    reports += broken(feed, _whole(rows), drops=drops, merging=merging)
    if work.ticks:
        still = content(_whole(_played(work, feed, still_notes(feed))), merging=merging)
        now = content(_whole(rows), merging=merging)
        reports += [
            f"{key}: {now.get(key)}, and whatever the clock: {still.get(key)}"
            for key in sorted(still.keys() | now.keys())
            if now.get(key) != still.get(key)
        ]
    return reports


def _played(work: Work, feed: Path, notes: Sequence[Noted]) -> Rows:
    """What must come out of these micro-batches of the work."""
    assert work.windowing is not None
    if work.watermark == "spark":
        return played(feed, work.windowing, notes, begins=True)
    rows = played(feed, work.windowing, seen_by_rows(feed, notes), begins=False)
    # What a pipeline loses it counts, and writes nowhere.
    return {at: [row for row in of if "dropped" not in row] for at, of in rows.items()}


def _whole(rows: Rows) -> list[Plain]:
    return [row for at in sorted(rows) for row in rows[at]]


def _lines(rows: Rows, of: Output | None = None) -> Output:
    """Plain rows as an output, whatever the order of windows that fired at once."""
    lines = {at: sorted(json.dumps(it, sort_keys=True) for it in them) for at, them in rows.items()}
    return Output(lines, [], []) if of is None else Output(lines, of.repeated, of.changed)
