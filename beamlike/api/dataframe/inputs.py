"""The inputs of a step of a query: rows, and the node of the graph that they come out of.

A query is a graph of `beamlike.model.graph`, as a pipeline is. What the next step is to know of
rows follows from the nodes before them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Self

import attrs

from beamlike.errors import ColumnError, UnsupportedError, WindowingError
from beamlike.hosts.finding import frames_of
from beamlike.machine.events import UNREADABLE_RECORD, DropReason, RowProblem
from beamlike.machine.input_clocks import SourceClock, StageClock
from beamlike.model.graph import (
    Do,
    Edge,
    GroupNode,
    Node,
    ParDoNode,
    ReadNode,
    StatefulNode,
    WindowNode,
    in_order,
    ways_back,
)
from beamlike.model.options import AccumulationMode
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.windowfns import GlobalWindows, WindowFn
from beamlike.runtime.pane_conditions import marks_of_all

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from beamlike.hosts.frames import Frames
    from beamlike.machine.clocks import Clocks
    from beamlike.machine.input_clocks import InputClock
    from beamlike.model.bundle import Windowed
    from beamlike.runtime.frame_columns import FrameColumns

OF_A_PANE: Final = ("window", "timestamp", "pane", "retraction")
"""Columns that a grouping adds. They describe an earlier pane, and are not joined."""
RETRACTION: Final = "retraction"
"""The column that says which rows withdraw others."""


Reject = Mapping[str, "Column | str"]
"""Conditions by the reason for which rows are dropped that meet them."""

_TAKEN: Final = {*UNREADABLE_RECORD, *(why.value for why in (*DropReason, *RowProblem))}
"""Reasons that rows are dropped for anyway."""
_LONGEST: Final = 200


@attrs.frozen
class InputSource:
    """Where rows come from.

    Args:
        clock: Where their watermark comes from; None: Spark's is used.
        wall_clock: Whether their event times are wall-clock times, which are in no zone.
    """

    timestamp: str
    clock: "InputClock | None"
    resolution: Resolution = MILLISECONDS
    wall_clock: bool = False


@attrs.frozen
class RowStep(Do):
    """A step over the rows of a frame, which the host takes with all of them at once.

    Args:
        pane_marks: See `Do.pane_marks`. A condition that names ``retraction`` has it as a mark.
    """

    pane_marks: frozenset[str] = frozenset()

    def process(self, element: "Windowed") -> "list[tuple[str, Windowed]]":
        raise AssertionError(f"the host of the rows takes this step, not {element!r} alone")


@attrs.frozen(eq=False)
class Rows:
    """One input of what comes next.

    Args:
        frame: Rows with the hidden column, see `beamlike.runtime.row_metadata`.
    """

    frame: "DataFrame"
    node: Node

    @property
    def origin(self) -> tuple[Node, frozenset[str]]:
        """The source or stateful node before them, and the marks of panes that were asked for."""
        return next(ways_back(self.node, lambda node: isinstance(node, ReadNode | StatefulNode)))

    @property
    def source(self) -> InputSource | None:
        """Where they come from; None: they come out of a stateful node."""
        node, _ = self.origin
        return node.origin if isinstance(node, ReadNode) else None

    @property
    def clock(self) -> "InputClock | None":
        """Where their watermark comes from; None: Spark's is used."""
        node, _ = self.origin
        if isinstance(node, StatefulNode):
            return StageClock(node.plan.shards)
        return None if self.source is None else self.source.clock

    @property
    def times(self) -> tuple[Resolution, bool]:
        """What their groupings count, and whether event times are wall-clock times."""
        node, _ = self.origin
        if isinstance(node, StatefulNode):
            return node.plan.resolution, node.plan.wall_clock
        assert self.source is not None, "what is not of a stateful node is of a source"
        return self.source.resolution, self.source.wall_clock

    @property
    def by_part(self) -> bool:
        """Whether the parts of a source have watermarks of their own."""
        return isinstance(self.clock, SourceClock) and self.clock.by_part

    @property
    def window_fn(self) -> WindowFn | None:
        """What gives them their windows; None: they have them, from a stateful node."""
        ends = WindowNode | ReadNode | StatefulNode
        node, _ = next(ways_back(self.node, lambda node: isinstance(node, ends)))
        if isinstance(node, StatefulNode):
            return None
        return node.window_fn if isinstance(node, WindowNode) else GlobalWindows()

    @property
    def groupings(self) -> list[tuple[GroupNode, frozenset[str]]]:
        """The groupings whose panes they hold, and the marks of panes that were asked for."""
        ways = ways_back(self.node, lambda node: isinstance(node, GroupNode))
        return [(node, marks) for node, marks in ways if isinstance(node, GroupNode)]

    @property
    def retracting(self) -> list[tuple[GroupNode, frozenset[str]]]:
        """Those of the groupings that withdraw panes."""
        return [
            (node, marks)
            for node, marks in self.groupings
            if node.strategy.accumulation is AccumulationMode.RETRACTING
        ]

    def after(self, label: str, marks: frozenset[str] = frozenset()) -> "Rows":
        """The same rows after a step over each of them; see `RowStep`."""
        return attrs.evolve(self, node=ParDoNode(label, (Edge(self.node),), RowStep(marks)))


