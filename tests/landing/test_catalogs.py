"""Which errors of Spark's catalogs are tried again; `tests.catalogs` has such catalogs."""

from unittest.mock import MagicMock

import pytest

from beamlike.hosts.landing.catalogs import _ATTEMPTS, SparkTable, _Catalog


class ConcurrentAppendException(Exception):
    """As Delta Lake names it."""


def commit(statements: MagicMock, table: str) -> None:
    """Commit to a table in a session in which each attempt gives what a mock does."""
    _Catalog(MagicMock(sql=statements), SparkTable(table)).commit(f"DELETE FROM {table}")


CONFLICTS = [
    ConcurrentAppendException("Files were added by a concurrent update"),
    RuntimeError("[DELTA_CONCURRENT_APPEND.WITHOUT_HINT] Transaction conflict detected"),
    RuntimeError("org.apache.iceberg.exceptions.CommitFailedException: Version 7 already exists"),
    RuntimeError("ValidationException: Found conflicting files that can contain records"),
]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beamlike.hosts.landing.catalogs.time.sleep", lambda seconds: None)


@pytest.mark.parametrize("error", CONFLICTS, ids=lambda error: str(error)[:20])
def test_a_commit_that_another_writer_came_before_is_tried_again(error: Exception) -> None:
    statements = MagicMock(side_effect=[error, error, MagicMock()])
    commit(statements, "visits")
    assert statements.call_count == 3


def test_a_commit_is_not_tried_for_ever() -> None:
    statements = MagicMock(side_effect=CONFLICTS[0])
    with pytest.raises(ConcurrentAppendException):
        commit(statements, "visits")
    assert statements.call_count == _ATTEMPTS


def test_another_error_is_not_tried_again_whatever_the_table_is_called() -> None:
    problem = RuntimeError("there is no table stale.concurrent_visits")
    statements = MagicMock(side_effect=problem)
    with pytest.raises(RuntimeError, match="no table"):
        commit(statements, "stale.concurrent_visits")
    assert statements.call_count == 1
