"""Elements in batches, for functions to which many at a time are cheaper than each alone.

Source: Beam Python ``util.GroupIntoBatches``.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from beamlike.api.pipelines.beams_own import OfBeamsSDK
from beamlike.api.pipelines.buffered_batches import BufferedBatches
from beamlike.api.pipelines.checks import check_collection
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.python.reading import in_millis
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.variables import K, T
from beamlike.errors import PipelineError
from beamlike.model.options import whole_number

__all__ = ["GroupIntoBatches"]


class GroupIntoBatches(PTransform[Any, Any]):
    """Pairs as batches: a key and a list of so many of its values in a window.

    A batch comes out with the pair that completes it. What is left comes out when the window
    expires: its end and the allowed lateness are over. Each batch is at the earliest event time
    in it. This is Beam Java's way; in Beam Python what is left comes out at the
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
    """

    WithShardedKey: ClassVar[Any] = OfBeamsSDK("GroupIntoBatches.WithShardedKey")

    def __init__(
        self,
        batch_size: int,
        max_buffering_duration_secs: float | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        super().__init__()
        self.size = whole_number(batch_size, 1, "GroupIntoBatches batch_size", PipelineError)
        self.seconds = max_buffering_duration_secs
        if self.seconds is not None and not 0 <= self.seconds < float("inf"):
            raise PipelineError(
                "GroupIntoBatches max_buffering_duration_secs must be a number of seconds, got "
                f"{self.seconds!r}"
            )
        self.wait = in_millis(self.seconds or 0, "GroupIntoBatches max_buffering_duration_secs")
        if clock is not None and not (callable(clock) and self.seconds):
            raise PipelineError(
                "GroupIntoBatches clock must be a function without arguments that returns seconds, "
                "and is asked only together with max_buffering_duration_secs, got "
                f"{clock!r} and {self.seconds!r}; add the duration, or leave the clock out"
            )
        self.clock = clock

    def expand(self, pairs: PCollection[tuple[K, T]]) -> PCollection[tuple[K, list[T]]]:
        check_collection(pairs, self)
        return pairs | "Batches" >> ParDo(BufferedBatches(self.size, self.wait, clock=self.clock))
