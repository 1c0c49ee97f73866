"""Rows are combined before they reach their shard, by the machine that steps the plan's shards.

The result is a table of combined elements, see `beamlike.runtime.envelope`, with the ``hash``
of each key in place of a bucket.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from beamlike.errors import OutgrownError, UserFunctionError
from beamlike.machine.columnar.folds.base import Fold
from beamlike.machine.columnar.lifting import ColumnarLifting
from beamlike.machine.events import Drop, Item, Lifted
from beamlike.machine.lifting import Lifting
from beamlike.runtime.columnar_arrivals import arrivals_of, fold_of_part
from beamlike.runtime.envelope import arriving, is_lifted
from beamlike.runtime.output import keyed_drops
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import table_of
from beamlike.runtime.stepping import RETRY_KEY_BY_KEY, choose_machine
from beamlike.runtime.store.blobs import one_chunk
from beamlike.runtime.store.column_state import number_keys
from beamlike.runtime.store.state import Key

Combined = tuple[pa.Table, list[tuple[Key, Drop]]]
"""Combined elements, and the rows that are too late or for which a function raised."""


class Lifter:
    """Combines the rows of one plan: all at once where the columnar machine steps its shards.

    Where that is the reference machine they are combined key by key, and so they are, with a check
    of each element, if something does not fit.

    Args:
        plan: The plan.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._folds = list[Fold]()
        self._columnar: ColumnarLifting | None = None
        self._reference, self._checking = plan.lifting(), plan.lifting(checks=True)
        if choose_machine(plan).machine == "columnar":
            self._folds = [fold_of_part(part, plan.values) for part in plan.parts]
            self._columnar = ColumnarLifting(plan.strategy, self._folds)
        fields = [*plan.key_columns.items()]
        fields += [(name, pa.int64()) for name in ("start", "end", "count", "ts")]
        fields += [("judged", pa.bool_()), ("merged", pa.bool_())]
        fields += [*plan.operation.accumulator.types().items(), ("hash", pa.int64())]
        self._schema = pa.schema(fields)

    def lift(self, tables: Sequence[pa.Table], watermark: int | None) -> Combined:
        """Combine rows by key and window.

        Args:
            tables: One or more tables in order of arrival, all of rows, or all of combined
                elements, which are combined further. They have a ``hash`` in place of a bucket.
            watermark: The input watermark (ticks) that judges them; None: they are judged later.

        Returns:
            One row for each window of each key, in any order.

        Raises:
            UserFunctionError: A function of the user's raised, and that is to be reported.
            OutgrownError: An aggregate outgrew its type, and that is to be reported.
        """
        try:
            if self._columnar is None:
                return self._key_by_key(self._reference, tables, watermark)
            return self._by_columns(self._columnar, tables, watermark)
        except RETRY_KEY_BY_KEY:
            return self._key_by_key(self._checking, tables, watermark)

    def _by_columns(
        self, lifting: ColumnarLifting, tables: Sequence[pa.Table], watermark: int | None
    ) -> Combined:
        plan = self._plan
        arrived = one_chunk(tables)  # those without carried windows lack the columns of these
        keys = number_keys(arrived.select([*plan.key_columns]).columns, arrived.num_rows)
        bundle = arrivals_of(plan, self._folds, arrived, keys.number)
        lifted, drops = lifting.lift(bundle, keys.count, watermark)
        bound = plan.resolution.earliest if watermark is None else watermark
        dropped = list(keyed_drops(plan, drops, arrived, bound))
        hash_of_key = np.empty(keys.count, np.int64)
        hash_of_key[keys.number] = arrived.column("hash").to_numpy()
        of_row = pa.array(lifted.key)
        columns = [column.take(of_row) for column in keys.columns]
        columns += [lifted.start, lifted.end, lifted.count]
        columns += [lifted.timestamps, lifted.judged, lifted.merged]
        for fold, accumulators in zip(self._folds, lifted.accumulators, strict=True):
            columns += fold.save(accumulators)
        return table_of([*columns, hash_of_key[lifted.key]], self._schema), dropped

    def _key_by_key(
        self, lifting: Lifting, tables: Sequence[pa.Table], watermark: int | None
    ) -> Combined:
        plan = self._plan
        hashes: dict[Key, int] = {}
        by_key: dict[Key, list[Item]] = {}
        for table in tables:
            rows = zip(arriving(plan, table), table.column("hash").to_pylist(), strict=True)
            for (key, element), hashed in rows:
                hashes.setdefault(key, hashed)
                by_key.setdefault(key, []).append(element)
        keys, lifted, dropped = list[Key](), list[Lifted](), list[tuple[Key, Drop]]()
        for key, elements in by_key.items():
            try:
                kept, late = lifting.lift(elements, watermark)
            except (UserFunctionError, OutgrownError) as error:
                raise error.of_key(key) from error.__cause__
            keys += [key] * len(kept)
            lifted += kept
            dropped += ((key, drop) for drop in late)
        columns: list[Any] = [[key[index] for key in keys] for index in range(len(plan.keys))]
        columns += [[row.window.start for row in lifted], [row.window.end for row in lifted]]
        fields = ("count", "timestamp", "judged", "merged")
        columns += [[getattr(row, field) for row in lifted] for field in fields]
        columns += plan.operation.accumulator.encode([row.accumulator for row in lifted])
        columns.append([hashes[key] for key in keys])
        return table_of(columns, self._schema), dropped


def combine_the_rest(
    lifter: Callable[[], Lifter],
    tables: Sequence[pa.Table],
    watermark: int,
) -> tuple[list[pa.Table], list[tuple[Key, Drop]]]:
    """The tables for a step of the columnar machine, which takes rows or combined elements.

    Where both arrive, the rows are combined here, so that all elements are one bundle.

    Args:
        lifter: Makes the lifter of the plan.
        tables: The tables that arrive, with the ``bucket`` of each key.
        watermark: The input watermark that judges the rows (ticks).

    Returns:
        Tables of one form, and the rows that are too late.
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
