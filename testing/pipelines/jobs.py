"""JobTest: a whole job, with a test's elements in place of what it reads and writes.

Source: Scio ``JobTest``.
"""

from collections.abc import Callable, Iterable, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from beamlike.api.pipelines.elements import Create
from beamlike.api.pipelines.metrics import Counter, Distribution, Gauge
from beamlike.api.pipelines.options import Host
from beamlike.api.pipelines.result import PipelineResult
from beamlike.api.pipelines.scio.context import DistCache, ScioContext
from beamlike.errors import PipelineError, TestStreamError
from beamlike.testing.pipelines import checks
from beamlike.testing.pipelines.contexts import TestPipeline
from beamlike.testing.pipelines.runs import Kind, MetricCheck, metric_name, metric_text
from beamlike.testing.pipelines.wiring import (
    Assertion,
    Source,
    TransformOverride,
    Wiring,
    checked_overrides,
)
from beamlike.testing.streams.finished import FinishedTestStream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")


class JobTest:
    """A test of a whole job: its inputs, and what must come out of it.

        (
            JobTest(word_count)
            .args(window="1 minute")
            .input("stop words", ["the", "a"])
            .input_stream("lines", lines)
            .output("counts")(lambda counts: expect(counts).to(contain_value(("foo", 2))))
            .counter(empty_lines)(1)
            .run()
        )

    A job is a function of a `ScioContext` and of a mapping of arguments. It reads with
    ``sc.read("name")`` and writes with ``collection.save_as("name")``; the sources and sinks
    that it gives there play no part, nor do the files of ``sc.dist_cache("file", function)``. Each
    input has to be read and each output to be saved, once, and nothing else; each cache has to be
    taken and each transform that is overridden to be there.

    Args:
        job: ``def job(sc, args)``, or ``def job(sc)``.

    Raises:
        PipelineError: It is no function.

    Source: Scio ``JobTest``.
    """

    def __init__(self, job: Callable[..., object]) -> None:
        if not callable(job):
            raise PipelineError(f"JobTest needs a job, a function of a context, got {job!r}")
        self._job = job
        self._place = checks.calling_place()
        self._args: dict[str, Any] = {}
        self._inputs: dict[str, Source] = {}
        self._outputs: dict[str, tuple[checks.TestLine, Assertion]] = {}
        self._caches: dict[Any, Callable[[], Any]] = {}
        self._overrides: list[TransformOverride] = []
        self._metrics: list[checks.Check] = []
        self._looked_at: set[tuple[Kind, object]] = set()
        name = getattr(job, "__name__", repr(job))
        checks.pending_assertions[id(self)] = checks.PendingAssertion(
            f"nothing was checked: the JobTest of {name} at {self._place} never ran; add .run()",
            checks.creation_number(),
        )

    def args(self, *texts: str, **named: Any) -> "JobTest":
        """Arguments of the job: ``.args("--window=1 minute")``, ``.args(window="1 minute")``.

        Raises:
            PipelineError: A text is none of the form ``--name=value``, or a name is given twice.
        """
        arguments: list[tuple[str, Any]] = []
        for text in texts:
            name, equals, value = text.removeprefix("--").partition("=")
            if not text.startswith("--") or not equals or not name:
                raise self._refusal(f'an argument of a job is written "--name=value", got {text!r}')
            arguments.append((name, value))
        for name, value in [*arguments, *named.items()]:
            if name in self._args:
                raise self._refusal(f"JobTest was given the argument {name!r} twice")
            self._args[name] = value
        return self

    def input(self, name: str, elements: Iterable[Any]) -> "JobTest":
        """What the job reads under a name, all there from the start.

        Elements happen at the minimum timestamp, but those that are a ``TimestampedValue``.

        Raises:
            PipelineError: There is an input of that name.
        """
        return self._input(name, Create(elements))

    def input_stream(self, name: str, stream: FinishedTestStream) -> "JobTest":
        """What the job reads under a name, as a stream. It has a watermark of its own.

        Raises:
            PipelineError: There is an input of that name.
            TestStreamError: It is no stream, or one that is not finished.
        """
        if not isinstance(stream, FinishedTestStream):
            checks.pending_assertions.pop(id(self), None)
            raise TestStreamError(
                f"input_stream({name!r}) needs a finished stream, got {stream!r}; end it with "
                "advance_watermark_to_infinity()"
            )
        return self._input(name, stream)

    def _input(self, name: str, source: Source) -> "JobTest":
        if name in self._inputs:
            raise self._refusal(f"JobTest has an input {name!r} already")
        self._inputs[name] = source
        return self

    def output(self, name: str) -> Callable[[Assertion], "JobTest"]:
        """What the job saves under a name: ``.output(name)(lambda out: expect(out).to(...))``.

        Raises:
            PipelineError: There is an output of that name.
        """
        if name in self._outputs:
            raise self._refusal(f"JobTest has an output {name!r} already")
        place = checks.calling_place()

        def of(assertion: Assertion) -> "JobTest":
            if not callable(assertion):
                raise self._refusal(
                    f"output({name!r}) needs a function that asserts something, got {assertion!r}; "
                    f"write .output({name!r})(lambda out: expect(out).to(...))"
                )
            self._outputs[name] = place, assertion
            return self

        return of

    def dist_cache(self, uri: str | Sequence[str], content: Any) -> "JobTest":
        """What the job makes of a file, or of several: ``.dist_cache("months.txt", ["Jan"])``.

        Raises:
            PipelineError: There is a cache of that file.
        """
        return self.dist_cache_func(uri, lambda: content)

    def dist_cache_func(self, uri: str | Sequence[str], make: Callable[[], Any]) -> "JobTest":
        """As `dist_cache`, with a function that makes it where the job's functions run.

        Raises:
            PipelineError: There is a cache of that file, or no function.
        """
        key = _cache_key(uri)
        if key in self._caches:
            raise self._refusal(f"JobTest has a dist cache {key!r} already")
        if not callable(make):
            raise self._refusal(
                f"dist_cache_func({uri!r}) needs a function without arguments, got {make!r}; "
                f"write dist_cache({uri!r}, content)"
            )
        self._caches[key] = make
        return self

    def transform_override(self, override: TransformOverride) -> "JobTest":
        """Put something in place of a transform of the job, see `TransformOverride`.

        Raises:
            PipelineError: It is no override, or one of that transform is there.
        """
        try:
            checked_overrides([*self._overrides, override])
        except PipelineError as refused:
            raise self._refusal(str(refused)) from None
        self._overrides.append(override)
        return self

    def counter(self, counter: Counter | str) -> Callable[[object], "JobTest"]:
        """What a counter ends at, over all transforms: ``.counter(lines)(3)``.

        Args:
            counter: A counter, or its name in any namespace. Then the value, or a function of it
                that asserts something or returns whether it is right.

        Raises:
            PipelineError: The test looks at that counter already.
        """
        return self._metric("counters", counter)

    def distribution(self, distribution: Distribution | str) -> Callable[[object], "JobTest"]:
        """What a distribution ends at, a ``DistributionData``, as `counter`."""
        return self._metric("distributions", distribution)

    def gauge(self, gauge: Gauge | str) -> Callable[[object], "JobTest"]:
        """What a gauge was set to last, as `counter`."""
        return self._metric("gauges", gauge)

    def counters(self, wanted: object) -> "JobTest":
        """What all counters end at, a mapping by ``MetricName``, or a function of it."""
        return self._metric("counters", None)(wanted)

    def distributions(self, wanted: object) -> "JobTest":
        """What all distributions end at, as `counters`."""
        return self._metric("distributions", None)(wanted)

    def gauges(self, wanted: object) -> "JobTest":
        """What all gauges were set to last, as `counters`."""
        return self._metric("gauges", None)(wanted)

    def _metric(self, metric_kind: Kind, metric: Any) -> Callable[[object], "JobTest"]:
        name = metric_name(metric)
        if name is not None and (metric_kind, name) in self._looked_at:
            raise self._refusal(
                f"JobTest looks at the {metric_kind.removesuffix('s')} {metric_text(name)} already"
            )
        self._looked_at.add((metric_kind, name))
        todo = f"write {metric_kind.removesuffix('s')}(...)(value)"
        assert_with = checks.opened(self._metrics, checks.Check(checks.calling_place(), todo=todo))

        def of(wanted: object) -> "JobTest":
            assert_with(MetricCheck(metric_kind, name, wanted))
            return self

        return of

    def run(self, host: Host = "memory", spark: "SparkSession | None" = None) -> PipelineResult:
        """Run the job, and check everything.

        Args:
            host: ``"memory"``, ``"local"`` or ``"spark"``, as `Pipeline.run`.
            spark: The session for host ``"spark"``.

        Raises:
            PipelineError: The job reads, saves or takes what the test does not define, or does
                not do so with what it does.
            PaneAssertionError: Something does not hold.
            TransformError: A function of the job's raised.
        """
        __tracebackhide__ = True
        with TestPipeline(host=host, spark=spark) as pipeline:
            self._build(pipeline)
        assert pipeline.result is not None, "it ran at the end of the block"
        return pipeline.result

    def run_within(self, sc: ScioContext) -> None:
        """Put the job into a context of a test, with all that is to be checked; the test runs it.

        Raises:
            PipelineError: As `run`; or the context is none of a test.
        """
        if not isinstance(sc, ScioContext) or not isinstance(sc.pipeline, TestPipeline):
            raise self._refusal(
                f"run_within needs a context of a test, got {sc!r}; use that of "
                "run_with_context(), or write .run()"
            )
        self._build(sc.pipeline)

    def _build(self, pipeline: TestPipeline) -> None:
        checks.pending_assertions.pop(id(self), None)
        before = pipeline.wiring
        wiring = Wiring(self._inputs, self._outputs, self._caches, self._overrides, before)
        pipeline.checks.add(self._metrics)
        arguments = (_JobContext(pipeline, wiring), MappingProxyType(self._args))
        pipeline.wiring = wiring
        try:
            self._job(*arguments[: 1 + checks.takes(self._job, 2)])
        finally:
            pipeline.wiring = before
        try:
            wiring.check_that_all_was_met()
        except PipelineError:
            pipeline.checks.give_up()
            raise

    def _refusal(self, text: str) -> PipelineError:
        """Why a part of this test is refused; it no longer waits to run."""
        checks.pending_assertions.pop(id(self), None)
        return PipelineError(text)

    def __del__(self) -> None:
        checks.report_unrun(id(self))


class _JobContext(ScioContext):
    """The context of a job in a test: what it takes from files, the test has."""

    def __init__(self, pipeline: TestPipeline, wiring: Wiring) -> None:
        super().__init__(pipeline)
        self._wiring = wiring

    def dist_cache(self, uri: str | Sequence[str], make: Callable[[Any], T]) -> DistCache[T]:
        super().dist_cache(uri, make)  # refuses what it refuses without a test
        return DistCache(self._wiring.cache(_cache_key(uri)))


def _cache_key(uri: str | Sequence[str]) -> str | tuple[str, ...]:
    return uri if isinstance(uri, str) else tuple(uri)
