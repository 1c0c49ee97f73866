"""A picture as a file, as an animation, and as a notebook shows it."""

import io
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import escape

from beamlike.errors import EnvironmentProblem, RecordingError
from beamlike.viz.dots import missing_characters

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI: Final = 100
_SAVED_DPI: Final = 150
_STEP_MS: Final = 700
_END_MS: Final = 3000
"""How long an animation shows a step, and its last one."""


def draw(picture: "Figure", path: str | Path) -> None:
    """Write a picture; the ending of ``path`` decides the format: png, svg, pdf or gif.

    An SVG has its title and its text in words inside, for screen readers; a PNG and a PDF have
    them in their metadata. A GIF is animated: a frame for each instant, with what has happened
    until then.

    Args:
        picture: A figure of `beamlike.viz.picture`.
    """
    figure: Any = picture
    target = Path(path)
    formats = {*figure.canvas.get_supported_filetypes(), *(["gif"] if _frames(figure) else [])}
    if target.suffix[1:].lower() not in formats:
        ending = f"has the ending {target.suffix}" if target.suffix else "has no ending"
        raise RecordingError(
            f"path: {path} {ending}, which is no format of a picture; end it with .png, .svg, "
            f".pdf or .gif (matplotlib writes {', '.join(sorted(formats))})"
        )
    try:
        _write_file(figure, target)
    except OSError as error:
        raise EnvironmentProblem(
            f"the picture cannot be written to {path} ({error.strerror}); name a file in a "
            "folder that exists"
        ) from error


def frames_of(figure: Any, frames: Callable[[], Iterable["Figure"]]) -> None:
    """Keep with a figure how it is animated."""
    vars(figure)["_beamlike_frames"] = frames


def _frames(figure: Any) -> Callable[[], Iterable[Any]] | None:
    frames: Callable[[], Iterable[Any]] | None = vars(figure).get("_beamlike_frames")
    return frames


def _write_file(figure: Any, target: Path) -> None:
    words = figure.get_label()
    title = words.partition(".")[0]
    match target.suffix.lower():
        case ".svg":
            target.write_text(_svg(figure, title, words), encoding="utf-8")
        case ".pdf":
            _save(figure, target, metadata={"Title": title, "Subject": words})
        case ".png":
            _save(figure, target, metadata={"Title": title, "Description": words})
        case ".gif" if frames := _frames(figure):
            with target.open("wb") as file:
                _animate(list(frames()) or [figure], file, words)
        case _:
            _save(figure, target)


def _save(figure: Any, target: Any, **options: Any) -> None:
    with missing_characters():
        figure.savefig(target, **{"dpi": _SAVED_DPI, **options})


def _animate(frames: Sequence[Any], file: Any, words: str) -> None:
    from PIL import Image

    paintings = [_flat(frame, Image) for frame in frames]
    lengths = [_STEP_MS] * (len(paintings) - 1) + [_END_MS]
    style = {"save_all": True, "append_images": paintings[1:], "loop": 0, "duration": lengths}
    paintings[0].save(file, format="gif", comment=words.encode(), **style)


def _flat(figure: Any, images: Any) -> Any:
    """A figure in a palette of as many colours as it can hold, which looks the same."""
    drawn = io.BytesIO()
    _save(figure, drawn, format="png", dpi=_DPI)
    return images.open(drawn).convert("RGB").quantize(method=images.Quantize.MAXCOVERAGE)


def _svg(figure: Any, title: str, words: str) -> str:
    from matplotlib import rc_context

    paper = io.StringIO()
    with rc_context({"svg.hashsalt": "beamlike", "svg.fonttype": "path"}):
        _save(figure, paper, format="svg", metadata={"Date": None})
    before, tag, after = paper.getvalue().partition("<svg ")
    attributes, end, content = after.partition(">")
    named = f'<title id="title">{escape(title)}</title><desc id="text">{escape(words)}</desc>'
    role = f'role="img" aria-labelledby="title text" {attributes}'
    return f"{before}{tag}{role}{end}\n {named}{content}"


def shown_in_notebooks(figure: Any) -> None:
    """Have a notebook show the picture, and its words to those who cannot see it."""
    vars(figure)["_repr_mimebundle_"] = partial(_for_notebooks, figure)


def _for_notebooks(
    figure: Any, *_: Any, **__: Any
) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    from PIL import Image  # comes with matplotlib

    paper = io.BytesIO()
    _flat(figure, Image).save(paper, format="png", optimize=True)
    words = figure.get_label()
    # The second is the text alternative for what makes pages of notebooks, such as nbconvert.
    return {"image/png": paper.getvalue(), "text/plain": words}, {"image/png": {"alt": words}}
