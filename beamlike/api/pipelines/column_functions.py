"""Functions that are known not to look at elements one by one: columns stay columns."""

from collections.abc import Callable
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

from beamlike.model.bundle import Bundle
from beamlike.model.column_bundle import Column, ColumnBundle, PairsColumn

T = TypeVar("T")


def with_no_key(v: T) -> tuple[tuple[()], T]:
    """A pair of the key that all elements share, and an element."""
    return (), v


def with_no_value(key: T) -> tuple[T, None]:
    """A pair of an element as its key, and nothing."""
    return key, None


def made_of_columns(called: Callable[..., Any], bundle: Bundle) -> ColumnBundle | None:
    """What a function makes of a bundle of columns; None if it has to be called.

    ``operator.attrgetter("price")`` and ``operator.itemgetter("price")`` take a column of rows.
    """
    if not isinstance(bundle, ColumnBundle):
        return None
    if called is with_no_key:
        return bundle.with_column(PairsColumn((), bundle.column))
    if isinstance(called, attrgetter | itemgetter):
        reduced: Any = called.__reduce__()  # no other attribute has the names
        names = reduced[1]
        pick: Callable[[Any], Column | None] = getattr(bundle.column, "picked", lambda _name: None)
        picked = pick(names[0]) if len(names) == 1 and isinstance(names[0], str) else None
        return None if picked is None else bundle.with_column(picked)
    return None
