"""``beamlike replay``: run scenarios from transcript files and compare what comes out."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, Final

from beamlike.cli.argument_types import REFUSED, Parser, as_path, place
from beamlike.cli.scenarios import (
    Outcome,
    Reading,
    Replay,
    in_local,
    in_memory,
    lines_of,
    on_spark,
    problem_of,
    read_files,
    recorded,
    title_line,
    windowing_line,
)
from beamlike.cli.silence_spark import quiet_session
from beamlike.errors import EnvironmentProblem, RecordingError, UnsupportedError
from beamlike.model.fingerprint import how_many, visible
from beamlike.runtime.script import Run
from beamlike.testing.scenarios.files import Scenario
from beamlike.testing.scenarios.results import to_document
from beamlike.viz.explain import explain
from beamlike.viz.page import save_page
from beamlike.viz.recording import Recording
from beamlike.viz.table import pane_table
from beamlike.viz.timeline import text_timeline

Show = Callable[[Scenario, Run], str]

DESCRIPTION: Final = """\
Run the scenarios of transcript files, one after the other, and show every pane
that comes out and every element that is dropped. Where a file says what must
come out, the whole of it is compared. Of a folder all *.json files below it are
run. What is wrong in a file is shown with its place, before anything runs. What
can be read is run all the same.
"""

EPILOG: Final = """\
formats:
  table      one line for each pane and drop (default)
  timeline   event time across, steps downwards: elements, windows, watermark,
             panes, and why they came out
  json       one document with the panes and drops of all scenarios, for
             programs, and what could not be read as "problems"; differences go
             to standard error
  html       a page for a browser, to step through: needs --out FILE.html; the
             table is printed too

With --explain every merge, firing and drop is explained below the table or the
timeline: why it happened, what would have saved a drop, and what a window
still waits for when nothing comes out. beamlike explain does so for one key or
one window.

exit status:
  0   everything came out as expected, or nothing was expected
  1   something came out otherwise, or a scenario failed
  2   a file, or a scenario in it, cannot be read or does not follow the format; a
      page cannot be written

a scenario, to begin with; add "panes" and "dropped" as --format json shows them
to have them compared:
{
 "format": "beamlike-transcript-v1",
 "id": "late milk",
 "windowing": {
  "window": {"fn": "fixed", "size_ms": 300000},
  "trigger": {"type": "after_watermark", "late": {"type": "after_count", "count": 1}},
  "accumulation": "accumulating",
  "allowed_lateness_ms": 600000,
  "timestamp_combiner": "end_of_window",
  "closing_behavior": "fire_if_non_empty",
  "on_time_behavior": "fire_always"
 },
 "aggregation": "list",
 "steps": [
  {"elements": [{"key": "table 3", "value": "tea", "ts_ms": 60000}]},
  {"advance_watermark_to_ms": 300000},
  {"elements": [{"key": "table 3", "value": "milk", "ts_ms": 240000}]},
  {"advance_processing_time_by_ms": 1000},
  {"advance_watermark_to_infinity": true}
 ]
}

examples:
  beamlike replay scenario.json
  beamlike replay scenario.json --format timeline --explain
  beamlike replay scenario.json --format html --out scenario.html
  beamlike replay cases/ --host spark --format json > panes.json
