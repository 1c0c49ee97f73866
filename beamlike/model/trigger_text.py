"""Triggers from their text: the way back from ``str(trigger)``.

Saved state and logs know a trigger by its text only. Nothing is evaluated: a text names triggers
of `beamlike.model`, numbers and durations, and nothing else.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from beamlike.errors import TriggerError
from beamlike.model import triggers as spec
from beamlike.model.described import parts_of, read_arguments
from beamlike.model.extra_triggers import EXTRA_TRIGGERS
from beamlike.model.triggers import Trigger

_CALL: Final = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_WITH_ARGUMENTS: Final[Sequence[type[Trigger]]] = (
    *(spec.DefaultTrigger, spec.AfterWatermark, spec.AfterSynchronizedProcessingTime),
    *(spec.AfterCount, spec.Repeatedly, spec.OrFinally, spec.Never, spec.Always),
    *EXTRA_TRIGGERS.values(),
)
_NAMED: Final[Mapping[str, Any]] = {cls.__name__: cls for cls in _WITH_ARGUMENTS}
_SEVERAL: Final[Mapping[str, Callable[..., Trigger]]] = {
    cls.__name__: cls for cls in (spec.AfterEach, spec.AfterFirst, spec.AfterAll)
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
    if name == spec.AfterProcessingTime.__name__:
        return spec.AfterProcessingTime(*map(_transform, parts_of(inside)))
    if name in _SEVERAL:
        return _SEVERAL[name](*map(_trigger, parts_of(inside)))
    make: Any = _NAMED.get(name)
    arguments = None if make is None else read_arguments(make, inside, {"trigger": _trigger})
    if arguments is None:
        raise ValueError(f"there is no trigger {name} with these parts")
    trigger: Trigger = make(**arguments)
    return trigger


def _transform(text: str) -> spec.Delay | spec.AlignTo:
    if not text.startswith("AlignTo("):
        return spec.Delay(text)
    inside = text.removeprefix("AlignTo(").removesuffix(")")
    return spec.AlignTo(**read_arguments(spec.AlignTo, inside) or {})
