"""What a type checker, and so an editor, knows of the elements of a pipeline."""

import re
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.xdist_group("mypy")

START = """
from collections.abc import Iterable
from typing import Any
import beamlike.beam as beam
from beamlike.beam.coders import BytesCoder
from beamlike.beam.transforms.combiners import Count
from beamlike.beam.metrics.metric import Metrics
from beamlike.beam.options.pipeline_options import PipelineOptions
from beamlike.beam.pvalue import AsDict
from beamlike.beam.transforms import DoFn, ParDo, trigger, window
from beamlike.beam.transforms.core import Map
from beamlike.beam.transforms.trigger import AfterWatermark
from beamlike.beam.transforms.window import FixedWindows
from beamlike.beam.utils.timestamp import Timestamp

def length(word: str) -> int:
    return len(word)

def joined(word: str, mark: str, times: int = 1) -> str:
    return word + mark * times

def starts(word: str, at: int = beam.DoFn.TimestampParam) -> tuple[str, int]:
    return word, at

def letters(word: str) -> Iterable[str]:
    yield from word

class Lengths(beam.DoFn[str, int]):
    def process(self, element: str, *args: Any, **kwargs: Any) -> Iterable[int]:
        yield len(element)

class Average(beam.CombineFn[int, float]):
    def create_accumulator(self, *args: Any, **kwargs: Any) -> list[int]:
        return []

    def add_input(
        self, mutable_accumulator: list[int], element: int, *args: Any, **kwargs: Any
    ) -> list[int]:
        return [*mutable_accumulator, element]

    def merge_accumulators(
        self, accumulators: Iterable[list[int]], *args: Any, **kwargs: Any
    ) -> list[int]:
        return sum(accumulators, start=[])

    def extract_output(self, accumulator: list[int], *args: Any, **kwargs: Any) -> float:
        return sum(accumulator) / len(accumulator)

pipeline = beam.Pipeline()
words = pipeline | "Words" >> beam.Create(["a", "bb"])
numbers = words | "Numbers" >> beam.Map(length)
pairs = words | "Pairs" >> beam.WithKeys(length)
table = beam.AsDict(pairs)
minutes: beam.WindowInto = beam.WindowInto(beam.FixedWindows("1 minute"))
left, right = words | beam.Partition(lambda word, number: len(word) % number, 2)
"""

SHOWN = {
    "words": "str",
    "numbers": "int",
    # Named functions say what they take and what they give, under a label or not.
    "words | beam.Map(length)": "int",
    'words | beam.Map(joined, "!", times=2)': "str",
    "words | beam.Map(starts)": "tuple[str, int]",
    'words | "Letters" >> beam.FlatMap(letters)': "str",
    "words | beam.FlatMap(str.split)": "str",
    "words | Map(length) | beam.transforms.core.Map(str)": "str",
    "words | Count.PerElement()": "tuple[str, int]",
    "words | beam.Map(str.split) | beam.FlatMap()": "str",
    "words | beam.ParDo(Lengths())": "int",
    # A lambda says what it gives, as far as that does not depend on what it is given.
    "words | beam.Map(lambda word: 1)": "int",
    'words | "One" >> beam.Map(lambda word: (word, 1))': "tuple[Any, int]",
    'words | "Look" >> beam.Map(lambda word, d: len(d), d=table)': "int",
    "words | beam.Map(lambda word, at=beam.DoFn.TimestampParam: (word, 1))": "tuple[Any, int]",
    # Transforms that keep elements keep their type.
    'words | "Long" >> beam.Filter(lambda word: len(word) > 3)': "str",
    'words | "Odd" >> beam.Filter(lambda word, at=beam.DoFn.TimestampParam: at % 2)': "str",
    "words | beam.Filter(length)": "str",
    'words.apply(beam.WithKeys("k"), label="Any")': "tuple[str, str]",
    "words | minutes": "str",
    "words | beam.WithTimestamps(lambda word: 0)": "str",
    "(words, words) | beam.Flatten()": "str",
    "words | beam.Distinct()": "str",
    "left": "str",
    # Pairs, groups and combined values.
    "pairs": "tuple[int, str]",
    "pairs | beam.Keys()": "int",
    "pairs | beam.KvSwap()": "tuple[str, int]",
    'pairs | "Group" >> beam.GroupByKey()': "tuple[int, list[str]]",
    'pairs | "Longest" >> beam.CombinePerKey(max)': "tuple[int, Any]",
    "pairs | beam.CombinePerKey(len)": "tuple[int, int]",
    "pairs | beam.CombinePerKey(Average())": "tuple[int, float]",
    "pairs | beam.combiners.Count.PerKey()": "tuple[int, int]",
    "pairs | beam.combiners.Top.PerKey(3) | beam.Values()": "list[str]",
    "words | minutes | beam.combiners.Count.PerElement()": "tuple[str, int]",
    "numbers | beam.CombineGlobally(Average())": "float",
    "numbers | beam.combiners.Mean.Globally()": "float",
    "words | beam.combiners.ToSet()": "set[str]",
    "numbers | beam.CombineGlobally(Average()).with_fanout(2)": "float",
    # Batches, texts, and what passes by.
    "pairs | beam.GroupIntoBatches(2)": "tuple[int, list[str]]",
    "pipeline | beam.Impulse()": "bytes",
    'pipeline | "Counts" >> beam.Create({"a": 1})': "tuple[str, int]",
    'pipeline | "Nothing" >> beam.Create([])': "Any",
    'pipeline | "At" >> beam.Create([beam.TimestampedValue("a", "00:01")])': "str",
}

