"""One micro-batch of a query: what Spark reports of it, and what each grouping counted."""

import json
from collections.abc import Mapping
from typing import Any, Final, Self

import attrs

from beamlike.metrics.progress import Progress, observed_metrics

__all__ = ["Counted", "Reading"]

_PANES: Final = "panes_"
_DROPPED: Final = "dropped_"
_ALWAYS: Final = frozenset(("panes_early", "panes_on_time", "panes_late"))


@attrs.frozen
class Counted:
    """What a grouping counted in a micro-batch, and its status after it.

    Attributes:
        elements: Rows that it was given, those that it dropped among them.
        panes: How many came out, by timing.
        retractions: Rows that withdraw an earlier pane.
        dropped: Dropped elements by reason, each once for each window that did not take it.
        merges: Live windows that became part of another.
        windows_open: Windows that it keeps; None if it was not stepped, or keeps none.
        watermark: Its input watermark (epoch ms); None while there is none, or likewise.
        deadline: The least event time that a window waits for the watermark to pass, likewise.
        clock_deadline: The same of processing time.
        example: One of the dropped elements, in words.
        jump: How far its watermark jumps because of the rows of this micro-batch (ms); None if it
            does not, see `beamlike.machine.jumps`.
        jump_example: From where to where, and by which row, in words.
    """

    elements: int
    panes: Mapping[str, int]
    retractions: int
    dropped: Mapping[str, int]
    merges: int
    windows_open: int | None = None
    watermark: int | None = None
    deadline: int | None = None
    clock_deadline: int | None = None
    example: str | None = None
    jump: int | None = None
    jump_example: str | None = None

    @classmethod
    def of(cls, metrics: Mapping[str, Any]) -> Self | None:
        """From one of the query's observed metrics; None if it is none of beamlike's."""
        if not metrics.keys() >= _ALWAYS:
            return None
        return cls(
            metrics.get("elements") or 0,
            _beginning(metrics, _PANES),
            metrics.get("retractions") or 0,
            _beginning(metrics, _DROPPED),
            metrics.get("merges") or 0,
            metrics.get("windows_open"),
            metrics.get("watermark"),
            metrics.get("deadline"),
            metrics.get("clock_deadline"),
            metrics.get("drop_example"),
            metrics.get("watermark_jump"),
            metrics.get("jump_example"),
        )


def _beginning(metrics: Mapping[str, Any], start: str) -> dict[str, int]:
    return {
        name.removeprefix(start): count or 0
        for name, count in metrics.items()
        if name.startswith(start)
    }


@attrs.frozen
class Reading:
    """One micro-batch.

    Attributes:
        progress: What Spark reports of it.
        groupings: What each grouping counted, by its name.
    """

    progress: Progress
    groupings: Mapping[str, Counted]

    @property
    def at(self) -> int:
        """When it began, epoch ms."""
        return self.progress.at

    @classmethod
    def of(cls, text: str) -> Self:
        """From the JSON of a ``StreamingQueryProgress``."""
        observed = observed_metrics(json.loads(text))
        counted = {name: Counted.of(metrics) for name, metrics in observed.items()}
        return cls(Progress.of(text), {name: it for name, it in counted.items() if it is not None})
