"""Pipelines as programs of Beam make them: with options, and with a runner."""

import os
import sys
from argparse import ArgumentParser
from typing import Any

import pytest
from pyspark.sql import SparkSession

import beamlike.beam as beam
from beamlike.errors import PipelineError
from tests.support.refusals import refusal


class Words(beam.PipelineOptions):
    """The options of a program."""

    @classmethod
    def _add_argparse_args(cls, parser: ArgumentParser) -> None:
        parser.add_argument("--input", default="words.txt")
        parser.add_argument("--least", type=int, default=1)


def test_a_program_reads_its_options_from_its_pipeline():
    pipeline = beam.Pipeline(options=Words(["--input=lines.txt", "--project=p"], least=3))
    assert (pipeline.options.input, pipeline.options.least) == ("lines.txt", 3)
    assert beam.Pipeline(argv=["--least", "2"]).options.view_as(Words).least == 2
    assert beam.Pipeline().options.view_as(Words).input == "words.txt"


def test_what_is_set_in_one_view_is_set_in_all():
    options = beam.PipelineOptions(["--input=lines.txt"])
    options.view_as(beam.SetupOptions).save_main_session = True
    options.view_as(Words).least = 5
    words = options.view_as(Words)
    assert (words.input, words.least) == ("lines.txt", 5)
    assert words.view_as(beam.SetupOptions).save_main_session is True
    assert repr(words) == "Words(input='lines.txt', least=5)"


def test_options_come_from_the_command_line_if_none_are_given(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "argv", ["program.py", "--input=here.txt"])
    assert Words().input == "here.txt"
    assert Words([]).input == "words.txt"


def test_an_option_that_no_one_declares_is_not_there():
    options = Words([])
    with pytest.raises(AttributeError, match="Words has no option 'output'; declare it in _add_a"):
        _ = options.output
    with pytest.raises(AttributeError, match="Words has no option 'output'; declare it in _add_a"):
        options.output = "there.txt"
    assert refusal(PipelineError, lambda: Words(["--least=few"])) == (
        "the options of the pipeline cannot be read: argument --least: invalid int value: 'few'"
    )


def test_the_direct_runner_is_this_process():
    for made in (
        beam.Pipeline("DirectRunner"),
        beam.Pipeline(runner="direct"),
        beam.Pipeline(options=beam.PipelineOptions(runner="DirectRunner")),
    ):
        one = made | beam.Create([1])
        result = made.run()
        assert result.wait_until_finish() == beam.PipelineState.DONE
        assert [came.element.value for came in result.out_of(one.edge)] == [1]


@pytest.mark.nightly
@pytest.mark.spark
def test_the_spark_runner_is_the_host_spark(spark: SparkSession):
    here = os.getpid()
    with beam.Pipeline(options=beam.PipelineOptions(["--runner=SparkRunner"])) as pipeline:
        pairs = pipeline | beam.Create([("a", 1), ("a", 2), ("b", 3)])
        batches = pairs | beam.GroupIntoBatches(2)
        found = batches | beam.MapTuple(lambda key, batch: f"{key} {batch}") | beam.Regex.find(".*")
        elsewhere = pipeline | beam.Impulse() | beam.Map(lambda _: os.getpid() != here)
    result = pipeline.result
    assert result is not None
    assert [came.element.value for came in result.out_of(elsewhere.edge)] == [True]
    assert sorted(came.element.value for came in result.out_of(found.edge)) == ["a [1, 2]", "b [3]"]


def test_another_runner_is_refused_with_what_there_is():
    with pytest.raises(PipelineError) as refusal:
        beam.Pipeline(options=beam.PipelineOptions(["--runner=DataflowRunner"]))
    assert str(refusal.value) == (
        "there is no runner 'DataflowRunner' here; write runner=\"DirectRunner\" for this process, "
        'or runner="SparkRunner", which is run(host="spark")'
    )


def test_options_are_options_and_go_before_a_command_line():
    assert refusal(PipelineError, lambda: beam.Pipeline(options={"input": "a"})) == (
        "options must be PipelineOptions, got {'input': 'a'}; write "
        'PipelineOptions(["--name=value"]), or PipelineOptions(name=value)'
    )
    assert beam.Pipeline(options=Words(["--least=2"]), argv=["--least=3"]).options.least == 2


@pytest.mark.parametrize("flags", ["--input=lines.txt", 5])
def test_a_command_line_is_a_list(flags: Any):
    assert refusal(PipelineError, lambda: beam.PipelineOptions(flags)) == (
        f'flags must be a list of texts such as ["--input=lines.txt"], got {flags!r}; make one of '
        "a command line with shlex.split(...)"
    )
