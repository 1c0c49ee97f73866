"""What travels through the query: bundles with an address, watermarks, what came out.

A message is one pickle of columns: an object for each element would take longer than everything
else that is done with it.
"""

from collections import defaultdict
from collections.abc import Iterable
from operator import itemgetter
from typing import Any, Self

import attrs
import numpy as np
import pyarrow as pa

from beamlike.machine.events import Drop
from beamlike.machine.jumps import Delivered
from beamlike.model.bundle import Bundle, Spans, WindowsOfEach
from beamlike.model.panes import PaneInfo
from beamlike.model.windows import bounds, window_of
from beamlike.runtime.graph.metrics import Recorder
from beamlike.runtime.graph.tracing import ShardTrace
from beamlike.runtime.graph.wire import Listed, Wire
from beamlike.runtime.store.blobs import pack_blob, unpack_blob
from beamlike.runtime.tally import Tally


@attrs.frozen
class Reached:
    """How far a source, or a shard of a node that keeps state, has come: its watermark (ms).

    For a source that does not report its watermark, the greatest event time (ms) in some rows.
    ``before`` is where the watermark was before this micro-batch (ms); None: that is not known.
    """

    node: int
    shard: int
    watermark: int
    before: int | None = None


@attrs.frozen
class NodeDrop:
    """An element that a node dropped."""

    node: int
    key: Any
    drop: Drop


@attrs.define
class Parcel:
    """A bundle on its way. What has come from other processes stays as it was sent until it is
    opened: most bundles go through operators that do not look at them.

    Args:
        sent: Its first elements, as they were sent.
        bundle: Those that are added here.
    """

    sent: list[bytes] = attrs.field(factory=list)
    bundle: Bundle = attrs.field(factory=Bundle)

    def open(self, wire: Wire) -> Bundle:
        """All of it.

        Raises:
            StateError: Something in it has no class or no coder here.
        """
        opened = Bundle()
        for blob in self.sent:
            opened.extend(_bundle(wire.loads(blob)))
        opened.extend(self.bundle)
        return opened

    def blobs(self, wire: Wire) -> list[bytes]:
        """All of it as it is sent.

        Raises:
            CoderError: The value of an element cannot be bytes.
        """
        return [*self.sent, *([wire.dumps(_columns(self.bundle))] if self.bundle else ())]


def _bundles() -> dict[Any, Bundle]:
    return defaultdict(Bundle)


def _parcels() -> dict[Any, Parcel]:
    return defaultdict(Parcel)


@attrs.define
class Messages:
    """Everything that goes one way in a micro-batch, or a part of it.

    ``out`` has the elements that have come out, by the number of their node and the tag of the
    output; ``addressed`` those on their way to a node of a later layer, by its number and the
    source of its that they are elements of; ``came`` those that are wanted from the query, by the
    position of the wanted edge; and ``arriving`` those for the machine of a node, by its number, in
    tables of `beamlike.runtime.graph.keyed`.

    ``clock`` is processing time (ms) as the scripts of some sources say it; without one, Spark's
    counts. ``order`` puts the messages to one receiver in order. In ``metrics`` a node goes
    by its number, because pipelines that run side by side may give one name twice. ``tallies``
    has what nodes count, by their numbers, and ``noted`` what happened inside of groupings, if
    that is wanted. ``delivered`` has the event times of rows, by the numbers of their sources.
    """

    out: dict[tuple[int, str], Bundle] = attrs.field(factory=_bundles)
    addressed: dict[tuple[int, int], Parcel] = attrs.field(factory=_parcels)
    arriving: dict[int, list[pa.Table]] = attrs.field(factory=lambda: defaultdict(list))
    reached: list[Reached] = attrs.field(factory=list)
    came: dict[int, Parcel] = attrs.field(factory=_parcels)
    lost: list[NodeDrop] = attrs.field(factory=list)
    metrics: Recorder = attrs.field(factory=Recorder)
    tallies: dict[int, Tally] = attrs.field(factory=dict)
    noted: list[ShardTrace] = attrs.field(factory=list)
    delivered: list[Delivered] = attrs.field(factory=list)
    clock: dict[int, int] = attrs.field(factory=dict)
    order: int = 0

    def count(self, node: int, tally: Tally) -> None:
        """What a node, or a shard of it, counted."""
        known = self.tallies.get(node)
        self.tallies[node] = tally if known is None else known.with_other(tally)

    def dump(self, wire: Wire) -> bytes:
        """As one message in bytes.

        Raises:
            CoderError: The value of an element cannot be bytes.
        """
        return wire.dumps(
            (
                [
                    {key: _columns(bundle) for key, bundle in self.out.items()},
                    *(
                        {key: parcel.blobs(wire) for key, parcel in parcels.items()}
                        for parcels in (self.addressed, self.came)
                    ),
                ],
                {
                    node: [pack_blob(table, {}) for table in tables]
                    for node, tables in self.arriving.items()
                },
                [(one.node, one.shard, one.watermark, one.before) for one in self.reached],
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
    def load(cls, messages: Iterable[bytes], wire: Wire) -> Self:
        """All messages as one, in their order.

        Raises:
            StateError: Something in them has no class or no coder here.
        """
        whole = cls()
        for one in sorted(map(wire.loads, messages), key=itemgetter(-1)):
            *front, reached, lost, metrics, tallies, noted, delivered, clock, _ = _of_this_version(
                one
            )
            (out, addressed, came), arriving = front
            for key, columns in out.items():
                whole.out[key].extend(_bundle(columns))
            mine: dict[Any, Parcel]
            for mine, theirs in (whole.addressed, addressed), (whole.came, came):
                for address, blobs in theirs.items():
                    mine[address].sent += blobs
            for node, blobs in arriving.items():
                whole.arriving[node] += [unpack_blob(blob)[0] for blob in blobs]
            whole.reached += [Reached(*each) for each in reached]
            whole.lost += lost
            whole.metrics.merge(metrics)
            for node, counted in tallies.items():
                whole.count(node, Tally(*counted))
            whole.noted += noted
            whole.delivered += delivered
            whole.clock |= clock
        return whole


def _of_this_version(message: tuple[Any, ...]) -> tuple[Any, ...]:
    """A message that waited in a checkpoint may be older; then only its watermarks are read."""
    if isinstance(message[0], list):
        return message
    _out, _addressed, _came, _arriving, reached, *_, order = message
    return [{}, {}, {}], {}, reached, [], Recorder(), {}, [], [], {}, order


_Columns = tuple[Any, Any, Any, list[int], list[PaneInfo]]


def _columns(bundle: Bundle) -> _Columns:
    """Elements as their values, event times, windows by their bounds, and panes by number."""
    panes = {pane: number for number, pane in enumerate(dict.fromkeys(bundle.panes))}
    only = len(panes) == 1
    numbers = [] if only else [panes[pane] for pane in bundle.panes]
    windows: Any = bundle.windows
    if isinstance(windows, Spans):
        spans: Any = np.array([windows.starts, windows.ends], np.int64).T
    else:
        spans = [tuple(map(bounds, each)) for each in windows]
    return Listed(bundle.values), np.array(bundle.timestamps, np.int64), spans, numbers, list(panes)


def _bundle(columns: _Columns) -> Bundle:
    values, timestamps, spans, numbers, panes = columns
    windows: WindowsOfEach
    if isinstance(spans, np.ndarray):
        windows = Spans(*spans.T.tolist())
    else:
        windows = [tuple(window_of(*span) for span in each) for each in spans]
    of_each = panes * len(values) if len(panes) == 1 else [panes[number] for number in numbers]
    return Bundle(values, timestamps.tolist(), windows, of_each)
