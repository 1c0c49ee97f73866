"""A picture as a file. An SVG is its text; resvg paints a PNG, and Pillow puts a GIF together."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from beamlike.errors import EnvironmentProblem
from beamlike.extras import needs

_ZOOM: Final = 1.5
"""Pixels of a PNG for one of the picture."""
_STEP_MS: Final = 700
_END_MS: Final = 3000
"""How long an animation shows a step, and its last one."""


def write_file(content: bytes, path: Path, title: str) -> None:
    """Write what is called so to a file, which is replaced if it is there.

    Raises:
        EnvironmentProblem: It cannot be written there.
    """
    try:
        path.write_bytes(content)
    except OSError as error:
        raise EnvironmentProblem(
            f"{title} cannot be written to {path} ({error.strerror}); name a file in a folder that "
            "exists"
        ) from error


def png_of(drawing: str, title: str, text: str) -> bytes:
    """An SVG as a PNG, with its title and its text in its metadata."""
    (image,) = _painted([drawing], _ZOOM)
    from PIL.PngImagePlugin import PngInfo

    info, file = PngInfo(), io.BytesIO()
    info.add_itxt("Title", title)
    info.add_itxt("Description", text)
    image.save(file, format="png", pnginfo=info)
    return file.getvalue()


def gif_of(drawings: Sequence[str], text: str) -> bytes:
    """Several SVGs as an animated GIF, a frame for each."""
    # As many colours as a GIF can hold look the same.
    frames = [image.convert("RGB").quantize(method=1) for image in _painted(drawings, 1)]
    lengths = [_STEP_MS] * (len(frames) - 1) + [_END_MS]
    style: dict[str, Any] = {"append_images": frames[1:], "loop": 0, "duration": lengths}
    file = io.BytesIO()
    frames[0].save(file, format="gif", save_all=True, comment=text.encode(), **style)
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
