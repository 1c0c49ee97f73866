"""How a collection is written into files: all of them, or none.

Each shard is written into a hidden folder beside its place, and gets its name when all of them are
there.

Source: Beam Python ``io.iobase.Write`` and ``io.filebasedsink``.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final
from uuid import uuid4

import attrs

from beamlike.api.pipelines.elements import Create, FlatMap, Map
from beamlike.api.pipelines.groups import GroupByKey
from beamlike.api.pipelines.io.files import (
    Compression,
    folder_of,
    matching,
    move,
    open_file,
    remove,
)
from beamlike.api.pipelines.io.shard_names import ShardNames
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.python.functions import DoFn
from beamlike.api.pipelines.python.window_fns import FixedWindows, GlobalWindows
from beamlike.api.pipelines.python.windowing import WindowInto
from beamlike.api.pipelines.python.windows import BoundedWindow
from beamlike.api.pipelines.windowing import Flatten
from beamlike.errors import PipelineError
from beamlike.model import windowfns
from beamlike.model.options import AccumulationMode
from beamlike.model.triggers import AfterWatermark, DefaultTrigger

_LOG: Final = logging.getLogger(__name__)


@attrs.frozen
class Shards:
    """Text files that a collection is written into.

    Args:
        names: Their paths.
        encode: Makes bytes of an element.
        line_end: What follows each element.
        header: The first line; None: there is none.
        footer: The last line; None: there is none.
        compression: How they are compressed.
        number: How many there are; 0: one, or more where a greatest size says so.
        max_records: After how many elements another file begins; None: never.
        max_bytes: After how many bytes, before compression; None: never.
        skip_if_empty: Whether there is no file if there is no element.
        folder: The hidden folder that they are written into.
    """

    names: ShardNames
    encode: Callable[[Any], bytes]
    line_end: bytes
    header: bytes | None
    footer: bytes | None
    compression: Compression
    number: int
    max_records: int | None
    max_bytes: int | None
    skip_if_empty: bool
    folder: str = ""

    def in_new_folder(self) -> "Shards":
        """These files, with a hidden folder that no other run has."""
        parent = folder_of(self.names.prefix)
        name = self.names.prefix[len(parent) :]
        return attrs.evolve(self, folder=f"{parent}.temp-{name}-{uuid4().hex}")

    def write(self, values: Iterable[Any], shard: int, least: int = 0) -> list[str]:
        """Write elements into a shard, and into more files where one is full.

        Args:
            values: The elements.
            shard: The number of the shard.
            least: How many files there are at least; the rest are empty.

        Returns:
            The paths in the hidden folder.
        """
        parts: list[list[bytes]] = []
        size = 0
        for value in values:
            line = self.encode(value) + self.line_end
            if not parts or self._is_full(len(parts[-1]), size):
                parts.append([])
                size = 0
            parts[-1].append(line)
            size += len(line)
        parts += [[] for _ in range(len(parts), least)]
        return [self._write_file(lines, shard, index) for index, lines in enumerate(parts)]

    def _is_full(self, lines: int, size: int) -> bool:
        if self.number:
            return False
        by_lines = self.max_records is not None and lines >= self.max_records
        return by_lines or (self.max_bytes is not None and size >= self.max_bytes)

    def _write_file(self, lines: Iterable[bytes], shard: int, index: int) -> str:
        # The end of the name says how the file is compressed.
        ending = self.names.prefix[len(folder_of(self.names.prefix)) :] + self.names.suffix
        path = f"{self.folder}/{shard:05}-{index:05}-{uuid4().hex}.{ending}"
        header = () if self.header is None else (self.header + self.line_end,)
        footer = () if self.footer is None else (self.footer + self.line_end,)
        with open_file(path, "wb", self.compression) as file:
            for line in (*header, *lines, *footer):
                file.write(line)
        return path

    def publish(
        self, written: Iterable[str], window: BoundedWindow | None = None, pane: int = 0
    ) -> list[str]:
        """Give files their names. Files of names that the same shards could have go.

        Args:
            written: The paths in the hidden folder.
            window: The window of a stream; None: the collection ends.
            pane: The index of its pane. What follows the first has it in its name, so that
                nothing is lost.
        """
        sources = sorted(written)
        after = f"-pane-{pane}{self.names.suffix}" if pane else self.names.suffix
        names = attrs.evolve(self.names, suffix=after)
        fits = names.pattern(len(sources), window)
        targets = [names.path(shard, len(sources), window) for shard in range(len(sources))]
        parent = folder_of(names.prefix)
        older = [path for path in matching(f"{parent}*") if fits.fullmatch(path)]
        older = [path for path in older if path not in targets]
        if older:
            _LOG.warning("Deleting %d existing files in target path", len(older))
        for path in older:
            remove(path)
        for source, target in zip(sources, targets, strict=True):
            move(source, target)
        return targets


def write_files(pcoll: PCollection[Any], shards: Shards, frequency: float | None) -> Any:
    """Write a collection; the paths of the files come out.

    Args:
        pcoll: The collection. If it ends, everything is written and then gets its names; else each
            pane does.
        shards: The files.
        frequency: The size of the windows that a stream is written by, seconds; None: its own.

    Raises:
        PipelineError: A stream has no windows.
    """
    pcoll.pipeline.writes_itself = True
    shards = shards.in_new_folder()
    folder = shards.folder
    pcoll.pipeline.on_finish.append(lambda: remove(folder))
    if pcoll.is_bounded:
        return _write_all(pcoll, shards)
    return _write_panes(pcoll, shards, frequency)


class _ByFrequency(WindowInto):
    """How often a stream is written. When the elements were is not asked."""

    _minds_times = False


class _InOneWindow(WindowInto):
    """All elements in one window, of which there is one pane."""

    def __init__(self) -> None:
        super().__init__(
            GlobalWindows(),
            trigger=DefaultTrigger(),
            accumulation_mode=AccumulationMode.DISCARDING,
        )


class _Nothing:
    """Stands in each shard, so that one of no elements is written too."""


@attrs.frozen
class _Written:
    """The files of a shard."""

    shard: int
    paths: list[str]
    is_empty: bool


def _write_all(pcoll: PCollection[Any], shards: Shards) -> PCollection[Any]:
    count = max(1, shards.number)
    names = pcoll.pipeline.free_label("Shards")
    marks = pcoll.pipeline | names >> Create([(shard, _Nothing()) for shard in range(count)])
    numbered = pcoll | "Number" >> ParDo(_NumberInTurn(count))
    return (
        (numbered | "Elements" >> _InOneWindow(), marks | "Marks" >> _InOneWindow())
        | "WithMarks" >> Flatten()
        | "Group" >> GroupByKey()
        | "WriteShards" >> Map(_write_shard, shards)
        | "GroupShards" >> GroupByKey()
        | "NameShards" >> FlatMap(_publish_all, shards)
    )


class _NumberInTurn(DoFn[Any, Any]):
    """Elements with the numbers of shards, in turn."""

    def __init__(self, shards: int) -> None:
        self._shards, self._next = shards, 0

    def process(self, element: Any) -> Iterator[Any]:
        yield self._next, element
        self._next = (self._next + 1) % self._shards


def _write_shard(numbered: tuple[int, Iterable[Any]], shards: Shards) -> tuple[None, _Written]:
    shard, elements = numbered
    values = [value for value in elements if not isinstance(value, _Nothing)]
    return None, _Written(shard, shards.write(values, shard), not values)


def _publish_all(grouped: tuple[None, Iterable[_Written]], shards: Shards) -> list[str]:
    """Name what was written, with empty shards where there are too few."""
    written = sorted(grouped[1], key=lambda one: one.shard)
    paths = [path for one in written for path in one.paths]
    if all(one.is_empty for one in written) and shards.skip_if_empty:
        return []
    for shard in range(len(paths), len(written)):
        paths += shards.write((), shard, least=1)
    return shards.publish(paths)


def _write_panes(
    pcoll: PCollection[Any], shards: Shards, frequency: float | None
) -> PCollection[Any]:
    if frequency:
        pcoll = pcoll | "ApplyFixedWindows" >> _ByFrequency(
            FixedWindows(frequency),
            trigger=AfterWatermark(),
            accumulation_mode=AccumulationMode.DISCARDING,
            allowed_lateness=0,
        )
    elif isinstance(pcoll.windowing.window_fn, windowfns.GlobalWindows):
        raise PipelineError(
            "To write a GlobalWindow unbounded PCollection, triggering_frequency must be set and "
            "be greater than 0; write triggering_frequency=60, or put it into windows with "
            "WindowInto(...) before"
        )
    return (
        pcoll
        | "Pair" >> Map(lambda value: (None, value))
        | "GroupByWindow" >> GroupByKey()
        | "WriteWindow" >> ParDo(_WritePane(shards))
    )


class _WritePane(DoFn[Any, Any]):
    """Writes each pane, and names its files."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    def process(
        self, element: Any, window: Any = DoFn.WindowParam, pane: Any = DoFn.PaneInfoParam
    ) -> list[str]:
        values, count = list(element[1]), max(1, self._shards.number)
        paths: list[str] = []
        for shard in range(count):
            paths += self._shards.write(values[shard::count], shard, least=1)
        return self._shards.publish(paths, window, pane.index)
