"""The first element of each key and window: elements of many keys at once.

It does what `beamlike.machine.userstate` does with a function that keeps the first element, see
`beamlike.model.stateful.KeepsFirst`: an element goes on if its key is not known in its window, and
then its key is known until an instant of one of the clocks. Elements of a bundle are compared with
keys known before the bundle, and with elements before them; only then are old keys forgotten.
"""

from typing import TYPE_CHECKING

import attrs
import numpy as np
import pyarrow as pa

from beamlike.errors import UnsupportedError
from beamlike.machine.columnar.arrays import NEVER, Bools, Ints, WindowRows, keep, later
from beamlike.machine.columnar.assign import Arrivals, Incoming, check_assignable
from beamlike.machine.columnar.columns import Drops, FirstRows
from beamlike.machine.columnar.late import missed_by
from beamlike.machine.columnar.rules import LONGEST

if TYPE_CHECKING:
    from beamlike.machine.userstate.machine import StatefulParDo


@attrs.frozen(eq=False)
class KnownKeys(WindowRows):
    """Keys that are known in a window, in rows. A key is forgotten when its clock is past
    ``until`` (ticks)."""

    until: Ints


class FirstOfKeys:
    """Lets the first element of each key and window go on.

    Args:
        machine: The machine that does the same key by key.

    Raises:
        UnsupportedError: Only that machine can do it.
    """

    def __init__(self, machine: "StatefulParDo") -> None:
        assert machine.fn.keeps_first is not None, "only first elements are kept"
        if not machine.already_merged:  # else each element comes in its window
            check_assignable(machine.window_fn)
        self.keeps = machine.fn.keeps_first
        self.window_fn, self.by_event_time = machine.window_fn, self.keeps.timer.is_event_time
        self._within, self._lateness = self.keeps.within, machine.allowed_lateness
        self._last = machine.resolution.end_of_global_window
        for span, argument in ((self._within, "within"), (self._lateness, "allowed_lateness")):
            if span >= LONGEST:
                raise UnsupportedError(f"{argument} is more than 64 bits can add up")

    def deadlines(self, end: Ints, until: Ints) -> tuple[Ints, Ints]:
        """The event times and processing times that have to be passed to forget keys (ticks)."""
        event = self._expiry(end) + 1  # a window is forgotten a tick after it
        if self.by_event_time:
            return np.minimum(event, until), np.full(len(end), NEVER, np.int64)
        return event, until

    def take(
        self, known: KnownKeys, arrivals: Arrivals, watermark: int, clock: int
    ) -> tuple[FirstRows, KnownKeys, list[Drops]]:
        """The elements that go on, in their order, the keys that are known by them, and the drops,
        which the watermark judges."""
        incoming = arrivals.incoming(self.window_fn)
        missed, drops = missed_by(watermark, self._expiry(incoming.end)), list[Drops]()
        late = missed > 0
        if late.any():
            gone = keep(incoming, late)
            drops = [Drops.near_nothing(gone.row, gone.start, gone.end, missed[late])]
            incoming = keep(incoming, ~late)
        first = self._first(known, incoming)
        row, key, start, end = (
            column[first] for column in (incoming.row, incoming.key, incoming.start, incoming.end)
        )
        if self.by_event_time:
            until = np.minimum(
                later(incoming.timestamps[first], self._within, self._last), self._expiry(end)
            )
        else:
            until = np.full(len(first), clock + self._within, np.int64)
        return FirstRows(key, start, end, row), KnownKeys(key, start, end, until), drops

    def _first(self, known: KnownKeys, incoming: Incoming) -> Ints:
        """The places of the elements that are the first of their key and window."""
        key, start, end = (
            np.concatenate([getattr(known, name), getattr(incoming, name)])
            for name in ("key", "start", "end")
        )
        number = key
        for bound in (start, end):
            if len(bound) and (bound != bound[0]).any():
                places, count = _numbered(bound)
                number, _ = _numbered(number * count + places)
        place = np.arange(len(number), dtype=np.int64)
        first = np.full(int(number.max(initial=-1)) + 1, -1, np.int64)
        first[number[::-1]] = place[::-1]  # the first of each is written last
        is_first: Bools = first[number] == place
        new: Ints = np.nonzero(is_first[len(known.key) :])[0]
        return new

    def _expiry(self, end: Ints) -> Ints:
        """The last watermark at which elements are taken in windows that end there."""
        return later(end - 1, self._lateness, self._last)


def _numbered(values: Ints) -> tuple[Ints, int]:
    """The number of each value among the different ones, in order of appearance, and how many
    these are."""
    encoded = pa.array(values).dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary)
