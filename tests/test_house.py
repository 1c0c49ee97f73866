"""What a room of the package may weigh, and what its names may not be: both may only go down.

A line of `ROOMS` or `WORDS` that is larger than needed fails too, so that what was won stays won.
Growth is a decision: a commit that raises a figure says why.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMY = 200
"""Lines that a room may have to spare, so that not each change is one of a figure here, too."""

FEW = 10
"""As many names of a word may go without a change here."""

ROOMS = {
    "beamlike": 1_000,
    "beamlike/api": 800,
    "beamlike/api/dataframe": 3_200,
    "beamlike/api/kafka": 800,
    "beamlike/api/pipelines": 11_500,
    "beamlike/beam": 500,
    "beamlike/cli": 2_500,
    "beamlike/demo": 1_000,
    "beamlike/dialects": 4_600,
    "beamlike/hosts": 1_200,
    "beamlike/hosts/landing": 2_400,
    "beamlike/hosts/local": 1_300,
    "beamlike/hosts/spark": 4_700,
    "beamlike/inspect": 4_000,
    "beamlike/machine": 9_700,
    "beamlike/model": 10_000,
    "beamlike/palette": 200,
    "beamlike/playground": 900,
    "beamlike/runners": 4_000,
    "beamlike/runtime": 15_400,
    "beamlike/viz": 5_100,
    "testing": 10_300,
    "tests": 137_800,
}

WORDS = {
    "at": 16,
    "it": 18,
    "given": 7,
    "kind": 39,
    "found": 0,
    "own": 22,
    "words": 58,
    "one": 20,
    "each": 4,
    "what": 30,
    "made": 0,
    "others": 27,
    "more": 20,
    "mine": 0,
    "there": 4,
    "whole": 1,
    "some": 8,
    "both": 2,
    "which": 13,
    "done": 1,
    "stands": 3,
    "here": 0,
    "beside": 6,
    "through": 2,
}

SHARED_NAMES = {
    "Beam's word, for each of its SDKs and for the model": """
        AfterProcessingTime Bundle CombineFn CombiningValueStateSpec Count Deduplicate DoFn
        FixedWindows GlobalWindow GlobalWindows IntervalWindow Keys Latest Max Mean Min
        OrderedListStateSpec PaneInfo PerKey Row Sample Sessions SlidingWindows Stage Sum TestStream
        TimestampCombiner TimestampedValue Top Trigger Values WindowInto WindowedValue
        WithTimestamps""",
    "one for Beam's SDK over the one here": "FromDataFrame TimeArithmetic WriteRows",
    "Scio's aggregateByKey and scripted streams": "Aggregated Stepwise",
    "Kafka's and Flink's folds, and what pipelines hand to transforms": "Elements Fold",
    "Flink's evictors and streams, and what rows withdraw and have": "Kept Windowed",
    "Kafka's suppress, and Beam's panes that do not come out": "Suppressed",
    "a word of Apex and of Flink": "WindowedOperator",
}
"""Why two classes may have one name, and which: the words of those whose systems are followed."""


def _room(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    if parts[0] != "beamlike" or len(parts) == 2:
        return parts[0]
    return "/".join(parts[: 3 if parts[1] in ("api", "hosts") and len(parts) > 3 else 2])


def _sources() -> Iterator[Path]:
    for folder in ("beamlike", "testing", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if (ROOT / "beamlike" / "testing") not in path.parents:
                yield path


def _lines() -> Counter[str]:
    lines: Counter[str] = Counter()
    for path in _sources():
        lines[_room(path)] += len(path.read_text(encoding="utf-8").splitlines())
    return lines


def _bound(tree: ast.AST) -> Iterator[str]:
    """The names that a module binds: variables, parameters, functions, classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def _pronouns() -> Counter[str]:
    names: Counter[str] = Counter()
    for path in _sources():
        if _room(path) != "tests":
            names.update(name.strip("_") for name in _bound(ast.parse(path.read_text("utf-8"))))
    return Counter({word: names[word] for word in WORDS})


def _classes() -> Counter[str]:
    """How many files of the package have a class of a name."""
    names: Counter[str] = Counter()
    for path in _sources():
        if _room(path) != "tests":
            nodes = ast.walk(ast.parse(path.read_text("utf-8")))
            names.update({node.name for node in nodes if isinstance(node, ast.ClassDef)})
    return names


@pytest.mark.parametrize("room", sorted({*ROOMS}))
def test_a_room_is_no_larger_than_its_budget(room: str):
    lines = _lines()[room]
    assert lines <= ROOMS[room], f"{room} has {lines} lines, {ROOMS[room]} are its budget"
    assert ROOMS[room] - lines <= ROOMY, f"{room} has {lines} lines now: lower its budget"


def test_every_room_has_a_budget():
    assert {*_lines()} == {*ROOMS}


def test_names_that_say_nothing_get_fewer():
    names = _pronouns()
    assert {word: names[word] for word in WORDS if names[word] > WORDS[word]} == {}
    assert {word: names[word] for word in WORDS if names[word] < WORDS[word] - FEW} == {}


def test_a_class_has_a_name_of_its_own():
    twice = {name for name, files in _classes().items() if files > 1}
    shared = {name for names in SHARED_NAMES.values() for name in names.split()}
    assert twice == shared, "name one of them otherwise, or take it out of the table"
