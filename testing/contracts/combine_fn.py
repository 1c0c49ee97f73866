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
from typing import Any, Final

import attrs
import cloudpickle

from beamlike.errors import TestStreamError
from beamlike.model.combine import CombineFn
from beamlike.model.combine.steps import InSteps, as_combine_fn
from beamlike.model.time import InstantLike, instant_ms
from beamlike.testing.contracts.values import ContractAssertionError, UserFunctionRaised

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
    arrived = list(values)
    times = [
        instant_ms(time, "check_combine_fn timestamp")
        for time in (range(0, 1000 * len(arrived), 1000) if timestamps is None else timestamps)
    ]
    if not arrived:
        raise TestStreamError("check_combine_fn has nothing to check: give at least one value")
    if len(times) != len(arrived):
        raise TestStreamError(
            "check_combine_fn needs a timestamp for each value, got "
            f"{len(times)} for {len(arrived)}"
        )
    check = _LawCheck(checked, equal or _nearly_equal, any_order)
    elements = list(zip(arrived, times, strict=True))
    # Small sets first, so that the first example of a broken law is a small one.
    for size in sorted({*range(min(4, len(elements))), len(elements)}):
        check.laws(elements[:size])
    check.of_the_function()
    CombineFnAssertionError.refuse(checked, list(check.broken.values()), "law", "combine functions")


_NEUTRAL: Final = "a fresh accumulator must be neutral, but"
_COMPACT: Final = "compact must change no result, but"
_LAWS: Final = {
    "neutral": f"{_NEUTRAL} merge(create(), a), with a of {{a}}, gives {{}}, and a {{}}",
    "neutral after": f"{_NEUTRAL} merge(a, create()), with a of {{a}}, gives {{}}, and a {{}}",
    "extract": "extract must give the same each time, but of {a} it gives at last {}, and at "
    "first {}",
    "saved": "accumulators must survive pickling, but that of {a} afterwards gives {}, and before "
    "{}",
    "bundles": "bundles must not matter, but adding {a} and then {rest} gives {}, and adding all "
    "at once {}",
    "merge": "merge(a, b) must equal adding b's elements after a's, but merging those of {a} and "
    "{rest} gives {}, and adding {}",
    "associative": "which two are merged first must not matter, but for the parts {a}, {b} and {c} "
    "merge(merge(a, b), c) gives {}, and merge(a, merge(b, c)) {}",
    "compact": f"{_COMPACT} the compact accumulator of {{a}} gives {{}}, and the one before {{}}",
    "compact and add": f"{_COMPACT} adding {{rest}} to the compact accumulator of {{a}} gives "
    "{}, and adding all at once {}",
    "compact and merge": f"{_COMPACT} merging the compact accumulators of {{a}} and {{rest}} gives "
    "{}, and adding all at once {}",
    "order": "the order of arrival must not matter, but {b} gives {}, and {a} {}",
}
"""What must be, and two results that should be one, of some parts of the elements. Of those that
begin with one word the first that is broken is reported."""


@attrs.frozen
class _Accumulator:
    """An accumulator, and the elements that are in it."""

    value: Any
    elements: Elements


