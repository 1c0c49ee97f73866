"""What a room of the package may weigh, and what its names may not be: both may only go down.

A line of `ROOMS` that is larger than needed fails too, so that what was won stays won.
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

ROOMS = {
    "beamlike": 1_000,
    "beamlike/api": 900,
    "beamlike/api/dataframe": 3_200,
    "beamlike/api/kafka": 800,
    "beamlike/api/pipelines": 11_400,
    "beamlike/beam": 500,
    "beamlike/cli": 2_400,
    "beamlike/demo": 1_000,
    "beamlike/dialects": 4_600,
    "beamlike/hosts": 1_200,
    "beamlike/hosts/landing": 2_300,
    "beamlike/hosts/local": 1_300,
    "beamlike/hosts/spark": 4_600,
    "beamlike/inspect": 3_900,
    "beamlike/machine": 9_600,
    "beamlike/model": 9_800,
    "beamlike/palette": 200,
    "beamlike/playground": 900,
    "beamlike/runners": 3_900,
    "beamlike/runtime": 15_300,
    "beamlike/viz": 5_100,
    "testing": 10_200,
    "tests": 135_400,
}

WORDS = [
    "at",
    "it",
    "given",
    "kind",
    "found",
    "own",
    "words",
    "one",
    "each",
    "what",
    "made",
    "others",
    "more",
    "mine",
    "there",
    "whole",
    "some",
    "both",
    "which",
    "done",
    "stands",
    "here",
    "beside",
    "through",
]
"""Names that say nothing where a line stands alone."""

KEPT_NAMES = {
    "beamlike/api/dataframe/declared.py: kind": "of state(...), which users call",
    "beamlike/api/pipelines/scio/functions.py: both": "checkpoints hold it, in texts of aggregates",
    "beamlike/api/pipelines/scio/functions.py: more": "checkpoints hold it, in texts of aggregates",
    "beamlike/dialects/stages.py: kind": "a column of results, and a key of scenario files",
    "beamlike/errors.py: kind": "of an error that travels as a pickle",
    "beamlike/hosts/spark/graph/checkpoint.py: words": "a key of notes in checkpoints",
    "beamlike/inspect/state/function_state.py: at": "a key of the JSON of beamlike state",
    "beamlike/inspect/state/function_state.py: kind": "a key of the JSON of beamlike state",
    "beamlike/model/aggregates.py: kind": "of an Aggregate, which users look at",
    "beamlike/model/coders.py: kind": "of methods of coders, which users call",
    "testing/assertions/complete.py: at": "of dropped(...), which users call",
    "testing/pipelines/runs.py: words": "of expect_error(...), which users call",
}
"""The only ones, by their files, and why they stay."""

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


def test_a_name_says_what_it_holds():
    names = {
        f"{path.relative_to(ROOT)}: {name.strip('_')}"
        for path in _sources()
        if _room(path) != "tests"
        for name in _bound(ast.parse(path.read_text("utf-8")))
        if name.strip("_") in WORDS
    }
    assert names == {*KEPT_NAMES}


def test_a_class_has_a_name_of_its_own():
    twice = {name for name, files in _classes().items() if files > 1}
    shared = {name for names in SHARED_NAMES.values() for name in names.split()}
    assert twice == shared, "name one of them otherwise, or take it out of the table"
