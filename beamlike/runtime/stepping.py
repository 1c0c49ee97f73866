"""Which machine steps the shards of a plan, why, and the step with its output rows."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Final, TypeVar

import attrs
import pyarrow as pa

from beamlike.errors import (
    BeamlikeError,
    CombineError,
    OutgrownError,
    UnsupportedError,
    WindowError,
)
from beamlike.machine.columnar.folds.base import FunctionRaised
from beamlike.machine.userstate.machine import StatefulParDo
from beamlike.model.graph import ReadNode, StatefulNode, ways_back
from beamlike.runtime.clock import ShardInput, ShardStatus
from beamlike.runtime.column_shard import ColumnShard, ShardInPasses
from beamlike.runtime.first_shard import FirstShard
from beamlike.runtime.logs import log_key_by_key, log_merges, logs_all
from beamlike.runtime.options import MachineName
from beamlike.runtime.output import OutputTable, keyed_merges
from beamlike.runtime.plan import Plan
from beamlike.runtime.shard import KeyedMerge, Shard
from beamlike.runtime.store.blobs import explaining_overflow, in_blobs, is_arrow_overflow
from beamlike.runtime.store.column_state import can_number
from beamlike.runtime.store.index import Index
from beamlike.runtime.store.pages import Pages
from beamlike.runtime.store.recording import StateRecorder
from beamlike.runtime.store.state import StateLayout, with_bucket
from beamlike.runtime.store.stores import Store, Transaction

RETRY_KEY_BY_KEY: Final = (WindowError, OutgrownError, CombineError, FunctionRaised)
"""What an element of a step may cause; only the reference machine can find which element: a time
beyond the calendar, an aggregate that outgrows its type or the one that its user declared, a
function of the user's that raises."""

_Out = tuple[list[pa.Table], ShardStatus]
Result = TypeVar("Result")


class Stepper:
    """Steps the shards of one plan, by the columnar machine if that can do it.

    A step that does not fit in two gigabytes of a column is done once more, in several passes over
    the keys. One in which an element does not fit is done key by key, with a check of each element,
    and the log of the worker says so. Of the first attempt nothing stays: both machines read the
    same state.

    Args:
        plan: The plan.
        column_shard: The columnar machine over it; None: it cannot do it.
    """

    def __init__(self, plan: Plan, column_shard: ShardInPasses | None) -> None:
        self.plan = plan
        self.column_shard, self._output = column_shard, OutputTable(plan)
        self._logged = set[Hashable]()
        self._recorder = StateRecorder(plan, plan.record) if plan.record else None
        self._passes = 1
        """How many the last step by the columnar machine took."""

    def share_logged(self, logged: set[Hashable]) -> None:
        """Have failures logged once by all steppers that share a set; before the first step."""
        self._logged = logged

    @cached_property
    def _key_by_key(self) -> Shard:
        return Shard(self.plan, self._logged)

    @cached_property
    def _checking(self) -> Shard:
        return Shard(self.plan, self._logged, checks=True)

    def step(self, store: Store, batch: ShardInput, shard: int | None = None) -> _Out:
        """Take one shard through one micro-batch.

        Returns what comes out as rows, in tables that fit in a blob each, and the status of the
        shard then.

        Args:
            store: The shard's state; read, and written where something changed.
            batch: What reaches it.
            shard: Its position among all. The report to the stage after this one carries it, if
                there is one.

        Raises:
            UnsupportedError: The shard cannot hold what it is given, or what comes out of it.
            StateError: Its state is damaged, or was written by another plan.
        """

        def by_columns(
            column_shard: ShardInPasses, transaction: Store, index: Index, passes: int
        ) -> _Out:
            stepped = column_shard.step(transaction, batch, passes, index)
            built = self._output.build_step(stepped)
            tables = [blob for table in built for blob in in_blobs(table)]
            if logs_all():
                self._log(keyed_merges(self.plan, stepped))
            return tables, stepped.status

        def by_key(reference_shard: Shard, transaction: Store, index: Index) -> _Out:
            out = reference_shard.step(transaction, batch, index)
            tables = [*in_blobs(self._output.build(out.effects))] if out.effects else []
            if logs_all():
                self._log(out.merges)
            return tables, out.status

        with explaining_overflow(self.plan, shard, lambda: [*batch.tables, *self._saved(store)]):
            index, record = Index.load(self.plan, store), None
            if self._recorder is not None:
                record = self._recorder.watch(store, index, batch)
            tables, status = self.attempt(store, index, by_columns, by_key)
        if self.plan.reports and shard is not None:
            tables.append(self._output.report(shard, status.output_watermark))
        if record is not None:
            record()
        return tables, status

    def attempt(
        self,
        store: Store,
        index: Index,
        by_columns: Callable[[ShardInPasses, Store, Index, int], Result],
        by_key: Callable[[Shard, Store, Index], Result],
    ) -> Result:
        """A step all at once; and if something in it does not fit, key by key.

        Args:
            store: The shard's state. It is written to only when the step is known to be good.
            index: Its index, which an attempt changes: another one reads its own.
            by_columns: The step by the columnar machine, in so many passes.
            by_key: The same by the reference machine.
        """
        transaction = Transaction(store)
        try:
            if self.column_shard is None:
                out = by_key(self._key_by_key, transaction, index)
            else:
                out, transaction = self._in_passes(self.column_shard, store, index, by_columns)
        except RETRY_KEY_BY_KEY as error:
            cause = error.__cause__ or error
            known = (self.plan.name, type(cause).__name__)
            if known not in self._logged:  # else each micro-batch with a bad row would say so
                self._logged.add(known)
                log_key_by_key(self.plan.name, cause)
            transaction = Transaction(store)
            out = by_key(self._checking, transaction, Index.load(self.plan, store))
        transaction.commit()
        return out

    def _in_passes(
        self,
        column_shard: ShardInPasses,
        store: Store,
        index: Index,
        step: Callable[[ShardInPasses, Store, Index, int], Result],
    ) -> tuple[Result, Transaction]:
        """A step in as few passes as it fits in, each over some of the shard's buckets."""
        while True:
            transaction = Transaction(store)
            try:
                return step(column_shard, transaction, index, self._passes), transaction
            except (UnsupportedError, pa.ArrowInvalid, pa.ArrowCapacityError) as error:
                if not is_arrow_overflow(error) or self._passes >= self.plan.buckets:
                    raise
                self._passes = min(4 * self._passes, self.plan.buckets)
                index = Index.load(self.plan, store)

    def _saved(self, store: Store) -> Iterator[pa.Table]:
        """All rows of the shard's state, if they can be read."""
        contents = Index.load(self.plan, store).contents
        schema = with_bucket(StateLayout(self.plan).schema)
        with suppress(BeamlikeError, pa.ArrowException):
            yield Pages(schema, store, contents).read().table

    def _log(self, merges: Iterable[KeyedMerge]) -> None:
        names = list(self.plan.keys)
        named = ((dict(zip(names, key, strict=True)), merged) for key, merged in merges)
        log_merges(self.plan.name, named, self.plan.resolution)


