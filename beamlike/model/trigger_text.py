"""Triggers from their text: the way back from ``str(trigger)``.

Saved state and logs know a trigger by its text only. Nothing is evaluated: a text names triggers
of `beamlike.model`, numbers and durations, and nothing else.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from beamlike.errors import TriggerError
from beamlike.model import triggers as spec
from beamlike.model.custom_trigger import ArgumentKind, CustomTrigger
from beamlike.model.extra_triggers import EXTRA_TRIGGERS
from beamlike.model.triggers import Trigger

_CALL: Final = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_NAMED: Final = re.compile(r"(early|late|until|offset)=(.*)", re.DOTALL)
_PLAIN: Final[dict[str, type[Trigger]]] = {
    kind.__name__: kind
    for kind in (
        spec.DefaultTrigger,
        spec.AfterSynchronizedProcessingTime,
        spec.Never,
        spec.Always,
    )
}
_MADE_OF_TRIGGERS: Final[dict[str, type[Trigger]]] = {
    kind.__name__: kind
    for kind in (
        spec.AfterWatermark,
        spec.Repeatedly,
        spec.AfterEach,
        spec.AfterFirst,
        spec.AfterAll,
        spec.OrFinally,
    )
}


def trigger_of(text: str) -> Trigger:
    """The trigger that has this text.

    Raises:
        TriggerError: It is not the text of a trigger.

    >>> print(trigger_of("AfterWatermark(early=AfterProcessingTime(1m 30s), late=AfterCount(2))"))
    AfterWatermark(early=AfterProcessingTime(1m 30s), late=AfterCount(2))
    """
    try:
        return _trigger(text.strip())
    except (TypeError, ValueError, RecursionError) as error:
        why = "" if isinstance(error, TypeError) else f" ({error})"
        raise TriggerError(
            f"{text!r} is not the text of a trigger{why}; write it as "
            '"AfterWatermark(early=AfterCount(3))"'
        ) from error


def _trigger(text: str) -> Trigger:
    called = _CALL.fullmatch(text)
    if called is None:
        raise ValueError(f"{text!r} has no parentheses")
    name, inside = called.groups()
    parts = list(_parts(inside))
    if name in _PLAIN and not parts:
        return _PLAIN[name]()
    if name == spec.AfterCount.__name__:
        (count,) = parts
        return spec.AfterCount(int(count))
    if name == spec.AfterProcessingTime.__name__:
        return spec.AfterProcessingTime(*map(_transform, parts))
    if name in EXTRA_TRIGGERS:
        return _extra(EXTRA_TRIGGERS[name], parts)
    if name in _MADE_OF_TRIGGERS:
        named = [_NAMED.fullmatch(part) for part in parts]
        given = [_trigger(part) for part, name in zip(parts, named, strict=True) if name is None]
        keywords = {it[1]: _trigger(it[2]) for it in named if it is not None}
        return _MADE_OF_TRIGGERS[name](*given, **keywords)
    raise ValueError(f"there is no trigger {name} with these parts")


def _extra(cls: type[CustomTrigger[Any]], parts: list[str]) -> Trigger:
    given: dict[str, Any] = {}
    for name, part in zip(cls.arguments, parts, strict=False):
        said, is_named, text = part.partition("=")
        if not is_named or said not in cls.arguments:
            said, text = name, part
        given[said] = _READ[cls.arguments[said]](text)
    if len(given) != len(parts):
        raise ValueError(f"there is no trigger {cls.__name__} with these parts")
    make: Callable[..., Trigger] = cls
    return make(**given)


def _flag(text: str) -> bool | str:
    return text == "True" or text


def _number(text: str) -> float:
    return int(text) if text.isdigit() else float(text)


class _Named:
    """A function of which only the name is known."""

    def __init__(self, name: str) -> None:
        self.__qualname__ = name

    def __call__(self, before: Any, after: Any) -> float:
        raise TriggerError(
            f"{self.__qualname__} is a name in a text, and no function; use the trigger that the "
            "text is of"
        )


_READ: Final[Mapping[ArgumentKind, Callable[[str], Any]]] = {
    "count": int,
    "number": _number,
    "duration": str,
    "flag": _flag,
    "function": _Named,
}


def _transform(text: str) -> spec.Delay | spec.AlignTo:
    if not text.startswith("AlignTo("):
        return spec.Delay(text)
    period, *offset = _parts(text.removeprefix("AlignTo(").removesuffix(")"))
    return spec.AlignTo(period, *(part.removeprefix("offset=") for part in offset))


def _parts(text: str) -> Iterator[str]:
    """What stands between the commas that are in no parentheses."""
    depth = start = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            yield text[start:index].strip()
            start = index + 1
    if text[start:].strip():
        yield text[start:].strip()
