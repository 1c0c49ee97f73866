"""Arguments of a test's words: one that is misspelt is answered with the nearest that there is."""

import difflib
import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from beamlike.errors import TestStreamError

__all__ = ["by_name", "names_of", "no_argument", "several"]

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def names_of(method: Callable[..., object]) -> list[str]:
    """The arguments that a method takes."""
    return [name for name in inspect.signature(method).parameters if name != "self"]


def no_argument(verb: str, name: str, known: Iterable[str]) -> str:
    """What is said of an argument that a verb does not take."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1)
    advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    return f"{verb} takes no argument {name!r}; {advice}"


def by_name(method: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """A method that takes its arguments by name, and says in words which of them is not right.

    The method that comes of it raises:
        TestStreamError: An argument is not known, is missing, or is given without its name.
    """
    signature, verb, known = inspect.signature(method), method.__name__, names_of(method)
    needed = [
        name for name in known if signature.parameters[name].default is inspect.Parameter.empty
    ]

    @wraps(method)
    def checked(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        __tracebackhide__ = True
        for name in kwargs:
            if name not in known:
                raise TestStreamError(no_argument(verb, name, known))
        if len(args) > 1:
            example = ", ".join(f"{name}=..." for name in known[: len(args) - 1])
            raise TestStreamError(
                f"{verb} takes its arguments by name, got {args[1]!r} without one; "
                f"write {verb}({example})"
            )
        for name in needed:
            if name not in kwargs:
                raise TestStreamError(f"{verb} needs {name}=; there is none by default")
        return method(*args, **kwargs)

    return checked


def several(elements: Iterable[Any], owner: str) -> tuple[Any, ...]:
    """The elements that a matcher is given.

    Raises:
        TestStreamError: They are none that can be listed.
    """
    if not isinstance(elements, Iterable):
        raise TestStreamError(f"{owner} needs a list of elements, got {elements!r}")
    return tuple(elements)
