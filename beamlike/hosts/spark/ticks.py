"""A source of ticks: it wakes a query that waits on processing time while no data arrives.

It has no watermark, so the data's own stays undisturbed, and its rows carry nothing: which
time it is, the machine learns from the micro-batch. Spark's ``rate`` source would do, but
for its pace: with a new row every second a query on a slow machine never comes to rest.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from beamlike.hosts.clock import wall_clock_ms

__all__ = ["TickSource"]


class TickSource(DataSource):
    """One row for each stretch of ``every_ms`` milliseconds in which the query runs."""

    @classmethod
    def name(cls) -> str:
        return "beamlike_ticks"

    def schema(self) -> str:
        return "tick int"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        return _TickReader(int(self.options["every_ms"]))


class _TickReader(DataSourceStreamReader):
    def __init__(self, every_ms: int) -> None:
        self._every_ms = every_ms

    def initialOffset(self) -> dict[str, int]:
        return {"tick": wall_clock_ms() // self._every_ms}

    # Every version of Spark takes this form. With arguments, newer ones ask for limits as well.
    def latestOffset(self) -> dict[str, int]:  # type: ignore[override]
        return self.initialOffset()

    def partitions(self, start: Any, end: Any) -> Sequence[InputPartition]:
        return [InputPartition(0)]

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        yield (1,)
