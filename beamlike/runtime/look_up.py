"""A main input that looks into a side input, between the columns of a DataFrame.

The value columns of the plan are those of the main input, and after them one for the side
input: the rows of a pane as an array of structs. It is null in a row of the main input.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import attrs
import pyarrow as pa

from beamlike.machine.events import Element
from beamlike.machine.side_input import Main, Side, SideInputs, SideWindow
from beamlike.model.rescaled import window_fn_in
from beamlike.model.resolution import Resolution, Span, converted
from beamlike.model.triggers import DefaultTrigger, Trigger
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import bounds, window_of
from beamlike.runtime.accumulator_columns import AccumulatorColumns, PlainParts
from beamlike.runtime.changes import lateness_words
from beamlike.runtime.operation import Operation, types_in_words

SIDE: Final = "__beamlike_side"
"""The value column with the side rows of a pane."""

PANE_BEFORE: Final = "__beamlike_pane"
"""The main column with the pane of a grouping before, which its rows stay in."""

Types = Mapping[str, pa.DataType]


@attrs.frozen
class LookUp(Operation):
    """Each row of the main input with the rows of its side window.

    Args:
        main_window_fn: Windows of main rows that come in none.
        side_window_fn: The windows of the side input.
        allowed_lateness: How long after the end of a side window main rows may look there (ticks).
        how: ``"left"`` keeps rows that find nothing, ``"inner"`` leaves them out.
        main: The columns of a main row, without the key.
        side: The columns of a side row, without the key.
        hidden: Columns of the main row that only its window function needs.
        on_error: What to do when a window function raises.
        side_trigger: The trigger of the side input's grouping.
        side_allowed_lateness: How long after its end a side window may have its first pane (ticks);
            None: until its trigger must have fired.

    Raises:
        WindowingError: The windows do not go together, see `SideInputs`.
    """

    main_window_fn: WindowFn
    side_window_fn: WindowFn
    allowed_lateness: int
    how: Literal["left", "inner"]
    main: Types
    side: Types
    hidden: frozenset[str] = frozenset()
    on_error: Literal["fail", "drop"] = "drop"
    side_trigger: Trigger = attrs.field(factory=DefaultTrigger)
    side_allowed_lateness: int | None = None

    def __attrs_post_init__(self) -> None:
        _ = self.machine  # which refuses windows that do not go together

    @property
    def machine(self) -> SideInputs:
        unit, side = self.resolution, self.side_allowed_lateness
        return SideInputs(
            self.main_window_fn,
            self.side_window_fn,
            Span(self.allowed_lateness, unit),
            join=self.how,
            on_error=self.on_error,
            side_trigger=self.side_trigger,
            side_allowed_lateness=None if side is None else Span(side, unit),
            resolution=unit,
        )

    def in_resolution(self, resolution: Resolution) -> "LookUp":
        before = self.resolution
        lateness, side = self.allowed_lateness, self.side_allowed_lateness
        return attrs.evolve(
            self,
            main_window_fn=window_fn_in(self.main_window_fn, resolution),
            side_window_fn=window_fn_in(self.side_window_fn, resolution),
            allowed_lateness=converted(lateness, before, resolution, "allowed_lateness"),
            side_trigger=self.side_trigger.in_resolution(resolution),
            side_allowed_lateness=None
            if side is None
            else converted(side, before, resolution, "allowed_lateness"),
        )

    @property
    def resolution(self) -> Resolution:
        """What its times count."""
        return self.main_window_fn.resolution

    @property
    def accumulator(self) -> AccumulatorColumns:
        return _SideWindowColumns(self.main, self.side)

    @property
    def results(self) -> Types:
        return {**{name: dtype for _, name, dtype in self._shown}, **self.side}

    @property
    def why_key_by_key(self) -> str:
        return "it looks values up instead of grouping rows"

    @property
    def state_identity(self) -> Mapping[str, str]:
        return {
            "look-up": self.how,
            "main window": str(self.main_window_fn),
            "side window": str(self.side_window_fn),
            "allowed lateness": lateness_words(self.allowed_lateness, self.resolution),
            "main columns": types_in_words(self.main),
            "side columns": types_in_words(self.side),
        }

    @property
    def _shown(self) -> list[tuple[int, str, pa.DataType]]:
        """Position, name and type of the main columns that the result has."""
        named = [(index, name, dtype) for index, (name, dtype) in enumerate(self.main.items())]
        return [column for column in named if column[1] not in self.hidden]

    def elements(self, rows: Iterable[tuple[Any, ...]]) -> Iterable[Any]:
        return (Main(row[:-1]) if row[-1] is None else Side(row[-1]) for row in rows)

    def fields(self, value: Main | Side) -> Mapping[str, pa.Scalar]:
        if isinstance(value, Side):
            rows = pa.list_(pa.struct(list(self.side.items())))
            return {"side": pa.scalar(list(value.content), rows)}
        return {
            name: pa.scalar(value.value[index], dtype)
            for index, name, dtype in self._shown
            if name != PANE_BEFORE
        }

    def show(self, values: Sequence[Any]) -> list[pa.Array]:
        pairs = [(None, None) if value is None else value for value in values]
        main = [
            pa.array([row and row[index] for row, _ in pairs], dtype)
            for index, _, dtype in self._shown
        ]
        side = [
            pa.array([item and item[name] for _, item in pairs], dtype)
            for name, dtype in self.side.items()
        ]
        return main + side


@attrs.frozen
class _SideWindowColumns(PlainParts):
    """What is remembered of a side window.

    ===========  ====================  =====================================================
    column       type                  holds
    ===========  ====================  =====================================================
    ``content``  list of structs,      the side rows of the latest pane; null before the
                 nullable              first
    ``waiting``  list of structs of    main rows that wait: event time and window (ticks), and
                 ``ts``, ``start``,    the columns
                 ``end`` and ``row``
    ===========  ====================  =====================================================
    """

    main: Types
    side: Types

    def types(self) -> dict[str, pa.DataType]:
        number = pa.int64()
        row = ("row", pa.struct(list(self.main.items())))
        waiting = pa.struct([("ts", number), ("start", number), ("end", number), row])
        return {
            "content": pa.list_(pa.struct(list(self.side.items()))),
            "waiting": pa.list_(waiting),
        }

    def parts_of(self, accumulator: SideWindow) -> tuple[Any, ...]:
        content = accumulator.content
        return None if content is None else list(content), [*map(self._row, accumulator.waiting)]

    def _row(self, element: Element) -> dict[str, Any]:
        assert element.window is not None, "an element that waits has its main window"
        start, end = bounds(element.window)
        row = dict(zip(self.main, element.value, strict=True))
        return {"ts": element.timestamp, "start": start, "end": end, "row": row}

    def made_of(self, parts: tuple[Any, ...]) -> SideWindow:
        content, waiting = parts
        return SideWindow(
            None if content is None else tuple(content), tuple(map(self._element, waiting))
        )

    def _element(self, row: dict[str, Any]) -> Element:
        value = tuple(row["row"][name] for name in self.main)
        return Element(value, row["ts"], window_of(row["start"], row["end"]))
