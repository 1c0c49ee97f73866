"""The contract of window functions, as a check for those that users write.

    def test_shifts_are_a_window_function():
        check_window_fn(Shifts("8 hours"), timestamps=["05:59:59.999", "06:00", "14:00"])

A failure has one sentence for each broken rule, with an example.
"""

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from random import Random
from typing import Any, Final

import attrs

from beamlike.errors import TestStreamError
from beamlike.model.time import END_OF_GLOBAL_WINDOW, InstantLike, instant_ms, show_duration
from beamlike.model.windowfns import Merge, MergingWindowFn, WindowFn
from beamlike.model.windows import GlobalWindow, IntervalWindow, Window
from beamlike.testing.contracts.values import (
    ContractAssertionError,
    UserFunctionRaised,
    broken_by,
    short,
    value_rules,
)
from beamlike.testing.spelling import instant_code

Sizes = Mapping[IntervalWindow, int]
"""Windows to merge, each with the number of elements that it holds."""

_SETS: Final = tuple(size for size in (1, 2, 3, 4, 6, 9) for _ in range(25))
"""The sizes of the random sets of windows that are merged, besides all of them. They are drawn
with a fixed seed, so that a check is the same each time."""


@attrs.frozen(slots=False)
class _WindowFnCase:
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
                    times.setdefault(window, []).append(within_time(time))
        return dict(sorted(times.items()))

    @cached_property
    def sets(self) -> list[dict[IntervalWindow, int]]:
        """Windows to merge, each set in order, small ones first."""
        random, every = Random(0), list(self.times_of)
        samples = {tuple(sorted(random.sample(every, n))) for n in _SETS if n < len(every)}
        sets = [*sorted(samples, key=lambda sample: (len(sample), sample)), every]
        return [self.sizes(windows) for windows in sets]

    def sizes(self, windows: Iterable[IntervalWindow]) -> dict[IntervalWindow, int]:
        """The windows with the number of their own elements."""
        return {window: len(self.times_of[window]) for window in windows}

    def ask(self, element: tuple[int, Any]) -> tuple[Window, ...]:
        try:
            return self.fn.assign(*element)
        except Exception as error:
            raise UserFunctionRaised(f"{call(element)} raises {error!r}") from error

    @property
    def is_sized(self) -> bool:
        """Whether the machine asks `merge_sized` for a plan."""
        return isinstance(self.fn, MergingWindowFn) and self.fn.needs_sizes

    def plan(self, sizes: Sizes, *, as_iterator: bool = False) -> tuple[Merge, ...]:
        """The plan for these windows, asked for as the machine does."""
        assert isinstance(self.fn, MergingWindowFn)
        try:
            if self.fn.needs_sizes:
                return tuple(self.fn.merge_sized(dict(sizes)))
            return tuple(self.fn.merge(iter(list(sizes)) if as_iterator else tuple(sizes)))
        except Exception as error:
            shown = f"an iterator over {listed(sizes)}" if as_iterator else self.shown(sizes)
            raise UserFunctionRaised(f"{self.asked} raises {error!r} for {shown}") from error

    @property
    def asked(self) -> str:
        """The name of the method that makes plans."""
        return "merge_sized" if self.is_sized else "merge"

    def shown(self, sizes: Sizes) -> str:
        """Windows in words, with the numbers of their elements if plans depend on them."""
        if not self.is_sized or not sizes:
            return listed(sizes)
        return ", ".join(f"{window} with {size}" for window, size in sizes.items())

    def refuse_nothing(self) -> None:
        """Refuse a check that could not fail: no element has a window, or no windows merge."""
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


def within_time(timestamp: int) -> int:
    """The time (ms) that windows are asked for: elements of the last day of time belong to the
    instant before it."""
    return min(timestamp, END_OF_GLOBAL_WINDOW)


def call(element: tuple[int, Any]) -> str:
    """The question for an element's windows, as code."""
    time, value = element
    return f"assign({instant_code(time)}{'' if value is None else f', {short(value)}'})"


