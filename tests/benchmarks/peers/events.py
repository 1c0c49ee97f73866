"""The rows that all engines read, and the sessions that have to come out."""

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.parquet as pq
from attrs import frozen

from tests.benchmarks.data import FileCache, Numbers

GAP_MS: Final = 600_000
DELAY_MS: Final = 180_000
"""Rows come that much out of order, and watermarks wait that long."""

_OF_A_KEY_MS: Final = 300_000
"""Event time between two rows of a key, on average: some seven rows are a session."""
_START: Final = 1_700_000_000_000
_SEED: Final = 47
_COLUMNS: Final = ("key", "start", "end", "n", "s")


@frozen
class Disordered:
    """Rows of keys drawn at random, out of order by three minutes."""

    events: int
    batch: int
    keys: int

    @property
    def sizes(self) -> tuple[int, ...]:
        whole, rest = divmod(self.events, self.batch)
        return (self.batch,) * whole + ((rest,) if rest else ())

    @property
    def measured(self) -> range:
        return range(len(self.sizes))

    @property
    def checked(self) -> int:
        return len(self.sizes)

    def columns(self, batch: int) -> tuple[Numbers, Numbers]:
        dice = np.random.default_rng((_SEED, batch))
        size = self.sizes[batch]
        first = _START + batch * self.batch * _OF_A_KEY_MS // self.keys
        times = first + np.sort(dice.integers(0, size * _OF_A_KEY_MS // self.keys + 1, size))
        times -= dice.integers(0, DELAY_MS - 10, size)  # files round down to multiples of 7 ms
        return dice.integers(0, self.keys, size), times


@frozen
class Sources:
    """The same rows in three forms."""

    parquet: Path
    """A folder with two files for each micro-batch, and at last a row that closes all sessions."""
    lines: Path
    """A file with a line for each row: key, milliseconds, value."""
    headed: Path
    """The same with a line of names at first."""
    rows: pa.Table
    """The columns ``key``, ``ts`` and ``v``."""

    @classmethod
    def written(cls, files: FileCache, shape: Disordered, home: Path) -> "Sources":
        """Write the rows of a shape."""
        folders = files.of(shape)
        parts = [pq.read_table(path) for path in sorted(folders.timed.glob("*.parquet"))]
        rows = pa.concat_tables(parts)
        rows = rows.set_column(1, "ts", pc.cast(rows["ts"], pa.int64()))
        for name in ("lines", "headed"):
            options = pv.WriteOptions(include_header=name == "headed", quoting_style="none")
            pv.write_csv(rows, home / f"{name}.csv", options)
        return cls(folders.checked, home / "lines.csv", home / "headed.csv", rows)


def exact_sessions(rows: pa.Table) -> pa.Table:
    """The sessions of rows by a sort: ``key``, ``start`` and ``end`` (ms), number and sum."""
    rows = rows.sort_by([("key", "ascending"), ("ts", "ascending")]).combine_chunks()
    keys = pc.rank(rows["key"], tiebreaker="dense").to_numpy()
    times, values = rows["ts"].to_numpy(), rows["v"].to_numpy()
    begins = np.ones(len(rows), bool)
    begins[1:] = (np.diff(keys) != 0) | (np.diff(times) >= GAP_MS)
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(rows)) - 1
    sums = np.add.reduceat(values, first)
    columns = (rows["key"].take(first), times[first], times[last] + GAP_MS, last - first + 1, sums)
    return pa.table(dict(zip(_COLUMNS, columns, strict=True)))


def read_sessions(folder: Path) -> pa.Table:
    """The sessions that an engine wrote: Parquet, or lines of text with or without names."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    files = [path for path in files if not _is_hidden(path.relative_to(folder))]
    tables = [pq.read_table(path) for path in files if path.suffix == ".parquet"]
    lines = [
        line.replace('"', "").split(",")[: len(_COLUMNS)]
        for path in files
        if path.suffix != ".parquet"
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    cells = [line for line in lines if line[0] != _COLUMNS[0]]
    keys, *numbers = zip(*cells, strict=True) if cells else ((),) * len(_COLUMNS)
    columns = [pa.array(keys, pa.string()), *map(_numbers, numbers)]
    text = pa.table(dict(zip(_COLUMNS, columns, strict=True)))
    return pa.concat_tables([text, *(table.cast(text.schema) for table in tables)])


def _is_hidden(path: Path) -> bool:
    return any(part[0] in "._" for part in path.parts)


def _numbers(texts: tuple[str, ...]) -> pa.Array:
    """Numbers, or milliseconds of times in UTC."""
    are_times = bool(texts) and "-" in texts[0]
    dtype = "datetime64[ms]" if are_times else "int64"
    return pa.array(np.array(texts, dtype).astype("int64"))
