"""The output of a query as panes and drops, for the matchers of test streams."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import attrs

from beamlike.errors import TestStreamError
from beamlike.machine.events import Drop, DropReason, Element, Pane, RowProblem
from beamlike.model.combine import Collect, CombineFn
from beamlike.model.combine.corrected import Kept
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.time import event_time_ms
from beamlike.model.windows import GLOBAL_WINDOW, IntervalWindow, Window
from beamlike.runtime.script import Output
from beamlike.runtime.session_identity import SESSION_IDENTITY
from beamlike.testing.assertions.equality import same, same_content

if TYPE_CHECKING:
    from beamlike.runtime.plan import Plan

_OF_A_PANE: Final = (
    *("window", "timestamp", "pane", "retraction", "change", SESSION_IDENTITY, "dropped"),
)


@attrs.frozen
class Shape:
    """How the rows of a query are read as elements.

    Args:
        keys: The columns of the key. One makes the key its value, several a tuple.
        of_stages: The columns of the key of each grouping by its name.
        unordered: The columns with lists in no particular order.
    """

    keys: Sequence[str]
    of_stages: Mapping[str, Sequence[str]]
    unordered: frozenset[str]

    @classmethod
    def of(cls, groupings: "Sequence[Plan]") -> "Shape":
        """How rows of the last of some groupings are read."""
        if not groupings:
            return cls((), {}, frozenset())
        plan = groupings[-1]
        lists = (part.name for part in plan.parts if _collects(part.fn))
        of_stages = {grouping.name: tuple(grouping.keys) for grouping in groupings}
        return cls(tuple(plan.keys), of_stages, frozenset(lists))

    def key_of(self, row: Mapping[str, Any], stage: str | None = None) -> Any:
        """The key of a row, without the columns that it does not have.

        Args:
            row: The row.
            stage: The grouping whose key it is; None: the last one.
        """
        names = self.keys if stage is None else self.of_stages[stage]
        key = tuple(row[name] for name in names if name in row)
        return key[0] if len(key) == 1 else key

    def has_key(self, row: Mapping[str, Any]) -> bool:
        """Whether a row has all columns of the key."""
        return all(name in row for name in self.keys)

    def same(self, expected: Any, actual: Any) -> bool:
        """Equal, where lists in no particular order may differ in their order."""
        match expected, actual:
            case (key, Mapping() as wanted), (other, Mapping() as came):
                return (
                    same(key, other)
                    and wanted.keys() == came.keys()
                    and all(
                        (same_content if name in self.unordered else same)(value, came[name])
                        for name, value in wanted.items()
                    )
                )
        return same(expected, actual)

    def outputs(self, step: int, rows: Iterable[Mapping[str, Any]]) -> Iterator[Output]:
        """The panes and drops among the rows of a step.

        Rows that only delete what a pane has put are neither.
        """
        for row in rows:
            if row.get("dropped") is not None:
                yield self._drop(step, row["dropped"])
                continue
            missing = [name for name in ("window", "pane") if name not in row]
            if missing:
                raise TestStreamError(
                    f"the rows of this query have no column {missing[0]!r}, so nothing says of "
                    "which window and pane they are; have its function return that column too, or "
                    "look at query.rows"
                )
            if row["pane"] is not None:
                yield Output(step, self.key_of(row), self._pane(row))

    def _pane(self, row: Mapping[str, Any]) -> Pane:
        fields = dict(row["pane"])
        info = PaneInfo(Timing(fields.pop("timing")), **fields)
        window, at = _window(row["window"]), row.get("timestamp")
        shown = {
            name: value
            for name, value in row.items()
            if name not in _OF_A_PANE and name not in self.keys
        }
        return Pane(
            window,
            shown,
            window.max_timestamp if at is None else _ms(at),
            info,
            bool(row.get("retraction")),
        )

    def _drop(self, step: int, lost: Mapping[str, Any]) -> Output:
        row = json.loads(lost["element"])
        key, keys = self.key_of(row, lost["stage"]), self.of_stages[lost["stage"]]
        value = {name: it for name, it in row.items() if name not in keys}
        known = {reason.value: reason for kind in (DropReason, RowProblem) for reason in kind}
        at = lost["timestamp"]
        drop = Drop(
            Element(value, None if at is None else _ms(at)),  # type: ignore[arg-type]
            _window(lost["window"]) if lost["window"] else None,
            known[lost["reason"]],
            lost["missed_ms"],
            _window(lost["nearest_session"]) if lost["nearest_session"] else None,
            None if lost["watermark"] is None else _ms(lost["watermark"]),
            lost["count"],
            lost["error"],
        )
        return Output(step, key, drop)


def _window(span: Mapping[str, Any]) -> Window:
    if span["start"] is None and span["end"] is None:
        return GLOBAL_WINDOW
    start = _ms(span["start"])
    return IntervalWindow(start, max(_ms(span["end"]), start + 1))


def _ms(moment: datetime) -> int:
    """The millisecond in which an instant lies: that is what matchers and pictures count."""
    return event_time_ms(moment, "instant")


def _collects(fn: CombineFn) -> bool:
    """Whether it makes lists that are in no promised order."""
    return isinstance(fn.fn if isinstance(fn, Kept) else fn, Collect)
