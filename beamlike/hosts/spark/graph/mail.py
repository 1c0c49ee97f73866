"""What travels through the query: elements with an address, what clocks tell, what came out."""

from collections.abc import Iterable
from typing import Any, Self

import attrs
import cloudpickle

from beamlike.hosts.metrics import Recorder
from beamlike.machine.events import Drop, Element
from beamlike.model.graph import Windowed

__all__ = ["Addressed", "Arriving", "Came", "Lost", "Mail", "Out", "Reached"]


@attrs.frozen
class Out:
    """An element that has come out of a node, by the output with this tag."""

    node: int
    tag: str
    element: Windowed


@attrs.frozen
class Addressed:
    """An element on its way to a node of a later layer, as an element of one of its sources."""

    node: int
    source: int
    element: Windowed


@attrs.frozen
class Arriving:
    """An element for the machine of a node, with its key in bytes."""

    node: int
    key: bytes
    element: Element


@attrs.frozen
class Reached:
    """How far a source, or a shard of a node that keeps state, has come: its watermark (ms).

    For a source that does not tell its watermark, the greatest event time (ms) in some rows.
    """

    node: int
    shard: int
    watermark: int


@attrs.frozen
class Came:
    """An element that is wanted from the query, by the position of the wanted edge."""

    wanted: int
    element: Windowed


@attrs.frozen
class Lost:
    """An element that a node dropped."""

    node: int
    key: Any
    drop: Drop


@attrs.define
class Mail:
    """Everything that goes one way in a micro-batch, or a part of it.

    ``clock`` is processing time (ms) as the scripts of some sources tell it; where nobody does,
    Spark's counts. ``order`` puts the letters to one receiver in order. In ``metrics`` a node goes
    by its number, because pipelines that run side by side may give one name twice.
    """

    out: list[Out] = attrs.field(factory=list)
    addressed: list[Addressed] = attrs.field(factory=list)
    arriving: list[Arriving] = attrs.field(factory=list)
    reached: list[Reached] = attrs.field(factory=list)
    came: list[Came] = attrs.field(factory=list)
    lost: list[Lost] = attrs.field(factory=list)
    metrics: Recorder = attrs.field(factory=Recorder)
    clock: dict[int, int] = attrs.field(factory=dict)
    order: int = 0

    def dump(self) -> bytes:
        """As a letter."""
        return cloudpickle.dumps(self)  # type: ignore[no-any-return]

    @classmethod
    def load(cls, letters: Iterable[bytes]) -> Self:
        """All letters as one, in their order."""
        whole = cls()
        ones: list[Self] = [cloudpickle.loads(letter) for letter in letters]
        for one in sorted(ones, key=lambda one: one.order):
            whole.out += one.out
            whole.addressed += one.addressed
            whole.arriving += one.arriving
            whole.reached += one.reached
            whole.came += one.came
            whole.lost += one.lost
            whole.metrics.merge(one.metrics)
            whole.clock |= one.clock
        return whole
