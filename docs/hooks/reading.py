"""How the API reference reads the source: examples, and the arguments of attrs classes.

Nothing is imported, so that the site is built without the packages that beamlike uses.
"""

import re
from collections.abc import Iterator
from typing import Any

from griffe import (
    Attribute,
    Class,
    Expr,
    ExprCall,
    ExprKeyword,
    Extension,
    Function,
    GriffeError,
    GriffeLoader,
    Module,
    Object,
    Parameter,
    ParameterKind,
    Parameters,
)

EXAMPLE = re.compile(r"(?:^>>> .*\n?)(?:^.+\n?)*", re.MULTILINE)
TABLE = re.compile(r"^==+ .*\n(?:.*\n)*?==+ .*\n(?:.+\n)*?==+ .*$", re.MULTILINE)
UNPACKED = re.compile(r"Unpack\[(\w+)\]")
REQUIRED_OR_NOT = re.compile(r"^(?:Not)?Required\[(.*)\]$", re.DOTALL)


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

    def on_package(self, *, pkg: Module, loader: GriffeLoader, **_: Any) -> None:
        for obj in written(pkg):
            if isinstance(obj, Function):
                obj.parameters = Parameters(*self._spelled_out(obj, loader))

    def _spelled_out(self, function: Function, loader: GriffeLoader) -> Iterator[Parameter]:
        described = "" if function.docstring is None else function.docstring.value
        for parameter in function.parameters:
            unpacked = UNPACKED.fullmatch(str(parameter.annotation))
            if unpacked is None or f" {parameter.name}: " in described:
                yield parameter
                continue
            parts: Any = loader.modules_collection[function.module.resolve(unpacked[1])]
            for name, part in parts.attributes.items():
                annotation = REQUIRED_OR_NOT.sub(r"\1", str(part.annotation))
                keyword = ParameterKind.keyword_only
                yield Parameter(name, kind=keyword, annotation=annotation, default="...")


class AttrsClasses(Extension):
    """Gives each such class an ``__init__`` with the arguments that attrs makes of its fields."""

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        for obj in written(pkg):
            if isinstance(obj, Class) and _has_init_of_attrs(obj):
                itself = Parameter("self", kind=ParameterKind.positional_or_keyword)
                parameters = Parameters(itself, *arguments(obj))
                made_by_attrs = Function("__init__", parameters=parameters, returns="None")
                obj.set_member("__init__", made_by_attrs)


class MadeByNew(Extension):
    """Gives each class that is made in ``__new__`` an ``__init__`` with the same arguments."""

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        for obj in written(pkg):
            new = obj.members.get("__new__") if isinstance(obj, Class) else None
            if isinstance(new, Function) and "__init__" not in obj.members:
                made = Function("__init__", parameters=new.parameters, returns="None")
                obj.set_member("__init__", made)


def _has_init_of_attrs(cls: Class) -> bool:
    decorator = _decorator(cls)
    return bool(decorator) and decorator.get("init") != "False" and "__init__" not in cls.members


def written(parent: Object) -> Iterator[Object]:
    """Everything that is written in a module, and in the modules and classes inside of it."""
    for member in list(parent.members.values()):
        if isinstance(member, Object) and not member.is_alias:
            yield member
            yield from written(member)


def arguments(cls: Class) -> list[Parameter]:
    """The arguments of a class of attrs: one for each field, those by name alone last."""
    fields: dict[str, Parameter] = {}
    for owner in (*reversed(_bases(cls)), cls):
        by_name = _decorator(owner).get("kw_only") == "True"
        for name, member in owner.members.items():
            if not isinstance(member, Attribute) or "instance-attribute" not in member.labels:
                continue  # a property, or one of the class
            argument = _argument(name, member, by_name)
            if argument is not None:
                fields.pop(name, None)  # a field that is written anew comes where it is written
                fields[name] = argument
    keyword = ParameterKind.keyword_only
    return sorted(fields.values(), key=lambda argument: argument.kind is keyword)


def _bases(cls: Class) -> list[Class]:
    try:
        return [base for base in cls.mro() if isinstance(base, Class) and _decorator(base)]
    except (GriffeError, ValueError):  # classes of other packages
        return []


def _decorator(cls: Class) -> dict[str, str]:
    """What the decorator of attrs says, and its name; empty if there is none."""
    for decorator in cls.decorators:
        if str(decorator.value).startswith("attrs."):
            return {"": str(decorator.value), **_keywords(decorator.value)}
    return {}


def _keywords(call: Any) -> dict[str, Any]:
    if not isinstance(call, ExprCall):
        return {}
    keywords = [it for it in call.arguments if isinstance(it, ExprKeyword)]
    return {it.name: it.value if it.name == "default" else str(it.value) for it in keywords}


def _argument(name: str, member: Attribute, by_name: bool) -> Parameter | None:
    """The argument for a field; None: there is none."""
    field, annotation = member.value, member.annotation
    default: str | Expr | None = field
    says: dict[str, Any] = {}
    if isinstance(field, ExprCall) and str(field.function) in ("attrs.field", "attrs.Factory"):
        says = _keywords(field)
        is_made = "factory" in says or str(field.function) == "attrs.Factory"
        default = "..." if is_made else says.get("default")
    if says.get("init") == "False" or annotation is None:
        return None
    if "converter" in says:
        annotation = _taken_by(member, says["converter"])
    keyword = by_name or says.get("kw_only") == "True"
    kind = ParameterKind.keyword_only if keyword else ParameterKind.positional_or_keyword
    return Parameter(name.lstrip("_"), kind=kind, annotation=annotation, default=default)


def _taken_by(member: Attribute, converter: str) -> Any:
    """The annotation of what a converter takes; None: it says nothing."""
    try:
        function: Any = member.modules_collection[member.parent.resolve(converter)]
        return next(iter(function.parameters)).annotation
    except (KeyError, GriffeError, AttributeError, StopIteration):  # a class, or of elsewhere
        return None
