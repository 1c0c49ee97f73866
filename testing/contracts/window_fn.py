"""The contract of window functions, as a check for those that users write.

    def test_shifts_are_a_window_function():
        check_window_fn(Shifts("8 hours"), timestamps=["05:59:59.999", "06:00", "14:00"])

A failure has one sentence for each broken rule, with an example.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Any, Final

import attrs

from beamlike.errors import TestStreamError
from beamlike.model.time import InstantLike, instant_ms, show_duration
from beamlike.model.windowfns import Merge, MergingWindowFn, WindowFn
from beamlike.model.windows import GlobalWindow, IntervalWindow
from beamlike.testing.contracts.values import (
    ContractAssertionError,
    UserFunctionRaised,
    broken_by,
    short,
    value_rules,
)
from beamlike.testing.contracts.window_fn_cases import (
    Sizes,
    WindowFnCase,
    call,
    listed,
    within_time,
)
from beamlike.testing.spelling import instant_code


def broken_rules(case: WindowFnCase) -> list[str]:
    """One sentence for each rule that the case breaks."""
    broken = broken_by(case.fn, value_rules(pickle.dumps)) + broken_by(case, _OF_VALUES)
    unanswered = broken_by(case, [_answers])
    if unanswered:
        return broken + unanswered
    broken += broken_by(case, _OF_ASSIGN)
    if isinstance(case.fn, MergingWindowFn):
        # What an unsound plan does to windows says nothing more.
        broken += broken_by(case, [_plans_are_sound]) or broken_by(case, _OF_PLANS)
    if not broken:
        case.refuse_nothing()
    return broken


Rule = Callable[[WindowFnCase], Iterator[str]]


# -- the function as a value -----------------------------------------------------------------


def _is_compatible_with_itself(case: WindowFnCase) -> Iterator[str]:
    if case.fn.compatible_with(case.fn) is not True:
        yield "it is not compatible_with itself"


def _says_whether_it_merges(case: WindowFnCase) -> Iterator[str]:
    has_merge = isinstance(case.fn, MergingWindowFn)
    if case.fn.is_merging != has_merge:
        derived = "is" if has_merge else "is not"
        yield (
            f"is_merging is {case.fn.is_merging}, but the class {derived} derived from "
            "MergingWindowFn; derive it from MergingWindowFn if its windows merge, else from "
            "WindowFn, and leave is_merging alone"
        )


_OF_VALUES: Final[Sequence[Rule]] = (_is_compatible_with_itself, _says_whether_it_merges)


# -- assign ----------------------------------------------------------------------------------


def _answers(case: WindowFnCase) -> Iterator[str]:
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
                    f"{' or '.join(kind.__name__ for kind in kinds)}; hosts keep bounds only"
                )


def _assigns_the_same(case: WindowFnCase) -> Iterator[str]:
    for element, windows in case.assigned:
        again = case.ask(element)
        if again != windows:
            yield (
                f"{call(element)} answers {listed(windows)} and then {listed(again)}; let it "
                "depend on its arguments and fields alone"
            )


def _assigns_each_once(case: WindowFnCase) -> Iterator[str]:
    for element, windows in case.assigned:
        if len(set(windows)) < len(windows):
            yield (
                f"{call(element)} answers a window twice, {listed(windows)}; the element would "
                "count twice in it"
            )


def _contains(case: WindowFnCase) -> Iterator[str]:
    if not case.contains:
        return
    for element, windows in case.assigned:
        for window in windows:
            if not window.start <= within_time(element[0]) < window.end:
                yield (
                    f"{call(element)} answers {window}, which does not contain the timestamp; "
                    "if that is meant, check with windows_contain_timestamps=False"
                )


def _keeps_the_longest(case: WindowFnCase) -> Iterator[str]:
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


_OF_ASSIGN: Final[Sequence[Rule]] = (
    _assigns_the_same,
    _assigns_each_once,
    _contains,
    _keeps_the_longest,
)


# -- merge -----------------------------------------------------------------------------------


def _plans_are_sound(case: WindowFnCase) -> Iterator[str]:
    for window_set in case.sets:
        plan = case.plan(window_set)
        for sentence in _unsound(case, window_set, plan):
            yield f"{case.asked} of {case.shown(window_set)}: {sentence}"


def _unsound(case: WindowFnCase, sizes: Sizes, plan: tuple[Merge, ...]) -> Iterator[str]:
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


def _lost(case: WindowFnCase, merge: Merge) -> Iterator[str]:
    for source in merge.sources if case.contains else ():
        for time in case.times_of.get(source, ()):
            if not merge.into.start <= time < merge.into.end:
                yield (
                    f"{merge.into} does not contain the element at {instant_code(time)} of {source}"
                    "; if that is meant, check with windows_contain_timestamps=False"
                )


def _takes_any_collection(case: WindowFnCase) -> Iterator[str]:
    if case.is_sized:
        return  # sizes come in a mapping always
    for window_set in case.sets:
        if _groups(case.plan(window_set, as_iterator=True)) != _groups(case.plan(window_set)):
            yield (
                f"merge of {listed(window_set)} has another plan for an iterator than for a tuple; "
                "read it once, for example with sorted(windows)"
            )


def _ignores_order(case: WindowFnCase) -> Iterator[str]:
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


def _is_complete(case: WindowFnCase) -> Iterator[str]:
    for window_set in case.sets:
        left = _Homes(case).settle([window_set]).held()
        if case.plan(left):
            yield (
                f"{case.asked} of {case.shown(window_set)} leaves {case.shown(left)}, and these it "
                "would merge again; a plan is carried out once"
            )


def _merges_in_steps(case: WindowFnCase) -> Iterator[str]:
    random = Random(0)
    for window_set in case.sets:
        together = _Homes(case).settle([window_set]).home
        reordered = _other_orders(window_set, random) if case.any_order else []
        for arriving in (window_set, *reordered):
            apart = _Homes(case).settle({window: arriving[window]} for window in arriving).home
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


_OF_PLANS: Final[Sequence[Rule]] = (
    _takes_any_collection,
    _ignores_order,
    _is_complete,
    _merges_in_steps,
)


@attrs.define
class _Homes:
    """Where each window ends up as bundles arrive, and how many elements it brought there."""

    case: WindowFnCase
    home: dict[IntervalWindow, IntervalWindow] = attrs.field(factory=dict)
    brought: dict[IntervalWindow, int] = attrs.field(factory=dict)

    def settle(self, bundles: Iterable[Sizes]) -> "_Homes":
        for bundle in bundles:
            self.home |= {window: window for window in bundle}
            self.brought |= bundle
            moved = {
                source: merge.into
                for merge in self.case.plan(self.held())
                for source in merge.sources
            }
            self.home = {window: moved.get(now, now) for window, now in self.home.items()}
        return self

    def held(self) -> dict[IntervalWindow, int]:
        """The windows that are left, in order, with all the elements that they hold."""
        held: dict[IntervalWindow, int] = {}
        for window, now in self.home.items():
            held[now] = held.get(now, 0) + self.brought[window]
        return dict(sorted(held.items()))


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
    case = WindowFnCase(window_fn, elements, windows_contain_timestamps, any_arrival_order)
    WindowFnAssertionError.refuse(window_fn, broken_rules(case), "rule", "window functions")
