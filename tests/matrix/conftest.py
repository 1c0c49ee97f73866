"""How Spark runs the queries of the matrix."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def wide_queries(spark: Any) -> Iterator[None]:
    """Queries of hundreds of columns over few rows: to compile them takes longer than to run them.

    And Spark has a type for times of day where it is asked to.
    """
    wanted = {
        "spark.sql.timeType.enabled": "true",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    for name, value in wanted.items():
        spark.conf.set(name, value)
    yield
    for name in wanted:
        spark.conf.unset(name)
