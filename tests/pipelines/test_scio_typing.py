"""What an editor knows of the elements: the types that a type checker finds for Scio's verbs."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.pipelines.stubs import STUB, write_stub

pytestmark = pytest.mark.xdist_group("mypy")

PREAMBLE = """
from beamlike.scio import ScioContext, SideOutput

sc = ScioContext()
words = sc.parallelize(["to be"])
pairs = words.key_by(len)
shares = words.map(lambda word: (len(word), 1.5))
side = shares.as_map_side_input()
errors = SideOutput[bytes]()
main, sides = words.with_side_outputs(errors).map(lambda word, out: len(word))
"""

TYPES = {
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

REFUSED = ["words.keys()", "words.map(len).sum_by_key()", "words.map(lambda number: number + 1)"]


@pytest.fixture(scope="module")
def answers(
    tmp_path_factory: pytest.TempPathFactory, mypy: Callable[..., tuple[int, str]]
) -> dict[str, str]:
    """What the type checker says of each expression, by its text."""
    lines = [f"reveal_type({expression})" for expression in TYPES] + REFUSED
    folder = tmp_path_factory.mktemp("typing")
    source = folder / "snippet.py"
    source.write_text(PREAMBLE + "\n".join(lines) + "\n", encoding="utf-8")
    first = PREAMBLE.count("\n") + 1
    _, output = mypy(str(source))
    found = re.findall(r"snippet\.py:(\d+): (?:note|error): (.*)", output)
    said = {int(line): text for line, text in found}
    asked = [*TYPES, *REFUSED]
    return {text: said.get(first + index, output) for index, text in enumerate(asked)}


@pytest.mark.parametrize("expression", TYPES)
def test_the_type_of_elements_is_known(expression: str, answers: dict[str, str]):
    shown = re.sub(r"\b[a-z_]+(?:\.[a-z_]+)*\.(?=[A-Z])", "", answers[expression])
    assert shown == f'Revealed type is "{TYPES[expression]}"'


@pytest.mark.parametrize("expression", REFUSED)
def test_a_verb_that_does_not_fit_the_elements_is_an_error(
    expression: str, answers: dict[str, str]
):
    assert re.match(r"Invalid self argument|Unsupported operand types", answers[expression])


def test_the_stub_is_what_the_tables_of_verbs_say(tmp_path: Path):
    write_stub(tmp_path / STUB.name)
    written = (tmp_path / STUB.name).read_text(encoding="utf-8")
    advice = "run python -m tests.support.pipelines.stubs"
    assert written == STUB.read_text(encoding="utf-8"), advice
