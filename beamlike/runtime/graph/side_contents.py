"""The items of side inputs on a shard: where they are stored, and which are still needed."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from beamlike.errors import StateError
from beamlike.machine.events import Drop, Effect, Element
from beamlike.machine.side_input import Main, Side
from beamlike.model.windows import bounds, window_of
from beamlike.runtime.graph.side_inputs import (
    NOTHING_SEEN,
    LatestPanes,
    SideBatch,
    SideInputWorker,
    released,
)
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.store.blobs import damaged, digest_of
from beamlike.runtime.store.index import READ_ERRORS
from beamlike.runtime.store.stores import INDEX, Recent, Store

_ROOM: Final = 256 * 1024 * 1024
"""A process keeps items of at most so many bytes (on the wire)."""


class Space(Store):
    """One of several spaces for blobs in one store.

    Args:
        store: The store.
        place: The number of this space.
        count: How many spaces there are.
    """

    def __init__(self, store: Store, place: int, count: int) -> None:
        self._store, self._place, self._count = store, place, count
        self.state_cache = store.state_cache

    def _number(self, number: int) -> int:
        """The number in the store. The indexes of all count down from that of the first."""
        return INDEX - self._place if number == INDEX else number * self._count + self._place

    def read(self, number: int) -> bytes | None:
        return self._store.read(self._number(number))

    def write(self, number: int, blob: bytes | None) -> None:
        self._store.write(self._number(number), blob)


class SideContents:
    """The items that the side windows of a shard hold, stored by number.

    ===========  ===========================================  ===================================
    field        stored                                       cleared
    ===========  ===========================================  ===================================
    ``windows``  the digest of the items that each side       when no element can look into the
                 window of a side input holds                 window any more
    ``waiting``  how many batches have passed the machine     as they come out of the last machine
                 of items with a digest, and wait for a       or are dropped
                 later one
    ``numbers``  the number of the blob with these items, by  when no window holds them and no
                 their digest                                 batch that waits has seen them
    ``next``     the number of the next blob                  never
    ===========  ===========================================  ===================================
    """

    def __init__(self, worker: SideInputWorker, wire: Wire, space: Space) -> None:
        self._wire, self._space = wire, space
        self.latest = LatestPanes(worker.machines)
        saved = space.read_index()
        try:
            index = _EMPTY if saved is None else json.loads(saved)
            for side, start, end, digest in index["windows"]:
                self.latest.content[side, window_of(start, end)] = digest
            self._waiting = Counter[str](index["waiting"])
            self._numbers: dict[str, int] = dict(index["numbers"])
            self._next: int = index["next"]
        except READ_ERRORS as error:
            raise damaged(saved or b"", f"{type(error).__name__}: {error}") from error
        self._saved = _EMPTY if saved is None else index
        self._arrived: dict[str, bytes] = {}
        # Another pipeline of this process may have other coders, so these items are not shared.
        self._recent = _recent_items() if wire.coders else RECENT

    def shown(self, side: int, row: Mapping[str, Any]) -> dict[str, Any]:
        """A pane in the form that a machine takes: with the digest of its items as its only
        item."""
        digest = row["digest"]
        self._arrived[digest] = row["value_value"]
        self.latest.content[side, window_of(row["start"], row["end"])] = digest
        return {**row, "value_value": self._wire.dumps(Side((digest,)))}

    def wait(self, batches_in: Iterable[SideBatch]) -> None:
        """Note batches that went on to a later machine."""
        for batch in batches_in:
            self._waiting.update(_digests(batch.seen))

    def leave(self, effects: Iterable[Effect]) -> None:
        """Note batches that a later machine let out or dropped."""
        gone = [batch.seen[:-1] for _, batch in released(effects)]
        for effect in effects:
            match effect:
                case Drop(element=Element(value=Main(value=SideBatch() as batch))):
                    gone.append(batch.seen)
        for seen in gone:
            self._waiting.subtract(_digests(seen))

    def items(self, digest: Any) -> Sequence[Any]:
        """The items with this digest.

        Raises:
            StateError: They are not there, or are not what was written.
        """
        if digest == NOTHING_SEEN:
            return NOTHING_SEEN
        known: Sequence[Any] | None = self._recent.find(digest)
        if known is None:
            blob = self._blob(digest)
            known = self._wire.loads(blob)
            self._recent.keep(digest, known, len(blob))
        return known

    def _blob(self, digest: str) -> bytes:
        blob = self._arrived.get(digest) or self._space.state_cache.find(digest)
        if blob is not None and digest_of(blob) == digest:
            return blob
        number = self._numbers.get(digest)
        blob = None if number is None else self._space.read(number)
        if blob is None or digest_of(blob) != digest:
            raise StateError(
                "the state of a side input names items that are not there, or not what was "
                "written; the checkpoint is damaged: continue from a copy of it, or start with a "
                "new checkpoint"
            )
        self._space.state_cache.keep(digest, blob)
        return blob

    def named(self, dropped_by_key: tuple[Any, Drop]) -> tuple[Any, Drop]:
        """A drop with the items of a pane in place of their digest."""
        key, drop = dropped_by_key
        match drop.element:
            case Element(value=Side(content=(digest,))) as element:
                value = Side(tuple(self.items(digest)))
                return key, attrs.evolve(drop, element=attrs.evolve(element, value=value))
        return dropped_by_key

    def save(self, reached: Sequence[int]) -> None:
        """Store the contents of windows, and forget those into which no element can look any more.

        Args:
            reached: The watermark of each machine (ticks).
        """
        self.latest.forget(reached)
        self._waiting = +self._waiting
        held = {*self.latest.content.values(), *self._waiting}
        for digest in [*self._numbers]:
            if digest not in held:
                self._space.write(self._numbers.pop(digest), None)
                self._space.state_cache.forget(digest)
        for digest in sorted(held - self._numbers.keys()):
            self._space.write(self._next, self._arrived[digest])
            self._space.state_cache.keep(digest, self._arrived[digest])
            self._numbers[digest] = self._next
            self._next += 1
        known = self.latest.content.items()
        index = {
            "windows": sorted([side, *bounds(window), digest] for (side, window), digest in known),
            "waiting": dict(self._waiting),
            "numbers": self._numbers,
            "next": self._next,
        }
        if index != self._saved:
            self._space.write_index(json.dumps(index).encode())


_EMPTY: Final[Mapping[str, Any]] = {"windows": [], "waiting": {}, "numbers": {}, "next": 0}


def _digests(seen: Iterable[Any]) -> list[str]:
    return [digest for digest in seen if digest != NOTHING_SEEN]


def _recent_items() -> Recent[Any]:
    """The items that shards have looked into last."""
    return Recent(lambda: _ROOM, least=1)


RECENT: Final = _recent_items()
"""The items that all shards of this process have read last."""
