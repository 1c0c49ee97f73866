"""Scenarios of transcript files and folders: read, run on any host, and judged."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from beamlike.errors import (
    BeamlikeError,
    RecordingError,
    TranscriptError,
    UnsupportedError,
    UserFunctionError,
)
from beamlike.machine.events import AdvanceWatermark
from beamlike.model.combine import CombineFn
from beamlike.model.fingerprint import how_many, visible
from beamlike.model.time import MAX_TIMESTAMP, show_duration
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Run, Script
from beamlike.testing.scenarios.files import Scenario, differences, read_transcripts
from beamlike.viz.recording import Recording
from beamlike.viz.sentences import wrapped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from beamlike.runtime.graph.scripted_graph import Stage

_MOST_PROBLEMS = 5


@attrs.frozen
class Reading:
    """What was read.

    Args:
        scenarios: All that can be run.
        problems: What is wrong, a text for each file, with the places in it.
        unread: What cannot be run because of that, in the same order.
    """

    scenarios: tuple[Scenario, ...]
    problems: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def first_problems(self) -> str:
        """What is wrong with the first files."""
        hidden = len(self.problems) - _MOST_PROBLEMS
        ending = [f"... and {hidden} more files that cannot be used"] if hidden > 0 else []
        return "\n\n".join([*self.problems[:_MOST_PROBLEMS], *ending])

    def show_problems(self) -> None:
        """Say on standard error what is wrong, before anything runs."""
        print(f"beamlike: {visible(self.first_problems)}\n", file=sys.stderr, flush=True)

    def show_unread(self) -> None:
        """Repeat in a line for each file what has not run: the first message may be far above."""
        for unread_text in self.unread:
            print(f"beamlike: not run, it cannot be read: {visible(unread_text)}", file=sys.stderr)


def read_files(names: Iterable[str]) -> Reading:
    """The scenarios of files and folders."""
    return read_each(chain.from_iterable(map(_files, names)))


def read_each(files: Iterable[str]) -> Reading:
    """The scenarios of files."""
    scenarios, problems, unread = list[Scenario](), list[str](), list[str]()
    for file in files:
        transcripts = read_transcripts(file)
        scenarios += transcripts.scenarios
        if transcripts.problem is not None:
            problems.append(str(transcripts.problem))
            unread_scenarios = f"{how_many(transcripts.unread, 'scenario')} of {file}"
            unread.append(unread_scenarios if transcripts.scenarios else file)
        elif not transcripts.scenarios:
            problems.append(
                f"{file}: there is no scenario in this file; beamlike replay --help shows one to "
                "begin with"
            )
            unread.append(file)
    reading = Reading(tuple(scenarios), tuple(problems), tuple(unread))
    if not scenarios:
        raise TranscriptError(reading.first_problems)
    return reading


def _files(name: str) -> list[str]:
    if not os.path.isdir(name):
        return [name]
    files = sorted(map(str, Path(name).rglob("*.json")))
    if not files:
        raise TranscriptError(f"{name}: there is no *.json file in this folder")
    return files


Outcome = Run | Exception
"""What came of a scenario: everything that came out, or what was raised."""

_RAISED: Final = re.compile(r"^[\w.]+(?:Error|Problem): .*$", re.MULTILINE)
"""The last line of a Python traceback."""


def title_line(scenario: Scenario) -> str:
    """The name of a scenario, above its results."""
    title = scenario.title if scenario.title != scenario.id else ""
    return visible(f"== {scenario.id}{': ' if title else ''}{title}")


def windowing_line(scenario: Scenario) -> str:
    """A scenario's windowing in a line."""
    if scenario.function is not None:
        lateness = scenario.strategy.allowed_lateness
        late = f", allowed lateness {show_duration(lateness)}" if lateness else ""
        return f"{scenario.strategy.window_fn}{late}; given to {scenario.function.display_name}"
    if scenario.combine is None:
        return f"{scenario.strategy.window_fn}, not grouped"
    return f"{scenario.strategy}; {scenario.aggregation} of each pane"


def _outcome(run: Callable[[], Run]) -> Outcome:
    try:
        return run()
    except Exception as error:  # an aggregation that cannot take these values, for one
        return error


