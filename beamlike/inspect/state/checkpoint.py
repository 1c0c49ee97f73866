"""The groupings of a checkpoint and their blobs, through Spark's own reader of state."""

import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from beamlike.errors import StateError
from beamlike.hosts.spark.session import refuse, state_store_problem
from beamlike.inspect.state.shard import SavedShard
from beamlike.inspect.state.stage import SavedStage
from beamlike.runtime.store.stores import INDEX

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BLOBS = "blobs"
"""The state variable of a grouping; see `beamlike.hosts.spark.deferred.blobs_of`."""

_Row = tuple[int, dict[str, int], bytes]
"""A blob, after the group of its shard and its place there."""


@attrs.frozen
class Damage:
    """A part of a checkpoint that cannot be read. The others can.

    Args:
        operator: The number of its operator in the query.
        partition: The partition of Spark's state, in which it lies.
        group: The grouping key in Spark of the shard; None: it is the partition as a whole.
        problem: What is wrong, in words.
    """

    operator: int
    partition: int
    group: int | None
    problem: str

    def __str__(self) -> str:
        shard = "" if self.group is None else f"the shard with group {self.group} in "
        place = f"{shard}partition {self.partition} of operator {self.operator}"
        return f"{place} is damaged: {self.problem}"


@attrs.frozen
class Checkpoint:
    """A checkpoint with state of beamlike in it.

    Args:
        path: The folder that Spark knows as ``checkpointLocation``.
        batch: The micro-batch after which it is read.
        batches: The first and the last one that it can be read after.
        operators: The numbers of its operators with windows, from the sources on.
    """

    path: str
    batch: int
    batches: tuple[int, int]
    operators: tuple[int, ...]
    _spark: "SparkSession"

    @classmethod
    def open(cls, spark: "SparkSession", path: str, batch: int | None) -> "Checkpoint":
        """Look what there is."""
        refuse(state_store_problem(spark))
        path = path.rstrip("/")
        # Spark 4.1 makes a folder that it does not find, so what is there is looked at before.
        otherwise, problem = _what_it_is(path), ""
        for folder in (path, f"{path}/query"):  # a pipeline keeps its query in a folder of it
            operators, reason = _operators(spark, folder)
            problem = problem or reason
            if operators:
                path = folder
                break
        else:
            raise StateError(_what_it_is(path, problem) if _is_elsewhere(path) else otherwise)
        # Spark counts from the end of a query: the last one is nearest to the source.
        numbers = {row.operatorId for row, variables in operators if _BLOBS in variables}
        ours = tuple(sorted(numbers, reverse=True))
        if not ours:
            operator_names = ", ".join(sorted({row.operatorName for row, _ in operators}))
            raise StateError(
                f"the query of the checkpoint {path} keeps no windows of beamlike, but state of "
                f"{operator_names}; give the checkpointLocation of a query made with windowed, "
                "stream or a pipeline"
            )
        first, last = operators[0][0].minBatchId, operators[0][0].maxBatchId
        if batch is not None and not first <= batch <= last:
            raise StateError(
                f"batch {batch} is not in the checkpoint {path}; {_range(first, last)}"
            )
        return cls(path, last if batch is None else batch, (first, last), ours, spark)

    def read(self) -> tuple[tuple[SavedStage, ...], tuple[Damage, ...]]:
        """Read everything: the groupings, and what of them is damaged.

        Raises:
            StateError: Nothing can be read.
        """
        stages: list[SavedStage] = []
        damaged: list[Damage] = []
        for operator in self.operators:
            shards: dict[int | None, list[SavedShard]] = defaultdict(list)
            for part in self._shards(operator):
                if isinstance(part, Damage):
                    damaged.append(part)
                else:
                    node, shard = part
                    shards[node].append(shard)
            stages += [
                _stage(operator, node, of_node)
                for node, of_node in sorted(shards.items(), key=lambda item: item[0] or 0)
            ]
        if damaged and not stages:
            raise StateError(damaged[0].problem)
        return _with_names_of_their_own(stages), tuple(damaged)

    def _shards(self, operator: int) -> Iterator[tuple[int | None, SavedShard] | Damage]:
        for part in self._partitions(operator):
            if isinstance(part, Damage):
                yield part
                continue
            partition, rows = part
            blobs: dict[tuple[int, int | None], dict[int, bytes]] = defaultdict(dict)
            for group, place, blob in rows:
                blobs[group, place.get("node")][place["number"]] = blob
            for (group, node), of_shard in sorted(blobs.items(), key=lambda item: item[0][1] or 0):
                if INDEX in of_shard:
                    try:
                        yield node, SavedShard.of(group, partition, of_shard)
                    except StateError as error:
                        yield Damage(operator, partition, group, str(error))

    def _partitions(self, operator: int) -> Iterator[tuple[int, list[_Row]] | Damage]:
        """The blobs of each partition, with their group and place."""
        # Spark 4.1 reads state only where something has requested the streams of the session: that
        # starts what a state store reports to.
        _ = self._spark.streams.active
        reader = self._spark.read.format("statestore")
        reader = reader.option("operatorId", operator).option("batchId", self.batch)
        known: set[int] = set()
        frame = None
        try:
            frame = reader.option("stateVarName", _BLOBS).load(self.path)
            # One partition at a time: all of them may be more than a driver takes.
            by_partition = groupby(frame.toLocalIterator(), lambda row: row.partition_id)
            for partition, rows in by_partition:
                blobs = list(map(_of_row, rows))
                known.add(partition)
                yield partition, blobs
        except Exception as error:  # of Spark, or one of Java's that has no class in Python
            if frame is None or not hasattr(frame, "_jdf"):
                # A client of Spark Connect has no partitions.
                raise StateError(self._unread(error)) from error
            yield from self._one_by_one(operator, frame, known)

    def _one_by_one(
        self, operator: int, frame: "DataFrame", known: set[int]
    ) -> Iterator[tuple[int, list[_Row]] | Damage]:
        """The partitions that are not known yet, each in a job of its own: some cannot be read."""
        rdd = frame.rdd
        for partition in sorted({*range(rdd.getNumPartitions())} - known):
            try:
                rows = self._spark.sparkContext.runJob(rdd, list, [partition])
            except Exception as error:  # of Spark, or one of Java's that has no class in Python
                yield Damage(operator, partition, None, self._unread(error))
            else:
                yield partition, list(map(_of_row, rows))

    def _unread(self, error: Exception) -> str:
        return (
            f"the state after batch {self.batch} of the checkpoint {self.path} cannot be read: "
            f"{_said(error)}; {_range(*self.batches)}, as far as Spark has not removed their "
            "files: try the last one, by leaving the batch out"
        )


