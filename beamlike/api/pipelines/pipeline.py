"""The pipeline itself: it names its transforms, holds their graph, and runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast, get_args

import attrs

from beamlike.api.pipelines.coders import PickleCoder
from beamlike.api.pipelines.collection import PCollection, apply
from beamlike.api.pipelines.on_spark import SparkOptions, run_on_spark
from beamlike.api.pipelines.option_classes import TypeOptions
from beamlike.api.pipelines.options import Host, PipelineOptions, StandardOptions, host_of
from beamlike.api.pipelines.options_context import OptionsContext
from beamlike.api.pipelines.python.reading import Length, in_millis
from beamlike.api.pipelines.raised import with_own_types
from beamlike.api.pipelines.result import PipelineResult, PipelineState
from beamlike.api.pipelines.runners import DirectRunner, PipelineRunner, SparkRunner
from beamlike.api.pipelines.transform import Applied, PTransform
from beamlike.api.pipelines.type_checks import check_given, type_made
from beamlike.api.pipelines.value_providers import RuntimeValueProvider
from beamlike.api.pipelines.variables import Out
from beamlike.api.pipelines.visiting import AppliedPTransform, PipelineVisitor
from beamlike.errors import PipelineError
from beamlike.hosts.memory.pipeline import run_pipeline
from beamlike.model.coders import keys_by
from beamlike.model.graph import MAIN, Edge, Node
from beamlike.model.strategy import WindowingStrategy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from beamlike.api.pipelines.error_handling import ErrorHandler
    from beamlike.hosts.spark.graph.running import Sink

__all__ = ["Host", "Pipeline"]


class LabelTakenError(PipelineError, RuntimeError):
    """A pipeline has a transform of this name already."""


class Pipeline:
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
        display_data: Taken, so that programs of Beam need no change; nothing shows it here.

    Attributes:
        runner: What runs it, as an object of Beam's.

    Raises:
        PipelineError: There is no such runner here, or the options are none.

    Source: Beam ``Pipeline``.
    """

    forced_host: ClassVar[Host | None] = None
    """Where all pipelines run, whatever they say: what ``beamlike run --host`` sets."""

    keeps_outputs: ClassVar[bool] = False
    """Whether all that comes out is kept on Spark, also if the pipeline writes files."""

    def __init__(
        self,
        runner: "str | PipelineRunner | None" = None,
        options: PipelineOptions | None = None,
        argv: Sequence[str] | None = None,
        display_data: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(options, PipelineOptions | None):
            raise PipelineError(
                f"options must be PipelineOptions, got {options!r}; write "
                'PipelineOptions(["--name=value"]), or PipelineOptions(name=value)'
            )
        made = PipelineOptions(argv or []) if options is None else options
        self.options = OptionsContext.augment_options(made)
        chosen = self.options.view_as(StandardOptions).runner if runner is None else runner
        self._host: Host = host_of(chosen) or "local"
        named = SparkRunner() if self._host == "spark" else DirectRunner()
        self.runner = chosen if isinstance(chosen, PipelineRunner) else named
        self.nodes: list[Node] = []
        self.edges: dict[Edge, None] = {}
        self.sinks: list[Sink] = []
        self.result: PipelineResult | None = None
        self.error_handlers: list[ErrorHandler] = []
        self.on_end: list[Callable[[PipelineResult], None]] = []
        self.on_finish: list[Callable[[], None]] = []  # called whatever comes of a run
        self.writes_itself = False  # functions of it write, and not only sinks
        self._scope: list[str] = []
        self.transforms_stack = [AppliedPTransform(None, None, "")]
        self._labels: dict[str, None] = {}

    def __or__(self, transform: "Applied[Pipeline, Out]") -> Out:
        """Apply a transform that starts from nothing, such as ``Create``."""
        return cast(Out, apply(cast(PTransform[Any, Any], transform), self))

    def apply(
        self, transform: PTransform[Any, Any], pvalueish: Any = None, label: str | None = None
    ) -> Any:
        """Apply a transform to what it reads, under its name.

        One that cannot be applied leaves nothing behind, also no name.

        Args:
            transform: The transform.
            pvalueish: What it reads: a collection, several, or None for the pipeline.
            label: A name, in place of its own.

        Raises:
            PipelineError: The name is taken, or the transform cannot be applied.
        """
        return apply(label >> transform if label else transform, pvalueish or self)

    def applied(self, transform: PTransform[Any, Any], given: Any) -> Any:
        """What a transform makes; `apply` has found that it is one."""
        nodes, labels, sinks = len(self.nodes), len(self._labels), len(self.sinks)
        parts = self.transforms_stack[-1].parts
        before = len(parts)
        try:
            with self._named(transform, given) as applied:
                check_given(transform, given, self.options)
                made = transform.expand(given)
                applied.add_outputs(made)
                kind = transform.output_type(given)
                if isinstance(made, PCollection) and kind is not Any:
                    made.declared_type = kind
                type_made(given, made, self.transforms_stack, self.options)
                return made
        except BaseException:
            del self.nodes[nodes:], self.sinks[sinks:], parts[before:]
            while len(self._labels) > labels:
                self._labels.popitem()
            raise

    @contextmanager
    def _named(self, transform: PTransform[Any, Any], given: Any) -> Iterator[AppliedPTransform]:
        label = str(transform.label)
        full = "/".join([*self._scope, label])
        if full in self._labels:
            raise LabelTakenError(
                f"a transform named {full!r} is in this pipeline already; give this one a name "
                f'of its own: "another name" >> {transform.default_label().partition("(")[0]}(...)'
            )
        self._labels[full] = None
        self._scope.append(label)
        parent = self.transforms_stack[-1]
        applied = AppliedPTransform(parent, transform, full, given)
        parent.parts.append(applied)
        self.transforms_stack.append(applied)
        try:
            yield applied
        finally:
            self._scope.pop()
            self.transforms_stack.pop()

    def visit(self, visitor: PipelineVisitor) -> None:
        """Show every transform to a visitor. Source: Beam ``Pipeline.visit``."""
        self.transforms_stack[0].visit(visitor)

    @property
    def host(self) -> Host:
        """Where it runs if `run` does not say."""
        return Pipeline.forced_host or self._host

    @property
    def applied_labels(self) -> set[str]:
        """The full names of all transforms."""
        return {*self._labels}

    @property
    def _options(self) -> PipelineOptions:  # as Beam's tests read them
        return self.options

    @property
    def pipeline(self) -> Self:
        """Itself: a transform that starts one is given it, and may ask it as it asks a collection.

        Source: Beam ``PBegin.pipeline``.
        """
        return self

    @property
    def label(self) -> str:
        """The full name of the transform that is being applied."""
        return "/".join(self._scope)

    def free_label(self, name: str) -> str:
        """The name, with a number after it if a transform has it where one is being applied."""
        scope = f"{self.label}/" if self._scope else ""
        label, number = name, 1
        while scope + label in self._labels:
            number += 1
            label = f"{name}{number}"
        return label

    def add(
        self, node: Node, windowing: WindowingStrategy, is_bounded: bool, tag: str = MAIN
    ) -> PCollection[Any]:
        """A node of the graph, made by the transform that is being applied; its output."""
        self.nodes.append(node)
        return PCollection(self, Edge(node, tag), windowing, is_bounded)

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

        Over elements in memory and test streams it runs to its end, and all that comes out is
        kept. On Spark it may also read and write DataFrames; over streams it then runs until
        the result's ``cancel`` or ``drain``. The progress of its query then counts, under
        the label of each transform that groups or reads rows, panes by timing, drops by reason and
        open windows; `live_view` shows that.

        Args:
            host: ``"local"``, the runtime of production in this process; ``"memory"``, the
                reference machine, which explains what it did; or ``"spark"``: one query, in which
                each step of a test stream is a micro-batch. None: as the pipeline's runner says,
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
        host = Pipeline.forced_host or host or self._host
        if host not in get_args(Host):
            raise PipelineError(f'host must be "memory", "local" or "spark", got {host!r}')
        woken = None if wake_every is None else in_millis(wake_every, "wake_every")
        options = SparkOptions(spark, checkpoint, trigger, shards, woken)
        RuntimeValueProvider.set_runtime_options(self.options._values)
        for handler in self.error_handlers:
            handler.verify_closed()
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
        if host == "spark":
            return run_on_spark(
                self.nodes,
                self.outputs,
                self.sinks,
                options,
                writes=self.writes_itself,
                keeps=self.keeps_outputs or bool(self.on_end),
            )
        if options != SparkOptions():
            given = attrs.asdict(options, recurse=False)
            name = next(name for name, value in given.items() if value is not None)
            what = "a Spark session" if name == "spark" else f"{name}="
            raise PipelineError(f'{what} was given, but the host is "{host}"; add host="spark"')
        if self.sinks:
            label = self.sinks[0].edge.node.label
            raise PipelineError(
                f'what {label!r} brings out is written as rows, which Spark does: run(host="spark")'
            )
        if host == "memory":
            return PipelineResult(run_pipeline(self.nodes))
        from beamlike.hosts.local.nodes import local_worker_of

        return PipelineResult(run_pipeline(self.nodes, local_worker_of))

    @property
    def outputs(self) -> list[Edge]:
        """All outputs that have a collection."""
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
