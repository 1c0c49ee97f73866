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
from beamlike.api.pipelines.io.files import Compression, matching, move, open_file, remove
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
class Shards:
    """Text files that a collection is written into.

    Args:
        prefix: How their paths begin.
        suffix: How they end.
        numbered: Whether the window, if there is one, and the number of the shard stand between.
        encode: Makes bytes of an element.
        line_end: What follows each element.
        header: The first line; None: there is none.
        footer: The last line; None: there is none.
        compression: How they are compressed.
        number: How many there are.
        folder: The hidden folder that they are written into.
    """

    prefix: str
    suffix: str
    numbered: bool
    encode: Callable[[Any], bytes]
    line_end: bytes
    header: bytes | None
    footer: bytes | None
    compression: Compression
    number: int
    folder: str = ""

    @property
    def _parent(self) -> str:
        return self.prefix[: self.prefix.rfind("/") + 1]

    @property
    def _name(self) -> str:
        return self.prefix[len(self._parent) :]

    def in_new_folder(self) -> "Shards":
        """These files, with a hidden folder that no other run has."""
        return attrs.evolve(self, folder=f"{self._parent}.temp-{self._name}-{uuid4().hex}")

    def write(self, values: Iterable[Any], shard: int) -> str:
        """Write elements into the file of a shard, and return its path in the hidden folder."""
        # The end of the name says how the file is compressed.
        path = f"{self.folder}/{shard:05}-{uuid4().hex}.{self._name}{self.suffix}"
        with open_file(path, "wb", self.compression) as file:
            if self.header is not None:
                file.write(self.header + self.line_end)
            for value in values:
                file.write(self.encode(value) + self.line_end)
            if self.footer is not None:
                file.write(self.footer + self.line_end)
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
        before = self.prefix if window is None else f"{self.prefix}-{window}"
        after = f"-pane-{pane}{self.suffix}" if pane else self.suffix
        targets, fits = [f"{self.prefix}{after}"], re.escape(f"{self.prefix}{after}")
        if self.numbered:
            after = f"-of-{len(sources):05}{after}"
            targets = [f"{before}-{shard:05}{after}" for shard in range(len(sources))]
            fits = rf"{re.escape(before)}-\d{{5,}}{re.escape(after)}"
        older = [path for path in matching(f"{self._parent}*") if re.fullmatch(fits, path)]
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
    pcoll.pipeline.on_finish.append(lambda: remove(shards.folder))
    return _write_all(pcoll, shards) if pcoll.is_bounded else _write_panes(pcoll, shards)


def _in_one_window() -> WindowInto:
    """All elements in one window, of which there is one pane."""
    return WindowInto(
        GlobalWindows(),
        trigger=DefaultTrigger(),
        accumulation_mode=AccumulationMode.DISCARDING,
    )


class _Nothing:
    """Stands in each shard, so that one of no elements is written too."""


def _write_all(pcoll: PCollection[Any], shards: Shards) -> PCollection[Any]:
    names = pcoll.pipeline.free_label("Shards")
    nothing = [(shard, _Nothing()) for shard in range(shards.number)]
    marks = pcoll.pipeline | names >> Create(nothing)
    numbered = pcoll | "Number" >> ParDo(_NumberInTurn(shards.number))
    return (
        (numbered | "Elements" >> _in_one_window(), marks | "Marks" >> _in_one_window())
        | "WithMarks" >> Flatten()
        | "Group" >> GroupByKey()
        | "WriteShards" >> Map(_write_shard, shards)
        | "GroupShards" >> GroupByKey()
        | "NameShards" >> FlatMap(lambda paths: shards.publish(paths[1]))
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
        | "WriteWindow" >> FlatMap(_write_pane, shards)
    )


def _write_pane(
    element: Any,
    shards: Shards,
    window: Any = DoFn.WindowParam,
    pane: Any = DoFn.PaneInfoParam,
) -> list[str]:
    """Write a pane, and name its files."""
    values, count = list(element[1]), shards.number
    paths = [shards.write(values[shard::count], shard) for shard in range(count)]
    return shards.publish(paths, window, pane.index)