def listed(windows: Iterable[Window]) -> str:
    """Windows in words."""
    return ", ".join(map(str, windows)) or "no windows"


def broken_rules(case: _WindowFnCase) -> list[str]:
    """One sentence for each rule that the case breaks."""
    broken = broken_by(case.fn, value_rules(pickle.dumps))
    broken += broken_by(case, [_is_compatible_with_itself, _says_whether_it_merges])
    if unanswered := broken_by(case, [_answers]):
        return broken + unanswered
    of_assign = [_assigns_the_same, _assigns_each_once, _contains, _keeps_the_longest]
    broken += broken_by(case, of_assign)
    if isinstance(case.fn, MergingWindowFn):
        # What an unsound plan does to windows says nothing more.
        of_plans = [_takes_any_collection, _ignores_order, _is_complete, _merges_in_steps]
        broken += broken_by(case, [_plans_are_sound]) or broken_by(case, of_plans)
    if not broken:
        case.refuse_nothing()
    return broken


# -- the function as a value -----------------------------------------------------------------


def _is_compatible_with_itself(case: _WindowFnCase) -> Iterator[str]:
    if case.fn.compatible_with(case.fn) is not True:
        yield "it is not compatible_with itself"


def _says_whether_it_merges(case: _WindowFnCase) -> Iterator[str]:
    has_merge = isinstance(case.fn, MergingWindowFn)
    if case.fn.is_merging != has_merge:
        derived = "is" if has_merge else "is not"
        yield (
            f"is_merging is {case.fn.is_merging}, but the class {derived} derived from "
            "MergingWindowFn; derive it from MergingWindowFn if its windows merge, else from "
            "WindowFn, and leave is_merging alone"
        )


# -- assign ----------------------------------------------------------------------------------


def _answers(case: _WindowFnCase) -> Iterator[str]:
    merging = isinstance(case.fn, MergingWindowFn)
    kinds = (IntervalWindow,) if merging else (IntervalWindow, GlobalWindow)
    for element, windows in case.assigned:
        if not isinstance(windows, tuple):
            yield f"{call(element)} answers {short(windows)}, which is no tuple of windows"
            return
        for window in windows:
            if type(window) not in kinds:
                yield (
                    f"{call(element)} answers {short(window)}, which is no "
                    f"{' or '.join(cls.__name__ for cls in kinds)}; hosts keep bounds only"
                )


def _assigns_the_same(case: _WindowFnCase) -> Iterator[str]:
    for element, windows in case.assigned:
        again = case.ask(element)
        if again != windows:
            yield (
                f"{call(element)} answers {listed(windows)} and then {listed(again)}; let it "
                "depend on its arguments and fields alone"
            )


def _assigns_each_once(case: _WindowFnCase) -> Iterator[str]:
    for element, windows in case.assigned:
        if len(set(windows)) < len(windows):
            yield (
                f"{call(element)} answers a window twice, {listed(windows)}; the element would "
                "count twice in it"
            )


def _contains(case: _WindowFnCase) -> Iterator[str]:
    if not case.contains:
        return
    for element, windows in case.assigned:
        for window in windows:
            if not window.start <= within_time(element[0]) < window.end:
                yield (
                    f"{call(element)} answers {window}, which does not contain the timestamp; "
                    "if that is meant, check with windows_contain_timestamps=False"
                )


def _keeps_the_longest(case: _WindowFnCase) -> Iterator[str]:
    try:
        longest = case.fn.longest_own_window
    except Exception as error:
        raise UserFunctionRaised(f"longest_own_window raises {error!r}") from error
    if longest is None:
        return
    if type(longest) is not int or longest < 1:
        yield (
            f"longest_own_window is {short(longest)}; let it be a whole number of milliseconds, "
            "at least 1, or None if it is not known"
        )
        return
    for element, windows in case.assigned:
        for window in windows:
            if window.end - window.start > longest:
                yield (
                    f"{call(element)} answers {window}, which is "
                    f"{show_duration(window.end - window.start)} long, but longest_own_window is "
                    f"{longest} ({show_duration(longest)}); let it be as long as a window can be, "
                    'because late_check="retain" removes sessions by it'
                )


