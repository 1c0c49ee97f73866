"""Sources of one's own that come to an end.

Source: Beam Python ``io.iobase``.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from beamlike.api.pipelines.elements import Create
from beamlike.api.pipelines.io.range_trackers import RangeTracker
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.python.functions import DoFn
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError

__all__ = ["BoundedSource", "Read", "SourceBase", "SourceBundle"]


@attrs.frozen
class SourceBundle:
    """A part of a source. Source: Beam ``SourceBundle``.

    Args:
        weight: How much it is, in any unit.
        source: The source of the part.
        start_position: Where it begins; None: at the beginning.
        stop_position: Where it ends; None: at the end.
    """

    weight: float | None
    source: "BoundedSource"
    start_position: Any
    stop_position: Any


class SourceBase:
    """What can be read. Source: Beam ``SourceBase``."""

    def is_bounded(self) -> bool:
        """Whether it comes to an end by itself."""
        raise NotImplementedError(f"{type(self).__name__} does not define is_bounded")


class BoundedSource(SourceBase):
    """Something that can be read, and comes to an end: ``pipeline | Read(MySource())``.

    Subclasses say in `read` what is in it, and in `get_range_tracker` which range that is of. It
    is read by one function, from its beginning to its end: nothing here calls
    `split` and `estimate_size`.

    Source: Beam ``BoundedSource``.
    """

    def is_bounded(self) -> bool:
        return True

    def estimate_size(self) -> int | None:
        """How many bytes it may have; None: not known."""
        raise NotImplementedError(f"{type(self).__name__} does not define estimate_size")

    def split(
        self, desired_bundle_size: float, start_position: Any = None, stop_position: Any = None
    ) -> Iterable[SourceBundle]:
        """Parts of about this size."""
        raise NotImplementedError(f"{type(self).__name__} does not define split")

    def get_range_tracker(self, start_position: Any, stop_position: Any) -> RangeTracker:
        """The range between two positions; None and None: all of it."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_range_tracker")

    def read(self, range_tracker: RangeTracker) -> Iterable[Any]:
        """What is in a range."""
        raise NotImplementedError(f"{type(self).__name__} does not define read")

    def default_output_coder(self) -> Any:
        """How Beam writes elements down. Nothing asks for it here."""
        return None


class Read(PTransform[Pipeline, PCollection[Any]]):
    """What is in a source that comes to an end.

    Args:
        source: A `BoundedSource`, or a transform that starts from the pipeline.

    Raises:
        PipelineError: It is neither.

    Source: Beam ``Read``.
    """

    def __init__(self, source: Any) -> None:
        if not isinstance(source, BoundedSource | PTransform):
            raise PipelineError(
                f"Read needs a BoundedSource, got {source!r}; derive a class from BoundedSource, "
                "or read files with ReadFromText(...)"
            )
        super().__init__()
        self.source = source

    def expand(self, given: Any) -> PCollection[Any]:
        pipeline = given if isinstance(given, Pipeline) else given.pipeline
        if isinstance(self.source, PTransform):
            made: PCollection[Any] = pipeline | self.source
            return made
        return pipeline | "Source" >> Create([None]) | "Read" >> ParDo(_Reading(self.source))


class Reads(PTransform[Any, PCollection[Any]]):
    """A transform that reads a source of its own."""

    _source: Any

    def expand(self, given: Any) -> PCollection[Any]:
        made: PCollection[Any] = given | Read(self._source)
        return made


class _Reading(DoFn[Any, Any]):
    """Reads all of a source."""

    def __init__(self, source: BoundedSource) -> None:
        self._source = source

    def process(self, element: Any) -> Iterator[Any]:
        yield from self._source.read(self._source.get_range_tracker(None, None))
