"""Descriptions, such as window functions and triggers: frozen values that have arguments.

A class says in a table of what kind each of its arguments is. The text of a description, the way
back from there, and the same description in other ticks follow from that.
"""

import inspect
from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, Self

import attrs

from beamlike.errors import TriggerError
from beamlike.model.fingerprint import stable_repr
from beamlike.model.resolution import MILLISECONDS, Resolution, finest, rescaled
from beamlike.model.time import duration_us, without_unit

ArgumentKind = Literal["count", "number", "duration", "flag", "function", "value", "trigger"]

NO_ARGUMENTS: Final[Mapping[str, ArgumentKind]] = MappingProxyType({})


class HasArguments:
    """A description that says what its arguments are. Its text follows from that."""

    arguments: ClassVar[Mapping[str, ArgumentKind]] = NO_ARGUMENTS
    """Of beamlike's own: what each argument is, in the order of the text. Texts, scenario files and
    code are written and read by it."""

    def __str__(self) -> str:
        return f"{described_class(self).__name__}({', '.join(_argument_texts(self))})"


@attrs.frozen(slots=False)
class HasDurations(HasArguments):
    """A description that counts its durations in the ticks of a resolution."""

    resolution: Resolution = attrs.field(default=MILLISECONDS, init=False, repr=False)
    """What its durations count: microseconds, if one of them is finer than a millisecond."""
    without_unit: Mapping[str, int] = attrs.field(factory=dict, init=False, eq=False, repr=False)
    """Its durations that were given as numbers, and are no whole number of seconds (ms)."""

    def _describe(self, *rest: Any, **durations: Any) -> None:
        """Set all fields: these durations, in the finest unit that they need, then the rest.

        None and functions among the durations stay as they are.
        """
        owner = described_class(self).__name__
        micros = {
            name: duration_us(value, f"{owner} {name}")
            for name, value in durations.items()
            if not (value is None or callable(value))
        }
        unit = finest(*micros.values())
        ticks = {name: length // unit.micros for name, length in micros.items()}
        self.__attrs_init__(*(durations | ticks).values(), *rest)  # type: ignore[attr-defined]
        self._count(unit, **durations)

    def _count(self, unit: Resolution, **durations: object) -> None:
        """Set what its durations count, and which of them had no unit."""
        object.__setattr__(self, "resolution", unit)
        object.__setattr__(self, "without_unit", without_unit(**durations))

    def in_resolution(self, resolution: Resolution) -> Self:
        """The same description, in the ticks of a resolution.

        Raises:
            TimeError: A duration is finer than these.
        """
        durations = (name for name, sort in self.arguments.items() if sort == "duration")
        return rescaled(self, resolution, *durations)


def described_class(description: HasArguments) -> type[HasArguments]:
    """The class that says what the arguments are: what is made from it has its text, too."""
    saying = (cls for cls in type(description).__mro__ if "arguments" in vars(cls))
    cls = next(saying)
    return type(description) if cls is HasArguments else cls


@cache
def argument_defaults(cls: type[HasArguments]) -> Mapping[str, Any]:
    """The default of each argument; of those that must be given `inspect.Parameter.empty`."""
    parameters = inspect.signature(cls).parameters
    return {name: parameters[name].default for name in cls.arguments}


def _argument_texts(description: HasArguments) -> Iterator[str]:
    unit: Resolution = getattr(description, "resolution", MILLISECONDS)
    cls: Any = described_class(description)
    for (name, sort), default in zip(
        cls.arguments.items(), argument_defaults(cls).values(), strict=True
    ):
        value = getattr(description, name)
        if sort == "duration" and isinstance(default, int):
            default = unit.from_ms(default)
        if value is not default and value != default:
            is_length = sort == "duration" and isinstance(value, int)
            text = unit.show_duration(value) if is_length else _WRITTEN[sort](value)
            yield text if default is inspect.Parameter.empty else f"{name}={text}"


_WRITTEN: Final[Mapping[ArgumentKind, Callable[[Any], str]]] = {
    "count": str,
    "number": repr,
    "duration": stable_repr,  # a function from an element to it
    "flag": str,
    "function": stable_repr,
    "value": stable_repr,
    "trigger": str,
}


# -- the way back ------------------------------------------------------------------------------


def read_arguments(
    cls: type[HasArguments], inside: str, read: Mapping[ArgumentKind, Callable[[str], Any]] = {}
) -> dict[str, Any] | None:
    """The arguments of a description that stand between the parentheses of its text, if all can be
    read; None if they are not its own. ``read`` says how some are read, where not as usual."""
    parts = parts_of(inside)
    arguments: dict[str, Any] = {}
    for name, part in zip(cls.arguments, parts, strict=False):
        key, is_named, text = part.partition("=")
        if not is_named or key not in cls.arguments:
            key, text = name, part
        sort = cls.arguments[key]
        arguments[key] = (read.get(sort) or _READ[sort])(text)
    return arguments if len(arguments) == len(parts) else None


def parts_of(inside: str) -> Sequence[str]:
    """What stands between the commas that are in no parentheses."""
    *parts, last = map(str.strip, _cut(inside))
    return [*parts, last] if last else parts


def _cut(text: str) -> Iterable[str]:
    depth = start = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            yield text[start:index]
            start = index + 1
    yield text[start:]


class _NamedFunction:
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
    "number": lambda text: int(text) if text.isdigit() else float(text),
    "duration": str,
    "flag": lambda text: text == "True" or text,
    "function": _NamedFunction,
    "value": literal_eval,
}