@attrs.define
class _LawCheck:
    """Tries the laws, and keeps the first example that breaks each."""

    fn: CombineFn
    equal: Equal
    any_order: bool
    broken: dict[str, str] = attrs.Factory(dict)

    def laws(self, elements: Elements) -> None:
        try:
            together = self.add(self.create(), elements)
            self._of_one(together)
            for first, second in _cuts(len(elements)):
                parts = elements[:first], elements[first:second], elements[second:]
                self._of_parts(together, *parts)
            if self.any_order:
                backwards = self.add(self.create(), elements[::-1])
                self._same("order", backwards, together, a=elements, b=elements[::-1])
        except UserFunctionRaised as raised:
            self.broken.setdefault("raises", str(raised))

    def of_the_function(self) -> None:
        text = str(self.fn)
        if " at 0x" in text:
            self.broken["text"] = (
                "str(fn) must be the same in every process, because saved state belongs to it, "
                f"but it is {text!r}; leave __str__ as CombineFn has it, or write one"
            )
        try:
            copy = str(cloudpickle.loads(cloudpickle.dumps(self.fn)))
            problem = "" if copy == text else f" it comes back as {copy!r} from {text!r}"
        except Exception as error:  # whatever a user's class raises
            problem = f": {_problem(error)}"
        if problem:
            self.broken["travels"] = f"the function must survive pickling, but{problem}"

    def _of_one(self, together: _Accumulator) -> None:
        a, result = together.elements, self.result(together)
        self._same("neutral", self.merge(self.create(), together), result, a=a)
        self._same("neutral after", self.merge(together, self.create()), result, a=a)
        self._same("extract", together, result, a=a)
        saved = _Accumulator(cloudpickle.loads(_bytes(together.value)), a)
        self._same("saved", saved, together, a=a)

    def _of_parts(self, together: _Accumulator, a: Elements, b: Elements, c: Elements) -> None:
        result, rest = self.result(together), [*b, *c]
        of_a, of_rest = self.add(self.create(), a), self.add(self.create(), rest)
        self._same("bundles", self.add(of_a, rest), result, a=a, rest=rest)
        self._same("merge", self.merge(of_a, of_rest), result, a=a, rest=rest)
        of_b, of_c = self.add(self.create(), b), self.add(self.create(), c)
        left = self.merge(self.merge(of_a, of_b), of_c)
        right = self.merge(of_a, self.merge(of_b, of_c))
        self._same("associative", left, right, a=a, b=b, c=c)
        small, other = self.compact(of_a), self.compact(of_rest)
        self._same("compact", small, of_a, a=a)
        self._same("compact and add", self.add(small, rest), result, a=a, rest=rest)
        self._same("compact and merge", self.merge(small, other), result, a=a, rest=rest)

    def _same(self, law: str, accumulator: _Accumulator, other: Any, **parts: Elements) -> None:
        result = self.result(accumulator)
        other = self.result(other) if isinstance(other, _Accumulator) else other
        if not self.equal(result, other):
            of = {name: _show(part) for name, part in parts.items()}
            sentence = _LAWS[law].format(reprlib.repr(result), reprlib.repr(other), **of)
            self.broken.setdefault(law.partition(" ")[0], sentence)

    # Calls of the function, each watched for what it changes.

    def create(self) -> _Accumulator:
        return _Accumulator(self._watched("create", self.fn.create, []), [])

    def add(self, accumulator: _Accumulator, elements: Elements) -> _Accumulator:
        values, times = [value for value, _ in elements], [time for _, time in elements]
        held = accumulator.elements
        call = f"add of {_show(elements)} to the accumulator of {_show(held)}"
        added = self._watched(call, self.fn.add, [accumulator.value], values, times)
        is_same = len(values) == len(elements) and all(
            value is before for value, (before, _) in zip(values, elements, strict=True)
        )
        if not is_same or times != [time for _, time in elements]:
            self.broken.setdefault(
                "values", f"add must leave the values as they were, but {call} changed them"
            )
        return _Accumulator(added, [*held, *elements])

    def merge(self, first: _Accumulator, second: _Accumulator) -> _Accumulator:
        a, b = first.elements, second.elements
        call = f"merge of the accumulators of {_show(a)} and {_show(b)}"
        merged = self._watched(call, self.fn.merge, [first.value, second.value])
        return _Accumulator(merged, [*a, *b])

    def compact(self, accumulator: _Accumulator) -> _Accumulator:
        call = f"compact of the accumulator of {_show(accumulator.elements)}"
        compacted = self._watched(call, self.fn.compact, [accumulator.value])
        return _Accumulator(compacted, accumulator.elements)

    def result(self, accumulator: _Accumulator) -> Any:
        call = f"extract of {reprlib.repr(accumulator.value)}"
        return self._watched(call, self.fn.extract, [accumulator.value])

    def _watched(
        self, call: str, verb: Callable[..., Any], accumulators: Sequence[Any], *elements: Any
    ) -> Any:
        before = _bytes(accumulators)
        try:
            answer = verb(*accumulators, *elements)
        except Exception as error:  # whatever a user's function raises
            raise UserFunctionRaised(f"{call} raised {_problem(error)}") from error
        if _bytes(accumulators) != before:
            name = call.partition(" ")[0]
            self.broken.setdefault(
                f"{name} changes",
                f"{name} must leave its arguments as they were, but {call} changed one",
            )
        return answer


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
        text = f"accumulators must survive pickling, but: {_problem(error)}"
        raise UserFunctionRaised(text) from error


def _show(elements: Elements) -> str:
    return reprlib.repr([value for value, _ in elements])


def _problem(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _nearly_equal(value: Any, other: Any) -> bool:
    match value, other:
        case float(), float():
            both_nan = math.isnan(value) and math.isnan(other)
            return both_nan or math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-12)
        case (list() | tuple(), list() | tuple()) if type(value) is type(other):
            return len(value) == len(other) and all(map(_nearly_equal, value, other))
        case Mapping(), Mapping():
            return value.keys() == other.keys() and all(
                _nearly_equal(value[key], other[key]) for key in value
            )
    return bool(value == other)
