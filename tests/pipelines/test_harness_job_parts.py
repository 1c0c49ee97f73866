"""JobTest: jobs in contexts that a test runs, and what they know from files."""

from pathlib import Path
from typing import Any

import pytest

from beamlike.api.pipelines.elements import Create
from beamlike.api.pipelines.job_io import Read
from beamlike.errors import PipelineError
from beamlike.scio import ScioContext, SCollection
from beamlike.testing import (
    JobTest,
    PaneAssertionError,
    TestPipeline,
    TransformOverride,
    contain_in_any_order,
    contain_single_value,
    expect,
    have_size,
    run_with_context,
    run_with_local_output,
    run_with_overrides,
)
from tests.support.refusals import refusal


def doubles(sc: ScioContext) -> None:
    sc.read("numbers").with_name("doubled").map(lambda it: 2 * it).save_as("doubles")


def of_doubles(number: int) -> JobTest:
    return (
        JobTest(doubles)
        .input("numbers", [number])
        .output("doubles")(lambda out: expect(out).to(contain_single_value(2 * number)))
    )


def test_jobs_can_be_put_into_a_context_that_the_test_runs() -> None:
    with run_with_context() as sc:
        of_doubles(1).run_within(sc)
        JobTest(lambda sc: sc.read("users")).input("users", ["joe"]).run_within(sc)
        expect(sc.parallelize([1], "beside them")).to(have_size(1))

    test = of_doubles(2)
    with pytest.raises(PipelineError) as refused:
        test.run_within(ScioContext())
    assert str(refused.value).startswith("run_within needs a context of a test, got <")
    test.run()


def test_what_a_job_lacks_in_a_context_of_a_test_is_reported_when_it_is_put_there() -> None:
    test = JobTest(lambda sc: sc.read("lines")).input("lines", ["foo"]).input("users", [])

    with pytest.raises(PipelineError) as refused, run_with_context() as sc:
        test.run_within(sc)

    assert str(refused.value) == "the job never reads input 'users'"


def test_a_pipeline_of_beam_knows_the_context_of_its_job() -> None:
    pipeline = TestPipeline()
    of_doubles(3).run_within(ScioContext(pipeline))

    assert pipeline.run().state == "DONE"


def test_an_output_is_asked_for_and_not_overridden() -> None:
    test = of_doubles(1).transform_override(TransformOverride.of("SaveAs('doubles')", str))

    assert refusal(PipelineError, test.run) == (
        "\"SaveAs('doubles')\" is an output of the job, and cannot be overridden; say what must "
        "come there: .output('doubles')(...)"
    )


def looks_up(sc: ScioContext) -> None:
    suffixes = sc.dist_cache("dc.txt", lambda file: Path(file).read_text().splitlines())
    sc.read("words").flat_map(lambda word: [word + it for it in suffixes()]).save_as("found")


def of_look_up(*caches: str) -> JobTest:
    test = JobTest(looks_up).input("words", ["a", "b"])
    for name in caches:
        test.dist_cache(name, ["1", "2"])
    return test.output("found")(
        lambda out: expect(out).to(contain_in_any_order(["a1", "a2", "b1", "b2"]))
    )


def test_a_cache_is_what_the_test_has() -> None:
    assert of_look_up("dc.txt").run().state == "DONE"


@pytest.mark.parametrize(
    ("caches", "message"),
    [
        (
            [],
            "the job takes dist cache 'dc.txt', which the test does not have; its dist caches are: "
            "none; add .dist_cache('dc.txt', content)",
        ),
        (
            ["bad-dc.txt"],
            "the job takes dist cache 'dc.txt', which the test does not have; its dist caches are: "
            "'bad-dc.txt'; add .dist_cache('dc.txt', content)",
        ),
        (["dc.txt", "unmatched.txt"], "the job never takes dist cache 'unmatched.txt'"),
    ],
    ids=["missing", "misspelled", "unmatched"],
)
def test_a_job_and_its_test_have_the_same_caches(caches: list[str], message: str) -> None:
    assert refusal(PipelineError, of_look_up(*caches).run) == message


