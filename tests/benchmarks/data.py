"""Input for the benchmarks: Parquet files, some for each micro-batch, the same for everybody.

Rows have a key, an event time, and a number. All random numbers come from one seed, the shape of
the data and the number of the micro-batch, so a file holds the same rows wherever it is written.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from attrs import frozen

SCHEMA: Final = "key string, ts timestamp, v long"

FILES_OF_A_BATCH: Final = 2
"""As from a source with two partitions: one core each for the reading, on two cores."""

LATE_KEYS: Final = 20
"""Where data is late, it has keys whose number is a multiple of this."""

_LATE_SHARE: Final = 0.2
"""Of the events of these keys; so one event in a hundred is late."""
_SPAN: Final = 300_000
"""Event time that a micro-batch covers, ms."""
_DISORDER: Final = 30_000
_START: Final = 1_700_000_000_000
_MONTH: Final = 30 * 86_400_000
_SEED: Final = 7
_STEP: Final = 7
_HOT_SHARE: Final = 0.2
"""Of all events, those that the most frequent key gets where keys are ``"zipf"``."""

Keys = Literal["uniform", "zipf"]
Numbers = npt.NDArray[np.int64]


class Shape(Protocol):
    """What a set of files holds. Hashable: equal shapes share their files."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Events of each micro-batch."""

    @property
    def measured(self) -> range:
        """The micro-batches whose times count. Those before only warm up, or fill the state."""

    @property
    def checked(self) -> int:
        """How many micro-batches the run has whose results are compared."""

    @property
    def keys(self) -> int:
        """Distinct keys at most."""

    def columns(self, batch: int) -> tuple[Numbers, Numbers]:
        """Numbers of keys and event times of a micro-batch."""


@frozen
class Stream:
    """Keys come and go: each micro-batch covers five minutes, up to 30 s out of order.

    With ``late``, one event in a hundred lies 9 to 13 minutes before its micro-batch. The ``warm``
    first micro-batches are not measured.
    """

    events: int
    keys: int
    batches: int
    drawn: Keys = "uniform"
    late: bool = False
    checked: int = 1_000_000
    warm: int = 2

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.events,) * self.batches

    @property
    def measured(self) -> range:
        return range(min(self.warm, self.batches - 1), self.batches)

    def columns(self, batch: int) -> tuple[Numbers, Numbers]:
        dice = np.random.default_rng((_SEED, batch))
        start = _START + batch * _SPAN
        keys = _DRAW[self.drawn](dice, self.keys, self.events)
        times = start + np.sort(dice.integers(0, _SPAN, self.events))
        times -= dice.integers(0, _DISORDER, self.events)
        if self.late:
            late = (keys % LATE_KEYS == 0) & (dice.random(self.events) < _LATE_SHARE)
            times[late] = start - dice.integers(540_000, 780_000, int(late.sum()))
        return keys, times


@frozen
class Standing:
    """Windows that stay open: ``open`` keys with an event each, and then events for some of them.

    Each micro-batch of ``touching`` covers ten seconds and meets so many different keys. The
    ``warm`` first of them are not measured.
    """

    open: int
    touching: tuple[int, ...]
    warm: int = 2
    checked: int = 1_000_000
    filling: int = 4
    """Micro-batches in which the windows are opened."""

    @property
    def keys(self) -> int:
        return self.open

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.open // self.filling,) * self.filling + self.touching

    @property
    def measured(self) -> range:
        return range(self.filling + self.warm, self.filling + len(self.touching))

    def columns(self, batch: int) -> tuple[Numbers, Numbers]:
        dice = np.random.default_rng((_SEED, batch))
        size = self.sizes[batch]
        if batch < self.filling:
            keys = np.arange(batch * size, (batch + 1) * size)
        else:
            keys = dice.permutation(self.open)[:size]
        return keys, _START + batch * 10_000 + dice.integers(0, 10_000, size)


