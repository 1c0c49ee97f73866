"""Tests in one query: one that raises fails by itself, and the others are played without it."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from beamlike.errors import PipelineError, TransformError
from beamlike.hosts.in_process import run_pipeline
from beamlike.hosts.spark.graph import query
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.scio import ScioContext
from beamlike.testing import (
    PaneAssertionError,
    contain_in_any_order,
    contain_single_value,
    expect,
    expect_error,
)
from tests.support.pipelines.side_by_side import Played, play_on_spark

Build = Callable[[ScioContext], None]


def divides(*numbers: int) -> Build:
    def build(sc: ScioContext) -> None:
        halves = sc.parallelize(numbers).with_name("divided").map(lambda it: 2 / it)
        expect(halves).to(contain_in_any_order([2 / number for number in numbers if number]))

    return build


def expects(words: str) -> Build:
    def build(sc: ScioContext) -> None:
        sc.parallelize([0]).map(lambda it: 2 / it)
        expect_error(sc, words)

    return build


def is_wrong(sc: ScioContext) -> None:
    expect(sc.parallelize([1])).to(contain_single_value(2))


def cannot_be_built(sc: ScioContext) -> None:
    expect(sc.parallelize([1])).to(contain_single_value(1))
    sc.read("a name alone")


def outcome(played: Played) -> str:
    """What checking says: nothing, or its error."""
    try:
        played.check()
    except PaneAssertionError:
        return "does not hold"
    except (PipelineError, TransformError) as error:
        return type(error).__name__
    return "holds"


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of pipelines in each query, which is played in memory."""
    sizes = []

    def played(pipelines: Sequence[query.Scripted], spark: Any) -> list[PipelineRun]:
        sizes.append(len(pipelines))
        return [run_pipeline(pipeline.ends) for pipeline in pipelines]

    monkeypatch.setattr(query, "run_pipelines_on_spark", played)
    return sizes


def play(builds: dict[str, Build], spark: Any = None) -> dict[Any, str]:
    return {name: outcome(it) for name, it in play_on_spark(builds, spark).items()}  # type: ignore[arg-type]


def test_tests_that_hold_are_one_query(queries: list[int]) -> None:
    assert play({"a": divides(1), "b": divides(2), "c": is_wrong, "d": cannot_be_built}) == {
        "a": "holds",
        "b": "holds",
        "c": "does not hold",
        "d": "PipelineError",
    }
    assert queries == [3]


def test_one_that_raises_is_played_alone_and_the_others_again(queries: list[int]) -> None:
    assert play({"a": divides(1), "b": divides(1, 0), "c": divides(2), "d": is_wrong}) == {
        "a": "holds",
        "b": "TransformError",
        "c": "holds",
        "d": "does not hold",
    }
    assert queries == [4, 3, 1]


def test_many_that_raise_are_all_found(queries: list[int]) -> None:
    assert play({str(number): divides(number % 2) for number in range(5)}) == {
        "0": "TransformError",
        "1": "holds",
        "2": "TransformError",
        "3": "holds",
        "4": "TransformError",
    }
    assert queries == [5, 2, 3, 2, 1, 1, 1]


def test_those_that_are_to_raise_have_queries_of_their_own(queries: list[int]) -> None:
    builds = {"a": divides(1), "b": expects("by zero"), "c": expects("by one"), "d": divides(2)}
    assert play(builds) == {"a": "holds", "b": "holds", "c": "does not hold", "d": "holds"}
    assert queries == [2, 1, 1]


def test_what_is_no_fault_of_a_pipeline_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(pipelines: Sequence[query.Scripted], spark: Any) -> list[PipelineRun]:
        raise ConnectionError("Spark is gone")

    monkeypatch.setattr(query, "run_pipelines_on_spark", lost)
    with pytest.raises(ConnectionError):
        play({"a": divides(1), "b": divides(2)})


@pytest.mark.spark
def test_it_is_so_on_spark(spark: Any) -> None:
    assert play({"a": divides(1), "b": divides(1, 0)}, spark) == {
        "a": "holds",
        "b": "TransformError",
    }
