"""A picture as a file. An SVG is its text; resvg paints a PNG, and Pillow puts a GIF together."""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from beamlike.errors import EnvironmentProblem, RecordingError
from beamlike.extras import needs

_ZOOM: Final = 1.5
"""Pixels of a PNG for one of the picture."""
_STEP_MS: Final = 700
_END_MS: Final = 3000
"""How long an animation shows a step, and its last one."""


@attrs.frozen
class Drawable:
    """What is written to a file: its SVG, up to an instant or to the end (None), and its text."""

    title: str
    text: str
    svg: Callable[[float | None], str]
    instants: Sequence[float]


def save(drawable: Drawable, path: Path) -> None:
    """Write a picture to a file; see `Picture.save`."""
    ending = path.suffix.lower()
    if ending not in _CONTENTS:
        named = f"has the ending {path.suffix}" if path.suffix else "has no ending"
        raise RecordingError(
            f"path: {path} {named}, which is no format of a picture; end it with .svg, .png or .gif"
        )
    content = _CONTENTS[ending](drawable)
    try:
        path.write_bytes(content)
    except OSError as error:
        raise EnvironmentProblem(
            f"the picture cannot be written to {path} ({error.strerror}); name a file in a "
            "folder that exists"
        ) from error


def _svg(drawable: Drawable) -> bytes:
    return drawable.svg(None).encode()


def _png(drawable: Drawable) -> bytes:
    """A PNG with its title and its text in its metadata."""
    (image,) = _painted([drawable.svg(None)], _ZOOM)
    from PIL.PngImagePlugin import PngInfo

    info, file = PngInfo(), io.BytesIO()
    info.add_itxt("Title", drawable.title)
    info.add_itxt("Description", drawable.text)
    image.save(file, format="png", pnginfo=info)
    return file.getvalue()


def _gif(drawable: Drawable) -> bytes:
    """A frame for each instant, with what has happened until then."""
    frames = [
        # As many colours as a GIF can hold look the same.
        image.convert("RGB").quantize(method=1)
        for image in _painted([drawable.svg(now) for now in drawable.instants], 1)
    ]
    lengths = [_STEP_MS] * (len(frames) - 1) + [_END_MS]
    style: dict[str, Any] = {"append_images": frames[1:], "loop": 0, "duration": lengths}
    file = io.BytesIO()
    frames[0].save(file, format="gif", save_all=True, comment=drawable.text.encode(), **style)
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
