"""The pipeline itself: it names its transforms, holds their graph, and runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, cast, get_args

from beamlike.api.pipelines.collection import PCollection, apply
from beamlike.api.pipelines.result import PipelineResult
from beamlike.api.pipelines.transform import Applied, PTransform
from beamlike.api.pipelines.variables import Out
from beamlike.errors import PipelineError
from beamlike.hosts.pipeline import PipelineRun, run_pipeline
from beamlike.model.graph import MAIN, Edge, Node
from beamlike.model.strategy import WindowingStrategy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Host", "Pipeline"]

Host = Literal["memory", "spark"]


class Pipeline:
    """Transforms under names, applied to one another. It is built first and run afterwards.

    As a context manager it runs at the end of the block; ``result`` then says what came of it.

    >>> from beamlike.api.pipelines.elements import Create, Map
    >>> pipeline = Pipeline()
    >>> doubled = pipeline | Create([1, 2]) | "Double" >> Map(lambda x: 2 * x)
    >>> [came.element.value for came in pipeline.run().out_of(doubled.edge)]
    [2, 4]

    Source: Beam ``Pipeline``.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.edges: dict[Edge, None] = {}
        self.result: PipelineResult | None = None
        self._scope: list[str] = []
        self._labels: dict[str, None] = {}

    def __or__(self, transform: "Applied[Pipeline, Out]") -> Out:
        """Apply a transform that starts from nothing, such as ``Create``."""
        return cast(Out, apply(cast(PTransform[Any, Any], transform), self))

    def apply(self, transform: PTransform[Any, Any], given: Any) -> Any:
        """Apply a transform to what it reads, under its name.

        One that cannot be applied leaves nothing behind, also no name.

        Raises:
            PipelineError: The name is taken, or the transform cannot be applied.
        """
        nodes, labels = len(self.nodes), len(self._labels)
        try:
            with self._named(transform.label or transform.default_label):
                return transform.expand(given)
        except BaseException:
            del self.nodes[nodes:]
            while len(self._labels) > labels:
                self._labels.popitem()
            raise

    @contextmanager
    def _named(self, label: str) -> Iterator[None]:
        full = "/".join([*self._scope, label])
        if full in self._labels:
            raise PipelineError(
                f"a transform named {full!r} is in this pipeline already; give this one a name "
                f'of its own: "another name" >> {label.partition("(")[0]}(...)'
            )
        self._labels[full] = None
        self._scope.append(label)
        try:
            yield
        finally:
            self._scope.pop()

    @property
    def label(self) -> str:
        """The full name of the transform that is being applied."""
        return "/".join(self._scope)

    def add(
        self, node: Node, windowing: WindowingStrategy, is_bounded: bool, tag: str = MAIN
    ) -> PCollection[Any]:
        """A node of the graph, made by the transform that is being applied; its output."""
        self.nodes.append(node)
        return PCollection(self, Edge(node, tag), windowing, is_bounded)

    def run(self, host: Host = "memory", spark: "SparkSession | None" = None) -> PipelineResult:
        """Run everything to its end, and keep all that comes out.

        Args:
            host: ``"memory"``, in this process, or ``"spark"``: a real streaming query in which
                each step of a test stream is a micro-batch.
            spark: The session for host ``"spark"``; None takes the active one or starts one.

        Raises:
            TransformError: A function of the user's raised.
            PipelineError: An element came that a transform cannot take, such as one that is no
                pair and is to be grouped.
        """
        if host not in get_args(Host):
            raise PipelineError(f'host must be "memory" or "spark", got {host!r}')
        if host == "memory" and spark is not None:
            raise PipelineError(
                'a Spark session was given, but the host is "memory"; add host="spark"'
            )
        self.result = PipelineResult(
            run_pipeline(self.nodes) if host == "memory" else self._run_on_spark(spark)
        )
        return self.result

    def _run_on_spark(self, spark: "SparkSession | None") -> PipelineRun:
        from pyspark.sql import SparkSession

        from beamlike.hosts.spark.graph.query import Scripted, run_pipelines_on_spark
        from beamlike.hosts.spark.session import local_session

        session = spark or SparkSession.getActiveSession() or local_session()
        (run,) = run_pipelines_on_spark([Scripted(self.nodes, self.outputs)], session)
        return run

    @property
    def outputs(self) -> list[Edge]:
        """All outputs that somebody has a collection of."""
        known = set(self.nodes)  # what could not be applied left nothing behind
        return [edge for edge in self.edges if edge.node in known]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.run()
