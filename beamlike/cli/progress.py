"""How far long work is: a bar on the standard error of a terminal, and nothing elsewhere."""

import sys
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

Item = TypeVar("Item")

LONG: Final = 20
"""Fewer items than these are done before anybody could read a bar."""


def counted(
    items: Iterable[Item], total: int, doing: str, *, prints: bool = False
) -> Iterator[Item]:
    """The items, one after the other, while a bar shows how many have come.

    The bar is gone at the end. There is none where standard error is no terminal, where rich is
    not installed, and where the work itself writes on the same terminal.

    Args:
        items: What is worked on.
        total: How many there are.
        doing: What is done, in a word or two.
        prints: Whether something is written on standard output meanwhile.
    """
    if total < LONG or not sys.stderr.isatty() or (prints and sys.stdout.isatty()):
        yield from items
        return
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        yield from items
        return
    # It keeps to NO_COLOR, and draws nothing on a terminal that cannot move its cursor.
    console = Console(stderr=True)
    if console.is_dumb_terminal:
        yield from items
        return
    yield from track(items, doing, total, console=console, transient=True)
