"""The scripts of all sources of a graph as one sequence of steps.

Sources that end by themselves come first, each in one step. Those that report a watermark take
turns, one event each; Beam does not define which of several comes first.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from beamlike.errors import UnsupportedError
from beamlike.machine.events import AdvanceClock, Element
from beamlike.model.bundle import BUNDLE_SIZE
from beamlike.model.graph import Node, ReadNode
from beamlike.runtime.script import Script, ScriptStep


@attrs.frozen
class SourceStep:
    """The events of one source in a step, and processing time after it."""

    source: ReadNode | None
    """None: only time passes."""
    events: tuple[ScriptStep, ...]
    clock: int
    """Processing time in ticks of the graph, which all sources share."""


def steps_of(nodes: Iterable[Node]) -> Iterator[SourceStep]:
    """Everything that happens to the sources among these nodes, in order.

    Raises:
        UnsupportedError: A source has an origin that is not a script.
    """
    sources = [node for node in nodes if isinstance(node, ReadNode)]
    scripts = {source: _script_of(source) for source in sources}
    clock, clocks = 0, dict.fromkeys(sources, 0)
    for source, events in _one_after_another(scripts):
        for event in events:
            if isinstance(event, AdvanceClock):
                # Each moves the clock on, independently of the others.
                clock += event.to - clocks[source]
                clocks[source] = event.to
        yield SourceStep(source, events, clock)


def _one_after_another(scripts: Mapping[ReadNode, Script]) -> Iterator[tuple[ReadNode, Script]]:
    for source, script in scripts.items():
        if source.bounded:
            yield source, script
    unbounded = [(source, script) for source, script in scripts.items() if not source.bounded]
    for index in range(max((len(script) for _, script in unbounded), default=0)):
        for source, script in unbounded:
            if index < len(script):
                yield source, script[index : index + 1]


def _script_of(source: ReadNode) -> Script:
    if not isinstance(source.origin, tuple):
        raise UnsupportedError(
            f"{source.label!r} reads {type(source.origin).__name__}, which only Spark can; run "
            "the pipeline on Spark, or give it elements with Create or a test stream"
        )
    return source.origin


@attrs.frozen(eq=False)
class CreatedElements(Sequence[tuple[Hashable, Element]]):
    """Elements for `beamlike.runtime.script.Arrive`, without a key.

    Args:
        values: The values that elements are made of.
        element_of: Makes an element of a value.
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
    """Elements that arrive together, in parts of the size in which they go through a pipeline."""
    for start in range(0, len(elements), BUNDLE_SIZE):
        yield elements[start : start + BUNDLE_SIZE]
