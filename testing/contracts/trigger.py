"""The contract of triggers, as a check for those that users write.

    def test_every_tenth_is_a_trigger():
        check_trigger(EveryTenth())

A failure has one sentence for each broken rule, with an example.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from random import Random
from typing import Any, Final

import attrs
import cloudpickle

from beamlike.errors import TestStreamError, TriggerError
from beamlike.machine.reference.custom import CustomTriggerNode
from beamlike.model.custom_trigger import CustomTrigger
from beamlike.model.time import DurationLike, duration_ms
from beamlike.model.trigger_context import TriggerContext
from beamlike.model.windows import IntervalWindow
from beamlike.testing.contracts.trigger_cases import MOVES, TriggerCase, TriggerMoment, same, shown
from beamlike.testing.contracts.values import (
    ContractAssertionError,
    UserFunctionRaised,
    broken_by,
    value_rules,
)

Rule = Callable[[TriggerCase], Iterator[str]]

_TRIES: Final = 300
_FIRINGS: Final = 500


def broken_rules(case: TriggerCase) -> list[str]:
    """One sentence for each rule that the case breaks."""
    # It is pickled as it travels to workers.
    broken = broken_by(case.trigger, value_rules(cloudpickle.dumps))
    unanswered = broken_by(case, [_answers])
    if unanswered:
        return broken + unanswered
    broken += broken_by(case, _RULES)
    if not broken and not any(seen.ready for seen in case.seen):
        raise TestStreamError(
            f"check_trigger has nothing to check: {case.trigger} never gets ready; give values for "
            "which it does, or a window that is long enough"
        )
    return broken


# -- what it keeps ---------------------------------------------------------------------------


def _answers(case: TriggerCase) -> Iterator[str]:
    """The trigger answers at all, and keeps what its class says."""
    running = CustomTriggerNode(case.trigger)
    for seen in case.seen:
        try:
            running.saved(seen.state)
        except TriggerError as error:
            yield str(error)
        if type(seen.ready) is not bool:
            yield f"is_ready({_at(seen)}) is {seen.ready!r}, and no bool"


def _can_be_saved(case: TriggerCase) -> Iterator[str]:
    for seen in case.seen:
        try:
            copy = pickle.loads(cloudpickle.dumps(seen.state))
        except Exception as error:
            yield f"what it keeps, {shown(seen.state)}, cannot be pickled ({error})"
            continue
        if not same(copy, seen.state):
            yield f"what it keeps, {shown(seen.state)}, is not equal to its pickled copy"


def _is_pure(case: TriggerCase) -> Iterator[str]:
    random, trigger = Random(1), case.trigger
    for seen in _sampled_moments(case):
        before, elements = pickle.dumps(seen.state), case.any_elements(random)
        questions: dict[str, Callable[[], Any]] = {
            "on_elements": lambda at=seen, of=elements: case.add(at.state, of, at.now),  # type: ignore[misc]
            "is_ready": lambda at=seen: case.ask(trigger.is_ready, at.state, at.now),  # type: ignore[misc]
            "on_fire": lambda at=seen: case.ask(trigger.on_fire, at.state, at.now),  # type: ignore[misc]
            "on_pane": lambda at=seen: case.ask(trigger.on_pane, at.state, at.now),  # type: ignore[misc]
            "on_end": lambda at=seen: case.ask(trigger.on_end, at.state),  # type: ignore[misc]
            "merge": lambda at=seen: case.ask(trigger.merge, [at.state], at.now),  # type: ignore[misc]
        }
        for name, question in questions.items():
            first, again = question(), question()
            if not same(first, again):
                yield f"{name} of {_at(seen)} is {shown(first)} once and {shown(again)} then"
            if pickle.dumps(seen.state) != before:
                yield f"{name} changes the state that it is given; return a new one"


def _bundles_do_not_matter(case: TriggerCase) -> Iterator[str]:
    random = Random(2)
    for seen in _sampled_moments(case):
        elements = case.any_elements(random)
        together = case.add(seen.state, elements, seen.now)
        apart = seen.state
        for element in elements:
            apart = case.add(apart, [element], seen.now)
        if not same(together, apart):
            yield (
                f"on_elements of {len(elements)} elements to {_at(seen)} is {shown(together)} for "
                f"one bundle and {shown(apart)} for one each; how elements are cut into bundles "
                "must not matter"
            )


def _merging_is_associative(case: TriggerCase) -> Iterator[str]:
    for now, states in _merging(case):
        merge = case.trigger.merge
        together = case.ask(merge, states, now)
        first = case.ask(merge, [case.ask(merge, states[:2], now), states[2]], now)
        last = case.ask(merge, [states[0], case.ask(merge, states[1:], now)], now)
        for word, other in (("first", first), ("last", last)):
            if not same(together, other):
                yield (
                    f"merge of {', '.join(map(shown, states))} is {shown(together)} at once, and "
                    f"{shown(other)} if the {word} two merge before; merge must be associative"
                )


def _finished_parts_are_associative(case: TriggerCase) -> Iterator[str]:
    if not case.trigger.may_finish:
        return
    ask = case.trigger.merges_finished
    for one, two, three in product((False, True), repeat=3):
        together = case.ask(ask, False, [one, two, three])
        if case.ask(ask, False, [case.ask(ask, False, [one, two]), three]) != together:
            yield (
                f"merges_finished of {one}, {two} and {three} is {together} at once, and not if "
                "the first two merge before; it must be associative"
            )


# -- when it fires ---------------------------------------------------------------------------


def _leaves_nothing_to_fire_again(case: TriggerCase) -> Iterator[str]:
    trigger = case.trigger
    for seen in (seen for seen in case.seen if seen.ready):
        after = case.ask(trigger.on_fire, seen.state, seen.now)
        again = case.ask(trigger.on_fire, after, seen.now)
        if not same(after, again):
            yield (
                f"on_fire of {_at(seen)} is {shown(after)}, and of that {shown(again)}; called "
                "twice at one moment it must change nothing more"
            )
        if trigger.fires_unchanged and case.ask(trigger.is_ready, after, seen.now):
            yield (
                f"it fires_unchanged, and right after its firing at {_at(seen)} it is ready again: "
                "each look at the window would repeat its pane"
            )


def _finishes_as_it_says(case: TriggerCase) -> Iterator[str]:
    trigger = case.trigger
    if trigger.firings != "until finished":
        if type(trigger).finishes is not CustomTrigger.finishes:
            yield (
                f'finishes is not asked with firings = "{trigger.firings}"; write firings = '
                '"until finished"'
            )
        return
    random, fired = Random(3), 0
    state = case.ask(trigger.start)
    now = TriggerContext(case.window, 0, 0)
    for _ in range(20 * _FIRINGS):
        now = attrs.evolve(now, clock=now.clock + random.choice(MOVES))
        state = case.add(state, case.any_elements(random), now)
        if case.ask(trigger.is_ready, state, now):
            last = case.ask(trigger.finishes, state, now)
            if type(last) is not bool:
                yield f"finishes({shown(state)}) is {last!r}, and no bool"
            fired += 1
            if last or fired > _FIRINGS:
                break
            state = case.ask(trigger.on_fire, state, now)
    if fired > _FIRINGS:
        yield (f'it was ready {_FIRINGS} times and never finished; write firings = "repeated"')


# -- what it waits for -----------------------------------------------------------------------


def _elements_alone_fire_if_it_says_so(case: TriggerCase) -> Iterator[str]:
    random = Random(4)
    for seen in _sampled_moments(case) if not case.trigger.fires_on_arrival else ():
        if seen.ready:
            continue
        state = case.add(seen.state, case.any_elements(random), seen.now)
        if case.ask(case.trigger.is_ready, state, seen.now):
            yield (
                f"elements alone make it ready at {_at(seen)}, and fires_on_arrival is False; "
                "write fires_on_arrival = True"
            )


def _the_clock_has_timers(case: TriggerCase) -> Iterator[str]:
    trigger = case.trigger
    for seen in _sampled_moments(case):
        timers = _timers(case.ask(trigger.processing_time_timers, seen.state))
        for move in () if seen.ready else MOVES:
            later = attrs.evolve(seen.now, clock=seen.now.clock + move)
            due = any(seen.now.clock <= timer < later.clock for timer in timers)
            if not due and case.ask(trigger.is_ready, seen.state, later):
                yield (
                    f"{_at(seen)} gets ready as the clock moves to {later.clock}, and no timer is "
                    f"due by then (it has {timers or 'none'}); name one in processing_time_timers"
                )


def _the_watermark_has_timers(case: TriggerCase) -> Iterator[str]:
    trigger, last = case.trigger, case.window.max_timestamp
    for seen in _sampled_moments(case):
        timers = _timers(case.ask(trigger.event_time_timers, seen.state))
        timers += [last] if trigger.waits_for_end else []
        start = seen.now.watermark
        for to in () if seen.ready else (*(max(start, 0) + move for move in MOVES), last + 1):
            later = attrs.evolve(seen.now, watermark=max(to, start))
            due = any(start <= timer < later.watermark for timer in timers)
            if not due and case.ask(trigger.is_ready, seen.state, later):
                yield (
                    f"{_at(seen)} gets ready as the watermark moves to {to}, and no timer is due "
                    f"by then (it has {timers or 'none'}); name one in event_time_timers, or write "
                    "waits_for_end = True"
                )


_RULES: Final[Sequence[Rule]] = (
    *(_can_be_saved, _is_pure, _bundles_do_not_matter),
    *(_merging_is_associative, _finished_parts_are_associative),
    *(_leaves_nothing_to_fire_again, _finishes_as_it_says),
    *(_elements_alone_fire_if_it_says_so, _the_clock_has_timers, _the_watermark_has_timers),
)


# -- moments ---------------------------------------------------------------------------------


def _timers(given: Iterable[int]) -> list[int]:
    timers = list(given)
    for timer in timers:
        if type(timer) is not int:
            raise UserFunctionRaised(
                f"a timer must be a whole number of milliseconds, got {timer!r}"
            )
    return timers


def _sampled_moments(case: TriggerCase) -> list[TriggerMoment]:
    return Random(5).sample(case.seen, min(_TRIES, len(case.seen)))


def _merging(case: TriggerCase) -> Iterator[tuple[TriggerContext, list[Any]]]:
    """Three windows that merge, at a moment of one of them."""
    random = Random(6)
    merged = IntervalWindow(0, 2 * case.length)
    for _ in range(_TRIES):
        parts = random.sample(case.seen, 3)
        now = attrs.evolve(
            parts[0].now,
            watermark=max(part.now.watermark for part in parts),
            clock=max(part.now.clock for part in parts),
        )
        # A window that was ready at this moment would have fired before.
        if not any(case.ask(case.trigger.is_ready, part.state, now) for part in parts):
            yield attrs.evolve(now, window=merged), [part.state for part in parts]


def _at(seen: TriggerMoment) -> str:
    return f"{shown(seen.state)} ({shown(seen.now)})"


class TriggerAssertionError(ContractAssertionError):
    """A trigger breaks its contract. ``broken`` has a sentence for each rule."""


def check_trigger(
    trigger: CustomTrigger[Any],
    *,
    values: Iterable[Any] = range(10),
    window: DurationLike = "1 hour",
) -> None:
    """Check that a trigger of one's own keeps the contract which every host relies on.

    It is a frozen value that survives pickling and prints the same in every process. What it keeps
    is what its class says and can be saved; its methods change nothing. How elements are cut into
    bundles does not matter; merging is associative. A firing leaves nothing that a second call
    would change; it finishes as ``firings`` says. Whatever time makes it ready has a timer, and
    elements alone make it ready only if ``fires_on_arrival`` says so.

    The rules are tried at the moments of random streams: bundles of up to four elements, a clock
    and a watermark that move on by a millisecond to a day, and panes that others fired.

    Args:
        trigger: The trigger.
        values: Values of elements, for triggers that look at them.
        window: How long the window is that it is tried in.

    Raises:
        TriggerAssertionError: A rule is broken.
        TestStreamError: There is nothing to check: the trigger never gets ready, there are no
            values, or the window has no length; or ``trigger`` is no `CustomTrigger`.
        TimeError: The window's length cannot be read.

    >>> from beamlike import AfterSilence
    >>> check_trigger(AfterSilence("30 seconds"))
    """
    if not isinstance(trigger, CustomTrigger):
        raise TestStreamError(
            "check_trigger needs a trigger whose class is a beamlike.CustomTrigger, got "
            f"{trigger!r}"
        )
    given, length = tuple(values), duration_ms(window, "check_trigger window")
    if not given or length == 0:
        raise TestStreamError(
            "check_trigger has nothing to check: give at least one value, and a window of 1 ms or "
            "more"
        )
    broken = broken_rules(TriggerCase(trigger, given, length))
    TriggerAssertionError.refuse(trigger, broken, "rule", "triggers")
