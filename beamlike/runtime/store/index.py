"""The index of a shard: its clocks, its deadlines, and where its rows are. Read without the
rows."""

import json
from collections.abc import Mapping
from typing import Any, Final

import attrs
import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import NEVER
from beamlike.machine.input_clocks import SourceClock, next_output_watermark
from beamlike.model.resolution import Resolution
from beamlike.runtime.changes import continues, resolution_in
from beamlike.runtime.clock import Clock, ShardStatus
from beamlike.runtime.failing import Failing
from beamlike.runtime.plan import Plan
from beamlike.runtime.store.blobs import damaged, digest_of, pack_blob, unpack_blob
from beamlike.runtime.store.pages import PageContents
from beamlike.runtime.store.stores import Store

READ_ERRORS: Final = (
    *(AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError),
    pa.ArrowException,
)
"""What reading a damaged index or row may raise; each is raised as a `StateError`."""


class CountsOtherwise(Exception):
    """The state of a shard counts coarser ticks than the plan: those of ``resolution``."""

    def __init__(self, resolution: Resolution) -> None:
        super().__init__(resolution.word)
        self.resolution = resolution


@attrs.define
class Index:
    """Where the shard's clocks and rows are, and each bucket's earliest deadlines.

    Times are in ticks of the plan. The names of what is saved are those of the first layout, see
    `_FIELDS`.

    =====================  ====================================  ===============================
    field                  stored                                cleared
    =====================  ====================================  ===============================
    ``clocks``             its clocks after its last step        never, see `Clock`
    ``output``             the output watermark: the largest so  never, only forward
                           far of min(watermark, all holds)
    ``contents``           where the rows are, see `PageContents`  see there
    ``deadline``           per bucket, the event time that the   when no key of the bucket waits
                           watermark has to pass                 for the watermark
    ``clock_deadline``     per bucket, the same of the clock     when no key waits for the clock
    ``hold``               per bucket, its earliest hold of      when nothing holds any more
                           the output watermark
    ``side``               per bucket, the event time that the   when no key waits for the side
                           side input's watermark has to pass    input
    ``key_clock_digests``  per bucket, the digest of the clocks  never
                           of its keys; only where each has a
                           watermark of its own
    ``key_clock``          how these followed their elements     never
                           until now; None: in no step yet
    ``failing``            calls of the user's functions since   when they have been judged
                           one failed, see `Failing`
    ``is_new``             not at all: whether nothing was       with the step
                           saved before the step
    =====================  ====================================  ===============================
    """

    clocks: Clock
    output: int
    contents: PageContents
    deadline: Any
    clock_deadline: Any
    hold: Any
    side: Any
    key_clock_digests: Any = attrs.field(kw_only=True)
    key_clock: SourceClock | None = attrs.field(default=None, kw_only=True)
    failing: Failing = attrs.field(default=Failing(), kw_only=True)
    is_new: bool = attrs.field(default=False, kw_only=True)

    @classmethod
    def load(cls, plan: Plan, store: Store) -> "Index":
        """The saved index, or an index without rows if nothing was saved.

        Call it for each attempt at a step: an attempt changes the index that it gets.

        Raises:
            StateError: It is damaged, or was written by another plan.
            CountsOtherwise: Its times are in coarser ticks.
        """
        blob = store.read_index()
        if blob is None:
            none: dict[str, Any] = {
                name: np.full(plan.buckets, NEVER, np.int64) for name in _FIELDS.values()
            }
            first = Clock(plan.resolution.earliest)
            return cls(first, plan.resolution.earliest, PageContents(), **none, is_new=True)
        try:
            return cls._loaded(plan, blob)
        except READ_ERRORS as error:
            raise damaged(blob, f"{type(error).__name__}: {error}") from error

    @classmethod
    def _loaded(cls, plan: Plan, blob: bytes) -> "Index":
        columns, header = open_index(blob)
        changed = header["plan"] != plan.identity
        if changed:
            counted = resolution_in(header["plan"])
            if counted.per_ms < plan.resolution.per_ms:
                raise CountsOtherwise(counted)
            changed = continues(header["plan"], plan.identity)
        contents = PageContents.from_json(header["contents"])
        count = len(columns["event"])
        # Older layouts lack it: every bucket is loaded once.
        columns.setdefault("side", np.full(count, plan.resolution.earliest, np.int64))
        columns.setdefault(_OWN, np.full(count, NEVER, np.int64))
        fields = {_FIELDS[saved]: column for saved, column in columns.items()}
        index = cls(Clock.from_json(header), header["output"], contents, **fields)
        if _FAILING in header:
            index.failing = Failing.from_json(header[_FAILING])
        if _KEY_CLOCK in header:
            index.key_clock = SourceClock.from_json(header[_KEY_CLOCK], plan.resolution)
            changed = changed or index.key_clock != plan.key_clock
        if changed:
            # Deadlines are those of the words before. Now every bucket is due, and sets its own.
            for column in (index.deadline, index.clock_deadline, index.side):
                column[:] = plan.resolution.earliest
        return index

    def end_step(
        self, plan: Plan, store: Store, to: Clock, merges: int = 0, *, changed: bool
    ) -> ShardStatus:
        """End a step, and write this, if anything is new. The status of the shard then.

        Args:
            plan: What the shard does.
            store: Its state.
            to: Where its clocks are now.
            merges: Windows that became part of another.
            changed: Whether something besides the clocks has changed.
        """
        before, output_before = self.clocks, self.output
        known: tuple[int | None, ...] = ()
        silent = frozenset[tuple[int, str]]()
        if changed or to != before:
            known = tuple(state.greatest for state in before.inputs)
            if plan.clocks is not None:
                silent = plan.clocks.silent(to.inputs, to.clock)
                silent -= plan.clocks.silent(before.inputs, before.clock)
            self.clocks = to
            self.output = next_output_watermark(self.output, to.watermark, int(self.hold.min()))
            store.write_index(self.dump(plan))
        return ShardStatus(
            self.contents.living,
            to.watermark,
            merges,
            _least(self.deadline),
            _least(self.clock_deadline),
            to.clock,
            known,
            tuple(state.greatest for state in to.inputs),
            tuple(sorted(part for _, part in silent)),
            to.side_at,
            self.output,
            output_before,
        )

    def forget_deadlines(self) -> None:
        """Clear all deadlines and holds, before those of all keys are noted anew."""
        for column in (self.deadline, self.clock_deadline, self.hold, self.side):
            column[:] = NEVER

    def due(self, to: Clock) -> set[int]:
        """The buckets where something is due at these clocks."""
        due = (
            (self.deadline < to.watermark)
            | (self.clock_deadline < to.clock)
            | (self.side < to.side_at)
        )
        return set(np.nonzero(due)[0].tolist())

    def dump(self, plan: Plan) -> bytes:
        """The index as bytes that `load` reads."""
        columns = {saved: getattr(self, name) for saved, name in _FIELDS.items()}
        header: dict[str, Any] = {
            "plan": plan.identity,
            "about": plan.about,
            "output": self.output,
            "contents": self.contents.to_json(),
            **self.clocks.to_json(),
        }
        if plan.key_clock is None:
            del columns[_OWN]
        else:
            header[_KEY_CLOCK] = plan.key_clock.to_json()
        if self.failing != Failing():
            header[_FAILING] = self.failing.to_json()
        return pack_blob(pa.table(columns), header | {_SEAL: _seal(columns, header)})


