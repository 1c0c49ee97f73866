"""``beamlike replay``: run scenarios from transcript files and compare what comes out."""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

from beamlike.cli.quiet import quiet_session
from beamlike.errors import BeamlikeError, UnsupportedError, UserFunctionError
from beamlike.hosts.memory import run_in_memory
from beamlike.hosts.script import Run, Script
from beamlike.model.combine import CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import WindowFn
from beamlike.testing.transcripts import Scenario, differences, load_transcripts, to_document
from beamlike.viz.table import pane_table
from beamlike.viz.timeline import text_timeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["add_parser", "run"]

Outcome = Run | Exception

_DESCRIPTION: Final = """\
Run the scenarios of transcript files, one after the other, and show every pane
that comes out and every element that is dropped. Where a file says what must
come out, the whole of it is compared.
"""

_EPILOG: Final = """\
formats:
  table      one line for each pane and drop (default)
  timeline   event time across, steps downwards: elements, windows, watermark,
             panes, and why they came out
  json       one document with the panes and drops of all scenarios, for
             programs; differences go to standard error

exit status:
  0   everything came out as expected, or nothing was expected
  1   something came out otherwise, or a scenario failed
  2   a file cannot be read or does not follow the format

examples:
  beamlike replay tests/conformance/cases/blog/blog_session.json
  beamlike replay scenario.json --format timeline
  beamlike replay cases/*.json --host spark --format json > panes.json
"""


_FEW: Final = 12
"""Up to so many scenarios take their turns; more run side by side. A step costs Spark half a
second, and hundreds of scenarios have thousands."""

_RAISED: Final = re.compile(r"^[\w.]+(?:Error|Problem): .*$", re.MULTILINE)
"""The last line of a Python traceback."""


