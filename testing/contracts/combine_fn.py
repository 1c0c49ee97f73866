"""The laws of combine functions, as a check for those that users write.

    def test_longest_is_a_combine_function():
        check_combine_fn(Longest(), ["a", "ccc", None, "bb"])

A failure has one sentence for each broken law, with a small example.
"""

import math
import pickle
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import attrs
import cloudpickle

from beamlike.errors import TestStreamError
from beamlike.model.combine import CombineFn
from beamlike.model.combine.steps import InSteps, as_combine_fn
from beamlike.model.time import InstantLike, instant_ms
from beamlike.testing.contracts.values import ContractAssertionError

Equal = Callable[[Any, Any], bool]
Elements = list[tuple[Any, int]]


class CombineFnAssertionError(ContractAssertionError):
    """A combine function breaks its contract. ``broken`` has a sentence for each law."""


def check_combine_fn(
    fn: CombineFn | InSteps,
    values: Iterable[Any],
    *,
    timestamps: Iterable[InstantLike] | None = None,
    any_order: bool = False,
    equal: Equal | None = None,
) -> None:
    """Check that a combine function keeps the contract which every host relies on.

    The elements are added at once, in bundles, and in parts that are merged, cut at many places:
    the result must always be the same. A fresh accumulator must be neutral, merging must not
    depend on which two parts come first, ``compact`` must change nothing; no call may change what
    it is given; the function and its accumulators must survive pickling, and ``str(fn)`` must be
    the same in every process.

    Args:
        fn: The combine function, also one of ``beamlike.beam``.
        values: Values of elements, in order of arrival. Some of them equal, null or extreme.
        timestamps: Their event times. Default: a second apart, from 0.
        any_order: Whether the result must not depend on the order of arrival either.
        equal: Whether two results are the same. By default floats may differ in their last
            digits, and NaN equals NaN. Estimates need more room.

    Raises:
        CombineFnAssertionError: A law is broken.
        TestStreamError: There is nothing to check: no values, or ``fn`` is no combine function; or
            there are not as many timestamps as values.
        TimeError: A timestamp cannot be read.

    Source: Beam Java ``CombineFnTester``.
    """
    checked = as_combine_fn(fn)
    if checked is None:
        hint = f"; write {fn.__name__}()" if isinstance(fn, type) else ""
        raise TestStreamError(f"check_combine_fn needs a combine function, got {fn!r}{hint}")
    given = list(values)
    if timestamps is None:
        times = [index * 1000 for index in range(len(given))]
    else:
        times = [instant_ms(time, "check_combine_fn timestamp") for time in timestamps]
    if not given:
        raise TestStreamError("check_combine_fn has nothing to check: give at least one value")
    if len(times) != len(given):
        raise TestStreamError(
            f"check_combine_fn needs a timestamp for each value, got {len(times)} for {len(given)}"
        )
    check = _LawCheck(checked, equal or _nearly_equal, any_order)
    elements = list(zip(given, times, strict=True))
    # Small sets first, so that the first example of a broken law is a small one.
    sizes = sorted({*range(min(4, len(elements))), len(elements)})
    for size in sizes:
        check.laws(elements[:size])
    check.of_the_function()
    broken = list(check.broken.values())
    CombineFnAssertionError.refuse(checked, broken, "law", "combine functions")


class _Raised(Exception):
    """The function raised. The text says in which call."""


