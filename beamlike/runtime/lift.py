"""Rows combined before they reach their shard, by the machine that steps the plan's shards.

The result is a table of combined elements, see `beamlike.runtime.envelope`, with the ``hash``
of each key in place of a bucket.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from beamlike.errors import OutgrownError, UserFunctionError
from beamlike.machine.columnar.arrays import Ints
from beamlike.machine.columnar.assign import LiftedArrivals
from beamlike.machine.columnar.lifting import ColumnarLifting
from beamlike.machine.events import Drop, Item, Lifted
from beamlike.runtime.columnar_arrivals import arrivals_of, fold_of_part
from beamlike.runtime.envelope import arriving, is_lifted
from beamlike.runtime.output import keyed_drops
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import table_of
from beamlike.runtime.stepping import RETRY_KEY_BY_KEY, choose_machine
from beamlike.runtime.store.blobs import one_chunk
from beamlike.runtime.store.column_state import Numbered, number_keys
from beamlike.runtime.store.state import Key

Combined = tuple[pa.Table, list[tuple[Key, Drop]]]
"""Combined elements, and the rows that come too late or that a function cannot take."""


class Lifter(Protocol):
    """Combines the rows of one plan."""

    def lift(self, tables: Sequence[pa.Table], watermark: int | None) -> Combined:
        """The rows of some tables combined by key and window.

        Args:
            tables: One or more, in order of arrival: all of rows, or all of combined elements,
                which are combined further. They have a ``hash`` in place of a bucket.
            watermark: The input watermark (ms) that judges them; None: they are judged later.

        Returns:
            One row for each window of each key, in any order.

        Raises:
            UserFunctionError: A function of the user's raised, and that is to be reported.
            OutgrownError: An aggregate outgrew its type, and that is to be reported.
        """


def lifter_of(plan: Plan) -> Lifter:
    """What combines the rows of this plan."""
    columnar = choose_machine(plan).machine == "columnar"
    return _FallbackLifter(plan, _ColumnarLifter(plan) if columnar else _KeyByKey(plan))


def combine_the_rest(
    lifter: Callable[[], Lifter],
    tables: Sequence[pa.Table],
    watermark: int,
) -> tuple[list[pa.Table], list[tuple[Key, Drop]]]:
    """What arrives at a shard of the columnar machine, which takes rows or combined elements.

    Where both arrive, the rows are combined at the watermark that judges them, so that all of
    them are one bundle.

    Args:
        lifter: Makes that of the plan.
        tables: What arrives, with the ``bucket`` of each key.
        watermark: What judges the rows (ms).

    Returns:
        Tables of one form, and the rows that come too late.
    """
    rows = [table for table in tables if not is_lifted(table)]
    if not rows or len(rows) == len(tables):
        return list(tables), []
    hashed = (
        table.append_column("hash", table.column("bucket").cast(pa.int64())) for table in rows
    )
    lifted, drops = lifter().lift([table.drop_columns(["bucket"]) for table in hashed], watermark)
    lifted = lifted.append_column("bucket", lifted.column("hash").cast(pa.int32()))
    return [lifted.drop_columns(["hash"]), *filter(is_lifted, tables)], drops


def _schema(plan: Plan) -> pa.Schema:
    fields = [(f"key_{name}", key) for name, key in plan.keys.items()]
    fields += [(name, pa.int64()) for name in ("start", "end", "count", "ts")]
    fields += [("judged", pa.bool_()), ("merged", pa.bool_())]
    fields += [*plan.operation.accumulator.types().items()]
    return pa.schema([*fields, ("hash", pa.int64())])


class _FallbackLifter:
    """All at once; or if something does not fit, with a check of each element."""

    def __init__(self, plan: Plan, at_once: Lifter) -> None:
        self._at_once, self._one_by_one = at_once, _KeyByKey(plan, checks=True)

    def lift(self, tables: Sequence[pa.Table], watermark: int | None) -> Combined:
        try:
            return self._at_once.lift(tables, watermark)
        except RETRY_KEY_BY_KEY:
            return self._one_by_one.lift(tables, watermark)


class _ColumnarLifter:
    """As the columnar machine does it."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._folds = [fold_of_part(part, plan.values) for part in plan.parts]
        self._lifting = ColumnarLifting(plan.strategy, self._folds)
        self._schema = _schema(plan)

    def lift(self, tables: Sequence[pa.Table], watermark: int | None) -> Combined:
        plan = self._plan
        arrived = one_chunk(tables)  # those without carried windows lack the columns of these
        names = [f"key_{name}" for name in plan.keys]
        keys = number_keys([arrived.column(name) for name in names], arrived.num_rows)
        bundle = arrivals_of(plan, self._folds, arrived, keys.number)
        lifted, drops = self._lifting.lift(bundle, keys.count, watermark)
        bound = plan.resolution.earliest if watermark is None else watermark
        dropped = list(keyed_drops(plan, drops, arrived, bound))
        return self._table(lifted, keys, arrived.column("hash").to_numpy()), dropped

    def _table(self, lifted: LiftedArrivals, keys: Numbered, hashes: Ints) -> pa.Table:
        hash_of_key = np.empty(keys.count, np.int64)
        hash_of_key[keys.number] = hashes
        of_row = pa.array(lifted.key)
        columns = (
            *(lifted.start, lifted.end, lifted.count),
            *(lifted.timestamps, lifted.judged, lifted.merged),
        )
        arrays = [column.take(of_row) for column in keys.columns]
        arrays += map(pa.array, columns)
        for fold, accumulators in zip(self._folds, lifted.accumulators, strict=True):
            arrays += fold.save(accumulators)
        arrays.append(pa.array(hash_of_key[lifted.key]))
        return pa.Table.from_arrays(arrays, schema=self._schema)


class _KeyByKey:
    """As the reference machine does it."""

    def __init__(self, plan: Plan, *, checks: bool = False) -> None:
        self._plan = plan
        self._lifting = plan.lifting(checks=checks)
        self._schema = _schema(plan)

    def lift(self, tables: Sequence[pa.Table], watermark: int | None) -> Combined:
        plan, lifting = self._plan, self._lifting
        hashes: dict[Key, int] = {}
        by_key: dict[Key, list[Item]] = {}
        for table in tables:
            rows = zip(arriving(plan, table), table.column("hash").to_pylist(), strict=True)
            for (key, element), hashed in rows:
                hashes.setdefault(key, hashed)
                by_key.setdefault(key, []).append(element)
        lifted: list[tuple[Key, Lifted]] = []
        dropped: list[tuple[Key, Drop]] = []
        for key, elements in by_key.items():
            try:
                kept, late = lifting.lift(elements, watermark)
            except (UserFunctionError, OutgrownError) as error:
                raise error.of_key(key) from error.__cause__
            lifted += ((key, row) for row in kept)
            dropped += ((key, drop) for drop in late)
        return self._table(lifted, hashes), dropped

    def _table(self, lifted: Sequence[tuple[Key, Lifted]], hashes: dict[Key, int]) -> pa.Table:
        layout = self._plan.operation.accumulator
        ones = [row for _, row in lifted]
        columns: list[Any] = [
            [key[index] for key, _ in lifted] for index in range(len(self._plan.keys))
        ]
        columns += [[row.window.start for row in ones], [row.window.end for row in ones]]
        fields = ("count", "timestamp", "judged", "merged")
        columns += [[getattr(row, field) for row in ones] for field in fields]
        columns += layout.encode([row.accumulator for row in ones])
        columns.append([hashes[key] for key, _ in lifted])
        return table_of(columns, self._schema)
