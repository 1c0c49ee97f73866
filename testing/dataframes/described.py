"""What a test has to know of a query: its sources, its groupings, and the drops beside its panes.

A test hands a user's function frames whose port (see `beamlike.hosts.frames`) notes what it is
asked for. The function describes a query and knows of no test.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import attrs

from beamlike.hosts.frames import EventTimes
from beamlike.machine.input_clocks import SourceClock

if TYPE_CHECKING:
    from beamlike.runtime.plan import Plan


@attrs.frozen
class Source:
    """Rows with an event time."""

    inputs: Collection[str]
    timestamp: str
    clock: SourceClock


@attrs.define
class QueryDescription:
    """A query, as far as a test has to know it.

    Args:
        sources: What it reads with event times.
        groupings: Its groupings, in the order in which they were described.
        with_dropped: Frames of panes, each with the frame that has the dropped rows beside them.
    """

    sources: list[Source] = attrs.field(factory=list)
    groupings: list["Plan"] = attrs.field(factory=list)
    with_dropped: list[tuple[Any, Any]] = attrs.field(factory=list)

    def note_source(self, inputs: Collection[str], times: EventTimes) -> None:
        """Note a source, if a watermark follows its rows."""
        if times.delay is not None:
            clock = SourceClock(times.delay, max_ahead=times.max_ahead)
            self.sources.append(Source(inputs, times.column, clock))

    def everything(self, frame: Any) -> Any:
        """The frame with dropped rows beside its panes, if it is one that a call returned."""
        return next((full for panes, full in self.with_dropped if panes is frame), frame)
