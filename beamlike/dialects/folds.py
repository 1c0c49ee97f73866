"""Combine functions of the dialects: folds in the order in which their systems fold."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import attrs

from beamlike.model.combine import CombineFn
from beamlike.model.combine.base import Around, Listing


class Record(NamedTuple):
    """What a fold of Kafka is given of a record: its key, its value, and its stream."""

    key: Any
    value: Any
    stream: int = 0

    def __repr__(self) -> str:
        """As pictures and explanations show it; they show the key once."""
        return f"{self.value!r} of stream {self.stream}" if self.stream else repr(self.value)


class Elements(Listing):
    """All elements in order of arrival, as a tuple; a subclass says what is made of them."""

    def add(
        self, accumulator: tuple[Any, ...], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Any, ...]:
        return (*accumulator, *values)

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        return first + second


@attrs.frozen
class Fold(Elements):
    """Kafka's fold of sessions: every record begins anew, takes in the sessions that it joins in
    their order, and adds itself last.

    The accumulator holds the aggregates of sessions that have merged and not been taken in yet;
    after each record that is one. An initial value that is not neutral is in the result once for
    every record, as in Kafka.

    Args:
        initializer: ``() -> aggregate``.
        adders: For each stream, ``(key, value, aggregate) -> aggregate``.
        merger: ``(key, aggregate, aggregate) -> aggregate``.

    Source: Kafka Streams ``KStreamSessionWindowAggregate``.
    """

    calls_users = True

    initializer: Callable[[], Any]
    adders: tuple[Callable[[Any, Any, Any], Any], ...]
    merger: Callable[[Any, Any, Any], Any]

    def add(
        self, accumulator: tuple[Any, ...], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Any, ...]:
        for record in values:
            aggregate = self.initializer()
            for session in accumulator:
                aggregate = self.merger(record.key, aggregate, session)
            added = self.adders[record.stream](record.key, record.value, aggregate)
            accumulator = (added,)
        return accumulator

    def extract(self, accumulator: tuple[Any, ...]) -> Any:
        return accumulator[-1] if accumulator else None


@attrs.frozen
class Reduce(Elements):
    """Elements made one by a function of two, in order of arrival. Empty pane: null.

    Source: Flink ``ReduceFunction``.
    """

    calls_users = True

    function: Callable[[Any, Any], Any]

    def add(
        self, accumulator: tuple[Any, ...], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Any, ...]:
        for value in values:
            accumulator = (self.function(accumulator[0], value),) if accumulator else (value,)
        return accumulator

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        return self.add(first, second, ())

    def extract(self, accumulator: tuple[Any, ...]) -> Any:
        return accumulator[0] if accumulator else None


class Stamp(NamedTuple):
    """An element that is kept as it is, with its event time (ms)."""

    value: Any
    timestamp: int


Keep = Callable[[tuple[Stamp, ...]], tuple[Stamp, ...]]
"""From some elements to those of them that stay, in the same order."""


@attrs.frozen
class Kept(Elements):
    """The elements as a list in order of arrival, but for those that are not to be kept.

    Args:
        keep: From all that is there to what stays. What it leaves out once, it leaves out for
            ever: it is asked whenever something was added, and not only at a firing.
        before: The same, asked at a firing, before the value is made.
        after: The same, asked at a firing, after that.
    """

    calls_users = True

    keep: Keep | None = None
    before: Keep | None = None
    after: Keep | None = None

    def add(
        self, accumulator: tuple[Stamp, ...], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Stamp, ...]:
        return (*accumulator, *map(Stamp, values, timestamps))

    def compact(self, accumulator: tuple[Stamp, ...]) -> tuple[Stamp, ...]:
        return accumulator if self.keep is None else self.keep(accumulator)

    def extract(self, accumulator: tuple[Stamp, ...]) -> list[Any]:
        return [stamp.value for stamp in self._remaining(accumulator)]

    def _remaining(self, accumulator: tuple[Stamp, ...]) -> tuple[Stamp, ...]:
        kept = self.compact(accumulator)
        return kept if self.before is None else self.before(kept)

    @property
    def evicts(self) -> bool:
        return self.before is not None or self.after is not None

    def after_pane(self, accumulator: tuple[Stamp, ...]) -> tuple[Stamp, ...]:
        remaining = self._remaining(accumulator)
        return remaining if self.after is None else self.after(remaining)


@attrs.frozen(kw_only=True)
class OfKept(Kept):
    """Another combine function over the elements that are left at a firing.

    Source: Flink ``ReduceApplyWindowFunction``, ``AggregateApplyWindowFunction``.
    """

    of: CombineFn

    def extract(self, accumulator: tuple[Stamp, ...]) -> Any:
        remaining = self._remaining(accumulator)
        values = [stamp.value for stamp in remaining]
        timestamps = [stamp.timestamp for stamp in remaining]
        return self.of.extract(self.of.add(self.of.create(), values, timestamps))


@attrs.frozen
class Then(Around):
    """Another combine function, and a function of its result.

    Source: Flink ``WindowFunction`` after a pre-aggregation.
    """

    calls_users = True

    of: CombineFn
    function: Callable[[Any], Any]

    def extract(self, accumulator: Any) -> Any:
        return self.function(self.of.extract(accumulator))
