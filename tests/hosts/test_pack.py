"""Rows on their way to the shards, without Spark."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import UserFunctionError
from beamlike.hosts.spark.query import packer
from beamlike.machine.events import Element
from beamlike.model.combine import Sum
from beamlike.runtime.accumulator_columns import PlainColumn
from beamlike.runtime.envelope import arriving
from beamlike.runtime.packing import Arrived, read_blobs
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.row_metadata import SOURCE_MARKS

NUMBER = pa.int64()


def plan_of(on_error: Any, **options: Any) -> Plan:
    return Plan(
        bl.WindowingStrategy(bl.FixedWindows(10)),
        keys={"user": pa.string()},
        values={"v": NUMBER},
        parts=(Part("total", Sum(), 0, PlainColumn(NUMBER), NUMBER),),
        shards=1,
        buckets=1,
        on_error=on_error,
        **options,
    )


def rows(*given: tuple[str, int, int]) -> pa.RecordBatch:
    """Rows of a source: key, value and event time."""
    table = pa.table(
        {
            "key_user": pa.array([user for user, _, _ in given], pa.string()),
            "value_v": pa.array([value for _, value, _ in given], NUMBER),
            "hash": pa.array([1] * len(given), NUMBER),
            "reason": pa.nulls(len(given), pa.string()),
            "element": pa.nulls(len(given), pa.string()),
            **{name: pa.nulls(len(given), pa.string()) for name in SOURCE_MARKS},
            "ts": pa.array([at for _, _, at in given], NUMBER),
        }
    )
    (batch,) = table.to_batches()
    return batch


def gap_of(value: tuple[int]) -> int:
    if value[0] == 5:
        raise KeyError("five")
    return 10


def test_a_row_that_the_input_s_own_window_function_cannot_take_is_dropped_without_a_watermark():
    plan = plan_of("drop")
    batches = packer(plan, assign=bl.Sessions(gap_of))(iter([rows(("joe", 4, 4), ("ann", 5, 5))]))
    arrived = read_blobs(blob for batch in batches for blob in batch.column("blob").to_pylist())
    (table,) = arrived.tables[0]
    assert list(arriving(plan, table)) == [(("joe",), Element((4,), 4, bl.IntervalWindow(4, 14)))]
    (finished,) = arrived.finished
    (row,) = finished.to_pylist()
    assert row["user"] == "ann"
    dropped = row["__beamlike"]["dropped"]
    assert {name: it for name, it in dropped.items() if it is not None} == {
        "stage": "beamlike",
        "reason": "failed",
        "timestamp": datetime.fromtimestamp(0.005, UTC),
        "count": 1,
        "element": '{"user":"ann","v":5}',
        "error": "Sessions(gap_of).assign raised KeyError: 'five'",
    }


def test_such_a_row_is_reported_with_its_key():
    pack = packer(plan_of("fail"), assign=bl.Sessions(gap_of))
    with pytest.raises(UserFunctionError) as error:
        list(pack(iter([rows(("joe", 4, 4), ("ann", 5, 5))])))
    assert str(error.value) == (
        "Sessions(gap_of).assign raised KeyError: 'five'; it was called for the element (5,) at "
        "00:00:00.005 (5 ms), key ('ann',); mend the function, or leave out what it cannot take "
        'with on_error="drop"'
    )
    assert isinstance(error.value.__cause__, KeyError)


def arrived_with(window_fn: bl.WindowFn, machine: Any, batch: pa.RecordBatch) -> Arrived:
    batches = packer(plan_of("drop", machine_name=machine), assign=window_fn)(iter([batch]))
    return read_blobs(blob for batch in batches for blob in batch.column("blob").to_pylist())


@pytest.mark.parametrize("machine", ["auto", "reference"])
def test_the_input_s_own_window_function_gives_each_row_its_windows(machine: Any):
    batch = rows(("joe", 4, 7), ("ann", 5, 12), ("ann", 6, 16))
    arrived = arrived_with(bl.SlidingWindows(10, 5), machine, batch)
    (table,) = arrived.tables[0]
    assert list(arriving(plan_of("drop"), table)) == [
        (("joe",), Element((4,), 7, bl.IntervalWindow(5, 15))),
        (("joe",), Element((4,), 7, bl.IntervalWindow(0, 10))),
        (("ann",), Element((5,), 12, bl.IntervalWindow(10, 20))),
        (("ann",), Element((5,), 12, bl.IntervalWindow(5, 15))),
        (("ann",), Element((6,), 16, bl.IntervalWindow(15, 25))),
        (("ann",), Element((6,), 16, bl.IntervalWindow(10, 20))),
    ]
    assert arrived.finished == []


@pytest.mark.parametrize("machine", ["auto", "reference"])
def test_a_row_beyond_the_input_s_calendar_is_dropped_alone(machine: Any):
    year_20000 = 568_971_820_800_000
    batch = rows(("joe", 4, 7), ("ann", 5, year_20000))
    arrived = arrived_with(bl.CalendarDays(1, "UTC"), machine, batch)
    (table,) = arrived.tables[0]
    element = Element((4,), 7, bl.IntervalWindow(0, 86_400_000))
    assert list(arriving(plan_of("drop"), table)) == [(("joe",), element)]
    (finished,) = arrived.finished
    (row,) = finished.to_pylist()
    dropped = row["__beamlike"]["dropped"]
    assert (row["user"], dropped["reason"], dropped["count"]) == ("ann", "failed", 1)


def test_rows_are_dealt_out_to_the_groups_of_a_fanout_in_turn():
    plan = plan_of("drop", fanout=2)
    batch = rows(("joe", 1, 1), ("joe", 2, 2), ("ann", 3, 3))
    dealt: dict[int, list[Any]] = {shard: [] for shard in plan.fanout_ids}
    elements = []
    for packed in packer(plan)(iter([batch])):
        for shard, blob in zip(*packed.to_pydict().values(), strict=True):
            arrived = read_blobs(iter([blob]))
            elements.append(arrived.elements)
            for table in arrived.tables[0]:
                dealt[shard] += [element.value for _, element in arriving(plan, table)]
    assert dealt == dict(zip(plan.fanout_ids, [[(1,), (3,)], [(2,)]], strict=True))
    assert elements == [0, 0, 0, 0, 3]  # one blob at the end counts the rows of all
