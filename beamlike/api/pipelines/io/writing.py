"""How a collection is written into files: all of them, or none.

Each shard is written into a hidden folder beside its place, and gets its name when all of them are
there.

Source: Beam Python ``io.iobase.Write`` and ``io.filebasedsink``.
"""

import logging
import re
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
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.python.functions import DoFn
from beamlike.api.pipelines.python.window_fns import GlobalWindows
from beamlike.api.pipelines.python.windowing import WindowInto
from beamlike.api.pipelines.python.windows import BoundedWindow
from beamlike.api.pipelines.windowing import Flatten
from beamlike.errors import PipelineError
from beamlike.model import windowfns
from beamlike.model.options import AccumulationMode
from beamlike.model.triggers import DefaultTrigger

_LOG: Final = logging.getLogger(__name__)


@attrs.frozen
class ShardNames:
    """Paths of the files of a collection.

    >>> ShardNames("out", ".txt").path(1, 12)
    'out-00001-of-00012.txt'

    Args:
        prefix: How the paths begin.
        suffix: How they end.
        numbered: Whether the window, if there is one, and the number of the shard stand between.
    """

    prefix: str
    suffix: str = ""
    numbered: bool = True

    def path(self, shard: int, shards: int, window: BoundedWindow | None = None) -> str:
        """The path of a shard, of so many; of a window, if the collection has some."""
        return self._filled(self.prefix, f"{shard:05}", shards, window, self.suffix)

    def pattern(self, shards: int, window: BoundedWindow | None = None) -> re.Pattern[str]:
        """What the paths of all shards match, whatever their numbers are."""
        before, after = re.escape(self.prefix), re.escape(self.suffix)
        escaped = None if window is None else re.escape(f"{window}")
        return re.compile(self._filled(before, r"\d{5,}", shards, escaped, after))

    def _filled(self, before: str, number: str, shards: int, window: Any, after: str) -> str:
        if not self.numbered:
            return before + after
        of_window = "" if window is None else f"-{window}"
        return f"{before}{of_window}-{number}-of-{shards:05}{after}"


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
        number: How many there are.
        folder: The hidden folder that they are written into.
    """

    names: ShardNames
    encode: Callable[[Any], bytes]
    line_end: bytes
    header: bytes | None
    footer: bytes | None
    compression: Compression
    number: int
    folder: str = ""

    def in_new_folder(self) -> "Shards":
        """These files, with a hidden folder that no other run has."""
        parent = folder_of(self.names.prefix)
        name = self.names.prefix[len(parent) :]
        return attrs.evolve(self, folder=f"{parent}.temp-{name}-{uuid4().hex}")

    def write(self, values: Iterable[Any], shard: int) -> str:
        """Write elements into the file of a shard, and return its path in the hidden folder."""
        # The end of the name says how the file is compressed.
        ending = self.names.prefix[len(folder_of(self.names.prefix)) :] + self.names.suffix
        path = f"{self.folder}/{shard:05}-{uuid4().hex}.{ending}"
        header = () if self.header is None else (self.header + self.line_end,)
        footer = () if self.footer is None else (self.footer + self.line_end,)
        with open_file(path, "wb", self.compression) as file:
            for line in header:
                file.write(line)
            for value in values:
                file.write(self.encode(value) + self.line_end)
            for line in footer:
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


def write_files(pcoll: PCollection[Any], shards: Shards) -> Any:
    """Write a collection; the paths of the files come out.

    Args:
        pcoll: The collection. If it ends, everything is written and then gets its names; else each
            pane does.
        shards: The files.

    Raises:
        PipelineError: A stream has no windows.
    """
    pcoll.pipeline.writes_itself = True
    shards = shards.in_new_folder()
    folder = shards.folder
    pcoll.pipeline.on_finish.append(lambda: remove(folder))
    if pcoll.is_bounded:
        return _write_all(pcoll, shards)
    return _write_panes(pcoll, shards)


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


def _write_all(pcoll: PCollection[Any], shards: Shards) -> PCollection[Any]:
    count = shards.number
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


def _write_shard(numbered: tuple[int, Iterable[Any]], shards: Shards) -> tuple[None, str]:
    shard, elements = numbered
    values = [value for value in elements if not isinstance(value, _Nothing)]
    return None, shards.write(values, shard)


def _publish_all(grouped: tuple[None, Iterable[str]], shards: Shards) -> list[str]:
    """Name what was written."""
    return shards.publish(grouped[1])


def _write_panes(pcoll: PCollection[Any], shards: Shards) -> PCollection[Any]:
    if isinstance(pcoll.windowing.window_fn, windowfns.GlobalWindows):
        raise PipelineError(
            "To write a GlobalWindow unbounded PCollection, put it into windows with "
            "WindowInto(...) before: each pane becomes files of its own"
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
        values, count = list(element[1]), self._shards.number
        paths = [self._shards.write(values[shard::count], shard) for shard in range(count)]
        return self._shards.publish(paths, window, pane.index)
