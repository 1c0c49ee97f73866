"""The contract of triggers, as a check for those that users write.

    def test_every_tenth_is_a_trigger():
        check_trigger(EveryTenth())

A failure has one sentence for each broken rule, with an example. The rules are tried at the moments
of random streams, drawn with fixed seeds, so that a check is the same each time.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import product
from random import Random
from typing import Any, Final, Literal, ParamSpec, TypeVar

import attrs
import cloudpickle

from beamlike.errors import TestStreamError, TriggerError
from beamlike.machine.reference.custom import CustomTriggerNode
from beamlike.model.custom_trigger import CustomTrigger
from beamlike.model.time import MIN_TIMESTAMP, DurationLike, duration_ms
from beamlike.model.trigger_context import ArrivedElements, TriggerContext
from beamlike.model.windows import IntervalWindow
from beamlike.testing.contracts.values import (
    ContractAssertionError,
    UserFunctionRaised,
    broken_by,
    short,
    value_rules,
)

Elements = Sequence[tuple[int, Any]]
"""Timestamps (ms) and values."""
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

_MOVES: Final = (1, 7, 999, 1_000, 30_000, 60_000, 600_000, 3_600_000, 86_400_000)
"""By how much a clock moves on (ms)."""
_STREAMS: Final = 150
_EVENTS: Final = 12
_TRIES: Final = 300
_FIRINGS: Final = 500


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
    case = _TriggerCase(trigger, tuple(values), duration_ms(window, "check_trigger window"))
    if not case.values or case.length == 0:
        raise TestStreamError(
            "check_trigger has nothing to check: give at least one value, and a window of 1 ms or "
            "more"
        )
    # It is pickled as it travels to workers.
    broken = broken_by(trigger, value_rules(cloudpickle.dumps))
    unanswered = broken_by(case, [_answers])
    broken += unanswered or broken_by(case, _RULES)
    if not broken and not any(moment.ready for moment in case.moments):
        raise TestStreamError(
            f"check_trigger has nothing to check: {trigger} never gets ready; give values for "
            "which it does, or a window that is long enough"
        )
    TriggerAssertionError.refuse(trigger, broken, "rule", "triggers")


@attrs.frozen
class _Moment:
    """What a trigger kept at a moment, and whether it was ready."""

    state: Any
    now: TriggerContext
    ready: bool

    def __str__(self) -> str:
        return f"{_shown(self.state)} ({_shown(self.now)})"


@attrs.frozen(slots=False)
class _TriggerCase:
    """A trigger, and the elements and the window to try it on."""

    trigger: CustomTrigger[Any]
    values: tuple[Any, ...]
    length: int

    @cached_property
    def moments(self) -> list[_Moment]:
        """All moments of all streams."""
        return [moment for seed in range(_STREAMS) for moment in self._play(Random(seed))]

    @cached_property
    def sample(self) -> list[_Moment]:
        """Some of them, for rules that ask much."""
        return Random(5).sample(self.moments, min(_TRIES, len(self.moments)))

    @cached_property
    def window(self) -> IntervalWindow:
        return IntervalWindow(0, self.length)

    def _play(self, random: Random) -> Iterator[_Moment]:
        now = TriggerContext(self.window, random.choice((MIN_TIMESTAMP, 0)), 0)
        state = self.ask(self.trigger.start)
        for _ in range(_EVENTS):
            move = random.choice(_MOVES)
            match random.choice(("elements", "elements", "clock", "watermark", "pane")):
                case "elements":
                    state = self.add(state, self.any_elements(random), now)
                case "clock":
                    now = attrs.evolve(now, clock=now.clock + move)
                case "watermark":
                    now = attrs.evolve(now, watermark=max(now.watermark, 0) + move)
                case _:
                    state = self.ask(self.trigger.on_pane, state, now)
            ready = self.ask(self.trigger.is_ready, state, now)
            yield _Moment(state, now, ready)
            if ready:
                state = self.ask(self.trigger.on_fire, state, now)

    def any_elements(self, random: Random) -> list[tuple[int, Any]]:
        """One to four elements of the window."""
        return [
            (random.randrange(self.length), random.choice(self.values))
            for _ in range(random.randint(1, 4))
        ]

    def add(self, state: Any, elements: Elements, now: TriggerContext) -> Any:
        """What it keeps after a bundle."""
        arrived = self.trigger.arrived(len(elements), elements)
        return self.ask(self.trigger.on_elements, state, arrived, now)

    def ask(
        self,
        method: Callable[Arguments, Answer],
        *arguments: Arguments.args,
        **options: Arguments.kwargs,
    ) -> Answer:
        """The answer of a method of the trigger."""
        try:
            return method(*arguments, **options)
        except NotImplementedError as error:
            raise UserFunctionRaised(f"it has no method {method.__name__}; write one") from error
        except Exception as error:
            shown = ", ".join(map(_shown, arguments))
            raise UserFunctionRaised(f"{method.__name__}({shown}) raises {error!r}") from error


def _same(state: Any, other: Any) -> bool:
    """Whether two states are the same."""
    try:
        return bool(state == other)
    except Exception:
        return pickle.dumps(state) == pickle.dumps(other)


def _shown(value: Any) -> str:
    """A state, or a moment, in a few words."""
    if isinstance(value, TriggerContext):
        return f"watermark {value.watermark}, clock {value.clock}"
    if isinstance(value, ArrivedElements):
        return f"{value.count} elements"
    return short(value)


# -- what it keeps ---------------------------------------------------------------------------


def _answers(case: _TriggerCase) -> Iterator[str]:
    """The trigger answers at all, and keeps what its class says."""
    running = CustomTriggerNode(case.trigger)
    for moment in case.moments:
        try:
            running.saved(moment.state)
        except TriggerError as error:
            yield str(error)
        if type(moment.ready) is not bool:
            yield f"is_ready({moment}) is {moment.ready!r}, and no bool"


def _can_be_saved(case: _TriggerCase) -> Iterator[str]:
    for state in (moment.state for moment in case.moments):
        try:
            copy = pickle.loads(cloudpickle.dumps(state))
        except Exception as error:
            yield f"what it keeps, {_shown(state)}, cannot be pickled ({error})"
            continue
        if not _same(copy, state):
            yield f"what it keeps, {_shown(state)}, is not equal to its pickled copy"


def _is_pure(case: _TriggerCase) -> Iterator[str]:
    random, trigger = Random(1), case.trigger
    for moment in case.sample:
        state, now, elements = moment.state, moment.now, case.any_elements(random)
        before = pickle.dumps(state)
        questions = {
            "on_elements": partial(case.add, state, elements, now),
            "is_ready": partial(case.ask, trigger.is_ready, state, now),
            "on_fire": partial(case.ask, trigger.on_fire, state, now),
            "on_pane": partial(case.ask, trigger.on_pane, state, now),
            "on_end": partial(case.ask, trigger.on_end, state),
            "merge": partial(case.ask, trigger.merge, [state], now),
        }
        for name, question in questions.items():
            first, again = question(), question()
            if not _same(first, again):
                yield f"{name} of {moment} is {_shown(first)} once and {_shown(again)} then"
            if pickle.dumps(state) != before:
                yield f"{name} changes the state that it is given; return a new one"


def _bundles_do_not_matter(case: _TriggerCase) -> Iterator[str]:
    random = Random(2)
    for moment in case.sample:
        elements = case.any_elements(random)
        together = case.add(moment.state, elements, moment.now)
        apart = moment.state
        for element in elements:
            apart = case.add(apart, [element], moment.now)
        if not _same(together, apart):
            yield (
                f"on_elements of {len(elements)} elements to {moment} is {_shown(together)} for "
                f"one bundle and {_shown(apart)} for one each; how elements are cut into bundles "
                "must not matter"
            )


def _merging_is_associative(case: _TriggerCase) -> Iterator[str]:
    for now, states in _merging(case):
        merge = case.trigger.merge
        together = case.ask(merge, states, now)
        first = case.ask(merge, [case.ask(merge, states[:2], now), states[2]], now)
        last = case.ask(merge, [states[0], case.ask(merge, states[1:], now)], now)
        for word, other in (("first", first), ("last", last)):
            if not _same(together, other):
                yield (
                    f"merge of {', '.join(map(_shown, states))} is {_shown(together)} at once, and "
                    f"{_shown(other)} if the {word} two merge before; merge must be associative"
                )


def _merging(case: _TriggerCase) -> Iterator[tuple[TriggerContext, list[Any]]]:
    """Three windows that merge, at a moment of one of them."""
    random = Random(6)
    for _ in range(_TRIES):
        moments = random.sample(case.moments, 3)
        now = attrs.evolve(
            moments[0].now,
            watermark=max(moment.now.watermark for moment in moments),
            clock=max(moment.now.clock for moment in moments),
        )
        # A window that was ready at this moment would have fired before.
        if not any(case.ask(case.trigger.is_ready, moment.state, now) for moment in moments):
            merged = IntervalWindow(0, 2 * case.length)
            yield attrs.evolve(now, window=merged), [moment.state for moment in moments]


def _finished_parts_are_associative(case: _TriggerCase) -> Iterator[str]:
    if not case.trigger.may_finish:
        return

    def merged(parts: list[bool]) -> bool:
        return case.ask(case.trigger.merges_finished, False, parts)

    for first, second, third in product((False, True), repeat=3):
        together = merged([first, second, third])
        if merged([merged([first, second]), third]) != together:
            yield (
                f"merges_finished of {first}, {second} and {third} is {together} at once, and not "
                "if the first two merge before; it must be associative"
            )


# -- when it fires ---------------------------------------------------------------------------


def _leaves_nothing_to_fire_again(case: _TriggerCase) -> Iterator[str]:
    trigger = case.trigger
    for moment in (moment for moment in case.moments if moment.ready):
        after = case.ask(trigger.on_fire, moment.state, moment.now)
        again = case.ask(trigger.on_fire, after, moment.now)
        if not _same(after, again):
            yield (
                f"on_fire of {moment} is {_shown(after)}, and of that {_shown(again)}; called "
                "twice at one moment it must change nothing more"
            )
        if trigger.fires_unchanged and case.ask(trigger.is_ready, after, moment.now):
            yield (
                f"it fires_unchanged, and right after its firing at {moment} it is ready again: "
                "each look at the window would repeat its pane"
            )


def _finishes_as_it_says(case: _TriggerCase) -> Iterator[str]:
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
        now = attrs.evolve(now, clock=now.clock + random.choice(_MOVES))
        state = case.add(state, case.any_elements(random), now)
        if case.ask(trigger.is_ready, state, now):
            last = case.ask(trigger.finishes, state, now)
            if type(last) is not bool:
                yield f"finishes({_shown(state)}) is {last!r}, and no bool"
            if last:
                return
            fired += 1
            if fired > _FIRINGS:
                yield (
                    f'it was ready {_FIRINGS} times and never finished; write firings = "repeated"'
                )
                return
            state = case.ask(trigger.on_fire, state, now)


# -- what it waits for -----------------------------------------------------------------------


def _elements_alone_fire_if_it_says_so(case: _TriggerCase) -> Iterator[str]:
    random = Random(4)
    for moment in case.sample if not case.trigger.fires_on_arrival else ():
        if moment.ready:
            continue
        state = case.add(moment.state, case.any_elements(random), moment.now)
        if case.ask(case.trigger.is_ready, state, moment.now):
            yield (
                f"elements alone make it ready at {moment}, and fires_on_arrival is False; "
                "write fires_on_arrival = True"
            )


def _times_have_timers(time: Literal["clock", "watermark"], case: _TriggerCase) -> Iterator[str]:
    trigger, last = case.trigger, case.window.max_timestamp
    for moment in case.sample:
        start: int = getattr(moment.now, time)
        instants = [max(start, 0) + move for move in _MOVES]
        if time == "clock":
            timers = _timers(case.ask(trigger.processing_time_timers, moment.state))
            advice = "name one in processing_time_timers"
        else:
            timers = _timers(case.ask(trigger.event_time_timers, moment.state))
            timers += [last] if trigger.waits_for_end else []
            advice = "name one in event_time_timers, or write waits_for_end = True"
            instants.append(last + 1)
        for instant in () if moment.ready else instants:
            move: dict[str, Any] = {time: max(instant, start)}
            later = attrs.evolve(moment.now, **move)
            due = any(start <= timer < getattr(later, time) for timer in timers)
            if not due and case.ask(trigger.is_ready, moment.state, later):
                yield (
                    f"{moment} gets ready as the {time} moves to {instant}, and no timer is due by "
                    f"then (it has {timers or 'none'}); {advice}"
                )


def _timers(instants: Iterable[int]) -> list[int]:
    timers = list(instants)
    for timer in timers:
        if type(timer) is not int:
            raise UserFunctionRaised(
                f"a timer must be a whole number of milliseconds, got {timer!r}"
            )
    return timers


_RULES: Final[Sequence[Callable[[_TriggerCase], Iterator[str]]]] = (
    _can_be_saved,
    _is_pure,
    _bundles_do_not_matter,
    _merging_is_associative,
    _finished_parts_are_associative,
    _leaves_nothing_to_fire_again,
    _finishes_as_it_says,
    _elements_alone_fire_if_it_says_so,
    partial(_times_have_timers, "clock"),
    partial(_times_have_timers, "watermark"),
)
