"""What travels through the query: elements with an address, what clocks tell, what came out.

A letter is one pickle of columns: an object for each element would take longer than everything
else that is done with it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Final, Self

import attrs

from beamlike.hosts.metrics import Recorder
from beamlike.hosts.spark.graph.noting import Noted
from beamlike.hosts.spark.graph.tally import Tally
from beamlike.hosts.wire import Wire
from beamlike.machine.events import Drop
from beamlike.machine.jumps import Delivered
from beamlike.model.graph import Windowed
from beamlike.model.panes import PaneInfo
from beamlike.model.windows import Window, bounds, window_of

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
    """An element for the machine of a node, with its key and its value in bytes."""

    node: int
    key: bytes
    value: bytes
    timestamp: int
    """Event time, ms."""
    window: Window | None
    comes_first: bool
    """Whether it comes before the others of a micro-batch."""


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
    by its number, because pipelines that run side by side may give one name twice. ``tallies``
    has what nodes count, by their numbers, and ``noted`` what happened inside of groupings, if
    somebody wants to see that. ``delivered`` has the event times of rows, by the numbers of their
    sources.
    """

    out: list[Out] = attrs.field(factory=list)
    addressed: list[Addressed] = attrs.field(factory=list)
    arriving: list[Arriving] = attrs.field(factory=list)
    reached: list[Reached] = attrs.field(factory=list)
    came: list[Came] = attrs.field(factory=list)
    lost: list[Lost] = attrs.field(factory=list)
    metrics: Recorder = attrs.field(factory=Recorder)
    tallies: dict[int, Tally] = attrs.field(factory=dict)
    noted: list[Noted] = attrs.field(factory=list)
    delivered: list[Delivered] = attrs.field(factory=list)
    clock: dict[int, int] = attrs.field(factory=dict)
    order: int = 0

    def count(self, node: int, tally: Tally) -> None:
        """What a node, or a shard of it, counted."""
        known = self.tallies.get(node)
        self.tallies[node] = tally if known is None else known.with_other(tally)

    def dump(self, wire: Wire) -> bytes:
        """As a letter.

        Raises:
            CoderError: The value of an element cannot be bytes.
        """
        out, addressed, came, kept = self.out, self.addressed, self.came, self.arriving
        return wire.dumps(
            (
                ([it.node for it in out], [it.tag for it in out], _columns(out)),
                (
                    [it.node for it in addressed],
                    [it.source for it in addressed],
                    _columns(addressed),
                ),
                ([it.wanted for it in came], _columns(came)),
                (
                    [(it.node, it.key, it.value, it.timestamp, it.comes_first) for it in kept],
                    [None if it.window is None else bounds(it.window) for it in kept],
                ),
                [(it.node, it.shard, it.watermark) for it in self.reached],
                self.lost,
                self.metrics,
                {
                    node: (it.counts, it.stood, it.example, it.jump)
                    for node, it in self.tallies.items()
                },
                self.noted,
                self.delivered,
                self.clock,
                self.order,
            )
        )

    @classmethod
    def load(cls, letters: Iterable[bytes], wire: Wire) -> Self:
        """All letters as one, in their order.

        Raises:
            StateError: Something in them has no class or no coder here.
        """
        whole = cls()
        for one in sorted(map(wire.loads, letters), key=itemgetter(-1)):
            out, addressed, came, (arriving, spans), reached, lost, metrics, *more, clock, _ = one
            # Letters that wait in a checkpoint may be older than these.
            tallies, noted, delivered = list(more) + _LACKING[len(more) :]
            nodes, tags, columns = out
            whole.out += map(Out, nodes, tags, _elements(columns))
            nodes, sources, columns = addressed
            whole.addressed += map(Addressed, nodes, sources, _elements(columns))
            wanted, columns = came
            whole.came += map(Came, wanted, _elements(columns))
            window = _windows()
            whole.arriving += [
                Arriving(node, key, value, timestamp, None if span is None else window(span), first)
                for (node, key, value, timestamp, first), span in zip(arriving, spans, strict=True)
            ]
            whole.reached += [Reached(*each) for each in reached]
            whole.lost += lost
            whole.metrics.merge(metrics)
            for node, told in tallies.items():
                whole.count(node, Tally(*told))
            whole.noted += noted
            whole.delivered += delivered
            whole.clock |= clock
        return whole


_LACKING: Final[list[Any]] = [{}, [], []]
"""What letters did not always have."""

_Columns = tuple[list[Any], list[int], list[Any], list[int], list[PaneInfo]]


def _columns(those: Sequence[Out] | Sequence[Addressed] | Sequence[Came]) -> _Columns:
    """Elements as their values, event times, windows by their bounds, and panes by number."""
    elements = [it.element for it in those]
    panes: dict[PaneInfo, int] = {}
    numbers: list[int] = []
    last: PaneInfo | None = None
    number = 0
    for it in elements:
        if it.pane is not last:
            last = it.pane
            number = panes.setdefault(last, len(panes))
        numbers.append(number)
    return (
        [it.value for it in elements],
        [it.timestamp for it in elements],
        [tuple(map(bounds, it.windows)) for it in elements],
        numbers,
        list(panes),
    )


def _elements(columns: _Columns) -> Iterator[Windowed]:
    values, timestamps, spans, numbers, panes = columns
    window = _windows()
    for value, timestamp, spanned, number in zip(values, timestamps, spans, numbers, strict=True):
        yield Windowed(value, timestamp, tuple(map(window, spanned)), panes[number])


def _windows() -> Callable[[tuple[int, int]], Window]:
    """A window from its bounds: the same object for the same bounds, which are many."""
    known: dict[tuple[int, int], Window] = {}

    def window(span: tuple[int, int]) -> Window:
        found = known.get(span)
        if found is None:
            found = known[span] = window_of(*span)
        return found

    return window
