"""One micro-batch of a streaming query, as Spark reports it, and what ended a query, in words."""

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime
from itertools import takewhile
from typing import Any, Final, Self

import attrs

_WINDOWS_OPEN: Final = "windows_open"
_COUNTED: Final = ("elements", "retractions", "merges")
_AS_THEY_ARE: Final = {
    **{name: name for name in (_WINDOWS_OPEN, "watermark", "deadline", "clock_deadline")},
    **{"example": "drop_example", "jump": "watermark_jump", "held": "watermark_held"},
    "jump_example": "jump_example",
}
"""Attributes of `Counts` and the metrics that they are."""
_ALWAYS: Final = frozenset(("panes_early", "panes_on_time", "panes_late"))
_WHOLE: Final = "triggerExecution"
_DISK: Final = "rocksdbSstFileSize"
_APART: Final = {"schema", "values"}
_POLLING: Final = {"latestOffset", "getOffset"}
"""What takes time while nothing is new: the sources are polled, and no more."""


def spark_instant_ms(text: str | None) -> int | None:
    """An instant as Spark writes it, in epoch ms; None for none.

    Spark says 1970 while it knows no watermark.

    >>> spark_instant_ms("2020-01-01T00:15:00.000Z")
    1577837700000
    >>> spark_instant_ms("1970-01-01T00:00:00.000Z") is None
    True
    """
    if not text:
        return None
    return round(datetime.fromisoformat(text).timestamp() * 1000) or None


