"""The shape of the package: which way imports go, what importing costs, what is documented."""

import ast
import doctest
import importlib
import itertools
import linecache
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import beamlike
import beamlike.testing
import beamlike.testing.scenarios.files
from beamlike.beam.here import HERE
from tests.test_public_surface import MODULES as PUBLIC

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "beamlike"
HARNESS = ROOT / "testing"  # installed as beamlike.testing

# From the ground up. A module imports from its own layer and from those before it.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("safe_text",),
    ("errors",),
    ("extras",),
    ("model",),
    ("machine",),
    ("runtime",),
    ("hosts",),
    ("api", "beam", "combine_fns", "kafka", "scio", "tables"),
    ("palette",),
    ("inspect",),
    ("dialects",),
    ("runners",),
    # "" is the package itself, which gathers the names for its users.
    ("viz", "testing", ""),
    ("demo", "playground"),
    ("cli",),
)
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}

# The model and the machine are pure: the same input gives the same output, anywhere.
IMPURE = frozenset(
    (
        *("asyncio", "concurrent", "ctypes", "io", "logging", "multiprocessing", "os", "pathlib"),
        *("pickle", "random", "secrets", "shelve", "shutil", "signal", "socket", "sqlite3"),
        *("subprocess", "sys", "tempfile", "threading", "time", "uuid"),
    )
)
# Libraries that some of these need. They are pure too: sketches are imported when one is used, and
# the columnar machine, which only hosts import, is made of arrays.
EXTRAS = {"beamlike.model.combine.sketches": {"datasketches"}}
ARRAYS = {
    "beamlike.machine.columnar": {"numpy", "pyarrow"},
    "beamlike.machine.columnar.folds": {"numpy", "pyarrow"},
}
IMPURE_CALLS = frozenset(("now", "utcnow", "today", "open", "print", "input"))


def module_files() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    files = {}
    for folder, prefix in ((PACKAGE, "beamlike"), (HARNESS, "beamlike.testing")):
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join((prefix, *parts))
            files[name.removesuffix(".__init__")] = path
    return files


MODULES = module_files()


@cache
def imports_of(path: Path) -> tuple[tuple[int, str], ...]:
    """Line and dotted name of everything that a module imports, at its top or further down."""
    return tuple(_imports(ast.parse(path.read_text(encoding="utf-8")), path))


