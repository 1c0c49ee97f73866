"""What is known of one grouping of a query before it runs."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from beamlike.runtime.plan import Plan

METADATA: Final = "beamlike"
"""Under which name the column ``pane`` carries the plan of its grouping."""


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
    def of(cls, plan: "Plan", does: Mapping[str, str] | None = None) -> "StagePlan":
        from beamlike.runtime.stepping import choose_machine

        choice = choose_machine(plan)
        return cls(plan.name, choice.machine, choice.why, plan.identity if does is None else does)

    def __str__(self) -> str:
        because = f", because {self.why}" if self.why else ""
        lines = [f"{self.name}: {self.machine} machine{because}"]
        lines += [f"  {what}: {how}" for what, how in self.does.items() if what != "layout version"]
        return "\n".join(lines)


def explained(rows: "DataFrame", stage: StagePlan) -> "DataFrame":
    """The same rows, which carry the explanation with them wherever the column ``pane`` goes."""
    if "pane" not in rows.columns:
        return rows
    return rows.withMetadata("pane", {METADATA: json.dumps(attrs.asdict(stage))})
