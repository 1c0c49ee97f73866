"""What a table must be able to do in which results land."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import attrs

from beamlike.errors import ColumnError
from beamlike.model.readable import ReadableABC
from beamlike.runtime.session_identity import check_renamed

if TYPE_CHECKING:
    import pyarrow as pa

    from beamlike.hosts.landing.batch import Batch


@attrs.frozen
class Target(ABC, metaclass=ReadableABC):
    """A table and where it is. A value: it is pickled with the query that writes to it."""

    @abstractmethod
    def check(self) -> None:
        """Look for what it needs.

        Raises:
            EnvironmentProblem: An extra is missing.
            ColumnError: It has no name that could be a table's.
        """

    @abstractmethod
    def write(self, batch: "Batch", dead_letters: str | None) -> bool:
        """Put, delete and keep the number of the batch, all or nothing.

        Args:
            dead_letters: The table for rows that were dropped, beside this one.

        Returns:
            Whether anything was done: a batch that is there already changes nothing.

        Raises:
            ColumnError: A table that is there has other columns.
        """


_NEW_COLUMN = (
    "Drop session_start and session_end, and add session_identity; or write to another table"
)


def check_columns(table: str, known: dict[str, str], wanted: dict[str, str]) -> None:
    """Refuse a table that is there already and has other columns.

    Args:
        table: Its name.
        known: Its columns and their types.
        wanted: Those that the results have.

    Raises:
        ColumnError: Naming each difference.
    """
    said = [
        f"{name!r} is {known.get(name, 'missing')} and would be {wanted.get(name, 'left out')}"
        for name in dict.fromkeys([*known, *wanted])
        if known.get(name, "").lower() != wanted.get(name, "").lower()
    ]
    if said:
        for name in known:
            check_renamed(f"upsert_into: table {table!r}", name, wanted, _NEW_COLUMN)
        raise ColumnError(
            f"upsert_into: the table {table!r} has other columns than the results: "
            f"{'; '.join(said)}. Change the table or the query, or write to another table"
        )


def check_name(argument: str, name: object) -> None:
    """Refuse what is no name of a table.

    Raises:
        ColumnError: It is none.
    """
    if not isinstance(name, str) or not name or '"' in name or "\0" in name:
        raise ColumnError(f"{argument} must be the name of a table, got {name!r}")


def kinds_of(table: "pa.Table") -> dict[str, str]:
    """The columns of a table and their types, in words."""
    return {field.name: str(field.type) for field in table.schema}
