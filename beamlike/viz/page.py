"""A recording as one HTML file, to step through in a browser. It needs no network and no server.

Everything is in the file: styles, scripts and data. A content security policy lets the browser
run these, known by their hashes, and fetch nothing. What users' values look like comes in as
data, and is only ever set as text.
"""

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Final

from beamlike.errors import RecordingError
from beamlike.palette.pages import palette_script, palette_style
from beamlike.viz.document import document_of
from beamlike.viz.recording import Recording
from beamlike.viz.saving import write_file
from beamlike.viz.table import pane_table

SHARED_SCRIPTS: Final = (
    *("axis.js", "layout.js", "clocked.js", "figure.js", "legend.js", "panel.js", "playing.js"),
)
"""What draws a document, on this page and in the playground."""
_POLICY: Final = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Text that becomes markup is an error."""
_PLACE: Final = re.compile(r"\{\{(\w+)\}\}")
# Whatever stands in the data, no parser of HTML or JavaScript finds an end of it there.
_ESCAPES: Final = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


def page(recording: Recording | Mapping[str, Recording], title: str = "beamlike") -> str:
    """A self-contained page that replays a recording, step by step.

    It shows event time across and the steps upwards, with elements, windows, panes and the
    watermark, and beside it what happened and the state of every trigger. The arrow keys step;
    ``#step=5`` at the end of the address opens that step.

    Args:
        recording: What to show; several by their titles if they belong together. The reader
            chooses one of them.
        title: The title of the page, and of a single recording.

    Returns:
        HTML, in UTF-8 once it is written. The same recording gives the same text.
    """
    chapters = {title: recording} if isinstance(recording, Recording) else dict(recording)
    if not chapters:
        raise RecordingError("a page needs a recording, got none; give at least one")
    documents = [document_of(chapter, name) for name, chapter in chapters.items()]
    style = palette_style() + page_part("page.css")
    parts = [palette_script(), *map(page_part, (*SHARED_SCRIPTS, "page.js"))]
    script = '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"
    plain = "\n\n".join(
        f"{name}\n{pane_table(chapter.run.outputs)}" for name, chapter in chapters.items()
    )
    filled = {
        "policy": _POLICY.format(script=_hash(script), style=_hash(style)),
        "title": html.escape(title),
        "style": style,
        "data": json.dumps({"scenarios": documents}).translate(_ESCAPES),
        "script": script,
        "plain": html.escape(plain),
    }
    # In one go: nothing that was filled in is looked at again.
    return _PLACE.sub(lambda place: filled[place[1]], page_part("page.html"))


def save_page(
    recording: Recording | Mapping[str, Recording],
    path: str | PathLike[str],
    title: str = "beamlike",
) -> Path:
    """Write the `page` to a file, whose folder has to exist, and return its path. A file that is
    there is replaced."""
    text = page(recording, title)
    file = Path(path)
    # The hashes are those of these line ends, on every system.
    write_file(text.encode("utf-8", "backslashreplace"), file, "the page")
    return file


def page_part(name: str) -> str:
    """A static part of the page. Line ends are made one, since the hashes count them."""
    return (files("beamlike.viz") / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
