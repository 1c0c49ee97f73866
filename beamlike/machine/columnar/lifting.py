"""Combiner lifting over columns: what `beamlike.machine.lifting` does, for many keys at once."""

from collections.abc import Sequence

import numpy as np

from beamlike.machine.columnar.arrays import NOTHING, Ints
from beamlike.machine.columnar.columns import Arrivals, Drops, LiftedArrivals, State
from beamlike.machine.columnar.folds import Fold
from beamlike.machine.columnar.incoming import Incoming, PlainBundle
from beamlike.machine.columnar.late import split_expired
from beamlike.machine.columnar.rules import Rules
from beamlike.machine.columnar.target_windows import TargetWindows, find_target_windows
from beamlike.machine.liftable import check_liftable
from beamlike.model.options import LateCheck
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP


class ColumnarLifting:
    """Combines elements of many keys that arrive together. Keeps nothing between calls.

    It takes a bundle in as a grouping does that no element came to before, and goes no further:
    no trigger is evaluated.

    Args:
        strategy: That of the grouping that follows.
        folds: Likewise.

    Raises:
        WindowingError: As `check_liftable`.
        UnsupportedError: Only the reference machine can do this.
    """

    def __init__(self, strategy: WindowingStrategy, folds: Sequence[Fold]) -> None:
        check_liftable(strategy)
        self._rules = Rules(strategy, folds)
        # What a merged window decides, cannot be known here.
        self._judges = strategy.late_check is not LateCheck.MERGED

    def lift(self, arrivals: Arrivals, watermark: int | None) -> tuple[LiftedArrivals, list[Drops]]:
        """What becomes of the elements.

        Args:
            arrivals: One bundle for each key.
            watermark: As for `Lifting.lift`.

        Returns:
            One row for each window of each key, by key, start and end.
        """
        rules, bundle = self._rules, PlainBundle(arrivals)
        judged = watermark is not None and self._judges
        before = self._unseen(arrivals.key, watermark if judged else None)
        incoming = bundle.incoming(rules.strategy.window_fn)
        incoming, drops = split_expired(rules, before, incoming)
        homes, incoming, _ = find_target_windows(rules, before, incoming)
        arrived, count = homes.arrivals, len(homes)
        created = tuple(fold.create(count) for fold in rules.folds)
        row, of = incoming.row[arrived.items], arrived.owner
        start, end = incoming.start[arrived.items], incoming.end[arrived.items]
        elsewhere = (start != homes.start[of]) | (end != homes.end[of])
        lifted = LiftedArrivals(
            homes.key,
            homes.start,
            homes.end,
            _greatest(homes, incoming),
            arrived.lengths,
            np.full(count, judged),
            np.bincount(of[elsewhere], minlength=count) > 0,
            bundle.added(rules.folds, created, row, arrived.first),
        )
        return lifted, drops

    def _unseen(self, key: Ints, watermark: int | None) -> State:
        """Keys without elements so far."""
        at = MIN_TIMESTAMP if watermark is None else watermark
        keys, none = int(key.max(initial=-1)) + 1, np.zeros(0, np.int64)
        table = self._rules.new_windows(none, none, none)
        return State(at, 0, np.full(keys, at, np.int64), table)


def _greatest(homes: TargetWindows, incoming: Incoming) -> Ints:
    """The greatest event time (ms) of each window's elements, as far as they lie inside it."""
    if not len(homes):
        return homes.end
    arrived = homes.arrivals
    at, of = incoming.at[arrived.items], arrived.owner
    inside = (homes.start[of] <= at) & (at < homes.end[of])
    greatest = np.maximum.reduceat(np.where(inside, at, NOTHING), arrived.first)
    return np.where(greatest == NOTHING, homes.end - 1, greatest)
