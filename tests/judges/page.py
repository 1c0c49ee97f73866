"""What is kept of a run, and the page of the documentation that is made from it."""

from pathlib import Path

from tests.judges.judging import Outcome


def keep(outcome: Outcome, latest: Path) -> None:
    """Put an engine's outcome beside those of the others."""


def write_page(latest: Path, page: Path) -> None:
    """Write the page from what is kept."""
