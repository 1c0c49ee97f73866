"""How far the event times of rows bring their source.

Where a source has a ``max_jump`` its rows are reported in stretches, between which there is a
longer gap. What is believed of them is decided in the shards, which know what came before: see
`beamlike.machine.gaps`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.input_clocks import SourceClock, SourceProgress
from beamlike.runtime.clock import stretches

_STRETCHES: Final = 64
"""So many stretches of some rows are reported, those with the most rows. What is not reported moves
nothing."""
_SENDERS: Final = 1_000
"""Keys are counted up to this number: of more it is enough to know that there are many."""
_LEFT_OUT: Final = -1


def progress_of(
    source: int,
    clock: SourceClock,
    times: pa.ChunkedArray,
    parts: pa.ChunkedArray | None,
    keys: pa.ChunkedArray | None = None,
) -> Iterator[SourceProgress]:
    """How far rows bring their source, or its parts.

    Args:
        source: The position of the source among the inputs, or its number.
        clock: Its clock.
        times: Event times, in the ticks of the clock; null for those that move no watermark.
        parts: The part of the source for each row; None: the source has no parts.
        keys: A number for the key of each row; None: rows have no keys yet.
    """
    if clock.max_jump is None and parts is None:
        greatest = pc.max(times).as_py()
        if greatest is not None:
            yield SourceProgress(source, greatest)
        return
    columns = {"at": times}
    columns |= {} if parts is None else {"part": parts}
    if clock.max_jump is None:
        for row in _grouped(columns, [("at", "max")]):
            yield SourceProgress(source, row["at_max"], row.get("part"))
        return
    columns |= {} if keys is None else {"key": keys}
    least, greatest = pc.min_max(times).as_py().values()
    if greatest is None:
        return
    if greatest - least > clock.max_jump:
        columns["stretch"] = _stretch_of(times, clock.max_jump)
    elif parts is None:  # nearly always
        senders = len(times) - times.null_count
        if keys is not None:
            senders = len(np.unique(keys.to_numpy()[:: max(1, len(keys) // _SENDERS)]))
        yield SourceProgress(source, greatest, None, least, min(senders, _SENDERS))
        return
    counted = ("at", "count") if keys is None else ("key", "count_distinct")
    for row in _grouped(columns, [("at", "max"), ("at", "min"), counted]):
        if row.get("stretch") != _LEFT_OUT:
            senders = min(row["_".join(counted)], _SENDERS)
            position = (row["at_max"], row.get("part"), row["at_min"], senders)
            yield SourceProgress(source, *position)


def _grouped(
    columns: Mapping[str, pa.ChunkedArray], aggregates: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Aggregates of rows with an event time, by part and stretch where there are such columns."""
    by = [name for name in ("part", "stretch") if name in columns]
    rows = pa.table(dict(columns))
    if rows.column("at").null_count:
        rows = rows.filter(pc.is_valid(rows.column("at")))
    if not rows.num_rows:
        return []
    return list(rows.group_by(by).aggregate(list(aggregates)).to_pylist())


def _stretch_of(times: pa.ChunkedArray, gap: int) -> pa.Array:
    """The number of the stretch of each event time; `_LEFT_OUT` for one that is not reported."""
    in_order, places = stretches(times, gap)
    starts = in_order[places]
    number = np.searchsorted(starts, times.fill_null(int(starts[0])).to_numpy(), side="right") - 1
    if len(starts) > _STRETCHES:
        counts = np.bincount(number, minlength=len(starts))
        reported = np.argsort(-counts, kind="stable")[:_STRETCHES]
        number = np.where(np.isin(number, reported), number, _LEFT_OUT)
    return pa.array(number)
