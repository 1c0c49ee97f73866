"""How a sink writes: all of its shards, or none.

A sink says what is done before the first shard is written, how a shard is written, and what is
done when all of them are. One of files writes shards under other names and renames them at the
end.

Source: Beam Python ``io.iobase.Sink``, ``Writer`` and ``Write``.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

import attrs

from beamlike.api.pipelines.checks import check_collection
from beamlike.api.pipelines.elements import Create, FlatMap, Map
from beamlike.api.pipelines.groups import GroupByKey
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.python.functions import DoFn
from beamlike.api.pipelines.python.window_fns import FixedWindows, GlobalWindows
from beamlike.api.pipelines.python.windowing import WindowInto
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.windowing import Flatten
from beamlike.errors import PipelineError
from beamlike.model import windowfns
from beamlike.model.options import AccumulationMode
from beamlike.model.triggers import AfterWatermark, DefaultTrigger

__all__ = ["Sink", "Write", "Writer"]


class Writer:
    """Writes a shard. Source: Beam ``Writer``."""

    def write(self, value: Any) -> None:
        """Write an element."""
        raise NotImplementedError(f"{type(self).__name__} does not define write")

    def close(self) -> Any:
        """Write the end; what the sink is to know of the shard."""
        raise NotImplementedError(f"{type(self).__name__} does not define close")

    def at_capacity(self) -> bool:
        """Whether the next element belongs into another shard."""
        return False

    def abort(self) -> None:
        """Remove what was written, because writing failed."""


class Sink:
    """Where a collection can be written: ``elements | Write(MySink())``.

    Source: Beam ``Sink``.
    """

    skip_if_empty: bool = False
    """Whether nothing is written if there is nothing to write."""

    def initialize_write(self) -> Any:
        """Before the first shard: what all that follows is given. It must be sent to workers."""
        raise NotImplementedError(f"{type(self).__name__} does not define initialize_write")

    def open_writer(self, init_result: Any, uid: str) -> Writer:
        """What writes a shard, which has a name of its own."""
        raise NotImplementedError(f"{type(self).__name__} does not define open_writer")

    def pre_finalize(self, init_result: Any, writer_results: Sequence[Any]) -> Any:
        """When all shards are written, before `finalize_write`."""
        raise NotImplementedError(f"{type(self).__name__} does not define pre_finalize")

    def finalize_write(
        self, init_result: Any, writer_results: Sequence[Any], pre_finalize_result: Any
    ) -> Iterable[Any] | None:
        """Make the shards count; what comes out of the transform."""
        raise NotImplementedError(f"{type(self).__name__} does not define finalize_write")


class Write(PTransform[Any, PCollection[Any]]):
    """Writes a collection into a sink. What comes out is what the sink says it wrote.

    Args:
        sink: A `Sink`, or a transform.

    Raises:
        PipelineError: It is neither.

    Source: Beam ``Write``.
    """

    def __init__(self, sink: Any) -> None:
        if not isinstance(sink, Sink | PTransform):
            raise PipelineError(
                f"Write needs a Sink, got {sink!r}; derive a class from Sink, or write files with "
                "WriteToText(...)"
            )
        super().__init__()
        self.sink = sink

    def expand(self, given: PCollection[Any]) -> Any:
        check_collection(given, self)
        if isinstance(self.sink, PTransform):
            return given | self.sink
        begin = getattr(self.sink, "begin", None)
        sink: Any = begin(given.pipeline) if begin is not None else self.sink
        given.pipeline.writes_itself = True
        if given.is_bounded:
            return _bounded(given, sink)
        return _unbounded(given, sink)


class Writes(PTransform[PCollection[Any], PCollection[str]]):
    """A transform that writes into a sink of its own."""

    _sink: Any

    def expand(self, given: PCollection[Any]) -> Any:
        return given | Write(self._sink)


def _shards_of(sink: Any) -> int:
    return max(1, getattr(sink, "num_shards", 0) or 0)


class _ByFrequency(WindowInto):
    """How often a stream is written. When the elements were is not asked."""

    _minds_times = False


class _Together(WindowInto):
    """All elements in one window, of which there is one pane."""

    def __init__(self) -> None:
        super().__init__(
            GlobalWindows(),
            trigger=DefaultTrigger(),
            accumulation_mode=AccumulationMode.DISCARDING,
        )


@attrs.frozen
class _Begun:
    """What the sink said before the first shard, beside the elements of a shard."""

    result: Any


@attrs.frozen
class _Shard:
    """What was written of a shard, and what the sink said before it."""

    number: int
    begun: Any
    results: list[Any]
    is_empty: bool


def _marks(begun: Any, shards: int) -> list[tuple[int, _Begun]]:
    return [(shard, _Begun(begun)) for shard in range(shards)]


def _bounded(given: PCollection[Any], sink: Any) -> PCollection[Any]:
    """Everything is written, and then counts."""
    shards = _shards_of(sink)
    once = given.pipeline | given.pipeline.free_label("DoOnce") >> Create([None])
    begun = once | "InitializeWrite" >> Map(lambda _, sink: sink.initialize_write(), sink)
    # Each shard has one, so that one of no elements is written too.
    marks = begun | "Begin" >> FlatMap(_marks, shards)
    numbered = given | "Shard" >> ParDo(_Sharding(shards))
    written = (
        (numbered | "Elements" >> _Together(), marks | "Marks" >> _Together())
        | "WithMarks" >> Flatten()
        | "Group" >> GroupByKey()
        | "WriteBundles" >> ParDo(_Writing(sink))
    )
    if shards > 1:
        written = written | "GroupShards" >> GroupByKey()
    else:
        written = written | "OneShard" >> Map(lambda pair: (pair[0], [pair[1]]))
    return written | "FinalizeWrite" >> FlatMap(_end, sink)


def _unbounded(given: PCollection[Any], sink: Any) -> PCollection[Any]:
    """Each pane is written, and then counts."""
    frequency = getattr(sink, "triggering_frequency", None)
    if frequency:
        given = given | "ApplyFixedWindows" >> _ByFrequency(
            FixedWindows(frequency),
            trigger=AfterWatermark(),
            accumulation_mode=AccumulationMode.DISCARDING,
            allowed_lateness=0,
        )
    elif isinstance(given.windowing.window_fn, windowfns.GlobalWindows):
        raise PipelineError(
            "To write a GlobalWindow unbounded PCollection, triggering_frequency must be set and "
            "be greater than 0; write triggering_frequency=60, or put it into windows with "
            "WindowInto(...) before"
        )
    convert = getattr(sink, "convert_fn", None)
    if convert is not None:
        given = given | "Convert" >> ParDo(convert)
    return (
        given
        | "Pair" >> Map(lambda value: (None, value))
        | "GroupByWindow" >> GroupByKey()
        | "WriteWindow" >> ParDo(_WritingPanes(sink, _shards_of(sink)))
    )


class _Sharding(DoFn[Any, Any]):
    """Elements with the numbers of shards, in turn."""

    def __init__(self, shards: int) -> None:
        self._shards, self._next = shards, 0

    def process(self, element: Any) -> Iterator[Any]:
        yield self._next, element
        self._next = (self._next + 1) % self._shards


class _Writing(DoFn[Any, Any]):
    """Writes the elements of a shard."""

    def __init__(self, sink: Any) -> None:
        self._sink = sink
        # More shards may follow only where the sink does not say how many there are.
        self._grows = not getattr(sink, "num_shards", 0)

    def process(self, element: Any) -> list[Any]:
        shard, both = element
        values = []
        begun = None
        for it in both:
            if isinstance(it, _Begun):
                begun = it.result
            else:
                values.append(it)
        results = written_into(self._sink, begun, values, shard, self._grows)
        return [(None, _Shard(shard, begun, results, not values))]


def written_into(
    sink: Any, begun: Any, values: Iterable[Any], shard: int, grows: bool
) -> list[Any]:
    """Write elements into a shard, and into others when it is full.

    Args:
        sink: The sink.
        begun: What its ``initialize_write`` said.
        values: The elements.
        shard: The number of the shard.
        grows: Whether there may be others.
    """
    results: list[Any] = []
    writer: Any = None
    try:
        for value in values:
            if writer is None:
                writer = sink.open_writer(begun, f"{shard:05}-{len(results):05}-{uuid4().hex}")
            writer.write(value)
            if grows and writer.at_capacity():
                closing, writer = writer, None
                results.append(closing.close())
        if writer is not None:
            results.append(writer.close())
    except BaseException:
        with suppress(Exception):
            if writer is not None:
                writer.abort()
        raise
    return results


def _end(grouped: tuple[None, Iterable[_Shard]], sink: Any) -> Iterable[Any]:
    """Make what was written count, with empty shards where there are too few."""
    written = sorted(grouped[1], key=lambda shard: shard.number)
    results = [result for shard in written for result in shard.results]
    if any(not shard.is_empty for shard in written) or not sink.skip_if_empty:
        results = _filled(sink, written[0].begun, results, len(written))
    before = sink.pre_finalize(written[0].begun, results)
    return sink.finalize_write(written[0].begun, results, before) or ()


def _filled(sink: Any, begun: Any, results: list[Any], shards: int) -> list[Any]:
    """These, and empty shards until there are so many."""
    empty = [
        sink.open_writer(begun, f"{at:05}-empty-{uuid4().hex}").close()
        for at in range(len(results), shards)
    ]
    return [*results, *empty]


class _WritingPanes(DoFn[Any, Any]):
    """Writes each pane, and makes it count."""

    def __init__(self, sink: Any, shards: int) -> None:
        self._sink, self._shards = sink, shards

    def process(
        self,
        element: Any,
        window: Any = DoFn.WindowParam,
        pane: Any = DoFn.PaneInfoParam,
    ) -> list[Any]:
        sink, shards = self._sink, self._shards
        begun = sink.initialize_write()
        values = list(element[1])
        results: list[Any] = []
        for shard in range(shards):
            part = values[shard::shards]
            results += written_into(sink, begun, part, shard, grows=shards == 1)
        results = _filled(sink, begun, results, shards)
        end = getattr(sink, "finalize_pane", None)
        if end is not None:
            return list(end(begun, results, window, pane))
        return list(sink.finalize_write(begun, results, sink.pre_finalize(begun, results)) or ())
