"""Which host has the rows of a query."""

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from beamlike.errors import ColumnError, UnsupportedError
from beamlike.extras import needs
from beamlike.safe_text import short_repr

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql import types as T

    from beamlike.hosts.frames import Frames

_IN_FLOW: Final = "ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION"
_TABLES: Final = ("Table", "RecordBatch")


def opened(rows: object) -> Any:
    """Rows of a user's as a frame of the host that has them: a table of pyarrow becomes one."""
    if not _is_of("pyarrow", _TABLES, rows):
        return rows
    needs("a query of a table", "local")
    from beamlike.hosts.local.tables.query import frame_of

    return frame_of(rows)


def frames_of(frame: Any) -> "Frames":
    """The operations of the host that has a frame.

    Raises:
        ColumnError: It is not a frame.
        UnsupportedError: This is the function of a flow, in which Spark answers nothing.
        EnvironmentProblem: This PySpark cannot run a query; or neither Spark nor pyarrow is here.
    """
    if _is_of("pyspark.sql", ("DataFrame",), frame):
        from beamlike.hosts.spark import session

        session.check_spark_version()
        _check_outside_of_flow(frame)
        from beamlike.hosts.spark.verbs import SparkFrames

        return SparkFrames.of(frame)
    if not all(map(find_spec, ("numpy", "pyarrow"))):
        needs("the Spark host", "spark")  # nothing here has rows
    from beamlike.hosts.local.tables.frame import TableFrame

    if isinstance(frame, TableFrame):
        from beamlike.hosts.local.tables.verbs import TableFrames

        return frame.query.port or TableFrames()
    raise ColumnError(
        f"df must be a DataFrame of Spark or a Table of pyarrow, got {short_repr(frame)}"
    )


def is_struct_type(columns: object) -> TypeGuard["T.StructType"]:
    """Whether columns are described in types of Spark."""
    return _is_of("pyspark.sql.types", ("StructType",), columns)


def _is_of(module: str, names: tuple[str, ...], rows: object) -> bool:
    """Whether rows are of one of some classes. Who has such rows has imported their module."""
    known = sys.modules.get(module)
    return known is not None and isinstance(rows, tuple(getattr(known, name) for name in names))


def _check_outside_of_flow(df: "DataFrame") -> None:
    """Refuse a flow of Spark Declarative Pipelines, where nothing can be asked of a DataFrame."""
    from pyspark.errors import PySparkException

    try:
        _ = df.isStreaming
    except PySparkException as error:
        if error.getCondition() != _IN_FLOW:
            raise
        raise UnsupportedError(
            "the function of a flow of Spark Declarative Pipelines may not ask Spark for a schema, "
            "and beamlike has to: make the DataFrame at the top of the file, "
            "panes = bl.windowed(...), and let the function return it"
        ) from error
