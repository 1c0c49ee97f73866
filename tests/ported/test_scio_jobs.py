"""Tests of jobs: what is put in place of inputs, outputs and files, and what is counted.

Original: ``JobTestTest.scala`` of scio-test; spotify/scio at 3b35141. Its tests of transforms that
are overridden are in ``test_scio_overrides.py`` beside this.

What differs:

* Inputs and outputs are names, so the tests of kinds of files are one, and those of formats are
  left out; so are tests of how a job's class is found and of type tags.
* Where a test must fail, the original says with which exception; here also in which words.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from beamlike.api.pipelines.metrics import DistributionData, Metrics
from beamlike.errors import PipelineError
from beamlike.scio import ScioContext, SCollection
from beamlike.testing import (
    JobTest,
    PaneAssertionError,
    contain_in_any_order,
    expect,
    run_with_local_output,
)

Args = Mapping[str, str]


def dist_cache_job(sc: ScioContext, args: Args) -> None:
    dc = sc.dist_cache(args["distCache"], lambda f: Path(f).read_text().splitlines())
    sc.read(args["input"]).flat_map(lambda x: [x + it for it in dc()]).save_as(args["output"])


def job_of_one(append: str) -> JobTest:
    expected = [word + append for word in ("a", "b")] if append else []
    return (
        JobTest(lambda sc: sc.read("in.txt").map(lambda x: x + "1").save_as("out.txt"))
        .input("in.txt", ["a", "b"])
        .output("out.txt")(lambda coll: expect(coll).to(contain_in_any_order(expected)))
    )


def test_a_job_test_should_pass_correct_io(sc: ScioContext) -> None:
    job_of_one("1").run_within(sc)


def test_it_should_fail_incorrect_io() -> None:
    with pytest.raises(PaneAssertionError, match="contain_in_any_order does not hold"):
        job_of_one("2").run()


def with_dist_cache(*xs: str) -> JobTest:
    return (
        JobTest(dist_cache_job)
        .args("--input=in.txt", "--output=out.txt", "--distCache=dc.txt")
        .input("in.txt", ["a", "b"])
        .dist_cache("dc.txt", ["1", "2"])
        .output("out.txt")(lambda coll: expect(coll).to(contain_in_any_order(xs)))
    )


def test_it_should_pass_correct_dist_cache(sc: ScioContext) -> None:
    with_dist_cache("a1", "a2", "b1", "b2").run_within(sc)


def test_it_should_fail_incorrect_dist_cache() -> None:
    with pytest.raises(PaneAssertionError):
        with_dist_cache("a1", "a2", "b1").run()


def test_without_a_test_the_file_is_read(tmp_path: Path) -> None:
    """Not in the original."""
    file = tmp_path / "dc.txt"
    file.write_text("1\n2\n", encoding="utf-8")

    def joined(sc: ScioContext) -> SCollection[str]:
        dc = sc.dist_cache(str(file), lambda f: Path(f).read_text().splitlines())
        several = sc.dist_cache([str(file)] * 2, lambda files: len(files))
        return sc.parallelize(["a"]).flat_map(lambda x: [x + it for it in dc()] * several())

    assert run_with_local_output(joined)[1] == ["a1", "a2", "a1", "a2"]


def some_job() -> JobTest:
    return JobTest(dist_cache_job).args("--input=in.txt", "--output=out.txt", "--distCache=dc.txt")


def says_nothing(coll: SCollection[Any]) -> None:
    expect(coll).to(contain_in_any_order(["a1", "a2", "b1", "b2"]))


@pytest.mark.parametrize(
    ("inputs", "outputs", "caches", "message"),
    [
        pytest.param(
            [],
            ["out.txt"],
            ["dc.txt"],
            "the job reads input 'in.txt', which the test does not have; its inputs are: none; add "
            ".input('in.txt', [...])",
            id="missing test input",
        ),
        pytest.param(
            ["bad-in.txt"],
            ["out.txt"],
            ["dc.txt"],
            "the job reads input 'in.txt', which the test does not have; its inputs are: "
            "'bad-in.txt'; add .input('in.txt', [...])",
            id="misspelled test input",
        ),
        pytest.param(
            ["in.txt", "unmatched.txt"],
            ["out.txt"],
            ["dc.txt"],
            "the job never reads input 'unmatched.txt'",
            id="unmatched test input",
        ),
        pytest.param(
            ["in.txt", "in.txt"],
            ["out.txt"],
            ["dc.txt"],
            "JobTest has an input 'in.txt' already",
            id="duplicate test input",
        ),
        pytest.param(
            ["in.txt"],
            [],
            ["dc.txt"],
            "the job saves output 'out.txt', which the test does not have; its outputs are: none; "
            "add .output('out.txt')(...)",
            id="missing test output",
        ),
        pytest.param(
            ["in.txt"],
            ["bad-out.txt"],
            ["dc.txt"],
            "the job saves output 'out.txt', which the test does not have; its outputs are: "
            "'bad-out.txt'; add .output('out.txt')(...)",
            id="misspelled test output",
        ),
        pytest.param(
            ["in.txt"],
            ["out.txt", "unmatched.txt"],
            ["dc.txt"],
            "the job never saves output 'unmatched.txt'",
            id="unmatched test output",
        ),
        pytest.param(
            ["in.txt"],
            ["out.txt", "out.txt"],
            ["dc.txt"],
            "JobTest has an output 'out.txt' already",
            id="duplicate test output",
        ),
        pytest.param(
            ["in.txt"],
            ["out.txt"],
            [],
            "the job takes dist cache 'dc.txt', which the test does not have; its dist caches are: "
            "none; add .dist_cache('dc.txt', content)",
            id="missing test dist cache",
        ),
        pytest.param(
            ["in.txt"],
            ["out.txt"],
            ["bad-dc.txt"],
            "the job takes dist cache 'dc.txt', which the test does not have; its dist caches are: "
            "'bad-dc.txt'; add .dist_cache('dc.txt', content)",
            id="misspelled test dist cache",
        ),
        pytest.param(
            ["in.txt"],
            ["out.txt"],
            ["dc.txt", "unmatched.txt"],
            "the job never takes dist cache 'unmatched.txt'",
            id="unmatched test dist cache",
        ),
        pytest.param(
            ["in.txt"],
            ["out.txt"],
            ["dc.txt", "dc.txt"],
            "JobTest has a dist cache 'dc.txt' already",
            id="duplicate test dist cache",
        ),
    ],
)
def test_it_should_fail(
    inputs: list[str], outputs: list[str], caches: list[str], message: str
) -> None:
    def run() -> None:
        test = some_job()
        for name in inputs:
            test.input(name, ["a", "b"])
        for name in outputs:
            test.output(name)(says_nothing)
        for name in caches:
            test.dist_cache(name, ["1", "2"])
        test.run()

    with pytest.raises(PipelineError) as refused:
        run()

    assert str(refused.value) == message


# -- metrics -----------------------------------------------------------------------------------

COUNTER = Metrics.counter("MetricsJob", "counter")
DISTRIBUTION = Metrics.distribution("MetricsJob", "distribution")
GAUGE = Metrics.gauge("MetricsJob", "gauge")


def metrics_job(sc: ScioContext) -> None:
    def count(x: int) -> int:
        COUNTER.inc()
        DISTRIBUTION.update(x)
        GAUGE.set(x)
        return x

    sc.parallelize(range(1, 11)).map(count)


def test_it_should_pass_correct_metrics_test(sc: ScioContext) -> None:
    data = DistributionData(sum=55, count=10, min=1, max=10)
    (
        JobTest(metrics_job)
        .counter(COUNTER)(10)
        .counters({COUNTER.name: 10})
        .distribution(DISTRIBUTION)(lambda it: it == data and it.mean == 5.5)
        .distributions(lambda every: every[DISTRIBUTION.name] == data)
        .gauge(GAUGE)(lambda it: 1 <= it <= 10)
        .gauges(lambda every: all(1 <= it <= 10 for it in every.values()))
        .run_within(sc)
    )


@pytest.mark.parametrize(
    ("look", "message"),
    [
        pytest.param(
            lambda test: test.counter(COUNTER)(100),
            "the counter MetricsJob:counter is 10, not 100",
            id="counter",
        ),
        pytest.param(
            lambda test: test.distribution(DISTRIBUTION)(lambda it: it.max == 100),
            "the distribution MetricsJob:distribution is DistributionData(sum=55, count=10, min=1, "
            "max=10), for which <lambda> is False",
            id="distribution",
        ),
        pytest.param(
            lambda test: test.gauge(GAUGE)(lambda it: it >= 100),
            "the gauge MetricsJob:gauge is 10, for which <lambda> is False",
            id="gauge",
        ),
        pytest.param(
            lambda test: test.counters({}),
            "the counters are {'MetricsJob:counter': 10}, not {}",
            id="counters",
        ),
    ],
)
def test_it_should_fail_incorrect(look: Callable[[JobTest], object], message: str) -> None:
    test = JobTest(metrics_job)
    look(test)

    with pytest.raises(PaneAssertionError) as failed:
        test.run()

    assert str(failed.value).endswith(message)
