"""The rules of window functions, each a question to a function and a few elements.

A rule yields a sentence for each example that breaks it. `beamlike.testing.contract` is the
door to them.
"""

import pickle
import reprlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from random import Random
from typing import Any, Final

import attrs

from beamlike.errors import TestStreamError
from beamlike.model.time import END_OF_GLOBAL_WINDOW
from beamlike.model.windowfns import Merge, MergingWindowFn, WindowFn
from beamlike.model.windows import GlobalWindow, IntervalWindow, Window
from beamlike.testing.spelling import instant_code

__all__ = ["Case", "broken_rules"]

_SETS: Final = tuple(size for size in (1, 2, 3, 4, 6, 9) for _ in range(25))
"""The sizes of the random sets of windows that are merged, besides all of them. They are drawn
with a fixed seed, so that a check is the same each time."""


class _Raised(Exception):
    """The window function raised; the text says on what."""


@attrs.frozen(slots=False)
class Case:
    """A window function, the elements to try it on, and what is asked of it."""

    fn: WindowFn
    elements: list[tuple[int, Any]]
    contains: bool
    any_order: bool

    @cached_property
    def assigned(self) -> list[tuple[tuple[int, Any], tuple[Window, ...]]]:
        """Each element with its windows."""
        return [(element, self.ask(element)) for element in self.elements]

    @cached_property
    def times_of(self) -> dict[IntervalWindow, list[int]]:
        """Each window before any merging, in order, with the times of its elements."""
        times: dict[IntervalWindow, list[int]] = {}
        for (time, _), windows in self.assigned:
            for window in windows:
                if isinstance(window, IntervalWindow):
                    times.setdefault(window, []).append(_within_time(time))
        return dict(sorted(times.items()))

    @cached_property
    def sets(self) -> list[list[IntervalWindow]]:
        """Windows to merge, each set in order, small ones first."""
        random, every = Random(0), list(self.times_of)
        some = {tuple(sorted(random.sample(every, n))) for n in _SETS if n < len(every)}
        return [*map(list, sorted(some, key=lambda one: (len(one), one))), every]

    def ask(self, element: tuple[int, Any]) -> tuple[Window, ...]:
        try:
            return self.fn.assign(*element)
        except Exception as error:
            raise _Raised(f"{_call(element)} raises {error!r}") from error

    def plan(
        self, windows: list[IntervalWindow], *, as_iterator: bool = False
    ) -> tuple[Merge, ...]:
        assert isinstance(self.fn, MergingWindowFn)
        try:
            return tuple(self.fn.merge(iter(windows) if as_iterator else tuple(windows)))
        except Exception as error:
            given = f"an iterator over {_list(windows)}" if as_iterator else _list(windows)
            raise _Raised(f"merge raises {error!r} for {given}") from error

    def refuse_nothing(self) -> None:
        """Refuse a check that could not have failed."""
        if not any(windows for _, windows in self.assigned):
            raise TestStreamError(
                f"check_window_fn has nothing to check: {self.fn} assigns no window to any of "
                "these timestamps and values; give some to which it does"
            )
        if isinstance(self.fn, MergingWindowFn) and not any(map(self.plan, self.sets)):
            raise TestStreamError(
                f"check_window_fn saw no merge: {self.fn} leaves the windows of these timestamps "
                "and values as they are; give some that lie closer together"
            )


def broken_rules(case: Case) -> list[str]:
    """One sentence for each rule that the case breaks.

    Raises:
        TestStreamError: None is broken, but none could be.
    """
    broken = _broken(case, _OF_VALUES)
    unanswered = _broken(case, [_answers])
    if unanswered:
        return broken + unanswered
    broken += _broken(case, _OF_ASSIGN)
    if isinstance(case.fn, MergingWindowFn):
        # What an unsound plan does to windows says nothing more.
        broken += _broken(case, [_plans_are_sound]) or _broken(case, _OF_PLANS)
    if not broken:
        case.refuse_nothing()
    return broken


Rule = Callable[[Case], Iterator[str]]


def _broken(case: Case, rules: Iterable[Rule]) -> list[str]:
    """The first sentence of each rule; the others would be more of the same."""
    broken: list[str] = []
    for rule in rules:
        try:
            sentence = next(rule(case), None)
        except _Raised as raised:
            sentence = str(raised)
        if sentence is not None and sentence not in broken:
            broken.append(sentence)
    return broken


# -- the function as a value -----------------------------------------------------------------


