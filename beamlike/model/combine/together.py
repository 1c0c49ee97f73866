"""Several combine functions over one pane."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import attrs

from beamlike.model.combine.base import CombineFn, EmptyPane


@attrs.frozen
class Together(CombineFn):
    """Several combine functions over one pane, each fed by its own part of the element.

    Elements are tuples; ``parts`` maps an output name to the function and to its input: a
    position in that tuple, a tuple of positions (the function is given tuples of these), or None
    (it needs no input). Accumulators and results are tuples in the order of ``parts``. An empty
    pane gives what each part gives.

    >>> from beamlike.combine_fns import Count, Max
    >>> fn = Together({"rows": (Count(), None), "dearest": (Max(), 1)})
    >>> fn.extract(fn.add(fn.create(), [("tea", 2), ("cake", 5)], [0, 0]))
    (2, 5)
    """

    parts: Mapping[str, tuple[CombineFn, int | tuple[int, ...] | None]]

    def create(self) -> tuple[Any, ...]:
        return tuple(fn.create() for fn, _ in self.parts.values())

    def add(
        self, accumulator: tuple[Any, ...], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Any, ...]:
        return tuple(
            fn.add(part, _inputs(values, source), timestamps)
            for part, (fn, source) in zip(accumulator, self.parts.values(), strict=True)
        )

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        pairs = zip(self._pairs(first), second, strict=True)
        return tuple(fn.merge(part, later) for (fn, part), later in pairs)

    def compact(self, accumulator: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(fn.compact(part) for fn, part in self._pairs(accumulator))

    def extract(self, accumulator: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(fn.extract(part) for fn, part in self._pairs(accumulator))

    def _pairs(self, accumulator: tuple[Any, ...]) -> Iterator[tuple[CombineFn, Any]]:
        """Each function with its part of an accumulator."""
        return zip((fn for fn, _ in self.parts.values()), accumulator, strict=True)

    def method_name(self, method: str) -> str:
        names = {fn.method_name(method) for fn, _ in self.parts.values()} - {""}
        return " or ".join(sorted(names)) or method

    def combines_early(self, types: Set[type]) -> bool:
        return all(fn.combines_early(types) for fn, _ in self.parts.values())

    @property
    def evicts(self) -> bool:
        return any(fn.evicts for fn, _ in self.parts.values())

    def after_pane(self, accumulator: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(fn.after_pane(part) for fn, part in self._pairs(accumulator))

    @property
    def on_empty(self) -> EmptyPane:
        raises = any(fn.on_empty.scio_raises for fn, _ in self.parts.values())
        return EmptyPane(self.extract(self.create()), raises, None)


def _inputs(values: Sequence[Any], source: int | tuple[int, ...] | None) -> Sequence[Any]:
    match source:
        case None:
            return values
        case int():
            return [value[source] for value in values]
    return [tuple(value[position] for position in source) for value in values]
