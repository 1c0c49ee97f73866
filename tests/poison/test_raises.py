"""Each ``raise`` that a step can reach has a row in a table, which says what becomes of it.

A new one fails this test until it has a row, and each outcome of the table has tests of its own,
from end to end, in `test_outcomes`.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.poison import test_outcomes

PRODUCT: Final = Path(__file__).parents[2] / "beamlike"
FOLDERS: Final = ("machine", "runtime")
TABLE: Final = Path(__file__).with_name("raises.txt")

Raise = tuple[str, str, str]
"""Module, function, and what is raised; ``again`` for one that is raised once more."""


def raises_in(tree: ast.AST, module: str, inside: tuple[str, ...] = ()) -> Iterator[Raise]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from raises_in(node, module, (*inside, node.name))
            continue
        if isinstance(node, ast.Raise):
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            yield module, ".".join(inside), "again" if raised is None else ast.unparse(raised)
        yield from raises_in(node, module, inside)


def all_raises() -> Counter[Raise]:
    found = Counter[Raise]()
    for folder in FOLDERS:
        for path in sorted((PRODUCT / folder).rglob("*.py")):
            module = path.relative_to(PRODUCT).with_suffix("").as_posix()
            found.update(raises_in(ast.parse(path.read_text("utf-8")), module))
    return found


def line_of(raised: Raise, count: int) -> str:
    return ": ".join(raised) + (f" x{count}" if count > 1 else "")


def table() -> tuple[set[str], dict[str, str]]:
    """The outcomes, and that of each raise."""
    _, outcomes, rows = TABLE.read_text("utf-8").split("\n\n")
    known = {line.split()[0] for line in outcomes.splitlines()}
    listed = [line.split(maxsplit=1) for line in rows.splitlines()]
    return known, {raised: outcome for outcome, raised in listed}


def test_each_raise_has_a_row_and_each_row_a_raise() -> None:
    _, rows = table()

    assert set(rows) == {line_of(*item) for item in all_raises().items()}


def test_each_outcome_is_explained_and_tested() -> None:
    known, rows = table()
    tested = {name.removeprefix("test_").split("_")[0] for name in dir(test_outcomes)}

    assert set(rows.values()) == known
    assert known - {"bug"} <= tested


def test_what_nothing_reaches_is_an_assertion() -> None:
    _, rows = table()
    unreached = {raised.split(": ")[2].split()[0] for raised, to in rows.items() if to == "bug"}

    assert unreached == {"AssertionError", "NotImplementedError"}


def test_a_raise_without_a_row_is_found() -> None:
    tree = ast.parse(
        "class Step:\n    def take(self):\n        if late:\n            raise Late(1)"
    )

    assert [*raises_in(tree, "machine/step")] == [("machine/step", "Step.take", "Late")]
