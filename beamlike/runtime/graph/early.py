"""Elements of a grouping that are combined before the shuffle, in the task that has them.

Of each key and window of a task one combined element goes to the shard, see
`beamlike.machine.lifting`, and not each element. No pane changes, and neither does the verdict on
what is late: only elements whose window cannot be late yet are combined, as far as the task knows
how far the watermark has come.

Source: Beam's combiner lifting, ``CombinePerKey.with_hot_key_fanout``.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import Bools, Ints
from beamlike.machine.input_clocks import InputUpdate, ShardWatermark, SourceClock
from beamlike.model.bundle import Spans
from beamlike.model.column_bundle import RepeatedKey
from beamlike.model.combine import WholeNumbersFold
from beamlike.model.graph import GroupNode
from beamlike.runtime.envelope import by_shard
from beamlike.runtime.graph.keyed_tables import (
    as_noted,
    hashes_of,
    keyed_columns,
    keyed_table,
    typed,
)
from beamlike.runtime.graph.layers import Layers, Spread
from beamlike.runtime.graph.stage import HeldValues, Stage, plan_of
from beamlike.runtime.graph.stateful import GroupingWorker, Keyed

_PAYS: Final = 4
"""One in so many elements at least need not go to the shards, or elements are not combined."""
_FOREVER: Final = 2**62
_REDUCE: Final = {"sum": np.add, "min": np.minimum, "max": np.maximum}
_LARGEST: Final = 2**62
_MIX: Final = 0x5851F42D4C957F2D
"""Knuth's multiplier of 64 bits."""


def watermark_bound(layers: Layers, node: int, reached: Sequence[InputUpdate]) -> int | None:
    """At most so far is the watermark at which a grouping judges its elements (ms); None: that is
    not known, as the rows of a stream only show how far they have come themselves.

    The watermark of a grouping is the least of those that its sources reported before this
    micro-batch. So each of them is a bound.

    Args:
        node: The number of the grouping.
        reached: The watermarks that came to the task.
    """
    bounds = [
        update.before
        for update in reached
        if isinstance(update, ShardWatermark)
        and update.before is not None
        and update.input in layers.origins[node]
        and not isinstance(layers.clocks.get(update.input), SourceClock)
    ]
    return min(bounds, default=None)


PlacedTable = tuple[int, pa.Table, bool]
"""Elements, the position of the shard that gets them, and False; or those of hot keys, with their
``hash``, the position of the task that combines them further, and True: `Fanout` spreads them."""


def to_shards(tables: Iterable[tuple[int, pa.Table]]) -> list[PlacedTable]:
    """Tables for shards, by their positions."""
    return [(shard, table, False) for shard, table in tables]


