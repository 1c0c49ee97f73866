"""Cases of other systems, with panes and drops that Spark made.

A dialect is a mapping onto the machine: its input becomes a script, and panes and drops become its
rows. So a case is played twice, once for its scripts, and once with what Spark made of them.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from beamlike.dialects.stages import answered_by, journals_kept
from beamlike.testing.dialect_cases import CaseRow, DialectCase
from beamlike.testing.dialect_plays import play

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["play_on_spark"]


def play_on_spark(
    cases: Sequence[DialectCase], spark: "SparkSession | None" = None
) -> Mapping[str, list[CaseRow]]:
    """What comes out of each case, by its id. One streaming query runs them side by side.

    Raises:
        UnsupportedError: A case needs what `beamlike.dialects` does not have, or Spark.
    """
    from beamlike.hosts.spark.replay import replay_on_spark

    kept = []
    for case in cases:
        with journals_kept() as journals:
            play(case)
        kept.append(journals)
    scripts = [(it.strategy, it.combine, tuple(it.script)) for journals in kept for it in journals]
    runs = iter(replay_on_spark(scripts, spark))
    rows = {}
    for case, journals in zip(cases, kept, strict=True):
        with answered_by([next(runs) for _ in journals]):
            rows[case.id] = play(case)
    return rows
