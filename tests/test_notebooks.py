"""Every notebook runs from top to bottom, says what was saved, and has right solutions.

Those that need Spark run here, on the session of the tests, and the others in one kernel, which
forgets each of them. What a cell tagged `varies` says depends on the time or on the machine, and is
not compared. A cell tagged `live` shows what is gone when the notebook is saved, and is saved
without it.
"""

import ast
import asyncio
import atexit
import base64
import contextlib
import copy
import io
import itertools
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import nbformat
import pandas as pd
import pytest
from IPython.core.formatters import DisplayFormatter
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SOLUTION = re.compile(r"^## (\d+)\. .+?^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXERCISE = re.compile(r"^### (\d+)\. ", re.MULTILINE)
FRAME = re.compile(r'<iframe title="([^"]*)"')
WORDS = re.compile(r"<desc[^>]*>(.*?)</desc>")
LINK = re.compile(r"\]\(([^)#:]+)\)")
LISTED = re.compile(r"^\| \[.+?\]\((\S+?\.ipynb)\) \| (.+) \|$", re.MULTILINE)
MOST_BYTES = 1_500_000

Said = list[tuple[str, str]]

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A kernel keeps a history of what it ran, and not in somebody's home."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))


@pytest.fixture(autouse=True)
def the_folder_is_where_they_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Jupyter runs a notebook: what lies beside it can be imported."""
    monkeypatch.syspath_prepend(str(FOLDER))


@pytest.fixture(autouse=True)
def the_session_is_there(request: pytest.FixtureRequest) -> None:
    """What a notebook asks for is then the session of all tests."""
    if request.node.get_closest_marker("spark"):
        request.getfixturevalue("utc_session")


@cache
def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def needs_spark(path: Path) -> bool:
    """Whether the first cell of code makes a session."""
    return "local_session" in code_cells(read(path))[0].source


class InThisProcess:
    """Runs cells as `NotebookClient` does, without a kernel, so that they find a session here."""

    def __init__(self) -> None:
        self._names: dict[str, Any] = {}

    @contextlib.contextmanager
    def setup_kernel(self) -> Iterator[None]:
        self._names = {"__name__": "__main__"}
        try:
            yield
        finally:
            pd.reset_option("^display")
            self._names.clear()

    def execute_cell(self, cell: NotebookNode, _: int) -> None:
        if cell.cell_type != "code":
            return
        tree = ast.parse(cell.source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        shown = None
        streams = {"stdout": io.StringIO(), "stderr": io.StringIO()}
        with (
            contextlib.redirect_stdout(streams["stdout"]),
            contextlib.redirect_stderr(streams["stderr"]),
        ):
            exec(compile(tree, cell.id, "exec"), self._names)
            if isinstance(last, ast.Expr):
                shown = eval(compile(ast.Expression(last.value), cell.id, "eval"), self._names)
        printed = {name: stream.getvalue() for name, stream in streams.items()}
        cell.outputs = [
            new_output("stream", name=name, text=text) for name, text in printed.items() if text
        ]
        if shown is not None:
            data, metadata = DisplayFormatter().format(shown)
            reported = {kind: _as_text(it) for kind, it in data.items()}
            cell.outputs.append(new_output("execute_result", data=reported, metadata=metadata))


def _as_text(shown: str | bytes) -> str:
    return shown if isinstance(shown, str) else base64.b64encode(shown).decode()


class InOneKernel(NotebookClient):  # type: ignore[misc]
    """Runs cells in a kernel that was there before, and forgets them at the end."""

    @contextlib.contextmanager
    def setup_kernel(self) -> Iterator[None]:
        with super().setup_kernel():
            yield
            self.execute_cell(new_code_cell("%reset -f"), 0)


@cache
def kernel() -> AsyncKernelManager:
    """The kernel of this process; it starts with its first notebook."""
    manager = AsyncKernelManager(kernel_name="python3")
    atexit.register(lambda: manager.has_kernel and asyncio.run(manager.shutdown_kernel(now=True)))
    return manager


def client_of(path: Path, notebook: NotebookNode) -> "NotebookClient | InThisProcess":
    if needs_spark(path):
        return InThisProcess()
    resources = {"metadata": {"path": str(FOLDER)}}
    return InOneKernel(notebook, km=kernel(), timeout=600, resources=resources)


@cache
def fresh_run(path: Path) -> tuple[list[Said], list[Said], list[Said]]:
    """What the code cells of a notebook say, then its checks, and what is not saved.

    The second is what each check says of the solution. It runs after everything else, as it would
    for a reader who went back to the exercise.
    """
    fresh = copy.deepcopy(read(path))
    client = client_of(path, fresh)
    with client.setup_kernel():
        for at, cell in enumerate(fresh.cells):
            client.execute_cell(cell, at)
        outcome = [said(cell) for cell in compared(fresh)]
        live = [said(cell) for cell in tagged(fresh, "live")]
        for cell, solution in zip(tagged(fresh, "exercise"), solutions(path), strict=True):
            cell.source = solution
            client.execute_cell(cell, fresh.cells.index(cell))
        for cell in tagged(fresh, "exercise-check"):
            client.execute_cell(cell, fresh.cells.index(cell))
    return outcome, [said(cell) for cell in tagged(fresh, "exercise-check")], live


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def compared(notebook: NotebookNode) -> list[NotebookNode]:
    """The code cells that say the same each time."""
    varying = tagged(notebook, "varies")
    return [cell for cell in code_cells(notebook) if cell not in varying]


def said(cell: NotebookNode) -> Said:
    """What a cell printed and showed, under the stream or kind of each.

    Of a picture there are its words, and of a page in a frame its title: `tests/viz` is about what
    is in them.
    """
    texts: Said = []
    for output in cell.outputs:
        if output.output_type == "stream":
            texts.append((output.name, output.text))
            continue
        data: dict[str, Any] = output.get("data", {})
        for kind, shown in sorted(data.items()):  # a saved file has them in this order
            if frame := FRAME.match(shown if kind == "text/html" else ""):
                texts.append((kind, frame[1]))
            elif kind.startswith("text/"):
                texts.append((kind, shown))
            elif drawn := WORDS.search(shown if kind == "image/svg+xml" else ""):
                texts.append((kind, drawn[1]))
    # A stream comes in pieces, and not in the same ones each time.
    groups = itertools.groupby(texts, key=lambda it: it[0])
    return [(kind, "".join(text for _, text in pieces)) for kind, pieces in groups]


def tagged(notebook: NotebookNode, tag: str) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if tag in cell.metadata.get("tags", [])]


def solutions(path: Path) -> list[str]:
    """The solutions of a notebook's exercises, which have its name, in order."""
    page = FOLDER / "solutions" / f"{path.stem}.md"
    found = SOLUTION.findall(page.read_text(encoding="utf-8"))
    assert [number for number, _ in found] == [str(index + 1) for index in range(len(found))]
    return [solution for _, solution in found]


def question(notebook: NotebookNode) -> str:
    """The heading that a notebook opens with."""
    return str(notebook.cells[0].source.partition("\n")[0].removeprefix("# "))


APART = (pytest.mark.spark, pytest.mark.nightly, pytest.mark.xdist_group("own sessions"))


def marks_of(path: Path) -> tuple[Any, ...]:
    """With Spark at night. Of the others two for each change: `test_figures_of_notebooks` runs the
    cells of all."""
    if needs_spark(path):
        return APART
    runs = (pytest.mark.xdist_group(path.stem),)  # it runs once
    return runs if path.stem[:2] in ("00", "05") else (*runs, pytest.mark.nightly)


every_run = pytest.mark.parametrize(
    "path", [pytest.param(path, id=path.stem, marks=marks_of(path)) for path in NOTEBOOKS]
)


def test_the_list_of_notebooks_has_each_of_them_in_order_with_its_question() -> None:
    listed = LISTED.findall((FOLDER / "README.md").read_text(encoding="utf-8"))
    assert listed == [(path.name, question(read(path))) for path in NOTEBOOKS]


@every_notebook
def test_a_notebook_opens_with_a_question(path: Path) -> None:
    first = read(path).cells[0]
    assert (first.cell_type, first.source[:2]) == ("markdown", "# ")
    assert "?" in question(read(path))


@every_notebook
def test_a_notebook_links_to_what_exists(path: Path) -> None:
    texts = [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]
    links = LINK.findall("\n".join(texts))
    assert [link for link in links if not (FOLDER / link).exists()] == []


@every_notebook
def test_a_notebook_is_saved_small(path: Path) -> None:
    assert path.stat().st_size < MOST_BYTES


@every_notebook
def test_a_notebook_was_saved_with_what_it_says_and_without_errors(path: Path) -> None:
    saved = read(path)
    outputs = [output for cell in code_cells(saved) for output in cell.outputs]
    assert [output for output in outputs if output.output_type == "error"] == []
    texts = [text for cell in code_cells(saved) for text in said(cell)]
    assert [text for kind, text in texts if kind == "stderr"] == []
    assert [output for cell in tagged(saved, "live") for output in cell.outputs] == []


@every_notebook
def test_there_are_pictures_and_each_has_its_words_beside_it(path: Path) -> None:
    texts = [dict(said(cell)) for cell in code_cells(read(path))]
    pictures = [text for text in texts if "image/svg+xml" in text]
    assert pictures != []
    assert [text["image/svg+xml"] for text in pictures] == [
        escape(text["text/plain"]) for text in pictures
    ]


@every_run
def test_a_notebook_runs_and_says_what_was_saved(path: Path) -> None:
    outcome, _, _ = fresh_run(path)
    assert outcome == [said(cell) for cell in compared(read(path))]


@every_notebook
def test_a_notebook_ends_with_exercises_that_are_not_solved_yet(path: Path) -> None:
    saved = read(path)
    texts = [cell.source for cell in saved.cells if cell.cell_type == "markdown"]
    exercises, checks = tagged(saved, "exercise"), tagged(saved, "exercise-check")
    assert EXERCISE.findall("\n".join(texts)) == [str(index + 1) for index in range(len(exercises))]
    assert 3 <= len(exercises) <= 5
    assert len(exercises) == len(checks) == len(solutions(path))
    assert [text[:8] for cell in checks for _, text in said(cell)] == ["Not yet."] * len(checks)
    assert f"(solutions/{path.stem}.md)" in texts[-1]


@every_run
def test_the_solutions_of_the_exercises_are_right(path: Path) -> None:
    _, answers, _ = fresh_run(path)
    assert [text[:6] for answer in answers for _, text in answer] == ["Right:"] * len(answers)


@pytest.mark.xdist_group(NOTEBOOKS[0].stem)
def test_the_ten_scores_are_in_the_playground() -> None:
    _, _, ((shown, *_),) = fresh_run(NOTEBOOKS[0])
    assert shown == ("text/html", "The playground")
