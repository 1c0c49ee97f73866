"""Combiner lifting over columns: what `beamlike.machine.lifting` does, for many keys at once."""

from collections.abc import Sequence

import numpy as np

from beamlike.machine.columnar.adding import TargetWindows, find_target_windows
from beamlike.machine.columnar.arrays import NOTHING, Ints
from beamlike.machine.columnar.assign import ArrivingBundle, Incoming, LiftedArrivals
from beamlike.machine.columnar.columns import Drops
from beamlike.machine.columnar.folds.base import Fold
from beamlike.machine.columnar.late import split_expired
from beamlike.machine.columnar.rules import ColumnRules
from beamlike.machine.liftable import check_liftable
from beamlike.model.options import LateCheck
from beamlike.model.strategy import WindowingStrategy


class ColumnarLifting:
    """Combines elements of many keys that arrive together. Keeps nothing between calls.

    It takes a bundle in as a grouping without state does, up to its triggers: none is evaluated.

    Args:
        strategy: The strategy of the grouping that follows.
        folds: The folds of the grouping that follows.

    Raises:
        WindowingError: As `check_liftable`.
        UnsupportedError: Only the reference machine can do this.
    """

    def __init__(self, strategy: WindowingStrategy, folds: Sequence[Fold]) -> None:
        check_liftable(strategy)
        self._rules = ColumnRules(strategy, folds)
        # Only the grouping knows the merged window that decides with "merged".
        self._judges = strategy.late_check is not LateCheck.MERGED

    def lift(
        self, bundle: ArrivingBundle, keys: int, watermark: int | None
    ) -> tuple[LiftedArrivals, list[Drops]]:
        """Combine the elements of ``keys`` keys, of which some may have been combined before: a row
        for each window of each key, by key, start and end; and the drops. See `Lifting.lift`."""
        rules = self._rules
        judged = watermark is not None and self._judges
        earliest = rules.strategy.resolution.earliest
        before = rules.start(keys, earliest if watermark is None or not judged else watermark, 0)
        incoming = bundle.incoming(rules.strategy.window_fn)
        incoming, drops = split_expired(rules, before, incoming)
        # Merging drops nothing here: "merged" has no watermark yet, all else is judged above.
        targets, incoming, _ = find_target_windows(rules, before, incoming)
        arrived, count = targets.arrivals, len(targets)
        created = tuple(fold.create(count) for fold in rules.folds)
        row, of = incoming.row[arrived.items], arrived.owner
        start, end = incoming.start[arrived.items], incoming.end[arrived.items]
        elsewhere = (start != targets.start[of]) | (end != targets.end[of])
        counts, was_judged = arrived.lengths, np.full(count, judged)
        if incoming.count is not None and incoming.judged is not None and count:
            counts = np.add.reduceat(incoming.count[arrived.items], arrived.first)
            # Elements that were judged where they were first combined stay so.
            was_judged |= np.logical_and.reduceat(incoming.judged[arrived.items], arrived.first)
        if incoming.merged is not None:
            elsewhere |= incoming.merged[arrived.items]
        lifted = LiftedArrivals(
            targets.key,
            targets.start,
            targets.end,
            _greatest(targets, incoming),
            counts,
            was_judged,
            np.bincount(of[elsewhere], minlength=count) > 0,
            bundle.added(rules.folds, created, row, arrived.first),
        )
        return lifted, drops


def _greatest(targets: TargetWindows, incoming: Incoming) -> Ints:
    """The greatest event time of each window's elements, as far as they lie inside it."""
    if not len(targets):
        return targets.end
    arrived = targets.arrivals
    timestamps, of = incoming.timestamps[arrived.items], arrived.owner
    inside = (targets.start[of] <= timestamps) & (timestamps < targets.end[of])
    greatest = np.maximum.reduceat(np.where(inside, timestamps, NOTHING), arrived.first)
    return np.where(greatest == NOTHING, targets.end - 1, greatest)
