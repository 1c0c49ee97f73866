"""Assertions about a run as a whole: what its functions count, and what it ends with."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from beamlike.api.pipelines.elements import Create, Map
from beamlike.api.pipelines.metrics import DistributionData, Metrics
from beamlike.errors import PipelineError
from beamlike.scio import ScioContext
from beamlike.testing import (
    PaneAssertionError,
    TestPipeline,
    TransformOverride,
    expect,
    expect_counter,
    expect_distribution,
    expect_error,
    expect_gauge,
    have_size,
    run_with_context,
    run_with_overrides,
)
from tests.support.refusals import refusal

NUMBERS = Metrics.counter("numbers", "seen")
VALUES = Metrics.distribution("numbers", "value")
LAST = Metrics.gauge("numbers", "last")


def count(number: int) -> int:
    NUMBERS.inc()
    VALUES.update(number)
    LAST.set(number)
    return number


def failures_of(build: Callable[[ScioContext], object]) -> list[str]:
    """The last paragraph of each failure: what is wrong, without the line of the test."""
    with pytest.raises(PaneAssertionError) as failed, run_with_context() as sc:
        build(sc)
    return [
        part.split("\n\n", 1)[1].replace("\n    ", "\n").strip()
        for part in str(failed.value).partition(":\n\n")[2].split("\n\n\n")
        if part
    ]


# -- metrics -----------------------------------------------------------------------------------


def test_what_functions_count_is_asked_after_the_run(host: dict[str, Any]) -> None:
    with run_with_context(**host) as sc:
        sc.parallelize([1, 2]).map(count).map(count)

        expect_counter(sc, NUMBERS)(4)
        expect_counter(sc, "seen")(lambda value: value > 3)
        expect_counter(sc, "seen")(print)  # a function that asserts by itself returns None
        expect_distribution(sc, VALUES)(DistributionData(sum=6, count=4, min=1, max=2))
        expect_gauge(sc, LAST)(2)


def test_a_collection_and_a_pipeline_know_their_context() -> None:
    with TestPipeline() as pipeline:
        numbers = pipeline | Create([1, 2]) | Map(count)

        expect_counter(pipeline, NUMBERS)(2)
        expect_counter(numbers, NUMBERS)(2)


@pytest.mark.parametrize(
    ("look", "message"),
    [
        (lambda sc: expect_counter(sc, NUMBERS)(3), "the counter numbers:seen is 2, not 3"),
        (
            lambda sc: expect_counter(sc, "unseen")(0),
            "the job never touched the counter 'unseen'; its counters are: numbers:seen",
        ),
        (
            lambda sc: expect_gauge(sc, LAST)(lambda value: value == 1),
            "the gauge numbers:last is 2, for which <lambda> is False",
        ),
        (
            lambda sc: expect_gauge(sc, LAST)(lambda value: np.bool_(value == 1)),
            f"the gauge numbers:last is 2, for which <lambda> is {np.False_!r}",
        ),
        (
            lambda sc: expect_counter(sc, NUMBERS)(lambda value: value - 2),
            "the counter numbers:seen is 2, for which <lambda> is 0",
        ),
        (
            lambda sc: expect_counter(sc, NUMBERS)(lambda value: [it for it in [value] if it > 2]),
            "the counter numbers:seen is 2, for which <lambda> is []",
        ),
        (
            lambda sc: expect_counter(sc, NUMBERS),
            "this checks nothing; write expect_counter(...)(value)",
        ),
    ],
)
def test_what_was_counted_wrong_is_reported(look: Callable[[ScioContext], object], message: str):
    def build(sc: ScioContext) -> None:
        sc.parallelize([1, 2]).map(count)
        look(sc)

    assert failures_of(build) == [message]


def test_a_gauge_that_transforms_set_apart_has_no_last_value() -> None:
    def build(sc: ScioContext) -> None:
        sc.parallelize([1]).with_name("one").map(count)
        sc.parallelize([2]).with_name("two").map(count)
        expect_gauge(sc, LAST)(2)

    assert failures_of(build) == [
        "the gauge numbers:last was set to 1 by 'one', 2 by 'two', and which is later is "
        "not known; check each alone"
    ]


def test_metrics_are_of_a_context_of_a_test() -> None:
    with pytest.raises(PipelineError) as refused:
        expect_counter(ScioContext(), NUMBERS)

    assert str(refused.value).startswith("expect_counter needs a context of a test, got <")
    assert str(refused.value).endswith(
        "build the pipeline in a block of run_with_context() or TestPipeline()"
    )


# -- errors ------------------------------------------------------------------------------------


def test_a_run_can_be_said_to_end_with_an_error() -> None:
    with run_with_context() as sc:
        sc.parallelize([1, 0]).map(lambda number: 1 / number)
        expect_error(sc, "division by zero")

        assert sc.run().state == "FAILED"

    with run_with_context() as sc:
        sc.parallelize([1]).map(abs).group_by_key()
        expect_error(sc, error=PipelineError)


def test_a_run_that_raises_nothing_is_reported() -> None:
    assert failures_of(lambda sc: expect_error(sc)) == [
        "the pipeline ran to its end, and should have raised TransformError"
    ]


def test_a_run_that_raises_something_else_is_reported() -> None:
    def build(sc: ScioContext) -> None:
        sc.parallelize_timestamped([("b", 7)]).with_name("number").map(int)
        expect_error(sc, "division by zero")

    assert failures_of(build) == [
        "the pipeline raised TransformError: 'number' raised ValueError: invalid literal for "
        "int() with base 10: 'b' for 'b' at 00:00:00.007\n\n"
        "and not TransformError with 'division by zero' in it"
    ]


def test_nothing_else_can_be_asked_of_a_run_that_ends_with_an_error() -> None:
    def build(sc: ScioContext) -> None:
        numbers = sc.parallelize([0]).map(lambda number: 1 / number)
        expect_error(sc, "division by zero")
        expect(numbers).to(have_size(1))

    assert failures_of(build) == [
        "a pipeline that ends with an error has nothing to check; use another for this"
    ]


def test_a_run_ends_with_one_error() -> None:
    def expect_two(sc: ScioContext) -> None:
        expect_error(sc)
        expect_error(sc)

    with pytest.raises(PipelineError, match="a run ends with one"), run_with_context() as sc:
        expect_two(sc)


# -- overrides ---------------------------------------------------------------------------------


def test_an_inner_transform_is_overridden_by_its_full_name() -> None:
    with run_with_overrides(TransformOverride.of("Outer/Inner", {1: "one"})) as sc:
        found = sc.parallelize([1]).transform("Outer", lambda it: it.with_name("Inner").map(str))
        expect(found).to(have_size(1))

        assert [came.element.value for came in sc.run().out_of(found.edge)] == ["one"]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            TransformOverride.of("Mispelt", str),
            "no transform has the name 'Mispelt' of an override; the names are: 'Numbers', 'Text'",
        ),
        (
            TransformOverride.of("Test", str),
            "no transform has the name 'Test' of an override; names like it are: 'Text'",
        ),
        (
            TransformOverride.of("Numbers", str),
            "'Numbers' starts from nothing, and cannot be overridden so; write "
            "TransformOverride.of_source(name, elements)",
        ),
        (
            TransformOverride.of_source("Text", [1]),
            "'Text' reads a collection, and cannot be overridden so; write "
            "TransformOverride.of(name, function)",
        ),
    ],
)
def test_an_override_fits_its_transform(override: TransformOverride, message: str) -> None:
    with pytest.raises(PipelineError) as refused, run_with_overrides(override) as sc:
        sc.parallelize([1], "Numbers").with_name("Text").map(str)

    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TransformOverride.of("", str), "needs the name of a transform, got ''"),
        (
            lambda: TransformOverride.of_kv("a", 1),  # type: ignore[arg-type]
            "TransformOverride.of_kv needs a mapping or a function, got 1; write "
            'TransformOverride.of_kv("name", lambda element: ...)',
        ),
        (
            lambda: run_with_overrides(str),  # type: ignore[arg-type]
            "an override is a TransformOverride, such as TransformOverride.of",
        ),
        (
            lambda: run_with_overrides(
                TransformOverride.of("a", str), TransformOverride.of("a", int)
            ),
            "the transform 'a' is overridden twice",
        ),
    ],
)
def test_an_override_is_of_one_transform_and_makes_something(
    make: Callable[[], object], message: str
) -> None:
    assert message in refusal(PipelineError, make)
