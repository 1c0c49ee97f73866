"""Elements in batches, for functions to which many at a time are cheaper than each alone.

Source: Beam Python ``util.BatchElements`` and ``util.GroupIntoBatches``.
"""

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from beamlike.api.pipelines.collection import PCollection, check_collection
from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.elements import Map, ParDo
from beamlike.api.pipelines.keyed_batches import BatchByKey
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.variables import K, T
from beamlike.errors import PipelineError
from beamlike.model.bundle import Windowed
from beamlike.model.options import whole_number
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.windows import Window

__all__ = ["BatchElements", "GroupIntoBatches", "ShardedKey"]


def _size(value: Any, argument: str, owner: str) -> int:
    return whole_number(value, 1, f"{owner} {argument}", PipelineError)


class BatchElements(PTransform[Any, Any]):
    """Elements of a window and a bundle as lists, at the end of their window.

    Beam measures how long its batches take, and makes them as long as pays, between the least
    and the greatest size. Here they have the greatest size, but the last of each bundle, which
    holds what is left. How elements are cut into bundles is for hosts to say.

    Args:
        min_batch_size: The least size that Beam would choose.
        max_batch_size: The greatest.
        element_size_fn: What an element adds to the size.
        max_batch_duration_secs: Not here.
        length_fn: Not here.
        bucket_boundaries: Not here.
        tuning: What Beam measures by, such as ``target_batch_overhead``. It counts for nothing.

    Raises:
        PipelineError: The sizes are none, or what is not here was given.

    Source: Beam Python ``BatchElements``.
    """

    def __init__(
        self,
        min_batch_size: int = 1,
        max_batch_size: int = 10_000,
        *,
        element_size_fn: Callable[[Any], int] | None = None,
        max_batch_duration_secs: float | None = None,
        length_fn: Callable[[Any], int] | None = None,
        bucket_boundaries: list[int] | None = None,
        **tuning: Any,
    ) -> None:
        least = _size(min_batch_size, "min_batch_size", "BatchElements")
        self.size = _size(max_batch_size, "max_batch_size", "BatchElements")
        if least > self.size:
            raise PipelineError(
                f"BatchElements min_batch_size {least} is greater than max_batch_size {self.size}"
            )
        absent = {
            "max_batch_duration_secs": max_batch_duration_secs,
            "length_fn": length_fn,
            "bucket_boundaries": bucket_boundaries,
        }
        for name, given in absent.items():
            if given is not None:
                raise PipelineError(
                    f"BatchElements has no {name} here: its batches end with the bundle; write "
                    "WithKeys(...) | GroupIntoBatches(...), whose batches go on"
                )
        unknown = sorted(set(tuning) - _TUNING)
        if unknown:
            raise PipelineError(f"BatchElements has no argument {unknown[0]!r}; leave it out")
        self.size_of = element_size_fn

    def expand(self, given: PCollection[T]) -> PCollection[list[T]]:
        return given | "Batch" >> ParDo(_Batching(self.size, self.size_of))


_TUNING = frozenset(
    (
        "target_batch_overhead",
        "target_batch_duration_secs",
        "target_batch_duration_secs_including_fixed_cost",
        "variance",
        "clock",
        "record_metrics",
    )
)


class _Batching(DoFn[Any, Any]):
    # No watermark moves within a bundle, so whatever window a list is in, it is not late by it.
    allowed_timestamp_skew = MAX_TIMESTAMP - MIN_TIMESTAMP

    def __init__(self, size: int, size_of: Callable[[Any], int] | None) -> None:
        self.size, self.size_of = size, size_of

    def start_bundle(self) -> None:
        self.kept: dict[Window, tuple[list[Any], int]] = {}

    def process(self, element: Any, window: Window = DoFn.WindowParam) -> Iterable[Windowed]:
        batch, size = self.kept.pop(window, ([], 0))
        more = 1 if self.size_of is None else self.size_of(element)
        if batch and size + more > self.size:
            yield _batched(batch, window)
            batch, size = [], 0
        batch.append(element)
        self.kept[window] = batch, size + more

    def finish_bundle(self) -> Iterable[Windowed]:
        kept, self.kept = self.kept, {}
        return [_batched(batch, window) for window, (batch, _) in kept.items()]


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

    Whatever trigger the collection has counts for nothing here, as in Beam. Batches have the
    windowing of the collection.

    Args:
        batch_size: How many values make a batch.
        max_buffering_duration_secs: Not here: a batch waits for its window.

    Raises:
        PipelineError: The size is none, or there is a limit to the time; when it is applied: the
            windows merge.

    Source: Beam ``GroupIntoBatches``.
    """

    def __init__(self, batch_size: int, max_buffering_duration_secs: float | None = None) -> None:
        self.size = _size(batch_size, "batch_size", "GroupIntoBatches")
        if max_buffering_duration_secs:
            raise PipelineError(
                "GroupIntoBatches has no max_buffering_duration_secs here: a batch waits until it "
                "is complete or its window expires; choose shorter windows, or write "
                "WindowInto(..., trigger=Repeatedly(AfterAny(AfterCount(100), "
                'AfterProcessingTime("10 s"))), accumulation_mode="discarding", '
                'allowed_lateness="0 s") | GroupByKey()'
            )

    def expand(self, given: PCollection[tuple[K, T]]) -> PCollection[tuple[K, list[T]]]:
        check_collection(given, self)
        return given | "Batches" >> BatchByKey(self.size, make_pairs="WithKeys(...)")

    class WithShardedKey(PTransform[Any, Any]):
        """The same, with each key as a `ShardedKey`. No key is taken apart here.

        Source: Beam Python ``GroupIntoBatches.WithShardedKey``.
        """

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
