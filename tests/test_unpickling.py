"""Opening a pickle runs whatever code is in it: who wrote each that this package opens."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

OPENED = {
    # Sent by the driver of the same query to its workers.
    "beamlike/runtime/graph/layers.py": "the pipeline itself",
    "beamlike/runtime/graph/main_program.py": "classes of its main program",
    "beamlike/hosts/spark/deferred.py": "what steps the groups of a task",
    # Written by an earlier run of the query into its own checkpoint. Whoever may write there can
    # have a query that goes on from it do anything, as with Spark's own files. Readers of
    # checkpoints (`beamlike state`, `open_state`) get here with ``unpickle`` only.
    "beamlike/runtime/known_keys.py": "instants until which keys are known, of earlier versions",
    "beamlike/runtime/accumulator_columns.py": "accumulators of functions without a declared type",
    "beamlike/runtime/store/column_state.py": "panes of such functions that may be withdrawn",
    "beamlike/runtime/store/state.py": "panes of such functions that may be withdrawn",
    "beamlike/runtime/graph/wire.py": "values of a pipeline, between its workers and at rest",
    # Nothing that it names is imported or called, but for a few classes of plain values.
    "beamlike/inspect/state/function_state.py": "states and timers of a checkpoint",
    # Asked for by the user, by name.
    "beamlike/api/pickle_coder.py": "PickleCoder, which says so",
    # Copies that a test makes of what it was given, in the same process.
    "testing/contracts/combine_fn.py": "the combine function under test",
    "testing/contracts/trigger.py": "the trigger under test, and what it keeps",
    "testing/contracts/values.py": "the value under test",
}
"""Where pickles are opened, and what they are."""

IMPORTED = {
    "beamlike/__init__.py": "a module of this package, out of four",
    "beamlike/beam/alias.py": "modules of this package, under Beam's names",
    "beamlike/beam/here.py": "modules of this package, out of a table in it",
    "beamlike/beam/tree.py": "modules of this package, under Beam's names",
    "beamlike/cli/__init__.py": "a command's module, out of a table of this package",
    "beamlike/extras.py": "a module of an extra, by its name in this package",
    # As with pickles: whoever may write into the checkpoint of a pipeline chooses them.
    "beamlike/runtime/graph/keys.py": "the class of a key, by a pipeline that goes on",
}
"""Where a module is imported whose name is data, and who says which."""

COMPILED = {"beamlike/api/pipelines/scio/table.py": "methods, out of a table in it"}
"""Where code is compiled and run, and whose it is."""

PICKLES = ("pickle", "cloudpickle", "dill", "marshal", "shelve", "joblib", "yaml")
OPENS = ("loads", "load", "load_all", "Unpickler", "open")
NEVER = ("eval", "exec", "compile", "__import__", "read_pickle", "to_pickle", "pickleFile")


def opening(path: Path) -> Iterator[str]:
    """What a module calls, or builds on, that runs code in data."""
    return found_in(path.read_text(encoding="utf-8"))


def found_in(code: str) -> Iterator[str]:
    tree = ast.parse(code)
    known = {
        it.asname or it.name: it.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for it in node.names
    }
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=attr) if attr in OPENS:
                if known.get(owner, owner) in PICKLES:
                    yield "pickle"
            case ast.ImportFrom(module=module, names=names) if module in PICKLES:
                yield from ("pickle" for it in names if it.name in (*OPENS, "*"))
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in NEVER:
                # A pattern of `re` is compiled, too, and is no code.
                if ast.unparse(node.func) != "re.compile":
                    yield name
            case ast.Call(func=ast.Name(id="import_module") | ast.Attribute(attr="import_module")):
                yield "import_module"
            case ast.keyword(arg="allow_pickle"):
                yield "allow_pickle"


def modules() -> Iterator[tuple[str, Path]]:
    for folder in ("beamlike", "testing"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path


def test_pickles_are_opened_nowhere_else() -> None:
    found = {name: set(opening(path)) for name, path in modules()}

    assert {name for name, kinds in found.items() if "pickle" in kinds} == set(OPENED)
    assert {name for name, kinds in found.items() if "import_module" in kinds} == set(IMPORTED)
    running = {name for name, kinds in found.items() if kinds & {"compile", "exec"}}
    assert running == set(COMPILED)
    assert set.union(*found.values()) == {"pickle", "import_module", "compile", "exec"}


@pytest.mark.parametrize(
    "code",
    [
        "import pickle\npickle.loads(b)",
        "import cloudpickle as c\nread = c.load",
        "from pickle import *",
        "from marshal import loads as read",
        "import pickle\nclass U(pickle.Unpickler): ...",
        "import yaml\nyaml.load_all(text)",
        "import shelve\nshelve.open(path)",
        "import pandas as pd\npd.read_pickle(path)",
        "context.pickleFile(path)",
        "np.load(path, allow_pickle=True)",
        "eval(text)",
        "import importlib\nimportlib.import_module(name)",
    ],
)
def test_what_opens_a_pickle_is_seen_however_it_is_written(code: str) -> None:
    assert len(set(found_in(code))) == 1


def test_what_opens_none_is_not_taken_for_it() -> None:
    assert list(found_in("import json, re\njson.loads(t)\nre.compile(t)\nopen(p)\nd.load()")) == []


def test_what_reads_checkpoints_and_scenarios_for_people_opens_none_but_for_plain_values() -> None:
    by_people = ("beamlike/inspect/state/", "beamlike/cli/", "beamlike/viz/", "testing/scenarios/")
    # It makes numbers, texts and the like of a pickle, and nothing that needs code.
    plain = "beamlike/inspect/state/function_state.py"
    assert [name for name in OPENED if name.startswith(by_people)] == [plain]


SOCKETS = ("socket", "socketserver", "http", "asyncio", "grpc", "urllib", "selectors", "ssl")


def test_what_speaks_to_others_over_a_socket_opens_none() -> None:
    speaking = {name for name, path in modules() if set(imported(path)) & set(SOCKETS)}

    assert "beamlike/inspect/http/serving.py" in speaking
    assert speaking & set(OPENED) == set()


def imported(path: Path) -> Iterator[str]:
    """The packages that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
