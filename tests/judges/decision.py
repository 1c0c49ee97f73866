"""A decision about a difference between an engine and the scenarios."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import attrs

Answer = Mapping[str, Any]
"""What an engine gives out for a scenario or a case, as in a document of results."""


@attrs.frozen
class Decision:
    """What a difference is.

    Attributes:
        name: A name for it, and its heading on the page.
        engines: Those that differ in this way.
        verdict: ``theirs``, or ``open``.
        text: What differs, in a sentence or two.
        cause: Where in the engine's source.
        covers: Whether a scenario, with what an engine gave out, is a case of it.
        accident: In place of ``covers`` the change of the machine that makes exactly what the
            engine gave out, see `tests.judges.beam_accidents`.
        smallest: The smallest scenario that shows it.
    """

    name: str
    engines: tuple[str, ...]
    verdict: Literal["theirs", "open"]
    text: str
    cause: str
    covers: Callable[[Any, Answer], bool] = attrs.field(repr=False, default=lambda *_: False)
    accident: str = ""
    smallest: str = ""
