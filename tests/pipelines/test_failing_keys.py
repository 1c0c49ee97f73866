"""Errors of pipelines name the key and the method that their author knows."""

import sys
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.errors import TooManyFailuresError, TransformError
from tests.support.pipelines.files import HOSTS
from tests.support.queries.rows import ON_BOTH
from tests.support.sums import AddedInSteps


class Picky(AddedInSteps, beam.CombineFn):
    """A sum that has no result for the key 2."""

    def extract_output(self, accumulator: int) -> int:
        if accumulator == 2:
            raise ValueError("2 is not a sum")
        return accumulator


@HOSTS
def test_of_keys_that_look_alike_the_right_one_is_named(host: Any) -> None:
    pairs = [(("eeeeeeeeee", n, "ffffffffffffffffffff"), n) for n in (1, 2, 3)]
    pipeline = beam.Pipeline()
    pipeline | beam.Create(pairs) | beam.CombinePerKey(Picky())
    with pytest.raises(TransformError) as raised:
        pipeline.run(host=host)
    error = raised.value
    assert error.problem == "ValueError: 2 is not a sum in Picky().extract_output"
    assert error.place == ("window global, key ('eeeeeeeeee', 2, 'ffffffffffffffffffff')")


@HOSTS
def test_long_keys_that_are_cut_in_the_message_are_told_apart(host: Any) -> None:
    pairs = [("e" * 500 + str(n) + "f" * 500, n) for n in (1, 2, 3)]
    pipeline = beam.Pipeline()
    pipeline | beam.Create(pairs) | beam.CombinePerKey(Picky())
    with pytest.raises(TransformError, match=r"in Picky\(\)\.extract_output for window"):
        pipeline.run(host=host)


def parse(text: str) -> int:
    return number(text)


def number(text: str) -> int:
    return int(txet)  # type: ignore[name-defined] # noqa: F821


@HOSTS
def test_a_pipeline_raises_with_the_users_frames_and_type(host: Any) -> None:
    pipeline = beam.Pipeline()
    pipeline | beam.Create(["1"]) | beam.Map(parse)
    with pytest.raises(TransformError) as raised:
        pipeline.run(host=host)
    assert isinstance(raised.value, NameError)
    assert str(raised.value).startswith("'Map(parse)' raised NameError: name 'txet' is not defined")
    assert raised.value.__notes__ == ["NameError: name 'txet' is not defined"]
    trace, names = raised.value.__cause__.__traceback__, []  # type: ignore[union-attr]
    while trace is not None:
        names.append((trace.tb_frame.f_code.co_filename, trace.tb_frame.f_code.co_name))
        trace = trace.tb_next
    assert names == [(__file__, "parse"), (__file__, "number")]


@HOSTS
@pytest.mark.parametrize("label", ["plain", "not ascii: \ud83d"])
def test_a_text_without_a_form_in_utf_8_and_an_exit_fail_a_pipeline(host: Any, label: str) -> None:
    def leave(element: int) -> int:
        if element:
            sys.exit("bye \ud83d")
        return element

    pipeline = beam.Pipeline()
    pipeline | beam.Create([0, 1]) | label >> beam.Map(leave)
    with pytest.raises(TransformError, match=r"raised SystemExit: bye \\ud83d for 1") as raised:
        pipeline.run(host=host)
    assert not isinstance(raised.value, SystemExit)


class Misspelt(beam.DoFn):
    SEEN = beam.transforms.userstate.ReadModifyWriteStateSpec("seen", beam.coders.VarIntCoder())

    def process(self, element: Any, seen: Any = beam.DoFn.StateParam(SEEN)) -> Any:  # noqa: B008
        yield elemnt  # type: ignore[name-defined] # noqa: F821


@ON_BOTH
def test_a_function_with_states_that_fails_for_nearly_all_stops_a_pipeline(host: Any) -> None:
    def run(**share: float) -> Any:
        pipeline = beam.Pipeline()
        pairs = pipeline | beam.Create([("a", n) for n in range(30)])
        pairs | beam.ParDo(Misspelt()).with_on_error("drop", **share)
        return pipeline.run(host=host)

    with pytest.raises(TooManyFailuresError, match="30 of the last 30 elements") as raised:
        run()
    assert isinstance(raised.value.__cause__, NameError)
    assert len(run(max_failures=1).lost) == 30
