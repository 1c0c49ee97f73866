"""The stub of `SCollection`, written of the tables of its verbs.

``python -m tests.support.pipelines.stubs`` writes it, for type checkers and editors.
"""

import ast
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from beamlike.api.pipelines.scio import collection
from beamlike.api.pipelines.scio.table import Verb, verbs

STUB: Final = Path(collection.__file__).with_suffix(".pyi")

_HEAD: Final = '''"""The collection that has Scio's verbs as methods, from the tables of verbs."""

from collections.abc import Callable, Iterable, Mapping, Set
from types import ModuleType
from typing import Any, Final, Generic, TextIO, TypeVar, overload

from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.scio.call import NamedNext
from beamlike.api.pipelines.scio.sides import (
    SCollectionWithSideInput,
    SCollectionWithSideOutput,
    SideInput,
    SideOutput,
)
from beamlike.api.pipelines.scio.windowed import WindowedSCollection
from beamlike.api.pipelines.scio.windows import WindowOptions
from beamlike.api.pipelines.transform import Applied, KeepsElements, PTransform
from beamlike.api.pipelines.variables import Out
from beamlike.model.combine import CombineFn
from beamlike.model.panes import PaneInfo
from beamlike.model.time import DurationLike, InstantLike
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import Window

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
U = TypeVar("U")
C = TypeVar("C")
K = TypeVar("K")
V = TypeVar("V")
W = TypeVar("W")
X = TypeVar("X")
Y = TypeVar("Y")

INSTEAD: Final[dict[str, str]]
TABLES: Final[tuple[ModuleType, ...]]

class SCollection(NamedNext[T_co], Generic[T_co]):
'''

_OF_BEAM: Final = '''
    @property
    def internal(self) -> PCollection[T_co]:
        """The same collection without the verbs."""

    # What a transform of Beam's makes of a collection with verbs has verbs.
    @overload  # type: ignore[override] # a PCollection[U] is an Out, which mypy does not see
    def __or__(self, transform: KeepsElements[T_co]) -> SCollection[T_co]: ...
    @overload
    def __or__(self, transform: Applied[PCollection[T_co], PCollection[U]]) -> SCollection[U]: ...
    @overload
    def __or__(self, transform: Applied[PCollection[T_co], Out]) -> Out: ...
'''


def write_stub(path: Path) -> None:
    """Write the stub."""
    path.write_text("\n".join(_lines()) + "\n", encoding="utf-8")
    root = STUB.parents[4]
    for command in (("check", "--select", "I", "--fix"), ("format",)):
        ruff = (sys.executable, "-m", "ruff", *command, "--no-cache", "--quiet", str(path))
        subprocess.run(ruff, check=True, cwd=root)


def _lines() -> Iterator[str]:
    yield _HEAD + _docstring(collection.SCollection.__doc__ or "", 4) + _OF_BEAM
    for table in collection.TABLES:
        for verb in verbs(table.VERBS):
            yield from _stub(verb)
    yield "    group_with = cogroup"
    yield "\nPairs = SCollection[tuple[K, V]]"


def _stub(verb: Verb) -> Iterator[str]:
    heads = (f"{verb.head(signature)} ..." for signature in verb.signatures)
    definitions = ast.parse("\n".join(heads)).body
    typed = definitions[:-1] or definitions
    for definition in typed:
        assert isinstance(definition, ast.FunctionDef)
        arguments = definition.args
        arguments.defaults = [_shown(default) for default in arguments.defaults]
        arguments.kw_defaults = [default and _shown(default) for default in arguments.kw_defaults]
        head = ast.unparse(definition).removesuffix("\n    ...")
        if len(typed) > 1:
            yield "    @overload"
        yield f"    {head}" if definition is typed[-1] else f"    {head} ..."
    yield _docstring(verb.documentation, 8)


def _shown(default: ast.expr) -> ast.expr:
    return default if isinstance(default, ast.Constant) else ast.Constant(...)


def _docstring(text: str, indent: int) -> str:
    text = (
        "\n".join(line.removeprefix("    ") for line in text.splitlines()) if indent == 4 else text
    )
    return textwrap.indent(
        f'"""{text.strip()}\n"""' if "\n" in text else f'"""{text}"""', " " * indent
    )


if __name__ == "__main__":
    write_stub(STUB)
