"""The names that an Apache Beam has, module by module, read from its sources and not run.

``python -m tests.beam_suite --names`` writes them to ``beamlike/beam/names.txt``, a block for each
module: its name, the names that it defines, and a line beginning with ``<`` for each module that it
has others from, ``name=original`` where they differ. ``@`` stands before names of modules.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

TARGET: Final = Path(__file__).resolve().parents[2] / "beamlike" / "beam" / "names.txt"

# Tests, generated code, programs, and what serves the development of Beam alone.
_LEFT_OUT: Final = (
    *("examples", "tools", "portability.api.org", "testing.benchmarks", "testing.load_tests"),
    *("testing.analyzers", "io.gcp.internal", "runners.dataflow.internal.clients", "io.gcp.tests"),
    *("internal.clients", "typehints.testing"),
)
_ENDINGS: Final = ("_test", "_pb2_grpc", "_pb2_urns", "_test_common", "microbenchmark")


@dataclass
class _Module:
    """What a module has at its top."""

    defined: dict[str, None] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)
    starred: list[str] = field(default_factory=list)
    exported: list[str] | None = None


def names_of(package: Path) -> dict[str, dict[str, tuple[str, str]]]:
    """For each module, under each of its names, the module and the name that it comes from.

    A module has the name ``""`` there. Names are without that of the package.
    """
    modules = {name: _read(path, name) for name, path in _files(package)}
    names: dict[str, dict[str, tuple[str, str]]] = {}
    for name in modules:
        origins = {each: _origin(modules, name, each) for each in _all_names(modules, name)}
        names[name] = {each: it for each, it in sorted(origins.items()) if it is not None}
    return names


def _files(package: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(package.rglob("*")):
        if path.suffix not in (".py", ".pyx"):
            continue
        parts = path.relative_to(package).with_suffix("").parts
        name = ".".join(parts).removesuffix("__init__").removesuffix(".")
        apart = any(f"{name}.".startswith(f"{left}.") for left in _LEFT_OUT)
        if not apart and not name.endswith(_ENDINGS) and "-" not in name:
            yield name, path


def _read(path: Path, name: str) -> _Module:
    module = _Module()
    # Others are compiled, or made from definitions of messages, and have no names in their text.
    if path.suffix == ".py" and not name.endswith("_pb2"):
        here = name if path.stem == "__init__" else name.rpartition(".")[0]
        _take(module, ast.parse(path.read_text(encoding="utf-8")).body, here)
    return module


def _take(module: _Module, body: Iterable[ast.stmt], package: str) -> None:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                module.defined[node.name] = None
            case ast.Assign():
                for target in node.targets:
                    _assigned(module, target, node.value)
            case ast.AnnAssign(target=ast.Name(id=name)):
                module.defined[name] = None
            case ast.ImportFrom():
                _imported(module, node, package)
            case ast.If() | ast.Try() | ast.With():
                parts = [node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])]
                parts += [handler.body for handler in getattr(node, "handlers", [])]
                for part in parts:
                    _take(module, part, package)


def _assigned(module: _Module, target: ast.expr, value: ast.expr) -> None:
    match target:
        case ast.Tuple():
            for part in target.elts:
                _assigned(module, part, value)
        case ast.Name(id="__all__"):
            if isinstance(value, ast.List | ast.Tuple):
                module.exported = [elt.value for elt in value.elts if isinstance(elt, ast.Constant)]
        case ast.Name(id=name):
            module.defined[name] = None


def _imported(module: _Module, node: ast.ImportFrom, package: str) -> None:
    source = node.module or ""
    if node.level:
        base = package.split(".")[: len(package.split(".")) - node.level + 1]
        source = ".".join([*filter(None, base), *filter(None, [source])])
    elif source.split(".")[0] != "apache_beam":
        return
    source = source.removeprefix("apache_beam").removeprefix(".")
    for alias in node.names:
        if alias.name == "*":
            module.starred.append(source)
        else:
            module.imported[alias.asname or alias.name] = source, alias.name


def _all_names(modules: Mapping[str, _Module], name: str) -> dict[str, None]:
    module = modules[name]
    # A name that begins with two underscores is of Python.
    found = {it: None for it in (*module.defined, *module.imported) if not it.startswith("__")}
    for source in module.starred:
        if source in modules:
            found.update(_starred(modules, source))
    return found


def _starred(modules: Mapping[str, _Module], name: str) -> dict[str, None]:
    exported = modules[name].exported
    if exported is not None:
        return dict.fromkeys(exported)
    inside = [module.rpartition(".")[2] for module in modules if module.rpartition(".")[0] == name]
    return {it: None for it in (*inside, *_all_names(modules, name)) if not it.startswith("_")}


def _origin(modules: Mapping[str, _Module], name: str, each: str) -> tuple[str, str] | None:
    """Where a name of a module is defined; None: nowhere in the package."""
    module = modules.get(name)
    if module is None:
        return None
    if each in module.imported:
        source, original = module.imported[each]
        inner = f"{source}.{original}".removeprefix(".")
        if inner in modules and original not in modules.get(source, _Module()).defined:
            return inner, ""
        return _origin(modules, source, original)
    if each in module.defined:
        return name, each
    for source in module.starred:
        if source in modules and each in _starred(modules, source):
            return _origin(modules, source, each)
    inner = f"{name}.{each}".removeprefix(".")
    return (inner, "") if inner in modules else None


def written(names: Mapping[str, Mapping[str, tuple[str, str]]], version: str) -> str:
    """The file of these names."""
    blocks = [f"# The names of apache-beam {version}, by python -m tests.beam_suite --names."]
    for module, found in sorted(names.items()):
        lines = [module or "."]
        own = [it for it, (source, original) in found.items() if (source, original) == (module, it)]
        if own:
            lines.append(" " + " ".join(own))
        others: dict[str, list[str]] = {}
        for it, (source, original) in found.items():
            if not original:
                others.setdefault("@", []).append(it if it == source else f"{it}={source}")
            elif (source, original) != (module, it):
                others.setdefault(source, []).append(it if it == original else f"{it}={original}")
        lines += [f" <{source or '.'} {' '.join(each)}" for source, each in sorted(others.items())]
        blocks.append("\n".join(lines))
    return "\n".join(blocks) + "\n"
