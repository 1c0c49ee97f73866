"""States as a function sees them: each is read, changed and cleared.

A state holds bytes, not objects. So a function may change what it reads, a value that its coder
cannot encode is refused where it is written, and every host keeps the same.

Source: Beam Java ``org.apache.beam.sdk.state``; Beam Python ``userstate.RuntimeState``.
"""

from bisect import bisect_left, insort
from collections.abc import Collection, Iterator
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar

from beamlike.errors import CoderError, UserStateError
from beamlike.model.coders import Coder
from beamlike.model.state_specs import (
    BagStateSpec,
    CombiningValueStateSpec,
    MapStateSpec,
    OrderedListStateSpec,
    ReadModifyWriteStateSpec,
    SetStateSpec,
    StateSpec,
)
from beamlike.safe_text import USER_RAISED, problem_of, safe_repr, short_repr

Spec = TypeVar("Spec", bound=StateSpec)


class Cell(Generic[Spec]):
    """A state of one key and window while its function is called."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def load(self, saved: Any) -> None:
        """Begin with the value that `saved` returned; None: begin empty."""
        raise NotImplementedError

    def saved(self) -> Any:
        """The content to save; None if it is empty."""
        raise NotImplementedError

    def clear(self) -> None:
        """Forget everything."""
        self.load(None)

    def is_empty(self) -> bool:
        """Whether nothing is in it."""
        return self.saved() is None

    def prefetch(self) -> None:
        """Does nothing: the content is here already. Source: Beam ``readLater``."""

    def _encoded(self, value: Any, coder: Coder | None = None) -> bytes:
        """A value as bytes."""
        coder = coder or self.spec.coder
        whose = f"{coder} of the state {self.spec.name!r}"
        try:
            blob = coder.encode(value)
        except USER_RAISED as cause:
            raise CoderError(
                f"{whose} cannot take {safe_repr(value)}: {problem_of(cause)}; declare a coder "
                "that fits its values"
            ) from cause
        if type(blob) is not bytes:
            raise CoderError(
                f"{whose} must make bytes, and made {short_repr(blob)} of {safe_repr(value)}; "
                "declare a coder that fits its values"
            )
        return blob


class ValueCell(Cell[ReadModifyWriteStateSpec]):
    """One value."""

    def load(self, saved: Any) -> None:
        self._blob: bytes | None = saved

    def saved(self) -> Any:
        return self._blob

    def read(self) -> Any:
        """The value; None if none was written."""
        return None if self._blob is None else self.spec.coder.decode(self._blob)

    def write(self, value: Any) -> None:
        """Let this be the value."""
        self._blob = self._encoded(value)


class _ValuesCell(Cell[Spec]):
    """Several values, in a container that is empty without any."""

    _held: Collection[Any]

    def saved(self) -> Any:
        return tuple(self._held) or None

    def is_empty(self) -> bool:
        return not self._held

    def read(self) -> list[Any]:
        """The values."""
        return [*map(self.spec.coder.decode, self._held)]


class BagCell(_ValuesCell[BagStateSpec]):
    """Values, in the order in which they were added."""

    def load(self, saved: Any) -> None:
        self._held: list[bytes] = list(saved or ())

    def add(self, value: Any) -> None:
        """One more value."""
        self._held.append(self._encoded(value))


class SetCell(_ValuesCell[SetStateSpec]):
    """Values, each once, in the order in which they were added first."""

    def load(self, saved: Any) -> None:
        self._held: dict[bytes, None] = dict.fromkeys(saved or ())

    def add(self, value: Any) -> bool:
        """Put a value in; whether it was new. Source: Beam ``SetState.addIfAbsent``."""
        before = len(self._held)
        self._held[self._encoded(value)] = None
        return len(self._held) > before

    add_if_absent = add

    def contains(self, value: Any) -> bool:
        """Whether a value is in it."""
        return self._encoded(value) in self._held

    def remove(self, value: Any) -> None:
        """Take a value out, if it is in."""
        self._held.pop(self._encoded(value), None)


class CombiningCell(Cell[CombiningValueStateSpec]):
    """All values that were added, combined by a combine function."""

    def load(self, saved: Any) -> None:
        self._blob: bytes | None = saved
        self._made: tuple[Any] | None = None
        self._changed = False

    def saved(self) -> Any:
        if self._changed:
            self._blob = self._encoded(self.accumulator)
            self._changed = False
        return self._blob

    def is_empty(self) -> bool:
        return self._blob is None and not self._changed

    @property
    def accumulator(self) -> Any:
        """The accumulator of all that was added. Source: Beam ``CombiningState.getAccum``."""
        if self._made is None:
            fn, blob = self.spec.combine_fn, self._blob
            self._made = (fn.create() if blob is None else self.spec.coder.decode(blob),)
        return self._made[0]

    def read(self) -> Any:
        """The combined value; if nothing was added, the combine function's value of nothing."""
        return self.spec.combine_fn.extract(self.accumulator)

    def add(self, value: Any) -> None:
        """One more value."""
        fn = self.spec.combine_fn
        self._set(fn.compact(fn.add(self.accumulator, (value,), (0,))))

    def add_accumulator(self, accumulator: Any) -> None:
        """All values of an accumulator. Source: Beam ``CombiningState.addAccum``."""
        self._set(self.spec.combine_fn.merge(self.accumulator, accumulator))

    def _set(self, accumulator: Any) -> None:
        self._made, self._changed = (accumulator,), True


