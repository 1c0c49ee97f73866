"""What every function that saved state depends on must be: a frozen value with a text.

Each rule yields a sentence for what breaks it; `ContractAssertionError` lists them.
"""

import pickle
import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import attrs

_SHORT: Final = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = 120


class ContractAssertionError(AssertionError):
    """A contract is broken: ``broken`` has a sentence for each rule, and the text has them all."""

    broken: Sequence[str] = ()

    @classmethod
    def refuse(cls, thing: object, broken: Sequence[str], rule: str, subject: str) -> None:
        """Raise it if something is broken: a ``rule`` of things of a ``kind``."""
        if broken:
            rules = f"a {rule}" if len(broken) == 1 else f"{len(broken)} {rule}s"
            lines = "\n".join(f"  - {sentence}" for sentence in broken)
            error = cls(f"{thing} breaks {rules} of {subject}:\n{lines}")
            error.broken = broken
            raise error


def short(value: Any) -> str:
    """The ``repr`` of a value, cut where it is long."""
    return _SHORT.repr(value)


def value_rules(dumps: Callable[[Any], bytes]) -> Sequence[Callable[[Any], Iterator[str]]]:
    """The rules here, for what is pickled so."""
    return partial(_is_a_value, dumps), _is_frozen, _prints_the_same


def _is_a_value(dumps: Callable[[Any], bytes], thing: Any) -> Iterator[str]:
    """The value survives pickling, is equal to its copy and has a hash."""
    try:
        copy = pickle.loads(dumps(thing))
    except Exception as error:
        yield (
            f"it cannot be pickled ({error}); put its class, and functions that it holds, at the "
            "top of a module"
        )
        return
    if copy != thing:
        yield "its pickled copy is not equal to it; write @attrs.frozen above the class"
    try:
        hash(thing)
    except TypeError as error:
        yield f"it has no hash ({error}); let its fields be values such as numbers and tuples"


def _is_frozen(thing: Any) -> Iterator[str]:
    """None of its fields can be set."""
    cls = type(thing)
    names = (
        [field.name for field in attrs.fields(cls)]
        if "__attrs_attrs__" in vars(cls)
        else list(getattr(thing, "__dict__", ()))
    )
    for name in names:
        try:
            setattr(thing, name, getattr(thing, name))
        except AttributeError:
            continue
        yield f"its field {name} can be set; write @attrs.frozen above the class"


def _prints_the_same(thing: Any) -> Iterator[str]:
    """Its text is the same in every process."""
    text = str(thing)
    if " at 0x" in text:
        yield (
            f"it prints an address in memory, {text}; saved state is recognised by that text, so "
            "write a __str__ that is the same in every process"
        )


Case = TypeVar("Case")


class UserFunctionRaised(Exception):
    """A function of the user's raised; the text says which, and on what."""


def broken_by(case: Case, rules: Iterable[Callable[[Case], Iterator[str]]]) -> list[str]:
    """The first sentence of each rule; the others would be more of the same."""
    broken: list[str] = []
    for rule in rules:
        try:
            sentence = next(rule(case), None)
        except UserFunctionRaised as raised:
            sentence = str(raised)
        if sentence is not None and sentence not in broken:
            broken.append(sentence)
    return broken