class EarlyCombiner:
    """Combines elements of a grouping in a task.

    Args:
        node: The grouping.
        spread: How it is spread. Where its shards note what they are given, they do so element by
            element.
    """

    def __init__(self, node: GroupNode, spread: Spread) -> None:
        worker, wire, self._held = GroupingWorker(node), spread.layers.wire, HeldValues()
        self._node, self._wire, self._notes = node, wire, spread.notes
        sizes = spread.shards, spread.buckets
        self._plan = plan_of(node, worker.machine, wire, *sizes, held=self._held)
        self._stage = Stage(worker, self._plan, wire, notes=False)

    def combined(
        self, keyed: Keyed, blobs: Sequence[bytes], bound: int | None, part: int
    ) -> list[PlacedTable]:
        """What a task sends of its elements: combined ones, and the others one by one.

        Args:
            keyed: The elements.
            blobs: Their keys in bytes.
            bound: As far as the watermark is at most; None: that is not known.
            part: The number of the task, which says where its hot keys go.

        Raises:
            UserFunctionError: A function of the user's raised.
            CoderError: A value cannot be bytes.
        """
        few = self._reduced(keyed, bound)
        if few is not None:
            of_windows, counts = few
            keys = RepeatedKey(blobs[0], len(counts))
            rows = np.arange(len(counts))
            lifted = self._lifted(of_windows, keys, hashes_of(keys), rows, bound)
            lifted = with_counts(lifted, of_windows.windows, counts)
            return self._spread(of_windows, keys, lifted, part)
        keyed = keyed.with_objects()
        hashes, sent = hashes_of(blobs), list[PlacedTable]()
        early = self._early(keyed, hashes, bound)
        if not early.all() or self._notes:
            table = keyed_table(keyed, blobs, hashes, self._wire)
            if self._notes:  # also where no element is combined: other tasks may combine theirs
                sent += self._to_shards(as_noted(table))
            if not early.any():
                return [*sent, *self._to_shards(table)]
            sent += self._to_shards(table.filter(pa.array(~early)))
        lifted = self._lifted(keyed, blobs, hashes, np.nonzero(early)[0], bound)
        return [*sent, *self._spread(keyed, blobs, lifted, part)]

    def _to_shards(self, table: pa.Table) -> list[PlacedTable]:
        return to_shards(by_shard(table, self._plan.shards, self._plan.buckets))

    def _reduced(self, keyed: Keyed, bound: int | None) -> tuple[Keyed, Ints] | None:
        """Elements `reduced`; None, too, where one may be late, or all have to be noted."""
        strategy, fold = self._plan.strategy, self._node.combine.whole_numbers_fold
        if fold is None or not isinstance(keyed.keys, RepeatedKey) or len(keyed.keys) < _PAYS:
            return None
        if self._notes or strategy.is_merging or keyed.unassigned is not None:
            return None
        few = reduced(keyed, fold)
        if few is None or not self._none_late(few[0].windows, bound).all():
            return None
        is_less = self._node.fanout is not None or len(few[1]) * _PAYS <= len(keyed.keys) * (
            _PAYS - 1
        )
        return few if is_less else None

    def _spread(
        self, keyed: Keyed, blobs: Sequence[bytes], lifted: pa.Table, part: int
    ) -> list[PlacedTable]:
        """Combined elements and their receivers: shards, or for hot keys tasks of the fanout."""
        position = self._fanout_of(keyed, blobs, lifted, part)
        is_hot = position >= 0
        hot = [
            (number, lifted.filter(pa.array(position == number)), True)
            for number in np.unique(position[is_hot]).tolist()
        ]
        if hot:
            lifted = lifted.filter(pa.array(~is_hot))
        return [*self._to_shards(lifted), *hot]

    def merged(self, tables: Sequence[pa.Table]) -> list[PlacedTable]:
        """Combined elements with their ``hash`` as one of each key and window, for the shards.

        Raises:
            UserFunctionError: A function of the user's raised.
        """
        return self._to_shards(self._stage.lift(tables, None))

    def _early(self, keyed: Keyed, hashes: Ints, bound: int | None) -> Bools:
        """Which elements are combined."""
        strategy, count = self._plan.strategy, len(hashes)
        none = np.zeros(count, np.bool_)
        if strategy.is_merging and bound is None:
            return none  # each has its own window, and may be late alone
        if self._node.fanout is None:
            different = _about_as_many(hashes, keyed.windows)
            if count - different < count / _PAYS or not self._is_exact(keyed):
                return none
        return self._none_late(keyed.windows, bound)

    def _none_late(self, windows: Spans, bound: int | None) -> Bools:
        """Which windows cannot be late, or are judged by their shard."""
        strategy, ends = self._plan.strategy, np.asarray(windows.ends, np.int64)
        if bound is None:
            return np.ones(len(ends), np.bool_)
        lateness, last = min(strategy.allowed_lateness, _FOREVER), strategy.end_of_global_window
        return np.minimum(ends - 1, last - lateness) + lateness >= bound

    def _is_exact(self, keyed: Keyed) -> bool:
        """Whether every result is the same as if the elements were not combined before."""
        types = {keyed.declared} if keyed.declared else set(map(type, keyed.values))
        for nested in (tuple, list):
            if nested in types:
                lists = (value for value in keyed.values if type(value) is nested)
                types |= {type(item) for items in lists for item in items}
        return self._node.combine.combines_early(types)

    def _lifted(
        self,
        keyed: Keyed,
        blobs: Sequence[bytes],
        hashes: Ints,
        rows: Ints,
        bound: int | None,
    ) -> pa.Table:
        """The elements in ``rows`` combined to one of each key and window, with the key's
        ``hash``."""
        if self._plan.values["value"] == HeldValues.positions:
            # As they would come to another process.
            self._held.values = self._wire.round_trip_all(keyed.objects)
            values = pa.array(rows, HeldValues.positions)
        else:
            values = typed(keyed.values, self._plan.values["value"]).take(pa.array(rows))
        columns, picked = keyed_columns(keyed, blobs, hashes), pa.array(rows)
        if len(rows) < len(blobs):
            columns = {name: column.take(picked) for name, column in columns.items()}
        table = pa.table(columns | {"value_value": values})
        watermark = bound if self._plan.strategy.is_merging else None
        try:
            return self._stage.lift([table], watermark)
        finally:
            self._held.values = ()

    def _fanout_of(self, keyed: Keyed, blobs: Sequence[bytes], lifted: pa.Table, part: int) -> Ints:
        """For each combined element the position of the task that combines it further; -1: none."""
        fanout = self._node.fanout
        if fanout is None:
            return np.full(lifted.num_rows, -1, np.int64)
        keys = dict(zip(blobs, keyed.keys, strict=True))
        ways = {blob: fanout.of_key(key) for blob, key in keys.items()}
        positions = [
            (hashed + part % ways[blob]) % self._plan.shards if ways[blob] > 1 else -1
            for blob, hashed in zip(
                lifted.column("key_key").to_pylist(), lifted.column("hash").to_pylist(), strict=True
            )
        ]
        return np.array(positions, np.int64)


