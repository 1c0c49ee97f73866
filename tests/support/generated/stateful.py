# ruff: noqa: B008 (that is how parameters ask)
"""Random functions with states and timers: what each call does follows from a seed and from what
the call is given, so that every host does the same."""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from random import Random
from typing import Any, Final

from beamlike.api.pipelines import userstate
from beamlike.api.pipelines.coders import PickleCoder, VarIntCoder
from beamlike.api.pipelines.dofn import ANY_SKEW, DoFn, TimestampedValue
from beamlike.model import state_specs

_ANY = PickleCoder()
_TAGS: Final = ("", "a", "b")
_SKEW: Final = 4
"""How far before what sets it a timer's output timestamp may be, if not anywhere (ms)."""


class AnyFn(DoFn[Any, Any]):
    """A function of pairs of a key and a number, with states of all kinds and timers of both
    clocks: looping ones, some in the past, with tags, with output timestamps or without.

    Args:
        seed: Says what it does.
        lateness: The allowed lateness (ms): how far timers may be set.
        fails: Whether it raises now and then, after it has changed its states and timers.
    """

    SUM = userstate.CombiningValueStateSpec("sum", sum)
    LAST = userstate.ReadModifyWriteStateSpec("last", _ANY)
    BAG = userstate.BagStateSpec("bag", _ANY)
    SET = userstate.SetStateSpec("set", _ANY)
    MAP = userstate.MapStateSpec("map", _ANY, _ANY)
    ORDERED = state_specs.OrderedListStateSpec("ordered", _ANY)
    LOOPS = userstate.ReadModifyWriteStateSpec("loops", VarIntCoder())
    EVENT = userstate.TimerSpec("event", userstate.TimeDomain.WATERMARK)
    AFTER = userstate.TimerSpec("after", userstate.TimeDomain.WATERMARK)
    REAL = userstate.TimerSpec("real", userstate.TimeDomain.REAL_TIME)

    def __init__(self, seed: int | str, lateness: int, *, fails: bool = False) -> None:
        self.seed, self.lateness, self.fails = seed, lateness, fails
        self.allowed_timestamp_skew = Random(f"{seed} skew").choice((ANY_SKEW, ANY_SKEW, _SKEW))

    def process(  # type: ignore[override]
        self,
        element: tuple[str, int],
        at: Any = DoFn.TimestampParam,
        window: Any = DoFn.WindowParam,
        total: Any = DoFn.StateParam(SUM),
        last: Any = DoFn.StateParam(LAST),
        bag: Any = DoFn.StateParam(BAG),
        distinct: Any = DoFn.StateParam(SET),
        mapped: Any = DoFn.StateParam(MAP),
        ordered: Any = DoFn.StateParam(ORDERED),
        loops: Any = DoFn.StateParam(LOOPS),
        event: Any = DoFn.TimerParam(EVENT),
        after: Any = DoFn.TimerParam(AFTER),
        real: Any = DoFn.TimerParam(REAL),
    ) -> Iterable[Any]:
        key, value = element
        dice = Random(f"{self.seed} {key} {value} {at} {window.start}")
        states = {
            **{"sum": total, "last": last, "bag": bag},
            **{"set": distinct, "map": mapped, "ordered": ordered},
        }
        answers: list[Any] = []
        for _ in range(dice.randint(1, 4)):
            match dice.randrange(8):
                case 0 | 1 | 2 | 3:
                    change = dice.choice(_CHANGES)
                    answers.append(change(dice, states, value, at))
                case 4:
                    dice.choice((event, after, real)).clear(dice.choice(_TAGS))
                case 5:
                    self._set_event(dice, event, window, at, at)
                case 6:
                    self._set_event(dice, after, window, at, at)
                case _:
                    self._set_real(dice, real)
        if dice.randrange(3) == 0:
            read = tuple(state.read() for state in states.values())
            empty = tuple(state.is_empty() for state in states.values())
            yield key, "states", (read, empty, tuple(answers))
        if dice.randrange(6) == 0:
            yield TimestampedValue((key, "moved", tuple(answers)), at + dice.randint(0, 6))
        self._fail(dice, loops, event, window)

    def _set_event(self, dice: Random, timer: Any, window: Any, around: int, given: int) -> None:
        """Set one of event time."""
        latest = window.max_timestamp + self.lateness
        at = min(around + dice.randint(-9, 15), latest)
        if dice.randrange(4) == 0:
            timer.with_no_output_timestamp()
        output = None
        if dice.randrange(3) == 0:
            output = around + dice.randint(-6, 9)
            if self.allowed_timestamp_skew != ANY_SKEW:
                output = max(output, given - _SKEW)
            output = min(output, latest)
            if output < given - self.allowed_timestamp_skew:
                output = None  # no output timestamp will do
        timer.set(at, dice.choice(_TAGS), output)

    def _set_real(self, dice: Random, timer: Any) -> None:
        timer.offset(dice.randint(0, 6))
        if dice.randrange(3) == 0:
            timer.align(4)
        timer.set_relative(dice.choice(_TAGS))

    def _fail(self, dice: Random, loops: Any, event: Any, window: Any) -> None:
        if not self.fails or dice.randrange(5):
            return
        match dice.randrange(3):
            case 0:
                raise ZeroDivisionError(f"{self.seed}")
            case 1:
                loops.write("no number")
            case _:
                event.set(window.max_timestamp + self.lateness + 1)

    @userstate.on_timer(EVENT)
    def fired(
        self,
        key: Any = DoFn.KeyParam,
        window: Any = DoFn.WindowParam,
        tag: Any = DoFn.DynamicTimerTagParam,
        at: Any = DoFn.FireTimestampParam,
        output: Any = DoFn.TimestampParam,
        total: Any = DoFn.StateParam(SUM),
        bag: Any = DoFn.StateParam(BAG),
        loops: Any = DoFn.StateParam(LOOPS),
        event: Any = DoFn.TimerParam(EVENT),
        real: Any = DoFn.TimerParam(REAL),
    ) -> Iterable[Any]:
        dice = Random(f"{self.seed} {key} {tag} {at} event {total.read()}")
        yield from self._said((key, "event", tag, at, bag.read()), at, output, window)
        if dice.randrange(3) == 0:
            total.add(at % 10)
        self._loop(dice, loops, lambda: self._set_event(dice, event, window, at, output))
        if dice.randrange(4) == 0:
            real.clear("a")
        self._fail(dice, loops, event, window)

    @userstate.on_timer(AFTER)
    def followed(
        self,
        key: Any = DoFn.KeyParam,
        window: Any = DoFn.WindowParam,
        tag: Any = DoFn.DynamicTimerTagParam,
        at: Any = DoFn.FireTimestampParam,
        output: Any = DoFn.TimestampParam,
        distinct: Any = DoFn.StateParam(SET),
        ordered: Any = DoFn.StateParam(ORDERED),
        loops: Any = DoFn.StateParam(LOOPS),
        event: Any = DoFn.TimerParam(EVENT),
        after: Any = DoFn.TimerParam(AFTER),
        real: Any = DoFn.TimerParam(REAL),
    ) -> Iterable[Any]:
        dice = Random(f"{self.seed} {key} {tag} {at} after {distinct.read()}")
        found = distinct.read(), ordered.read_range(at - 3, at + 4)
        yield from self._said((key, "after", tag, at, found), at, output, window)
        if dice.randrange(3) == 0:
            distinct.remove(at % 3)
        timer = dice.choice((event, after))
        self._loop(dice, loops, lambda: self._set_event(dice, timer, window, at, output))
        # What has no output timestamp of its own can give none on to one of processing time.
        if dice.randrange(3) == 0 and output <= window.max_timestamp + self.lateness:
            self._set_real(dice, real)
        self._fail(dice, loops, event, window)

    @userstate.on_timer(REAL)
    def rang(
        self,
        key: Any = DoFn.KeyParam,
        window: Any = DoFn.WindowParam,
        tag: Any = DoFn.DynamicTimerTagParam,
        at: Any = DoFn.FireTimestampParam,
        output: Any = DoFn.TimestampParam,
        last: Any = DoFn.StateParam(LAST),
        mapped: Any = DoFn.StateParam(MAP),
        loops: Any = DoFn.StateParam(LOOPS),
        event: Any = DoFn.TimerParam(EVENT),
        real: Any = DoFn.TimerParam(REAL),
    ) -> Iterable[Any]:
        dice = Random(f"{self.seed} {key} {tag} {at} real")
        found = last.read(), mapped.read()
        yield from self._said((key, "real", tag, at, found), output, output, window)
        if dice.randrange(3) == 0:
            last.write(at)
        self._loop(dice, loops, lambda: self._set_real(dice, real))
        if dice.randrange(4) == 0:
            event.clear()
        elif dice.randrange(4) == 0:
            self._set_event(dice, event, window, output, output)
        self._fail(dice, loops, event, window)

    def _said(self, value: Any, at: int, output: int, window: Any) -> Iterable[Any]:
        # A timer without an output timestamp can bring out nothing that says no time.
        if output <= window.max_timestamp + self.lateness:
            yield value
        elif self.allowed_timestamp_skew == ANY_SKEW:
            yield TimestampedValue(value, at)

    def _loop(self, dice: Random, loops: Any, again: Any) -> None:
        count = loops.read() or 0
        if count < 6 and dice.randrange(2):
            loops.write(count + 1)
            again()


