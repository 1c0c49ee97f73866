"""Pickles the functions of a pipeline for other processes, and finds those that cannot be sent."""

import io
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from types import FunctionType, MethodType
from typing import Any, Final, Generic, cast

import attrs
import cloudpickle

from beamlike.errors import UnpicklableError
from beamlike.model.graph import Node, ReadNode
from beamlike.safe_text import USER_RAISED, UserRaised, problem_of

_DEEPEST: Final = 12
"""How deep the search goes into what a function holds."""

_GENERIC_ITEM: Final = getattr(Generic.__class_getitem__, "__func__", None)
"""What makes ``Point[int]`` of a generic named tuple before Python 3.12, where no name of its own
leads a pickle there."""


class FunctionPickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Pickles functions and classes; those of ``__main__`` by their content."""

    def reducer_override(self, obj: Any) -> Any:
        if obj is _GENERIC_ITEM:
            return attrgetter("__class_getitem__.__func__"), (Generic,)
        return super().reducer_override(obj)


def pickled(value: Any) -> bytes:
    """A value with functions or classes in it as bytes."""
    sink = io.BytesIO()
    FunctionPickler(sink).dump(value)
    return sink.getvalue()


_SHORT: Final = reprlib.Repr()
_SHORT.maxother = 60


def packed(parts: Sequence[Any], nodes: Sequence[Node]) -> bytes:
    """Parts of a pipeline as bytes.

    Args:
        parts: The parts.
        nodes: The nodes among them, each after its sources.

    Raises:
        UnpicklableError: A node holds what cannot go to another process; says which, and where.
    """
    try:
        return pickled(list(parts))
    except Exception:
        for node in nodes:  # its sources are no reason any more
            _check(node, node)
        raise


def check_sendable(node: Node) -> None:
    """Refuse a new node if its functions cannot go to another process.

    The nodes that it reads were checked before. Elements and DataFrames of sources are not pickled.

    Raises:
        UnpicklableError: The text says which object cannot be sent, and where it is.
    """
    if isinstance(node, ReadNode):
        return
    for _, value in _attributes(node):
        _check(node, value)


def _check(node: Node, part: Any) -> None:
    error = refusal(part)
    if error is not None:
        raise _held_by(node, error) from error


def refusal(thing: Any) -> UserRaised | None:
    """The error of sending an object to another process; None if it can be sent."""
    try:
        pickled(thing)
    except USER_RAISED as error:
        return error
    return None


def _held_by(node: Node, error: UserRaised) -> UnpicklableError:
    place, held = "it", cast(Any, node)
    for name, value in _way(node):
        place, held = name, value
    return UnpicklableError(
        f"{node.label!r} cannot go to another process: {place} is {_SHORT.repr(held)}, and "
        f"{problem_of(error)}; make it where it is used, in setup() of a DoFn or "
        "inside of the function"
    )


def _way(thing: Any) -> Iterator[tuple[str, Any]]:
    """The path from an object to the part of it that cannot be sent, with a name for each step."""
    seen: set[int] = set()
    for _ in range(_DEEPEST):
        seen.add(id(thing))
        parts = ((name, part) for name, part in _inside(thing) if id(part) not in seen)
        wrong = next(((name, part) for name, part in parts if refusal(part) is not None), None)
        if wrong is None:
            return
        yield wrong
        thing = wrong[1]


def _inside(thing: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, FunctionType):
        yield from _held(thing)
    elif isinstance(thing, MethodType):
        yield f"the object of {thing.__qualname__}", thing.__self__
    elif isinstance(thing, partial):
        yield "the function of a partial", thing.func
        values = (*thing.args, *thing.keywords.values())
        yield from (("an argument of a partial", argument) for argument in values)
    elif isinstance(thing, Mapping):
        yield from ((f"the value of {key!r}", value) for key, value in thing.items())
    elif isinstance(thing, list | tuple | set | frozenset):
        yield from (("a part of it", part) for part in thing)
    elif not isinstance(thing, type):
        yield from _attributes(thing)


def _held(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The objects that a function uses from outside."""
    name, code = function.__qualname__, function.__code__
    for variable, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield f"the variable {variable!r} of {name}", cell.cell_contents
        except ValueError:  # nothing is in it yet
            continue
    for variable in code.co_names:
        if variable in function.__globals__:
            yield f"the global {variable!r} in {name}", function.__globals__[variable]
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    yield from ((f"a default of {name}", default) for default in defaults)


def _attributes(thing: Any) -> Iterator[tuple[str, Any]]:
    cls: type = type(thing)
    named: Callable[[str], str] = f"the attribute {{!r}} of {cls.__name__}".format
    attributes = dict(getattr(thing, "__dict__", {}))
    if attrs.has(cls):
        attributes |= {field.name: getattr(thing, field.name) for field in attrs.fields(cls)}
    for name, value in attributes.items():
        # What it reads has been looked at already.
        if not (isinstance(thing, Node) and name == "sources"):
            yield named(name), value
