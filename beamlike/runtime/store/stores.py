"""Where the blobs of a shard are stored between its steps; a host brings a store of its own."""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Generic, TypeVar

Value = TypeVar("Value")

INDEX: Final = -1
"""The number of the blob that is a shard's index."""


class StateCache:
    """Copies of blobs that are faster to read than state, by name. This class keeps none.

    A subclass may forget any copy at any time, and a copy may be damaged: readers check it.
    """

    def find(self, name: str) -> bytes | None:
        """The copy of this name; None if there is none."""
        return None

    def keep(self, name: str, blob: bytes) -> None:
        """Take a copy."""

    def forget(self, name: str) -> None:
        """Forget a copy."""


NO_STATE_CACHE: Final = StateCache()
"""The cache of a host whose state is fast to read."""


class Store(ABC):
    """Where a shard's blobs are stored between steps, by number.

    A step that raises may have written some blobs. The host must discard these, as Spark discards
    what a failed task has written.
    """

    state_cache: StateCache = NO_STATE_CACHE
    """Where copies of the blobs may be."""

    @abstractmethod
    def read(self, number: int) -> bytes | None:
        """The blob of this number; None if there is none."""

    @abstractmethod
    def write(self, number: int, blob: bytes | None) -> None:
        """Keep the blob; None forgets it."""

    def read_index(self) -> bytes | None:
        """The index of the shard; None before its first step."""
        return self.read(INDEX)

    def write_index(self, blob: bytes) -> None:
        """Keep the index of the shard."""
        self.write(INDEX, blob)


class NoStore(Store):
    """The store of a bounded shard, which steps once: it has nothing, and keeps nothing."""

    def read(self, number: int) -> bytes | None:
        return None

    def write(self, number: int, blob: bytes | None) -> None:
        pass


class DictStore(Store):
    """The state of a shard in memory, for hosts that keep it in one process."""

    def __init__(self) -> None:
        self.blobs: dict[int, bytes] = {}
        self.index: bytes | None = None

    def read(self, number: int) -> bytes | None:
        return self.index if number == INDEX else self.blobs.get(number)

    def write(self, number: int, blob: bytes | None) -> None:
        if number == INDEX:
            self.index = blob
        elif blob is None:
            del self.blobs[number]
        else:
            self.blobs[number] = blob


class Transaction(Store):
    """A store that is written to only once the step is known to be good.

    Args:
        store: Where the shard's blobs are stored.
    """

    def __init__(self, store: Store) -> None:
        self._store, self.state_cache = store, store.state_cache
        self._blobs: dict[int, bytes | None] = {}

    def read(self, number: int) -> bytes | None:
        return self._blobs[number] if number in self._blobs else self._store.read(number)

    def write(self, number: int, blob: bytes | None) -> None:
        self._blobs[number] = blob

    def commit(self) -> None:
        """Write everything that the step has written to the store."""
        for number, blob in self._blobs.items():
            self._store.write(number, blob)


class Recent(Generic[Value]):
    """Values that this process has read last, by name, so that they need not be read again.

    Args:
        most: The bytes that all values may take.
        least: At least so many values are kept, whatever they take.
    """

    def __init__(self, most: Callable[[], int], least: int = 0) -> None:
        self._most, self._least, self._size = most, least, 0
        self._known: OrderedDict[str, tuple[Value, int]] = OrderedDict()

    def find(self, name: str) -> Value | None:
        """The value of this name; None if it has been forgotten."""
        if name not in self._known:
            return None
        self._known.move_to_end(name)
        return self._known[name][0]

    def forget(self, name: str) -> None:
        """Forget a value."""
        _, size = self._known.pop(name, (None, 0))
        self._size -= size

    def keep(self, name: str, value: Value, size: int) -> None:
        """Keep a value of ``size`` bytes. The values that were used longest ago make room for
        it."""
        self.forget(name)
        self._known[name] = value, size
        self._size += size
        while self._size > self._most() and len(self._known) > self._least:
            self.forget(next(iter(self._known)))
