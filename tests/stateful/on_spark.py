"""Programs side by side in one streaming query."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

from beamlike.hosts.spark.graph.query import Scripted, run_pipelines_on_spark
from tests.stateful.laws import ON_SPARK, unlike_run
from tests.stateful.programs import Program, one_by_one
from tests.support.laws import Broken

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def broken_on_spark(programs: Sequence[Program], spark: "SparkSession") -> list[Broken[Program]]:
    """The programs of which Spark brings out something else than memory.

    In which order a shard sees the elements of one step is open: they come alone.
    """
    alone = [attrs.evolve(program, script=one_by_one(program.script)) for program in programs]
    runs = run_pipelines_on_spark([Scripted(it.pipeline.nodes) for it in alone], spark)
    found = [tuple(unlike_run(*both)) for both in zip(alone, runs, strict=True)]
    return [
        Broken(program, ON_SPARK, how) for program, how in zip(alone, found, strict=True) if how
    ]
