"""Each option of the public API works or is refused, and a table says where that is seen.

A new option needs a line: two runs that differ in it alone, in one of the files ``of_...``, or the
name of a test in ``shown_by_tests.txt``.
"""

import ast
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.options import (
    of_frames,
    of_harnesses,
    of_hints,
    of_places,
    of_programs,
    of_the_model,
    of_transforms,
)
from tests.options.playing import Differs
from tests.options.signatures import options

RUNS: Final[dict[str, Differs]] = {
    **of_frames.RUNS,
    **of_the_model.RUNS,
    **of_transforms.RUNS,
    **of_harnesses.RUNS,
    **of_hints.RUNS,
    **of_places.RUNS,
    **of_programs.RUNS,
}
TESTS: Final = Path(__file__).parents[1]
SHOWN: Final = dict(
    line.split(": ")
    for line in Path(__file__).with_name("shown_by_tests.txt").read_text().splitlines()[2:]
)


def test_every_option_is_in_one_table_and_no_table_has_another() -> None:
    assert not RUNS.keys() & SHOWN.keys(), "no option is in two"
    assert {*RUNS, *SHOWN} == options()


@pytest.mark.parametrize("option", RUNS)
def test_two_runs_that_differ_in_an_option_give_other_results(option: str) -> None:
    without, by_option = RUNS[option].outcomes()
    assert without != by_option


@pytest.mark.parametrize("option", SHOWN)
def test_the_test_that_shows_an_option_is_there_and_has_its_name(option: str) -> None:
    file, _, test = SHOWN[option].partition("::")
    names, words = _contents(file)
    assert test in names
    owner, _, name = option.rpartition(".")
    assert {name, owner.rpartition(".")[2]} & words


@cache
def _contents(file: str) -> tuple[set[str], set[str]]:
    """The tests of a file, and the names and keywords that are written in it."""
    tree = ast.parse((TESTS / file).read_text())
    tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    words: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg:
            words.add(node.arg)
        elif isinstance(node, ast.Name):
            words.add(node.id)
        elif isinstance(node, ast.Attribute):
            words.add(node.attr)
    return tests, words