# -- merge -----------------------------------------------------------------------------------


def _plans_are_sound(case: _WindowFnCase) -> Iterator[str]:
    for window_set in case.sets:
        plan = case.plan(window_set)
        for sentence in _unsound(case, window_set, plan):
            yield f"{case.asked} of {case.shown(window_set)}: {sentence}"


def _unsound(case: _WindowFnCase, sizes: Sizes, plan: tuple[Merge, ...]) -> Iterator[str]:
    wrong = next((merge for merge in plan if not isinstance(merge, Merge)), None)
    if wrong is not None:
        yield f"answers {short(wrong)}, which is no Merge"
        return
    used: set[IntervalWindow] = set()
    results: set[IntervalWindow] = set()
    for merge in plan:
        sources, into = merge.sources, merge.into
        for source in sources:
            if source not in sizes:
                yield f"merges {source}, which was not given"
            if source in used:
                yield f"merges {source} twice"
            used.add(source)
        if len(sources) < 2:
            yield f"has a plan for {listed(sources)} alone; leave single windows out"
        if type(into) is not IntervalWindow:
            yield f"merges into {short(into)}, which is no IntervalWindow"
            return
        if into in results:
            yield f"two plans have the same result {into}"
        results.add(into)
        if into in sizes and into not in sources:
            yield f"merges {listed(sources)} into {into}, which is another window that was given"
        if sources and into.end < min(source.end for source in sources):
            yield f"{into} ends before {listed(sources)} do: it may be over while they are open"
        yield from _lost(case, merge)


def _lost(case: _WindowFnCase, merge: Merge) -> Iterator[str]:
    for source in merge.sources if case.contains else ():
        for time in case.times_of.get(source, ()):
            if not merge.into.start <= time < merge.into.end:
                yield (
                    f"{merge.into} does not contain the element at {instant_code(time)} of {source}"
                    "; if that is meant, check with windows_contain_timestamps=False"
                )


def _takes_any_collection(case: _WindowFnCase) -> Iterator[str]:
    if case.is_sized:
        return  # sizes come in a mapping always
    for window_set in case.sets:
        if _groups(case.plan(window_set, as_iterator=True)) != _groups(case.plan(window_set)):
            yield (
                f"merge of {listed(window_set)} has another plan for an iterator than for a tuple; "
                "read it once, for example with sorted(windows)"
            )


def _ignores_order(case: _WindowFnCase) -> Iterator[str]:
    random = Random(0)
    for window_set in case.sets:
        for reordered in _other_orders(window_set, random):
            if _groups(case.plan(reordered)) != _groups(case.plan(window_set)):
                yield (
                    f"{case.asked} of {case.shown(window_set)} has another plan if they are given "
                    f"as {case.shown(reordered)}; sort them first"
                )


def _other_orders(window_set: Sizes, random: Random) -> list[Sizes]:
    """The same windows backwards, and at random."""
    windows = list(window_set)
    orders = windows[::-1], random.sample(windows, len(windows))
    return [{window: window_set[window] for window in order} for order in orders]


def _is_complete(case: _WindowFnCase) -> Iterator[str]:
    for window_set in case.sets:
        _, left = _settled(case, [window_set])
        if case.plan(left):
            yield (
                f"{case.asked} of {case.shown(window_set)} leaves {case.shown(left)}, and these it "
                "would merge again; a plan is carried out once"
            )


def _merges_in_steps(case: _WindowFnCase) -> Iterator[str]:
    random = Random(0)
    for window_set in case.sets:
        together, _ = _settled(case, [window_set])
        reordered = _other_orders(window_set, random) if case.any_order else []
        for arriving in (window_set, *reordered):
            apart, _ = _settled(case, ({window: arriving[window]} for window in arriving))
            moved = next(
                (window for window in window_set if apart[window] != together[window]), None
            )
            if moved is not None:
                hint = "; if that is meant, check with any_arrival_order=False"
                is_reordered = list(arriving) != list(window_set)
                yield (
                    f"of {case.shown(arriving)}, arriving one after the other, {moved} ends up in "
                    f"{apart[moved]}, but arriving together in {together[moved]}"
                    f"{hint if is_reordered else ''}"
                )


