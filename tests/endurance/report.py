"""What a work found: figures for a person, and what is wrong."""

from collections.abc import Sequence
from statistics import median

from attrs import field, frozen

from tests.endurance.stream import Batch


@frozen
class Finding:
    """One work, done."""

    work: str
    figures: dict[str, str]
    wrong: list[str] = field(factory=list)
    """What is not as it has to be; empty if all is well."""


def figures_of(batches: Sequence[Batch]) -> dict[str, str]:
    """Times and memory of some micro-batches, in words."""
    times = [batch.took_ms for batch in batches]
    return {
        "micro-batches": f"{len(batches):,}",
        "batch time, median": f"{median(times) / 1000:.2f} s",
        "batch time, longest": f"{max(times) / 1000:.2f} s",
        "windows open, most": f"{max(batch.windows_open for batch in batches):,}",
        "Java, most": _size(max(batch.memory.java for batch in batches)),
        "largest worker, most": _size(max(batch.memory.worker for batch in batches)),
    }


def described(finding: Finding) -> str:
    """As text: a line for each figure."""
    wide = max(map(len, finding.figures), default=0)
    lines = [
        finding.work,
        *(f"  {name:{wide}}  {figure}" for name, figure in finding.figures.items()),
    ]
    return "\n".join([*lines, *(f"  WRONG: {it}" for it in finding.wrong)])


def _size(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"