def open_index(blob: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The columns of a shard's index, with a number for each bucket, and its header.

    Raises:
        StateError: It is not an index, or not what was written. Indexes of earlier versions have no
            digest to check.
        ValueError: A column does not hold whole numbers.
    """
    table, header = unpack_blob(blob)
    columns = dict[str, Any]()
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.type != pa.int64() or column.null_count:
            raise ValueError(f"{name} is {column.type} with {column.null_count} nulls")
        columns[name] = column.to_numpy().copy()
    seal = header.pop(_SEAL, None)
    if seal is not None and seal != _seal(columns, header):
        raise damaged(blob, "it is not what was written")
    return columns, header


def resolution_of_index(blob: bytes) -> Resolution:
    """The unit of the times in a shard's state.

    Raises:
        StateError: It is damaged.
    """
    _, header = open_index(blob)
    return resolution_in(header["plan"])


def _seal(columns: Mapping[str, Any], header: Mapping[str, Any]) -> str:
    """A digest of everything in an index: because of one wrong number windows might never end."""
    return digest_of(json.dumps(header).encode(), *(array.tobytes() for array in columns.values()))


def _least(deadlines: Any) -> int | None:
    least = int(deadlines.min())
    return None if least == NEVER else least


_SEAL = "digest"
_OWN = "own"
_FIELDS = {
    "event": "deadline",
    "timer": "clock_deadline",
    "hold": "hold",
    "side": "side",
    _OWN: "key_clock_digests",
}
"""The fields with a value for each bucket, by the names of their columns where they are saved."""

_KEY_CLOCK = "key_clock"
_FAILING = "failing"
