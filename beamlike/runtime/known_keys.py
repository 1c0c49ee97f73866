"""What is remembered of known keys, where a function keeps the first row of each: in columns.

It is a pickle as of any function with states (`beamlike.machine.userstate.saved`), so that all that
reads such state reads this. But the pickles are as long as each other, and have the instant until
which the key is known in the same place: nothing else differs, and they are written and read all at
once. Earlier versions wrote others; these are read one by one.
"""

import pickle
import pickletools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import Ints
from beamlike.machine.userstate.saved import Saved
from beamlike.model.stateful import KeepsFirst
from beamlike.runtime.columns import AccumulatorColumns

_LARGE: Final = 2**62
"""An instant whose pickle has eight bytes, as there is room for in the place of any."""
_BYTES: Final = 8
_MOST: Final = 2**31 - 1
"""Bytes of a column of pickles at most."""
_OVER: Final = 0
"""Where no timer is set: that of the clock has fired after the window expired, which forgets it."""


class KnownColumn(AccumulatorColumns):
    """What is remembered of a window of a known key, see `beamlike.machine.userstate.saved.Saved`.

    Args:
        keeps: What the function does.
    """

    pickles = True

    def __init__(self, keeps: KeepsFirst) -> None:
        self._cells = {keeps.state.name: keeps.state.coder.encode(True)}
        self._timer = keeps.timer.name, ""
        pickled = pickletools.optimize(pickle.dumps(self._saved(_LARGE), protocol=5))
        instant = _LARGE.to_bytes(_BYTES, "little")
        self._place = pickled.index(instant)
        self._usual = np.frombuffer(pickled, np.uint8)
        # An instant of fewer bytes, or a key, makes others: a few bytes tell all of them apart.
        self._telling = [self._place - 2, self._place - 1, pickled.index(b"(N") + 1]

    def _saved(self, until: int) -> tuple[Any, ...]:
        # Of its key the function asks nothing.
        return tuple(Saved(None, self._cells, {self._timer: (until, None)}))

    def types(self) -> dict[str, pa.DataType]:
        return {"_pickled": pa.binary()}

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        return [pickle.loads(blob) for blob in columns[0].to_pylist()]

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        return [self.pickled(np.array(list(map(self._until, accumulators)), np.int64))]

    def pickled(self, until: Ints) -> pa.Array:
        """The accumulators of keys that are known until these instants.

        Raises:
            ArrowCapacityError: They do not fit in one piece.
        """
        count, width = len(until), len(self._usual)
        if count * width > _MOST:
            raise pa.ArrowCapacityError(
                f"array cannot contain more than {_MOST} bytes, have {count * width}"
            )
        blobs = np.tile(self._usual, (count, 1))
        blobs[:, self._place : self._place + _BYTES] = (
            until.astype("<i8").view(np.uint8).reshape(count, _BYTES)
        )
        starts = np.arange(0, (count + 1) * width, width, dtype=np.int32)[: count + 1]
        buffers = [None, pa.py_buffer(starts), pa.py_buffer(blobs)]
        return pa.BinaryArray.from_buffers(pa.binary(), count, buffers)

    def known_until(self, column: pa.ChunkedArray) -> tuple[Ints, bool]:
        """What `pickled` was given, or `encode`; and whether all of it is as `pickled` makes it."""
        instants, is_usual = [np.zeros(0, np.int64)], True
        for chunk in column.chunks:
            until = self._read(chunk)
            if until is None:
                saved = map(pickle.loads, chunk.to_pylist())
                until = np.array(list(map(self._until, saved)), np.int64)
                is_usual = False
            instants.append(until)
        return np.concatenate(instants), is_usual

    def _until(self, accumulator: Sequence[Any]) -> int:
        _key, _cells, timers, _waiting = accumulator
        until, _output = timers.get(self._timer, (_OVER, None))
        return int(until)

    def _read(self, chunk: pa.BinaryArray) -> Ints | None:
        """The instants in usual pickles; None: others are among them."""
        count, width = len(chunk), len(self._usual)
        if not count:
            return np.zeros(0, np.int64)
        _, starts, data = chunk.buffers()
        start = np.frombuffer(starts, np.int32)[chunk.offset : chunk.offset + count + 1]
        if (np.diff(start) != width).any():
            return None
        blobs = np.frombuffer(data, np.uint8)[start[0] : start[-1]].reshape(count, width)
        if not all((blobs[:, place] == self._usual[place]).all() for place in self._telling):
            return None
        instants = np.ascontiguousarray(blobs[:, self._place : self._place + _BYTES])
        return instants.view("<i8").reshape(count).astype(np.int64)
