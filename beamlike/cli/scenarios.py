"""Scenarios of transcript files: run on either host, named, and their errors in a line."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from beamlike.errors import BeamlikeError, RecordingError, UserFunctionError
from beamlike.model.combine import CombineFn
from beamlike.model.fingerprint import visible
from beamlike.model.time import show_duration
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Run, Script
from beamlike.testing.scenarios.files import Scenario
from beamlike.viz.recording import Recording

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from beamlike.runtime.graph.scripted import Stage

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
        return f"{scenario.strategy.window_fn}{late}; given to {scenario.function.words}"
    if scenario.combine is None:
        return f"{scenario.strategy.window_fn}, not grouped"
    return f"{scenario.strategy}; {scenario.aggregation} of each pane"


def in_memory(scenario: Scenario) -> Outcome:
    """Run a scenario in this process; what it raises, if it raises."""
    try:
        return run_in_memory(scenario.machine(), scenario.script)
    except Exception as error:  # an aggregation that cannot take these values, for one
        return error


def in_local(scenario: Scenario) -> Outcome:
    """Run a scenario in this process as production would; what it raises, if it raises."""
    from beamlike.hosts.local.scripts import run_in_local

    try:
        return run_in_local(*_stage(scenario))
    except Exception as error:
        return error


def on_spark(scenarios: Sequence[Scenario], spark: "SparkSession") -> Iterator[Outcome]:
    """All scenarios at once, in one streaming query, each with a watermark of its own."""
    from beamlike.hosts.spark.replay import replay_on_spark

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
