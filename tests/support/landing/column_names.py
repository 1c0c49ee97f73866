"""Every name that beamlike gives to a column, read from its source.

A name is a text that the source hands to what makes or reads columns of Spark or Arrow, or binds to
a constant, and tables have those of their own on top. Some of them only name fields inside of
structs: these are tried as well.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import beamlike
from beamlike.hosts.landing.landed_columns import OWN_COLUMNS
from tests.support.landing.changes import SCHEMA

_PACKAGES = ("runtime", "hosts", "api/dataframe", "dialects")
_CALLS = frozenset(
    (
        *("col", "column", "mark", "alias", "withColumn", "withColumnRenamed", "drop", "getField"),
        *("withField", "select", "groupBy", "field", "StructField", "struct_field", "schema"),
        *("struct", "set_column", "append_column", "table", "from_pydict", "get", "free_name"),
    )
)
"""Functions and methods whose texts are names of columns."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_DDL = re.compile(r"([A-Za-z_]\w*) (?:binary|int|bigint|long|string|timestamp|double|boolean)\b")


@cache
def names_of_columns() -> tuple[str, ...]:
    """The names, in order."""
    root = Path(beamlike.__file__).parent
    files = (file for package in _PACKAGES for file in sorted((root / package).rglob("*.py")))
    names = {name for file in files for name in _names_in(ast.parse(file.read_text()))}
    return tuple(sorted({*names, *SCHEMA.names, *OWN_COLUMNS}))


def _names_in(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        match node:
            case ast.Call(func=ast.Attribute(attr=called) | ast.Name(id=called)) if (
                called in _CALLS
            ):
                yield from _texts(node)
            case ast.Constant(value=str(text)) if " " in text:
                # Columns of Spark, as "shard int, blob binary".
                yield from _DDL.findall(text) if _DDL.match(text) else ()
            case ast.Constant(value=str(text)) if text.lower().startswith(("__beam", "beamlike_")):
                yield text
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                pass
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                yield from _texts(value)


def _texts(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield from (inner.value,) if _NAME.fullmatch(inner.value) else ()
            # Columns with a number, as f"key_{index}".
            yield from (f"{inner.value}0",) if inner.value.endswith("_") else ()
