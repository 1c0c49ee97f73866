"""What travels through the query of a pipeline, in batches of `beamlike.runtime.envelope`.

Elements travel by edge: what came out of a node stays as it was sent until an operator has a node
that reads this edge, and goes on as long as a later one has. What is only for the end of the query,
drops and counts and metrics, no operator opens before.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from typing import Any, Self

import attrs
import numpy as np

from beamlike.machine.events import Drop
from beamlike.model.bundle import Bundle, Spans, WindowsOfEach
from beamlike.model.column_bundle import ColumnBundle, JoinedBundle
from beamlike.model.panes import NO_FIRING, PaneInfo, numbered_panes
from beamlike.model.windows import bounds, window_of
from beamlike.runtime.envelope import Envelope, Kind, Received, opened, sealed
from beamlike.runtime.graph.metrics import MetricsRecorder
from beamlike.runtime.graph.tracing import ShardTrace
from beamlike.runtime.graph.wire import Listed, Wire
from beamlike.runtime.tally import Tally, tallies_in, tallies_table


@attrs.frozen
class NodeDrop:
    """An element that a node dropped."""

    node: int
    key: Any
    drop: Drop


@attrs.define
class Parcel:
    """A bundle on its way.

    Args:
        sent: Its first elements, as they were sent.
        added: Those that are added here.
    """

    sent: list[Envelope] = attrs.field(factory=list)
    added: Bundle = attrs.field(factory=JoinedBundle)
    _unpacked: Bundle | None = attrs.field(default=None, init=False)

    def unpacked(self, wire: Wire) -> Bundle:
        """All of it. Nothing is added afterwards.

        Raises:
            StateError: Something in it has no class or no coder here.
        """
        if not self.sent:
            return self.added
        if self._unpacked is None:
            self._unpacked = JoinedBundle()
            for envelope in self.sent:
                self._unpacked.extend(_bundle(wire.loads(envelope.body)))
            self._unpacked.extend(self.added)
        return self._unpacked


@attrs.define
class Report:
    """What the end of a query is to know besides its elements.

    Args:
        lost: What nodes dropped.
        metrics: What functions counted. A node goes by its number, because pipelines that run side
            by side may give one name twice.
        tallies: What nodes counted, by their numbers.
        traces: What happened inside of groupings.
    """

    lost: list[NodeDrop] = attrs.field(factory=list)
    metrics: MetricsRecorder = attrs.field(factory=MetricsRecorder)
    tallies: dict[int, Tally] = attrs.field(factory=dict)
    traces: list[ShardTrace] = attrs.field(factory=list)

    def count(self, node: int, tally: Tally) -> None:
        """What a node, or a shard of it, counted."""
        known = self.tallies.get(node)
        self.tallies[node] = tally if known is None else known.with_other(tally)

    def merge(self, other: "Report") -> None:
        """Take over what another one holds, after what is here."""
        self.lost += other.lost
        self.metrics.merge(other.metrics)
        self.traces += other.traces
        for node, tally in other.tallies.items():
            self.count(node, tally)

    def add(self, envelopes: Iterable[Envelope], wire: Wire) -> None:
        """Open what was sent for the end of the query.

        Raises:
            StateError: Something in it has no class or no coder here.
        """
        for envelope in envelopes:
            match envelope.content:
                case Kind.DROPS:
                    self.lost += wire.loads(envelope.body)
                case Kind.METRICS:
                    self.metrics.merge(wire.loads(envelope.body))
                case Kind.TRACES:
                    self.traces += wire.loads(envelope.body)
                case Kind.COUNTS:
                    for node, tally in tallies_in(envelope.table):
                        self.count(node, tally)

    def blobs(self, wire: Wire, place: int) -> Iterator[bytes]:
        """As batches, with their place in the order of arrival.

        Raises:
            CoderError: The value of an element cannot be bytes.
        """
        order = (place, 0, 0)
        if self.tallies:
            yield sealed(Kind.COUNTS, tallies_table(self.tallies), order=order)
        for content, held in (Kind.DROPS, self.lost), (Kind.TRACES, self.traces):
            if held:
                yield sealed(content, wire.dumps(held), order=order)
        if self.metrics != MetricsRecorder():
            yield sealed(Kind.METRICS, wire.dumps(self.metrics), order=order)


@attrs.define
class Mail(Received):
    """What comes to an operator of a pipeline in a micro-batch, or leaves it.

    Args:
        tables: See `Received`, also for the next three. The columns of tables are those of
            `beamlike.runtime.graph.keyed_tables`.
        reached: How far sources and nodes have come, which go by their numbers.
        delivered: Event times of rows, by the numbers of their sources.
        clock: Processing time (ms).
        bundles: Elements by the numbers of their edges.
        passing: Elements for the machines of nodes further on, each for the shard that the second
            number of its order says.
        for_the_end: What is handed on to the end of the query as it was sent.
        report: What is added to that here.
    """

    bundles: dict[int, Parcel] = attrs.field(factory=lambda: defaultdict(Parcel))
    passing: list[Envelope] = attrs.field(factory=list)
    for_the_end: list[Envelope] = attrs.field(factory=list)
    report: Report = attrs.field(factory=Report)

    @classmethod
    def opened(cls, blobs: Iterable[bytes], nodes: Container[int] | None = None) -> Self:
        """What these batches hold, in their order. Bundles stay closed.

        Args:
            blobs: The batches.
            nodes: The numbers of the nodes whose machines are here; None: of all.

        Raises:
            StateError: Something is not a batch.
        """
        mail = cls()
        for envelope in opened(blobs):
            match envelope.content:
                case Kind.BUNDLE:
                    mail.bundles[envelope.number].sent.append(envelope)
                case Kind.ELEMENTS if nodes is not None and envelope.number not in nodes:
                    mail.passing.append(envelope)
                case _ if not mail.take(envelope):
                    mail.for_the_end.append(envelope)
        return mail

    def handed_on(self, wire: Wire, place: int) -> Iterator[bytes]:
        """Bundles, and what is for the end of the query, as batches.

        Raises:
            CoderError: The value of an element cannot be bytes.
        """
        for edge, parcel in self.bundles.items():
            yield from (envelope.blob for envelope in parcel.sent)
            if parcel.added:
                body = wire.dumps(_columns(parcel.added))
                yield sealed(Kind.BUNDLE, body, edge, (place, 0, 0))
        yield from (envelope.blob for envelope in (*self.passing, *self.for_the_end))
        yield from self.report.blobs(wire, place)

    def at_the_end(self, wire: Wire) -> Report:
        """All that was sent to the end of the query, or added here.

        Raises:
            StateError: Something in it has no class or no coder here.
        """
        together = Report()
        together.add(self.for_the_end, wire)
        together.merge(self.report)
        return together


_Columns = tuple[Any, Any, Any, list[int], list[PaneInfo]]


def _columns(bundle: Bundle) -> _Columns:
    """Elements as their values, event times, windows by their bounds, and panes by number."""
    panes, numbers = numbered_panes(bundle.panes)
    windows: Any = bundle.windows
    if isinstance(windows, Spans):
        spans: Any = np.array([windows.starts, windows.ends], np.int64).T
    else:
        spans = [tuple(map(bounds, window)) for window in windows]
    return Listed(bundle.values), np.array(bundle.timestamps, np.int64), spans, numbers, panes


def _bundle(columns: _Columns) -> Bundle:
    values, timestamps, spans, numbers, panes = columns
    windows: WindowsOfEach
    if isinstance(spans, np.ndarray):
        if panes == [NO_FIRING]:
            return ColumnBundle(values, timestamps, (spans[:, 0], spans[:, 1]))
        windows = Spans(*spans.T.tolist())
    else:
        windows = [tuple(window_of(*span) for span in pairs) for pairs in spans]
    of_each = panes * len(values) if len(panes) == 1 else [panes[number] for number in numbers]
    return Bundle(values, timestamps.tolist(), windows, of_each)
