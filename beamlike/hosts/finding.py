"""Which host has the rows of a query."""

from beamlike.errors import ColumnError
from beamlike.hosts.frames import Frames

__all__ = ["frames_of"]


def frames_of(df: object) -> Frames:
    """The operations of the host that has these rows.

    Raises:
        ColumnError: They are no rows.
        EnvironmentProblem: This PySpark cannot run a query.
    """
    from beamlike.hosts.spark import session

    session.check_spark_version()
    from pyspark.sql import DataFrame

    from beamlike.hosts.local.tables.frame import TableFrame

    if isinstance(df, DataFrame):
        from beamlike.hosts.spark.verbs import SparkFrames

        return SparkFrames()
    if isinstance(df, TableFrame):
        from beamlike.hosts.local.tables.verbs import TableFrames

        return TableFrames()
    raise ColumnError(f"df must be a DataFrame of Spark, got {df!r}")
