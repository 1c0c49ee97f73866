"""What a watermark for each key costs: ``python -m tests.benchmarks.keys``.

Devices that are in step send rows, so that the panes are the same with one watermark for all keys
and with one for each; that is compared before a time is printed. The local host steps them.
"""

import time
from random import Random
from typing import Any, Final

import attrs
import pyarrow as pa

import beamlike as bl
from beamlike.testing import QueryTest

_ROWS: Final = 10_000
_BATCHES: Final = 3
_MINUTE: Final = 60_000
_BEGIN: Final = 1_577_836_800_000
WAYS: Final[dict[str, dict[str, Any]]] = {
    "one watermark, columnar machine": {},
    "one watermark, reference machine": {"machine": "reference"},
    "a watermark for each key": {"watermark_per_key": True},
}


@attrs.frozen
class Cost:
    """What was seen: CPU of a row (us), bytes of the keys' watermarks, and the panes."""

    each: float
    stored: int
    panes: list[str]


def measured(devices: int, how: dict[str, Any]) -> Cost:
    """So many devices that send rows in a few micro-batches; the first is not counted."""

    def job(rows: Any) -> bl.Stream:
        tens = bl.stream(rows, timestamp="at", watermark="1 minute").window(
            bl.FixedWindows("10 minutes"), allowed_lateness="1 day", accumulation="accumulating"
        )
        return tens.group("device", {"n": bl.count()}, **how)

    query, random, seconds = QueryTest(job, "device string, at timestamp"), Random(1), 0.0
    run: Any = query._run
    ((name, schema),) = run._query._schemas.items()
    panes: list[str] = []
    for batch in range(_BATCHES):
        names = [f"device-{random.randrange(devices):06}" for _ in range(_ROWS)]
        times = [_BEGIN + batch * _MINUTE + random.randrange(_MINUTE) for _ in names]
        at = pa.array(times, pa.timestamp("ms", "UTC")).cast(schema.field("at").type)
        rows = pa.table({"device": pa.array(names), "at": at})
        began = time.process_time()
        came = run.send(name, rows)
        seconds += time.process_time() - began if batch else 0
        panes += (str(row) for table in came for row in table.to_pylist())
    stores = run._query._stages[0].state.shards.values()
    stored = sum(len(blob) for store in stores for at, blob in store.blobs.items() if at < 0)
    panes += (str(row) for row in query.advance_watermark_to_infinity())
    return Cost(seconds / (_ROWS * (_BATCHES - 1)) * 1e6, stored, sorted(panes))


def main() -> None:
    """Print a line for each number of devices and each way."""
    for devices in (1_000, 20_000):
        costs = {way: measured(devices, how) for way, how in WAYS.items()}
        first, *others = costs.values()
        assert all(it.panes == first.panes for it in others), "the panes differ"
        for way, cost in costs.items():
            stored = f", {cost.stored / devices:.0f} bytes a key" if cost.stored else ""
            print(f"{devices:>7,} devices, {way}: {cost.each:.0f} us a row{stored}")


if __name__ == "__main__":
    main()