class AnyExpiringFn(AnyFn):
    """The same with a last word when a window expires."""

    @userstate.on_window_expiration
    def expired(
        self,
        key: Any = DoFn.KeyParam,
        window: Any = DoFn.WindowParam,
        total: Any = DoFn.StateParam(AnyFn.SUM),
        bag: Any = DoFn.StateParam(AnyFn.BAG),
        mapped: Any = DoFn.StateParam(AnyFn.MAP),
        ordered: Any = DoFn.StateParam(AnyFn.ORDERED),
    ) -> Iterable[Any]:
        yield key, "end", (total.read(), bag.read(), mapped.read(), ordered.read())
        if self.fails and Random(f"{self.seed} {key} {window.start} end").randrange(5) == 0:
            raise ZeroDivisionError(f"{self.seed}")


class AnySortedFn(AnyExpiringFn):
    """The same with elements in order of event time."""

    @userstate.requires_time_sorted_input
    @wraps(AnyFn.process)
    def process(self, *args: Any, **kwargs: Any) -> Iterable[Any]:
        return AnyFn.process(self, *args, **kwargs)


# -- what a call does with its states --------------------------------------------------------------

_Change = Callable[[Random, Mapping[str, Any], int, int], Any]


def _combine(_dice: Random, states: Mapping[str, Any], value: int, _at: int) -> Any:
    return states["sum"].add(value)