@attrs.frozen(eq=False)
class Inputs:
    """The inputs of what comes next, which have the same columns."""

    rows: tuple[Rows, ...]

    @property
    def frame(self) -> "DataFrame":
        """Rows that have the columns of all."""
        return self.rows[0].frame

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
    def retracting(self) -> bool:
        """Some rows withdraw others."""
        return any(rows.retracting for rows in self.rows)

    @property
    def are_panes(self) -> bool:
        """The rows are panes of a grouping before, and still say of which firing."""
        return "pane" in self.columns and all(rows.source is None for rows in self.rows)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """What a node that takes all of them reads."""
        return tuple(Edge(rows.node) for rows in self.rows)

    @property
    def stages(self) -> dict[str, StatefulNode]:
        """The stateful nodes before them, see `stages_of`."""
        return stages_of([self])

    @property
    def clocks(self) -> "Clocks | None":
        """Where the watermark comes from; None: from Spark."""
        from beamlike.runtime.binding import clocks_of

        for rows in self.rows:
            node, _ = rows.origin
            if isinstance(node, GroupNode) and node.plan.key_clock is not None:
                raise UnsupportedError(
                    f"the rows of {node.label!r} come at the watermarks of their keys "
                    "(watermark_per_key=True), and what follows it in the query would need one "
                    "that holds for all of them: a key that is hours behind would be late there. "
                    "Write these rows to a table, and have another query read it; or leave "
                    "watermark_per_key out, and give bl.stream watermark_by="
                )

        return clocks_of(rows.clock for rows in self.rows)

    @property
    def times(self) -> tuple[Resolution, bool]:
        """What a grouping of these rows counts, and whether event times are wall-clock times."""
        resolutions, wall_clocks = (
            {*values} for values in zip(*(rows.times for rows in self.rows), strict=True)
        )
        if len(resolutions) > 1:
            raise WindowingError(
                "streams of milliseconds and of microseconds cannot go together in one grouping; "
                "give all of them the same resolution="
            )
        if len(wall_clocks) > 1:
            raise WindowingError(
                "wall-clock times (timestamp_ntz) and instants cannot go together in one grouping, "
                "because nothing says in which zone the clock hangs; cast one of the columns before"
            )
        return resolutions.pop(), wall_clocks.pop()

    @property
    def frames(self) -> "Frames":
        """What the host of these rows does to them."""
        return frames_of(self.frame)

    @property
    def union(self) -> "DataFrame":
        """All rows, with the hidden column."""
        union: DataFrame = self.frames.union([rows.frame for rows in self.rows])
        return union

    def changed_by(self, change: Callable[..., "DataFrame"], *arguments: Any) -> Self:
        """The same inputs with other frames. The hidden column has to stay."""
        changed = (attrs.evolve(rows, frame=change(rows.frame, *arguments)) for rows in self.rows)
        return attrs.evolve(self, rows=tuple(changed))

    def after(self, label: str, marks: frozenset[str] = frozenset()) -> Self:
        """The same inputs after a step over each row; see `RowStep`."""
        return attrs.evolve(self, rows=tuple(rows.after(label, marks) for rows in self.rows))


def stages_of(all_inputs: Iterable[Inputs]) -> dict[str, StatefulNode]:
    """All stateful nodes that some rows went through, by name."""
    stages: dict[str, StatefulNode] = {}
    for node in in_order([rows.node for inputs in all_inputs for rows in inputs.rows]):
        if isinstance(node, StatefulNode) and stages.setdefault(node.label, node) is not node:
            raise WindowingError(
                f"two groupings of this query are called {node.label!r}; give one of them another "
                'name, for example group(..., name="orders per hour")'
            )
    return stages


def without_rejected(inputs: Inputs, reject: Reject | None) -> Inputs:
    """The inputs, of whose rows those that are rejected are marked with the reason."""
    if reject is None:
        return inputs
    if not isinstance(reject, Mapping) or not reject:
        raise WindowingError(
            'reject must map reasons to conditions, such as reject={"negative": "price < 0"}, got '
            f"{reject!r}"
        )
    for reason in reject:
        if not isinstance(reason, str) or not reason.strip() or len(reason) > _LONGEST:
            raise WindowingError(
                f"reject: a reason must be a text of 1 to {_LONGEST} characters, got {reason!r}"
            )
        if reason in _TAKEN:
            raise WindowingError(
                f"reject: {reason!r} is a reason that rows are dropped for anyway; give yours "
                "another name"
            )
    marked = inputs.changed_by(inputs.frames.rejecting, reject)
    # A condition that names it may part a pane from the row that withdraws it.
    named = {mark for condition in reject.values() for mark in marks_of_all(condition)}
    return marked.after("reject", frozenset({RETRACTION} & named))


def own_columns(
    inputs: Inputs, keys: Sequence[str], of_a_pane: Sequence[str] = OF_A_PANE
) -> list[str]:
    """The columns that are joined: not the key, and none that is called as those of a pane."""
    columns = inputs.frame_columns
    return [
        name
        for name in columns.names
        if name not in keys and not columns.duplicate(name, [name, *of_a_pane])
    ]


def carried_columns(inputs: Inputs, keys: Sequence[str]) -> list[str]:
    """The columns that rows keep beside their key and what says of which pane they are.

    Rows that were never grouped may have a column ``retraction``, which says nothing of a pane.
    """
    kept = {RETRACTION} if _never_grouped(inputs) else set()
    return own_columns(inputs, keys, [name for name in OF_A_PANE if name not in kept])


def check_no_retraction(name: str, inputs: Inputs, keys: Sequence[str]) -> None:
    """Refuse a column of rows that were never grouped which reads as if it withdrew some."""
    columns = inputs.frame_columns
    for column in columns.names if _never_grouped(inputs) else ():
        if column not in keys and columns.duplicate(column, [column, RETRACTION]):
            raise ColumnError(
                f"streams: the column {column!r} of {name} would say which rows withdraw others, "
                "and none was grouped; give it another name with select() or with_columns() before"
            )


def _never_grouped(inputs: Inputs) -> bool:
    return all(rows.source is not None for rows in inputs.rows)