@attrs.frozen
class Choice:
    """The machine for a plan, and if it is the reference machine, why.

    Args:
        machine: Its name.
        why: Why not the columnar machine.
        column_shard: The columnar machine over the plan, if it is chosen.
    """

    machine: MachineName
    why: str = ""
    column_shard: ShardInPasses | None = attrs.field(default=None, eq=False, repr=False)


def choose_machine(plan: Plan) -> Choice:
    """The columnar machine for all that it can do, the reference machine for the rest.

    Raises:
        UnsupportedError: The plan requires the columnar machine, and that cannot do it.
    """
    if plan.machine_name == "reference":
        return Choice("reference", 'machine="reference" is set')
    try:
        return Choice("columnar", column_shard=_column_shard(plan))
    except UnsupportedError as error:
        if plan.machine_name == "columnar":
            raise UnsupportedError(
                f'machine="columnar" cannot do this: {error}; leave the argument out'
            ) from error
        return Choice("reference", str(error))


def stepper_of(plan: Plan) -> Stepper:
    """What steps the shards of this plan."""
    return Stepper(plan, choose_machine(plan).column_shard)


def _column_shard(plan: Plan) -> ShardInPasses:
    if plan.operation.why_key_by_key is not None:
        raise UnsupportedError(plan.operation.why_key_by_key)
    if plan.key_clock is not None:
        raise UnsupportedError("each key has a watermark of its own")
    for name, key in plan.keys.items():
        if not can_number(key):
            raise UnsupportedError(f"the key {name!r} has the type {key}")
    return FirstShard(plan) if isinstance(plan.machine, StatefulParDo) else ColumnShard(plan)


# -- in words --------------------------------------------------------------------------------

_LEFT_OUT: Final = ("machine", "transform", "layout version")
"""What the first line says, and what a user does not choose."""


def plan_text(plan: Plan, identity: Mapping[str, str]) -> str:
    """The machine of a plan, and why that one; below, what is done, in words."""
    choice = choose_machine(plan)
    because = f", because {choice.why}" if choice.why else ""
    shown = (f"  {aspect}: {how}" for aspect, how in identity.items() if aspect not in _LEFT_OUT)
    return "\n".join([f"{plan.name}: {choice.machine} machine{because}", *shown])


def node_text(node: StatefulNode, plan: Plan, identity: Mapping[str, str]) -> str:
    """A node, and what it reads where that is not one source alone."""
    before = [
        origin
        for source in node.sources
        for origin, _ in ways_back(
            source.node, lambda origin_node: isinstance(origin_node, ReadNode | StatefulNode)
        )
    ]
    text = plan_text(plan, identity)
    if len(before) == 1 and isinstance(before[0], ReadNode):
        return text
    return f"{text}\n  reads: {', '.join(origin.label for origin in before)}"
