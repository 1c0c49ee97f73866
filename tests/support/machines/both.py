"""A Spark shard stepped by both machines at once, from the same state, for rows of any kind."""

from copy import deepcopy
from typing import Any

import attrs
import pyarrow as pa

from beamlike.errors import BeamlikeError
from beamlike.machine.input_clocks import HostWatermark
from beamlike.runtime.clock import ShardInput, ShardStatus
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import MARKS
from beamlike.runtime.stepping import stepper_of
from beamlike.runtime.store.index import Index
from beamlike.runtime.store.pages import Pages
from beamlike.runtime.store.state import StateLayout, with_bucket
from tests.support.machines.either import forgetful, keys_at_rest
from tests.support.machines.in_shard import DictStore

Rows = list[dict[str, Any]]


class BothMachines:
    """Steps one shard, and asserts that both machines say and remember the same.

    Each step starts from what one of them left behind, by turns.

    Attributes:
        status: Where the shard stands after the last step.
    """

    status: ShardStatus

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.store = DictStore()
        self._steppers = [
            stepper_of(attrs.evolve(plan, machine_name=name)) for name in ("reference", "columnar")
        ]
        self._steps = 0

    def step(
        self, *tables: pa.Table, watermark: Any, clock: int = 0, shard: int | None = None
    ) -> Rows:
        """What comes out, as rows; those of each window of a key in order.

        Args:
            tables: What arrives, see `beamlike.runtime.shard.Shard.step`.
            watermark: Likewise.
            clock: Likewise.
            shard: See `beamlike.runtime.stepping.Stepper.step`.

        Raises:
            BeamlikeError: Both machines raise one of this kind; that of the columnar machine. The
                state stays as it was.
        """
        stores = [deepcopy(self.store) for _ in self._steppers]
        said: list[Any] = []
        stood: list[ShardStatus] = []
        raised: list[BeamlikeError] = []
        for stepper, store in zip(self._steppers, stores, strict=True):
            try:
                out, status = stepper.step(
                    store, ShardInput(tables, [HostWatermark(watermark)], clock), shard
                )
                said.append(self._by_window(out))
                stood.append(status)
            except BeamlikeError as error:
                raised.append(error)
                said.append(type(error))
        reference, columnar = said
        _compare(_words(columnar), _words(reference))
        if raised:
            raise raised[-1]
        assert stood[0] == stood[1]
        self.status = stood[0]
        assert self.status.windows_open == self._kept(stores[0])
        remembered, otherwise = map(self.remembered, stores)
        _compare(otherwise, remembered)
        self._steps += 1
        self.store = stores[self._steps % 2]
        return [row for rows in reference.values() for row, _ in rows]

    def remembered(self, store: DictStore) -> dict[str, list[str]]:
        """The state of each key, and all that the index knows, in words."""
        index = Index.load(self.plan, store)
        known = {
            name: repr(getattr(value, "tolist", lambda value=value: value)())
            for name, value in attrs.asdict(index, recurse=False).items()
            if name not in ("contents", "is_new")
        }
        states = keys_at_rest(self.plan, store)
        return {repr(key): [repr(state)] for key, state in states.items()} | {
            name: [it] for name, it in known.items()
        }

    def _kept(self, store: DictStore) -> int:
        """The windows of all keys, counted one by one."""
        index, schema = Index.load(self.plan, store), StateLayout(self.plan).schema
        with forgetful():
            return int(Pages(with_bucket(schema), store, index.contents).read().lives.sum())

    def _by_window(self, out: list[pa.Table]) -> dict[str, list[tuple[dict[str, Any], str]]]:
        """Rows with their words, for each window of each key in the order in which they came.

        Windows of a key come in no promised order.
        """
        found: dict[str, list[tuple[dict[str, Any], str]]] = {}
        for row in (row for table in out for row in table.to_pylist()):
            names = [
                *self.plan.keys,
                "window",
                *(["session_identity"] if "session_identity" in row else []),
            ]
            marks = row[MARKS]  # the bounds of a window that SQL cannot show, and what was dropped
            exactly = marks["start"], marks["end"], marks["dropped"]
            name = repr([*(row[name] for name in names), exactly])
            found.setdefault(name, []).append((row, repr(row)))
        return {name: found[name] for name in sorted(found)}


def _words(said: Any) -> dict[str, list[str]]:
    """What was said, comparable: NaN is NaN."""
    if not isinstance(said, dict):
        return {"raises": [repr(said)]}
    return {key: [words for _, words in rows] for key, rows in said.items()}


def _compare(columnar: dict[str, list[str]], reference: dict[str, list[str]]) -> None:
    unlike = [
        f"{name}\n  columnar:  {columnar.get(name)}\n  reference: {reference.get(name)}"
        for name in {**reference, **columnar}
        if columnar.get(name) != reference.get(name)
    ]
    assert not unlike, "\n".join(unlike)