def _write(_dice: Random, states: Mapping[str, Any], value: int, at: int) -> Any:
    return states["last"].write([value, at])


def _spoil(_dice: Random, states: Mapping[str, Any], value: int, _at: int) -> Any:
    """Change what was read: that changes no state."""
    for name in ("last", "bag"):
        read = states[name].read()
        if isinstance(read, list):
            read.append(value)


def _collect(_dice: Random, states: Mapping[str, Any], value: int, _at: int) -> Any:
    return states["bag"].add(value)


def _distinct(dice: Random, states: Mapping[str, Any], value: int, _at: int) -> Any:
    state = states["set"]
    match dice.randrange(4):
        case 0 | 1:
            return state.add(value % 3)
        case 2:
            return state.remove(value % 3)
        case _:
            return state.contains(value % 3)


def _map(dice: Random, states: Mapping[str, Any], value: int, at: int) -> Any:
    state, key = states["map"], value % 3
    match dice.randrange(6):
        case 0 | 1:
            return state.put(key, at)
        case 2:
            return state.put_if_absent(key, -at)
        case 3:
            return state.remove(key)
        case 4:
            return state.get(key, "none"), state.contains(key)
        case _:
            return state.keys(), state.values()


def _order(dice: Random, states: Mapping[str, Any], value: int, at: int) -> Any:
    state, first = states["ordered"], at + dice.randint(-4, 1)
    match dice.randrange(5):
        case 0 | 1 | 2:
            return state.add((at + dice.randint(-3, 3), value))
        case 3:
            return state.read_range(first, first + dice.randint(-1, 5))
        case _:
            return state.clear_range(first, first + dice.randint(-1, 5))


def _clear(dice: Random, states: Mapping[str, Any], _value: int, _at: int) -> Any:
    return dice.choice([*states.values()]).clear()


_CHANGES: Final[tuple[_Change, ...]] = (
    *(_combine, _write, _spoil, _collect, _distinct, _distinct, _map, _map, _order, _order),
    _clear,
)
