"""The context: where a job of Scio's begins.

Source: Scio ``ScioContext``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, Self, TypeVar, cast, overload
from uuid import uuid4

from beamlike.api.pipelines.dofn import Timestamped, TimestampedValue
from beamlike.api.pipelines.elements import Create
from beamlike.api.pipelines.job_io import Read
from beamlike.api.pipelines.options import Host
from beamlike.api.pipelines.pipeline import PCollection, Pipeline, as_class
from beamlike.api.pipelines.result import PipelineResult
from beamlike.api.pipelines.scio.call import checked_name, named, union
from beamlike.api.pipelines.scio.collection import SCollection
from beamlike.api.pipelines.transform import FunctionTransform, PTransform
from beamlike.errors import PipelineError
from beamlike.model.fingerprint import how_many
from beamlike.model.graph import ReadNode
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import DurationLike, InstantLike, duration_ms
from beamlike.runtime.script import Script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")


_HELD: Final[dict[str, Any]] = {}
"""What this process has made already, by the cache."""


class DistCache(Generic[T]):
    """Something that is made where functions of the pipeline first ask for it: ``cache()``.

    It is made once in each process, however often it is asked for.

    Args:
        make: Makes it. It has to come to Spark's workers, as functions of the pipeline do.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make, self._key = make, uuid4().hex

    def __call__(self) -> T:
        """What was made."""
        if self._key not in _HELD:
            _HELD[self._key] = self._make()
        held: T = _HELD[self._key]
        return held


class Stepwise(Protocol):
    """A scripted stream, such as a finished test stream."""

    @property
    def steps(self) -> Script:
        """What happens. The elements are whole; keys beside them mean nothing."""
        ...


