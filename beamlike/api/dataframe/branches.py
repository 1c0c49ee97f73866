"""The inputs of a grouping, and what is known of their rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Self

import attrs

from beamlike.api.dataframe.stage_plan import StagePlan
from beamlike.errors import UnsupportedError, WindowingError
from beamlike.hosts.finding import frames_of
from beamlike.machine.clocks import SourceClock
from beamlike.model.repetition import Repetition
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.options import Render

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from beamlike.hosts.frames import Frames
    from beamlike.machine.clocks import Clocks, InputClock
    from beamlike.runtime.frame_columns import FrameColumns

OF_A_PANE: Final = ("window", "timestamp", "pane", "retraction")
"""Columns that a grouping adds. They describe an earlier pane, and are not joined."""


@attrs.frozen
class Repeated:
    """Rows among which some repeat elements of others.

    Args:
        stage: The name of the grouping that they come from.
        how: What its strategy says.
    """

    stage: str
    how: Repetition


@attrs.frozen
class Retracting:
    """Rows of which some withdraw others.

    Args:
        lateness: How long after the end of a window that one corrects its results (us).
        render: How its corrections are shown.
        cut: A condition has left some of them out.
    """

    stage: str
    lateness: int
    render: Render
    cut: bool = False


@attrs.frozen
class Stamped:
    """Panes whose event time is the last instant of their window.

    Args:
        stage: The name of the grouping that they come from.
        window_fn: What gave its elements their windows.
    """

    stage: str
    window_fn: WindowFn


@attrs.frozen(eq=False)
class Branch:
    """One input of what comes next: rows with the hidden column, and what is known of them.

    Args:
        rows: See `beamlike.runtime.row_metadata`.
        clock: Where the watermark of these rows comes from; None: Spark's is used.
        timestamp: The event-time column of a source; None after a grouping.
        window_fn: Gives these rows their windows, if that is not for the next grouping to do:
            a Flatten keeps the windows of its inputs.
        retracting: What is to be known if some rows withdraw others.
        repeated: What is to be known if some rows repeat what others hold.
        stages: The groupings that these rows went through, by name: two streams may share a
            grouping, but two groupings no name.
        stamped: What is to be known of panes whose time is the end of their window.
        per_key: The grouping that they come from, if each of its keys has a watermark of its own;
            None: there is one that holds for all of these rows.
        resolution: What the groupings of these rows count.
        wall_clock: Whether their event times are wall-clock times, which are in no zone.
    """

    rows: "DataFrame"
    clock: "InputClock | None"
    timestamp: str | None = None
    window_fn: WindowFn | None = None
    retracting: Retracting | None = None
    repeated: Repeated | None = None
    stages: Mapping[str, StagePlan] = attrs.field(factory=dict)
    stamped: "Stamped | None" = None
    per_key: str | None = None
    resolution: Resolution = MILLISECONDS
    wall_clock: bool = False

    @property
    def by_part(self) -> bool:
        """Whether the parts of a source have watermarks of their own."""
        return isinstance(self.clock, SourceClock) and self.clock.by_part


@attrs.frozen(eq=False)
class Inputs:
    """The inputs of what comes next, which have the same columns."""

    branches: tuple[Branch, ...]

    @property
    def frame(self) -> "DataFrame":
        """Rows that have the columns of all."""
        return self.branches[0].rows

    @property
    def columns(self) -> list[str]:
        """Without the hidden one."""
        from beamlike.runtime.row_metadata import MARKS

        return [name for name in self.frame.columns if name != MARKS]

    @property
    def frame_columns(self) -> "FrameColumns":
        """The columns with their types, the hidden one among them."""
        return self.frames.columns_of(self.frame)

    @property
    def is_streaming(self) -> bool:
        return self.frame.isStreaming

    @property
    def resolution(self) -> Resolution:
        """What the groupings of these rows count.

        Raises:
            WindowingError: Some count otherwise than others.
        """
        found = {branch.resolution for branch in self.branches}
        if len(found) > 1:
            raise WindowingError(
                "streams of milliseconds and of microseconds cannot go together in one grouping; "
                "give all of them the same resolution="
            )
        return found.pop()

    @property
    def wall_clock(self) -> bool:
        """Whether event times are wall-clock times, which are in no zone.

        Raises:
            WindowingError: Some are, and others are instants.
        """
        found = {branch.wall_clock for branch in self.branches}
        if len(found) > 1:
            raise WindowingError(
                "wall-clock times (timestamp_ntz) and instants cannot go together in one grouping, "
                "because nothing says in which zone the clock hangs; cast one of the columns before"
            )
        return found.pop()

    @property
    def retracting(self) -> bool:
        """Some rows withdraw others."""
        return any(branch.retracting is not None for branch in self.branches)

    @property
    def are_panes(self) -> bool:
        """The rows are panes of a grouping before, and still say of which firing."""
        return "pane" in self.columns and all(it.timestamp is None for it in self.branches)

    @property
    def stages(self) -> dict[str, StagePlan]:
        """See `stages_of`."""
        return stages_of(self.branches)

    @property
    def clocks(self) -> "Clocks | None":
        """Where the watermark comes from; None: from Spark.

        Raises:
            UnsupportedError: There is none that holds for all rows.
        """
        from beamlike.runtime.binding import clocks_of

        for branch in self.branches:
            if branch.per_key is not None:
                raise UnsupportedError(
                    f"the rows of {branch.per_key!r} come at the watermarks of their keys "
                    "(watermark_per_key=True), and what follows it in the query would need one "
                    "that holds for all of them: a key that is hours behind would be late there. "
                    "Write these rows to a table, and have another query read it; or leave "
                    "watermark_per_key out, and give bl.stream watermark_by="
                )

        return clocks_of(branch.clock for branch in self.branches)

    @property
    def frames(self) -> "Frames":
        """What the host of these rows does to them."""
        return frames_of(self.frame)

    @property
    def union(self) -> "DataFrame":
        """All rows, with the hidden column."""
        union: DataFrame = self.frames.union([branch.rows for branch in self.branches])
        return union

    def each(self, change: Callable[["DataFrame"], "DataFrame"]) -> Self:
        """The same inputs with other rows. The hidden column has to stay."""
        changed = (attrs.evolve(it, rows=change(it.rows)) for it in self.branches)
        return attrs.evolve(self, branches=tuple(changed))


def stages_of(branches: Iterable[Branch]) -> dict[str, StagePlan]:
    """All groupings that some rows went through.

    Raises:
        WindowingError: Two of them have the same name, and so would their counters.
    """
    stages: dict[str, StagePlan] = {}
    for branch in branches:
        for name, one in branch.stages.items():
            if stages.setdefault(name, one) is not one:
                raise WindowingError(
                    f"two groupings of this query are called {name!r}; give one of them another "
                    'name, for example group(..., name="orders per hour")'
                )
    return stages


def own_columns(inputs: Inputs, keys: Sequence[str]) -> list[str]:
    """The columns that are joined: not the key, and none that is called as those of a pane."""
    columns = inputs.frame_columns
    return [
        name
        for name in columns.names
        if name not in keys and not columns.duplicate(name, [name, *OF_A_PANE])
    ]
