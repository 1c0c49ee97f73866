"""Pipelines of tests: they run at the end of a block, and then everything asserted is checked.

Source: Beam Python ``TestPipeline``, Scio ``PipelineTestUtils``.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast, get_args

from beamlike.api.pipelines.options import Host, PipelineOptions, PipelineRunner, StandardOptions
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.result import PipelineResult, PipelineState
from beamlike.api.pipelines.scio.context import ScioContext
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import BeamlikeError, PipelineError
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.testing.pipelines.checks import Checks
from beamlike.testing.pipelines.wiring import TransformOverride, Wiring

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "TestPipeline",
    "run_with_context",
    "run_with_data",
    "run_with_local_output",
    "run_with_overrides",
]


class TestPipeline(Pipeline):
    """A pipeline of a test: ``with TestPipeline() as pipeline: ...``.

    It runs at the end of the block, if it has not run in it, and then checks what `expect` and
    `assert_that` asserted. All that does not hold is reported together.

    Args:
        runner: A host, or a runner of Beam, see `Pipeline`.
        options: Options, see `Pipeline`.
        argv: A command line, if there are no options; None: an empty one.
        host: Where it runs: ``"memory"``, ``"local"`` or ``"spark"``, as `Pipeline.run`. The
            default is the host that explains what it did when an assertion fails.
        spark: The session for host ``"spark"``.
        overrides: What is applied in place of some of its transforms.

    Source: Beam Python ``TestPipeline``.
    """

    __test__ = False  # the name starts with Test, but pytest must not collect it

    default_host: ClassVar[Host] = "memory"
    """Where it runs by default."""

    keeps_outputs = True

    def __init__(
        self,
        runner: str | PipelineRunner | None = None,
        options: PipelineOptions | None = None,
        argv: Sequence[str] | None = None,
        *,
        host: Host | None = None,
        spark: "SparkSession | None" = None,
        overrides: Iterable[TransformOverride] = (),
    ) -> None:
        if isinstance(runner, str) and runner in get_args(Host):
            runner, host = None, cast(Host, runner)
        super().__init__(runner, options or PipelineOptions(argv or ()))
        chosen = runner or self.options.view_as(StandardOptions).runner
        self._host = host or (self._host if chosen else self.default_host)
        self._spark = spark
        self.checks = Checks("build it in a with block, or call run()")
        self.wiring = Wiring(overrides=overrides)

    def applied(self, transform: PTransform[Any, Any], inputs: Any) -> Any:
        """Apply a transform, or what the test has in its place.

        Raises:
            PipelineError: As `Pipeline.apply`, or a job's test does not know this input or output.
        """
        label = transform.label
        full_name = f"{self.label}/{label}" if self.label else label
        replaced = self.wiring.in_place_of(transform, full_name, inputs)
        out = super().applied(label >> replaced if replaced is not transform else replaced, inputs)
        self.wiring.look_at(replaced, out, self.checks)
        return out

    def run(
        self, host: Host | None = None, spark: "SparkSession | None" = None, **options: Any
    ) -> PipelineResult:
        """Run everything, and ask all that was asserted.

        Args:
            host: Where; None: where the pipeline was made for.
            spark: The session for host ``"spark"``; None: the one it was made for.
            options: As `Pipeline.run`.

        Raises:
            PaneAssertionError: Some of it does not hold.
            TransformError: A function of the user's raised, and no `expect_error` says so.
            PipelineError: There is nothing of what was to be overridden, read or saved.
        """
        __tracebackhide__ = True
        self.checks.give_up()
        self.wiring.check_that_all_was_met()
        try:
            result = super().run(host or self._host, spark or self._spark, **options)
        except BeamlikeError as error:
            self.checks.evaluate_error(error)
            self.result = _FailedResult(PipelineRun({}, ()))
            return self.result
        self.checks.evaluate(result.outputs)
        return result

    def __exit__(self, error_type: type[BaseException] | None, *_raised: object) -> None:
        __tracebackhide__ = True
        if error_type is not None:  # the test reports that
            self.checks.give_up()
        elif self.result is None:
            self.run()


class _FailedResult(PipelineResult):
    """A pipeline that ended with an error, as it had to."""

    @property
    def state(self) -> str:
        return PipelineState.FAILED


class run_with_context:
    """A context whose pipeline runs at the end of the block, and everything asserted with it.

        with run_with_context() as sc:
            words = sc.test_stream(lines).flat_map(str.split)
            expect(words).to(contain_value("foo"))

    A block that calls ``sc.run()`` itself, for its result, ran there.

    Args:
        host: Where it runs: ``"memory"``, ``"local"`` or ``"spark"``, as `TestPipeline`.
        spark: The session for host ``"spark"``.
        overrides: What is applied in place of some transforms, see `TransformOverride`.

    Source: Scio ``runWithContext``.
    """

    def __init__(
        self,
        host: Host = "memory",
        spark: "SparkSession | None" = None,
        overrides: Iterable[TransformOverride] = (),
    ) -> None:
        self._pipeline = TestPipeline(host=host, spark=spark, overrides=overrides)

    def __enter__(self) -> ScioContext:
        return ScioContext(self._pipeline)

    def __exit__(self, *raised: Any) -> None:
        __tracebackhide__ = True
        self._pipeline.__exit__(*raised)


def run_with_overrides(
    *overrides: TransformOverride, host: Host = "memory", spark: "SparkSession | None" = None
) -> run_with_context:
    """A context as `run_with_context`, with something in place of some transforms.

    Raises:
        PipelineError: One is no override, or two are of one transform.

    Source: Scio ``runWithOverrides``.
    """
    return run_with_context(host, spark, overrides)


def run_with_data(*data: Iterable[Any]) -> Callable[[Callable[..., PCollection[Any]]], list[Any]]:
    """The elements that a function makes of others: ``run_with_data([1, 2])(transform)``.

    The function is given a collection for each list of elements.

    Raises:
        PipelineError: It returned no collection.

    Source: Scio ``runWithData``.
    """

    def of(transform: Callable[..., PCollection[Any]]) -> list[Any]:
        def build(sc: ScioContext) -> PCollection[Any]:
            return transform(*map(sc.parallelize, data))

        return run_with_local_output(build)[1]

    return of


def run_with_local_output(
    build: Callable[[ScioContext], PCollection[Any]],
) -> tuple[PipelineResult, list[Any]]:
    """The result of a run, and the elements of the collection that a function returns.

    Raises:
        PipelineError: It returned no collection.
        PaneAssertionError: Something that it asserted does not hold.

    Source: Scio ``runWithLocalOutput``.
    """
    with TestPipeline() as pipeline:
        collection = build(ScioContext(pipeline))
        if not isinstance(collection, PCollection):
            raise PipelineError(
                f"the function must return the collection to look at, it returned {collection!r}"
            )
        result = pipeline.result or pipeline.run()
    return result, [came.element.value for came in result.out_of(collection.edge)]
