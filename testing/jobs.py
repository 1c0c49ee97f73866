"""JobTest: a whole job, with a test's elements in place of what it reads and writes.

Source: Scio ``JobTest``.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from beamlike.api.pipelines.collection import PCollection
from beamlike.api.pipelines.elements import Create
from beamlike.api.pipelines.metrics import (
    Counter,
    Distribution,
    Gauge,
    MetricName,
    MetricResults,
)
from beamlike.api.pipelines.named import Read, SaveAs
from beamlike.api.pipelines.pipeline import Host, Pipeline
from beamlike.api.pipelines.result import PipelineResult
from beamlike.api.pipelines.scio.context import ScioContext
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError, TestStreamError
from beamlike.hosts.metrics import DistributionData
from beamlike.hosts.pipeline import PipelineRun
from beamlike.testing.checks import Ask, Place, here, lose, unfinished
from beamlike.testing.equality import same
from beamlike.testing.pipelines import TestPipeline
from beamlike.testing.stream import FinishedTestStream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["JobTest"]

Source = PTransform[Pipeline, PCollection[Any]]
Assertion = Callable[[PCollection[Any]], object]


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
    that it gives there play no part. Each input has to be read and each output to be saved, once,
    and nothing else.

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
        self._place = here()
        self._args: dict[str, Any] = {}
        self._inputs: dict[str, Source] = {}
        self._outputs: dict[str, tuple[Place, Assertion]] = {}
        self._metrics: list[tuple[Place, MetricName | str, Ask]] = []
        name = getattr(job, "__name__", repr(job))
        unfinished[id(self)] = (
            f"nothing was checked: the JobTest of {name} at {self._place} never ran; add .run()"
        )

    def args(self, *texts: str, **named: Any) -> "JobTest":
        """Arguments of the job: ``.args("--window=1 minute")``, ``.args(window="1 minute")``.

        Raises:
            PipelineError: A text is none of the form ``--name=value``, or a name is given twice.
        """
        given = [*map(_argument, texts), *named.items()]
        for name, value in given:
            if name in self._args:
                raise PipelineError(f"JobTest was given the argument {name!r} twice")
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
            raise TestStreamError(
                f"input_stream({name!r}) needs a finished stream, got {stream!r}; end it with "
                "advance_watermark_to_infinity()"
            )
        return self._input(name, stream)

    def _input(self, name: str, source: Source) -> "JobTest":
        if name in self._inputs:
            raise PipelineError(f"JobTest has an input {name!r} already")
        self._inputs[name] = source
        return self

    def output(self, name: str) -> Callable[[Assertion], "JobTest"]:
        """What the job saves under a name: ``.output(name)(lambda out: expect(out).to(...))``.

        Raises:
            PipelineError: There is an output of that name.
        """
        if name in self._outputs:
            raise PipelineError(f"JobTest has an output {name!r} already")
        place = here()

        def of(assertion: Assertion) -> "JobTest":
            if not callable(assertion):
                raise PipelineError(
                    f"output({name!r}) needs a function that asserts something, got {assertion!r}; "
                    f"write .output({name!r})(lambda out: expect(out).to(...))"
                )
            self._outputs[name] = place, assertion
            return self

        return of

    def counter(self, counter: Counter | str) -> Callable[[object], "JobTest"]:
        """What a counter ends at, over all transforms: ``.counter(lines)(3)``.

        Args:
            counter: A counter, or its name in any namespace. Then the value, or a function of it
                that asserts something or returns whether it is right.
        """
        return self._metric("counters", counter, sum)

    def distribution(self, distribution: Distribution | str) -> Callable[[object], "JobTest"]:
        """What a distribution ends at, a ``DistributionData``, as `counter`."""
        return self._metric("distributions", distribution, _together)

    def gauge(self, gauge: Gauge | str) -> Callable[[object], "JobTest"]:
        """What a gauge was set to last, as `counter`."""
        return self._metric("gauges", gauge, lambda values: values[-1])

    def _metric(
        self, kind: str, metric: Any, fold: Callable[[list[Any]], Any]
    ) -> Callable[[object], "JobTest"]:
        name = metric if isinstance(metric, str) else metric.name
        if any(name == other for _, other, _ in self._metrics):
            raise PipelineError(f"JobTest looks at the metric {_words(name)} already")

        def of(wanted: object) -> "JobTest":
            def ask(run: PipelineRun) -> str | None:
                return _metric_problem(run, kind, name, fold, wanted)

            self._metrics.append((here(), name, ask))
            return self

        return of

    def run(self, host: Host = "memory", spark: "SparkSession | None" = None) -> PipelineResult:
        """Run the job, and ask everything.

        Args:
            host: ``"memory"`` or ``"spark"``, as `Pipeline.run`.
            spark: The session for host ``"spark"``.

        Raises:
            PipelineError: The job reads or saves what the test does not know of, or does not read
                or save what it does.
            PaneAssertionError: Something does not hold.
            TransformError: A function of the job's raised.
        """
        __tracebackhide__ = True
        unfinished.pop(id(self), None)
        pipeline = _JobPipeline(self._inputs, self._outputs, host, spark)
        for place, _, ask in self._metrics:
            pipeline.checks.add(place, ask)
        with pipeline:
            given = (ScioContext(pipeline), MappingProxyType(self._args))
            self._job(*given[: _number_of_arguments(self._job)])
        assert pipeline.result is not None, "it ran at the end of the block"
        return pipeline.result

    def __del__(self) -> None:
        lose(id(self))


class _JobPipeline(TestPipeline):
    """A pipeline that knows its inputs and outputs by name."""

    def __init__(
        self,
        inputs: Mapping[str, Source],
        outputs: Mapping[str, tuple[Place, Assertion]],
        host: Host,
        spark: "SparkSession | None",
    ) -> None:
        super().__init__(host, spark)
        self._inputs, self._outputs = inputs, outputs
        self._read: list[str] = []
        self._saved: list[str] = []

    def apply(self, transform: PTransform[Any, Any], given: Any) -> Any:
        label = transform.label or transform.default_label
        if isinstance(transform, Read):
            name, inputs = transform.name, self._inputs
            _check_name("input", "reads", name, inputs, self._read)
            self._read.append(name)
            return super().apply(label >> inputs[name], given)
        if isinstance(transform, SaveAs):
            name, outputs = transform.name, self._outputs
            _check_name("output", "saves", name, outputs, self._saved)
            self._saved.append(name)
            kept = super().apply(label >> _Kept(), given)
            self._look_at(name, kept)
            return kept
        return super().apply(transform, given)

    def _look_at(self, name: str, kept: PCollection[Any]) -> None:
        place, assertion = self._outputs[name]
        before = len(self.checks)
        assertion(kept)
        if len(self.checks) == before:
            text = f"this asserts nothing of output {name!r}; write expect(out).to(...) in it"
            self.checks.add(place, lambda run: text)

    def run(
        self, host: Host | None = None, spark: "SparkSession | None" = None, **options: Any
    ) -> PipelineResult:
        __tracebackhide__ = True
        missing = [
            f"the job never {verb} {kind} {name!r}"
            for kind, verb, names, used in (
                ("input", "reads", self._inputs, self._read),
                ("output", "saves", self._outputs, self._saved),
            )
            for name in names
            if name not in used
        ]
        if missing:
            self.checks.give_up()
            raise PipelineError("; ".join(missing))
        return super().run(host, spark, **options)


class _Kept(PTransform[PCollection[Any], PCollection[Any]]):
    """In place of a sink."""

    def expand(self, given: PCollection[Any]) -> PCollection[Any]:
        return given


def _check_name(
    kind: str, verb: str, name: str, known: Mapping[str, object], used: list[str]
) -> None:
    if name not in known:
        names = ", ".join(map(repr, known)) or "none"
        add = f".input({name!r}, [...])" if kind == "input" else f".output({name!r})(...)"
        raise PipelineError(
            f"the job {verb} {kind} {name!r}, which the test does not have; its {kind}s are: "
            f"{names}; add {add}"
        )
    if name in used:
        more = "; use the collection twice" if kind == "input" else ""
        raise PipelineError(f"the job {verb} {kind} {name!r} twice{more}")


def _argument(text: str) -> tuple[str, str]:
    name, is_given, value = text.removeprefix("--").partition("=")
    if not text.startswith("--") or not is_given or not name:
        raise PipelineError(f'an argument of a job is written "--name=value", got {text!r}')
    return name, value


def _number_of_arguments(job: Callable[..., object]) -> int:
    try:
        inspect.signature(job).bind(None, None)
    except TypeError:
        return 1
    return 2


def _metric_problem(
    run: PipelineRun,
    kind: str,
    name: MetricName | str,
    fold: Callable[[list[Any]], Any],
    wanted: object,
) -> str | None:
    found: Mapping[str, Any] = MetricResults(run.metrics).query()  # type: ignore[assignment]
    values = [it.committed for it in found[kind] if name in (it.key.metric, it.key.metric.name)]
    what = f"{kind.removesuffix('s')} {_words(name)}"
    if not values:
        known = ", ".join(_words(it.key.metric) for it in found[kind]) or "none"
        return f"the job never touched the {what}; its {kind} are: {known}"
    value = fold(values)
    if not callable(wanted):
        return None if same(wanted, value) else f"the {what} is {value!r}, not {wanted!r}"
    if wanted(value) is False:
        return f"the {what} is {value!r}, for which {getattr(wanted, '__name__', wanted)} is False"
    return None


def _together(values: list[DistributionData]) -> DistributionData:
    return DistributionData(
        sum(it.sum for it in values),
        sum(it.count for it in values),
        min(it.min for it in values),
        max(it.max for it in values),
    )


def _words(name: MetricName | str) -> str:
    return repr(name) if isinstance(name, str) else f"{name.namespace}:{name.name}"