def observed_metrics(progress: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The observed metrics in a ``StreamingQueryProgress``, each by its name.

    Spark Connect gives them to a listener as Spark does, and writes names and values apart in
    ``recentProgress`` of a query.

    >>> schema = {"type": "struct", "fields": [{"name": "panes_late"}, {"name": "merges"}]}
    >>> observed_metrics({"observedMetrics": {"a": {"values": [1, 0], "schema": schema}}})
    {'a': {'panes_late': 1, 'merges': 0}}
    """
    return {
        name: _named(row or {}) for name, row in (progress.get("observedMetrics") or {}).items()
    }


def _named(row: Mapping[str, Any]) -> dict[str, Any]:
    if not row.keys() >= _APART:
        return dict(row)
    names = [field["name"] for field in row["schema"]["fields"]]
    return dict(zip(names, row["values"], strict=True))


@attrs.frozen
class Counts:
    """What a grouping counted in a micro-batch, and its status after it.

    Attributes:
        panes: How many came out, by timing.
        dropped: Dropped elements by reason, each once for each window that did not take it.
        windows_open: Windows that it keeps; None if it was not stepped, or keeps none.
        watermark: Its input watermark (epoch ms); None while there is none, or likewise.
        is_source: It is no grouping, but the source of a pipeline: it only drops.
        elements: Rows that it was given, those that it dropped among them.
        retractions: Rows that withdraw an earlier pane.
        merges: Live windows that became part of another.
        deadline: The least event time that a window waits for the watermark to pass, likewise.
        clock_deadline: The same of processing time.
        example: One of the dropped elements, in words.
        jump: How far its watermark jumps because of the rows of this micro-batch (ms); None if it
            does not, see `beamlike.runtime.clock`.
        held: How far it would jump if its source had no ``max_jump`` (ms), likewise.
        jump_example: From where to where, and by which row, in words.
    """

    panes: Mapping[str, int]
    dropped: Mapping[str, int]
    windows_open: int | None = None
    watermark: int | None = None
    is_source: bool = False
    elements: int = 0
    retractions: int = 0
    merges: int = 0
    deadline: int | None = None
    clock_deadline: int | None = None
    example: str | None = None
    jump: int | None = None
    held: int | None = None
    jump_example: str | None = None

    @classmethod
    def of(cls, metrics: Mapping[str, Any]) -> Self | None:
        """From one of the query's observed metrics; None if it is none of beamlike's."""
        if not metrics.keys() >= _ALWAYS:
            return None
        counts: dict[str, Any] = {name: metrics.get(name) or 0 for name in _COUNTED}
        counts |= {name: metrics.get(known) for name, known in _AS_THEY_ARE.items()}
        panes, dropped = _beginning(metrics, "panes_"), _beginning(metrics, "dropped_")
        return cls(panes, dropped, is_source=_WINDOWS_OPEN not in metrics, **counts)


def _beginning(metrics: Mapping[str, Any], start: str) -> dict[str, int]:
    return {
        name.removeprefix(start): count or 0
        for name, count in metrics.items()
        if name.startswith(start)
    }


@attrs.frozen
class Progress:
    """One micro-batch.

    Attributes:
        query: The query's id, which stays over restarts.
        run: The id of this run of it.
        name: Its name, if it was given one.
        batch: The number of the micro-batch.
        began_ms: When it began, epoch ms.
        took: How long it took, ms.
        rows: Rows read from all sources, ticks among them.
        rate: Rows worked off in a second, None if unknown.
        arriving: Rows that came in a second since the batch before, None if unknown.
        watermark: Spark's watermark, epoch ms; if Spark has none the least of the groupings'.
        newest: The greatest event time of its rows, epoch ms.
        parts: What its time went to, ms; together at most ``took``.
        state_rows: Rows in Spark's state store, which are blobs with many windows in each.
        state_memory: Bytes of it in memory.
        state_disk: Bytes of it in files, None if the store does not report it.
        groupings: What each grouping reported, by its name.
    """

    query: str
    run: str
    name: str | None
    batch: int
    began_ms: int
    took: int
    rows: int
    rate: float | None
    arriving: float | None
    watermark: int | None
    newest: int | None
    parts: Mapping[str, int]
    state_rows: int
    state_memory: int
    state_disk: int | None
    groupings: Mapping[str, Counts]

    @classmethod
    def of(cls, text: str) -> Self:
        """From the JSON of a ``StreamingQueryProgress``. What is not in it counts as nothing."""
        progress: Mapping[str, Any] = json.loads(text)
        parts = dict(progress.get("durationMs") or {})
        took = parts.pop(_WHOLE, None)
        if took is None:
            took = progress.get("batchDuration") or sum(parts.values())
        groupings = {
            name: counts
            for name, metrics in observed_metrics(progress).items()
            if (counts := Counts.of(metrics)) is not None
        }
        times = progress.get("eventTime") or {}
        states = progress.get("stateOperators") or []
        stores = [state.get("customMetrics") or {} for state in states]
        disks = [store[_DISK] for store in stores if _DISK in store]
        watermarks = [grouping.watermark for grouping in groupings.values()]
        least = min((mark for mark in watermarks if mark is not None), default=None)
        watermark = spark_instant_ms(times.get("watermark"))
        return cls(
            progress["id"],
            progress["runId"],
            progress.get("name"),
            progress["batchId"],
            spark_instant_ms(progress["timestamp"]) or 0,
            took,
            progress.get("numInputRows") or 0,
            _number(progress.get("processedRowsPerSecond")),
            _number(progress.get("inputRowsPerSecond")),
            least if watermark is None else watermark,
            spark_instant_ms(times.get("max")),
            {name: parts[name] for name in sorted(parts, key=parts.__getitem__, reverse=True)},
            sum(state.get("numRowsTotal") or 0 for state in states),
            sum(state.get("memoryUsedBytes") or 0 for state in states),
            sum(disks) if disks else None,
            groupings,
        )

    @property
    def ran(self) -> bool:
        """Whether it is the report of a micro-batch. Spark also reports while it waits for one."""
        return not self.parts or not self.parts.keys() <= _POLLING


def _number(value: Any) -> float | None:
    """Spark divides by nothing now and then, and writes NaN or Infinity, also as a word."""
    if not isinstance(value, int | float | str):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


_RAISED: Final = re.compile(r"^(?:\s*|.*: )beamlike\.errors\.(\w+): ?(.*)$")
_ANY_RAISED: Final = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|Problem)): ?(.*)$")
_OVER: Final = re.compile(r"^\s+at |^\s*SQLSTATE|^\s*$|^Caused by|^During handling|^Traceback")
_LINES: Final = 12
_LONG: Final = 2_000


@attrs.frozen
class Problem:
    """What ended a query: the class of the error, and what it says."""

    error_class: str
    text: str

    @classmethod
    def of(cls, exception: str) -> Self:
        """Out of the words of Spark's exception.

        That is the last error of beamlike in them; if there is none, the last of Python's; else
        the first line.

        >>> Problem.of("Traceback\\nbeamlike.errors.StateError: it is another plan\\n\\tat x")
        Problem(error_class='StateError', text='it is another plan')
        """
        lines = exception.splitlines()
        for pattern in (_RAISED, _ANY_RAISED):
            errors = [(index, m) for index, line in enumerate(lines) if (m := pattern.match(line))]
            if errors:
                index, match = errors[-1]
                rest = takewhile(
                    lambda line: not _OVER.match(line), lines[index + 1 : index + _LINES]
                )
                message = "\n".join([match[2], *rest]).strip()
                return cls(match[1].rpartition(".")[2], message[:_LONG])
        first_line = next((line.strip() for line in lines if line.strip()), "no words")
        return cls("error", first_line[:_LONG])
