"""The colours of the pictures.

The palette of Okabe and Ito: its colours differ for every kind of colour vision. Nothing is said by
colour alone: boxes carry their timing in words and by hatching, elements by shape.
"""

from typing import Final

__all__ = ["COLOURS", "DROPPED", "FAINT", "HATCHES", "INK", "OTHER", "SOFT"]

COLOURS: Final = {"EARLY": "#56B4E9", "ON_TIME": "#009E73", "LATE": "#E69F00"}
HATCHES: Final = {"EARLY": "..", "ON_TIME": "", "LATE": "//"}
OTHER: Final = "#999999"
DROPPED: Final = "#D55E00"
INK: Final = "#222222"
SOFT: Final = "#555555"
FAINT: Final = "#8A8A8A"
