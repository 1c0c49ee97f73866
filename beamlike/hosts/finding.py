"""Which host has the rows of a query."""

from typing import TYPE_CHECKING, Final

from beamlike.errors import ColumnError, UnsupportedError
from beamlike.hosts.frames import Frames

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_IN_FLOW: Final = "ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION"


def frames_of(df: object) -> Frames:
    """The operations of the host that has these rows.

    Raises:
        ColumnError: They are no rows.
        UnsupportedError: This is the function of a flow, in which Spark answers nothing.
        EnvironmentProblem: This PySpark cannot run a query.
    """
    from beamlike.hosts.spark import session

    session.check_spark_version()
    from pyspark.sql import DataFrame

    from beamlike.hosts.local.tables.frame import TableFrame

    if isinstance(df, DataFrame):
        _check_outside_of_flow(df)
        from beamlike.hosts.spark.verbs import SparkFrames

        return SparkFrames()
    if isinstance(df, TableFrame):
        from beamlike.hosts.local.tables.verbs import TableFrames

        return TableFrames()
    raise ColumnError(f"df must be a DataFrame of Spark, got {df!r}")


def _check_outside_of_flow(df: "DataFrame") -> None:
    """Refuse a flow of Spark Declarative Pipelines, where nothing can be asked of a DataFrame.

    Raises:
        UnsupportedError: It is one.
    """
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
