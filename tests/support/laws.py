"""Laws of random things by what they say, what breaks one, and the same made smaller."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

import attrs

T = TypeVar("T", bound=attrs.AttrsInstance)

Law = Callable[[T], list[str] | None]
"""What is wrong with a case, in sentences; none if it keeps the law, None if the law has
nothing to say about it."""


@attrs.frozen
class Broken(Generic[T]):
    """A case that does not keep a law, and in what."""

    case: T
    law: str
    differences: tuple[str, ...]


class Laws(dict[str, Law[T]]):
    """Every law of some things, by what it says."""

    def differences(self, case: T, law: str) -> list[str] | None:
        """What is wrong with a case by one law: see `Law`. A law that raises is broken."""
        try:
            return self[law](case)
        except Exception as error:
            return [f"{type(error).__name__}: {error}"]

    def broken(
        self, case: T, applied: Counter[str] | None = None, names: Iterable[str] = ()
    ) -> list[Broken[T]]:
        """The laws that a case breaks, of all or of those with these names.

        ``applied`` counts the laws that had something to say.
        """
        broken = []
        for law in names or self:
            found = self.differences(case, law)
            if found is not None and applied is not None:
                applied[law] += 1
            if found:
                # Without what it has worked out: it may go to another process.
                broken.append(Broken(attrs.evolve(case), law, tuple(found)))
        return broken

    def smallest(
        self, broken: Broken[T], smaller: Callable[[T], Iterator[T]], attempts: int
    ) -> Broken[T]:
        """The same law broken by less, found in so many attempts at most.

        Args:
            broken: What breaks a law. That of Spark is not one of these: an attempt takes too long.
            smaller: Cases with a part less each.
            attempts: How many cases are tried.
        """
        left, improved = attempts, broken.law in self
        while improved:
            improved = False
            for case in smaller(broken.case):
                left -= 1
                if left < 0:
                    return broken
                if found := self.differences(case, broken.law):
                    broken, improved = Broken(case, broken.law, tuple(found)), True
                    break
        return broken

    def first_broken(self, law: str, cases: Iterable[T]) -> Broken[T]:
        """The first of some cases that breaks a law.

        Raises:
            AssertionError: None of them does.
        """
        for case in cases:
            if found := self.differences(case, law):
                return Broken(case, law, tuple(found))
        raise AssertionError(f"nothing breaks the law: {law}")


def unlike(found: Counter[Any], expected: Counter[Any]) -> list[str]:
    """What is missing in a multiset, and what is in it and must not be."""
    return [
        *(f"missing: {item}" for item in (expected - found).elements()),
        *(f"unexpected: {item}" for item in (found - expected).elements()),
    ]
