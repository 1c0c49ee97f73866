"""How long a batch should be, from how long earlier ones took.

A batch is taken to cost so much, and each of its elements so much more: both come out of a line
through what was measured.

Source: Beam Python ``util._BatchSizeEstimator``.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any, Final

import attrs

from beamlike.api.pipelines.metrics import Metrics
from beamlike.errors import PipelineError

_KEPT: Final = 100
"""Measurements that are kept; of more, two are forgotten at random."""
_TRIMMED: Final = 20
"""From so many on, the fifth of them with the greatest batches counts for nothing."""
_REFINED: Final = 10
"""From so many on, outliers count for nothing, and sizes vary around the best one."""
_GROWTH: Final = 2
"""How many times as long as the last batch the next one may be."""
_METRICS: Final = "BatchElements"

Measured = Sequence[tuple[int, float]]
"""Sizes of batches, and how long each took (s)."""


def _positive(_: Any, field: "attrs.Attribute[Any]", value: float | None) -> None:
    if value is not None and value < 0:
        raise PipelineError(
            f"BatchElements {field.name} must be a positive number of seconds, got {value!r}"
        )


def _share(_: Any, field: "attrs.Attribute[Any]", value: float | None) -> None:
    if value is not None and not 0 <= value <= 1:
        raise PipelineError(f"BatchElements {field.name} must be between 0 and 1, got {value!r}")


@attrs.frozen
class BatchTargets:
    """What a batch may cost. The least of these targets counts; None and 0 are none.

    Args:
        target_batch_duration_secs: How long its elements take, without that.
        target_batch_duration_secs_including_fixed_cost: How long it takes in all.
    """

    target_batch_overhead: float | None = attrs.field(validator=_share)
    target_batch_duration_secs: float | None = attrs.field(validator=_positive)
    target_batch_duration_secs_including_fixed_cost: float | None = attrs.field(validator=_positive)

    def __attrs_post_init__(self) -> None:
        if not any(attrs.astuple(self)):
            raise PipelineError(
                f"BatchElements needs one of {', '.join(attrs.asdict(self))}; or give one size to "
                "min_batch_size and max_batch_size"
            )

    def size(self, fixed: float, each: float) -> float:
        """The size that meets them.

        Args:
            fixed: What a batch costs (s).
            each: What an element of it costs (s).
        """
        sizes = [float("inf")]
        if self.target_batch_duration_secs_including_fixed_cost:
            sizes.append((self.target_batch_duration_secs_including_fixed_cost - fixed) / each)
        if self.target_batch_duration_secs:
            sizes.append(self.target_batch_duration_secs / each)
        if self.target_batch_overhead:
            sizes.append(fixed / each * (1 / self.target_batch_overhead - 1))
        return min(sizes)


@attrs.define
class BatchSizes:
    """Chooses the size of each batch.

    The first ones are short and grow, so that there is something to measure. Sizes vary around
    the best one, so that it is noticed when it becomes another.

    Args:
        least: The least size.
        greatest: The greatest.
        targets: What a batch may cost.
        clock: The time (s).
        records: Whether sizes and times are metrics.
    """

    least: int
    greatest: int
    targets: BatchTargets
    variance: float
    clock: Callable[[], float]
    records: bool = True
    _measured: list[tuple[int, float]] = attrs.field(factory=list, init=False)
    _unmeasured: bool = attrs.field(default=False, init=False)
    _again: int | None = attrs.field(default=None, init=False)
    _unrecorded: float = attrs.field(default=0.0, init=False)
    _random: Random = attrs.field(factory=lambda: Random(0), init=False)

    def skip_next(self) -> None:
        """The next batch is not measured: the first one of a bundle has to prepare things."""
        self._unmeasured = True

    @contextmanager
    def timed(self, size: int) -> Iterator[None]:
        """Measure the block, in which a batch of this size is dealt with."""
        began = self.clock()
        yield
        took = self.clock() - began
        if self.records:
            self._record(size, took)
        if self._unmeasured:
            self._unmeasured, self._again = False, min(size, self.greatest)
            return
        self._measured.append((size, took))
        if len(self._measured) >= _KEPT:  # two, because odd and even numbers of them take turns
            del self._measured[self._random.randrange(len(self._measured) // 4)]
            del self._measured[self._random.randrange(len(self._measured) // 2)]

    def _record(self, size: int, took: float) -> None:
        Metrics.distribution(_METRICS, "batch_size").update(size)
        millis = 1e3 * took + self._unrecorded
        Metrics.distribution(_METRICS, "msec_per_batch").update(int(millis))
        self._unrecorded = millis - int(millis)

    def next(self) -> int:
        """The size of the next batch. What was not measured is tried again."""
        again, self._again = self._again, None
        return again or self._best()

    def _best(self) -> int:
        if self.least == self.greatest or not self._measured:
            return self.least
        if len(self._measured) == 1:  # a line needs two sizes
            return max(min(self.greatest, self.least * _GROWTH), self.least + 1)
        kept = max(_TRIMMED, len(self._measured) * 4 // 5)
        fixed, each = line_through(sorted(self._measured)[:kept])
        target = min(self.greatest, self.targets.size(max(fixed, 1e-10), max(each, 1e-20)))
        if len(self._measured) > _REFINED:
            target += int(target * self.variance * self._random.uniform(-1, 1))
        last, _ = self._measured[-1]
        most = min(last * _GROWTH, self.greatest)
        # Not always the least size, from which nothing follows for others.
        return int(max(self.least + len(self._measured) % 2, min(target, most)))


def line_through(measured: Measured) -> tuple[float, float]:
    """What a batch costs, and each of its elements (s), by least squares.

    From ten measurements on those count for nothing that alone would move the line much, by Cook's
    distance, and short batches count for more: they say more of what any batch costs.
    """
    sizes = [size for size, _ in measured]
    if len(set(sizes)) == 1:
        mean = sum(took for _, took in measured) / len(measured)
        return (0, mean / sizes[0]) if sizes[0] else (mean, 0)
    fixed, each = _fitted(measured, [1.0] * len(measured))
    if len(measured) < _REFINED:
        return fixed, each
    count, total, squares = len(sizes), sum(sizes), sum(size**2 for size in sizes)
    errors = [fixed + each * size - took for size, took in measured]
    spread = sum(error**2 for error in errors) / (count - 2)
    if not spread:
        return fixed, each
    weights = []
    for size, error in zip(sizes, errors, strict=True):
        leverage = (squares - 2 * total * size + count * size**2) / (count * squares - total**2)
        moves = error**2 / (2 * spread) * leverage / (1 - leverage) ** 2 if leverage < 1 else 1
        weights.append(size**-2 if moves <= 0.5 and size else 0.0)
    if len({size for size, weight in zip(sizes, weights, strict=True) if weight}) < 2:
        return fixed, each
    return _fitted(measured, weights)


def _fitted(measured: Measured, weights: Sequence[float]) -> tuple[float, float]:
    whole = sum(weights)
    weighted = [*zip(measured, weights, strict=True)]
    size = sum(weight * size for (size, _), weight in weighted) / whole
    took = sum(weight * took for (_, took), weight in weighted) / whole
    each = sum(weight * (x - size) * (y - took) for (x, y), weight in weighted) / sum(
        weight * (x - size) ** 2 for (x, _), weight in weighted
    )
    return took - each * size, each
