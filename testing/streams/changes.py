"""A retracting run as the changes of a table: what a sink that puts and deletes rows receives.

Source: `beamlike.machine.changelog`, which defines a row's ``identity``.
"""

from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple

from beamlike.errors import TestStreamError
from beamlike.machine.changelog import changelog, upserts
from beamlike.model.windows import Window
from beamlike.runtime.script import Output
from beamlike.viz.table import change_table

_KINDS: Final = {"window": changelog, "session": upserts}


class ChangeRow(NamedTuple):
    """What becomes of the row ``(key, identity)``: ``value`` is put there, or it is deleted.

    Rows compare with plain tuples of the five. The value of a deletion is None.
    """

    step: int
    key: Any
    op: Literal["upsert", "delete"]
    identity: Window
    value: Any


class Changes(tuple[ChangeRow, ...]):
    """Rows in order of emission. ``str`` makes a table of them."""

    __slots__ = ()

    def __str__(self) -> str:
        return change_table(self)


def changes_of(outputs: Iterable[Output], by: str) -> Changes:
    """The changes that the panes of a retracting run make, of rows named by window or session."""
    if by not in _KINDS:
        known = " or ".join(map(repr, _KINDS))
        raise TestStreamError(f"changes: by must be {known}, got {by!r}")
    # A firing with all that it withdraws belongs to one step of one key.
    together: dict[tuple[int, Any], list[Output]] = {}
    for output in outputs:
        together.setdefault((output.step, output.key), []).append(output)
    return Changes(
        ChangeRow(step, key, change.op, change.identity, change.pane and change.pane.value)
        for (step, key), of_key in together.items()
        for change in _KINDS[by](output.effect for output in of_key)
    )
