"""The page that says what a value becomes in each table. ``BEAMLIKE_WRITE_PAGES=1`` writes it."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.support.landing.values import CASES, shown

PAGE: Final = Path(__file__).resolve().parents[3] / "docs" / "pages" / "values_in_tables.md"


def table_of(columns: Mapping[str, Sequence[tuple[Any, str]]]) -> str:
    """A table of Markdown: types and values, and what they become where."""
    spark = [case.spark for case in CASES for _ in (*case.values, None)]
    lines = [f"| type | value | {' | '.join(columns)} |", "|---|---|" + "---|" * len(columns)]
    for case, *outcomes in zip(spark, *columns.values(), strict=True):
        value = outcomes[0][0]
        cells = [outcome if outcome in _WORDS else f"`{_safe(outcome)}`" for _, outcome in outcomes]
        if value is None and set(cells) == {"same"}:
            continue  # null is null
        lines.append(f"| `{case}` | `{_safe(shown(value))}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


_WORDS: Final = ("same", "refused", "dead letter")


def _safe(text: str) -> str:
    return text.replace("|", "\\|")


def page_with(table: str) -> None:
    """Hold that the page has this table, between its marks; or write it."""
    before, mark, rest = PAGE.read_text(encoding="utf-8").partition("<!-- tables -->\n\n")
    found, end, after = rest.partition("\n<!-- end of tables -->")
    assert mark, "the page has no table"
    assert end, "the table of the page has no end"
    if os.environ.get("BEAMLIKE_WRITE_PAGES"):
        PAGE.write_text(f"{before}{mark}{table}{end}{after}", encoding="utf-8")
        return
    assert found.splitlines() == table.splitlines(), "BEAMLIKE_WRITE_PAGES=1 writes the page anew"
