"""Assertions about a run as a whole: what its functions count, and what it ends with.

    with run_with_context() as sc:
        decode(sc.parallelize(lines))
        expect_counter(sc, BAD_LINES)(2)

Source: Scio ``JobTest.counter``, ``distribution`` and ``gauge``.
"""

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, Literal

import attrs

from beamlike.api.pipelines.metrics import (
    Counter,
    Distribution,
    Gauge,
    MetricName,
    MetricResult,
    MetricResults,
)
from beamlike.errors import BeamlikeError, PipelineError, TransformError
from beamlike.runtime.graph.metrics import DistributionData
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.testing.assertions.equality import same
from beamlike.testing.pipelines.checks import Checks

Kind = Literal["counters", "distributions", "gauges"]
Of = Callable[[object], None]


def expect_counter(of: Any, counter: Counter | str) -> Of:
    """What a counter ends at, over all transforms: ``expect_counter(sc, lines)(3)``.

    Args:
        of: A context of a test, or a collection or pipeline of one.
        counter: The counter, or its name in any namespace. Then the value, or a function of it
            that asserts something or returns whether it is right.

    Raises:
        PipelineError: It is none of a test.
    """
    return _expect(of, "expect_counter", "counters", counter)


def expect_distribution(of: Any, distribution: Distribution | str) -> Of:
    """What a distribution ends at, a ``DistributionData``, as `expect_counter`."""
    return _expect(of, "expect_distribution", "distributions", distribution)


def expect_gauge(of: Any, gauge: Gauge | str) -> Of:
    """What a gauge was set to last, as `expect_counter`."""
    return _expect(of, "expect_gauge", "gauges", gauge)


def expect_error(of: Any, words: str = "", error: type[BeamlikeError] = TransformError) -> None:
    """Assert that the run ends with an error: ``expect_error(sc, "division by zero")``.

    A run that ends so brings out nothing, so nothing else can be asserted of it.

    Args:
        of: A context of a test, or a collection or pipeline of one.
        words: A part of its message.
        error: Its class. What a function of the pipeline raises comes as a ``TransformError``.

    Raises:
        PipelineError: It is none of a test, or is to end with an error already.
        PaneAssertionError: When it has run: it raised nothing, or something else.
    """
    _checks_of(of, "expect_error").expect_error(error, words)


def _expect(of: Any, verb: str, metric_kind: Kind, metric: Any) -> Of:
    assert_with = _checks_of(of, verb).open(f"write {verb}(...)(value)")
    return lambda value: assert_with(MetricCheck(metric_kind, metric_name(metric), value))


def _checks_of(of: Any, verb: str) -> Checks:
    checks = getattr(getattr(of, "pipeline", of), "checks", None)
    if not isinstance(checks, Checks):
        raise PipelineError(
            f"{verb} needs a context of a test, got {of!r}; build the pipeline in a block of "
            "run_with_context() or TestPipeline()"
        )
    return checks


def metric_name(metric: Any) -> MetricName | str | None:
    """The name of a metric, or the name itself, in any namespace."""
    name: MetricName | str | None = metric if isinstance(metric, str | None) else metric.name
    return name


@attrs.frozen
class MetricCheck:
    """What is to be checked of a metric of a run; of all of the kind if there is no name.

    ``wanted`` is the value, or a function of it. Of all it is a mapping by `MetricName`.
    """

    metric_kind: Kind
    name: MetricName | str | None
    wanted: object

    def __call__(self, run: PipelineRun) -> str | None:
        results = MetricResults(run.metrics).values()[self.metric_kind]
        if self.name is None:
            by_name: dict[MetricName, list[MetricResult]] = {}
            for result in results:
                by_name.setdefault(result.key.metric, []).append(result)
            values = {name: self._value(its) for name, its in by_name.items()}
            return self._answer(self.metric_kind, values, "are")
        label = f"{self.metric_kind.removesuffix('s')} {metric_text(self.name)}"
        named = [
            result for result in results if self.name in (result.key.metric, result.key.metric.name)
        ]
        if not named:
            known = dict.fromkeys(metric_text(result.key.metric) for result in results)
            names = ", ".join(known) or "none"
            return f"the job never touched the {label}; its {self.metric_kind} are: {names}"
        is_one = all(same(named[0].committed, result.committed) for result in named)
        if self.metric_kind == "gauges" and not is_one:
            by_step = ", ".join(f"{result.committed!r} by {result.key.step!r}" for result in named)
            return (
                f"the {label} was set to {by_step}, and which is later is not known; "
                "check each alone"
            )
        return self._answer(label, self._value(named), "is")

    def _value(self, results: list[MetricResult]) -> Any:
        values = [result.committed for result in results]
        match self.metric_kind:
            case "counters":
                return sum(values)
            case "distributions":
                return reduce(DistributionData.merged, values)
        return values[-1]

    def _answer(self, label: str, value: Any, verb: str) -> str | None:
        wanted = self.wanted
        shown: Any = value
        if isinstance(value, Mapping):
            shown = {metric_text(name): of_metric for name, of_metric in value.items()}
        if not callable(wanted):
            return None if same(wanted, value) else f"the {label} {verb} {shown!r}, not {wanted!r}"
        answer = wanted(value)
        if answer is None or answer:  # what asserts by itself returns None
            return None
        name = getattr(wanted, "__name__", wanted)
        return f"the {label} {verb} {shown!r}, for which {name} is {answer!r}"


def metric_text(name: MetricName | str) -> str:
    """A metric in an error text."""
    return repr(name) if isinstance(name, str) else f"{name.namespace}:{name.name}"
