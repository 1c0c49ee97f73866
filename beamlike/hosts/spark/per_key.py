"""Binds a function with states and timers to the columns of a DataFrame."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import types as T

from beamlike.errors import ColumnError
from beamlike.hosts.spark.bind import check_names, key_types
from beamlike.hosts.spark.inputs import Input, arrow_type, check_free, type_of
from beamlike.model.stateful import StatefulFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.per_key import PerKey, Returned
from beamlike.runtime.plan import Plan, PlanOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MakeFn = Callable[[Returned], StatefulFn]
"""The function, once it is known what its results have to be."""


def bind_per_key(
    df: "DataFrame",
    strategy: WindowingStrategy,
    key: Sequence[str],
    columns: Sequence[str],
    fn: MakeFn,
    returns: T.StructType,
    pane: str | None,
    options: PlanOptions,
) -> tuple[Plan, dict[str, Input]]:
    """The plan of a function with states and timers, and its inputs by value name.

    Args:
        strategy: Their windows.
        key: The columns of the key.
        columns: The columns that the function sees, those of the key among them.
        fn: Makes the function.
        returns: The columns of its results.
        pane: The column with the pane of a grouping before, if it is there.

    Raises:
        ColumnError: A column is missing, has an unusable type, or a name is taken twice.
        WindowingError: The windows merge.
    """
    keys = key_types(df, key)
    check_free(df, returns.names, "returns")
    inputs = {name: Input(name, type_of(df, name, "columns"), cast=False) for name in columns}
    values = {name: arrow_type(given.kind, name, "columns") for name, given in inputs.items()}
    results = {it.name: arrow_type(it.dataType, it.name, "returns") for it in returns.fields}
    returned = Returned(
        results,
        {it.name: it.dataType.simpleString() for it in returns.fields},
        frozenset(it.name for it in returns.fields if not it.nullable),
        tuple(key),
    )
    on_error = options.get("on_error", "drop")
    does = PerKey(fn(returned), strategy, values, results, pane, on_error)
    plan = Plan(strategy, keys, values, (), does=does, **options)
    check_names(df, plan, "give the column of returns another name")
    return plan, inputs


def read_schema(df: "DataFrame", returns: object) -> T.StructType:
    """The columns of results, as their user declares them.

    Raises:
        ColumnError: They cannot be read, or there is none.
    """
    from beamlike.hosts.local.tables.ddl import read_columns
    from beamlike.hosts.local.tables.frame import TableFrame

    example = 'such as returns="n int, total double", or a StructType'
    kind: object = returns
    if isinstance(returns, str):
        try:
            kind = read_columns(returns) if isinstance(df, TableFrame) else _of_spark(returns)
        except (PySparkException, ColumnError) as error:
            raise ColumnError(
                f"returns={returns!r} are no columns that Spark can read; write names and types, "
                f"{example}"
            ) from error
    if not isinstance(kind, T.StructType) or not kind.fields:
        raise ColumnError(
            f"returns must say the columns of the results, {example}, got {returns!r}"
        )
    return kind


def _of_spark(text: str) -> T.DataType:
    return T.DataType.fromDDL(text)
