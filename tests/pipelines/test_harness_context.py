"""Blocks of tests: when a pipeline runs, when its assertions are asked, and when they never are."""

import configparser
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from beamlike.api.pipelines.elements import Create, Map
from beamlike.api.pipelines.on_spark import SparkOptions
from beamlike.api.pipelines.pipeline import Pipeline
from beamlike.api.pipelines.result import PipelineResult
from beamlike.errors import PipelineError, TestStreamError, TransformError
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.scio import ScioContext
from beamlike.testing import (
    JobTest,
    NothingRanWarning,
    PaneAssertionError,
    TestPipeline,
    TestStream,
    contain_in_any_order,
    contain_single_value,
    expect,
    have_size,
    in_on_time_pane,
    in_window,
    run_with_context,
    run_with_data,
    run_with_local_output,
    satisfy,
    test_stream_of,
)
from beamlike.testing.pipelines.checks import collected_unrun

LINES = (
    test_stream_of()
    .add_elements_at_time("00:00:00", "foo bar")
    .add_elements_at_time("00:00:30", "baz baz")
    .advance_watermark_to_infinity()
)


def test_a_block_runs_and_asks_at_its_end() -> None:
    asked: list[list[str]] = []

    def note(words: list[str]) -> bool:
        asked.append(words)
        return True

    with run_with_context() as sc:
        counts = sc.test_stream(LINES).flat_map(str.split).with_fixed_windows("1 minute")
        expect(counts.count_by_value()).to(
            in_on_time_pane(
                "00:00:00", "00:01:00", contain_in_any_order([("foo", 1), ("bar", 1), ("baz", 2)])
            )
        )
        expect(counts).to(in_window("00:00:00", "00:01:00", satisfy(note)))
        assert asked == []

    assert asked == [["foo", "bar", "baz", "baz"]]


def test_what_does_not_hold_is_raised_at_the_end_of_the_block() -> None:
    with (
        pytest.raises(PaneAssertionError, match="contain_single_value does not hold"),
        run_with_context() as sc,
    ):
        expect(sc.parallelize([1, 2])).to(contain_single_value(1))


def test_a_block_can_run_by_itself_to_look_at_the_result() -> None:
    with run_with_context() as sc:
        numbers = sc.parallelize([1, 2])
        expect(numbers).to(have_size(2))

        result = sc.run()

        assert [came.element.value for came in result.out_of(numbers.edge)] == [1, 2]

    with run_with_context() as sc:
        expect(sc.parallelize([1, 2])).to(have_size(3))
        with pytest.raises(PaneAssertionError):
            sc.run()


@pytest.fixture
def ran_on_spark(monkeypatch: pytest.MonkeyPatch) -> list[SparkOptions]:
    """With what options pipelines went to Spark, which only notes them here."""
    options: list[SparkOptions] = []

    def note(*given: Any, **_writing: bool) -> PipelineResult:
        options.append(given[-1])
        return PipelineResult(PipelineRun({}, ()))

    monkeypatch.setattr("beamlike.api.pipelines.pipeline.run_on_spark", note)
    return options


def test_a_context_runs_where_its_pipeline_was_made_to_run(ran_on_spark: list[SparkOptions]):
    ScioContext(Pipeline(runner="SparkRunner")).run()
    with ScioContext(Pipeline(runner="SparkRunner")):
        pass
    with run_with_context("spark") as sc:
        sc.run()
    JobTest(lambda sc: sc.run()).run("spark")

    assert ran_on_spark == [SparkOptions()] * 4

    ScioContext(Pipeline(runner="SparkRunner")).run("memory")
    ScioContext().run()

    assert len(ran_on_spark) == 4


def test_a_context_runs_with_what_a_pipeline_runs_with(ran_on_spark: list[SparkOptions]) -> None:
    trigger = {"availableNow": True}

    # Scio's numbers are milliseconds, Beam Python's are seconds.
    for every in ("5 s", 5_000):
        ScioContext().run("spark", checkpoint="here", trigger=trigger, shards=2, wake_every=every)
    Pipeline().run("spark", checkpoint="here", trigger=trigger, shards=2, wake_every=5)

    assert ran_on_spark == [SparkOptions(None, "here", trigger, 2, 5_000)] * 3


def test_what_is_raised_in_a_block_is_the_failure() -> None:
    def broken(numbers: Any) -> None:
        expect(numbers).to(have_size(2))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), run_with_context() as sc:
        broken(sc.parallelize([1]))


def test_what_the_pipeline_raises_is_the_failure() -> None:
    with pytest.raises(TransformError, match="division by zero"), run_with_context() as sc:
        expect(sc.parallelize([1]).map(lambda number: number / 0)).to(have_size(2))


def test_a_pipeline_of_beam_runs_like_a_context() -> None:
    with TestPipeline() as pipeline:
        expect(pipeline | Create([1, 2]) | Map(str)).to(contain_in_any_order(["1", "2"]))

    with pytest.raises(PaneAssertionError), TestPipeline() as pipeline:
        expect(pipeline | Create([1])).to(have_size(2))