def _of_row(row: Any) -> _Row:
    return row.key[0], row.user_map_key.asDict(), bytes(row.user_map_value.blob)


def _operators(spark: "SparkSession", path: str) -> tuple[list[tuple[Any, set[str]]], str]:
    """What Spark says of the stateful operators of a query, with the names of their states; and why
    there are none, as far as Spark says so."""
    try:
        rows = spark.read.format("state-metadata").load(path).collect()
        return [(row, _variables(row.operatorProperties)) for row in rows], ""
    except Exception as error:  # of Spark, or one of Java's that has no class in Python
        return [], _said(error)


def _variables(properties: str | None) -> set[str]:
    variables = json.loads(properties or "{}").get("stateVariables", [])
    return {variable["stateName"] for variable in variables}


def _said(error: Exception) -> str:
    """The line of an error that says what is wrong. Java's own come after one of Py4J."""
    lines = str(error).splitlines() or [""]
    return next((line.removeprefix(": ") for line in lines[:2] if line.startswith(": ")), lines[0])


def _range(first: int, last: int) -> str:
    return f"batch {first} is the only one" if first == last else f"there are {first} to {last}"


def check_folder(path: str) -> None:
    """Refuse a folder of this machine that is no checkpoint, before Spark is started.

    Raises:
        StateError: It is not there, or something else.
    """
    if _is_elsewhere(path):
        return
    folder = Path(path.removeprefix("file:"))
    if not any((place / "offsets").is_dir() for place in (folder, folder / "query")):
        raise StateError(_what_it_is(path))


def _is_elsewhere(path: str) -> bool:
    return "://" in path and not path.startswith("file://")


def _what_it_is(path: str, problem: str = "") -> str:
    """Why a folder without any state cannot be opened."""
    ask = "give the folder that the query has as checkpointLocation"
    if _is_elsewhere(path):
        because = f" that can be read ({problem})" if problem else ""
        return f"{path} is no checkpoint with state{because}; {ask}"
    folder = Path(path.removeprefix("file:"))
    if not folder.exists():
        return f"there is no folder {folder}; {ask}"
    if not (folder / "offsets").is_dir():
        return f"{folder} is no checkpoint: it has no offsets; {ask}"
    if not (folder / "state").is_dir():
        return (
            f"{folder} is the checkpoint of a query that keeps no state, or has not finished its "
            "first micro-batch; let it run, or give the checkpointLocation of another one"
        )
    return f"{folder} has state that Spark cannot describe; {ask}, or a copy of it"


def _stage(operator: int, node: int | None, shards: list[SavedShard]) -> SavedStage:
    last = max(shards, key=lambda shard: shard.clocks.clock)  # others may have the name of before
    name = last.about.get("stage") or last.identity.get("transform") or f"operator {operator}"
    stage = SavedStage(name, operator, tuple(shards), in_pipeline=node is not None)
    in_order = sorted(zip(stage.numbers, shards, strict=True), key=lambda pair: pair[0])
    return attrs.evolve(stage, shards=tuple(shard for _, shard in in_order))


def _with_names_of_their_own(stages: list[SavedStage]) -> tuple[SavedStage, ...]:
    """Two groupings of one name get the number of their operator."""
    names = [stage.name for stage in stages]
    return tuple(
        stage
        if names.count(stage.name) == 1
        else attrs.evolve(stage, name=f"{stage.name} ({stage.operator})")
        for stage in stages
    )
