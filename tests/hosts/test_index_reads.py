"""The index of a shard is read, unpacked and checked once in a micro-batch."""

from typing import Any

import pyarrow as pa
import pytest

import beamlike.beam as beam
from beamlike.machine.input_clocks import HostWatermark
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.triggers import AfterCount, Repeatedly
from beamlike.model.windowfns import FixedWindows
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.shard import Shard
from beamlike.runtime.stepping import stepper_of
from beamlike.runtime.store import index
from beamlike.runtime.store.stores import DictStore
from tests.support.machines.rows_of_outputs import Row, plan_of, table

IN_PAIRS = WindowingStrategy(
    FixedWindows(10), Repeatedly(AfterCount(2)), accumulation="discarding", allowed_lateness=5
)


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The indexes that are unpacked, in order."""
    blobs = list[bytes]()
    unpack = index.unpack_blob

    def noted(blob: bytes) -> tuple[pa.Table, dict[str, Any]]:
        blobs.append(blob)
        return unpack(blob)

    monkeypatch.setattr(index, "unpack_blob", noted)
    return blobs


@pytest.mark.parametrize("record", [0, 10_000_000], ids=["no record", "recorded"])
@pytest.mark.parametrize("machine", ["columnar", "reference"])
def test_a_step_of_a_grouping_unpacks_its_index_once(
    unpacked: list[bytes], machine: Any, record: int
) -> None:
    stepper = stepper_of(plan_of(IN_PAIRS, "n", machine_name=machine, record=record))
    store, saved = DictStore(), list[bytes | None]()
    for number in range(4):
        saved.append(store.index)
        rows = [table(Row(number))] if number < 3 else []
        stepper.step(store, ShardInput(rows, [HostWatermark(number)], number))
    assert unpacked == saved[1:], "the first step has no index yet"


def test_a_machine_of_a_function_with_side_inputs_unpacks_its_index_once(
    unpacked: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    stepped, step = list[bool](), Shard.step

    def noted(shard: Shard, store: Any, *arguments: Any) -> Any:
        stepped.append(store.read_index() is not None)
        return step(shard, store, *arguments)

    monkeypatch.setattr(Shard, "step", noted)
    pipeline = beam.Pipeline()
    prices = pipeline | "Prices" >> beam.Create([("tea", 3), ("milk", 2)])
    sold = pipeline | "Sold" >> beam.Create(["tea", "milk", "tea"])
    sold | beam.Map(lambda item, known: known[item], beam.pvalue.AsDict(prices))
    pipeline.run("local")
    assert stepped.count(False) == 1, "the first step has no index yet"
    assert len(unpacked) == stepped.count(True) > 0