def _is_a_value(case: Case) -> Iterator[str]:
    fn = case.fn
    try:
        copy = pickle.loads(pickle.dumps(fn))
    except Exception as error:
        yield (
            f"it cannot be pickled ({error}); put its class, and functions that it holds, at the "
            "top of a module"
        )
        return
    if copy != fn:
        yield "its pickled copy is not equal to it; write @attrs.frozen above the class"
    try:
        hash(fn)
    except TypeError as error:
        yield f"it has no hash ({error}); let its fields be values such as numbers and tuples"


def _is_frozen(case: Case) -> Iterator[str]:
    fn = case.fn
    kind = type(fn)
    names = (
        [field.name for field in attrs.fields(kind)]
        if attrs.has(kind)
        else list(getattr(fn, "__dict__", ()))
    )
    for name in names:
        try:
            setattr(fn, name, getattr(fn, name))
        except AttributeError:
            continue
        yield f"its field {name} can be set; write @attrs.frozen above the class"


def _prints_the_same(case: Case) -> Iterator[str]:
    text = str(case.fn)
    if " at 0x" in text:
        yield (
            f"it prints an address in memory, {text}; saved state is recognised by that text, so "
            "write a __str__ that is the same in every process"
        )


def _is_compatible_with_itself(case: Case) -> Iterator[str]:
    if case.fn.compatible_with(case.fn) is not True:
        yield "it is not compatible_with itself"


def _says_whether_it_merges(case: Case) -> Iterator[str]:
    has_merge = isinstance(case.fn, MergingWindowFn)
    if case.fn.is_merging != has_merge:
        derived = "is" if has_merge else "is not"
        yield (
            f"is_merging is {case.fn.is_merging}, but the class {derived} derived from "
            "MergingWindowFn; derive it from MergingWindowFn if its windows merge, else from "
            "WindowFn, and leave is_merging alone"
        )


_OF_VALUES: Final[Sequence[Rule]] = (
    _is_a_value,
    _is_frozen,
    _prints_the_same,
    _is_compatible_with_itself,
    _says_whether_it_merges,
)


# -- assign ----------------------------------------------------------------------------------


def _answers(case: Case) -> Iterator[str]:
    merging = isinstance(case.fn, MergingWindowFn)
    kinds = (IntervalWindow,) if merging else (IntervalWindow, GlobalWindow)
    for element, windows in case.assigned:
        if not isinstance(windows, tuple):
            yield f"{_call(element)} answers {_short(windows)}, which is no tuple of windows"
            return
        for window in windows:
            if type(window) not in kinds:
                yield (
                    f"{_call(element)} answers {_short(window)}, which is no "
                    f"{' or '.join(kind.__name__ for kind in kinds)}; hosts remember bounds only"
                )


def _assigns_the_same(case: Case) -> Iterator[str]:
    for element, windows in case.assigned:
        again = case.ask(element)
        if again != windows:
            yield (
                f"{_call(element)} answers {_list(windows)} and then {_list(again)}; let it "
                "depend on its arguments and fields alone"
            )


def _assigns_each_once(case: Case) -> Iterator[str]:
    for element, windows in case.assigned:
        if len(set(windows)) < len(windows):
            yield (
                f"{_call(element)} answers a window twice, {_list(windows)}; the element would "
                "count twice in it"
            )


def _contains(case: Case) -> Iterator[str]:
    if not case.contains:
        return
    for element, windows in case.assigned:
        for window in windows:
            if not window.start <= _within_time(element[0]) < window.end:
                yield (
                    f"{_call(element)} answers {window}, which does not contain the timestamp; "
                    "if that is meant, check with windows_contain_timestamps=False"
                )


_OF_ASSIGN: Final[Sequence[Rule]] = (_assigns_the_same, _assigns_each_once, _contains)


# -- merge -----------------------------------------------------------------------------------


def _plans_are_sound(case: Case) -> Iterator[str]:
    for windows in case.sets:
        plan = case.plan(windows)
        for sentence in _unsound(case, windows, plan):
            yield f"merge of {_list(windows)}: {sentence}"