@attrs.define
class _LawCheck:
    """Tries the laws, and keeps the first example that breaks each."""

    fn: CombineFn
    equal: Equal
    any_order: bool
    broken: dict[str, str] = attrs.Factory(dict)

    def laws(self, elements: Elements) -> None:
        try:
            whole = self.add(self.create(), elements)
            self._neutral(elements, whole)
            self._saved(elements, whole)
            for first, second in _cuts(len(elements)):
                parts = elements[:first], elements[first:second], elements[second:]
                self._cut(self.result(whole), *parts)
            if self.any_order:
                self._in_any_order(elements, self.result(whole))
        except _Raised as raised:
            self._note("raises", str(raised))

    def of_the_function(self) -> None:
        if " at 0x" in str(self.fn):
            self._note(
                "words",
                "str(fn) must be the same in every process, because saved state belongs to it, "
                f"but it is {str(self.fn)!r}; leave __str__ as CombineFn has it, or write one",
            )
        try:
            copy = cloudpickle.loads(cloudpickle.dumps(self.fn))
        except Exception as error:  # whatever a user's class raises
            self._note("travels", f"the function must survive pickling, but: {_words(error)}")
            return
        if str(copy) != str(self.fn):
            self._note(
                "travels",
                "the function must survive pickling, but it comes back as "
                f"{str(copy)!r} from {str(self.fn)!r}",
            )

    def _neutral(self, elements: Elements, whole: Any) -> None:
        law = "a fresh accumulator must be neutral, but"
        shown, result = _show(elements), self.result(whole)
        before = self.result(self.merge(self.create(), whole, [], elements))
        self._same(
            "neutral", before, result, f"{law} merge(create(), a), with a of {shown}, gives", "a"
        )
        after = self.result(self.merge(whole, self.create(), elements, []))
        self._same(
            "neutral", after, result, f"{law} merge(a, create()), with a of {shown}, gives", "a"
        )
        again = self.result(whole)
        self._same(
            "extract",
            again,
            result,
            f"extract must give the same each time, but of {shown} it gives at last",
            "at first",
        )

    def _saved(self, elements: Elements, whole: Any) -> None:
        self._same(
            "saved",
            self.result(cloudpickle.loads(_bytes(whole))),
            self.result(whole),
            f"accumulators must survive pickling, but that of {_show(elements)} afterwards gives",
            "before",
        )

    def _cut(self, result: Any, a: Elements, b: Elements, c: Elements) -> None:
        rest = [*b, *c]
        of_a, of_rest = self.add(self.create(), a), self.add(self.create(), rest)
        self._same(
            "bundles",
            self.result(self.add(of_a, rest, a)),
            result,
            f"bundles must not matter, but adding {_show(a)} and then {_show(rest)} gives",
            "adding all at once",
        )
        self._same(
            "merge",
            self.result(self.merge(of_a, of_rest, a, rest)),
            result,
            "merge(a, b) must equal adding b's elements after a's, but merging those of "
            f"{_show(a)} and {_show(rest)} gives",
            "adding",
        )
        of_b, of_c = self.add(self.create(), b), self.add(self.create(), c)
        self._same(
            "associative",
            self.result(self.merge(self.merge(of_a, of_b, a, b), of_c, [*a, *b], c)),
            self.result(self.merge(of_a, self.merge(of_b, of_c, b, c), a, rest)),
            "which two are merged first must not matter, but for the parts "
            f"{_show(a)}, {_show(b)} and {_show(c)} merge(merge(a, b), c) gives",
            "merge(a, merge(b, c))",
        )
        law = "compact must change no result, but"
        small, other = self.compact(of_a, a), self.compact(of_rest, rest)
        self._same(
            "compact",
            self.result(small),
            self.result(of_a),
            f"{law} the compact accumulator of {_show(a)} gives",
            "the one before",
        )
        self._same(
            "compact",
            self.result(self.add(small, rest, a)),
            result,
            f"{law} adding {_show(rest)} to the compact accumulator of {_show(a)} gives",
            "adding all at once",
        )
        self._same(
            "compact",
            self.result(self.merge(small, other, a, rest)),
            result,
            f"{law} merging the compact accumulators of {_show(a)} and {_show(rest)} gives",
            "adding all at once",
        )

    def _in_any_order(self, elements: Elements, result: Any) -> None:
        backwards = elements[::-1]
        self._same(
            "order",
            self.result(self.add(self.create(), backwards)),
            result,
            f"the order of arrival must not matter, but {_show(backwards)} gives",
            _show(elements),
        )

    def _same(self, law: str, one: Any, other: Any, says: str, than: str) -> None:
        if not self.equal(one, other):
            self._note(law, f"{says} {reprlib.repr(one)}, and {than} {reprlib.repr(other)}")

    def _note(self, law: str, sentence: str) -> None:
        self.broken.setdefault(law, sentence)

    # Calls of the function, each watched for what it changes.

    def create(self) -> Any:
        return self._watched("create", self.fn.create)

    def add(self, accumulator: Any, elements: Elements, held: Elements | None = None) -> Any:
        values, times = [value for value, _ in elements], [time for _, time in elements]
        what = f"add of {_show(elements)} to the accumulator of {_show(held or [])}"
        added = self._watched(
            what, lambda: self.fn.add(accumulator, values, times), add=accumulator
        )
        if _changed(values, [value for value, _ in elements]) or times != [t for _, t in elements]:
            self._note("given", f"add must leave the values as they were, but {what} changed them")
        return added

    def merge(self, first: Any, second: Any, a: Elements, b: Elements) -> Any:
        what = f"merge of the accumulators of {_show(a)} and {_show(b)}"
        return self._watched(what, lambda: self.fn.merge(first, second), merge=(first, second))

    def compact(self, accumulator: Any, held: Elements) -> Any:
        what = f"compact of the accumulator of {_show(held)}"
        return self._watched(what, lambda: self.fn.compact(accumulator), compact=accumulator)

    def result(self, accumulator: Any) -> Any:
        what = f"extract of {reprlib.repr(accumulator)}"
        return self._watched(what, lambda: self.fn.extract(accumulator), extract=accumulator)

    def _watched(self, what: str, call: Callable[[], Any], **given: Any) -> Any:
        before = _bytes(given)
        try:
            out = call()
        except Exception as error:  # whatever a user's function raises
            raise _Raised(f"{what} raised {_words(error)}") from error
        changed = _bytes(given) != before
        for verb in given:
            if changed:
                self._note(
                    f"{verb} changes",
                    f"{verb} must leave its arguments as they were, but {what} changed one",
                )
        return out


def _cuts(size: int) -> Iterator[tuple[int, int]]:
    """Where to cut elements in three parts: everywhere if they are few."""
    step = max(1, math.ceil(size / 8))
    places = sorted({*range(0, size + 1, step), size})
    return ((first, second) for first in places for second in places if first <= second)


def _bytes(accumulators: Any) -> bytes:
    try:
        # What users define in a test or a notebook is beyond pickle itself, which is faster.
        with suppress(pickle.PicklingError, AttributeError, TypeError):
            return pickle.dumps(accumulators)
        return bytes(cloudpickle.dumps(accumulators))
    except Exception as error:  # whatever a user's class raises
        raise _Raised(f"accumulators must survive pickling, but: {_words(error)}") from error


def _changed(now: Sequence[Any], before: Sequence[Any]) -> bool:
    return len(now) != len(before) or any(a is not b for a, b in zip(now, before, strict=True))


def _show(elements: Elements) -> str:
    return reprlib.repr([value for value, _ in elements])


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _nearly_equal(one: Any, other: Any) -> bool:
    match one, other:
        case float(), float():
            both_nan = math.isnan(one) and math.isnan(other)
            return both_nan or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
        case (list() | tuple(), list() | tuple()) if type(one) is type(other):
            return len(one) == len(other) and all(map(_nearly_equal, one, other))
        case Mapping(), Mapping():
            return one.keys() == other.keys() and all(
                _nearly_equal(one[key], other[key]) for key in one
            )
    return bool(one == other)
