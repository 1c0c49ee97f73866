"""Aggregates for DataFrames: what `beamlike.windowed` computes for each pane.

As in SQL, a null value does not count, add up or get collected. An empty pane shows 0 for
counts and sums, null for means and extremes, the empty list for collections.
"""

from typing import Literal

import attrs

__all__ = ["Aggregate", "collect", "count", "max", "mean", "min", "sum"]

Kind = Literal["count", "sum", "mean", "min", "max", "collect"]


@attrs.frozen
class Aggregate:
    """One aggregate over one column; None counts rows."""

    kind: Kind
    column: str | None = None


def count(column: str | None = None) -> Aggregate:
    """How many rows, or with a column how many values that are not null. Type: bigint."""
    return Aggregate("count", column)


def sum(column: str) -> Aggregate:
    """The sum of a numeric column. Type: bigint, decimal(38, scale) or double."""
    return Aggregate("sum", column)


def mean(column: str) -> Aggregate:
    """The mean of a numeric column. Type: double."""
    return Aggregate("mean", column)


def min(column: str) -> Aggregate:
    """The least value of a column. Type: the column's."""
    return Aggregate("min", column)


def max(column: str) -> Aggregate:
    """The greatest value of a column. Type: the column's."""
    return Aggregate("max", column)


def collect(column: str) -> Aggregate:
    """All values of a column, in no promised order. Type: array of the column's type."""
    return Aggregate("collect", column)
