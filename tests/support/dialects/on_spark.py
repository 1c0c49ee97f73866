"""Cases of other systems, with panes and drops that another host made.

A dialect is a mapping onto the machine: its input becomes a script, and panes and drops become its
rows. So a case is played twice, once for its scripts, and once with what the host made of them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from beamlike.model.combine import CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.script import Run, Script
from tests.conformance.beamlike_conformance.scenarios import DialectCase
from tests.support.dialects.player import CaseRow
from tests.support.dialects.plays import play, stage_of
from tests.support.dialects.stages import answered_by

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["play_on_local", "play_on_spark"]


def play_on_spark(
    cases: Sequence[DialectCase], spark: "SparkSession | None" = None
) -> Mapping[str, list[CaseRow]]:
    """What comes out of each case, by its id. One streaming query runs them side by side."""
    from beamlike.hosts.spark.graph.query import replay_on_spark

    return _played(cases, lambda scripts: replay_on_spark(scripts, spark))


def play_on_local(cases: Sequence[DialectCase]) -> Mapping[str, list[CaseRow]]:
    """The same by the runtime of production in this process."""
    from beamlike.hosts.local.nodes import run_in_local

    return _played(cases, lambda scripts: [run_in_local(*script) for script in scripts])


_Stage = tuple[WindowingStrategy, CombineFn, Script]


def _played(
    cases: Sequence[DialectCase], run: Callable[[Sequence[_Stage]], Iterable[Run]]
) -> Mapping[str, list[CaseRow]]:
    stages = [stage_of(case) for case in cases]
    runs = run([(stage.strategy, stage.combine, stage.run.script) for stage in stages])
    rows = {}
    for case, answers in zip(cases, runs, strict=True):
        with answered_by(answers):
            rows[case.id] = play(case)
    return rows
