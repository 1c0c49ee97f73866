"""Rows of games as DataFrames: at once, and as a stream of files of which each is a micro-batch."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import beamlike.beam as beam

GAMES: Final = "user string, points long, at timestamp"

Game = tuple[str, int, str | None]
"""A user, points, and a time of the first day of 2020."""


def games(spark: Any, rows: Iterable[Game]) -> Any:
    frame = spark.createDataFrame(list(rows), "user string, points long, at string")
    at = "cast(concat('2020-01-01 ', at, 'Z') as timestamp) at"
    return frame.selectExpr("user", "points", at)


def put_games(spark: Any, folder: Path, *rows: Game) -> None:
    """Add a file of games to a folder."""
    games(spark, rows).coalesce(1).write.mode("append").parquet(str(folder))


def stream_of_files(spark: Any, folder: Path) -> Any:
    return spark.readStream.schema(GAMES).option("maxFilesPerTrigger", 1).parquet(str(folder))


def points_of(pipeline: beam.Pipeline, rows: Any, **clock: Any) -> Any:
    """The pairs of user and points, of rows that are read as "Games"."""
    read = "Games" >> beam.FromDataFrame(rows, **clock)
    return pipeline | read | beam.Map(lambda row: (row.user, row.points))
