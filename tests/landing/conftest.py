"""A database server for all tests of this folder, and a place in each sort of table."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.landing.places import Place, places
from tests.support.landing.servers import postgres_server

KINDS = (
    *("sqlite", "duckdb", "postgres", "delta", "iceberg"),
    pytest.param("jdbc", marks=[pytest.mark.spark, pytest.mark.nightly]),
)
_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with postgres_server() as connection:
        yield connection


@pytest.fixture(params=KINDS)
def table(request: pytest.FixtureRequest) -> str:
    """The name of a table that no test has used."""
    return f"of_{request.param}_{next(_NUMBERS)}"


@pytest.fixture
def place(table: str, tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    """The table, which is not there yet."""
    sort = table.split("_")[1]
    server = request.getfixturevalue("server") if sort == "postgres" else None
    if sort == "jdbc":
        request.getfixturevalue("spark")
    return places(sort, tmp_path, table, server)
