"""``beamlike explain``: why a scenario brings out what it does, in words."""

import argparse
import difflib
import sys
from collections.abc import Sequence
from typing import Any, Final

from beamlike.cli.argument_types import REFUSED, Parser, json_of, number_of, place
from beamlike.cli.scenarios import Reading, in_memory, problem_of, read_each, recorded, title_line
from beamlike.errors import RecordingError, TranscriptError
from beamlike.model.fingerprint import visible
from beamlike.model.time import instant_ms
from beamlike.runtime.script import Run
from beamlike.testing.scenarios.files import Scenario
from beamlike.viz.explain import Explanation, explain
from beamlike.viz.recording import Recording

DESCRIPTION: Final = """\
Replay a scenario from a transcript file in memory and say in words what
happened and why, step by step: every merge and how near the elements were,
every pane and the part of the trigger that brought it out, every dropped
element and what would have saved it, and, where nothing came out, what each
window still waits for.
"""

EPILOG: Final = """\
exit status:
  0   everything was explained
  1   a scenario failed, because a function or an aggregation raised
  2   a file cannot be read or does not follow the format, or there is no such
      scenario, key or window in it; the nearest are named

examples:
  beamlike explain scenario.json
  beamlike explain scenario.json --key joe
  beamlike explain scenario.json --key joe --window 00:00:00 00:10:00
  beamlike explain scenarios.json --scenario late_data
"""


def add_arguments(parser: Parser) -> None:
    """Describe the arguments to argparse."""
    parser.take("FILE", "a transcript: JSON, UTF-8", place)
    parser.take("--scenario ID", "only this scenario of the file (default: all of them)")
    parser.take(
        "--key KEY",
        "only this key (default: all of them). It is read as JSON first, so that 7 is the "
        "number, '\"7\"' the text and null stands for no key; what is no key so is read as the "
        "text that is listed",
    )
    parser.take(
        "--window",
        "only the window with these bounds, and those that it grew from: a time of day such "
        "as 00:10:00, a date and time such as 2013-01-01T06:00:00, or milliseconds",
        nargs=2,
        metavar=("START", "END"),
    )


def run(args: argparse.Namespace) -> int:
    """Explain the scenarios of a file: 0 if all could be run, 1 if one failed, 2 if one that was
    asked for cannot be read."""
    reading = read_each([args.file])
    scenarios = _chosen(reading, args.scenario, args.file)
    if reading.problems and args.scenario is None:
        reading.show_problems()
    window = _bounds(args.window) if args.window else None
    refusals: list[RecordingError] = []
    failed, explained = False, 0
    for scenario in scenarios:
        outcome = in_memory(scenario)
        if not isinstance(outcome, Run):
            failed = True
            failure = f"{scenario.id}: failed: {problem_of(outcome)}"
            print(f"beamlike: {visible(failure)}", file=sys.stderr)
            continue
        try:
            explanation = _explanation(scenario, outcome, args.key, window)
        except RecordingError as error:
            refusals.append(error)
            continue
        # One scenario needs no name.
        head = f"{title_line(scenario)}\n" if len(scenarios) > 1 else ""
        print(f"{head}{explanation}", end="\n\n" if len(scenarios) > 1 else "\n")
        explained += 1
    if refusals and not explained:
        raise refusals[0]
    if reading.problems and args.scenario is None:
        reading.show_unread()
        return REFUSED
    return int(failed)


def _explanation(
    scenario: Scenario, outcome: Run, key: str | None, window: tuple[int, int] | None
) -> Explanation:
    recording = recorded(scenario, outcome)
    known = None if key is None else _key(recording, key)
    if key is not None and known is None:  # elements without a key, and only those
        recording = recording.of_key(None)
    return explain(recording, known, window)


def _key(recording: Recording, typed: str) -> Any:
    """The key that is meant. What is typed is text, whatever the key is in the file.

    ``beamlike state`` reads keys so, too.
    """
    as_json = json_of(typed)
    for known in recording.keys:
        if known == as_json and not isinstance(as_json, bool):  # True is no 1
            return known
    for known in recording.keys:
        if typed in (str(known), repr(known)):
            return known
    return recording.by_key.known(typed)


def _bounds(typed: Sequence[str]) -> tuple[int, int]:
    def instant(name: str, text: str) -> int:
        number = number_of(text)
        return instant_ms(text if number is None else number, f"--window {name}")

    start, end = map(instant, ("START", "END"), typed)
    return start, end


def _chosen(reading: Reading, id: str | None, file: str) -> Sequence[Scenario]:
    scenarios = reading.scenarios
    if id is None:
        return scenarios
    chosen = [scenario for scenario in scenarios if scenario.id == id]
    if not chosen and reading.problems:
        raise TranscriptError(reading.first_problems)  # it may be the one that was asked for
    if not chosen:
        ids = [scenario.id for scenario in scenarios]
        begun = [known for known in ids if known.startswith(id)]
        near = (begun or difflib.get_close_matches(id, ids, cutoff=0.4) or ids)[:3]
        verb = "is" if len(near) == 1 else "are"
        raise TranscriptError(
            f"{file}: there is no scenario {id!r}; the nearest {verb} {', '.join(map(repr, near))}"
        )
    return chosen
