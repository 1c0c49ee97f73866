"""Which columns of the rows are the grouping's, and what a table calls the columns of its own.

A table has the columns of the user's under their names, whatever these are. Columns of its own,
`OWN_COLUMNS`, give way: where the user has one of that name, ``beamlike_`` is put before it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

import attrs

from beamlike.errors import ColumnError
from beamlike.hosts.landing.value_types import item_types, value_type
from beamlike.runtime.session_identity import SESSION_IDENTITY, check_renamed

if TYPE_CHECKING:
    import pyarrow as pa

ROW_KEY: Final = "row_key"
"""The column that names a result: its key and its session or window, as JSON."""

OWN_COLUMNS: Final = (*(ROW_KEY, "window_start", "window_end", SESSION_IDENTITY, "timing"),)
"""Columns that a table has beside those of the results."""

Rendering = Literal["rows", "retractions", "changelog", "upserts"]
"""How rows say what they change, see `beamlike.hosts.landing.batch`."""


def free_name(name: str, taken: Iterable[str], prefix: str = "beamlike_") -> str:
    """A name that none of these is, in upper or lower case.

    >>> free_name("timing", ["user", "Timing"])
    'beamlike_timing'
    """
    folded = {other.casefold() for other in taken}
    while name.casefold() in folded:
        name = f"{prefix}{name}"
    return name


def backquoted(name: str) -> str:
    """A name as the SQL of Spark and Delta Lake reads it, whatever is in it.

    >>> backquoted("it's `n`")
    "`it's ``n```"
    """
    return "`" + name.replace("`", "``") + "`"


@attrs.frozen
class LandedColumns:
    """The columns of a micro-batch, by what they are.

    Attributes:
        users: The columns that land under their own names.
        has_dropped: Whether rows that were dropped are among them.
        landed_names: What the table calls the columns of its own.
    """

    rendering: Rendering
    key: tuple[str, ...]
    users: tuple[str, ...]
    has_pane: bool
    has_dropped: bool
    landed_names: dict[str, str]

    @classmethod
    def of(
        cls, schema: "pa.Schema", key: Sequence[str], owner: str = "upsert_into"
    ) -> "LandedColumns":
        """The columns of these rows."""
        for name in (*key, "window"):
            if name not in schema.names:
                check_renamed(f"{owner} key", name, schema.names)
                raise ColumnError(
                    f"{owner}: there is no column {name!r}; the rows have "
                    f"{', '.join(map(repr, schema.names))}. A result is known by its key and "
                    "window: keep these columns"
                )
        if not _is_span(schema.field("window").type):
            raise ColumnError(
                f"{owner}: the column 'window' is {schema.field('window').type}, and not the "
                "window of a grouping, a struct of start and end; give the grouping's back its name"
            )
        candidates = {name for name in _IS_OWN if name in schema.names and name not in key}
        candidates = {name for name in candidates if _IS_OWN[name](schema.field(name).type)}
        rendering = _rendering(schema.names, candidates, owner)
        # Two columns of a changelog, and no more, are the grouping's.
        grouping = {"window", *(candidates & {"pane", "dropped"}), *_CHANGES[rendering]}
        users = tuple(name for name in schema.names if name not in grouping)
        return cls(
            rendering,
            tuple(key),
            users,
            "pane" in grouping,
            "dropped" in grouping,
            {name: free_name(name, users) for name in OWN_COLUMNS},
        )


_CHANGES: Final[Mapping[Rendering, tuple[str, ...]]] = {
    "rows": (),
    "retractions": ("retraction",),
    "changelog": ("change",),
    "upserts": (SESSION_IDENTITY, "change"),
}
"""The columns that say what a row changes."""


def _rendering(names: Sequence[str], candidates: Collection[str], owner: str) -> Rendering:
    """How rows say what they change.

    A grouping puts these columns behind its pane; results of the user's are before it.

    Raises:
        ColumnError: A column before the pane has the name and the type of one of these, and
            nothing behind it says that it is the user's.
    """
    rendering: Rendering
    pane = names.index("pane") if "pane" in candidates else -1
    behind = {name for name in candidates if names.index(name) > pane}
    for rendering in ("upserts", "changelog", "retractions"):
        if behind.issuperset(_CHANGES[rendering]):
            break
    else:
        rendering = "rows"
    unclear = {"rows": ("retraction", "change"), "changelog": (SESSION_IDENTITY,)}.get(
        rendering, ()
    )
    for name in unclear:
        if name in candidates:
            raise ColumnError(
                f"{owner}: the column {name!r} may be what the grouping says of a row, and may "
                "be a result of yours, since it stands before the column 'pane'. If it is yours, "
                f"rename it: withColumnRenamed({name!r}, ...); if it is the grouping's, select it "
                "after 'pane'"
            )
    return rendering


def _is_span(dtype: "pa.DataType") -> bool:
    times = [value_type(field) for field in item_types(dtype)]
    return _fields_of(dtype) == ["start", "end"] and {*times} <= {"instant", "local"}


def _fields_of(dtype: "pa.DataType") -> list[str]:
    """The names of the fields of a struct; none of any other type."""
    return [field.name for field in dtype] if value_type(dtype) == "struct" else []


_IS_OWN: Final[Mapping[str, Callable[["pa.DataType"], bool]]] = {
    "pane": lambda dtype: "timing" in _fields_of(dtype),
    "dropped": lambda dtype: {"stage", "reason", "element"} <= {*_fields_of(dtype)},
    "retraction": lambda dtype: value_type(dtype) == "bool",
    "change": lambda dtype: value_type(dtype) == "string",
    SESSION_IDENTITY: lambda dtype: value_type(dtype) == "string",
}
"""Whether a column of a grouping's name has the type that a grouping gives it."""
