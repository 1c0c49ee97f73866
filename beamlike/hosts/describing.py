"""What calls of the API describe while a test runs: sources, groupings, and all that comes out.

A test hands a user's function rows that it controls. The function describes a query and knows of no
test. What the test has to know of that query is noted here: how far its watermarks trail, which
columns are keys, and the dropped rows beside the panes that the function returns.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import attrs

from beamlike.machine.clocks import SourceClock

if TYPE_CHECKING:
    from beamlike.runtime.plan import Plan


@attrs.frozen
class Source:
    """Rows with an event time.

    Args:
        inputs: The inputs of the test that they come from.
        timestamp: The column that has it.
        clock: How the watermark follows it.
    """

    inputs: Collection[str]
    timestamp: str
    clock: SourceClock


@attrs.define
class Described:
    """A query, as far as a test has to know it.

    Args:
        time: The `ScriptedTime` that gives a streaming query of Spark its watermarks and its clock;
            None: it needs none.
        sources: What it reads with event times.
        groupings: Its groupings, in the order in which they were described.
        whole: Frames of panes, each with the frame that has the dropped rows beside them.
    """

    time: Any = None
    sources: list[Source] = attrs.field(factory=list)
    groupings: list["Plan"] = attrs.field(factory=list)
    whole: list[tuple[Any, Any]] = attrs.field(factory=list)

    def with_drops(self, frame: Any) -> Any:
        """The frame with dropped rows beside its panes, if it is one that a call returned."""
        return next((whole for panes, whole in self.whole if panes is frame), frame)


_noted: ContextVar[Described | None] = ContextVar("beamlike_described", default=None)


def noted() -> Described | None:
    """Where to note what is described; None if no test runs."""
    return _noted.get()


@contextmanager
def describing() -> Iterator[Described]:
    """Note what is described in the block."""
    described = Described()
    token = _noted.set(described)
    try:
        yield described
    finally:
        _noted.reset(token)
