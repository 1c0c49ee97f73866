"""What Python workers of Spark log: panes and drops, each with its key and window.

Workers are processes of their own, and know nothing of the logging that the driver has set up.
Their standard error goes where that of the executor goes: to ``stderr`` of the executor in the work
folder of a standalone worker, to the container's log, or to the driver's own in local mode.
"""

import logging
import os
from typing import Any, Final

import pyarrow as pa

from beamlike.errors import EnvironmentProblem
from beamlike.hosts.spark.marks import DROPPED_ROW, MARKS

__all__ = ["LEVEL", "log_rows", "logs_rows", "prepare_logs"]

LEVEL: Final = "BEAMLIKE_LOG"
"""The environment variable that says from which level on workers log; without it they do not."""

_LOGGER: Final = logging.getLogger("beamlike.panes")
_prepared = False


def prepare_logs() -> None:
    """Have this worker log what it was asked to, once in its life.

    Raises:
        EnvironmentProblem: There is no such level.
    """
    global _prepared
    if _prepared:
        return
    _prepared = True
    wanted = os.environ.get(LEVEL)
    if not wanted:
        return
    level = logging.getLevelNamesMapping().get(wanted.upper())
    if level is None:
        raise EnvironmentProblem(
            f"{LEVEL}={wanted!r} is no level of logging; use DEBUG, INFO, WARNING or ERROR"
        )
    told = logging.StreamHandler()
    told.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("beamlike")
    logger.addHandler(told)
    logger.setLevel(level)


def logs_rows() -> bool:
    """Whether somebody wants to read of each row."""
    return _LOGGER.isEnabledFor(logging.DEBUG)


def log_rows(stage: str, keys: list[str], rows: pa.Table) -> None:
    """A line for each pane and each drop. Ask `logs_rows` first.

    Args:
        stage: The name of the grouping.
        keys: Its key columns.
        rows: What came out of it, see `beamlike.hosts.spark.output`.
    """
    for row in rows.to_pylist():
        kind = (row[MARKS] or {}).get("kind")
        key = ", ".join(f"{name}={row[name]!r}" for name in keys)
        if kind == DROPPED_ROW:
            _log_drop(stage, key, row[MARKS]["dropped"])
        elif kind is None:
            _log_pane(stage, key, row)


def _log_pane(stage: str, key: str, row: dict[str, Any]) -> None:
    pane, window = row["pane"], _shown(row["window"])
    if row.get("retraction") or pane is None:
        _LOGGER.debug("%s: %s %s is withdrawn", stage, key, window)
    else:
        _LOGGER.debug("%s: %s %s %s pane %s", stage, key, window, pane["timing"], pane["index"])


def _log_drop(stage: str, key: str, dropped: dict[str, Any]) -> None:
    if dropped["stage"] == stage:
        window = _shown(dropped["window"])
        _LOGGER.debug("%s: %s %s drops %s", stage, key, window, dropped["reason"])


def _shown(window: dict[str, Any] | None) -> str:
    if window is None:
        return "no window"
    start, end = (None if it is None else it.isoformat() for it in window.values())
    return "the global window" if start is None and end is None else f"[{start}, {end})"
