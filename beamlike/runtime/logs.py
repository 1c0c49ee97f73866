"""What shards log: merges, panes and drops, each with its key and window, and jumps of a watermark.

Drops are lost data, and logged at INFO; that a watermark jumps over rows to come, or that a part of
an input is idle, as a WARNING; all else at DEBUG. Where the lines go is up to the host.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.events import Drop, Effect, Merged
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.windows import GlobalWindow, Window, bounds
from beamlike.runtime.clock import Jump
from beamlike.runtime.output import READABLE
from beamlike.runtime.row_metadata import DROPPED_ROW, MARKS, readable_values
from beamlike.safe_text import problem_of, safe_repr

_LOGGER: Final = logging.getLogger("beamlike.panes")
_EPOCH: Final = datetime.fromtimestamp(0, UTC)
LONGEST_EXAMPLE: Final = 300
"""The most characters of an example: it is part of the query's progress, and of log lines."""
_PARTS: Final = 3
"""So many windows of a merge are shown: a thousand may become one."""


def log_jump(stage: str, jump: Jump) -> None:
    """A line of warning, for workers that log anything."""
    if _LOGGER.hasHandlers():  # else Python would print it, bare
        _LOGGER.warning("%s: %s", stage, jump.describe)


def log_silent(stage: str, parts: Sequence[str]) -> None:
    """A line of warning for each part of an input that others no longer wait for."""
    if _LOGGER.hasHandlers():
        for part in parts:
            _LOGGER.warning("%s: part %r is idle, and no longer waited for", stage, part)


def logs_drops() -> bool:
    """Whether each drop is logged."""
    return _LOGGER.isEnabledFor(logging.INFO)


def logs_all() -> bool:
    """Whether each pane and each merge is logged, too."""
    return _LOGGER.isEnabledFor(logging.DEBUG)


def log_rows(stage: str, keys: Sequence[str], rows: pa.Table) -> None:
    """A line for each pane and each drop. Ask `logs_drops` first.

    Args:
        stage: The name of the grouping.
        keys: Its key columns.
        rows: What came out of it, see `beamlike.runtime.output`.
    """
    if not logs_all():
        row_kinds = pc.struct_field(rows.column(MARKS), "kind")
        rows = rows.filter(pc.equal(row_kinds, DROPPED_ROW))
    for row in row_fields(rows, keys):
        marks = row[MARKS] or {}
        key = ", ".join(f"{name}={row[name]!r}" for name in keys)
        if marks.get("kind") == DROPPED_ROW:
            dropped = marks["dropped"]
            if dropped["stage"] == stage:
                _log_drop(stage, key, _of_row(dropped["window"]), dropped["reason"])
        elif marks.get("kind") is None:
            pane = row["pane"]
            withdrawn = row.get("retraction") or pane is None
            _log_pane(stage, key, _of_row(row["window"]), None if withdrawn else pane)


def row_fields(rows: pa.Table, keys: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The fields of each row that are shown in a line, its key among them. Other columns may hold
    times that no Python datetime can."""
    marks = (MARKS, "window", "pane", "retraction")
    columns = {name: rows.column(name).to_pylist() for name in marks if name in rows.column_names}
    columns |= {name: readable_values(rows.column(name)) for name in keys}
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def log_key_by_key(stage: str, cause: BaseException) -> None:
    """A warning: the columnar machine could not do a micro-batch, so it is done key by key."""
    problem = problem_of(cause)
    _LOGGER.warning("%s: a micro-batch is stepped key by key, because of %s", stage, problem)


def log_effects(stage: str, effects: Iterable[tuple[Any, Effect]]) -> None:
    """Log panes and drops of a pipeline, by key; it withdraws no pane."""
    panes = logs_all()
    for key, effect in effects:
        if isinstance(effect, Drop):
            _log_drop(stage, f"key={safe_repr(key)}", _shown(effect.window), effect.reason.value)
        elif panes:
            info = {"timing": effect.info.timing.value, "index": effect.info.index}
            _log_pane(stage, f"key={safe_repr(key)}", _shown(effect.window), info)


def log_merges(
    stage: str,
    merges: Iterable[tuple[Mapping[str, Any], Merged]],
    unit: Resolution = MILLISECONDS,
) -> None:
    """A line for each merge of windows, with the names and values of its key. Ask `logs_all` first.

    Source: Beam's ``MergingActiveWindowSet`` merges before the elements of a bundle are added.
    """
    for names, merged in merges:
        key = ", ".join(f"{name}={value!r}" for name, value in names.items())
        parts = [_shown(window, unit) for window in merged.sources[:_PARTS]]
        if further := len(merged.sources) - len(parts):
            parts.append(f"{further} more")
        _LOGGER.debug(
            "%s: %s %s merges %s", stage, key, _shown(merged.into, unit), ", ".join(parts)
        )


def _log_pane(stage: str, key: str, window: str, pane: Mapping[str, Any] | None) -> None:
    if pane is None:
        _LOGGER.debug("%s: %s %s is withdrawn", stage, key, window)
    else:
        _LOGGER.debug("%s: %s %s %s pane %s", stage, key, window, pane["timing"], pane["index"])


def _log_drop(stage: str, key: str, window: str, reason: str) -> None:
    _LOGGER.info("%s: %s %s drops %s", stage, key, window, reason)


def _of_row(window: Mapping[str, Any] | None) -> str:
    if window is None:
        return "no window"
    start, end = (None if bound is None else bound.isoformat() for bound in window.values())
    return "the global window" if start is None and end is None else f"[{start}, {end})"


def _shown(window: Window | None, unit: Resolution = MILLISECONDS) -> str:
    if window is None:
        return "no window"
    if isinstance(window, GlobalWindow):
        return "the global window"
    start, end = (_instant(bound, unit) for bound in bounds(window))
    return f"[{start}, {end})"


def _instant(instant: int, unit: Resolution) -> str:
    micros = instant * unit.micros
    if micros not in READABLE:
        return unit.show_instant(instant)
    return (_EPOCH + timedelta(microseconds=micros)).isoformat()
