"""The colours of every figure, and how panes look.

The panes have colours of Okabe and Ito, which differ for every kind of colour vision. Nothing is
said by colour alone: each timing has a pattern and an outline of its own, elements have shapes.
"""

from collections.abc import Mapping
from typing import Final

import attrs


@attrs.frozen
class Palette:
    """The colours of a figure, as ``#rrggbb`` or ``#rrggbbaa``."""

    paper: str = "#faf9f6"
    card: str = "#ffffff"
    ink: str = "#22262c"
    muted: str = "#5d646e"
    line: str = "#dedbd3"
    faint: str = "#efede7"
    lost: str = "#c04a00"
    water: str = "#0072b2"
    focus: str = "#0072b2"
    column: str = "#46505f12"
    early: str = "#56b4e9"
    ontime: str = "#009e73"
    late: str = "#e69f00"
    unknown: str = "#8a8a8a"

    def of(self, timing: str) -> str:
        """The colour of the panes of a timing."""
        colour: str = getattr(self, timing_of(timing).tone)
        return colour


LIGHT: Final = Palette()
DARK: Final = Palette(
    paper="#15181d",
    card="#1c2027",
    ink="#e9e7e2",
    muted="#a2a9b4",
    line="#323842",
    faint="#232831",
    lost="#f2803c",
    water="#6db9ef",
    focus="#8ecbf5",
    column="#becde117",
)


@attrs.frozen
class TimingStyle:
    """How panes of a timing look.

    ``tone`` is the name of the colour; ``ground`` how much of it fills the pane; ``stripes`` the
    pattern: how far apart, at which angle and how thick they are; ``dashes`` the outline. Lengths
    are in pixels.
    """

    tone: str
    ground: float
    stripes: tuple[float, ...] = ()
    dashes: str = ""


STRIPE: Final = 0.42
"""How much of the colour is in a stripe."""
TIMINGS: Final[Mapping[str, TimingStyle]] = {
    "EARLY": TimingStyle("early", 0.14, (13, 45, 1.2), "6.3 3.8"),
    "ON_TIME": TimingStyle("ontime", 0.2),
    "LATE": TimingStyle("late", 0.16, (6, -45, 1.6)),
}
UNKNOWN: Final = TimingStyle("unknown", 0.16)


def timing_of(name: str) -> TimingStyle:
    """How panes of a timing look; any other name is that of panes of no timing."""
    return TIMINGS.get(name, UNKNOWN)
