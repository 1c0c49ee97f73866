"""A source of ticks: micro-batches for a query that waits on processing time while no data arrives.

It has no watermark, so it does not disturb that of the data. Its rows carry nothing: the machine
takes the time from the micro-batch. Spark's ``rate`` source is too fast: with a new row every
second a query on a slow machine never becomes idle.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from beamlike.hosts.clock import wall_clock_ms
from beamlike.hosts.spark.session import available_now_problem, refuse
from beamlike.model.time import duration_ms
from beamlike.runtime.options import WAKE_EVERY

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

try:
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
except ImportError:  # PySpark 4.1: Spark has to wrap the source, see `available_now_problem`

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """What PySpark 4.2 and later require of a reader that ends with the backlog."""


_USUAL_MS: Final = duration_ms(WAKE_EVERY, "wake_every")
_LONGEST_MS: Final = 60_000
_PART: Final = 4

_OFFSET: Final = re.compile(r"""\{\s*['"]tick['"]\s*:\s*\d+\s*\}""")

_NAMED_SOURCES: Final = "spark.sql.streaming.queryEvolution.enableSourceEvolution"
"""Since PySpark 4.2: identifies the sources of a query by names, not by their order."""


def pace_ms(wake_every_ms: int, *, by_trigger: bool, idle_after_ms: Iterable[int]) -> int:
    """The time between two ticks (ms).

    Each tick is a micro-batch, for as long as the query runs. If the query waits only for inputs to
    become idle, most of these find nothing to do. So by default there are then four ticks in the
    shortest ``idle_after``, and at least one each minute.

    Args:
        wake_every_ms: The time that was requested. The default leaves the choice to this function.
        by_trigger: Whether a trigger or a timer waits on processing time.
        idle_after_ms: After how long without rows each input that can be idle is idle.

    >>> pace_ms(5_000, by_trigger=False, idle_after_ms=[60_000])
    15000
    """
    silences = list(idle_after_ms)
    if by_trigger or not silences or wake_every_ms != _USUAL_MS:
        return wake_every_ms
    return max(wake_every_ms, min(min(silences) // _PART, _LONGEST_MS))


def ticks(spark: "SparkSession", every_ms: int) -> "DataFrame":
    """A stream with a row for each stretch of ``every_ms`` milliseconds.

    Raises:
        EnvironmentProblem: With ``availableNow`` this session would read the backlog at once.
    """
    refuse(available_now_problem(spark))
    spark.dataSource.register(TickSource)
    reader = spark.readStream.format(TickSource.name()).option("every_ms", every_ms)
    if spark.conf.get(_NAMED_SOURCES, "false") == "true":  # then each source has to have a name
        reader = reader.name(TickSource.name())
    return reader.load()


def is_tick(offset: Any) -> bool:
    """Whether an offset in the progress of a query is one of ticks. Spark does not name sources."""
    return _OFFSET.fullmatch(str(offset)) is not None


class TickSource(DataSource):
    """One row for each stretch of ``every_ms`` milliseconds in which the query runs."""

    @classmethod
    def name(cls) -> str:
        return "beamlike_ticks"

    def schema(self) -> str:
        return "tick int"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        return TickReader(int(self.options["every_ms"]))


class TickReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Counts ticks: the stretches of ``every_ms`` milliseconds since 1970.

    With ``trigger(availableNow=True)`` the ticks stop at the query's start, so that it ends. All
    ticks since the query last ran count as one: the first micro-batch then steps all shards, so
    that panes that came due in between are emitted also if no data has arrived.
    """

    def __init__(self, every_ms: int) -> None:
        self._every_ms = every_ms
        self._last: int | None = None

    def initialOffset(self) -> dict[str, int]:
        return {"tick": self._tick()}

    # PySpark 4.1 gives no arguments. The start in the checkpoint does not count: another
    # ``wake_every`` may have counted it.
    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, int]:
        return {"tick": self._tick()}

    def prepareForTriggerAvailableNow(self) -> None:
        self._last = self._tick()

    def partitions(self, start: Any, end: Any) -> Sequence[InputPartition]:
        return [InputPartition(0)]

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        yield (1,)

    def _tick(self) -> int:
        return wall_clock_ms() // self._every_ms if self._last is None else self._last
