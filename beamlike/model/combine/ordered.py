"""What depends on order: lists, the first and the last in time, the greatest and the least."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence, Set
from operator import itemgetter
from typing import Any

import attrs

from beamlike.errors import CombineError
from beamlike.model.combine.base import ExactMerge, Items, Listing, Stamped
from beamlike.model.combine.folds import rank
from beamlike.model.copies import own_copy
from beamlike.model.options import whole_number


@attrs.frozen
class Collect(Listing):
    """All values as a list, in no guaranteed order. Empty pane: the empty list.

    Args:
        keep_nulls: Whether a null value is an item. Beam keeps it; SQL's ``collect_list``,
            and so `beamlike.collect`, leaves it out.

    >>> fn = Collect()
    >>> fn.extract(fn.add(fn.create(), [5, None, 7], [0, 0, 0]))
    [5, None, 7]
    """

    scio_operation = "groupByKey"

    keep_nulls: bool = True

    def add(self, accumulator: Items, values: Sequence[Any], timestamps: Sequence[int]) -> Items:
        if self.keep_nulls:
            return (*accumulator, *values)
        return (*accumulator, *(value for value in values if value is not None))

    def merge(self, first: Items, second: Items) -> Items:
        return first + second

    def combines_early(self, types: Set[type]) -> bool:
        return False  # a list is as large as its items


@attrs.frozen
class CollectByTimestamp(Listing):
    """All values as a list ordered by event time, equal times in order of arrival.

    Empty pane: the empty list.

    >>> fn = CollectByTimestamp()
    >>> fn.extract(fn.add(fn.create(), ["tea", "milk", "salt"], [20, 10, 30]))
    ['milk', 'tea', 'salt']
    """

    scio_operation = "groupByKey"

    def add(self, accumulator: Items, values: Sequence[Any], timestamps: Sequence[int]) -> Items:
        return self.merge(accumulator, tuple(map(Stamped, values, timestamps)))

    def merge(self, first: Items, second: Items) -> Items:
        return tuple(sorted(first + second, key=lambda e: e.timestamp))

    def extract(self, accumulator: Items) -> list[Any]:
        return [e.value for e in accumulator]

    def combines_early(self, types: Set[type]) -> bool:
        return False  # a list is as large as its items


class _One(ExactMerge):
    """One element of all, chosen by its event time."""

    keep_nulls: bool

    @abstractmethod
    def _chosen(self, first: Stamped, second: Stamped) -> Stamped:
        """Which of two, the first of which arrived before the second."""

    def create(self) -> Stamped | None:
        return None

    def add(
        self, accumulator: Stamped | None, values: Sequence[Any], timestamps: Sequence[int]
    ) -> Stamped | None:
        for element in map(Stamped, values, timestamps):
            if self.keep_nulls or element.value is not None:
                accumulator = self.merge(accumulator, element)
        return accumulator

    def merge(self, first: Stamped | None, second: Stamped | None) -> Stamped | None:
        if first is None or second is None:
            return second if first is None else first
        return self._chosen(first, second)

    def extract(self, accumulator: Stamped | None) -> Any:
        return None if accumulator is None else accumulator.value


@attrs.frozen
class First(_One):
    """The value with the least event time, the first to arrive among equals. Empty pane: null.

    Which of two parts arrived first is known within a window. When windows merge, the part of
    the earlier window counts as first.

    Args:
        keep_nulls: Whether a null value can be the first. `beamlike.first` passes over it.

    Source: the mirror image of Beam's ``Latest``; Beam has no such function.

    >>> fn = First()
    >>> fn.extract(fn.add(fn.create(), ["tea", "milk", "salt"], [20, 10, 30]))
    'milk'
    """

    keep_nulls: bool = True

    def _chosen(self, first: Stamped, second: Stamped) -> Stamped:
        return second if second.timestamp < first.timestamp else first


@attrs.frozen
class Latest(_One):
    """The value with the greatest event time, the last to arrive among equals. Empty pane: null.

    Which of two parts arrived last is known within a window. When windows merge, the part of
    the later window counts as last.

    Args:
        keep_nulls: Whether a null value can be the last. `beamlike.last` passes over it.

    Source: Beam ``Latest``, Scio ``latestByKey``. Beam chooses any among equals.

    >>> fn = Latest()
    >>> fn.extract(fn.add(fn.create(), ["tea", "milk", "salt"], [20, 10, 30]))
    'salt'
    """

    scio_operation = "latestByKey"

    keep_nulls: bool = True

    def _chosen(self, first: Stamped, second: Stamped) -> Stamped:
        return first if first.timestamp > second.timestamp else second


Last = Latest
"""The same as `Latest`, to go with `First`."""


@attrs.frozen
class Top(Listing, ExactMerge):
    """The ``n`` greatest values, the greatest first; equal ones in order of arrival.

    Null is left out, or with ``by`` every value for which that is null. NaN is greater than all
    numbers, as in SQL. Empty pane: the empty list.

    Args:
        n: How many at most, 1 or more.
        by: From a value to what is compared in its place; None compares the values. To save and
            compare the function, let it be one at the top of a module.
        smallest: The least values instead, the least first; NaN comes last.

    Raises:
        CombineError: ``n`` is no whole number of 1 or more, or ``by`` cannot be called.

    Source: Beam ``Top.of``, ``Top.largestPerKey``, ``Top.smallestPerKey``; Scio ``topByKey``.
    Beam chooses any among equals.

    >>> top = Top(2, by=len)
    >>> top.extract(top.add(top.create(), ["a", "ccc", "bb", "dd"], [0, 0, 0, 0]))
    ['ccc', 'bb']
    """

    scio_operation = "topByKey"

    n: int = attrs.field()
    by: Callable[[Any], Any] | None = None
    smallest: bool = attrs.field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        whole_number(self.n, 1, "Top n", CombineError)
        if self.by is not None and not callable(self.by):
            raise CombineError(
                "Top by must be a function from a value to what is compared, such as "
                f"operator.itemgetter(1), got {self.by!r}"
            )

    def add(self, accumulator: Items, values: Sequence[Any], timestamps: Sequence[int]) -> Items:
        present = (value for value in values if self._compared(value) is not None)
        return self._best((*accumulator, *present))

    def merge(self, first: Items, second: Items) -> Items:
        return self._best((*first, *second))

    def _compared(self, value: Any) -> Any:
        return value if self.by is None else self.by(own_copy(value))

    def _best(self, values: Iterable[Any]) -> Items:
        def place(value: Any) -> tuple[bool, Any]:
            return rank(self._compared(value))

        # Sorting keeps the order of equal values, also in reverse.
        return tuple(sorted(values, key=place, reverse=not self.smallest)[: self.n])


class _TopPairs(Listing, ExactMerge):
    """Pairs of a value and of what is compared: those that a `Top` keeps."""

    n: int
    smallest: bool
    _top: Top

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "_top", Top(self.n, itemgetter(1), smallest=self.smallest))

    def add(self, accumulator: Items, values: Sequence[Any], timestamps: Sequence[int]) -> Items:
        return self._top.add(accumulator, values, ())

    def merge(self, first: Items, second: Items) -> Items:
        return self._top.merge(first, second)


@attrs.frozen
class TopBy(_TopPairs):
    """The values that belong to the ``n`` greatest of something else.

    Elements are pairs of a value and of what is compared; the result is the list of values, that
    of the greatest first, equal ones in order of arrival. Pairs with a null are left out. NaN is
    greater than all numbers. Empty pane: the empty list.

    Args:
        n: How many at most, 1 or more.
        smallest: Those of the least instead, that of the least first.

    Raises:
        CombineError: ``n`` is no whole number of 1 or more.

    Source: Beam ``Top.of`` with a comparator; Scio ``topByKey`` with an ordering.

    >>> fn = TopBy(2)
    >>> fn.extract(fn.add(fn.create(), [("tea", 2), ("cake", 5), ("milk", 3)], [0, 0, 0]))
    ['cake', 'milk']
    """

    scio_operation = "topByKey"

    n: int
    smallest: bool = attrs.field(default=False, kw_only=True)
    _top: Top = attrs.field(init=False, repr=False, eq=False)

    def add(self, accumulator: Items, values: Sequence[Any], timestamps: Sequence[int]) -> Items:
        return super().add(accumulator, [pair for pair in values if pair[0] is not None], ())

    def extract(self, accumulator: Items) -> list[Any]:
        return [value for value, _ in accumulator]


@attrs.frozen
class ValueAtExtreme(_TopPairs):
    """The value that belongs to the greatest of something else.

    Elements are pairs of a value, which may be null, and of what is compared. A pair in which that
    is null is left out. Of equal ones the first to arrive counts, and NaN is greater than all
    numbers. Empty pane: None.

    Args:
        smallest: That of the least instead.

    Source: Spark ``max_by`` and ``min_by``.

    >>> fn = ValueAtExtreme()
    >>> fn.extract(fn.add(fn.create(), [("tea", 2), ("cake", 5), ("milk", 3)], [0, 0, 0]))
    'cake'
    """

    n = 1
    smallest: bool = attrs.field(default=False, kw_only=True)
    _top: Top = attrs.field(init=False, repr=False, eq=False)

    def extract(self, accumulator: Items) -> Any:
        return accumulator[0][0] if accumulator else None