class OrderedListCell(_ValuesCell[OrderedListStateSpec]):
    """Values with instants, in order of the instants; equal ones in the order they were added."""

    def load(self, saved: Any) -> None:
        self._held: list[tuple[int, bytes]] = list(saved or ())

    def add(self, value: tuple[Any, Any]) -> None:
        """One more pair of an instant and a value."""
        try:
            instant, item = value
        except (TypeError, ValueError):
            raise UserStateError(
                f"the state {self.spec.name!r} is an ordered list: add((timestamp, value)), got "
                f"{value!r}"
            ) from None
        insort(self._held, (self.spec.millis(instant), self._encoded(item)), key=itemgetter(0))

    def read(self) -> list[tuple[Any, Any]]:
        """All pairs of instant and value."""
        return [*self._shown(0, len(self._held))]

    def read_range(self, min_time_stamp: Any, limit_time_stamp: Any) -> list[tuple[Any, Any]]:
        """The pairs from an instant on, and before another."""
        return [*self._shown(*self._places(min_time_stamp, limit_time_stamp))]

    def clear_range(self, min_time_stamp: Any, limit_time_stamp: Any) -> None:
        """Forget the pairs from an instant on, and before another."""
        first, after = self._places(min_time_stamp, limit_time_stamp)
        del self._held[first:after]

    def _places(self, least: Any, limit: Any) -> tuple[int, int]:
        first = bisect_left(self._held, self.spec.millis(least), key=itemgetter(0))
        after = bisect_left(self._held, self.spec.millis(limit), key=itemgetter(0))
        return first, max(first, after)

    def _shown(self, first: int, after: int) -> Iterator[tuple[Any, Any]]:
        for instant, blob in self._held[first:after]:
            yield self.spec.shown(instant), self.spec.coder.decode(blob)


class MapCell(_ValuesCell[MapStateSpec]):
    """Values by keys, in the order in which the keys were put first."""

    def load(self, saved: Any) -> None:
        self._held: dict[bytes, bytes] = dict(saved or ())

    def saved(self) -> Any:
        return tuple(self._held.items()) or None

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or the default."""
        blob = self._held.get(self._key(key))
        return default if blob is None else self.spec.coder.decode(blob)

    def put(self, key: Any, value: Any) -> None:
        """Let this be the value of a key."""
        self._held[self._key(key)] = self._encoded(value)

    def put_if_absent(self, key: Any, value: Any) -> Any:
        """The value that a key has; if it has none, it gets this one, and None is returned."""
        known = self._held.get(self._key(key))
        if known is None:
            self.put(key, value)
            return None
        return self.spec.coder.decode(known)

    def remove(self, key: Any) -> None:
        """Forget a key, if it is known."""
        self._held.pop(self._key(key), None)

    def contains(self, key: Any) -> bool:
        """Whether a key has a value."""
        return self._key(key) in self._held

    def keys(self) -> list[Any]:
        """The keys."""
        return [*map(self.spec.key_coder.decode, self._held)]

    def values(self) -> list[Any]:
        """The values."""
        return [*map(self.spec.coder.decode, self._held.values())]

    def items(self) -> list[tuple[Any, Any]]:
        """The keys with their values."""
        return [*zip(self.keys(), self.values(), strict=True)]

    read = entries = items

    def _key(self, key: Any) -> bytes:
        return self._encoded(key, self.spec.key_coder)


_CELLS: Final[tuple[tuple[type[StateSpec], Any], ...]] = (
    (ReadModifyWriteStateSpec, ValueCell),
    (BagStateSpec, BagCell),
    (SetStateSpec, SetCell),
    (CombiningValueStateSpec, CombiningCell),
    (OrderedListStateSpec, OrderedListCell),
    (MapStateSpec, MapCell),
)


def cell_of(spec: StateSpec, saved: Any) -> Cell[Any]:
    """The state of a spec, with what was saved of it; None: nothing.

    Raises:
        UserStateError: There is no such kind of state.
    """
    for spec_class, cell in _CELLS:
        if isinstance(spec, spec_class):
            loaded: Cell[Any] = cell(spec)
            loaded.load(saved)
            return loaded
    raise UserStateError(
        f"{spec!r} is no state that beamlike knows; declare one of userstate, such as "
        "ReadModifyWriteStateSpec"
    )


def readable(spec: StateSpec, saved: Any) -> Any:
    """What was saved of a state, as its values."""
    cell: Any = cell_of(spec, saved)
    return cell.read()
