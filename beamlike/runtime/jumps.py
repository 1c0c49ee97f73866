"""Which jump the watermark of a stage does in a micro-batch; see `beamlike.machine.jumps`."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.clocks import Clocks, SourceClock
from beamlike.machine.columnar.arrays import Ints
from beamlike.machine.jumps import Delivered, Jump, jump_over, longest_wait
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.runtime.logs import readable
from beamlike.runtime.plan import Plan
from beamlike.runtime.store.index import ShardStatus
from beamlike.safe_text import short_repr

_GAPS: Final = 16
"""So many gaps between event times are remembered of some rows, the largest."""
_EXAMPLE: Final = 300
"""The most characters of an example: it is part of the query's progress, and of log lines."""


def delivered_by(source: int, times: Ints, last: str) -> Delivered:
    """The delivery of rows with these event times.

    Args:
        source: See `Delivered`.
        times: One or more (ms), in any order.
        last: See `Delivered`.
    """
    times = np.sort(times)
    gaps = np.diff(times)
    # To sort all gaps takes longer than all else that is done with a row.
    few = min(_GAPS, len(gaps))
    largest = np.sort(np.argpartition(gaps, -few)[-few:]) if few else np.arange(0)
    largest = largest[gaps[largest] > 0]
    starts, ends = times[np.append(0, largest + 1)], times[np.append(largest, -1)]
    return Delivered(source, list(zip(starts.tolist(), ends.tolist(), strict=True)), last)


def row_words(keys: Mapping[str, Any], timestamp: int, unit: Resolution = MILLISECONDS) -> str:
    """A row by the names and values of its key and its event time."""
    words = [f"{name}={short_repr(value)}" for name, value in keys.items()]
    return ", ".join((*words, f"at {unit.show_instant(timestamp)}"))[:_EXAMPLE]


def delivered_rows(plan: Plan, table: pa.Table, times: pa.ChunkedArray, at: int) -> list[Delivered]:
    """What rows for the packer say of the event times of their source, if that can jump.

    Args:
        plan: The stage.
        table: The rows.
        times: Their event times (ms); null for those that move no watermark.
        at: The position of their input.
    """
    source = plan.source if plan.clocks is None else plan.clocks.inputs[at]
    wait = longest_wait(plan.strategy)
    least, greatest = pc.min_max(times).as_py().values()
    if not isinstance(source, SourceClock) or wait is None or greatest is None:
        return []
    row = table.slice(pc.index(times, greatest).as_py(), 1)
    keys = {name: readable(row.column(f"key_{name}"))[0] for name in plan.keys}
    last = row_words(keys, greatest, plan.resolution)
    if greatest - least <= source.delay + wait:
        return [Delivered(at, [(least, greatest)], last)]  # no gap among them is large enough
    return [delivered_by(at, times.drop_null().to_numpy(), last)]


def jump_of(plan: Plan, rows: Iterable[Delivered], status: ShardStatus) -> Jump | None:
    """The jump of a stage, if these rows make its watermark do one.

    Args:
        rows: Those that its sources delivered in this micro-batch.
        status: The status of a shard after it.
    """
    wait = longest_wait(plan.strategy)
    if wait is None:
        return None
    if plan.clocks is not None:
        return jump_of_stage(plan.clocks, rows, status, wait)
    return None if plan.source is None else _jump_of_query(plan.source, rows, status, wait)


def _jump_of_query(
    source: SourceClock, rows: Iterable[Delivered], status: ShardStatus, wait: int
) -> Jump | None:
    """The jump that these rows make Spark's watermark do, which is that of the next micro-batch."""
    if status.watermark == source.resolution.earliest:
        return None
    return jump_over(source, rows, status.watermark + source.delay, status.clock, wait)


def jump_of_stage(
    clocks: Clocks, rows: Iterable[Delivered], status: ShardStatus, wait: int
) -> Jump | None:
    """The jump that the watermark of a stage has done whose inputs have clocks of their own.

    Where another input holds it back, the stage has not jumped with its source.

    Args:
        clocks: Those of the inputs.
        rows: See `jump_of`.
        status: See there.
        wait: See `beamlike.machine.jumps.longest_wait`.
    """
    of_source: dict[int, list[Delivered]] = {}
    for it in rows:
        of_source.setdefault(it.source, []).append(it)
    for at, own in of_source.items():
        source = clocks.inputs[at]
        known = status.known[at] if status.known else None
        if not isinstance(source, SourceClock) or known is None:
            continue
        if known > source.resolution.earliest:
            jump = jump_over(source, own, known, status.clock, wait)
            if jump is not None and jump.after == status.watermark:
                return jump
    return None