def _settled(
    case: _WindowFnCase, bundles: Iterable[Sizes]
) -> tuple[dict[IntervalWindow, IntervalWindow], Sizes]:
    """Where each window ends up as bundles arrive; and the windows that are left, in order, with
    all the elements that they hold."""
    home: dict[IntervalWindow, IntervalWindow] = {}
    held: Sizes = {}
    for bundle in bundles:
        home |= {window: window for window in bundle}
        arrived = dict(sorted((Counter(held) + Counter(bundle)).items()))
        moved = {source: merge.into for merge in case.plan(arrived) for source in merge.sources}
        home = {window: moved.get(now, now) for window, now in home.items()}
        sizes: Counter[IntervalWindow] = Counter()
        for window, size in arrived.items():
            sizes[moved.get(window, window)] += size
        held = dict(sorted(sizes.items()))
    return home, held


def _groups(plan: Iterable[Merge]) -> set[tuple[frozenset[IntervalWindow], IntervalWindow]]:
    """A plan without its order."""
    return {(frozenset(merge.sources), merge.into) for merge in plan}


class WindowFnAssertionError(ContractAssertionError):
    """A window function breaks its contract. ``broken`` has a sentence for each rule."""


def check_window_fn(
    window_fn: WindowFn,
    *,
    timestamps: Iterable[InstantLike],
    values: Iterable[Any] = (None,),
    windows_contain_timestamps: bool = True,
    any_arrival_order: bool = True,
) -> None:
    """Check that a window function keeps the contract which every host relies on.

    Of every window function: it assigns the same windows each time, each once, and windows of
    the two known kinds; they contain the element and are no longer than ``longest_own_window``,
    if that is known; it is a frozen value that survives pickling, prints the same in every
    process, and is compatible with itself. Of a merging one as well: each plan names only
    windows that were given, each in one plan; the result of a plan is one of its own sources or
    new; plans are complete, depend on neither the order nor the kind of the collection, and
    windows that arrive one after the other end up where they would have together. A function
    that ``needs_sizes`` is asked through ``merge_sized``: at first each window has as many
    elements as open it, and those of a merged window are added up.

    The rules are tried on the windows of each timestamp with each value. Give timestamps at
    the edges, a millisecond before and after them, and before 1970; for a merging function
    also some that lie close together and some that do not.

    Args:
        window_fn: The window function.
        timestamps: Event times of elements.
        values: Values of elements, for functions that look at them.
        windows_contain_timestamps: False allows windows that do not contain the timestamp of
            their element. Beam allows it; panes of such windows are stamped with the end of
            the window or with a time outside it.
        any_arrival_order: False allows that windows which arrive one after the other, not in
            order of ``(start, end)``, end up elsewhere than all together, as is the case for
            ``Sessions(gap, max_duration=...)`` and ``Sessions(gap, max_elements=...)``.

    Raises:
        WindowFnAssertionError: A rule is broken.
        TestStreamError: There is nothing to check: no timestamps or values, no windows, or a
            merging function that merges none of them; or ``window_fn`` is none.
        TimeError: A timestamp cannot be read.

    Source: Beam Java, ``WindowFn``, ``MergingActiveWindowSet.checkInvariants``.
    """
    if not isinstance(window_fn, WindowFn):
        raise TestStreamError(
            f"check_window_fn needs a window function such as FixedWindows(10), got {window_fn!r}"
        )
    times = [instant_ms(timestamp, "check_window_fn timestamp") for timestamp in timestamps]
    elements = [(time, value) for value in values for time in times]
    if not elements:
        raise TestStreamError(
            "check_window_fn has nothing to check: give at least one timestamp and one value"
        )
    case = _WindowFnCase(window_fn, elements, windows_contain_timestamps, any_arrival_order)
    WindowFnAssertionError.refuse(window_fn, broken_rules(case), "rule", "window functions")