def test_a_function_of_collections_can_be_run_on_lists() -> None:
    assert run_with_data([1, 2])(lambda numbers: numbers.map(lambda number: number + 1)) == [2, 3]
    assert run_with_data(["a"], ["b"])(lambda some, more: some.union(more)) == ["a", "b"]
    assert run_with_data([])(lambda nothing: nothing) == []


def test_the_elements_of_a_collection_can_be_had() -> None:
    result, words = run_with_local_output(lambda sc: sc.test_stream(LINES).flat_map(str.split))

    assert words == ["foo", "bar", "baz", "baz"]
    assert result.state == "DONE"

    def forgets_to_return(sc: ScioContext) -> Any:
        sc.parallelize([1])

    with pytest.raises(PipelineError, match="must return the collection to look at, it returned N"):
        run_with_local_output(forgets_to_return)


# -- streams as sources ------------------------------------------------------------------------


def test_a_stream_is_a_source_under_its_own_name_or_another() -> None:
    with TestPipeline() as pipeline:
        one = pipeline | LINES
        other = pipeline | "other lines" >> LINES

        assert (repr(one), repr(other)) == (
            "<PCollection of 'TestStream'>",
            "<PCollection of 'other lines'>",
        )
        assert not one.is_bounded
        expect(one).to(contain_in_any_order(["foo bar", "baz baz"]))
        expect(other).to(contain_in_any_order(["foo bar", "baz baz"]))


def test_a_stream_that_is_open_feeds_no_pipeline() -> None:
    with pytest.raises(TestStreamError) as refused:
        Pipeline() | "lines" >> TestStream().add_elements("foo")

    assert str(refused.value) == (
        "'lines' is still open, and windows that are open would never come out; finish it with "
        "advance_watermark_to_infinity()"
    )


# -- what never ran ----------------------------------------------------------------------------


def test_assertions_that_were_never_asked_are_reported_of() -> None:
    def forgetful() -> None:
        pipeline = TestPipeline()
        expect(pipeline | Create([1])).to(have_size(2))

    with pytest.warns(NothingRanWarning) as warned:
        forgetful()

    assert str(warned[0].message) == (
        "nothing was checked: the pipeline of test_harness_context.py:"
        f"{forgetful.__code__.co_firstlineno + 2} never ran; build it in a with block, or call "
        "run()"
    )
    assert collected_unrun.pop() == str(warned[0].message)  # or the plugin would fail this test


def test_a_job_that_never_ran_is_reported_of() -> None:
    def job(sc: ScioContext) -> None:
        sc.parallelize([1])

    def forgetful() -> None:
        JobTest(job)

    with pytest.warns(NothingRanWarning) as warned:
        forgetful()

    assert str(warned[0].message) == (
        "nothing was checked: the JobTest of job at test_harness_context.py:"
        f"{forgetful.__code__.co_firstlineno + 1} never ran; add .run()"
    )
    assert collected_unrun.pop() == str(warned[0].message)  # or the plugin would fail this test


TESTS = """
import pytest

from beamlike.api.pipelines.elements import Create
from beamlike.testing import JobTest, TestPipeline, expect, have_size

kept = []

def test_forgets():
    expect(TestPipeline() | Create([1])).to(have_size(2))

def test_forgets_and_keeps():
    kept.append(TestPipeline())
    expect(kept[0] | Create([1])).to(have_size(2))

def test_runs():
    with TestPipeline() as pipeline:
        expect(pipeline | Create([1])).to(have_size(1))

@pytest.fixture
def runs():
    with TestPipeline() as pipeline:
        yield pipeline

@pytest.fixture
def forgets():
    return TestPipeline()

def test_leaves_it_to_a_fixture(runs):
    expect(runs | Create([1])).to(have_size(1))

def test_leaves_it_to_a_fixture_that_forgets(forgets):
    expect(forgets | Create([1])).to(have_size(1))

def test_fails_before_it_could_run_anything():
    job = JobTest(print)
    assert job is None
"""


def test_the_plugin_makes_such_tests_fail(tmp_path: Path) -> None:
    test = tmp_path / "test_some.py"
    test.write_text(TESTS, encoding="utf-8")

    given = ("-q", "-p", "beamlike.testing.plugin", "-p", "no:cacheprovider", "-W", "ignore")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *given, str(test)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )

    assert "3 failed, 3 passed, 1 error" in done.stdout
    assert "nothing was checked: the JobTest" not in done.stdout
    for line in (10, 14, 33):
        assert (
            f"nothing was checked: the pipeline of test_some.py:{line} never ran; build it in a "
            "with block, or call run()" in done.stdout
        )


def test_pytest_finds_the_plugin_under_the_name_of_its_module() -> None:
    """Then it is one plugin, also for those who name it themselves."""
    config = configparser.ConfigParser()
    config.read(Path(__file__).parents[2] / "setup.cfg", encoding="utf-8")
    [line] = config["options.entry_points"]["pytest11"].strip().splitlines()
    name, _, module = (part.strip() for part in line.partition("="))

    found = EntryPoint(name, module, "pytest11").load()

    assert found.__name__ == name == "beamlike.testing.plugin"
    assert callable(found.pytest_runtest_call)
