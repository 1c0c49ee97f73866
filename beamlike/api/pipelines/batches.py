"""Elements in batches, for functions to which many at a time are cheaper than each alone.

Source: Beam Python ``util.BatchElements`` and ``util.GroupIntoBatches``.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import Any

import attrs

from beamlike.api.pipelines.batch_sizes import BatchSizes, BatchTargets
from beamlike.api.pipelines.buffered_batches import BufferedBatches
from beamlike.api.pipelines.checks import check_collection
from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.elements import Map
from beamlike.api.pipelines.hints import forms
from beamlike.api.pipelines.keyed_batches import BatchByKey
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.python.reading import in_millis
from beamlike.api.pipelines.shared import Shared
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.variables import K, T
from beamlike.errors import PipelineError, PipelineTypeError
from beamlike.model.bundle import Windowed
from beamlike.model.options import whole_number
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.windows import Window

__all__ = ["BatchElements", "GroupIntoBatches", "ShardedKey", "SortAndBatchElements"]


def _size(value: Any, argument: str, owner: str) -> int:
    return whole_number(value, 1, f"{owner} {argument}", PipelineError)


class BatchElements(PTransform[Any, Any]):
    """Elements of a window and a bundle as lists, at the end of their window.

    How long a batch is, between the least and the greatest size, follows from how long earlier
    ones took in the functions behind, up to the next grouping: see `BatchSizes`. To those each
    batch is a bundle. If both sizes are the same, each batch has that size, but the last of a
    bundle, which holds what is left. How elements are cut into bundles is for hosts to say; a task
    of Spark goes on with what its process has measured.

    Args:
        min_batch_size: The least size.
        max_batch_size: The greatest.
        target_batch_overhead: The share of its time that a batch costs however long it is.
        target_batch_duration_secs: How long the elements of a batch take, without that.
        target_batch_duration_secs_including_fixed_cost: How long a batch takes in all.
        max_batch_duration_secs: How long an element waits for others at most. Batches then have
            the greatest size, and go on from bundle to bundle, see `GroupIntoBatches`; for the
            lengths likewise, which are asked only together with it.
        element_size_fn: What an element adds to the size.
        variance: How much sizes vary around the best one, as a share of it.
        clock: The time in seconds by which batches are measured.
        record_metrics: Whether sizes and times are metrics: the distributions ``batch_size`` and
            ``msec_per_batch`` of ``BatchElements``.
        length_fn: The length of an element. Elements of one bucket of lengths share batches.
        bucket_boundaries: The lengths at which a bucket ends and the next one begins, in order.

    Raises:
        PipelineError: The sizes, targets or lengths are none.

    Source: Beam Python ``BatchElements``.
    """

    def __init__(
        self,
        min_batch_size: int = 1,
        max_batch_size: int = 10_000,
        target_batch_overhead: float | None = 0.05,
        target_batch_duration_secs: float | None = 10,
        target_batch_duration_secs_including_fixed_cost: float | None = None,
        max_batch_duration_secs: float | None = None,
        *,
        element_size_fn: Callable[[Any], int] | None = None,
        variance: float = 0.25,
        clock: Callable[[], float] = perf_counter,
        record_metrics: bool = True,
        length_fn: Callable[[Any], int] | None = None,
        bucket_boundaries: list[int] | None = None,
    ) -> None:
        least = _size(min_batch_size, "min_batch_size", "BatchElements")
        self.size = _size(max_batch_size, "max_batch_size", "BatchElements")
        if least > self.size:
            raise PipelineError(
                f"BatchElements min_batch_size {least} is greater than max_batch_size {self.size}"
            )
        targets = BatchTargets(
            target_batch_overhead,
            target_batch_duration_secs,
            target_batch_duration_secs_including_fixed_cost,
        )
        self.sizes = BatchSizes(least, self.size, targets, variance, clock, record_metrics)
        self.size_of = element_size_fn
        self.seconds = max_batch_duration_secs
        in_millis(self.seconds or 0, "BatchElements max_batch_duration_secs")
        if bucket_boundaries is not None and length_fn is None:
            raise PipelineError(
                "BatchElements bucket_boundaries are those of lengths; add length_fn=len"
            )
        bounds = list(_BOUNDS if bucket_boundaries is None else bucket_boundaries)
        if not bounds or bounds != sorted(set(bounds)) or bounds[0] <= 0:
            raise PipelineError(
                "BatchElements bucket_boundaries must be positive numbers in order, such as "
                f"[16, 64], got {bucket_boundaries!r}"
            )
        self.bucket = _Bucket(length_fn, bounds)

    def expand(self, given: PCollection[T]) -> PCollection[list[T]]:
        if self.seconds is None:
            return given | "Batch" >> ParDo(_Batching(self.sizes, self.size_of))
        keyed = given | "Bucket" >> Map(self.bucket)
        return keyed | GroupIntoBatches(self.size, self.seconds) | "Batches" >> Map(_batch_of)


_BOUNDS = (16, 32, 64, 128, 256, 512)


class _Bucket:
    """An element as a pair with its bucket."""

    def __init__(self, length: Callable[[Any], int] | None, bounds: list[int]) -> None:
        self.length, self.bounds = length, bounds

    def __call__(self, element: Any) -> tuple[int, Any]:
        at = 0 if self.length is None else bisect_right(self.bounds, self.length(element))
        return at, element


def _batch_of(pair: tuple[int, list[Any]]) -> list[Any]:
    return pair[1]


class _Batching(DoFn[Any, Any]):
    # No watermark moves within a bundle, so whatever window a list is in, it is not late by it.
    allowed_timestamp_skew = MAX_TIMESTAMP - MIN_TIMESTAMP

    def __init__(self, sizes: BatchSizes, size_of: Callable[[Any], int] | None) -> None:
        self.first, self.size_of = sizes, size_of
        self.in_process = Shared()
        self._paces = sizes.least < sizes.greatest

    def setup(self) -> None:
        sizes = self.in_process.acquire(lambda: attrs.evolve(self.first))
        assert sizes is not None, "it can be made"
        self.sizes: BatchSizes = sizes

    def start_bundle(self) -> None:
        self.kept: dict[Window, tuple[list[Any], int]] = {}
        self.enough = self.sizes.next()
        self.sizes.skip_next()

    def process(self, element: Any, window: Window = DoFn.WindowParam) -> Iterable[Windowed]:
        batch, size = self.kept.pop(window, ([], 0))
        more = 1 if self.size_of is None else self.size_of(element)
        if batch and size + more > self.enough:
            yield from self.measured(batch, size, window)
            batch, size = [], 0
        batch.append(element)
        self.kept[window] = batch, size + more
        if len(self.kept) > _OPEN_WINDOWS:
            longest = max(self.kept, key=lambda it: self.kept[it][1])
            yield from self.measured(*self.kept.pop(longest), longest)

    def finish_bundle(self) -> Iterable[Windowed]:
        kept, self.kept = self.kept, {}
        for window, (batch, size) in kept.items():
            yield from self.measured(batch, size, window)

    def measured(self, batch: list[Any], size: int, window: Window) -> Iterator[Windowed]:
        """A batch that comes out: until the next one is asked for, it is dealt with."""
        with self.sizes.timed(size):
            yield _batched(batch, window)
        self.enough = self.sizes.next()


_OPEN_WINDOWS = 10
"""How many windows have a batch at a time."""


class SortAndBatchElements(PTransform[Any, Any]):
    """Elements of a window and a bundle as lists of elements of like size, at the end of it.

    Args:
        min_batch_size: The fewest elements of a list that Beam asks for. It is checked, and what
            comes of a bundle is at its end, however little it is.
        max_batch_size: The most elements of a list.
        max_batch_weight: What all elements of a list weigh is less, unless one alone weighs more.
        element_size_fn: What an element weighs; None: its length, or 1 if it has none.

    Raises:
        PipelineError: The sizes are none.

    Source: Beam Python ``SortAndBatchElements``.
    """

    def __init__(
        self,
        min_batch_size: int,
        max_batch_size: int,
        max_batch_weight: int,
        element_size_fn: Callable[[Any], int] | None = None,
    ) -> None:
        super().__init__()
        owner = "SortAndBatchElements"
        least = _at_least(1, min_batch_size, "min_batch_size")
        if max_batch_size < least:
            raise PipelineError(
                f"{owner}: max_batch_size ({max_batch_size}) must be >= min_batch_size ({least})"
            )
        self.size = max_batch_size
        self.weight = _at_least(1, max_batch_weight, "max_batch_weight")
        if element_size_fn is not None and not callable(element_size_fn):
            raise PipelineTypeError(
                f"{owner} element_size_fn must be callable, got {element_size_fn!r}"
            )
        self.size_of = element_size_fn or _length

    def expand(self, given: PCollection[T]) -> PCollection[list[T]]:
        sorting = _Sorting(self.size, self.weight, self.size_of)
        return given | "Batch" >> ParDo[Any, list[T]](sorting)


def _at_least(least: int, value: Any, argument: str) -> int:
    if not isinstance(value, int) or value < least:
        raise PipelineError(f"SortAndBatchElements: {argument} must be >= {least}, got {value!r}")
    return value


def _length(element: Any) -> int:
    try:
        return len(element)
    except TypeError:
        return 1


class _Sorting(DoFn[Any, Any]):
    def __init__(self, size: int, weight: int, size_of: Callable[[Any], int]) -> None:
        self.size, self.weight, self.size_of = size, weight, size_of

    def start_bundle(self) -> None:
        self.kept: dict[Window, list[Any]] = {}

    def process(self, element: Any, window: Window = DoFn.WindowParam) -> None:
        self.kept.setdefault(window, []).append(element)

    def finish_bundle(self) -> Iterable[Windowed]:
        kept, self.kept = self.kept, {}
        for window, elements in kept.items():
            batch: list[Any] = []
            weight = 0
            for element in sorted(elements, key=self.size_of):
                more = self.size_of(element)
                if batch and (len(batch) >= self.size or weight + more >= self.weight):
                    yield _batched(batch, window)
                    batch, weight = [], 0
                batch.append(element)
                weight += more
            yield _batched(batch, window)


def _batched(batch: list[Any], window: Window) -> Windowed:
    return Windowed(batch, window.max_timestamp, (window,))


@attrs.frozen
class ShardedKey:
    """A key, and which part of its elements is meant. Source: Beam ``ShardedKey``."""

    key: Any
    shard_id: bytes = b""


class GroupIntoBatches(PTransform[Any, Any]):
    """Pairs as batches: a key and a list of so many of its values in a window.

    A batch comes out with the pair that completes it. What is left comes out when the window
    expires: its end and the allowed lateness are over. Each batch is at the earliest event time
    in it; see `BatchByKey`. This is Beam Java's way; in Beam Python what is left comes out at the
    end of the window.

    The trigger of the collection is not asked, as in Beam. Batches have the
    windowing of the collection.

    Args:
        batch_size: How many values make a batch.
        max_buffering_duration_secs: How long a batch waits at most, in processing time, counted
            from its first value, before it comes out with what it has; None or 0: for as long as
            its window lasts.
        clock: What time it is, in seconds, when a batch begins to wait, such as the fake clock of a
            test; None: what processing time is in the pipeline.

    Raises:
        PipelineError: The size or the duration is none, or there is a clock and no duration; when
            it is applied: the windows merge.

    Source: Beam ``GroupIntoBatches``.
    """

    takes = forms.form(tuple, forms.K, forms.V)
    makes = forms.form(tuple, forms.K, forms.form(Iterable, forms.V))

    def __init__(
        self,
        batch_size: int,
        max_buffering_duration_secs: float | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        super().__init__()
        self.size = _size(batch_size, "batch_size", "GroupIntoBatches")
        self.seconds = max_buffering_duration_secs
        if self.seconds is not None and not 0 <= self.seconds < float("inf"):
            raise PipelineError(
                "GroupIntoBatches max_buffering_duration_secs must be a number of seconds, got "
                f"{self.seconds!r}"
            )
        in_millis(self.seconds or 0, "GroupIntoBatches max_buffering_duration_secs")
        if clock is not None and not (callable(clock) and self.seconds):
            raise PipelineError(
                "GroupIntoBatches clock must be a function without arguments that returns seconds, "
                "and is asked only together with max_buffering_duration_secs, got "
                f"{clock!r} and {self.seconds!r}; add the duration, or leave the clock out"
            )
        self.clock = clock

    def expand(self, given: PCollection[tuple[K, T]]) -> PCollection[tuple[K, list[T]]]:
        check_collection(given, self)
        if not self.seconds:
            return given | "Batches" >> BatchByKey(self.size, make_pairs="WithKeys(...)")
        wait = in_millis(self.seconds, "GroupIntoBatches max_buffering_duration_secs")
        batching = BufferedBatches(self.size, wait, clock=self.clock)
        return given | "Batches" >> ParDo(batching)

    class WithShardedKey(PTransform[Any, Any]):
        """The same, with each key as a `ShardedKey`. No key is taken apart here.

        Source: Beam Python ``GroupIntoBatches.WithShardedKey``.
        """

        takes = forms.form(tuple, forms.K, forms.V)

        def __init__(
            self, batch_size: int, max_buffering_duration_secs: float | None = None
        ) -> None:
            self.batches = GroupIntoBatches(batch_size, max_buffering_duration_secs)

        def expand(
            self, given: PCollection[tuple[Any, T]]
        ) -> PCollection[tuple[ShardedKey, list[T]]]:
            return given | "Batches" >> self.batches | "Sharded" >> Map(_sharded)


def _sharded(batch: tuple[Any, list[Any]]) -> tuple[ShardedKey, list[Any]]:
    return ShardedKey(batch[0]), batch[1]
