"""The names of shards, from a template such as ``-SSSSS-of-NNNNN``.

Source: Beam Python ``io.filebasedsink``.
"""

import re
from collections.abc import Callable
from typing import Any, Final
from uuid import uuid4

from beamlike.api.pipelines.python.windows import BoundedWindow, GlobalWindow
from beamlike.errors import PipelineError

DEFAULT_TEMPLATE: Final = "-SSSSS-of-NNNNN"
WINDOW_TEMPLATE: Final = "-W-SSSSS-of-NNNNN"

_PART: Final = re.compile(r"(S+)|(N+)|(U+)|(W+)|(V+)")
_SECONDS: Final = "%Y-%m-%dT%H-%M-%S"


class ShardNames:
    """Names of a template.

    ``S`` is the number of the shard, ``N`` how many there are, each with as many digits as there
    are letters; ``U`` is a text that is never the same, ``W`` the window and ``V`` the window in
    UTC. Of each only the first stands for something.

    >>> ShardNames("-SSS-of-NN").of(1, 12)
    '-001-of-12'

    Args:
        template: The template; an empty one names one shard.

    Raises:
        PipelineError: It has no ``S``.
    """

    def __init__(self, template: str) -> None:
        if template and "S" not in template:
            raise PipelineError(
                f"Shard number pattern S+ not found in shard_name_template: {template}; write "
                '"-SSSSS-of-NNNNN", or "" for a single file'
            )
        self.template = template

    def of(self, shard: int, shards: int, window: BoundedWindow | None = None) -> str:
        """The name of a shard.

        Args:
            shard: Its number.
            shards: How many there are.
            window: Of which window; None: there are none.
        """
        texts: dict[str, Callable[[int], str]] = {
            "S": lambda width: f"{shard:0{width}d}",
            "N": lambda width: f"{shards:0{width}d}",
            "U": lambda _width: uuid4().hex,
            "W": lambda _width: str(window),
            "V": lambda _width: str(_in_utc(window)),
        }
        seen: set[str] = set()

        def text(found: re.Match[str]) -> str:
            letter = found[0][0]
            if letter in seen:
                return found[0]
            seen.add(letter)
            return texts[letter](len(found[0]))

        return _PART.sub(text, self.template)

    def pattern(self, shards: int, window: BoundedWindow | None = None) -> re.Pattern[str]:
        """The names of all shards, however many digits there are."""
        known: dict[str, Any] = {
            "S": r"\d+",
            "N": rf"0*{shards}",
            "U": "[0-9a-f]+",
            "W": re.escape(str(window)),
            "V": re.escape(str(_in_utc(window))),
        }
        parts, seen = [], set[str]()
        for each in re.split(r"(S+|N+|U+|W+|V+)", self.template):
            stands = each[:1] in known and each[:1] not in seen
            seen.add(each[:1])
            parts.append(known[each[0]] if stands else re.escape(each))
        return re.compile("".join(parts))


def _in_utc(window: BoundedWindow | None) -> str | None:
    if window is None or isinstance(window, GlobalWindow):
        return None
    start, end = (it.to_utc_datetime().strftime(_SECONDS) for it in (window.start, window.end))
    return f"[{start}, {end})"
