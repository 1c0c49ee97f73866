"""Names of the files that a collection is written to.

Source: Beam Python ``io.filebasedsink``.
"""

import re
from collections.abc import Mapping
from typing import Final
from uuid import uuid4

import attrs

from beamlike.api.pipelines.python.windows import BoundedWindow, GlobalWindow
from beamlike.errors import PipelineError

_DEFAULT: Final = "-SSSSS-of-NNNNN"
_BY_WINDOW: Final = "-W-SSSSS-of-NNNNN"
_PLACE: Final = re.compile(r"S+|N+|U+|W+|V+")
_SECONDS: Final = "%Y-%m-%dT%H-%M-%S"


def _in_utc(window: BoundedWindow | None) -> str:
    if window is None or isinstance(window, GlobalWindow):
        return "None"
    start, end = (time.to_utc_datetime().strftime(_SECONDS) for time in (window.start, window.end))
    return f"[{start}, {end})"


def _check(_instance: object, _attribute: object, template: str | None) -> None:
    if template and "S" not in template:
        raise PipelineError(
            f"Shard number pattern S+ not found in shard_name_template: {template}; write "
            '"-SSSSS-of-NNNNN", or "" for a single file'
        )


@attrs.frozen
class ShardNames:
    """Paths made of a template.

    ``S`` is the number of the shard, ``N`` how many there are, each with as many digits as there
    are letters; ``U`` is a text that is never the same, ``W`` the window and ``V`` the window in
    UTC. Of each letter only the first place counts.

    >>> ShardNames("out", ".txt", "-SSS-of-NN").path(1, 12)
    'out-001-of-12.txt'

    Args:
        prefix: How the paths begin.
        suffix: How they end.
        template: What stands between; an empty one names one shard. None:
            ``-SSSSS-of-NNNNN``, and where there is a window ``-W-SSSSS-of-NNNNN``.

    Raises:
        PipelineError: The template has no ``S``.
    """

    prefix: str
    suffix: str = ""
    template: str | None = attrs.field(default=None, validator=_check)

    def path(self, shard: int, shards: int, window: BoundedWindow | None = None) -> str:
        """The path of a shard.

        Args:
            shard: Its number.
            shards: How many there are.
            window: Of which window; None: the collection has none.
        """
        texts = {"U": uuid4().hex, "W": str(window), "V": _in_utc(window)}
        parts = [
            f"{shard if place[0] == 'S' else shards:0{len(place)}d}"
            if place[0] in "SN"
            else texts[place[0]]
            for place in self._places(window)
        ]
        return f"{self.prefix}{self._filled(window, parts)}{self.suffix}"

    def pattern(self, shards: int, window: BoundedWindow | None = None) -> re.Pattern[str]:
        """What the paths of all shards match, whatever their numbers are."""
        texts: Mapping[str, str] = {
            "S": r"\d+",
            "N": f"0*{shards}",
            "U": "[0-9a-f]+",
            "W": re.escape(str(window)),
            "V": re.escape(_in_utc(window)),
        }
        parts = [texts[place[0]] for place in self._places(window)]
        middle = self._filled(window, parts, escape=True)
        return re.compile(f"{re.escape(self.prefix)}{middle}{re.escape(self.suffix)}")

    def _template(self, window: BoundedWindow | None) -> str:
        if self.template is not None:
            return self.template
        return _DEFAULT if window is None else _BY_WINDOW

    def _places(self, window: BoundedWindow | None) -> list[str]:
        """The places of a template, of each letter the first."""
        places = [place[0] for place in _PLACE.finditer(self._template(window))]
        return list({place[0]: place for place in reversed(places)}.values())[::-1]

    def _filled(self, window: BoundedWindow | None, parts: list[str], escape: bool = False) -> str:
        """The template with these parts at its places."""
        left = dict(zip((place[0] for place in self._places(window)), parts, strict=True))
        template, text, position = self._template(window), "", 0
        for place in _PLACE.finditer(template):
            between = template[position : place.start()]
            text += re.escape(between) if escape else between
            literal = re.escape(place[0]) if escape else place[0]
            text += left.pop(place[0][0], literal)
            position = place.end()
        rest = template[position:]
        return text + (re.escape(rest) if escape else rest)
