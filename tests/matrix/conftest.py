"""How Spark runs the queries of the matrix."""

from collections.abc import Callable

import pytest


@pytest.fixture(autouse=True)
def wide_queries(setting: Callable[[str, str], None]) -> None:
    """Queries of hundreds of columns over few rows: to compile them takes longer than to run them.

    And Spark has a type for times of day where it is asked to.
    """
    setting("spark.sql.timeType.enabled", "true")
    setting("spark.sql.codegen.wholeStage", "false")
    setting("spark.sql.codegen.factoryMode", "NO_CODEGEN")
