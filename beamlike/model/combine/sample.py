"""A sample that is random over the elements, and the same for the same elements."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import attrs

from beamlike.errors import CombineError
from beamlike.model.combine.base import ExactMerge, Items, Listing
from beamlike.model.combine.plain import digest
from beamlike.model.options import whole_number


@attrs.frozen
class Sample(Listing, ExactMerge):
    """``n`` elements drawn without replacement, each as likely as any other.

    Each element has a place in line, a hash of the seed, its value and its event time, and the
    first ``n`` in line are the sample, in that order. So the same elements give the same sample:
    on every host, on every replay, in any order of arrival, however they are cut into bundles and
    windows. Another seed gives another sample.

    Elements of equal value and equal time share a place: all of them are drawn, or none, as far
    as there is room. Where elements must be distinguished, sample values that differ, with an id
    in them. Equal values are those of Python: 1 and 1.0 are equal, and all NaN are.

    The sample of an accumulating pane changes as little as it must: an element that is left out
    once never comes back. Empty pane: the empty list.

    Args:
        n: How many at most, 1 or more.
        seed: Any whole number.
        keep_nulls: Whether a null value can be drawn. `beamlike.sample` leaves it out.

    Raises:
        CombineError: ``n`` is no whole number of 1 or more, ``seed`` is no whole number; in
            ``add``, a value is not plain data.

    Source: Beam ``Sample.fixedSizePerKey``, Scio ``sampleByKey``; theirs differ from run to run.

    >>> fn = Sample(9)
    >>> fn.extract(fn.add(fn.create(), ["tea", "tea", "tea"], [0, 0, 0]))
    ['tea', 'tea', 'tea']
    """

    scio_operation = "sampleByKey"

    n: int
    seed: int = 0
    keep_nulls: bool = True

    def __attrs_post_init__(self) -> None:
        whole_number(self.n, 1, "Sample n", CombineError)
        if not isinstance(self.seed, int):
            raise CombineError(f"Sample seed must be a whole number such as 0, got {self.seed!r}")

    def add(self, accumulator: Items, values: Sequence[Any], timestamps: Sequence[int]) -> Items:
        placed = tuple(
            (digest(value, f"{self.seed}|{timestamp}"), value)
            for value, timestamp in zip(values, timestamps, strict=True)
            if self.keep_nulls or value is not None
        )
        return self.merge(accumulator, placed)

    def merge(self, first: Items, second: Items) -> Items:
        return tuple(sorted(first + second, key=itemgetter(0))[: self.n])

    def extract(self, accumulator: Items) -> list[Any]:
        return [value for _, value in accumulator]
