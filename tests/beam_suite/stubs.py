"""What type checkers read in place of the modules of ``beamlike.beam`` that a table makes.

``python -m tests.beam_suite --names`` writes a stub for each module of Beam that has names here.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from beamlike.beam.here import HERE, added, place_of
from beamlike.beam.tree import MODULES, PACKAGE, names, root_places

FOLDER: Final = Path(__file__).resolve().parents[2] / "beamlike" / "beam"


def write_stubs(folder: Path) -> None:
    """Write the stubs, in place of those that are there."""
    for old in folder.rglob("*.pyi"):
        old.unlink()
    for name, text in stubs().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for command in (("check", "--select", "I", "--fix"), ("format",)):
        files = map(str, folder.rglob("*.pyi"))
        ruff = (sys.executable, "-m", "ruff", *command, "--no-cache", "--quiet", *files)
        subprocess.run(ruff, check=True, cwd=FOLDER.parents[1])


def stubs() -> dict[str, str]:
    """The text of each, by its file."""
    found = {}
    for module in sorted(_modules()):
        inside = not module or any(name.startswith(f"{module}.") for name in names())
        path = module.replace(".", "/") + ("/__init__.pyi" if inside else ".pyi")
        path = path.removeprefix("/")
        found[path] = "\n".join(_lines(module)) + "\n"
    return found


def _modules() -> set[str]:
    parents = {module.rpartition(".")[0] for module in HERE}
    return {*HERE, *parents}


def _lines(module: str) -> Iterator[str]:
    beam_name = f"apache_beam.{module}".removesuffix(".")
    yield f'"""Beam\'s ``{beam_name}``: what is here of it."""'
    renamed = []
    own = {**names()[module], **{name: (module, name) for name in added(module)}}
    for name, (source, original) in own.items():
        if name.startswith("_") or (not module and original and name not in root_places()):
            continue
        place = place_of(source, original) if original else _place_of_module(source)
        if place is None:
            continue
        if place[1] == name:
            yield f"from {place[0]} import {name} as {name}"
        else:  # type checkers take only names that stay the same for names of the stub
            yield f"from {place[0]} import {place[1]} as _{name}"
            renamed += [f"{name} = _{name}", f'"""`{place[1]}`, by another name."""']
    for other in sorted(_modules() - {""}):
        if other.rpartition(".")[0] == module:
            last = other.rpartition(".")[2]
            yield f"from {f'{PACKAGE}.{module}'.removesuffix('.')} import {last} as {last}"
    yield from renamed
    if not module:
        yield "__version__: str"
        yield f"__all__ = {sorted({*root_places(), *MODULES})}"


def _place_of_module(module: str) -> tuple[str, str] | None:
    package, _, last = f"{PACKAGE}.{module}".rpartition(".")
    return (package, last) if module in _modules() else None
