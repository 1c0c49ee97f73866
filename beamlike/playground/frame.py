"""The playground in a notebook, with the stream of a run in it."""

import base64
import json
import zlib
from functools import cache
from html import escape
from typing import TYPE_CHECKING

import attrs

from beamlike.errors import BeamlikeError
from beamlike.playground.sketches import Plain, sketch_of
from beamlike.testing.scenarios.files import AGGREGATIONS

if TYPE_CHECKING:
    from beamlike.playground.server import PlaygroundServer
    from beamlike.testing.streams.results import Results


@attrs.frozen
class PlaygroundFrame:
    """The playground at an address of this machine; a notebook shows it by itself, see `show`.

    Attributes:
        url: Where it is, as long as this process lasts.
        height: How high it is in a notebook (pixels).
    """

    url: str
    height: int = 900

    def _repr_html_(self) -> str:
        url = escape(self.url, quote=True)
        return (
            f'<iframe title="The playground" src="{url}" '
            f'style="width: 100%; height: {self.height}px; border: 1px solid #8a8a8a"></iframe>'
        )


def show(results: "Results | None" = None, *, height: int = 900) -> PlaygroundFrame:
    """Show the playground in a notebook, to play with the stream of a run::

        from beamlike.playground import show

        show(stream.run(window=bl.FixedWindows("2 minutes"), aggregate=Sum()))

    It is served on this machine until the process ends.

    Args:
        results: The run whose stream and strategy it begins with; None for its own example.
        height: How high it is (pixels).

    Raises:
        BeamlikeError: The run has a combine function that scenario files have no name for, or
            values that they cannot have.
        EnvironmentProblem: Pyodide cannot be had.
        TestStreamError: The run groups nothing.
    """
    address = "" if results is None else f"#s={_address(_sketch(results))}"
    return PlaygroundFrame(_served().url + address, height)


@cache
def _served() -> "PlaygroundServer":
    from beamlike.playground.folder import built_folder
    from beamlike.playground.server import PlaygroundServer

    return PlaygroundServer(built_folder())


def _sketch(results: "Results") -> Plain:
    grouping = results.grouping
    names = [name for name, combine in AGGREGATIONS.items() if combine == grouping.combine]
    if not names:
        raise BeamlikeError(
            f"the playground has no {grouping.combine!r}; run the stream with one of "
            f"{', '.join(AGGREGATIONS)}"
        )
    return sketch_of(grouping.run.script, grouping.strategy, names[0], "the stream of a notebook")


def _address(sketch: Plain) -> str:
    """A sketch as the page reads it in its address."""
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(json.dumps(sketch).encode()) + packer.flush()
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")
