"""The palettes as a style sheet, and the patterns of panes as a script."""

import json
from importlib.resources import files
from typing import Final

import attrs

from beamlike.palette.colours import DARK, LIGHT, STRIPE, TIMINGS, UNKNOWN

_MONO: Final = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace'


def palette_style() -> str:
    """Both palettes as variables: the dark one where the reader prefers that."""
    light, dark = (
        " ".join(f"--{name}: {colour};" for name, colour in attrs.asdict(palette).items())
        for palette in (LIGHT, DARK)
    )
    names = [timing.tone for timing in (*TIMINGS.values(), UNKNOWN)]
    tones = " ".join(f".{tone} {{ --tone: var(--{tone}); }}" for tone in names)
    return (
        f":root {{ color-scheme: light dark; --mono: {_MONO}; {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f"{tones}\n"
    )


def palette_script() -> str:
    """The function ``panePattern``, which draws the pattern of a timing."""
    stripes = {
        timing.tone: [*(timing.stripes or (9, 0, 0)), timing.ground, STRIPE]
        for timing in (*TIMINGS.values(), UNKNOWN)
    }
    script = (files("beamlike.palette") / "patterns.js").read_text(encoding="utf-8")
    return script.replace("STRIPES", json.dumps(stripes))
