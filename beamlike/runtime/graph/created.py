"""Elements that are there from the start, as a source has them: each is made when it is read."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import attrs

from beamlike.machine.events import Element
from beamlike.model.bundle import BUNDLE_SIZE


@attrs.frozen(eq=False)
class CreatedElements(Sequence[tuple[Hashable, Element]]):
    """Elements for `beamlike.runtime.script.Arrive`, without a key.

    Args:
        values: What they are made of.
        element_of: Makes one of them.
    """

    values: Sequence[Any]
    element_of: Callable[[Any], Element]

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[tuple[Hashable, Element]]:
        return ((None, self.element_of(value)) for value in self.values)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return CreatedElements(self.values[index], self.element_of)
        return None, self.element_of(self.values[index])


def in_parts(
    elements: Sequence[tuple[Hashable, Element]],
) -> Iterator[Sequence[tuple[Hashable, Element]]]:
    """Elements that arrive together, in parts as they go through a pipeline."""
    for start in range(0, len(elements), BUNDLE_SIZE):
        yield elements[start : start + BUNDLE_SIZE]
