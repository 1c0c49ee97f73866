"""What plays cases of other systems share: the rows so far, each with the step that brought it; and
what questions share."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from beamlike.dialects.stages import Row
from beamlike.errors import UnsupportedError
from tests.support.dialects.cases import CaseRow

__all__ = ["Player", "Step", "unknown", "unless"]

Step = Mapping[str, Any]


class Player:
    """Rows with the steps that brought them."""

    def __init__(self, driver: object) -> None:
        self.driver = driver
        self.rows: list[CaseRow] = []

    def note(self, step: int, rows: Iterable[Row]) -> None:
        """These rows came out because of this step."""
        self.rows += [
            CaseRow(step, row.kind, row.key, row.value, row.window, row.timestamp, row.reason)
            for row in rows
        ]


def unknown(step: Step) -> UnsupportedError:
    """What to raise for a step that a dialect has no word for."""
    return UnsupportedError(f"a step with {', '.join(step)} has no counterpart")


def unless(what: str, expected: Any, got: Any) -> Iterator[str]:
    """What is answered otherwise than expected; nothing if all is well."""
    if got != expected:
        yield f"{what}: {got!r}; expected: {expected!r}"
