"""How the API reference reads the source: examples, and the arguments of attrs classes."""

import importlib
import inspect
import re
from typing import Any, ForwardRef

import attrs
from griffe import Class, Extension, Function, Object, Parameter, ParameterKind, Parameters

KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: ParameterKind.positional_only,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: ParameterKind.positional_or_keyword,
    inspect.Parameter.VAR_POSITIONAL: ParameterKind.var_positional,
    inspect.Parameter.KEYWORD_ONLY: ParameterKind.keyword_only,
    inspect.Parameter.VAR_KEYWORD: ParameterKind.var_keyword,
}
EXAMPLE = re.compile(r"(?:^>>> .*\n?)(?:^.+\n?)*", re.MULTILINE)
TABLE = re.compile(r"^==+ .*\n(?:.*\n)*?==+ .*\n(?:.+\n)*?==+ .*$", re.MULTILINE)
UNPACKED = re.compile(r"Unpack\[(\w+)\]")


class Examples(Extension):
    """Fences what is code in a docstring and not in Markdown: examples of doctest, and tables."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is None:
            return
        text = EXAMPLE.sub(lambda it: f"```pycon\n{it[0].rstrip()}\n```\n", obj.docstring.value)
        text = TABLE.sub(lambda it: f"```text\n{it[0]}\n```", text)
        obj.docstring.value = text.replace("::\n\n    ", ":\n\n    ")


class Unpacked(Extension):
    """Spells out ``**parts: Unpack[StrategyParts]``, unless the docstring describes ``parts``."""

    def on_function(self, *, func: Function, **_: Any) -> None:
        given: list[Parameter] = []
        for it in func.parameters:
            name = UNPACKED.fullmatch(str(it.annotation))
            parts: Any = {}
            whole = func.docstring is not None and f" {it.name}: " in func.docstring.value
            if it.kind is ParameterKind.var_keyword and name is not None and not whole:
                parts = getattr(importlib.import_module(func.module.path), name[1]).__annotations__
            kind = ParameterKind.keyword_only
            given += [
                Parameter(part, kind=kind, annotation=_shown(type_), default="...")
                for part, type_ in parts.items()
            ] or [it]
        func.parameters = Parameters(*given)


class AttrsClasses(Extension):
    """Gives each such class an ``__init__`` with the arguments that it has when it runs."""

    def on_class(self, *, cls: Class, **_: Any) -> None:
        by_attrs = any(str(it.value).startswith("attrs.") for it in cls.decorators)
        if not by_attrs or "__init__" in cls.members:
            return
        made: Any = importlib.import_module(cls.module.path)
        for part in cls.path.removeprefix(cls.module.path + ".").split("."):
            made = getattr(made, part)
        parameters = [
            Parameter(
                it.name,
                kind=KINDS[it.kind],
                annotation=None if it.annotation is it.empty else _shown(it.annotation),
                default=None if it.default is it.empty else _default(it.default),
            )
            for it in inspect.signature(made).parameters.values()
        ]
        own = Parameter("self", kind=ParameterKind.positional_or_keyword)
        made_by_attrs = Function(
            "__init__", parameters=Parameters(own, *parameters), returns="None"
        )
        cls.set_member("__init__", made_by_attrs)


def _shown(annotation: Any) -> str:
    if isinstance(annotation, str | ForwardRef):
        return annotation if isinstance(annotation, str) else annotation.__forward_arg__
    return re.sub(r"\b(?:typing|beamlike)\.(?:\w+\.)*", "", inspect.formatannotation(annotation))


def _default(value: Any) -> str:
    return "..." if value is attrs.NOTHING else repr(value)