def _imports(module: ast.Module, path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively; write the full name"
            assert node.module is not None
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield node.lineno, name if name in MODULES else node.module


def layer_of(module: str) -> str:
    """The first part below the package: ``model`` for ``beamlike.model.time``."""
    return [*module.split("."), ""][1]


def test_every_part_of_the_package_has_a_layer():
    assert {layer_of(module) for module in MODULES} <= LEVEL.keys()


def test_imports_never_climb():
    climbing = [
        f"{module}:{line} imports {imported}"
        for module, path in MODULES.items()
        for line, imported in imports_of(path)
        if imported.split(".")[0] == "beamlike"
        and LEVEL[layer_of(imported)] > LEVEL[layer_of(module)]
    ]
    assert climbing == []


# Neighbours in a house: what two of them share is beside them, or further down.
ROOMS = (
    ("beamlike.hosts.local", "beamlike.hosts.spark"),
    ("beamlike.api.dataframe", "beamlike.api.pipelines"),
)


def room_of(module: str, rooms: tuple[str, ...]) -> str | None:
    return next((room for room in rooms if f"{module}.".startswith(f"{room}.")), None)


def test_the_room_of_a_module_is_found_by_whole_names():
    hosts = ROOMS[0]
    assert room_of("beamlike.hosts.spark.graph.query", hosts) == "beamlike.hosts.spark"
    assert room_of("beamlike.hosts.sparkling", hosts) is None


def test_rooms_do_not_import_one_another():
    through_walls = [
        f"{module}:{line} imports {imported}"
        for rooms in ROOMS
        for module, path in MODULES.items()
        for line, imported in imports_of(path)
        if room_of(module, rooms) and room_of(imported, rooms) not in (None, room_of(module, rooms))
    ]
    assert through_walls == []


def test_nothing_imports_the_runner_of_beams_own_pipelines():
    """Beam's SDK is not among what beamlike needs: the names of the package find it by a text."""
    importing = [
        f"{module}:{line} imports {imported}"
        for module, path in MODULES.items()
        if not f"{module}.".startswith("beamlike.runners.")
        for line, imported in imports_of(path)
        if imported.startswith("beamlike.runners") or imported.split(".")[0] == "apache_beam"
    ]
    assert importing == []


def test_what_is_internal_to_beam_is_imported_in_one_module():
    public = ("apache_beam.options", "apache_beam.transforms", "apache_beam.utils.timestamp")
    public += ("apache_beam.pvalue",)
    public += ("apache_beam.testing.test_stream", "apache_beam.metrics.cells")
    internal = [
        f"{module}:{line} imports {imported}"
        for module, path in MODULES.items()
        if module.startswith("beamlike.runners.beam.") and module != "beamlike.runners.beam.sdk"
        for line, imported in imports_of(path)
        if imported.startswith("apache_beam.") and not imported.startswith(public)
    ]
    assert internal == []


def test_queries_know_their_hosts_by_their_port_alone():
    of_hosts = [
        f"{module}:{line} imports {imported}"
        for module, path in MODULES.items()
        if module.startswith("beamlike.api.dataframe")
        for line, imported in imports_of(path)
        if room_of(imported, ROOMS[0])
    ]
    assert of_hosts == []


def test_queries_over_tables_import_no_spark():
    of_spark = [
        f"{module}:{line} imports {imported}"
        for module, path in MODULES.items()
        if module.startswith("beamlike.hosts.local")
        for line, imported in imports_of(path)
        if imported.split(".")[0] == "pyspark"
    ]
    assert of_spark == []


# Each verb of Scio's is a method that returns the class which inherits it, and the verbs are in
# several files. They name that class for type checkers alone.
VERBS = "beamlike.api.pipelines.scio."
RETURNED = f"{VERBS}collection"


def import_graph() -> dict[str, set[str]]:
    """What each module imports of the package, at its top, in functions and for type checkers."""
    graph: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        of_verbs = module.startswith(VERBS) and module not in (RETURNED, f"{VERBS}context")
        graph[module] = {
            imported
            for _, imported in imports_of(path)
            if imported in MODULES
            and imported != module
            and not (of_verbs and imported == RETURNED and imported not in at_run_time(path))
        }
    return graph


def at_run_time(path: Path) -> set[str]:
    """What a module imports, without the blocks that only type checkers read."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for block in ast.walk(tree):
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            block.body = []
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return {str(node.module) for node in imports}


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The modules that import one another, directly or through others."""

    def reached(start: str) -> set[str]:
        seen, todo = set[str](), [start]
        while todo:
            for module in graph[todo.pop()] - seen:
                seen.add(module)
                todo.append(module)
        return seen

    beyond = {module: reached(module) for module in graph}
    within = {
        tuple(sorted(other for other in seen if module in beyond[other]))
        for module, seen in beyond.items()
        if module in seen
    }
    return [list(circle) for circle in sorted(within)]


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == [["b", "c"]]


def test_no_modules_import_one_another():
    assert circles(import_graph()) == []


PURE = [
    module for module in MODULES if layer_of(module) in ("errors", "extras", "model", "machine")
]


def test_the_model_and_the_machine_import_only_pure_modules_and_attrs():
    allowed = (sys.stdlib_module_names - IMPURE) | {"attrs", "beamlike"}
    foreign = [
        f"{module}:{line} imports {imported}"
        for module in PURE
        for line, imported in imports_of(MODULES[module])
        if imported.split(".")[0]
        not in allowed | EXTRAS.get(module, set()) | ARRAYS.get(module.rpartition(".")[0], set())
    ]
    assert foreign == []


def test_model_machine_and_runtime_read_no_clock_and_do_no_input_or_output():
    calls = []
    for module in PURE + RUNTIME:
        for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                function = node.func
                name = getattr(function, "attr", getattr(function, "id", ""))
                # `self.now(window)` of a step is an argument of the step, not a clock.
                owner = getattr(getattr(function, "value", None), "id", "")
                if name in IMPURE_CALLS and owner != "self":
                    calls.append(f"{module}:{node.lineno} calls {name}")
    assert calls == []


RUNTIME = [module for module in MODULES if layer_of(module) == "runtime"]
# Values of pipelines are pickled, at rest and between processes; a key may be a UUID; shards log.
RUNTIME_NEEDS = frozenset(("io", "logging", "pickle", "sys", "uuid"))
LIBRARIES = frozenset(("attrs", "beamlike", "cloudpickle", "numpy", "pyarrow"))


def test_the_runtime_imports_no_spark_and_nothing_that_reaches_outside():
    allowed = (sys.stdlib_module_names - IMPURE) | RUNTIME_NEEDS | LIBRARIES
    foreign = [
        f"{module}:{line} imports {imported}"
        for module in RUNTIME
        for line, imported in imports_of(MODULES[module])
        if imported.split(".")[0] not in allowed
    ]
    assert foreign == []


def test_one_module_reads_the_time_of_day():
    clocks = {"time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "date.today"}
    calls = {
        (module, ast.unparse(node.func))
        for module, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in clocks
    }
    assert calls == {("beamlike.hosts.clock", "time.time")}


@pytest.mark.parametrize("module", ["beamlike", "beamlike.testing"])
def test_importing_loads_nothing_heavy(module: str):
    heavy = (
        "pyspark",
        "resvg_py",
        "PIL",
        "rich",
        "pandas",
        "numpy",
        "pyarrow",
        "hypothesis",
        "pytest",
    )
    script = f"import sys, {module}; print(*(name for name in {heavy} if name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == []


def test_the_local_host_needs_no_spark():
    script = """
import sys
import beamlike as bl
import beamlike.beam as beam
from beamlike.testing import TestStream
stream = TestStream().add_elements(("a", 1)).advance_watermark_to_infinity()
stream.run(window=bl.FixedWindows("1 minute"), host="local")
pipeline = beam.Pipeline()
pipeline | beam.Create([("a", 1)]) | beam.CombinePerKey(sum)
pipeline.run("local")
print("pyspark" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == ["False"]


def test_every_package_folder_is_installed():
    script = "from setuptools.config.setupcfg import read_configuration; "
    script += "print(*read_configuration('setup.cfg')['options']['packages'])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    folders = [module for module, path in MODULES.items() if path.name == "__init__.py"]
    assert sorted(done.stdout.split()) == sorted(folders)


@pytest.mark.parametrize("how", ["no link", "a file that has its target"])
def test_a_plain_checkout_has_the_harness_on_systems_without_links(how: str, tmp_path: Path):
    for folder in ("beamlike", "testing"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, symlinks=True, ignore=ignored)
    link = tmp_path / "beamlike" / "testing"
    link.unlink()
    if how != "no link":
        link.write_text("../testing")  # as git writes links there

    script = (
        "from beamlike.testing import TestStream; import beamlike.testing.scenarios.files as f; "
    )
    script += "print(TestStream.__module__, f.__file__)"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    files = tmp_path / "testing" / "scenarios" / "files.py"
    assert (done.stdout, done.stderr) == (f"beamlike.testing.streams.stream {files}\n", "")


def described_names(path: Path) -> Iterator[str]:
    """The names that a module assigns at its top, and describes in a string below."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    for statement, after in itertools.pairwise(body):
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        if (
            isinstance(statement, ast.Assign | ast.AnnAssign)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        ):
            yield from (target.id for target in targets if isinstance(target, ast.Name))


@pytest.mark.parametrize("package", [beamlike, beamlike.testing])
def test_every_public_name_exists_once_and_is_documented(package: ModuleType):
    names = package.__all__
    assert len(names) == len(set(names))
    described = {name for path in MODULES.values() for name in described_names(path)}
    silent = [
        name
        for name in names
        if not (
            (getattr(package, name).__doc__ or "").strip()
            if isinstance(getattr(package, name), type | FunctionType | ModuleType)
            else name in described
        )
    ]
    assert silent == []


PACKAGES = [name for name, path in MODULES.items() if path.name == "__init__.py"]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_names_each_of_its_modules_once_to_say_in_which_order_to_read(package: str):
    docstring = ast.get_docstring(ast.parse(MODULES[package].read_text(encoding="utf-8"))) or ""
    inside = {name.rpartition(".")[2] for name in MODULES if name.rpartition(".")[0] == package}
    named = Counter(re.findall(r"`(\w+)`", docstring))
    assert {name: named[name] for name in inside - {"__main__"}} == dict.fromkeys(
        inside - {"__main__"}, 1
    )


def test_all_stands_where_something_reads_it() -> None:
    """Packages, public modules, and modules of which Beam's tree or a test takes every name."""
    read = {*PUBLIC, *(it for entry in HERE.values() for it in entry.split())}
    read |= {f"beamlike.model.{name}" for name in ("aggregates", "options", "triggers")}
    having = {
        name
        for name, path in MODULES.items()
        if path.name != "__init__.py" and "\n__all__ = " in path.read_text(encoding="utf-8")
    }
    assert sorted(having - read) == []


def test_scenarios_can_be_loaded_and_compared_with_the_harness_alone():
    names = {"Scenario", "differences", "load_transcripts"}
    assert names <= set(beamlike.testing.__all__)
    assert all(
        getattr(beamlike.testing, name) is getattr(beamlike.testing.scenarios.files, name)
        for name in names
    )


def test_importing_the_pictures_imports_none_of_them():
    assert list(imports_of(MODULES["beamlike.viz"])) == []


WITH_EXAMPLES = [name for name, path in MODULES.items() if ">>> " in path.read_text("utf-8")]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_the_examples_in_the_documentation_are_true(module: str):
    found = importlib.import_module(module)
    linecache.clearcache()  # doctest looks at each file in it anew, before each example
    failed, _ = doctest.testmod(found)
    assert failed == 0


def test_every_module_can_be_imported_and_says_what_it_is_for():
    # The Beam SDK is in an environment of its own, where tests/beam_runner imports all of these.
    absent = ("beamlike.runners.beam",) if find_spec("apache_beam") is None else ()
    for name in MODULES:
        if not name.endswith("__main__") and not name.startswith(absent):
            importlib.import_module(name)
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}
    assert [name for name, tree in trees.items() if not ast.get_docstring(tree)] == []


def test_no_file_names_a_place_on_somebodys_machine():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    place = re.compile(r"(?<![\w.])(?:/(?:home|Users|root|work)/|[A-Z]:\\Users\\)")
    found = []
    for name in listed:
        path = ROOT / name
        text = path.read_text(encoding="utf-8", errors="ignore") if path.is_file() else ""
        lines = text.splitlines()
        found += [f"{name}:{index + 1}" for index, line in enumerate(lines) if place.search(line)]
    assert found == []
