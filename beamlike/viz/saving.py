"""A picture as a file. An SVG is its text; resvg paints a PNG, and Pillow puts a GIF together."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from beamlike.errors import EnvironmentProblem, RecordingError
from beamlike.extras import needs

if TYPE_CHECKING:
    from beamlike.viz.picture import Picture

_ZOOM: Final = 1.5
"""Pixels of a PNG for one of the picture."""
_STEP_MS: Final = 700
_END_MS: Final = 3000
"""How long an animation shows a step, and its last one."""


def write_file(content: bytes, path: Path, what: str) -> None:
    """Write what is called so to a file, which is replaced if it is there.

    Raises:
        EnvironmentProblem: It cannot be written there.
    """
    try:
        path.write_bytes(content)
    except OSError as error:
        raise EnvironmentProblem(
            f"{what} cannot be written to {path} ({error.strerror}); name a file in a folder that "
            "exists"
        ) from error


def save(picture: "Picture", path: Path) -> None:
    """Write a picture to a file; see `Picture.save`."""
    ending = path.suffix.lower()
    if ending not in _CONTENTS:
        named = f"has the ending {path.suffix}" if path.suffix else "has no ending"
        raise RecordingError(
            f"path: {path} {named}, which is no format of a picture; end it with .svg, .png or .gif"
        )
    write_file(_CONTENTS[ending](picture), path, "the picture")


def _svg(picture: "Picture") -> bytes:
    return picture.svg().encode()


def _png(picture: "Picture") -> bytes:
    """A PNG with its title and its text in its metadata."""
    (image,) = _painted([picture.svg()], _ZOOM)
    from PIL.PngImagePlugin import PngInfo

    info, file = PngInfo(), io.BytesIO()
    info.add_itxt("Title", picture.title)
    info.add_itxt("Description", picture.text)
    image.save(file, format="png", pnginfo=info)
    return file.getvalue()


def _gif(picture: "Picture") -> bytes:
    """A frame for each instant, with what has happened until then."""
    instants = sorted({row for scene in picture.scenes for row in scene.instants})
    frames = [
        # As many colours as a GIF can hold look the same.
        image.convert("RGB").quantize(method=1)
        for image in _painted(list(map(picture.svg, instants)), 1)
    ]
    lengths = [_STEP_MS] * (len(frames) - 1) + [_END_MS]
    style: dict[str, Any] = {"append_images": frames[1:], "loop": 0, "duration": lengths}
    file = io.BytesIO()
    frames[0].save(file, format="gif", save_all=True, comment=picture.text.encode(), **style)
    return file.getvalue()


def _painted(drawings: Sequence[str], zoom: float) -> list[Any]:
    """Drawings as images of Pillow."""
    needs("a PNG or a GIF", "png", ", or draw an SVG, which needs neither")
    import resvg_py
    from PIL import Image

    return [
        Image.open(io.BytesIO(resvg_py.svg_to_bytes(svg_string=drawing, zoom=zoom)))
        for drawing in drawings
    ]


_CONTENTS: Final = {".svg": _svg, ".png": _png, ".gif": _gif}
