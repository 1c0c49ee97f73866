"""Every notebook runs from top to bottom, says what was saved, and has right solutions."""

import copy
import itertools
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SOLUTION = re.compile(r"<summary>Solution</summary>.*?```python\n(.*?)```", re.DOTALL)


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A kernel keeps a history of what it ran, and not in somebody's home."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def fresh_run(notebook: NotebookNode) -> NotebookNode:
    """The notebook with the outputs of a run in a kernel of its own.

    Raises:
        CellExecutionError: A cell raised.
    """
    fresh = copy.deepcopy(notebook)
    resources = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(fresh, timeout=600, kernel_name="python3", resources=resources).execute()
    return fresh


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def said(cell: NotebookNode) -> list[tuple[str, str]]:
    """What a cell printed and showed, where that is text, under the stream or kind of each."""
    texts: list[tuple[str, str]] = []
    for output in cell.outputs:
        if output.output_type == "stream":
            texts.append((output.name, output.text))
        else:
            data: dict[str, Any] = output.get("data", {})
            texts += [(kind, text) for kind, text in data.items() if kind.startswith("text/")]
    # A stream comes in pieces, and not in the same ones each time.
    groups = itertools.groupby(texts, key=lambda it: it[0])
    return [(kind, "".join(text for _, text in pieces)) for kind, pieces in groups]


def tagged(notebook: NotebookNode, tag: str) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if tag in cell.metadata.get("tags", [])]


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_says_what_was_saved(path: Path):
    saved = read(path)
    fresh = fresh_run(saved)

    assert [said(cell) for cell in code_cells(fresh)] == [said(cell) for cell in code_cells(saved)]


@pytest.mark.parametrize(
    "path", [it for it in NOTEBOOKS if tagged(read(it), "exercise")], ids=lambda path: path.stem
)
def test_the_solution_of_an_exercise_is_right(path: Path):
    notebook = read(path)
    exercises, checks = tagged(notebook, "exercise"), tagged(notebook, "exercise-check")
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    solutions = SOLUTION.findall("\n".join(texts))
    assert len(exercises) == len(checks) == len(solutions)
    assert [text[:8] for cell in checks for _, text in said(cell)] == ["Not yet."] * len(checks)

    for exercise, solution in zip(exercises, solutions, strict=True):
        exercise.source = solution
    answers = [said(cell) for cell in tagged(fresh_run(notebook), "exercise-check")]

    assert [text[:6] for answer in answers for _, text in answer] == ["Right:"] * len(checks)
