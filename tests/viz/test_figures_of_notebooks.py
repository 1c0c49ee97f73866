"""The figures of all notebooks, for a phone and for a desk: no label is cut or leaves its window.

Those of notebooks that need Spark are of the same kinds, and left out.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import nbformat
import pytest

from beamlike.testing import Results
from beamlike.viz import picture
from beamlike.viz.page import save_page
from beamlike.viz.recording import Recording
from beamlike.viz.scene import Scene
from tests.viz.test_picture_to_scale import check_names

pytestmark = pytest.mark.xdist_group("figures of notebooks")  # each notebook runs once

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = [
    path for path in sorted(FOLDER.glob("*.ipynb")) if "local_session" not in path.read_text()
]
WIDTHS = (390, pytest.param(1280, marks=pytest.mark.nightly))

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@attrs.frozen
class Shown:
    """What a notebook draws: its pictures, and the runs that some of them are of."""

    pictures: list[list[Scene]]
    recordings: list[Recording]


@cache
def shown_in(path: Path) -> Shown:
    """Everything that the cells of a notebook draw."""
    shown = Shown([], [])
    made, of_results = picture.Picture.__init__, Results.figure

    def making(drawn: picture.Picture, scenes: Sequence[Scene], *rest: Any, **more: Any) -> None:
        shown.pictures.append(list(scenes))
        made(drawn, scenes, *rest, **more)

    def recording(results: Results, *rest: Any, **more: Any) -> Any:
        shown.recordings.append(results.recording)
        return of_results(results, *rest, **more)

    names: dict[str, Any] = {"__name__": "__main__", "display": lambda *_: None}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(FOLDER)
        patch.syspath_prepend(str(FOLDER))  # where their `course` module is
        patch.setattr(picture.Picture, "__init__", making)
        patch.setattr(Results, "figure", recording)
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code" and "live" not in cell.metadata.get("tags", []):
                exec(compile(cell.source, f"{path.name}: {cell.id}", "exec"), names)
    return shown


def test_notebooks_have_figures() -> None:
    assert sum({path.stem: len(shown_in(path).pictures) for path in NOTEBOOKS}.values()) >= 15
    assert sum(len(shown_in(path).recordings) for path in NOTEBOOKS) >= 10


@pytest.mark.samples
@pytest.mark.parametrize("width", WIDTHS)
@every_notebook
def test_no_label_of_a_picture_is_cut_or_leaves_its_window(path: Path, width: int) -> None:
    for scenes in shown_in(path).pictures:
        check_names(picture.Picture(scenes, width=width))


CUT = """() => {
    const cut = [];
    for (const figure of document.querySelectorAll("#figure, #axis")) {
        const [wide, high] = ["width", "height"].map(name => Number(figure.getAttribute(name)));
        for (const text of figure.querySelectorAll("text")) {
            const { x, y, width, height } = text.getBBox();
            const isIn = x >= -1 && x + width <= wide + 1 && y >= -1 && y + height <= high + 1;
            if (!isIn) cut.push([figure.id, text.textContent, x, x + width, wide, y, high]);
        }
        for (const pane of figure.querySelectorAll("[data-kind=pane]")) {
            const text = pane.querySelector("text");
            const area = pane.querySelector("rect.area, .box").getBBox();
            if (!text) continue;
            const { x, width } = text.getBBox();
            if (x < area.x - 2 || x + width > area.x + area.width + 2) cut.push(text.textContent);
        }
    }
    return cut;
}"""


@pytest.mark.browser
@pytest.mark.samples
@pytest.mark.parametrize("width", WIDTHS)
@every_notebook
def test_no_label_of_a_stepping_page_is_cut_or_leaves_its_window(
    path: Path, width: int, browser: Any, tmp_path: Path
) -> None:
    tab = browser.new_page(viewport={"width": width, "height": 900})
    for number, recording in enumerate(shown_in(path).recordings):
        address = save_page(recording, tmp_path / f"{number}.html").as_uri()
        tab.goto(f"{address}#step=999")
        assert tab.evaluate(CUT) == []
    tab.close()
