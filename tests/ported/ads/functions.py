# ruff: noqa: B008 (that is how parameters ask)
"""The two functions: a cache of what to look up, and a value that is repeated."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from beamlike.beam import DoFn
from beamlike.beam.coders import PickleCoder
from beamlike.beam.transforms import userstate
from beamlike.beam.transforms.timeutil import TimeDomain
from beamlike.beam.transforms.window import TimestampedValue
from beamlike.beam.utils.timestamp import MAX_TIMESTAMP, Duration, Timestamp

K = TypeVar("K")
V = TypeVar("V")


class LookupCache(DoFn[Any, Any]):
    """Joins values with the latest of what they look up, under their key.

    Values that come first wait, for the time to live after the latest element of their key; the
    watermark behind waits with them.
    """

    KEY = userstate.ReadModifyWriteStateSpec("key", PickleCoder())
    VALUES = userstate.BagStateSpec("values", PickleCoder())
    LOOKUP = userstate.ReadModifyWriteStateSpec("lookup", PickleCoder())
    LATEST = userstate.CombiningValueStateSpec("latest", PickleCoder(), max)
    GC = userstate.TimerSpec("gc", TimeDomain.WATERMARK)

    def __init__(self, time_to_live: Duration) -> None:
        self.time_to_live = time_to_live

    def process(
        self,
        element: tuple[K, tuple[Iterable[V], Iterable[Any]]],
        timestamp: Any = DoFn.TimestampParam,
        key_cache: Any = DoFn.StateParam(KEY),
        values_cache: Any = DoFn.StateParam(VALUES),
        lookup_cache: Any = DoFn.StateParam(LOOKUP),
        latest: Any = DoFn.StateParam(LATEST),
        gc: Any = DoFn.TimerParam(GC),
    ) -> Iterator[Any]:
        key, (values, lookups) = element
        values, lookups = list(values), list(lookups)
        if not values and not lookups:
            return
        lookup = self._cached(timestamp, lookups, lookup_cache)
        if lookup is None:
            key_cache.write(key)
            for value in values:
                values_cache.add(value)
        else:
            yield from _joined(timestamp, key, values_cache.read(), lookup)
            values_cache.clear()
            yield from _joined(timestamp, key, values, lookup)
        latest.add(timestamp)
        seen = latest.read()
        gc.set(min(seen + self.time_to_live, MAX_TIMESTAMP), output_timestamp=seen)

    @userstate.on_timer(GC)
    def on_gc(
        self,
        timestamp: Any = DoFn.TimestampParam,
        key_cache: Any = DoFn.StateParam(KEY),
        values_cache: Any = DoFn.StateParam(VALUES),
        lookup_cache: Any = DoFn.StateParam(LOOKUP),
        latest: Any = DoFn.StateParam(LATEST),
    ) -> Iterator[Any]:
        yield from _joined(timestamp, key_cache.read(), values_cache.read(), None)
        for state in (values_cache, lookup_cache, latest):
            state.clear()

    @staticmethod
    def _cached(timestamp: Timestamp, lookups: list[Any], cache: Any) -> Any:
        known = cache.read()
        if lookups and (known is None or timestamp >= known[0]):
            cache.write((timestamp, lookups[-1]))
            return lookups[-1]
        return None if known is None else known[1]


def _joined(timestamp: Timestamp, key: Any, values: Iterable[Any], lookup: Any) -> Iterator[Any]:
    for value in values:
        yield TimestampedValue((key, (value, lookup)), timestamp)


class Repeat(DoFn[Any, Any]):
    """Repeats the latest value of a key, until none has come for the time to live."""

    CACHE = userstate.ReadModifyWriteStateSpec("cache", PickleCoder())
    LAST_SEEN = userstate.ReadModifyWriteStateSpec("last seen", PickleCoder())
    INTERVAL = userstate.TimerSpec("interval", TimeDomain.WATERMARK)

    def __init__(self, interval: Duration, time_to_live: Duration) -> None:
        self.interval, self.time_to_live = interval, time_to_live

    def process(
        self,
        element: Any,
        timestamp: Any = DoFn.TimestampParam,
        cache: Any = DoFn.StateParam(CACHE),
        last_seen: Any = DoFn.StateParam(LAST_SEEN),
        timer: Any = DoFn.TimerParam(INTERVAL),
    ) -> Iterator[Any]:
        if cache.read() is None:
            yield TimestampedValue(element, timestamp)
            timer.set(timestamp + self.interval)
        cache.write(element)
        last_seen.write(timestamp)

    @userstate.on_timer(INTERVAL)
    def on_interval(
        self,
        timestamp: Any = DoFn.TimestampParam,
        cache: Any = DoFn.StateParam(CACHE),
        last_seen: Any = DoFn.StateParam(LAST_SEEN),
        timer: Any = DoFn.TimerParam(INTERVAL),
    ) -> Iterator[Any]:
        element = cache.read()
        if element is None:
            return
        yield TimestampedValue(element, timestamp)
        if timestamp < last_seen.read() + self.time_to_live:
            timer.set(timestamp + self.interval)
        else:
            cache.clear()
            last_seen.clear()
