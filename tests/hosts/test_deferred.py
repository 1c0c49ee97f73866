"""What a process imports that only opens the state of an operator, and one that has rows."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import pyarrow as pa
import pytest

from beamlike.hosts.spark.deferred import (
    Deferred,
    blobs_of,
    blobs_of_nodes,
    clock_of_group,
)
from beamlike.hosts.spark.processor import GroupProcessor, TextStore
from beamlike.model.combine import Count
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import FixedWindows
from beamlike.runtime.accumulator_columns import PlainColumn
from beamlike.runtime.fanout import FanoutWork
from beamlike.runtime.graph.layer_work import Layer
from beamlike.runtime.graph.layers import Layers, Spread
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.work import ShardWork

PLANNED = """
import pickle, sys

class Handle:
    def getMapState(self, *_): return "map"
    def getValueState(self, *_): return "value"

deferred = pickle.loads(open(sys.argv[1], "rb").read())
deferred.init(Handle())
deferred.close()
print(*(name for name in ("numpy", "pandas", "pyarrow") if name in sys.modules))
"""


def plan() -> Plan:
    count = Part("n", Count(), None, PlainColumn(pa.int64()), pa.int64())
    strategy = WindowingStrategy(FixedWindows(10))
    return Plan(strategy, keys={"key": pa.string()}, values={}, parts=(count,))


def layer() -> Layer:
    return Layer(Spread(Layers((), (), {}, Wire()), 2, 2), 1)


@pytest.mark.parametrize(
    ("processor", "state"),
    [
        pytest.param(lambda: GroupProcessor(ShardWork(plan())), blobs_of, id="shards"),
        pytest.param(
            lambda: GroupProcessor(FanoutWork(plan()), store=TextStore), clock_of_group, id="fanout"
        ),
        pytest.param(lambda: GroupProcessor(layer()), blobs_of_nodes, id="pipeline"),
    ],
)
def test_spark_plans_a_query_without_numpy_pandas_or_pyarrow(
    processor: Callable[[], GroupProcessor], state: Callable[[Any], Any], tmp_path: Path
) -> None:
    saved = tmp_path / "deferred"
    saved.write_bytes(cloudpickle.dumps(Deferred(processor(), state)))
    done = subprocess.run(
        [sys.executable, "-c", PLANNED, str(saved)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "\n"


class Noting:
    """Notes in a list that its state is what is done to it."""

    def open(self, handle: Any, state: Any) -> None:
        self._noted = state
        self._noted.append("open")

    def rows(self, key: Any, rows: Any, times: Any) -> Any:
        self._noted.append(f"rows {[*rows]} of {key} at {times}")
        yield key

    def timer(self, key: Any, times: Any) -> Any:
        self._noted.append(f"timer of {key} at {times}")
        yield key

    def close(self) -> None:
        self._noted.append("close")


def task(*, has_rows: bool) -> list[str]:
    noted = list[str]()
    deferred = Deferred(Noting(), lambda handle: noted)  # type: ignore[arg-type]
    deferred.init(None)  # type: ignore[arg-type]
    if has_rows:
        assert [*deferred.handleInputRows(1, iter("ab"), 5)] == [1]  # type: ignore[arg-type]
        assert [*deferred.handleExpiredTimer(2, 6, None)] == [2]
    deferred.close()
    return noted


def test_a_task_opens_its_processor_once_for_all_of_its_groups() -> None:
    assert task(has_rows=True) == ["open", "rows ['a', 'b'] of 1 at 5", "timer of 2 at 6", "close"]


def test_a_task_without_groups_opens_none() -> None:
    assert task(has_rows=False) == []
