"""Tables of verbs, and the methods that are made of them.

A table is a text of signatures, each with its documentation below it. What a verb does is a
function of the `Call` and of the arguments: one of the module that has the verb's name after an
underscore, or the one in ``TRANSFORMS``. A line ``of Pairs[K, V]`` says which collections have the
verbs that follow. Of several signatures of a verb the last one runs, and those before it are for
type checkers. Arguments of a type ``Callable[...]`` are checked, and the one that is called ``fn``
is named beside the verb in the pipeline.

The stub of `SCollection` is written from the tables: ``python -m tests.support.pipelines.stubs``.
"""

import ast
import textwrap
from collections.abc import Callable, Iterator
from operator import add
from types import ModuleType
from typing import Any

import attrs

Transform = Callable[..., Any]
"""A function of a `Call` and of the arguments of a verb."""


@attrs.frozen
class Verb:
    """A row of a table.

    Args:
        owner: The type of the collections that have the verb.
        signatures: ``name(arguments) -> result``; the last is the one that runs.
        documentation: The docstring.
    """

    owner: str
    signatures: tuple[str, ...]
    documentation: str

    @property
    def name(self) -> str:
        """The verb."""
        return self.signatures[-1].partition("(")[0]

    def head(self, signature: str) -> str:
        """A signature as the first line of a method."""
        name, _, rest = signature.partition("(")
        owner = f"self: {self.owner}" + ("" if rest.startswith(")") else ", ")
        return f"def {name}({owner}{rest}:"


def verbs(text: str) -> Iterator[Verb]:
    """The rows of a table."""
    owner, signatures, documentation = "", [""], ""
    for line in [*text.strip().splitlines(), "end"]:
        if signatures[-1] and not _is_complete(signatures[-1]):
            signatures[-1] = f"{signatures[-1]} {line.strip()}"
        elif line.startswith(" ") or not line:
            documentation += f"{line}\n"
        else:
            if documentation:
                written = tuple(filter(None, signatures))
                yield Verb(owner, written, textwrap.dedent(documentation).strip())
                signatures, documentation = [""], ""
            if line.startswith("of "):
                owner = line.removeprefix("of ")
            else:
                signatures.append(line)


def _is_complete(signature: str) -> bool:
    closed = all(signature.count(start) == signature.count(end) for start, end in ("()", "[]"))
    return closed and "->" in signature and not signature.endswith("->")


def transforms(module: ModuleType) -> dict[str, Transform]:
    """What the verbs of the table of a module do."""
    names = [verb.name for verb in verbs(module.VERBS)]
    named = {name: vars(module)[f"_{name}"] for name in names if f"_{name}" in vars(module)}
    return {**named, **module.TRANSFORMS}


def methods(module: ModuleType) -> dict[str, Any]:
    """The methods of the table of a module."""
    table = {verb.name: verb for verb in verbs(module.VERBS)}
    heads = [verb.head(verb.signatures[-1]) for verb in table.values()]
    lines = ["from __future__ import annotations"]
    for head, definition in zip(heads, ast.parse("...\n".join([*heads, ""])).body, strict=True):
        assert isinstance(definition, ast.FunctionDef)
        lines += [head, *(f"    {line}" for line in _body(definition))]
    namespace = {"add": add, **vars(module), "TRANSFORMS": transforms(module)}
    exec(compile("\n".join(lines), __file__, "exec"), namespace)
    by_name = {}
    for name, verb in table.items():
        method: Any = namespace[name]
        method.__doc__, method.__qualname__ = verb.documentation, f"SCollection.{name}"
        by_name[name] = method
    return by_name


def _body(definition: ast.FunctionDef) -> Iterator[str]:
    arguments = definition.args
    parameters = [*arguments.posonlyargs, *arguments.args]
    passed = [parameter.arg for parameter in (*parameters[1:], *arguments.kwonlyargs)]
    if arguments.vararg:
        passed.append(f"*{arguments.vararg.arg}")
    yield f"call = Call(self, {definition.name!r}, {'fn' if 'fn' in passed else 'None'})"
    for parameter in parameters:
        match parameter.annotation:
            case ast.Subscript(value=ast.Name("Callable")):
                yield f"{parameter.arg} = call.checked({parameter.arg})"
    yield f"return TRANSFORMS[{definition.name!r}]({', '.join(['call', *passed])})"