def in_memory(scenario: Scenario) -> Outcome:
    """Run a scenario in this process; what it raises, if it raises."""
    return _outcome(lambda: run_in_memory(scenario.machine(), scenario.script))


def in_local(scenario: Scenario) -> Outcome:
    """Run a scenario in this process as production would; what it raises, if it raises."""
    from beamlike.hosts.local.nodes import run_in_local

    return _outcome(lambda: run_in_local(*_stage(scenario)))


def on_spark(scenarios: Sequence[Scenario], spark: "SparkSession") -> Iterator[Outcome]:
    """All scenarios at once, in one streaming query, each with a watermark of its own."""
    from beamlike.hosts.spark.graph.query import replay_on_spark

    def attempt(part: Sequence[Scenario]) -> list[Outcome]:
        try:
            return list(replay_on_spark([_stage(scenario) for scenario in part], spark))
        except Exception as error:
            if len(part) == 1:
                return [error]
        # One bad scenario fails the query for all of them: look for it on either side.
        middle = len(part) // 2
        return attempt(part[:middle]) + attempt(part[middle:])

    yield from attempt(scenarios) if scenarios else []


def recorded(scenario: Scenario, run: Run) -> Recording:
    """A run of a scenario with everything in between."""
    if scenario.function is not None:
        raise RecordingError(
            "a function with states and timers has no trigger whose firing could be explained; the "
            "table shows what it brought out, and beamlike state what a query keeps of one"
        )
    return Recording.of(run, scenario.strategy, scenario.combine)


def _stage(scenario: Scenario) -> tuple["Stage", CombineFn | None, Script]:
    if scenario.function is not None:
        return scenario.machine(), None, scenario.script
    grouped = scenario.combine is not None
    strategy = scenario.strategy
    return strategy if grouped else strategy.window_fn, scenario.combine, scenario.script


def problem_of(error: Exception) -> str:
    """An error as one line. Of an error inside a Spark worker, the error and not the way."""
    if isinstance(error, UserFunctionError):
        # What its own text advises cannot be done in a file.
        text = f"{error.function} raised {error.problem}; it was called for {error.place}"
        return visible(" ".join(f"{text}, key {error.key}".split()))
    text = str(error) if isinstance(error, BeamlikeError) else f"{type(error).__name__}: {error}"
    causes = _RAISED.findall(text)
    return visible(" ".join((causes[-1] if causes else text).split()))


@attrs.frozen
class Replay:
    """A scenario, what came of it, and how that differs from what was expected."""

    scenario: Scenario
    outcome: Outcome
    differences: tuple[str, ...]

    @classmethod
    def of(cls, scenario: Scenario, outcome: Outcome) -> "Replay":
        differing = differences(scenario, outcome) if isinstance(outcome, Run) else []
        return cls(scenario, outcome, tuple(differing))

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
        if self.scenario.expected is None:
            return "nothing expected"
        return "as recorded" if self.scenario.recorded_from else "as expected"

    @property
    def verdict_line(self) -> str:
        """The verdict of a run that came to its end. What follows a colon are differences."""
        test = self.scenario.recorded_from
        if self.differences:
            return f"{self.verdict}{f' from what the failed test {test} recorded' * bool(test)}:"
        if self.verdict != "as recorded":
            return self.verdict
        wanted = "what the test expected is in its failure text"
        return f"as recorded from the failed test {test}; {wanted}"

    def hints(self, *, explained: bool) -> Iterator[str]:
        """What may surprise the author of the scenario."""
        script, outcome = self.scenario.script, self.outcome
        end = AdvanceWatermark(MAX_TIMESTAMP)
        ends = [index for index, step in enumerate(script) if step == end]
        if isinstance(outcome, Run) and not outcome.outputs:
            reason = "" if explained else "--explain says why"
            if not ends:
                reason = "windows that are open at the end stay open: the steps do not end with "
                reason += '{"advance_watermark_to_infinity": true}'
                reason += "" if explained else "; --explain says what each window waits for"
            if reason:
                yield f"(nothing came out; {reason})"
        if ends and ends[0] + 1 < len(script):
            yield (
                f"(step {ends[0]} is the end of time, and no element can be in time after it; in a "
                "TestStream it is the last step)"
            )


def lines_of(text: str) -> str:
    """A line of any length on as many lines as it needs."""
    return "\n".join(wrapped(text, "", "  "))