def _about_as_many(hashes: Ints, windows: Spans) -> int:
    """How many different pairs of key and window there are, or a few fewer: hashes may coincide."""
    starts, ends = np.asarray(windows.starts, np.int64), np.asarray(windows.ends, np.int64)
    return len(np.unique((hashes * _MIX + starts) * _MIX + ends))


# -- whole numbers of one key: to add them up in a column takes a hundredth of the time ------------


def reduced(keyed: Keyed, fold: WholeNumbersFold) -> tuple[Keyed, Ints] | None:
    """One element of each window in place of all, at the greatest event time of these.

    Args:
        keyed: The elements, which have one key.
        fold: What their numbers become.

    Returns:
        The elements that are left, by window, and how many each stands for; None if some are not
        whole numbers of 64 bits, or their sum might not be one.
    """
    numbers = _whole_numbers(keyed.values)
    if numbers is None or not len(numbers) or not isinstance(keyed.keys, RepeatedKey):
        return None
    if fold == "sum" and max(-int(numbers.min()), int(numbers.max())) * len(numbers) >= _LARGEST:
        return None
    starts, ends = map(np.asarray, (keyed.windows.starts, keyed.windows.ends))
    times = np.asarray(keyed.timestamps, np.int64)
    order = np.lexsort((ends, starts))
    starts, ends, times, numbers = (column[order] for column in (starts, ends, times, numbers))
    changes = (starts[1:] != starts[:-1]) | (ends[1:] != ends[:-1])
    first = np.concatenate(([0], np.flatnonzero(changes) + 1))
    counts = np.diff(first, append=len(order))
    values = _REDUCE[fold].reduceat(numbers, first).tolist()
    windows = Spans(starts[first].tolist(), ends[first].tolist())
    latest = np.maximum.reduceat(times, first).tolist()
    keys = RepeatedKey(keyed.keys.key, len(first))
    return Keyed(keys, values, latest, windows, keyed.declared), counts


def _whole_numbers(values: Sequence[Any]) -> Ints | None:
    if isinstance(values, pa.Array):
        return values.to_numpy() if pa.types.is_int64(values.type) else None
    if not {int}.issuperset(map(type, values)):
        return None
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return None


def with_counts(lifted: pa.Table, windows: Spans, counts: Ints) -> pa.Table:
    """Combined elements of one key that stand for so many elements in each window."""
    of_window = dict(zip(zip(windows.starts, windows.ends, strict=True), counts, strict=True))
    spans = zip(*(lifted.column(side).to_pylist() for side in ("start", "end")), strict=True)
    numbers = pa.array([of_window[span] for span in spans], pa.int64())
    return lifted.set_column(lifted.column_names.index("count"), "count", numbers)
