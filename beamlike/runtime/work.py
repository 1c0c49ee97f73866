"""The work of an operator of a query, whichever host brings it what it was sent.

A host brings each group of an operator what it was sent, once in a micro-batch and with rows or
without; it keeps the state of the group, and hands on what comes out.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar, Final, Literal

import attrs

from beamlike.errors import StateError, TimeError
from beamlike.machine.input_clocks import HostWatermark
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.clock import ShardInput, jump_of
from beamlike.runtime.logs import log_jump, log_rows, log_silent, logs_drops
from beamlike.runtime.packing import Arrived, arrived_in, read_blobs
from beamlike.runtime.plan import Plan
from beamlike.runtime.stepping import Stepper, stepper_of
from beamlike.runtime.store.blobs import SAMPLE, words_of_largest
from beamlike.runtime.store.index import CountsOtherwise, Index, resolution_of_index
from beamlike.runtime.store.stores import Store
from beamlike.runtime.tally import EXAMPLES, METRICS, Tally

Stores = Callable[..., Store]
"""Gives the store of a group; called with the number of a node where a group has several nodes."""

HostSays = Literal["always", "at the end", "never"]
"""When an operator has its watermark from the host. At other times it is sent it in batches."""

_LARGE: Final = 2**22
"""For a step with this many bytes of rows or more, its text names the largest key."""

END_OF_TIME: Final = (HostWatermark(MAX_TIMESTAMP),)
"""What the host says where data ends: everything happens in one step, up to the end of time."""


def known_watermark(reported: int) -> int:
    """The watermark of a query (ms). Spark reports 0 while none is known."""
    return reported if reported > 0 else MIN_TIMESTAMP


@attrs.frozen
class HostReport:
    """What a host says of the watermark and of processing time, all in ms.

    Args:
        updates: What it says of the watermark.
        clock: Processing time. A clock that a script sends to the group overrides it.
    """

    updates: Sequence[HostWatermark]
    clock: int

    def with_arrived(self, arrived: Arrived, resolution: Resolution) -> ShardInput:
        """All that reaches a group, in the ticks of a resolution."""
        of_host = (
            attrs.evolve(update, watermark=resolution.from_ms(update.watermark))
            for update in self.updates
        )
        updates = (*arrived.reached, *of_host)
        return ShardInput(arrived.tables.get(0, ()), updates, resolution.from_ms(self.clock))


class Work(ABC):
    """What the groups of an operator do. It keeps nothing between micro-batches.

    ``columns`` are the names of its output columns.
    """

    columns: ClassVar[tuple[str, ...]]

    @property
    @abstractmethod
    def host_says(self) -> HostSays:
        """When the operator has its watermark from the host."""

    @abstractmethod
    def step(
        self, group: int, stores: Stores, blobs: Iterable[bytes], report: HostReport
    ) -> list[tuple[Any, ...]]:
        """Take a group through a micro-batch.

        Args:
            group: The key of the group.
            stores: Its state.
            blobs: The batches that it was sent, see `beamlike.runtime.envelope`.
            report: What the host says.

        Returns:
            Rows of its columns. A table in the column ``blob`` is still to be made a batch.
        """

    def words_of_step(self, group: int, blobs: Sequence[bytes]) -> str:
        """A step that is about to begin, in words: a note for the case that its process dies.

        Args:
            group: The key of the group.
            blobs: The batches that it was sent. If they are large, the text names the largest key.
        """
        return f"that of group {group}, which got {sum(map(len, blobs)):,} bytes"

    def share_logged(self, logged: set[Hashable]) -> None:  # noqa: B027  # not every one logs any
        """Log each failure once among all works that share a set."""

    def close(self) -> None:  # noqa: B027  # not every operator has anything to close
        """Tear down what the work has set up."""


class PlanWork(Work):
    """The work of a plan.

    Args:
        plan: What is done.
        clock: Processing time in ms until a group is sent another; None: that of the host.
    """

    def __init__(self, plan: Plan, clock: int | None = None) -> None:
        self.plan, self.clock = plan, clock

    @property
    def host_says(self) -> HostSays:
        return "always" if self.plan.clocks is None else "at the end"

    def step(
        self, group: int, stores: Stores, blobs: Iterable[bytes], report: HostReport
    ) -> list[tuple[Any, ...]]:
        arrived = read_blobs(blobs)
        known = arrived.clock.get(0, self.clock)
        report = report if known is None else attrs.evolve(report, clock=known)
        return self._stepped(group, stores(), arrived, report)

    def words_of_step(self, group: int, blobs: Sequence[bytes]) -> str:
        plan, size = self.plan, sum(map(len, blobs))
        text = f"{plan.name!r}, group {group}, which got {size:,} bytes"
        if size < _LARGE:
            return text
        tables = read_blobs(blobs).tables[0]
        return f"{text}: {words_of_largest(tables, plan.resolution, SAMPLE)}"

    @abstractmethod
    def _stepped(
        self, group: int, store: Store, arrived: Arrived, report: HostReport
    ) -> list[tuple[Any, ...]]:
        """See `step`; ``report`` has the clock of a script if one was sent."""

    def __getstate__(self) -> dict[str, Any]:
        # Derived values stay behind: workers derive them again.
        return {"plan": self.plan, "clock": self.clock}


class ShardWork(PlanWork):
    """The shards of a grouping of rows."""

    columns = ("blob", *METRICS, *EXAMPLES)

    @cached_property
    def stepper(self) -> Stepper:
        """What steps them."""
        return stepper_of(self.plan)

    @cached_property
    def _older(self) -> Stepper:
        """The stepper for state that counts ms, saved before plans could count finer.

        Raises:
            StateError: A duration of the plan is finer.
        """
        try:
            older = self.plan.in_resolution(MILLISECONDS)
            return stepper_of(attrs.evolve(older, of_rows=self.plan.resolution))
        except TimeError as error:
            raise StateError(
                f"the checkpoint counts milliseconds: {error}, or start the query with a new "
                "checkpointLocation"
            ) from error

    _counts_older = False
    """Whether the state of the group that was stepped last counts ms: that of all groups of a query
    does, or that of none."""

    def share_logged(self, logged: set[Hashable]) -> None:
        self.stepper.share_logged(logged)

    def _stepped(
        self, group: int, store: Store, arrived: Arrived, report: HostReport
    ) -> list[tuple[Any, ...]]:
        plan = self.plan
        if group not in plan.shard_ids:
            # The state was written with a different shard count; loading the index raises the right
            # error.
            Index.load(plan, store)
        if not self._counts_older:
            try:
                return self._stepped_by(self.stepper, group, store, arrived, report)
            except CountsOtherwise:
                self._counts_older = True
        saved = store.read_index()
        if saved is not None and resolution_of_index(saved) is plan.resolution:
            return self._stepped_by(self.stepper, group, store, arrived, report)
        older = self._older.plan.resolution
        arrived = arrived_in(older, plan.resolution, arrived)
        return self._stepped_by(self._older, group, store, arrived, report)

    def _stepped_by(
        self, stepper: Stepper, group: int, store: Store, arrived: Arrived, report: HostReport
    ) -> list[tuple[Any, ...]]:
        plan, batch = stepper.plan, report.with_arrived(arrived, stepper.plan.resolution)
        shard = plan.shard_ids.index(group)
        out, status = stepper.step(store, batch, shard)
        tables = [*arrived.finished, *out]
        jump = jump_of(plan, plan.clocks, arrived.delivered, status)
        if shard == 0:  # the others see the same
            log_silent(plan.name, status.silent)
        if logs_drops():
            for table in tables:
                log_rows(plan.name, list(plan.keys), table)
        if jump is not None:
            log_jump(plan.name, jump)
        tally = Tally.of_rows(plan, arrived.elements, tables, status, jump)
        return [*((table, *_UNCOUNTED) for table in tables), (None, *tally.columns)]


_UNCOUNTED: Final = (None,) * len((*METRICS, *EXAMPLES))
