"""A micro-batch in one line, and what goes to the log."""

import logging
from typing import Final

from beamlike.hosts.failed_starts import advice_on
from beamlike.inspect.queries.progress import Counts, Progress
from beamlike.model.fingerprint import how_many
from beamlike.model.time import show_duration

LOGGER: Final = logging.getLogger("beamlike.metrics")


def line_of(name: str, progress: Progress) -> str:
    """What a micro-batch did, in a line."""
    parts = [f"{name} batch {progress.batch}: {how_many(progress.rows, 'row')}, {progress.took} ms"]
    parts += (f"{grouping}: {_phrase(counts)}" for grouping, counts in progress.groupings.items())
    return "; ".join(parts)


def _phrase(counts: Counts) -> str:
    panes = ", ".join(f"{count} {timing}" for timing, count in counts.panes.items() if count)
    parts = [how_many(counts.elements, "element"), f"panes {panes}" if panes else "no pane"]
    if counts.retractions:
        parts.append(f"{counts.retractions} withdrawing")
    if any(counts.dropped.values()):
        parts.append(f"dropped {_dropped(counts)}")
    if counts.merges:
        parts.append(how_many(counts.merges, "merge"))
    if counts.windows_open is not None:
        parts.append(f"{counts.windows_open} open")
    return ", ".join(parts)


def _dropped(counts: Counts) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in counts.dropped.items() if count)


def _called(name: str) -> str:
    """A query without a name is called by a part of its id, as ``query 3b80a744``."""
    return name if name.startswith("query ") else f"query {name}"


def log_start(name: str, query: str, again: bool) -> None:
    """A query has started."""
    LOGGER.info("%s (%s) has started%s", _called(name), query, " again" if again else "")


def log_end(name: str, query: str, exception: str | None) -> None:
    """A query has stopped, or failed with these words of Spark's."""
    if exception is None:
        LOGGER.info("%s (%s) has stopped", _called(name), query)
    else:
        LOGGER.error("%s (%s) has failed: %s", _called(name), query, exception)
        if (advice := advice_on(exception)) is not None:
            LOGGER.error("%s (%s): %s", _called(name), query, advice)


def log_batch(name: str, progress: Progress) -> None:
    """A micro-batch is done: one line of debugging, and of warning if anything was dropped, and
    for each grouping whose watermark jumps."""
    if LOGGER.isEnabledFor(logging.DEBUG):
        LOGGER.debug("%s", line_of(name, progress))
    losses, warnings = [], []
    for grouping, counts in progress.groupings.items():
        if any(counts.dropped.values()):
            example = f" (for example: {counts.example})" if counts.example else ""
            losses.append(f"{grouping} dropped {_dropped(counts)}{example}")
        length = counts.held if counts.jump is None else counts.jump
        if length is not None:
            jumps = f"{'does not jump' if counts.jump is None else 'jumps'} {show_duration(length)}"
            warnings.append(f"the watermark of {grouping} {jumps}, {counts.jump_example}")
    for warning in filter(None, ["; ".join(losses), *warnings]):
        LOGGER.warning("%s, batch %d: %s", _called(name), progress.batch, warning)
