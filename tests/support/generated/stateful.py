# ruff: noqa: B008 (that is how parameters ask)
"""Random functions with states and timers: what each call does follows from a seed and from what
the call is given, so that every host does the same."""

from collections.abc import Iterable
from functools import wraps
from random import Random
from typing import Any

from beamlike.api.pipelines.coders import PickleCoder
from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.userstate import (
    BagStateSpec,
    CombiningValueStateSpec,
    MapStateSpec,
    ReadModifyWriteStateSpec,
    SetStateSpec,
    TimeDomain,
    TimerSpec,
    on_timer,
    on_window_expiration,
    requires_time_sorted_input,
)
from beamlike.model import state_specs
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP

__all__ = ["AnyExpiringFn", "AnyFn", "AnySortedFn"]

_ANY = PickleCoder()


class AnyFn(DoFn[Any, Any]):
    """A function of pairs of a key and a number, with states of all kinds and timers of both
    clocks: looping ones, some in the past, with tags, with output timestamps or without.

    Args:
        seed: Says what it does.
        lateness: The allowed lateness (ms): how far timers may be set.
    """

    SUM = CombiningValueStateSpec("sum", sum)
    LAST = ReadModifyWriteStateSpec("last", _ANY)
    BAG = BagStateSpec("bag", _ANY)
    SET = SetStateSpec("set", _ANY)
    MAP = MapStateSpec("map", _ANY, _ANY)
    ORDERED = state_specs.OrderedListStateSpec("ordered", _ANY)
    LOOPS = ReadModifyWriteStateSpec("loops", _ANY)
    EVENT = TimerSpec("event", TimeDomain.WATERMARK)
    REAL = TimerSpec("real", TimeDomain.REAL_TIME)

    allowed_timestamp_skew = MAX_TIMESTAMP - MIN_TIMESTAMP

    def __init__(self, seed: int, lateness: int) -> None:
        self.seed, self.lateness = seed, lateness

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
        event: Any = DoFn.TimerParam(EVENT),
        real: Any = DoFn.TimerParam(REAL),
    ) -> Iterable[Any]:
        key, value = element
        dice = Random(f"{self.seed} {key} {value} {at}")
        for _ in range(dice.randint(1, 4)):
            match dice.randrange(13):
                case 0:
                    total.add(value)
                case 1:
                    last.write([value, at])
                case 2:
                    bag.add(value)
                case 3:
                    distinct.add(value % 3)
                case 4:
                    mapped.put(value % 3, at)
                case 5:
                    ordered.add((at + dice.randint(-3, 3), value))
                case 6:
                    ordered.clear_range(at - 2, at + 2)
                case 7:
                    dice.choice((total, last, bag, distinct, mapped, ordered)).clear()
                case 8:
                    event.clear(dice.choice(("", "a")))
                    real.clear(dice.choice(("", "a")))
                case 9 | 10:
                    self._set_event(dice, event, window, at)
                case _:
                    self._set_real(dice, real)
        if dice.randrange(3) == 0:
            yield (
                key,
                "states",
                (
                    total.read(),
                    last.read(),
                    bag.read(),
                    distinct.read(),
                    mapped.read(),
                    ordered.read(),
                ),
            )

    def _set_event(self, dice: Random, timer: Any, window: Any, around: int) -> None:
        latest = window.max_timestamp + self.lateness
        at = min(around + dice.randint(-9, 15), latest)
        if dice.randrange(4) == 0:
            timer.with_no_output_timestamp()
        output = dice.choice((None, None, min(around + dice.randint(0, 9), latest)))
        timer.set(at, dice.choice(("", "a", "b")), output)

    def _set_real(self, dice: Random, timer: Any) -> None:
        timer.offset(dice.randint(0, 6))
        if dice.randrange(3) == 0:
            timer.align(4)
        timer.set_relative(dice.choice(("", "a")))

    @on_timer(EVENT)
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
        yield from self._said((key, "event", tag, at, bag.read()), output, window)
        if dice.randrange(3) == 0:
            total.add(at % 10)
        self._loop(dice, loops, lambda: self._set_event(dice, event, window, at))
        if dice.randrange(4) == 0:
            real.clear("a")

    @on_timer(REAL)
    def rang(
        self,
        key: Any = DoFn.KeyParam,
        window: Any = DoFn.WindowParam,
        tag: Any = DoFn.DynamicTimerTagParam,
        at: Any = DoFn.FireTimestampParam,
        output: Any = DoFn.TimestampParam,
        last: Any = DoFn.StateParam(LAST),
        loops: Any = DoFn.StateParam(LOOPS),
        event: Any = DoFn.TimerParam(EVENT),
        real: Any = DoFn.TimerParam(REAL),
    ) -> Iterable[Any]:
        dice = Random(f"{self.seed} {key} {tag} {at} real")
        yield from self._said((key, "real", tag, at, last.read()), output, window)
        if dice.randrange(3) == 0:
            last.write(at)
        self._loop(dice, loops, lambda: self._set_real(dice, real))
        if dice.randrange(4) == 0:
            event.clear()

    def _said(self, value: Any, output: int, window: Any) -> Iterable[Any]:
        # A timer without an output timestamp can bring out nothing that says no time.
        if output <= window.max_timestamp + self.lateness:
            yield value

    def _loop(self, dice: Random, loops: Any, again: Any) -> None:
        count = loops.read() or 0
        if count < 6 and dice.randrange(2):
            loops.write(count + 1)
            again()


class AnyExpiringFn(AnyFn):
    """The same with a last word when a window expires."""

    @on_window_expiration
    def expired(
        self,
        key: Any = DoFn.KeyParam,
        total: Any = DoFn.StateParam(AnyFn.SUM),
        bag: Any = DoFn.StateParam(AnyFn.BAG),
        ordered: Any = DoFn.StateParam(AnyFn.ORDERED),
    ) -> Iterable[Any]:
        yield key, "end", (total.read(), bag.read(), ordered.read())


class AnySortedFn(AnyExpiringFn):
    """The same with elements in order of event time."""

    @requires_time_sorted_input
    @wraps(AnyFn.process)
    def process(self, *args: Any, **kwargs: Any) -> Iterable[Any]:
        return AnyFn.process(self, *args, **kwargs)
