"""The result of a search as a text: which laws were checked, how often, and with what verdict."""

import platform
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime

from tests.differential.kept import Checked
from tests.stateful.laws import LAWS

__all__ = ["ON_SPARK", "applied_laws", "report"]

ON_SPARK = "a streaming query brings out what memory does"


def applied_laws(checked: Mapping[str, Checked]) -> dict[str, int]:
    """How often each law was checked."""
    applied = Counter[str]()
    for one in checked.values():
        applied.update(one.applied)
    return {law: applied[law] for law in (*LAWS, ON_SPARK) if applied[law]}


def report(checked: Mapping[str, Checked], verdict: str) -> str:
    """What was checked, and with what result."""
    programs = sum(one.scenarios for one in checked.values())
    seconds = sum(one.seconds for one in checked.values())
    return "\n".join(
        [
            "# The latest search",
            "",
            f"`python -m tests.stateful`, {datetime.now(UTC).date()}; "
            f"Python {platform.python_version()}. {verdict[0].upper()}{verdict[1:]}.",
            "",
            f"{programs:,} random programs with states and timers, {seconds:,.0f} seconds of work.",
            "",
            "| law | programs |",
            "|---|---|",
            *(f"| {law} | {count:,} |" for law, count in applied_laws(checked).items()),
            "",
        ]
    )
