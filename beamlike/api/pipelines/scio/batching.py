"""Verbs that put elements into lists, for work that is cheaper for many at once.

Source: Scio ``SCollection.batch`` and its siblings.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from beamlike.api.pipelines.buffered_batches import BufferedBatches
from beamlike.api.pipelines.keyed_batches import BatchByKey
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.scio.dofns import Batching
from beamlike.api.pipelines.scio.steps import (
    Verbs,
    checked,
    done,
    full_name,
    here,
    made,
    stepped,
)
from beamlike.errors import PipelineError
from beamlike.model.options import whole_number
from beamlike.model.time import DurationLike, duration_ms

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import SCollection

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


class BatchingVerbs(Verbs[T_co]):
    """How one can put elements into lists.

    Elements have no size in bytes here, as nothing says how they would be written. The verbs that
    go by it are refused with what to write instead.
    """

    def batch(
        self: "BatchingVerbs[T]", batch_size: int, max_live_windows: int = 10
    ) -> "SCollection[list[T]]":
        """Lists of elements of one window.

        A list holds elements of one bundle, and comes out when it is full or at the end of the
        bundle, at the end of its window. How elements are cut into bundles is the host's.

        Args:
            batch_size: How many elements are enough.
            max_live_windows: With more windows in a bundle, the fullest list comes out early.

        Source: Scio ``batch``.
        """
        return here(self).batch_weighted(batch_size, lambda _: 1, max_live_windows)

    def batch_weighted(
        self: "BatchingVerbs[T]",
        batch_weight: int,
        cost: Callable[[T], int],
        max_live_windows: int = 10,
    ) -> "SCollection[list[T]]":
        """As `batch`; a list is full when what its elements cost is enough.

        Source: Scio ``batchWeighted``.
        """
        _check(self, "batch", "the size", batch_weight)
        _check(self, "batch", "max_live_windows", max_live_windows)
        counted = checked(self, "batch", cost)
        return done(self, "batch", Batching(batch_weight, counted, max_live_windows))

    def batch_byte_sized(self, batch_byte_size: int, max_live_windows: int = 10) -> NoReturn:
        """Refused. Source: Scio ``batchByteSized``.

        Raises:
            PipelineError: Always.
        """
        _refuse_bytes(self, "batch_byte_sized", f"batch_weighted({batch_byte_size!r}, len)")

    def batch_by_key(
        self: "BatchingVerbs[tuple[K, V]]",
        batch_size: int,
        max_buffering_duration: DurationLike = 0,
    ) -> "SCollection[tuple[K, list[V]]]":
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
        self: "BatchingVerbs[tuple[K, V]]",
        weight: int,
        cost: Callable[[V], int],
        max_buffering_duration: DurationLike = 0,
    ) -> "SCollection[tuple[K, list[V]]]":
        """As `batch_by_key`; a list is full when what its values cost is enough.

        A value that would make a list cost too much begins the next one.

        Source: Scio ``batchWeightedByKey``.
        """
        verb = "batch_weighted_by_key"
        return _by_key(self, verb, weight, checked(self, verb, cost), max_buffering_duration)

    def batch_byte_sized_by_key(
        self, batch_byte_size: int, max_buffering_duration: DurationLike = 0
    ) -> NoReturn:
        """Refused. Source: Scio ``batchByteSizedByKey``.

        Raises:
            PipelineError: Always.
        """
        instead = f"batch_weighted_by_key({batch_byte_size!r}, len)"
        _refuse_bytes(self, "batch_byte_sized_by_key", instead)

    def sample_byte_sized(self, total_byte_size: int) -> NoReturn:
        """Refused. Source: Scio ``sampleByteSized``.

        Raises:
            PipelineError: Always.
        """
        _refuse_bytes(self, "sample_byte_sized", f"sample_weighted({total_byte_size!r}, len)")


def _by_key(
    given: Verbs[Any],
    verb: str,
    enough: int,
    cost: Callable[[Any], int] | None,
    max_buffering_duration: DurationLike,
) -> "SCollection[Any]":
    _check(given, verb, "the size", enough)
    limit = made(given, verb, lambda: duration_ms(max_buffering_duration, "max_buffering_duration"))
    if limit:
        buffered = ParDo[Any, Any](BufferedBatches(enough, limit, cost))
        return cast("SCollection[Any]", stepped(given, verb, buffered))
    return cast("SCollection[Any]", stepped(given, verb, BatchByKey(enough, cost)))


def _check(given: Verbs[Any], verb: str, argument: str, number: Any) -> None:
    whole_number(number, 1, f"{full_name(given, verb)!r}: {argument}", PipelineError)


def _refuse_bytes(given: Verbs[Any], verb: str, instead: str) -> NoReturn:
    raise PipelineError(
        f"{full_name(given, verb)!r}: elements have no size in bytes here; say yourself what each "
        f"of them costs: {instead} for texts or bytes"
    )
