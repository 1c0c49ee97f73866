"""Where the blobs of a shard are stored between its steps; a host brings a store of its own."""

from typing import Final, Protocol


class StateCache(Protocol):
    """Copies of blobs that are faster to read than state, by name.

    It may have forgotten any of them. What it has may be damaged.
    """

    def find(self, name: str) -> bytes | None: ...

    def keep(self, name: str, blob: bytes) -> None: ...

    def forget(self, name: str) -> None: ...


class _NothingNearby:
    """Of a host whose state is fast to read."""

    def find(self, name: str) -> bytes | None:
        return None

    def keep(self, name: str, blob: bytes) -> None:
        pass

    def forget(self, name: str) -> None:
        pass


NO_STATE_CACHE: Final = _NothingNearby()


class Store(Protocol):
    """Where a shard's blobs are stored between steps, by number.

    A step that raises may have written some of them. They are discarded then, as Spark does with
    what a failed task has written.
    """

    @property
    def nearby(self) -> StateCache:
        """Where copies of them may be."""

    def read(self, number: int) -> bytes | None: ...

    def write(self, number: int, blob: bytes | None) -> None:
        """Keep the blob; None forgets it."""

    def read_index(self) -> bytes | None: ...

    def write_index(self, blob: bytes) -> None: ...


class NoStore:
    """A bounded shard steps once: it starts with nothing and leaves nothing."""

    nearby = NO_STATE_CACHE

    def read(self, number: int) -> bytes | None:
        return None

    def write(self, number: int, blob: bytes | None) -> None:
        pass

    def read_index(self) -> bytes | None:
        return None

    def write_index(self, blob: bytes) -> None:
        pass


class DictStore:
    """The state of a shard in memory, for hosts that keep it in one process."""

    nearby = NO_STATE_CACHE

    def __init__(self) -> None:
        self.buckets: dict[int, bytes] = {}
        self.index: bytes | None = None

    def read(self, number: int) -> bytes | None:
        return self.buckets.get(number)

    def write(self, number: int, blob: bytes | None) -> None:
        if blob is None:
            del self.buckets[number]
        else:
            self.buckets[number] = blob

    def read_index(self) -> bytes | None:
        return self.index

    def write_index(self, blob: bytes) -> None:
        self.index = blob


class Transaction:
    """A store that is written to only once the step is known to be good.

    Args:
        store: Where the shard's blobs are stored.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._blobs: dict[int, bytes | None] = {}
        self._index: bytes | None = None

    @property
    def nearby(self) -> StateCache:
        return self._store.nearby

    def read(self, number: int) -> bytes | None:
        return self._blobs[number] if number in self._blobs else self._store.read(number)

    def write(self, number: int, blob: bytes | None) -> None:
        self._blobs[number] = blob

    def read_index(self) -> bytes | None:
        return self._store.read_index() if self._index is None else self._index

    def write_index(self, blob: bytes) -> None:
        self._index = blob

    def keep(self) -> None:
        """Write to the store what the step has written."""
        for number, blob in self._blobs.items():
            self._store.write(number, blob)
        if self._index is not None:
            self._store.write_index(self._index)