def add_parser(subparsers: Any) -> None:
    """Describe the command to argparse."""
    parser = subparsers.add_parser(
        "replay",
        help="run scenarios from transcript files and compare what comes out",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a transcript: JSON, UTF-8")
    parser.add_argument(
        "--host",
        choices=("memory", "spark"),
        default="memory",
        help="memory: in this process, at once (default); spark: a real streaming query",
    )
    parser.add_argument(
        "--watermark",
        choices=("own", "carried"),
        help="on Spark. own: the scenarios move the query's own watermark, one after the other; "
        "carried: all run side by side, and each brings its watermark along, which is quicker "
        f"(default: own for up to {_FEW} scenarios)",
    )
    parser.add_argument(
        "--format",
        choices=tuple(FORMATS),
        default="table",
        help="how to show what came out (default: table)",
    )


def run(args: argparse.Namespace) -> int:
    """Replay the files.

    Returns:
        0 if all is as expected, 1 if not.

    Raises:
        TranscriptError: A file cannot be used. Nothing was run then.
        EnvironmentProblem: Spark cannot run here.
    """
    scenarios = [scenario for file in args.files for scenario in load_transcripts(file)]
    if args.host == "memory":
        return _show(args.format, scenarios, map(_in_memory, scenarios))
    own = args.watermark == "own" if args.watermark else len(scenarios) <= _FEW
    print("beamlike: starting Spark", file=sys.stderr, flush=True)
    with quiet_session("beamlike replay") as spark:
        on_spark = _on_spark_in_turn if own else _on_spark_side_by_side
        return _show(args.format, scenarios, on_spark(scenarios, spark))


def _show(format: str, scenarios: Sequence[Scenario], outcomes: Iterable[Outcome]) -> int:
    return FORMATS[format](Replay.of(*pair) for pair in zip(scenarios, outcomes, strict=True))


# -- running -------------------------------------------------------------------------------


@attrs.frozen
class Replay:
    """A scenario, what came of it, and how that differs from what was expected."""

    scenario: Scenario
    outcome: Outcome
    differences: tuple[str, ...]

    @classmethod
    def of(cls, scenario: Scenario, outcome: Outcome) -> "Replay":
        found = differences(scenario, outcome) if isinstance(outcome, Run) else []
        return cls(scenario, outcome, tuple(found))

    @property
    def failed(self) -> bool:
        """Whether it counts against the exit status."""
        if isinstance(self.outcome, UnsupportedError):
            # Levels beyond the core may be skipped, as long as it shows.
            return self.scenario.level == "core"
        if isinstance(self.outcome, Exception):
            return True
        return bool(self.differences) and not self.scenario.contested

    @property
    def verdict(self) -> str:
        """In a word or two."""
        if isinstance(self.outcome, UnsupportedError):
            return "not supported"
        if isinstance(self.outcome, Exception):
            return "failed"
        if self.differences:
            return "contested, differs" if self.scenario.contested else "differs"
        return "nothing expected" if self.scenario.expected is None else "as expected"


def _in_memory(scenario: Scenario) -> Outcome:
    try:
        return run_in_memory(scenario.machine(), scenario.script)
    except Exception as error:  # an aggregation that cannot take these values, for one
        return error


def _on_spark_in_turn(scenarios: Sequence[Scenario], spark: "SparkSession") -> Iterator[Outcome]:
    """One scenario after the other, each on the query's own watermark."""
    from beamlike.hosts.spark.replay import close_replayer, run_on_spark

    try:
        for scenario in scenarios:
            try:
                yield run_on_spark(*_stage(scenario), spark)
            except Exception as error:
                yield error
    finally:
        close_replayer()


def _on_spark_side_by_side(
    scenarios: Sequence[Scenario], spark: "SparkSession"
) -> Iterator[Outcome]:
    """All scenarios at once, in one streaming query, each with a watermark of its own."""
    from beamlike.hosts.spark.replay import close_replayer, replay_on_spark

    def attempt(part: Sequence[Scenario]) -> list[Outcome]:
        try:
            return list(replay_on_spark([_stage(scenario) for scenario in part], spark))
        except Exception as error:
            if len(part) == 1:
                return [error]
        # One bad scenario fails the query for all of them: look for it on either side.
        middle = len(part) // 2
        return attempt(part[:middle]) + attempt(part[middle:])

    try:
        yield from attempt(scenarios) if scenarios else []
    finally:
        close_replayer()


def _stage(scenario: Scenario) -> tuple[WindowingStrategy | WindowFn, CombineFn | None, Script]:
    grouped = scenario.combine is not None
    strategy = scenario.strategy
    return strategy if grouped else strategy.window_fn, scenario.combine, scenario.script


def _problem(error: Exception) -> str:
    """An error as one line. Of an error inside a Spark worker, the error and not the way."""
    if isinstance(error, UserFunctionError):
        # What its own text advises cannot be done in a file.
        text = f"{error.function} raised {error.problem}; it was asked for {error.place}"
        return " ".join(f"{text}, key {error.key}".split())
    text = str(error) if isinstance(error, BeamlikeError) else f"{type(error).__name__}: {error}"
    causes = _RAISED.findall(text)
    return " ".join((causes[-1] if causes else text).split())


# -- showing -------------------------------------------------------------------------------


def _table(scenario: Scenario, outcome: Run) -> str:
    return pane_table(outcome.outputs)


def _timeline(scenario: Scenario, outcome: Run) -> str:
    drawn = text_timeline(outcome, window_fn=scenario.strategy.window_fn)
    if outcome.outputs and not outcome.story:
        drawn += (
            "\n(Spark tells no story: merges, firings without a pane and reasons are shown on the "
            "memory host.)"
        )
    return drawn


def _for_people(show: Callable[[Scenario, Run], str]) -> Callable[[Iterator[Replay]], int]:
    def show_all(replays: Iterator[Replay]) -> int:
        verdicts: dict[str, int] = {}
        failed = False
        for replay in replays:
            print("\n".join(_report(replay, show)), end="\n\n")
            verdicts[replay.verdict] = verdicts.get(replay.verdict, 0) + 1
            failed = failed or replay.failed
        total = sum(verdicts.values())
        parts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        print(f"{total} scenario{'s' * (total != 1)}: {parts}" if total else "no scenarios")
        return int(failed)

    return show_all


def _report(replay: Replay, show: Callable[[Scenario, Run], str]) -> Iterator[str]:
    scenario, outcome = replay.scenario, replay.outcome
    title = scenario.title if scenario.title != scenario.id else ""
    yield f"== {scenario.id}{': ' if title else ''}{title}"
    yield windowing_line(scenario)
    if not isinstance(outcome, Run):
        yield f"{replay.verdict}: {_problem(outcome)}"
        return
    yield ""
    yield show(scenario, outcome)
    yield ""
    yield f"{replay.verdict}{':' if replay.differences else ''}"
    yield from (f"  {difference}" for difference in replay.differences)
    if scenario.contested:
        reasons = "; ".join(scenario.contested_reason)
        yield f"contested, so it does not count{': ' if reasons else ''}{reasons}"


def windowing_line(scenario: Scenario) -> str:
    """A scenario's windowing in a line."""
    if scenario.combine is None:
        return f"{scenario.strategy.window_fn}, not grouped"
    return f"{scenario.strategy}; {scenario.aggregation} of each pane"


def _json(replays: Iterator[Replay]) -> int:
    entries, failed = [], False
    for replay in replays:
        entry = _json_entry(replay)
        entries.append(json.dumps(entry))
        failed = failed or replay.failed or "error" in entry
        where = f"beamlike: {replay.scenario.id}: "
        counted = " (contested, not counted)" if replay.scenario.contested else ""
        for difference in replay.differences:
            print(f"{where}{difference}{counted}", file=sys.stderr)
        if isinstance(replay.outcome, Exception):
            print(f"{where}{replay.verdict}: {_problem(replay.outcome)}", file=sys.stderr)
    print('{"scenarios": [' + ",".join(f"\n {entry}" for entry in entries) + "\n]}")
    return int(failed)


def _json_entry(replay: Replay) -> dict[str, Any]:
    id, outcome = replay.scenario.id, replay.outcome
    if isinstance(outcome, Exception):
        kind = "unsupported" if isinstance(outcome, UnsupportedError) else "error"
        return {"id": id, kind: _problem(outcome)}
    entry = {"id": id, **to_document(outcome)}
    try:
        json.dumps(entry, allow_nan=False)
    except (TypeError, ValueError) as error:  # infinity, say, which JSON cannot write
        return {"id": id, "error": f"a value cannot be written as JSON: {error}"}
    return entry


FORMATS: Final[dict[str, Callable[[Iterator[Replay]], int]]] = {
    "table": _for_people(_table),
    "timeline": _for_people(_timeline),
    "json": _json,
}
