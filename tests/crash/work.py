"""What a query that is killed is to the others: how it starts, and how it is judged."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import attrs

NO_DATA: Final = "spark.sql.streaming.noDataMicroBatches.enabled"

KEEPS_ITS_LOG: Final = {"spark.sql.streaming.minBatchesToRetain": "1000"}
"""Settings for a work that is judged by what Spark noted of its micro-batches."""


@attrs.frozen
class Work:
    """A query: what it is called, what it covers, how it starts in a folder, how it is judged.

    Args:
        name: What it is called.
        title: What it covers.
        start: Called with the session, the folder of arriving files and the work's own.
        checkpoint: Where Spark's checkpoint is, below the folder of the work.
        obeys: Whether its sink can kill by itself.
        settings: Settings of the session as it starts.
        windowing: The arguments of `beamlike.WindowingStrategy.declared` that it groups by, if
            its micro-batches are cut otherwise each time: it is then played again from what
            Spark noted of them. None: it does what an undisturbed run does.
        watermark: Where its watermark comes from: ``"spark"``, which gives a micro-batch what the
            ones before it have seen, or its ``"rows"``, those of the micro-batch among them.
        ticks: Whether it waits for the clock, so that micro-batches come without data and never
            end.
        read: Reads what came out in the end, as lines, with the session and its own folder, if the
            sink keeps nothing by micro-batch.
        arrive: Brings what has arrived in a folder to where it is read from, if that is elsewhere.
        needs: What it needs that not every environment has, see `tests.crash.needed`.
    """

    name: str
    title: str
    start: Callable[[Any, Path, Path], Any]
    checkpoint: str = "checkpoint"
    obeys: bool = True
    settings: Mapping[str, str] = {}
    windowing: Mapping[str, Any] | None = None
    watermark: Literal["spark", "rows"] = "spark"
    ticks: bool = False
    read: Callable[[Any, Path], list[str]] | None = None
    arrive: Callable[[Path, Path], None] | None = None
    needs: str = ""
