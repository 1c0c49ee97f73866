"""The saved state of a query on the local host, as a checkpoint of Spark would have it."""

from typing import Any

from beamlike.inspect.state.shard import SavedShard
from beamlike.inspect.state.stage import SavedStage
from beamlike.runtime.store.stores import INDEX
from beamlike.testing import QueryTest


def saved_stages(query: QueryTest) -> tuple[SavedStage, ...]:
    """The groupings of a query that runs without Spark."""
    run: Any = query._run
    return tuple(
        SavedStage(stage.plan.name, number, tuple(_shards(stage)))
        for number, stage in enumerate(run._query._stages)
    )


def _shards(stage: Any) -> Any:
    for group in stage.plan.shard_ids:
        store = stage.state.shards[group]
        if store.index is not None:
            yield SavedShard.of(group, 0, {**store.blobs, INDEX: store.index})
