"""The state of keys of which only the first row goes on, in columns.

Each key has a pickle, as a function with states has (`beamlike.machine.userstate.saved`), so that
whatever reads such state reads this. The pickles have equal lengths, and differ only in the instant
until which the key is known, which is in the same place in each. So they are written and read all
at once. Earlier versions wrote other pickles; these are read one by one.
"""

import pickle
import pickletools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import Array, Ints
from beamlike.machine.userstate.saved import Saved
from beamlike.model.stateful import KeepsFirst
from beamlike.runtime.accumulator_columns import AccumulatorColumns

_LARGE: Final = 2**62
"""An instant whose pickle has eight bytes: every instant is written in as many."""
_BYTES: Final = 8
_MOST: Final = 2**31 - 1
"""Bytes of a column of pickles at most."""
_OVER: Final = 0
"""In place of an instant: no timer is set, because it has fired and the window has expired."""


class KnownColumn(AccumulatorColumns):
    """The state of a known key in a window, see `beamlike.machine.userstate.saved.Saved`.

    Args:
        keeps: The function that keeps first rows.
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

    def is_usual(self, column: pa.ChunkedArray) -> bool:
        """Whether all of a column is as `pickled` makes it."""
        width = len(self._usual)
        for chunk in column.chunks:
            starts = _starts(chunk)
            if (np.diff(starts) != width).any():
                return False
            blobs = _bytes(chunk, starts).reshape(len(chunk), width)
            if not all((blobs[:, place] == self._usual[place]).all() for place in self._telling):
                return False
        return True

    def usual(self, column: pa.ChunkedArray) -> pa.Array:
        """A column in the form of `pickled`; other pickles in it are read one by one."""
        return self.encode(self.decode([column]))[0]

    def known_until(self, column: pa.ChunkedArray) -> Ints:
        """The instants until which the keys are known, of a column that `is_usual`."""
        instants = [np.zeros(0, np.int64)]
        for chunk in column.chunks:
            blobs = _bytes(chunk, _starts(chunk)).reshape(len(chunk), len(self._usual))
            until = np.ascontiguousarray(blobs[:, self._place : self._place + _BYTES])
            instants.append(until.view("<i8").reshape(len(chunk)).astype(np.int64, copy=False))
        return np.concatenate(instants)

    def _until(self, accumulator: Sequence[Any]) -> int:
        _key, _cells, timers, _waiting = accumulator
        until, _output = timers.get(self._timer, (_OVER, None))
        return int(until)


def _starts(chunk: pa.BinaryArray) -> Array:
    """Where the values of a chunk begin among its bytes, and where the last one ends."""
    if not len(chunk):
        return np.zeros(1, np.int32)
    starts = np.frombuffer(chunk.buffers()[1], np.int32)
    return starts[chunk.offset : chunk.offset + len(chunk) + 1]


def _bytes(chunk: pa.BinaryArray, starts: Array) -> Array:
    """The bytes of a chunk, one value after the other."""
    if not len(chunk):
        return np.zeros(0, np.uint8)
    return np.frombuffer(chunk.buffers()[2], np.uint8)[starts[0] : starts[-1]]