@frozen
class Sent:
    """Each key is sent once, and one in ten once more with the next micro-batch, at the same event
    time: no key comes twice in a micro-batch, so it makes no difference which row comes first.

    Each micro-batch covers five minutes, up to 30 s out of order, besides what is sent again.
    """

    events: int
    batches: int
    warm: int = 2
    checked: int = 1_000_000

    @property
    def keys(self) -> int:
        return self.events * self.batches

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.events,) * self.batches

    @property
    def measured(self) -> range:
        return range(self.warm, self.batches)

    def columns(self, batch: int) -> tuple[Numbers, Numbers]:
        again = self.events // 10 if batch else 0
        before, times_before = self._first_sent(batch - 1)
        keys, times = self._first_sent(batch)
        rows = np.random.default_rng((_SEED, batch, 2)).permutation(self.events)[:again]
        keys = np.concatenate([keys[again:], before[rows]])
        times = np.concatenate([times[again:], times_before[rows]])
        order = np.random.default_rng((_SEED, batch, 3)).permutation(self.events)
        return keys[order], times[order]

    def _first_sent(self, batch: int) -> tuple[Numbers, Numbers]:
        dice = np.random.default_rng((_SEED, batch + 1))
        times = _START + batch * _SPAN + np.sort(dice.integers(0, _SPAN, self.events))
        times -= dice.integers(0, _DISORDER, self.events)
        return np.arange(batch * self.events, (batch + 1) * self.events), times


def _uniform(dice: np.random.Generator, keys: int, events: int) -> Numbers:
    return dice.integers(0, keys, events)


def _zipf(dice: np.random.Generator, keys: int, events: int) -> Numbers:
    """Key number r, from 1, is drawn in proportion to ``r ** -s``, s such that key 1 is hot."""
    ranks = np.arange(1, keys + 1, dtype=np.float64)
    low, high = 0.0, 4.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 / (ranks**-middle).sum() < _HOT_SHARE else (low, middle)
    chances = np.cumsum(ranks**-low)
    drawn: Numbers = np.searchsorted(chances, dice.random(events) * chances[-1]).astype(np.int64)
    return drawn + 1


_DRAW: Final = {"uniform": _uniform, "zipf": _zipf}


@frozen
class Files:
    """Folders with the files of a shape."""

    timed: Path
    """All micro-batches."""
    checked: Path
    """The first of them, and then one row, a month later, that closes every window before it."""


class FileCache:
    """Writes the files of a shape when they are first wanted, and lends room to runs."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._written: dict[Shape, Files] = {}

    def of(self, shape: Shape) -> Files:
        """The files of a shape."""
        if shape not in self._written:
            home = self._home / f"{len(self._written):03}"
            self._written[shape] = _write(shape, home)
        return self._written[shape]

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """A folder for one run, emptied when this closes."""
        home = Path(tempfile.mkdtemp(prefix="run-", dir=self._home))
        try:
            yield home
        finally:
            shutil.rmtree(home, ignore_errors=True)


@contextmanager
def benchmark_files() -> Iterator[FileCache]:
    """Files in a temporary folder, which is removed at the end.

    Let that be after the end of the Spark session: it tidies up the state of a query a minute after
    the query has stopped, and makes the query's folder again for that.
    """
    home = Path(tempfile.mkdtemp(prefix="beamlike-benchmarks-"))
    try:
        yield FileCache(home)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _write(shape: Shape, home: Path) -> Files:
    files = Files(timed=home / "timed", checked=home / "checked")
    for folder in (files.timed, files.checked):
        folder.mkdir(parents=True)
    for batch in range(len(shape.sizes)):
        rows = _table(*shape.columns(batch), np.random.default_rng((_SEED, batch, 1)))
        for path in _write_batch(rows, files.timed, batch):
            if batch < shape.checked:
                os.link(path, files.checked / path.name)  # keeps the time of its last change
    last = len(shape.sizes)
    closing = np.array([_START + _MONTH]) // _STEP * _STEP
    _write_batch(_table(np.array([-1]), closing, np.random.default_rng(_SEED)), files.checked, last)
    return files


def _table(keys: Numbers, times: Numbers, dice: np.random.Generator) -> pa.Table:
    # Spark joins sessions exactly one gap apart and Beam does not. No two multiples of 7 ms are
    # 2 minutes or an hour apart, so both find the same sessions.
    times = times - times % _STEP
    return pa.table(
        {
            "key": pc.binary_join_element_wise("user", pc.cast(pa.array(keys), "string"), "-"),
            "ts": pa.array(times, pa.timestamp("ms", "UTC")),
            "v": pa.array(dice.integers(0, 100, len(keys)), pa.int64()),
        }
    )


def _write_batch(rows: pa.Table, folder: Path, batch: int) -> Sequence[Path]:
    """As many files for every micro-batch, so that the source can be told to take so many."""
    paths = []
    for part in range(FILES_OF_A_BATCH):
        path = folder / f"{batch:04}-{part}.parquet"
        size = -(-len(rows) // FILES_OF_A_BATCH)
        pq.write_table(rows.slice(part * size, size), path)
        changed = _START // 1000 + batch * FILES_OF_A_BATCH + part
        os.utime(path, (changed, changed))  # the file source reads the oldest first
        paths.append(path)
    return paths
