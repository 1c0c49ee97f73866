"""Combine functions of users, kept apart from everything else that holds what they are given."""

from collections.abc import Sequence
from typing import Any

import attrs

from beamlike.model.combine.base import Around, CombineFn, EmptyPane
from beamlike.model.combine.together import Together
from beamlike.model.copies import is_of_user, own_copies, own_copy, with_fields


@attrs.frozen
class Isolated(Around):
    """A combine function that is given copies of all elements and accumulators.

    Whatever it changes in place, the elements of other aggregates and windows, and accumulators
    that stand, are as they were: also those of a call that raised, which is made again.
    """

    of: CombineFn

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        return self.of.add(own_copy(accumulator), own_copies(values), timestamps)

    def merge(self, first: Any, second: Any) -> Any:
        return self.of.merge(own_copy(first), own_copy(second))

    def compact(self, accumulator: Any) -> Any:
        return self.of.compact(own_copy(accumulator))

    def extract(self, accumulator: Any) -> Any:
        return self.of.extract(own_copy(accumulator))

    def after_pane(self, accumulator: Any) -> Any:
        return self.of.after_pane(own_copy(accumulator))

    @property
    def on_empty(self) -> EmptyPane:
        return self.of.on_empty

    def __str__(self) -> str:
        return str(self.of)


def isolated(fn: CombineFn) -> CombineFn:
    """A combine function as machines call it: what users wrote of it gets copies.

    What beamlike has leaves elements and accumulators as they are.
    """
    if is_of_user(fn) or fn.calls_users:
        return Isolated(fn)
    if isinstance(fn, Together):
        parts = {name: (isolated(part), source) for name, (part, source) in fn.parts.items()}
        known = (part for part, _ in fn.parts.values())
        if all(part is before for (part, _), before in zip(parts.values(), known, strict=True)):
            return fn
        return with_fields(fn, parts=parts)
    if isinstance(fn, Around):
        inner = isolated(fn.of)
        return fn if inner is fn.of else with_fields(fn, of=inner)
    return fn
