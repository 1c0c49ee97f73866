"""What a table must be able to do in which results land."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from beamlike.errors import ColumnError, StateError
from beamlike.hosts.landing.value_types import ValueType, check_types
from beamlike.model.readable import ReadableABC
from beamlike.runtime.session_identity import check_renamed

if TYPE_CHECKING:
    import pyarrow as pa

    from beamlike.hosts.landing.batch import Batch


class CannotLand(Exception):
    """Some rows of a batch cannot be put; nothing of the batch was written.

    Attributes:
        problems: By the index of a row, what is wrong with it.
    """

    def __init__(self, problems: Mapping[int, str]) -> None:
        super().__init__(problems)
        self.problems = problems


@attrs.frozen
class Target(ABC, metaclass=ReadableABC):
    """A table and where it is. A value: it is pickled with the query that writes to it."""

    column_types: ClassVar[frozenset[ValueType] | None] = None
    """What a column may be; None: all that Arrow has."""
    nested_types: ClassVar[frozenset[ValueType]] = frozenset()
    """What may be inside of a list, a struct or a map."""
    longest_name: ClassVar[int | None] = None
    """How many bytes the name of a column may have."""
    reads_names_in_any_case: ClassVar[bool] = False
    """Whether ``N`` and ``n`` are one column."""

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
            CannotLand: Some rows cannot be put.
            ColumnError: A table that is there has other columns.
            StateError: The table has a later batch of the query, see `is_next`.
        """

    @property
    def place(self) -> str:
        """Where the table is: two targets with one place write to the same table."""
        return repr(attrs.astuple(self))

    def check_columns(self, schema: "pa.Schema") -> None:
        """Refuse results that the table cannot hold unchanged, before any row comes.

        Raises:
            ColumnError: It names the column, its type and the table.
        """
        name = type(self).__name__
        if self.column_types is not None:
            check_types(schema, self.column_types, self.nested_types, name)
        first: dict[str, str] = {}
        for column in schema.names:
            if self.longest_name is not None and len(column.encode()) > self.longest_name:
                raise ColumnError(
                    f"upsert_into: the name of column {column!r} has {len(column.encode())} bytes, "
                    f"and a table of {name} has room for {self.longest_name}; rename it"
                )
            folded = column.casefold() if self.reads_names_in_any_case else column
            if folded in first:
                raise ColumnError(
                    f"upsert_into: columns {first[folded]!r} and {column!r} would be one column of "
                    f"a table of {name}, which reads names in upper and lower case alike; rename "
                    "one of them"
                )
            first[folded] = column

    def unlandable(self, batch: "Batch") -> Mapping[int, str]:
        """Rows that the table would not hold unchanged: what is wrong, by their index."""
        return {}


def problems_of(
    rows: "pa.Table",
    is_concerned: Callable[["pa.DataType"], bool],
    is_problem: Callable[[Any, "pa.DataType"], bool],
    problem: str,
) -> dict[int, str]:
    """Values that a table would not hold unchanged.

    Args:
        is_concerned: Whether values of a type may be such: no other column is looked at.
        is_problem: Whether a value of a type is one of these.
        problem: What is said of it, behind the name of its column.
    """
    problems: dict[int, str] = {}
    for field in filter(lambda field: is_concerned(field.type), rows.schema):
        for index, value in enumerate(rows.column(field.name).to_pylist()):
            if is_problem(value, field.type):
                problems.setdefault(index, f"column {field.name!r} {problem}")
    return problems


def is_next(batch: "Batch", last: int | None, table: str) -> bool:
    """Whether a table lacks a batch.

    Args:
        last: The number of the last batch of its query in the table; None: it has none.
    """
    if last is None or batch.number > last:
        return True
    if batch.number == last:  # the query ended after it was written, and before it was committed
        return not batch.is_of_known_query
    if batch.accepts_rollback:
        return True
    raise StateError(
        f"upsert_into: micro-batch {batch.number} comes to the table {table!r}, which has "
        f"micro-batch {last} of {batch.query!r} already: the checkpoint of the query is older "
        "than the table, or another query has written under this name. Restore the table of the "
        "time of the checkpoint; or keep numbers of their own, with another name= or in an empty "
        "table; or pass accept_rollback=True, with which the results of the micro-batches that "
        "come again are put over the rows that are there"
    )


def check_columns(table: str, known: dict[str, str], wanted: dict[str, str]) -> None:
    """Refuse a table that is there already and has other columns."""
    said = [
        f"{name!r} is {known.get(name, 'missing')} and would be {wanted.get(name, 'left out')}"
        for name in dict.fromkeys([*known, *wanted])
        if known.get(name, "").lower() != wanted.get(name, "").lower()
    ]
    if said:
        new = "Drop session_start and session_end, and add session_identity"
        for name in known:
            place = f"upsert_into: table {table!r}"
            check_renamed(place, name, wanted, f"{new}; or write to another table")
        raise ColumnError(
            f"upsert_into: the table {table!r} has other columns than the results: "
            f"{'; '.join(said)}. Change the table or the query, or write to another table"
        )


def check_name(argument: str, name: object) -> None:
    """Refuse what is not the name of a table."""
    if not isinstance(name, str) or not name or '"' in name or "\0" in name:
        raise ColumnError(f"{argument} must be the name of a table, got {name!r}")


def kinds_of(schema: "pa.Schema", unsaid: str) -> dict[str, str]:
    """Columns and their types in words, without what a library chooses.

    Args:
        schema: The columns.
        unsaid: What the library says of types besides how long texts are, and names of items.
    """
    kinds = {}
    for field in schema:
        text = str(field.type).replace("large_", "").replace("item: ", "element: ")
        kinds[field.name] = text.replace(unsaid, "")
    return kinds
