"""What becomes of the rows of a query before, between and after its groupings.

The API describes a query with these operations, however rows are kept. A host that has
rows as DataFrames of Spark says what that means in expressions of SQL, one that has them as tables
says it in Arrow. Rows have the hidden column (see `beamlike.runtime.row_metadata`) from
`Frames.source_rows` on, until `Frames.data` or `Frames.everything` takes it away.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import attrs

from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.windowfns import WindowFn

if TYPE_CHECKING:
    import pyarrow as pa

    from beamlike.runtime.frame_columns import FrameColumns, Input
    from beamlike.runtime.plan import Plan

Frame = Any
"""A DataFrame, or a `TableFrame`."""

RowType = Any
"""Some columns of a frame as the host describes them; ``names`` are their names."""

How = Literal["inner", "left", "right", "full"]
"""Which rows a join keeps that have no partner."""


@attrs.frozen
class EventTimes:
    """The event times of the rows of a source.

    Args:
        delay: How far they may be out of order (ms); None: no watermark is to be set.
        max_ahead: How far ahead of the clock they may lie (ms); None: as far as they like.
        part: The column that names the part of the source that a row comes from, if parts have
            watermarks of their own.
    """

    column: str
    delay: int | None = None
    max_ahead: int | None = None
    part: str | None = None
    resolution: Resolution = MILLISECONDS


@attrs.frozen(eq=False)
class StageInput:
    """One input of a grouping: its rows, and how they go into it.

    Args:
        timestamp: The event-time column of a source, shown with rows that cannot be grouped; None
            after a grouping.
        assign: Gives rows their windows; None: they have them, or the machine assigns.
        hidden_columns: Columns that are not shown with rows that cannot be grouped.
        by_part: Whether the parts of the source have watermarks of their own.
        shown: The columns that are shown with rows that cannot be grouped.
        marks: The fields of the hidden column that the packer reads.
    """

    rows: Frame
    plan: "Plan"
    values: Mapping[str, "Input"]
    timestamp: str | None
    assign: WindowFn | None
    hidden_columns: Container[str] = ()
    by_part: bool = False
    shown: list[str] = attrs.field(init=False)
    marks: tuple[str, ...] = attrs.field(init=False)

    @shown.default
    def _columns_shown(self) -> list[str]:
        names = [*self.plan.keys, *(needed.source for needed in self.values.values())]
        if self.timestamp is not None and self.timestamp in self.rows.columns:
            names.insert(len(self.plan.keys), self.timestamp)
        return [name for name in dict.fromkeys(names) if name not in self.hidden_columns]

    @marks.default
    def _marks_read(self) -> tuple[str, ...]:
        from beamlike.runtime.row_metadata import SOURCE_MARKS, STAGE_MARKS

        if self.timestamp is None:
            return STAGE_MARKS
        return (*SOURCE_MARKS, "part") if self.by_part else SOURCE_MARKS


class Frames(ABC):
    """Rows of one host. A frame never changes: each operation returns a new one."""

    # -- columns -------------------------------------------------------------------------------

    @abstractmethod
    def columns_of(self, rows: Frame) -> "FrameColumns":
        """The columns of a frame, the hidden one among them."""

    @abstractmethod
    def row_type(self, rows: Frame, names: Sequence[str]) -> RowType:
        """Some of the columns, for `tagged` and `with_side_column`."""

    @abstractmethod
    def read_type(self, text: str) -> "pa.Field":
        """A type from its text in SQL, as the host reads it; the field is called as the text."""

    @abstractmethod
    def read_columns(self, text: str) -> "pa.Schema | None":
        """Columns from their text in SQL, as the host reads it; None: it says none.

        Raises:
            ColumnError: It cannot be read.
        """

    @property
    @abstractmethod
    def row_maker(self) -> Callable[..., Callable[..., Any]]:
        """Called with names it gives what makes rows of values in this order, for functions of
        users."""

    # -- sources -------------------------------------------------------------------------------

    @abstractmethod
    def watermark_of(self, df: Frame) -> tuple[str, int] | None:
        """The column that carries the watermark of a stream, and its delay (ms); None: no one."""

    @abstractmethod
    def check_stream(self, df: Frame) -> None:
        """Refuse a stream that cannot be grouped where it runs.

        Raises:
            EnvironmentProblem: With what to change.
        """

    @abstractmethod
    def source_rows(self, df: Frame, times: EventTimes) -> Frame:
        """The rows of a source with the hidden column, and the watermark that follows from them.

        Raises:
            ColumnError: The column is missing or no time; a name is taken that is needed here.
        """

    # -- row by row ----------------------------------------------------------------------------

    @abstractmethod
    def where(self, rows: Frame, condition: Any) -> Frame:
        """Rows for which a condition does not hold are left out, and still move the watermark."""

    @abstractmethod
    def rejecting(self, rows: Frame, reject: Mapping[str, Any]) -> Frame:
        """Rows that meet a condition are marked with its reason; the next grouping drops them."""

    @abstractmethod
    def select(self, rows: Frame, columns: Sequence[Any]) -> Frame:
        """Other columns."""

    @abstractmethod
    def with_columns(self, rows: Frame, columns: Mapping[str, Any]) -> Frame:
        """More columns."""

    @abstractmethod
    def explode(self, rows: Frame, column: Any, as_: str) -> Frame:
        """A row for each item of an array. One whose array is empty or null is left out."""

    @abstractmethod
    def without_window(self, rows: Frame) -> Frame:
        """Rows in no window."""

    @abstractmethod
    def union(self, frames: Sequence[Frame]) -> Frame:
        """The rows of all. They have the same columns."""

    # -- groupings -----------------------------------------------------------------------------

    @abstractmethod
    def run(self, inputs: Sequence[StageInput], plan: "Plan", wake_every_ms: int) -> Frame:
        """Everything that comes out of a grouping of these inputs."""

    # -- what users see ------------------------------------------------------------------------

    @abstractmethod
    def result(self, frame: Frame) -> Any:
        """A frame as its user gets it: rows that are there at once are given at once."""

    @abstractmethod
    def data(self, rows: Frame) -> Frame:
        """The rows of the user's, without the hidden column."""

    @abstractmethod
    def everything(self, rows: Frame) -> Frame:
        """The rows, and all rows that were dropped until here, in ``dropped``."""

    @abstractmethod
    def split(self, everything: Frame) -> tuple[Frame, Frame]:
        """The panes and the dropped rows of a frame that has both."""

    def panes(self, everything: Frame) -> Frame:
        """The panes of a frame that has dropped rows, too."""
        return self.split(everything)[0]

    # -- several streams -----------------------------------------------------------------------

    @abstractmethod
    def without_retractions(self, rows: Frame) -> Frame:
        """Rows of which none withdraws another, with the column that says so."""

    @abstractmethod
    def tagged(
        self,
        rows: Frame,
        shared: Mapping[str, str],
        name: str,
        structs: Mapping[str, RowType],
    ) -> Frame:
        """Rows of one stream among several: as a struct in a column of their own, beside others.

        Args:
            shared: By the name of a column that all have, what these rows call it.
            structs: The columns of all streams; those of the others are null.
        """

    @abstractmethod
    def pairs(
        self,
        rows: Frame,
        keys: Sequence[str],
        sides: Mapping[str, Sequence[str]],
        of_a_pane: Sequence[str],
        how: How,
    ) -> Frame:
        """Each row of the left list with each of the right one, as columns.

        Args:
            rows: Panes with an array of structs for each side.
            sides: The columns of each side, the left one first.
        """

    # -- look-ups ------------------------------------------------------------------------------

    @abstractmethod
    def as_side(
        self, panes: Frame, main: Frame, key: Sequence[str], columns: Sequence[str], side: str
    ) -> Frame:
        """Panes of a side input with the columns of the main input, all null."""

    @abstractmethod
    def with_side_column(
        self, rows: Frame, side: str, row_type: RowType, pane_before: str | None
    ) -> Frame:
        """Rows of the main input with a column for side rows, which is null.

        And if it has a name with one for the pane that they come in.
        """

    @abstractmethod
    def with_its_pane(self, frame: Frame, pane_before: str) -> Frame:
        """Rows that were looked up as the panes that they were."""
