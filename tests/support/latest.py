"""The rows of a ``LATEST.md``: what came of trials, each on its own day."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import dropwhile, takewhile
from pathlib import Path

import attrs


@attrs.frozen
class Latest:
    """A page with a table, whose rows are replaced one by one. What is written by hand behind the
    table stays.

    Attributes:
        path: The file.
        heading: What comes before the table.
        columns: Names of the columns; the last has the day.
        named_by: The places of the columns that make the name of a row.
    """

    path: Path
    heading: str
    columns: Sequence[str]
    named_by: Sequence[int] = (0,)

    def rows(self) -> dict[tuple[str, ...], str]:
        """The rows that are kept, by name."""
        cells = [line.strip("| ").split(" | ") for line in self._table_and_notes()[0]]
        return {self._name(row): _row(row) for row in cells}

    def _table_and_notes(self) -> tuple[list[str], list[str]]:
        """The rows as they stand there, and the lines behind them."""
        page = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        behind = dropwhile(lambda line: not line.startswith("|---"), page.splitlines())
        lines = [*behind][1:]
        table = [*takewhile(lambda line: line.startswith("|"), lines)]
        return table, lines[len(table) :]

    def _name(self, row: Sequence[str]) -> tuple[str, ...]:
        return tuple(row[place] for place in self.named_by)

    def keep(self, *cells: object, order: Sequence[str] = ()) -> None:
        """Put a row of today in the place of the one with its name.

        Args:
            cells: Of all columns but the last.
            order: The first parts of all names, in their order; other rows go.
        """
        row = [*(str(cell).replace("|", "/") for cell in cells), f"{datetime.now(UTC):%Y-%m-%d}"]
        rows = self.rows() | {self._name(row): _row(row)}
        if order:
            rows = dict(
                sorted(
                    ((name, line) for name, line in rows.items() if name[0] in order),
                    key=lambda item: order.index(item[0][0]),
                )
            )
        table = [_row(self.columns), f"|{'---|' * len(self.columns)}", *rows.values()]
        lines = [*table, *self._table_and_notes()[1]]
        self.path.write_text(self.heading + "\n".join(lines) + "\n", encoding="utf-8")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
