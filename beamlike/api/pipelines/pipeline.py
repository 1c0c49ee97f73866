"""A pipeline and its collections: what is applied to what, and the run of all of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    NoReturn,
    Self,
    TypeVar,
    cast,
    get_args,
    overload,
)

import attrs

from beamlike.api.pipelines.beams_own import OfBeamsSDK
from beamlike.api.pipelines.coders import PickleCoder
from beamlike.api.pipelines.keeping import Keeping
from beamlike.api.pipelines.on_spark import SparkOptions, run_on_spark
from beamlike.api.pipelines.options import (
    DirectRunner,
    Host,
    PipelineOptions,
    PipelineRunner,
    SparkRunner,
    StandardOptions,
    TypeOptions,
    host_of,
    host_of_environment,
)
from beamlike.api.pipelines.python.reading import Length, in_millis
from beamlike.api.pipelines.result import PipelineResult, PipelineState, with_own_types
from beamlike.api.pipelines.transform import (
    Applied,
    Elements,
    KeepsElements,
    PipelineRoot,
    PTransform,
    TransformTree,
    apply,
    collections_in,
)
from beamlike.api.pipelines.variables import Out
from beamlike.errors import PipelineError, PipelineTypeError
from beamlike.hosts.in_process import run_pipeline
from beamlike.model.coders import keys_by
from beamlike.model.graph import MAIN, Edge, Node
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.graph.sending import check_sendable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from beamlike.hosts.spark.graph.running import Sink

__all__ = ["PCollection", "Pipeline", "as_class", "rewindowed"]

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
C = TypeVar("C", bound="PCollection[Any]")


class Pipeline(PipelineRoot):
    """Transforms under names, applied to one another. It is built first and run afterwards.

    As a context manager it runs at the end of the block; ``result`` then has its outcome.

    >>> from beamlike.api.pipelines.elements import Create, Map
    >>> pipeline = Pipeline()
    >>> doubled = pipeline | Create([1, 2]) | "Double" >> Map(lambda x: 2 * x)
    >>> [came.element.value for came in pipeline.run().out_of(doubled.edge)]
    [2, 4]

    Args:
        runner: What runs it, in Beam's words: ``"DirectRunner"`` is this process, and
            ``"SparkRunner"`` host ``"spark"``. None: what the options say, or this process.
        options: For the code that builds it.
        argv: A command line, if there are no options.

    Attributes:
        runner: What runs it, as an object of Beam's.

    Raises:
        PipelineError: There is no such runner here, or the options are none.
    """

    display_data: ClassVar[Any] = OfBeamsSDK("Pipeline.display_data")
    visit: ClassVar[Any] = OfBeamsSDK("Pipeline.visit")

    keeps_outputs = False
    """Whether all that comes out is kept, and what happens inside of groupings."""

    def __init__(
        self,
        runner: "str | PipelineRunner | None" = None,
        options: PipelineOptions | None = None,
        argv: Sequence[str] | None = None,
    ) -> None:
        if not isinstance(options, PipelineOptions | None):
            raise PipelineError(
                f"options must be PipelineOptions, got {options!r}; write "
                'PipelineOptions(["--name=value"]), or PipelineOptions(name=value)'
            )
        self.options = PipelineOptions(argv or []) if options is None else options
        chosen = self.options.view_as(StandardOptions).runner if runner is None else runner
        self._host: Host = host_of(chosen) or "local"
        named = SparkRunner() if self._host == "spark" else DirectRunner()
        self.runner = chosen if isinstance(chosen, PipelineRunner) else named
        self.nodes: list[Node] = []
        self.edges: dict[Edge, None] = {}
        self.keeping = Keeping()
        self.sinks: list[Sink] = []
        self.result: PipelineResult | None = None
        self.on_end: list[Callable[[PipelineResult], None]] = []
        self.on_finish: list[Callable[[], None]] = []  # called whatever comes of a run
        self.writes_itself = False  # functions of it write, and not only sinks
        self.tree = TransformTree()
        self._collections: type[PCollection[Any]] = PCollection

    def __or__(self, transform: "Applied[Pipeline, Out]") -> Out:
        """Apply a transform that starts from nothing, such as ``Create``."""
        return cast(Out, apply(cast(PTransform[Any, Any], transform), self))

    def apply(
        self, transform: PTransform[Any, Any], pvalueish: Any = None, label: str | None = None
    ) -> Any:
        """Apply a transform to what it reads, under its name.

        Args:
            transform: The transform.
            pvalueish: What it reads: a collection, several, or None for the pipeline.
            label: A name, in place of that of the transform.

        Raises:
            PipelineError: The name is taken, or the transform cannot be applied.
        """
        return apply(label >> transform if label else transform, pvalueish or self)

    def applied(self, transform: PTransform[Any, Any], inputs: Any) -> Any:
        """What a transform makes; `apply` has found that it is one.

        It makes collections of the class of the first that it is given.
        """
        nodes, sinks = len(self.nodes), len(self.sinks)
        collections = next(map(type, collections_in(inputs)), self._collections)
        try:
            with self.tree.applying(transform), self.making(collections):
                output = transform.expand(inputs)
                output_type = transform.output_type(inputs)
                if isinstance(output, PCollection) and output_type is not Any:
                    output.declared_type = output_type
                return output
        except BaseException:
            del self.nodes[nodes:], self.sinks[sinks:]
            raise

    @contextmanager
    def making(self, collections: "type[PCollection[Any]]") -> Iterator[None]:
        """Have what is applied in a block make collections of this class."""
        before, self._collections = self._collections, collections
        try:
            yield
        finally:
            self._collections = before

    @property
    def host(self) -> Host:
        """Where it runs if `run` does not say."""
        return host_of_environment() or self._host

    @property
    def pipeline(self) -> Self:
        """Itself: a transform that starts one is given it, and may ask it as it asks a collection.

        Source: Beam ``PBegin.pipeline``.
        """
        return self

    @property
    def label(self) -> str:
        """The full name of the transform that is being applied."""
        return self.tree.label

    def free_label(self, name: str) -> str:
        """The name, with a number after it if a transform has it where one is being applied."""
        return self.tree.free_label(name)

    def add(
        self, node: Node, windowing: WindowingStrategy, is_bounded: bool, tag: str = MAIN
    ) -> "PCollection[Any]":
        """A node of the graph, made by the transform that is being applied; its output."""
        if self.host == "spark":  # a run would refuse it too, and not where it is applied
            check_sendable(node)
        self.nodes.append(node)
        return self._collections(self, Edge(node, tag), windowing, is_bounded)

    def keep(self, *collections: "PCollection[Any]") -> None:
        """Keep what comes out of collections in the result of `run`.

        By default a run keeps each output that no transform reads and whose collection a variable
        holds. Everything else is streamed on, so that a pipeline may be longer than the memory.

        Args:
            collections: What to keep also if transforms read it. None at all: everything, and what
                happens inside of groupings, which `beamlike.testing.inside` shows.

        Raises:
            PipelineError: One is not a collection of this pipeline.
        """
        for collection in collections:
            if not isinstance(collection, PCollection) or collection.pipeline is not self:
                raise PipelineError(
                    f"keep takes collections of this pipeline, got {collection!r}; "
                    "write pipeline.keep(collection), or pipeline.keep() for everything"
                )
            self.keeping.want(collection.edge)
        self.keeps_outputs = self.keeps_outputs or not collections

    def run(
        self,
        host: Host | None = None,
        spark: "SparkSession | None" = None,
        *,
        checkpoint: str | None = None,
        trigger: Mapping[str, Any] | None = None,
        shards: int | None = None,
        wake_every: Length | None = None,
    ) -> PipelineResult:
        """Run everything.

        Over elements in memory and test streams it runs to its end, and what `keep` describes is
        kept. On Spark it may also read and write DataFrames; over streams it then runs until
        the result's ``cancel`` or ``drain``. The progress of its query then counts, under
        the label of each transform that groups or reads rows, panes by timing, drops by reason and
        open windows; `live_view` shows that.

        Args:
            host: ``"local"``, the runtime of production in this process; ``"memory"``, the
                reference machine, which explains what it did; or ``"spark"``: one query, in which
                each step of a test stream is a micro-batch; one batch job, if all that it reads
                comes to an end. None: as the pipeline's runner says,
                which is ``"local"`` by default.
            spark: The session for host ``"spark"``; None takes the active one or starts one.
            checkpoint: The folder that a query over streams continues from, see `SparkOptions`;
                for the next three likewise.
            trigger: When its micro-batches start.
            shards: The groups of Spark that share the keys of a grouping.
            wake_every: How often a query that waits on processing time runs without data: a
                duration, of which a number counts seconds.

        Raises:
            TransformError: A function of the user's raised. It is of the type of what was raised,
                too.
            PipelineError: An element came that a transform cannot take, such as one that is no
                pair and is to be grouped; or this host cannot run it like this.
            UnsupportedError: It reads what the host cannot read.
        """
        host = host_of_environment() or host or self._host
        woken = None if wake_every is None else in_millis(wake_every, "wake_every")
        options = SparkOptions(spark, checkpoint, trigger, shards, woken)
        self.result = None
        try:
            pickles = self.options.view_as(TypeOptions).allow_non_deterministic_key_coders
            with with_own_types(), keys_by(PickleCoder() if pickles else None):
                self.result = self._run_on(host, options)
        finally:
            if self.result is None or self.result.state != PipelineState.RUNNING:
                for finish in self.on_finish:
                    finish()
        for ask in self.on_end:
            ask(self.result)
        return self.result

    def _run_on(self, host: Host, options: SparkOptions) -> PipelineResult:
        if host not in get_args(Host):
            raise PipelineError(f'host must be "memory", "local" or "spark", got {host!r}')
        keeps_all = self.keeps_outputs or bool(self.on_end)
        kept = (
            None if keeps_all else self.keeping.kept(self.nodes, [sink.edge for sink in self.sinks])
        )
        if host == "spark":
            writes = self.writes_itself
            return run_on_spark(
                self.nodes, self.outputs, self.sinks, options, writes=writes, kept=kept
            )
        if options != SparkOptions():
            chosen = attrs.asdict(options, recurse=False)
            name = next(name for name, value in chosen.items() if value is not None)
            argument = "a Spark session" if name == "spark" else f"{name}="
            raise PipelineError(f'{argument} was given, but the host is "{host}"; add host="spark"')
        if self.sinks:
            label = self.sinks[0].edge.node.label
            raise PipelineError(
                f'what {label!r} brings out is written as rows, which Spark does: run(host="spark")'
            )
        if host == "memory":
            return PipelineResult(run_pipeline(self.nodes, kept=kept, records=keeps_all))
        from beamlike.hosts.local.nodes import local_worker_of

        run = run_pipeline(self.nodes, local_worker_of, kept=kept, records=keeps_all)
        return PipelineResult(run)

    @property
    def outputs(self) -> list[Edge]:
        """All outputs that have a collection."""
        known = set(self.nodes)  # what could not be applied left nothing behind
        return [edge for edge in self.edges if edge.node in known]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_raised: object) -> None:
        if error_type is None:
            self.run()


class PCollection(Elements, Generic[T_co]):
    """Elements of one type on their way through a pipeline. Immutable; many may read it.

    Transforms make collections: ``pcoll | "name" >> Map(f)``.

    Source: Beam ``PCollection``.

    Attributes:
        pipeline: What it belongs to.
        edge: Where in the graph it comes out.
        windowing: How it is windowed, and what a grouping of it does.
        is_bounded: Whether it comes to an end by itself.
        declared_type: The type of its elements, if its user declares it; else ``Any``.
    """

    def __init__(
        self, pipeline: "Pipeline", edge: Edge, windowing: WindowingStrategy, is_bounded: bool
    ) -> None:
        self.pipeline: Pipeline = pipeline
        self.edge = edge
        self.windowing = windowing
        self.is_bounded = is_bounded
        self.declared_type: Any = Any
        pipeline.edges[edge] = None
        pipeline.keeping.hold(self, edge)

    @overload
    def __or__(self, transform: KeepsElements[T_co]) -> "PCollection[T_co]": ...

    @overload
    def __or__(self, transform: "Applied[PCollection[T_co], Out]") -> Out: ...

    def __or__(self, transform: Any) -> Any:
        """Apply a transform.

        Raises:
            PipelineError: It is no transform, or its name is taken.
        """
        return apply(transform, self)

    def apply(self, transform: "Applied[PCollection[T_co], Out]", label: str = "") -> Out:
        """Apply a transform, under its name or another one: ``|`` and ``>>`` as a call."""
        return cast(Out, self.pipeline.apply(cast(PTransform[Any, Any], transform), self, label))

    if not TYPE_CHECKING:  # a type checker knows that there is neither

        def __iter__(self) -> NoReturn:
            raise PipelineTypeError(
                f"{self!r} has no elements before the pipeline runs, and none to iterate over; "
                "apply FlatMap(...) or Map(...) to it, or look at the result of run() with "
                "out_of(collection.edge)"
            )

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(
                f"a PCollection has no {name!r}; write collection | a transform, or take Scio's "
                "verbs: ScioContext(pipeline).wrap(collection)"
            )

    def __eq__(self, other: object) -> bool:
        """Whether both are the same output of a transform, windowed in the same way."""
        if not isinstance(other, PCollection):
            return NotImplemented
        return self.edge == other.edge and self.windowing == other.windowing

    def __hash__(self) -> int:
        return hash(self.edge)

    def __repr__(self) -> str:
        tag = f", output {self.edge.tag!r}" if self.edge.tag else ""
        return f"<{type(self).__name__} of {self.edge.node.label!r}{tag}>"


def rewindowed(collection: PCollection[T], windowing: WindowingStrategy) -> PCollection[T]:
    """The same elements, which a grouping treats in another way."""
    cls: type[PCollection[T]] = type(collection)
    return cls(collection.pipeline, collection.edge, windowing, collection.is_bounded)


def as_class(collection: PCollection[Any], cls: type[C]) -> C:
    """The same collection as one of another class."""
    same = cls(collection.pipeline, collection.edge, collection.windowing, collection.is_bounded)
    same.declared_type = collection.declared_type
    return same
