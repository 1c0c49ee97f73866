"""Which machine steps the shards of a plan, why, and the step with its output rows."""

from collections.abc import Sequence

import attrs
import pyarrow as pa

from beamlike.errors import CombineError, OutgrownError, UnsupportedError, WindowError
from beamlike.hosts.spark.column_output import ColumnOutput, told_merges
from beamlike.hosts.spark.column_shard import ColumnShard
from beamlike.hosts.spark.index import Standing
from beamlike.hosts.spark.keys import can_number
from beamlike.hosts.spark.logs import log_merges, logs_all
from beamlike.hosts.spark.options import MachineName
from beamlike.hosts.spark.output import OutputTable
from beamlike.hosts.spark.pages import Store, Trial
from beamlike.hosts.spark.plan import Plan
from beamlike.hosts.spark.shard import KeyedMerge, Shard
from beamlike.machine.clocks import Heard

__all__ = ["ONE_BY_ONE", "Choice", "Stepper", "choose_machine", "stepper_of"]

ONE_BY_ONE = (WindowError, OutgrownError, CombineError)
"""What some element of a step may cause of which only the reference machine can say which: a time
beyond the calendar, an aggregate that outgrows its type or the one that its user declared."""

_Out = tuple[pa.Table | None, Standing]


class Stepper:
    """Steps the shards of one plan, by the columnar machine if that can do it.

    A step in which something does not fit is done once more, key by key, with an eye on each
    element. Of the first attempt nothing stays: both machines read the same state.
    """

    def __init__(self, plan: Plan, in_columns: ColumnShard | None) -> None:
        self._plan = plan
        self._in_columns, self._columns = in_columns, ColumnOutput(plan)
        self._key_by_key, self._rows = Shard(plan), OutputTable(plan)
        self._checking = Shard(plan, checks=True)

    def step(
        self,
        store: Store,
        arrivals: Sequence[pa.Table],
        watermark: int | Sequence[Heard],
        clock: int,
        shard: int | None = None,
    ) -> tuple[pa.Table | None, Standing]:
        """Take one shard through one micro-batch.

        Returns what comes out as rows, None if nothing does, and where the shard stands then.

        Args:
            store: See `beamlike.hosts.spark.shard.Shard.step`, as for the next three.
            arrivals: Rows, or combined elements, in order of arrival.
            watermark: The input watermark (ms), or what the plan's inputs told about theirs.
            clock: Processing time (ms).
            shard: Its position among all. If it is told to the stage after this one where the
                shard's output watermark is, the report carries it.
        """
        trial = Trial(store)
        try:
            if self._in_columns is not None:
                out = self._by_columns(self._in_columns, trial, arrivals, watermark, clock, shard)
            else:
                out = self._by_key(self._key_by_key, trial, arrivals, watermark, clock, shard)
        except ONE_BY_ONE:
            trial = Trial(store)
            out = self._by_key(self._checking, trial, arrivals, watermark, clock, shard)
        trial.keep()
        return out

    def _by_columns(
        self,
        columns: ColumnShard,
        store: Store,
        arrivals: Sequence[pa.Table],
        watermark: int | Sequence[Heard],
        clock: int,
        shard: int | None,
    ) -> _Out:
        stepped = columns.step(store, arrivals, watermark, clock)
        table = self._columns.build(stepped, self._report(shard, stepped.output_watermark))
        if logs_all():
            self._log(told_merges(self._plan, stepped))
        return table, stepped.standing

    def _by_key(
        self,
        keys: Shard,
        store: Store,
        arrivals: Sequence[pa.Table],
        watermark: int | Sequence[Heard],
        clock: int,
        shard: int | None,
    ) -> _Out:
        out = keys.step(store, arrivals, watermark, clock)
        report = self._report(shard, out.output_watermark)
        silent = not out.effects and report is None
        table = None if silent else self._rows.build(out.effects, report)
        if logs_all():
            self._log(out.merges)
        return table, out.standing

    def _log(self, merges: list[KeyedMerge]) -> None:
        names = list(self._plan.keys)
        named = ((dict(zip(names, key, strict=True)), merged) for key, merged in merges)
        log_merges(self._plan.name, named)

    def _report(self, shard: int | None, output_watermark: int) -> tuple[int, int] | None:
        if not self._plan.reports or shard is None:
            return None
        return shard, output_watermark


@attrs.frozen
class Choice:
    """The machine for a plan, and if it is the reference machine, why."""

    machine: MachineName
    why: str = ""


def choose_machine(plan: Plan) -> Choice:
    """The columnar machine for all that it can do, the reference machine for the rest.

    Raises:
        UnsupportedError: The plan asks for the columnar machine, and that cannot do it.
    """
    found = _in_columns(plan)
    return found if isinstance(found, Choice) else Choice("columnar")


def stepper_of(plan: Plan) -> Stepper:
    """What steps the shards of this plan."""
    found = _in_columns(plan)
    return Stepper(plan, None if isinstance(found, Choice) else found)


def _in_columns(plan: Plan) -> ColumnShard | Choice:
    """The columnar machine over this plan, or why it is not chosen; see `choose_machine`."""
    if plan.machine_name == "reference":
        return Choice("reference", 'machine="reference" asks for it')
    try:
        return _column_shard(plan)
    except UnsupportedError as error:
        if plan.machine_name == "columnar":
            raise UnsupportedError(
                f'machine="columnar" cannot do this: {error}; leave the argument out'
            ) from error
        return Choice("reference", str(error))


def _column_shard(plan: Plan) -> ColumnShard:
    """The columnar machine over this plan.

    Raises:
        UnsupportedError: It cannot do it.
    """
    if plan.operation.why_key_by_key is not None:
        raise UnsupportedError(plan.operation.why_key_by_key)
    for name, kind in plan.keys.items():
        if not can_number(kind):
            raise UnsupportedError(f"the key {name!r} has the type {kind}")
    return ColumnShard(plan)
