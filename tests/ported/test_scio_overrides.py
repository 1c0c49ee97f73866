"""Transforms of a job that a test puts its own in place of, and pipelines run for their output.

Original: the tests of overrides of ``JobTestTest.scala``, and ``PipelineTestUtilsTest.scala``, of
scio-test; spotify/scio at 3b35141.

What differs: what looks something up in a server by the way is a function here. The overrides of
asynchronous look-ups are those of pairs, and left out; so are tests of type tags.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from beamlike.api.pipelines.metrics import Metrics
from beamlike.errors import TransformError
from beamlike.scio import ScioContext, SCollection
from beamlike.testing import (
    JobTest,
    TransformOverride,
    be_empty,
    contain_in_any_order,
    expect,
    expect_error,
    run_with_data,
    run_with_local_output,
    run_with_overrides,
)

COUNTER = Metrics.counter("PipelineTestUtilsTest", "counter")


def source_job(sc: ScioContext) -> None:
    sc.read("in.txt").save_as("out.txt")


def in_source_job(elements: list[str]) -> JobTest:
    return (
        JobTest(source_job)
        .input("in.txt", [])
        .transform_override(TransformOverride.of_source("Read('in.txt')", elements))
    )


def test_override_of_source_should_support_non_empty_input(sc: ScioContext) -> None:
    expected = contain_in_any_order(["10", "11", "12"])
    in_source_job(["10", "11", "12"]).output("out.txt")(
        lambda coll: expect(coll).to(expected)
    ).run_within(sc)


def test_override_of_source_should_support_empty_input(sc: ScioContext) -> None:
    in_source_job([]).output("out.txt")(lambda coll: expect(coll).to(be_empty)).run_within(sc)


def asked(number: int) -> Any:
    raise ConnectionError("no test should ask the server")


def job(sc: ScioContext) -> None:
    """One element for each number."""
    sc.read("in.txt").map(int).with_name("myTransform").map(asked).save_as("out.txt")


def iter_job(sc: ScioContext) -> None:
    """Several elements for each number, by a composite."""
    numbers = sc.read("in.txt").map(int)
    numbers.transform("myTransform", lambda c: c.map(asked).map(str)).save_as("out.txt")


def kv_job(sc: ScioContext) -> None:
    """A pair of each number and what was found."""
    sc.read("in.txt").map(int).with_name("myTransform").map(asked).values().save_as("out.txt")


def times_ten(number: int) -> str:
    return f"{number * 10}"


def those_before(number: int) -> list[str]:
    return [str(index) for index in range(1, number)]


@pytest.mark.parametrize(
    ("of", "override", "inputs", "expected"),
    [
        pytest.param(
            iter_job,
            TransformOverride.of_iter("myTransform", {1: ["10"], 2: ["20", "21"], 3: []}),
            ["1", "2"],
            ["10", "20", "21"],
            id="of_iter, 1-to-n inputs",
        ),
        pytest.param(
            iter_job,
            TransformOverride.of_iter("myTransform", those_before),
            ["1", "2", "3"],
            ["1", "1", "2"],
            id="of_iter, 1-to-n function inputs",
        ),
        pytest.param(
            job,
            TransformOverride.of("myTransform", {1: "10", 2: "20", 3: "30"}),
            ["1", "2"],
            ["10", "20"],
            id="of, non-empty input",
        ),
        pytest.param(
            job,
            TransformOverride.of("myTransform", times_ten, int),
            ["1", "2"],
            ["10", "20"],
            id="of, function input",
        ),
        pytest.param(
            kv_job,
            TransformOverride.of_kv("myTransform", {1: "10", 2: "20", 3: "30"}),
            ["1", "2"],
            ["10", "20"],
            id="of_kv, non-empty input",
        ),
        pytest.param(
            kv_job,
            TransformOverride.of_kv("myTransform", times_ten),
            ["1", "2"],
            ["10", "20"],
            id="of_kv, function override",
        ),
        pytest.param(
            kv_job,
            TransformOverride.of_iter_kv(
                "myTransform", {1: [], 2: ["20", "21"], 3: ["30"], 4: ["40"]}
            ),
            ["1", "2", "3"],
            ["20", "21", "30"],
            id="of_iter_kv, non-empty input",
        ),
        pytest.param(
            kv_job,
            TransformOverride.of_iter_kv("myTransform", those_before),
            ["1", "2", "3"],
            ["1", "1", "2"],
            id="of_iter_kv, 1-to-n function input",
        ),
    ],
)
def test_an_override_should_support(
    sc: ScioContext,
    of: Callable[[ScioContext], None],
    override: TransformOverride,
    inputs: list[str],
    expected: list[str],
) -> None:
    (
        JobTest(of)
        .input("in.txt", inputs)
        .transform_override(override)
        .output("out.txt")(lambda coll: expect(coll).to(contain_in_any_order(expected)))
        .run_within(sc)
    )


def test_an_override_should_fail_with_an_incorrect_input_type(sc: ScioContext) -> None:
    (
        JobTest(lambda sc: sc.read("in.txt").map(int).with_name("myTransform").map(asked))
        .input("in.txt", ["1", "2"])
        .transform_override(TransformOverride.of("myTransform", {"10": "10"}, str))
        .run_within(sc)
    )
    expect_error(sc, "TypeError: the override of 'myTransform' takes str, got 1")


def test_a_mapping_should_fail_where_it_has_nothing() -> None:
    """Not in the original."""
    test = (
        JobTest(job)
        .input("in.txt", ["1"])
        .transform_override(TransformOverride.of("myTransform", {2: "20"}))
        .output("out.txt")(lambda coll: expect(coll).to(be_empty))
    )
    with pytest.raises(TransformError, match="has nothing for 1; it has something for: 2"):
        test.run()


# -- PipelineTestUtils -------------------------------------------------------------------------


def test_run_with_data_should_take_the_input_and_materialize_the_output() -> None:
    assert run_with_data([1, 2, 3])(lambda coll: coll.map(lambda it: it * 2)) == [2, 4, 6]


def test_run_with_local_output_should_return_the_result_with_the_output() -> None:
    def doubled(sc: ScioContext) -> SCollection[int]:
        return sc.parallelize([1, 2, 3]).tap(lambda _: COUNTER.inc()).map(lambda it: it * 2)

    result, output = run_with_local_output(doubled)

    assert output == [2, 4, 6]
    [counted] = result.metrics().query()["counters"]
    assert (counted.key.metric, counted.committed) == (COUNTER.name, 3)


def test_run_with_overrides_should_override_named_transforms_of_the_pipeline() -> None:
    with run_with_overrides(
        TransformOverride.of("multiply", lambda v: v * v),
        TransformOverride.of_iter("append", lambda v: [f"{v}c", f"{v}d"]),
    ) as sc:
        result = (
            sc.parallelize([1, 2, 3])
            .with_name("multiply")
            .map(lambda it: it * 2)
            .with_name("append")
            .flat_map(lambda v: [f"{v}a", f"{v}b"])
        )
        expect(result).to(contain_in_any_order(["1c", "1d", "4c", "4d", "9c", "9d"]))


def test_it_should_override_named_transforms_if_types_are_compatible() -> None:
    # It takes sequences, and will be given texts.
    override = TransformOverride.of("prefix", lambda x: f"override-{x}", Sequence)
    with run_with_overrides(override) as sc:
        actual = sc.parallelize(["a", "b"]).with_name("prefix").map(lambda x: f"prefix-{x}")
        expect(actual).to(contain_in_any_order(["override-a", "override-b"]))
