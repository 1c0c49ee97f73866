"""Arguments by name: the errors for one that does not exist, and for one that is missing.

Systems that share a word give it other names: what is ``accumulation`` here is
``accumulation_mode`` in Beam. The error for the other name gives the one used here.
"""

import difflib
import inspect
import reprlib
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from beamlike.errors import BeamlikeError

Params = ParamSpec("Params")
Answer = TypeVar("Answer")

_SAME: Final = (
    ("window", "window_fn", "windowfn", "windows", "windowing"),
    ("accumulation", "accumulation_mode", "mode"),
    ("allowed_lateness", "lateness", "grace"),
    ("timestamp_combiner", "output_time_fn"),
    ("closing_behavior", "closing_behaviour"),
    ("on_time_behavior", "on_time_behaviour"),
    ("aggregate", "aggregates", "combine", "combine_fn", "agg"),
    ("key", "keys", "by", "group_by"),
    ("timestamp", "event_time", "time"),
)
"""Names of one thing, here and elsewhere."""

_BY_NAME: Final = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def argument_meant(given: str, owner: str, known: Iterable[str]) -> str:
    """That there is no such argument, and which one was meant.

    Args:
        given: What it was called.
        owner: Whose argument it is.
        known: The arguments that there are.

    >>> argument_meant("window", "WindowingStrategy", ["window_fn", "trigger"])
    "WindowingStrategy has no argument 'window'; write window_fn="
    """
    names = list(known)
    alike = [it for same in _SAME if given in same for it in same]
    near = [it for it in (*alike, *difflib.get_close_matches(given, names)) if it in names]
    meant = f"write {near[0]}=" if near else f"it takes {', '.join(names)}"
    return f"{owner} has no argument {given!r}; {meant}"


def by_name(
    owner: str,
    error: type[BeamlikeError],
    others: Collection[str] | Mapping[str, Any] = (),
    others_first: bool = False,
    **examples: str,
) -> Callable[[Callable[Params, Answer]], Callable[Params, Answer]]:
    """A function whose error names the argument that does not exist, has no name, or is missing.

    Python says the former in a TypeError that does not know what was meant.

    Args:
        owner: What the function is called where people call it.
        error: What is raised, in place of a TypeError.
        others: What there is besides, of a function that takes a mapping of arguments; with their
            types ``help`` names each. Empty: the function hands them on, unchecked.
        others_first: Whether a value without a name is more likely meant for one of those.
        examples: What to give for arguments without which nothing goes, as it is written.
    """

    def decorate(function: Callable[Params, Answer]) -> Callable[Params, Answer]:
        every = inspect.signature(function).parameters.values()
        known = [it.name for it in every if it.kind in _BY_NAME and it.name not in ("self", "cls")]
        known += [*others]
        open_end = any(it.kind is inspect.Parameter.VAR_KEYWORD for it in every) and not others
        places = [it.name for it in every if it.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
        named = [it.name for it in every if it.kind is inspect.Parameter.KEYWORD_ONLY]
        named = [*others, *named] if others_first else [*named, *others]

        @wraps(function)
        def checked(*args: Params.args, **kwargs: Params.kwargs) -> Answer:
            __tracebackhide__ = True  # pytest then shows the line that gave the argument
            for name in kwargs:
                if name not in known and not open_end:
                    raise error(argument_meant(name, owner, known))
            for value, name in zip(args[len(places) :], named, strict=False):
                raise error(f"{owner}: {reprlib.repr(value)} has no name; write {name}=...")
            for name, example in examples.items():
                if name not in kwargs and name not in places[: len(args)]:
                    raise error(f"{owner} needs {name}; give {example}")
            return function(*args, **kwargs)

        if isinstance(others, Mapping):
            vars(checked)["__signature__"] = _spelled_out(function, others)
        return checked

    return decorate


def _spelled_out(function: Callable[..., object], others: Mapping[str, Any]) -> inspect.Signature:
    """The signature of a function with each of its other arguments, which may be left out."""
    whole = inspect.signature(function)
    named = [it for it in whole.parameters.values() if it.kind is not inspect.Parameter.VAR_KEYWORD]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in others.items()
    ]
    return whole.replace(parameters=[*named, *more])