REFUSED = {
    'numbers | "Lengths" >> beam.Map(length)': '"PCollection[int]" and "Map[str, int]"',
    "numbers | beam.Map(length)": '"PCollection[int]" and "Map[_Misfit, int]"',
    'numbers | beam.Map(joined, "!")': '"PCollection[int]" and "Map[_Misfit, str]"',
    "numbers | beam.Map(starts)": '"PCollection[int]" and "Map[_Misfit, tuple[str, int]]"',
    "numbers | beam.FlatMap(letters)": '"PCollection[int]" and "FlatMap[_Misfit, str]"',
    "numbers | beam.Filter(length)": '"PCollection[int]" and "Filter[_Misfit]"',
    'numbers | "Long" >> beam.Filter(length)': '"PCollection[int]" and "Filter[str]"',
    'beam.WindowInto(beam.FixedWindows("1 m"), accumulation="discarding")': (
        'keyword argument "accumulation" for "WindowInto"; did you mean "accumulation_mode"'
    ),
    "numbers.should(1)": 'has no attribute "should"',
    "numbers | beam.ParDo(Lengths())": 'type "Lengths"; expected "DoFn[int, int]"',
    "words | beam.GroupByKey()": '"PCollection[str]" and "GroupByKey"',
    'numbers | "Values" >> beam.Values()': '"PCollection[int]" and "Values"',
    'beam.TimestampedValue("a", [5])': '"list[int]"; expected "int | float | datetime | str |',
    'beam.IntervalWindow("12:00", None)': '"None"; expected "int | float | datetime | str |',
}


@pytest.fixture(scope="module")
def said(
    tmp_path_factory: pytest.TempPathFactory, mypy: Callable[..., tuple[int, str]]
) -> dict[int, str]:
    """What the type checker says of each line of a program."""
    folder = tmp_path_factory.mktemp("typing")
    program = folder / "program.py"
    program.write_text(START + "\n".join([*map(reveal, SHOWN), *REFUSED]))
    _, output = mypy("--no-error-summary", str(program))
    reported: dict[int, str] = {}
    for line in output.splitlines():
        if found := re.fullmatch(r".*program\.py:(\d+): (.*)", line):
            reported.setdefault(int(found[1]), found[2])
    return reported


def reveal(expression: str) -> str:
    return f"reveal_type({expression})"


def line_of(index: int) -> int:
    return START.count("\n") + index + 1


@pytest.mark.parametrize("expression", SHOWN)
def test_the_type_of_elements_is_known(expression: str, said: dict[int, str]):
    shown = said[line_of(list(SHOWN).index(expression))]
    known = re.fullmatch(r'note: Revealed type is ".*?PCollection\[(.*)\]"', shown)
    assert known is not None, shown
    assert known[1].replace("Literal[1]?", "int") == SHOWN[expression]


@pytest.mark.parametrize("expression", REFUSED)
def test_a_function_of_other_elements_is_an_error(expression: str, said: dict[int, str]):
    found = said[line_of(len(SHOWN) + list(REFUSED).index(expression))]
    assert found.startswith("error:"), found
    assert REFUSED[expression] in found


def test_nothing_else_is_wrong_with_the_program(said: dict[int, str]):
    asked = {line_of(index) for index in range(len(SHOWN) + len(REFUSED))}
    assert {line: text for line, text in said.items() if line not in asked} == {}
