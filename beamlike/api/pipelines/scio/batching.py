"""Verbs that put elements into lists, for work that is cheaper for many at once.

Source: Scio ``SCollection.batch`` and its siblings.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from beamlike.api.pipelines.buffered_batches import BufferedBatches
from beamlike.api.pipelines.scio.dofns import Batching
from beamlike.api.pipelines.scio.steps import (
    K,
    Keyed,
    T,
    T_co,
    V,
    Verbs,
    checked,
    done,
    full_name,
    here,
    made,
)
from beamlike.errors import PipelineError
from beamlike.model.options import whole_number
from beamlike.model.time import DurationLike, duration_ms

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import Pairs, SCollection


class BatchingVerbs(Verbs[T_co]):
    """How one can put elements into lists. They go by number or by cost: elements have no size in
    bytes, as nothing says how they would be written."""

    def batch(
        self: Verbs[T], batch_size: int, max_live_windows: int = 10
    ) -> "SCollection[list[T]]":
        """Lists of elements of one window.

        A list holds elements of one bundle, and comes out when it is full or at the end of the
        bundle, at the end of its window. How elements are cut into bundles is the host's.

        Args:
            batch_size: How many elements are enough.
            max_live_windows: With more windows in a bundle, the fullest list comes out early.
        """
        return here(self).batch_weighted(batch_size, lambda _: 1, max_live_windows)

    def batch_weighted(
        self: Verbs[T],
        batch_weight: int,
        cost: Callable[[T], int],
        max_live_windows: int = 10,
    ) -> "SCollection[list[T]]":
        """As `batch`; a list is full when what its elements cost is enough."""
        _check(self, "batch", "the size", batch_weight)
        _check(self, "batch", "max_live_windows", max_live_windows)
        counted = checked(self, "batch", cost)
        return done(self, "batch", Batching(batch_weight, counted, max_live_windows))

    def batch_by_key(
        self: Keyed[K, V],
        batch_size: int,
        max_buffering_duration: DurationLike = 0,
    ) -> "Pairs[K, list[V]]":
        """Lists of values of one key and window, from as many bundles as it takes.

        A list comes out with the pair that makes it full. What is left comes out when the window
        expires: its end and the allowed lateness are over. Each list is at the earliest event time
        in it. Triggers play no part.

        Args:
            batch_size: How many values are enough.
            max_buffering_duration: How long a list waits at most, in processing time, counted from
                its first value, before it comes out with what it has. 0 is no limit.

        Raises:
            PipelineError: The windows merge.

        Source: Scio ``batchByKey``, Beam Java ``GroupIntoBatches``.
        """
        return _by_key(self, "batch_by_key", batch_size, None, max_buffering_duration)

    def batch_weighted_by_key(
        self: Keyed[K, V],
        weight: int,
        cost: Callable[[V], int],
        max_buffering_duration: DurationLike = 0,
    ) -> "Pairs[K, list[V]]":
        """As `batch_by_key`; a list is full when what its values cost is enough.

        A value that would make a list cost too much begins the next one.
        """
        verb = "batch_weighted_by_key"
        return _by_key(self, verb, weight, checked(self, verb, cost), max_buffering_duration)


def _by_key(
    given: Verbs[Any],
    verb: str,
    enough: int,
    cost: Callable[[Any], int] | None,
    max_buffering_duration: DurationLike,
) -> "SCollection[Any]":
    _check(given, verb, "the size", enough)
    wait = made(given, verb, lambda: duration_ms(max_buffering_duration, "max_buffering_duration"))
    return done(given, verb, BufferedBatches(enough, wait, cost))


def _check(given: Verbs[Any], verb: str, argument: str, number: Any) -> None:
    whole_number(number, 1, f"{full_name(given, verb)!r}: {argument}", PipelineError)
