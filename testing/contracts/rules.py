"""How rules are asked of a case: each yields a sentence for an example that breaks it."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Case = TypeVar("Case")


class Raised(Exception):
    """A function of the user's raised; the text says which, and on what."""


def broken_by(case: Case, rules: Iterable[Callable[[Case], Iterator[str]]]) -> list[str]:
    """The first sentence of each rule; the others would be more of the same."""
    broken: list[str] = []
    for rule in rules:
        try:
            sentence = next(rule(case), None)
        except Raised as raised:
            sentence = str(raised)
        if sentence is not None and sentence not in broken:
            broken.append(sentence)
    return broken
