"""The elements that the panes of a grouping become, and the keys that they go by."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

import attrs

from beamlike.machine.columnar.columns import Panes
from beamlike.machine.columnar.effects import infos_of, panes_of
from beamlike.machine.events import Pane
from beamlike.model.bundle import Bundle, Spans
from beamlike.model.coders import Coders
from beamlike.runtime.column_shard import Pass
from beamlike.runtime.graph.keys import key_of


@attrs.frozen
class SeenKeys:
    """Keys that have come to a grouping in this process: each as it came, and as which one."""

    keys: dict[bytes, Hashable] = attrs.field(factory=dict)
    ranks: dict[bytes, int] = attrs.field(factory=dict)

    def add(self, blobs: Iterable[bytes], keys: Iterable[Hashable], coders: Coders) -> None:
        """Keys that come, and their bytes. What has a coder is what the coder brings back."""
        for blob, key in zip(blobs, keys, strict=True):
            if blob not in self.ranks:
                self.ranks[blob] = len(self.ranks)
                self.keys[blob] = key_of(blob, coders) if coders else key


class NumberedKeys(dict[int, Hashable]):
    """The keys by their numbers; each is made when it is first needed."""

    def __init__(self, blobs: Sequence[bytes], key_of: Callable[[bytes], Hashable]) -> None:
        super().__init__()
        self._blobs, self._key_of = blobs, key_of

    def __missing__(self, number: int) -> Hashable:
        key = self._key_of(self._blobs[number])
        self[number] = key
        return key


def bundle_of(panes: Panes, keys: NumberedKeys) -> Bundle:
    """The elements that the panes of a grouping become, see `GroupingWorker.shown`."""
    names = [keys[number] for number in panes.key.tolist()]
    return Bundle(
        [*zip(names, panes.values[0].to_pylist(), strict=True)],
        panes.timestamp.tolist(),
        Spans(panes.start.tolist(), panes.end.tolist()),
        [*infos_of(panes)],
    )


def each_pane(passes: Iterable[tuple[Pass, Sequence[bytes]]]) -> Iterator[tuple[int, bytes, Pane]]:
    """Each pane with its phase and its key in bytes."""
    for one, blobs in passes:
        for phase, panes in zip(one.phases, one.panes, strict=True):
            found = panes_of(panes, panes.values[0].to_pylist())
            yield from ((phase, blobs[key], pane) for key, pane in found)
