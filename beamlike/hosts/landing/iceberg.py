"""Tables of Iceberg, by PyIceberg and without Spark."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

import attrs

from beamlike.errors import ColumnError
from beamlike.extras import needs
from beamlike.hosts.landing.batch import Batch
from beamlike.hosts.landing.target import (
    Target,
    check_columns,
    check_name,
    is_next,
    kinds_of,
    problems_of,
)
from beamlike.hosts.landing.value_types import (
    USUAL,
    ValueType,
    item_types,
    value_type,
)

if TYPE_CHECKING:
    import pyarrow as pa

_HOLDS: Final[frozenset[ValueType]] = USUAL | {"time"}


@attrs.frozen
class Iceberg(Target):
    """A table of Iceberg. Needs ``pip install "beamlike[iceberg]"``.

    The number of a batch is a property of the table, set in the commit that changes the rows. Rows
    that were dropped are another table with commits of its own.

    Args:
        catalog: The name of the catalog, as PyIceberg's configuration has it.
        table: The table's name with its namespace: ``"web.sessions"``.
        properties: Of the catalog, in place of a configuration: ``{"type": "sql", "uri":
            "sqlite:///catalog.db", "warehouse": "file:///warehouse"}``.

    >>> Iceberg("reports", "web.sessions").table
    'web.sessions'
    """

    catalog: str
    table: str
    properties: dict[str, str] = attrs.field(factory=dict, repr=False)

    column_types: ClassVar[frozenset[ValueType] | None] = _HOLDS
    nested_types: ClassVar[frozenset[ValueType]] = _HOLDS

    def check(self) -> None:
        needs("a table of Iceberg", "iceberg")
        check_name("table", self.table)
        from pyiceberg.utils.config import Config

        configured = Config().get_catalog_config(self.catalog) or {}
        if str({**configured, **self.properties}.get("type", "")).lower() == "hadoop":
            raise ColumnError(
                "tables.Iceberg: PyIceberg has no catalog of type 'hadoop'; write through Spark, "
                f"with tables.SparkTable({self.catalog + '.' + self.table!r}), or use a catalog of "
                'another type, such as "rest", "sql", "hive" or "glue"'
            )

    def unlandable(self, batch: Batch) -> Mapping[int, str]:
        """See `Target.unlandable`: PyIceberg makes null lists and maps of structs empty."""
        return problems_of(
            batch.rows,
            _has_struct,
            _loses_null,
            "has null for a list or map with structs, which PyIceberg writes as an empty one",
        )

    def write(self, batch: Batch, dead_letters: str | None) -> bool:
        from pyiceberg.expressions import In

        changed = False
        table = self._open(self.table, batch.rows, batch, batch.query)
        if table is not None:
            row_keys = {*batch.gone, *batch.rows.column(batch.row_key).to_pylist()}
            # It warns of a delete that finds nothing: then all rows are new.
            quiet = warnings.catch_warnings(action="ignore", category=UserWarning)
            with quiet, table.transaction() as transaction:
                if row_keys and table.current_snapshot() is not None:
                    transaction.delete(In(batch.row_key, row_keys))  # type: ignore[call-arg, arg-type]
                transaction.append(_widened(batch.rows))
                transaction.set_properties(_numbered(batch.query, batch))
            changed = True
        if batch.dropped is not None and dead_letters is not None:
            namespace = self.table.rpartition(".")[0]
            # Writers to several tables may have one table of dead letters.
            writer = f"{batch.query} {self.table}"
            letters = f"{namespace}.{dead_letters}"
            letters_table = self._open(letters, batch.dropped, batch, writer, batch.query)
            if letters_table is not None:
                with letters_table.transaction() as transaction:
                    transaction.append(batch.dropped)
                    transaction.set_properties(_numbered(writer, batch))
                changed = True
        return changed

    def _open(self, name: str, rows: "pa.Table", batch: Batch, *writers: str) -> Any:
        """The table, made if it is not there; None: it has this batch already.

        Args:
            writers: Under what the number of the last batch is; the first that is there counts.
        """
        from pyiceberg.catalog import load_catalog

        rows = _widened(rows)
        catalog = load_catalog(self.catalog, **self.properties)
        catalog.create_namespace_if_not_exists(name.rpartition(".")[0])
        table = catalog.create_table_if_not_exists(name, schema=rows.schema)
        numbers = (table.properties.get(_property(writer)) for writer in writers)
        last = next((int(number) for number in numbers if number is not None), None)
        if not is_next(batch, last, name):
            return None
        schemas = table.schema().as_arrow(), rows.schema
        check_columns(name, *(kinds_of(schema, " not null") for schema in schemas))
        return table


def _widened(rows: "pa.Table") -> "pa.Table":
    """Rows whose integers have a width that Iceberg has: 32 or 64 bits."""
    import pyarrow as pa

    from beamlike.runtime.row_metadata import with_parts

    def widened(dtype: "pa.DataType") -> "pa.DataType":
        match value_type(dtype):
            case "int" if dtype.bit_width < 32:
                return pa.int32()
            case "list":
                dtype = pa.list_(dtype.value_field)
        return with_parts(dtype, widened)

    return rows.cast(pa.schema([field.with_type(widened(field.type)) for field in rows.schema]))


def _has_struct(dtype: "pa.DataType") -> bool:
    from beamlike.runtime.row_metadata import types_in

    return any(value_type(part) == "struct" for part in types_in(dtype))


def _loses_null(value: Any, dtype: "pa.DataType") -> bool:
    """Whether a list or map that may have structs inside is null somewhere in a value."""
    held, items = value_type(dtype), item_types(dtype)
    if held in ("list", "map"):
        if value is None:
            return _has_struct(dtype)
        rows = value if held == "map" else ((item,) for item in value)
        return any(_loses_null(*pair) for row in rows for pair in zip(row, items, strict=True))
    if held == "struct" and value is not None:
        return any(_loses_null(value[field.name], field.type) for field in dtype)
    return False


def _property(writer: str) -> str:
    return f"beamlike.batch.{writer}"


def _numbered(writer: str, batch: Batch) -> dict[str, str]:
    return {_property(writer): str(batch.number)}
