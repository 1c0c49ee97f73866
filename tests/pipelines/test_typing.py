"""What a type checker, and so an editor, knows of elements of Beam's pipelines and of Scio's."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.pipelines.stubs import STUB, write_stub

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


OF_SCIO = """
from beamlike.scio import ScioContext, SideOutput

sc = ScioContext()
words = sc.parallelize(["to be"])
pairs = words.key_by(len)
shares = words.map(lambda word: (len(word), 1.5))
side = shares.as_map_side_input()
errors = SideOutput[bytes]()
main, sides = words.with_side_outputs(errors).map(lambda word, out: len(word))
"""

SHOWN_OF_SCIO = {
    "words": "SCollection[str]",
    "words.flat_map(str.split).map(len)": "SCollection[int]",
    "words.filter(str.isalpha)": "SCollection[str]",
    "words.collect(lambda word: len(word) if word else None)": "SCollection[int]",
    "words.transform('Lengths', lambda it: it.map(len))": "SCollection[int]",
    "words.partition(str.isalpha)": "tuple[SCollection[str], SCollection[str]]",
    "words.partition(2, len)": "tuple[SCollection[str], ...]",
    "words.with_fixed_windows('1 minute')": "SCollection[str]",
    "words.with_window()": "SCollection[tuple[str, IntervalWindow | GlobalWindow]]",
    "words.with_pane_info()": "SCollection[tuple[str, PaneInfo]]",
    "words.to_windowed().map(lambda it: it.with_value(it.timestamp)).to_scollection()": (
        "SCollection[int]"
    ),
    "words.timestamp_by(len)": "SCollection[str]",
    "pairs": "SCollection[tuple[int, str]]",
    "pairs.swap().keys()": "SCollection[str]",
    "pairs.group_by_key()": "SCollection[tuple[int, list[str]]]",
    "pairs.with_timestamped_values()": "SCollection[tuple[int, tuple[str, int]]]",
    "words.group_by(len)": "SCollection[tuple[int, list[str]]]",
    "words.count_by_value()": "SCollection[tuple[str, int]]",
    "pairs.count_by_key().sum_by_key()": "SCollection[tuple[int, int]]",
    "pairs.aggregate_by_key(0.5, lambda n, word: n + len(word), lambda a, b: a + b)": (
        "SCollection[tuple[int, float]]"
    ),
    "pairs.top_by_key(3, key=len)": "SCollection[tuple[int, list[str]]]",
    "shares.mean_by_key()": "SCollection[tuple[int, float]]",
    "words.map(len).mean()": "SCollection[float]",
    "words.top(3)": "SCollection[list[str]]",
    "words.distinct_by(len)": "SCollection[str]",
    "pairs.join(shares)": "SCollection[tuple[int, tuple[str, float]]]",
    "pairs.left_outer_join(shares)": "SCollection[tuple[int, tuple[str, float | None]]]",
    "pairs.cogroup(shares)": "SCollection[tuple[int, tuple[list[str], list[float]]]]",
    "pairs.hash_join(shares)": "SCollection[tuple[int, tuple[str, float]]]",
    "words.cross(shares)": "SCollection[tuple[str, tuple[int, float]]]",
    "words.with_side_inputs(side).map(lambda it, see: see(side)[len(it)]).to_scollection()": (
        "SCollection[float]"
    ),
    "words.sample(3)": "SCollection[list[str]]",
    "words.sample(False, 0.5)": "SCollection[str]",
    "words.sample(with_replacement=True, fraction=2)": "SCollection[str]",
    "pairs.sample_by_key(3)": "SCollection[tuple[int, list[str]]]",
    "pairs.sample_by_key(True, {2: 0.5})": "SCollection[tuple[int, str]]",
    "words.random_split(0.5)": "tuple[SCollection[str], SCollection[str]]",
    "words.random_split([1, 2, 1])": "tuple[SCollection[str], ...]",
    "words.batch(2)": "SCollection[list[str]]",
    "pairs.batch_by_key(2)": "SCollection[tuple[int, list[str]]]",
    "words.safe_flat_map(str.split)[1]": "SCollection[tuple[str, Exception]]",
    "words.with_side_inputs(side).map(lambda it, see: see(side.map(len))).to_scollection()": (
        "SCollection[int]"
    ),
    "words.reify_side_input_as_values(side)": "SCollection[tuple[str, Mapping[int, float]]]",
    "main": "SCollection[int]",
    "sides(errors)": "SCollection[bytes]",
    "sc.parallelize_timestamped([('a', 0), ('b', '00:01:00')])": "SCollection[str]",
    "sc.parallelize_timestamped(['a'], [0])": "SCollection[str]",
}

REFUSED_OF_SCIO = [
    "words.keys()",
    "words.map(len).sum_by_key()",
    "words.map(lambda number: number + 1)",
]

PROGRAMS = {
    "beam": (START, [*SHOWN], [*REFUSED]),
    "scio": (OF_SCIO, [*SHOWN_OF_SCIO], REFUSED_OF_SCIO),
}
"""How a program starts, expressions whose type is asked for, and those that are wrong."""

Said = Callable[[str, str], str]


@pytest.fixture(scope="module")
def reported(
    tmp_path_factory: pytest.TempPathFactory, mypy: Callable[..., tuple[int, str]]
) -> dict[tuple[str, int], str]:
    """The first that the type checker says of each line of each program."""
    folder, files = tmp_path_factory.mktemp("typing"), []
    for name, (start, shown, refused) in PROGRAMS.items():
        asked = [f"reveal_type({expression})" for expression in shown]
        files.append(folder / f"{name}.py")
        files[-1].write_text(start + "\n".join([*asked, *refused]) + "\n", encoding="utf-8")
    _, output = mypy("--no-error-summary", *map(str, files))
    found: dict[tuple[str, int], str] = {}
    for line in output.splitlines():
        if match := re.fullmatch(r".*?(beam|scio)\.py:(\d+): (.*)", line):
            found.setdefault((match[1], int(match[2])), match[3])
    return found


def lines_of(name: str) -> dict[str, int]:
    """On which line of a program each expression is."""
    start, *expressions = PROGRAMS[name]
    asked = [expression for some in expressions for expression in some]
    return {text: start.count("\n") + 1 + place for place, text in enumerate(asked)}


@pytest.fixture
def said(reported: dict[tuple[str, int], str]) -> Said:
    """What the type checker says of an expression of a program."""
    return lambda name, expression: reported[name, lines_of(name)[expression]]


@pytest.mark.parametrize("expression", SHOWN)
def test_the_type_of_elements_is_known(expression: str, said: Said):
    shown = said("beam", expression)
    known = re.fullmatch(r'note: Revealed type is ".*?PCollection\[(.*)\]"', shown)
    assert known is not None, shown
    assert known[1].replace("Literal[1]?", "int") == SHOWN[expression]


@pytest.mark.parametrize("expression", SHOWN_OF_SCIO)
def test_the_type_of_elements_of_scio_is_known(expression: str, said: Said):
    shown = re.sub(r"\b[a-z_]+(?:\.[a-z_]+)*\.(?=[A-Z])", "", said("scio", expression))
    assert shown == f'note: Revealed type is "{SHOWN_OF_SCIO[expression]}"'


@pytest.mark.parametrize("expression", REFUSED)
def test_a_function_of_other_elements_is_an_error(expression: str, said: Said):
    found = said("beam", expression)
    assert found.startswith("error:"), found
    assert REFUSED[expression] in found


@pytest.mark.parametrize("expression", REFUSED_OF_SCIO)
def test_a_verb_that_does_not_fit_the_elements_is_an_error(expression: str, said: Said):
    found = said("scio", expression)
    assert re.match(r"error: (Invalid self argument|Unsupported operand types)", found), found


def test_nothing_else_is_wrong_with_the_programs(reported: dict[tuple[str, int], str]):
    asked = {(name, line) for name in PROGRAMS for line in lines_of(name).values()}
    assert {place: text for place, text in reported.items() if place not in asked} == {}


def test_the_stub_is_what_the_tables_of_verbs_say(tmp_path: Path):
    write_stub(tmp_path / STUB.name)
    written = (tmp_path / STUB.name).read_text(encoding="utf-8")
    advice = "run python -m tests.support.pipelines.stubs"
    assert written == STUB.read_text(encoding="utf-8"), advice
