"""A function that holds what only this process has: who holds it, and where."""

import functools
import pickle
import re
import threading
from typing import Any

import attrs
import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError
from beamlike.runtime.graph.layers import Layers
from beamlike.testing import TestPipeline
from tests.support.sums import AddedInSteps

LOCK = threading.Lock()


def sent(pcoll: beam.PCollection[Any]) -> Layers:
    """What is sent to the workers of Spark."""
    return Layers.of([], [pcoll.edge])


def refusal(transform: Any) -> str:
    """What is said of a transform among others that can go, but for what is always the same."""
    pairs = TestPipeline() | "Pairs" >> beam.Create([("a", 1)]) | "Same" >> beam.Map(tuple)
    with pytest.raises(PipelineError) as refused:
        sent(pairs | "Locked" >> transform | "After" >> beam.Map(repr))
    text = re.sub("0x[0-9a-f]+", "0x", str(refused.value))
    start = "'Locked' cannot go to another process: "
    end = (
        " is <unlocked _thread.lock object at 0x>, and TypeError: cannot pickle '_thread.lock' "
        "object; make it where it is used, in setup() of a DoFn or inside of the function"
    )
    assert text.startswith(start), text
    assert text.endswith(end), text
    return text.removeprefix(start).removesuffix(end)


def test_a_variable_that_a_function_takes_from_outside() -> None:
    lock = threading.Lock()
    name = "test_a_variable_that_a_function_takes_from_outside.<locals>"

    def locked(pair: Any) -> bool:
        return lock.locked()

    assert refusal(beam.Map(locked)) == f"the variable 'lock' of {name}.locked"
    assert refusal(beam.Filter(lambda pair: locked(pair))) == (
        f"the variable 'lock' of {name}.locked"
    )
    assert refusal(beam.Map(functools.partial(lambda lock, pair: lock.locked(), lock))) == (
        "an argument of a partial"
    )


def test_a_global_and_a_default() -> None:
    name = "test_a_global_and_a_default.<locals>.<lambda>"
    assert refusal(beam.Map(lambda pair: LOCK.locked())) == f"the global 'LOCK' in {name}"
    assert refusal(beam.Map(lambda pair, lock=LOCK: pair)) == f"a default of {name}"
    assert refusal(beam.Map(lambda pair, lock: pair, LOCK)) == "a part of it"
    assert refusal(beam.Map(lambda pair, lock: pair, lock=LOCK)) == "the value of 'lock'"


class Locked(beam.DoFn[Any, Any]):
    def __init__(self) -> None:
        self.kept = {"mine": threading.Lock()}

    def process(self, element: Any, *args: Any, **kwargs: Any) -> Any:
        yield element


@attrs.frozen
class Summed(AddedInSteps):
    """A combine function in Beam's shape."""

    lock: Any


def test_an_attribute_of_a_do_fn_and_of_a_combine_function() -> None:
    assert refusal(beam.ParDo(Locked())) == "the value of 'mine'"
    assert refusal(beam.CombinePerKey(Summed(LOCK))) == "the attribute 'lock' of Summed"


def test_what_can_go_goes() -> None:
    layers = sent(TestPipeline() | beam.Create([("a", 1)]) | beam.CombinePerKey(sum))

    copied = pickle.loads(pickle.dumps(layers))

    assert [node.label for node in copied.nodes] == [node.label for node in layers.nodes]


def test_a_pipeline_that_is_to_run_on_spark_refuses_it_where_it_is_applied() -> None:
    pipeline = beam.Pipeline("SparkRunner")
    numbers = pipeline | beam.Create([1]) | "Same" >> beam.Map(lambda number: number)

    with pytest.raises(RuntimeError, match=r"^'Locked' cannot go to another process: the global"):
        numbers | "Locked" >> beam.Map(lambda number: LOCK.locked())

    assert [node.label for node in pipeline.nodes] == ["Create", "Same"]


def test_in_this_process_it_runs() -> None:
    with TestPipeline() as p:
        free = p | beam.Create([1]) | beam.Map(lambda number: LOCK.locked())
        beam.testing.util.assert_that(free, beam.testing.util.equal_to([False]))


@pytest.mark.spark
def test_nothing_starts_on_spark_with_a_function_that_cannot_go(spark: Any) -> None:
    numbers = TestPipeline() | beam.Create([1]) | "Locked" >> beam.Map(lambda n: LOCK.locked())

    with pytest.raises(PipelineError, match=r"^'Locked' cannot go to another process: the global"):
        numbers.pipeline.run("spark", spark)
