"""What plays cases of other systems share: the rows so far, each with the step that brought it; and
what questions share."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from beamlike.dialects.stages import Row
from beamlike.errors import UnsupportedError

__all__ = ["CaseRow", "Player", "Step", "unknown", "unless"]

Step = Mapping[str, Any]
CaseRow = Mapping[str, Any]
"""A row as cases have it, with the step that brings it."""


class Player:
    """Rows with the steps that brought them."""

    def __init__(self, driver: object) -> None:
        self.driver = driver
        self.rows: list[CaseRow] = []

    def note(self, step: int, rows: Iterable[Row]) -> None:
        """These rows came out because of this step."""
        for row in rows:
            window = list(row.window) if isinstance(row.window, tuple) else row.window
            parts = {"step": step, "kind": row.kind, "key": row.key, "value": row.value}
            times = {"window": window, "ts_ms": row.timestamp, "reason": row.reason}
            self.rows.append(parts | times)


def unknown(step: Step) -> UnsupportedError:
    """What to raise for a step that a dialect has no word for."""
    return UnsupportedError(f"a step with {', '.join(step)} has no counterpart")


def unless(what: str, expected: Any, got: Any) -> Iterator[str]:
    """What is answered otherwise than expected; nothing if all is well."""
    if got != expected:
        yield f"{what}: {got!r}; expected: {expected!r}"