def test_without_a_test_the_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "dc.txt"
    file.write_text("1\n2\n", encoding="utf-8")

    def joined(sc: ScioContext) -> SCollection[str]:
        dc = sc.dist_cache(str(file), lambda f: Path(f).read_text().splitlines())
        several = sc.dist_cache([str(file)] * 2, lambda files: len(files))
        return sc.parallelize(["a"]).flat_map(lambda x: [x + it for it in dc()] * several())

    assert run_with_local_output(joined)[1] == ["a1", "a2", "a1", "a2"]


def test_a_cache_may_be_of_several_files_and_made_where_it_is_needed() -> None:
    def job(sc: ScioContext) -> None:
        months = sc.dist_cache(["jan.txt", "feb.txt"], len)
        sc.read("numbers").map(lambda it: months()[it]).save_as("months")

    (
        JobTest(job)
        .input("numbers", [0, 1])
        .dist_cache_func(["jan.txt", "feb.txt"], lambda: ["Jan", "Feb"])
        .output("months")(lambda out: expect(out).to(contain_in_any_order(["Jan", "Feb"])))
        .run()
    )


def test_a_cache_is_made_of_a_file_by_a_function() -> None:
    not_a_function: Any = "months"
    for uri, make in (("", len), ([], len), ("months.txt", not_a_function)):
        with pytest.raises(PipelineError, match="dist_cache needs a file and a function of its"):
            ScioContext().dist_cache(uri, make)


def test_what_does_not_hold_of_a_job_is_reported_with_what_does_not_hold_beside_it() -> None:
    def build(sc: ScioContext) -> None:
        of_doubles(1).counter("lines")(1).run_within(sc)
        expect(sc.parallelize([1], "beside it")).to(have_size(2))

    with pytest.raises(PaneAssertionError) as failed, run_with_context() as sc:
        build(sc)

    text = str(failed.value)
    assert text.startswith("2 of 3 assertions do not hold:")
    assert "the job never touched the counter 'lines'; its counters are: none" in text
    assert "collection  'beside it'" in text


def test_what_a_job_raises_leaves_the_context_as_it_was() -> None:
    def broken(sc: ScioContext) -> None:
        sc.read("numbers")
        raise ZeroDivisionError

    with run_with_context() as sc:
        with pytest.raises(ZeroDivisionError):
            JobTest(broken).input("numbers", [1]).run_within(sc)

        expect(sc.pipeline | "source" >> Read("source", Create([3]))).to(contain_single_value(3))


def test_what_is_overridden_around_a_job_is_overridden_in_it() -> None:
    with run_with_overrides(TransformOverride.of("doubled", {1: 10})) as sc:
        (
            JobTest(doubles)
            .input("numbers", [1])
            .output("doubles")(lambda out: expect(out).to(contain_single_value(10)))
            .run_within(sc)
        )

    def doubles_and_adds(sc: ScioContext) -> None:
        doubled = sc.read("numbers").with_name("doubled").map(lambda it: 2 * it)
        doubled.with_name("added").map(lambda it: it + 1).save_as("sums")

    with run_with_overrides(TransformOverride.of("doubled", {1: 10})) as sc:
        (
            JobTest(doubles_and_adds)
            .input("numbers", [1])
            .transform_override(TransformOverride.of("added", {10: 20}))
            .output("sums")(lambda out: expect(out).to(contain_single_value(20)))
            .run_within(sc)
        )


def test_a_transform_is_not_overridden_by_a_job_and_around_it() -> None:
    test = of_doubles(1).transform_override(TransformOverride.of("doubled", {1: 10}))

    with (
        pytest.raises(PipelineError) as refused,
        run_with_overrides(TransformOverride.of("doubled", {1: 20})) as sc,
    ):
        test.run_within(sc)

    assert str(refused.value) == "the transform 'doubled' is overridden twice"
