"""A micro-batch that is made again leaves the bytes that it left before, in any process.

Spark may keep what a lost attempt has saved among what the next one saves. So each step is made
several times here, with its rows in another order, by a worker that remembers the shard or knows
nothing, in one pass or in several. What the store holds is compared, byte for byte.
"""

import random
from typing import Any, Final

import pyarrow as pa
import pytest

from beamlike.machine.events import Element
from beamlike.machine.input_clocks import HostWatermark, SourceClock
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.triggers import AfterCount, AfterWatermark
from beamlike.model.windowfns import FixedWindows, SlidingWindows
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.plan import Plan
from beamlike.runtime.script import Arrive
from beamlike.runtime.stepping import stepper_of
from beamlike.runtime.store.blobs import pack_blob
from beamlike.runtime.store.pages import in_order
from beamlike.runtime.store.stores import DictStore
from tests.support.machines.rows_of_plans import PARTS, VALUES, rows_of
from tests.support.machines.shard_of_numbers import Limit, Worker

Saved = tuple[dict[int, bytes], bytes | None]

SAME_IN_ANY_ORDER: Final = ("n", "sum", "money_sum", "most", "richest")
_PARTS: Final = tuple(part for part in PARTS if part.name in SAME_IN_ANY_ORDER)
_EACH_LATE_ROW: Final = AfterWatermark(late=AfterCount(1))

_LATENESS: Final = {"allowed_lateness": 100, "unbounded": True}
STRATEGIES: Final = {
    "sessions": WindowingStrategy.declared(Sessions(20), accumulation="discarding", **_LATENESS),
    "fixed": WindowingStrategy.declared(FixedWindows(10), accumulation="discarding", **_LATENESS),
    "sliding": WindowingStrategy.declared(SlidingWindows(20, 10), unbounded=True),
    "retracting": WindowingStrategy.declared(
        Sessions(20), trigger=_EACH_LATE_ROW, accumulation="retracting", **_LATENESS
    ),
    "accumulating": WindowingStrategy.declared(
        FixedWindows(10), trigger=_EACH_LATE_ROW, accumulation="accumulating", **_LATENESS
    ),
}


def plan_of(strategy: WindowingStrategy, machine: str, **more: Any) -> Plan:
    return Plan(
        strategy,
        {"key": pa.string()},
        VALUES,
        _PARTS,
        shards=1,
        buckets=4,
        machine_name=machine,
        **more,
    )


def attempt(
    plan: Plan, before: Saved, rows: pa.Table, watermark: int, clock: int, passes: int = 1
) -> Saved:
    """What is saved after a step from ``before``, of which nothing is changed."""
    store = DictStore()
    store.blobs, store.index = dict(before[0]), before[1]
    stepper = stepper_of(plan)
    stepper._passes = passes
    stepper.step(store, ShardInput([rows], [HostWatermark(watermark)], clock))
    return store.blobs, store.index


@pytest.mark.parametrize("machine", ["columnar", "reference"])
@pytest.mark.parametrize("name", STRATEGIES)
def test_steps_made_again_with_rows_in_another_order_save_the_same_bytes(
    name: str, machine: str, limit: Limit, another_worker: Worker
) -> None:
    limit("ALWAYS_REWRITTEN_ROWS", 0)
    limit("PAGE_BYTES", 2_000)
    chance = random.Random(name)
    plan = plan_of(STRATEGIES[name], machine)
    saved: Saved = ({}, None)
    logged = 0

    for number in range(12):
        count = 120 if number == 0 else chance.randrange(1, 15)
        elements = [
            (
                f"key {chance.randrange(60)}",
                Element(number * 100 + index, number * 4 + chance.randrange(40)),
            )
            for index in range(count)
        ]
        watermark = number * 4
        rows = rows_of(plan, Arrive(tuple(elements)))
        attempts = [attempt(plan, saved, rows, watermark, number)]
        for again in range(3):
            if again == 1:
                another_worker()
            shuffled = rows.take(pa.array(chance.sample(range(rows.num_rows), rows.num_rows)))
            passes = 2 if again == 2 and machine == "columnar" else 1
            attempts.append(attempt(plan, saved, shuffled, watermark, number, passes))

        assert [it == attempts[0] for it in attempts] == [True] * 4, f"step {number}"
        logged += len(attempts[0][0]) > len(saved[0])
        saved = attempts[-1]

    assert logged > 1, "no step has appended to a log"


def test_watermarks_of_keys_are_saved_alike_in_any_order(another_worker: Worker) -> None:
    plan = plan_of(STRATEGIES["sessions"], "reference", key_clock=SourceClock(delay=5))
    elements = [(f"key {index % 7}", Element(index, index * 3 % 50)) for index in range(40)]
    rows = rows_of(plan, Arrive(tuple(elements)))

    first = attempt(plan, ({}, None), rows, 0, 0)
    again = attempt(plan, ({}, None), rows.take(pa.array(range(39, -1, -1))), 0, 0)

    assert first == again
    assert min(first[0]) < -1, "no watermark of a key was saved"


STRUCTS: Final = pa.struct({"name": pa.string(), "parts": pa.list_(pa.int64())})


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        (pa.string(), ["b", None, "a", "é", ""]),
        (pa.float64(), [2.0, None, float("nan"), -1.5, 0.0]),
        (pa.binary(), [b"b", b"", b"\xff", None]),
        (pa.timestamp("us", "UTC"), [5, None, -7, 2**62]),
        (pa.list_(pa.int64()), [[2], None, [1, 2], []]),
        (pa.list_(pa.timestamp("us")), [[5], None, [], [-7]]),
        (STRUCTS, [{"name": "b", "parts": [1]}, None, {"name": "b", "parts": [0]}, {"name": None}]),
    ],
)
def test_rows_have_an_order_whatever_the_type_of_their_key(dtype: pa.DataType, values: list[Any]):
    rows = pa.table(
        {
            "key_key": pa.array(values, dtype),
            "start": pa.array([0] * len(values)),
            "end": pa.array([10] * len(values)),
            "bucket": pa.array([0] * len(values), pa.int32()),
        }
    )
    chance, ordered = random.Random(0), in_order(rows)

    for _ in range(10):
        order = chance.sample(range(len(values)), len(values))
        assert pack_blob(in_order(rows.take(pa.array(order))), {}) == pack_blob(ordered, {})
    assert ordered.num_rows == len(values)
