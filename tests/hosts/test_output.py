"""Output rows, without Spark: what a drop says of its element."""

import json
import math

import pyarrow as pa

import beamlike as bl
from beamlike.machine.events import Drop, DropReason, Element
from beamlike.model.combine import Count
from beamlike.runtime.accumulator_columns import PlainColumn
from beamlike.runtime.output import OutputTable
from beamlike.runtime.plan import Part, Plan


def test_a_dropped_element_is_json_whatever_its_values_are() -> None:
    plan = Plan(
        bl.WindowingStrategy(bl.FixedWindows(10)),
        keys={"user": pa.string()},
        values={"speed": pa.float64(), "speeds": pa.list_(pa.float64()), "note": pa.string()},
        parts=(Part("n", Count(), None, PlainColumn(pa.int64()), pa.int64()),),
        shards=1,
        buckets=1,
    )
    element = Element((math.nan, [1.5, -math.inf], None), 3)
    drop = Drop(element, bl.IntervalWindow(0, 10), DropReason.EXPIRED, 5)

    (row,) = OutputTable(plan).build([(("ann",), drop)]).to_pylist()

    assert json.loads(
        row["__beamlike"]["dropped"]["element"], parse_constant=lambda name: 1 / 0
    ) == {"user": "ann", "speed": "NaN", "speeds": [1.5, "-Infinity"], "note": None}
    assert row["__beamlike"]["dropped"]["reason"] == "expired"
    assert row["__beamlike"]["dropped"]["missed_ms"] == 5
    assert (row["n"], row["pane"]) == (None, None)