class ScioContext:
    """A pipeline with Scio's verbs, which are methods of its collections.

    As a context manager it runs at the end of the block.

    >>> sc = ScioContext()
    >>> counts = sc.parallelize(["to", "be", "to"]).count_by_value()
    >>> result = sc.run()
    >>> [came.element.value for came in result.out_of(counts.edge)]
    [('to', 2), ('be', 1)]

    Args:
        pipeline: To go on with a pipeline of Beam's; by default a new one.
    """

    def __init__(self, pipeline: Pipeline | None = None) -> None:
        self.pipeline = Pipeline() if pipeline is None else pipeline
        self._next_name: str | None = None

    def with_name(self, name: str) -> Self:
        """The same pipeline; the next collection that is made with what this returns has the name.

            sc.with_name("numbers").parallelize([1, 2])

        A name that a method is given itself comes first.

        Raises:
            PipelineError: The name is no text, or empty.
        """
        context = copy(self)
        context._next_name = checked_name(name)
        return context

    def parallelize(self, elements: Iterable[T], name: str | None = None) -> SCollection[T]:
        """Elements that are there from the start, at the minimum timestamp.

        Args:
            elements: The elements; of a mapping its pairs.
            name: For the pipeline; by default after the verb.

        Raises:
            PipelineError: There are no elements to take.
        """
        if not isinstance(elements, Iterable):
            raise PipelineError(f"parallelize needs elements in a list, got {elements!r}")
        if isinstance(elements, Mapping):
            elements = cast(Iterable[T], elements.items())
        return self._create(list(elements), "parallelize", name)

    @overload
    def parallelize_timestamped(
        self,
        elements: Iterable[tuple[T, InstantLike]],
        timestamps: None = None,
        name: str | None = None,
    ) -> SCollection[T]: ...

    @overload
    def parallelize_timestamped(
        self,
        elements: Iterable[Timestamped[T]],
        timestamps: None = None,
        name: str | None = None,
    ) -> SCollection[T]: ...

    @overload
    def parallelize_timestamped(
        self, elements: Iterable[T], timestamps: Iterable[InstantLike], name: str | None = None
    ) -> SCollection[T]: ...

    def parallelize_timestamped(
        self,
        elements: Iterable[Any],
        timestamps: Iterable[InstantLike] | None = None,
        name: str | None = None,
    ) -> SCollection[Any]:
        """Elements that are there from the start, each at its own event time.

        Args:
            elements: Pairs of an element and its time, or `TimestampedValue`; with
                ``timestamps`` the elements alone.
            timestamps: Their times, in the same order.
            name: For the pipeline; by default after the verb.

        Raises:
            PipelineError: There are not as many times as elements, or an element has none.
            TimeError: A time cannot be read.
        """
        timed: list[Any] = list(elements)
        if timestamps is not None:
            times = list(timestamps)
            if len(times) != len(timed):
                raise PipelineError(
                    f"parallelize_timestamped got {how_many(len(timed), 'element')} and "
                    f"{how_many(len(times), 'timestamp')}; give one for each"
                )
            timed = list(zip(timed, times, strict=True))
        return self._create([_timed(pair) for pair in timed], "parallelize_timestamped", name)

    def test_stream(
        self, stream: "Stepwise | PTransform[Pipeline, PCollection[Any]]", name: str | None = None
    ) -> SCollection[Any]:
        """The elements of a scripted stream, such as a finished ``TestStream``.

        Args:
            stream: Anything with ``steps``.
            name: For the pipeline; by default after the verb.

        Raises:
            PipelineError: It has none.
        """
        transform: PTransform[Pipeline, PCollection[Any]]
        if isinstance(stream, PTransform):
            # Scio counts milliseconds, and a stream need not say so.
            transform = getattr(stream, "in_milliseconds", stream)
        elif isinstance(steps := getattr(stream, "steps", None), tuple):
            transform = FunctionTransform(_scripted, steps)
        else:
            raise PipelineError(
                f"test_stream needs a finished test stream, got {stream!r}; build one with "
                "TestStream()....advance_watermark_to_infinity()"
            )
        return self._start(transform, "test_stream", name)

    def read(
        self, name: str, source: PTransform[Pipeline, PCollection[T]] | None = None
    ) -> SCollection[T]:
        """An input with a name, for which a ``JobTest`` has elements of its own.

        Args:
            name: The input's.
            source: What is read where no test runs.

        Raises:
            PipelineError: There is neither a source nor a test.

        Source: Scio ``customInput``.
        """
        read = Read[T](name, source)
        return self._apply(read if self._next_name is None else self._next_name >> read)

    custom_input = read
    """The same as `read`. Source: Scio ``customInput``."""

    def dist_cache(self, uri: str | Sequence[str], make: Callable[[Any], T]) -> DistCache[T]:
        """What a function makes of a file, for the functions of the pipeline: ``cache()``.

            months = sc.dist_cache("months.txt", lambda path: Path(path).read_text().split())
            numbers.map(lambda number: months()[number])

        It is read where they run, once in each process, so the path must lead to the file there.

        Args:
            uri: The file, or several; a ``JobTest`` has a content for it.
            make: A function of the file, or of the list of files.

        Raises:
            PipelineError: There is no file, or no function.
        """
        files = uri if isinstance(uri, str) else list(uri)
        if not files or not callable(make):
            raise PipelineError(
                "dist_cache needs a file and a function of its path, got "
                f'{uri!r} and {make!r}; write dist_cache("months.txt", read_months)'
            )
        return DistCache(lambda: make(files))

    def union_all(self, collections: "Iterable[SCollection[T]]") -> SCollection[T]:
        """The elements of several collections as one; of none, an empty one."""
        members = list(collections) if isinstance(collections, Iterable) else [collections]
        if self._next_name is not None and members and isinstance(members[0], SCollection):
            members[0] = named(members[0], self._next_name)
        return union(members, "union_all") if members else self.empty()

    def wrap(self, collection: PCollection[T]) -> SCollection[T]:
        """A collection of Beam's with Scio's verbs; its `internal` is the way back.

            lines = pipeline | beam.io.ReadFromText("words.txt")
            words = ScioContext(pipeline).wrap(lines).flat_map(str.split)

        Raises:
            PipelineError: It is no collection of this pipeline.
        """
        if not isinstance(collection, PCollection) or collection.pipeline is not self.pipeline:
            raise PipelineError(
                f"wrap needs a collection of this pipeline, got {collection!r}; make the context "
                "with ScioContext(pipeline), of the pipeline that has it"
            )
        return as_class(collection, SCollection)

    def empty(self) -> SCollection[Any]:
        """A collection without elements."""
        return self._create([], "empty", None)

    def run(
        self,
        host: Host | None = None,
        spark: "SparkSession | None" = None,
        *,
        checkpoint: str | None = None,
        trigger: Mapping[str, Any] | None = None,
        shards: int | None = None,
        wake_every: DurationLike | None = None,
    ) -> PipelineResult:
        """Run everything, as `Pipeline.run`. Source: Scio ``run``.

        Args:
            host: ``"local"``, ``"memory"`` or ``"spark"``; None: where the pipeline was made to
                run, which is ``"local"`` by default.
            spark: The session for host ``"spark"``.
            checkpoint: As `Pipeline.run`; the next three likewise.
            trigger: When micro-batches start.
            shards: The groups of Spark that share keys.
            wake_every: How often a query runs without data.

        Raises:
            TransformError: A function raised, or a pane had no value.
            PipelineError: A transform cannot take an element, or the host cannot run it like this.
            UnsupportedError: It reads what the host cannot read.
        """
        return self.pipeline.run(
            host,
            spark,
            checkpoint=checkpoint,
            trigger=trigger,
            shards=shards,
            wake_every=None if wake_every is None else _milliseconds(wake_every),
        )

    close = run
    """The same as `run`, as it was called before Scio 0.8."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_raised: object) -> None:
        if error_type is None:
            self.run()

    def _create(self, elements: list[Any], verb: str, name: str | None) -> SCollection[Any]:
        return self._start(Create(elements), verb, name)

    def _start(
        self, transform: PTransform[Pipeline, PCollection[T]], verb: str, name: str | None
    ) -> SCollection[T]:
        wanted = self._next_name if name is None else name
        label = self.pipeline.free_label(verb) if wanted is None else wanted
        return self._apply(label >> transform)

    def _apply(self, transform: PTransform[Pipeline, PCollection[T]]) -> SCollection[T]:
        with self.pipeline.making(SCollection):
            return cast("SCollection[T]", self.pipeline | transform)


def _milliseconds(wake_every: DurationLike) -> timedelta:
    """A duration that says its unit, as pipelines count seconds and Scio milliseconds."""
    return timedelta(milliseconds=duration_ms(wake_every, "wake_every"))


def _scripted(pipeline: Pipeline, steps: Script) -> PCollection[Any]:
    node = ReadNode(pipeline.label, (), steps, bounded=False)
    return pipeline.add(node, WindowingStrategy.unwindowed(), is_bounded=False)


def _timed(element: Any) -> Timestamped[Any]:
    if isinstance(element, Timestamped):
        return element
    if not isinstance(element, tuple) or len(element) != 2:
        raise PipelineError(
            f"parallelize_timestamped needs pairs of an element and its time, got {element!r}; "
            "write (element, time), or give the times apart: "
            "parallelize_timestamped(elements, timestamps)"
        )
    return TimestampedValue(*element)
