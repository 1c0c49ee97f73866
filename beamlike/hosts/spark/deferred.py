"""Stateful processors whose code is imported with the first rows, not when a query is planned.

When a query starts, Spark starts a Python process on the driver for each stateful operator, one
after the other, and opens its state there to learn the schema. The code that steps shards would
import numpy, pandas and pyarrow in each of them: 1.3 s of a core, for nothing. So this module
imports PySpark alone, and a processor is unpickled with the first group of a task.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import cloudpickle
from pyspark.sql import Row
from pyspark.sql import types as T
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from beamlike.hosts.spark.worker_errors import reporting
from beamlike.hosts.spark.workers import tune_worker_process

if TYPE_CHECKING:
    from beamlike.hosts.spark.processor import GroupProcessor


class Deferred(StatefulProcessor):
    """A processor as Spark takes it.

    Args:
        state: Opens the state of a group. Its module must not import more than this one.
    """

    def __init__(
        self, processor: "GroupProcessor", state: Callable[[StatefulProcessorHandle], Any]
    ) -> None:
        self._pickled, self._state_of = cloudpickle.dumps(processor), state
        self._processor: GroupProcessor | None = None

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle, self._state = handle, self._state_of(handle)

    def _opened(self) -> "GroupProcessor":
        if self._processor is None:
            self._processor = pickle.loads(self._pickled)
            tune_worker_process()  # after the imports that came with it
            self._processor.open(self._handle, self._state)
        return self._processor

    def handleInputRows(self, key: Any, rows: Iterable[Row], timerValues: Any) -> Iterator[Row]:
        with reporting():
            yield from self._opened().rows(key, rows, timerValues)

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Row]:
        with reporting():
            yield from self._opened().timer(key, timerValues)

    def close(self) -> None:
        if self._processor is not None:
            with reporting():
                self._processor.close()


def blobs_of(handle: StatefulProcessorHandle, *place: str) -> Any:
    """State ``blobs`` of `SparkStore`, with names for what comes before the number of a blob."""
    # As text, each task would have to look up in Spark what the types mean.
    names = [T.StructField(name, T.IntegerType()) for name in (*place, "number")]
    blob = T.StructType([T.StructField("blob", T.BinaryType())])
    return handle.getMapState("blobs", T.StructType(names), blob)


def blobs_of_nodes(handle: StatefulProcessorHandle) -> Any:
    """The blobs of several nodes of a pipeline."""
    return blobs_of(handle, "node")


def clock_of_group(handle: StatefulProcessorHandle) -> Any:
    """State ``seen`` of a group of a fanout: its clock, as JSON."""
    return handle.getValueState("seen", T.StructType([T.StructField("seen", T.StringType())]))