"""


_WIDTH: Final = 100
_NARROWEST: Final = 60


def add_arguments(parser: Parser) -> None:
    """Describe the arguments to argparse."""
    take = parser.take
    take("FILES", "a transcript (JSON, UTF-8), or a folder", place, nargs="+", metavar="FILE")
    take(
        "--host",
        "memory: the reference machine (default); local: the runtime of production in this "
        "process, without Spark; spark: one real streaming query, in which all run side by side",
        choices=("memory", "local", "spark"),
        default="memory",
    )
    take(
        "--format",
        "how to show what came out (default: table)",
        choices=(*_FOR_PEOPLE, "json", "html"),
        default="table",
    )
    take("--explain", "add in words what happened and why (table, timeline)")
    take(
        "--out FILE.html",
        "where to write the page of --format html; a file that is there is replaced",
        as_path,
    )


def run(args: argparse.Namespace) -> int:
    """Replay the files: 0 if all is as expected, 1 if not, 2 if something could not be read."""
    _check(args.format, args.out, explains=args.explain)
    reading = read_files(args.files)
    if reading.problems:
        reading.show_problems()
    if args.host != "spark":
        run_one = in_memory if args.host == "memory" else in_local
        return _show(args, reading, map(run_one, reading.scenarios))
    print("beamlike: starting Spark", file=sys.stderr, flush=True)
    with quiet_session("beamlike replay") as spark:
        return _show(args, reading, on_spark(reading.scenarios, spark))


def _show(args: argparse.Namespace, reading: Reading, outcomes: Iterable[Outcome]) -> int:
    pairs = zip(reading.scenarios, outcomes, strict=True)
    replays = (Replay.of(*pair) for pair in pairs)
    if args.format == "json":
        status = _json(replays, reading.problems)
    elif args.format == "html":
        status = _page(args.out, replays)
    else:
        status = _for_people(_FOR_PEOPLE[args.format], replays, explains=args.explain)
    reading.show_unread()
    return REFUSED if reading.problems else status


def _check(format: str, out: Path | None, *, explains: bool) -> None:
    """Refuse what does not go together, and a page that could not be written, before anything
    runs."""
    problem = ""
    if explains and format not in _FOR_PEOPLE:
        problem = f"--explain is for people, and --format {format} is for programs; use --format "
        problem += "table or timeline"
    elif format != "html" and out is not None:
        problem = f"--out {out} is where a page goes, and --format {format} writes none; add "
        problem += "--format html"
    elif format == "html" and out is None:
        problem = "--format html needs a file; add --out FILE.html"
    elif out is not None and (out.is_dir() or not out.parent.is_dir()):
        place = "is a folder" if out.is_dir() else f"has no folder {out.parent}"
        problem = f"--out {out} {place}; name a file in a folder that exists"
    if problem:
        raise EnvironmentProblem(problem)


# -- showing -------------------------------------------------------------------------------


def _table(scenario: Scenario, outcome: Run) -> str:
    return pane_table(outcome.outputs, width=_columns())


def _columns() -> int:
    """The columns of the terminal; as many as in a test, if it is none."""
    if not sys.stdout.isatty():
        return _WIDTH
    return max(get_terminal_size((_WIDTH, 24)).columns, _NARROWEST)


def _timeline(scenario: Scenario, outcome: Run) -> str:
    note = ""
    if outcome.outputs and not outcome.trace:
        # Spark records no trace: the same run in memory does.
        try:
            outcome = recorded(scenario, outcome).run
        except RecordingError as error:
            note = "\n" + lines_of(f"(without merges and reasons: {error})")
    return text_timeline(outcome, window_fn=scenario.strategy.window_fn) + note


def _explained(scenario: Scenario, outcome: Run) -> str:
    """In words what happened and why."""
    try:
        explanation = explain(recorded(scenario, outcome))
    except RecordingError as error:
        return lines_of(f"(not explained: {error})")
    return "\n\n".join(map(str, explanation.keys)) or "nothing happened"


def _for_people(show: Show, replays: Iterable[Replay], *, explains: bool = False) -> int:
    verdicts: Counter[str] = Counter()
    failed = False
    for replay in replays:
        print("\n".join(_report(replay, show, explains)), end="\n\n")
        verdicts[replay.verdict] += 1
        failed = failed or replay.failed
    parts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    print(f"{how_many(verdicts.total(), 'scenario')}: {parts}")
    return int(failed)


def _report(replay: Replay, show: Show, explains: bool) -> Iterator[str]:
    scenario, outcome = replay.scenario, replay.outcome
    yield title_line(scenario)
    yield windowing_line(scenario)
    if not isinstance(outcome, Run):
        yield f"{replay.verdict}: {problem_of(outcome)}"
        return
    yield ""
    yield show(scenario, outcome)
    if explains:
        yield f"\nwhat happened, and why:\n\n{_explained(scenario, outcome)}"
    yield ""
    yield from map(lines_of, replay.hints(explained=explains))
    yield replay.verdict_line
    yield from (f"  {visible(difference)}" for difference in replay.differences)
    if scenario.contested:
        reasons = "; ".join(scenario.contested_reason)
        yield visible(f"contested, so it does not count{': ' if reasons else ''}{reasons}")


def _page(out: Path, replays: Iterable[Replay]) -> int:
    """Everything as a page. On the terminal the table, since a verdict is wanted there too."""
    recordings: dict[str, Recording] = {}
    left_out: list[str] = []

    def keep(scenario: Scenario, outcome: Run) -> str:
        title = next(title for title in _titles(scenario) if title not in recordings)
        try:
            recordings[title] = recorded(scenario, outcome)
        except RecordingError as error:
            left_out.append(f"{scenario.id} is not on the page: {error}")
        return pane_table(outcome.outputs, width=_columns())

    status = _for_people(keep, replays)
    for line in left_out:
        print(f"beamlike: {visible(line)}", file=sys.stderr)
    if not recordings:
        print(f"beamlike: nothing could be shown, {out} is not written", file=sys.stderr)
        return 1
    title = next(iter(recordings)) if len(recordings) == 1 else f"{len(recordings)} scenarios"
    print(f"written: {save_page(recordings, out, title)}")
    return int(status or bool(left_out))


def _titles(scenario: Scenario) -> Iterator[str]:
    """What a scenario may be called on a page, the best first. Files may have equal ones."""
    title, id = scenario.title or scenario.id, scenario.id
    return chain([title, f"{title} ({id})"], (f"{title} ({id}, {n})" for n in count(2)))


def _json(replays: Iterable[Replay], problems: Sequence[str]) -> int:
    entries, failed = [], False
    for replay in replays:
        entry = _json_entry(replay)
        entries.append(json.dumps(entry))
        failed = failed or replay.failed or "error" in entry
        where = visible(f"beamlike: {replay.scenario.id}: ")
        counted = " (contested, not counted)" if replay.scenario.contested else ""
        for difference in replay.differences:
            print(f"{where}{visible(difference)}{counted}", file=sys.stderr)
        if isinstance(replay.outcome, Exception):
            print(f"{where}{replay.verdict}: {problem_of(replay.outcome)}", file=sys.stderr)
    unread = f',\n"problems": {json.dumps(list(problems))}' if problems else ""
    print('{"scenarios": [' + ",".join(f"\n {entry}" for entry in entries) + f"\n]{unread}}}")
    return int(failed)


def _json_entry(replay: Replay) -> dict[str, Any]:
    id, outcome = replay.scenario.id, replay.outcome
    if isinstance(outcome, Exception):
        outcome_kind = "unsupported" if isinstance(outcome, UnsupportedError) else "error"
        return {"id": id, outcome_kind: problem_of(outcome)}
    entry = {"id": id, **to_document(outcome)}
    try:
        json.dumps(entry, allow_nan=False)
    except (TypeError, ValueError) as error:  # infinity, say, which JSON cannot write
        return {"id": id, "error": f"a value cannot be written as JSON: {error}"}
    return entry


_FOR_PEOPLE: Final[dict[str, Show]] = {"table": _table, "timeline": _timeline}
