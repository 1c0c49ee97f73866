"""What a query will do on Spark, said before it runs."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from beamlike.errors import ColumnError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from beamlike.api.stream import Stream
    from beamlike.runtime.plan import Plan

__all__ = ["StagePlan", "explain_plan", "explained"]

_METADATA = "beamlike"


@attrs.frozen(eq=False)
class StagePlan:
    """One grouping of a query: what it does, which machine does it, and why that one.

    ``machine`` is ``"columnar"``, which steps all keys of a shard at once, or ``"reference"``,
    which takes one key after the other and can call functions of yours. ``why`` is empty for the
    columnar machine.
    """

    name: str
    machine: str
    why: str
    does: Mapping[str, str]

    @classmethod
    def of(cls, plan: "Plan") -> "StagePlan":
        from beamlike.runtime.stepping import choose_machine

        choice = choose_machine(plan)
        return cls(plan.name, choice.machine, choice.why, plan.identity)

    def __str__(self) -> str:
        because = f", because {self.why}" if self.why else ""
        told = [f"{self.name}: {self.machine} machine{because}"]
        told += [f"  {what}: {how}" for what, how in self.does.items() if what != "layout version"]
        return "\n".join(told)


def explained(rows: "DataFrame", stage: StagePlan) -> "DataFrame":
    """The same rows, which carry the explanation with them wherever the column ``pane`` goes."""
    if "pane" not in rows.columns:
        return rows
    return rows.withMetadata("pane", {_METADATA: json.dumps(attrs.asdict(stage))})


def explain_plan(panes: "DataFrame | Stream") -> str:
    """Which machine runs a grouping, and why, for each grouping of a query.

    Args:
        panes: What `beamlike.windowed` returned, or a `Stream` after its groupings. A DataFrame
            made of panes will do as long as it has the column ``pane``, and tells of the last
            grouping only.

    Raises:
        ColumnError: It does not come from beamlike, or has lost the column.
    """
    from beamlike.api.stream import Stream

    if isinstance(panes, Stream):
        stages = [stage for stage in panes.inputs.stages.values() if isinstance(stage, StagePlan)]
        return "\n".join(map(str, stages)) or "nothing is grouped here"
    fields = {field.name: field for field in getattr(panes, "schema", ())}
    told = fields["pane"].metadata.get(_METADATA) if "pane" in fields else None
    if told is None:
        raise ColumnError(
            "explain_plan reads what windowed() wrote on the column 'pane', and this frame has no "
            "such column; call it with the frame that windowed() returned, or with a Stream"
        )
    return str(StagePlan(**json.loads(told)))