def _unsound(case: Case, given: list[IntervalWindow], plan: tuple[Merge, ...]) -> Iterator[str]:
    wrong = next((merge for merge in plan if not isinstance(merge, Merge)), None)
    if wrong is not None:
        yield f"answers {_short(wrong)}, which is no Merge"
        return
    used: set[IntervalWindow] = set()
    results: set[IntervalWindow] = set()
    for merge in plan:
        sources, into = merge.sources, merge.into
        for source in sources:
            if source not in given:
                yield f"merges {source}, which was not given"
            if source in used:
                yield f"merges {source} twice"
            used.add(source)
        if len(sources) < 2:
            yield f"has a plan for {_list(sources)} alone; leave single windows out"
        if type(into) is not IntervalWindow:
            yield f"merges into {_short(into)}, which is no IntervalWindow"
            return
        if into in results:
            yield f"two plans have the same result {into}"
        results.add(into)
        if into in given and into not in sources:
            yield f"merges {_list(sources)} into {into}, which is another window that was given"
        if sources and into.end < min(source.end for source in sources):
            yield f"{into} ends before {_list(sources)} do: it may be over while they are open"
        yield from _lost(case, merge)


def _lost(case: Case, merge: Merge) -> Iterator[str]:
    for source in merge.sources if case.contains else ():
        for time in case.times_of.get(source, ()):
            if not merge.into.start <= time < merge.into.end:
                yield (
                    f"{merge.into} does not contain the element at {instant_code(time)} of {source}"
                    "; if that is meant, check with windows_contain_timestamps=False"
                )


def _takes_any_collection(case: Case) -> Iterator[str]:
    for windows in case.sets:
        if _groups(case.plan(windows, as_iterator=True)) != _groups(case.plan(windows)):
            yield (
                f"merge of {_list(windows)} has another plan for an iterator than for a tuple; "
                "read it once, for example with sorted(windows)"
            )


def _ignores_order(case: Case) -> Iterator[str]:
    random = Random(0)
    for windows in case.sets:
        for order in (windows[::-1], random.sample(windows, len(windows))):
            if _groups(case.plan(order)) != _groups(case.plan(windows)):
                yield (
                    f"merge of {_list(windows)} has another plan if they are given as "
                    f"{_list(order)}; sort them first"
                )


def _is_complete(case: Case) -> Iterator[str]:
    for windows in case.sets:
        left = sorted(set(_settle(case, [windows]).values()))
        if case.plan(left):
            yield (
                f"merge of {_list(windows)} leaves {_list(left)}, and these it would merge again; "
                "a plan is carried out once"
            )


def _merges_in_steps(case: Case) -> Iterator[str]:
    random = Random(0)
    for windows in case.sets:
        together = _settle(case, [windows])
        orders = [windows]
        if case.any_order:
            orders += [windows[::-1], random.sample(windows, len(windows))]
        for order in orders:
            apart = _settle(case, [[window] for window in order])
            moved = next((window for window in windows if apart[window] != together[window]), None)
            if moved is not None:
                hint = "; if that is meant, check with any_arrival_order=False"
                yield (
                    f"of {_list(order)}, arriving one after the other, {moved} ends up in "
                    f"{apart[moved]}, but arriving together in {together[moved]}"
                    f"{'' if order == windows else hint}"
                )


_OF_PLANS: Final[Sequence[Rule]] = (
    _takes_any_collection,
    _ignores_order,
    _is_complete,
    _merges_in_steps,
)


def _settle(
    case: Case, bundles: Iterable[Collection[IntervalWindow]]
) -> dict[IntervalWindow, IntervalWindow]:
    """Where each window ends up when bundle after bundle arrives."""
    home: dict[IntervalWindow, IntervalWindow] = {}
    for bundle in bundles:
        home |= {window: window for window in bundle}
        moved = {
            source: merge.into
            for merge in case.plan(sorted(set(home.values())))
            for source in merge.sources
        }
        home = {window: moved.get(now, now) for window, now in home.items()}
    return home


def _groups(plan: Iterable[Merge]) -> set[tuple[frozenset[IntervalWindow], IntervalWindow]]:
    """A plan without its order."""
    return {(frozenset(merge.sources), merge.into) for merge in plan}


# -- words -----------------------------------------------------------------------------------


def _within_time(timestamp: int) -> int:
    # Elements of the last day of time belong to the instant before it.
    return min(timestamp, END_OF_GLOBAL_WINDOW)


def _call(element: tuple[int, Any]) -> str:
    time, value = element
    return f"assign({instant_code(time)}{'' if value is None else f', {_short(value)}'})"


def _list(windows: Iterable[Window]) -> str:
    return ", ".join(map(str, windows)) or "no windows"


_SHORT: Final = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = 120


def _short(value: Any) -> str:
    return _SHORT.repr(value)
