"""Groupings in which each key has a watermark of its own."""

from beamlike.api.dataframe.inputs import Inputs
from beamlike.errors import UnsupportedError
from beamlike.machine.input_clocks import SourceClock

_ASKED = "watermark_per_key=True"


def key_clock_of(inputs: Inputs, name: str, fanout: int | None) -> SourceClock | None:
    """How the watermark of a key follows its own rows; None: the rows are bounded."""
    if fanout is not None:
        raise UnsupportedError(
            f"{_ASKED} in {name!r}: the groups of hot_key_fanout judge rows of all keys by one "
            "watermark; leave one of the two out, or take lift=True"
        )
    if not inputs.is_streaming:
        return None
    clocks = [rows.clock for rows in inputs.rows]
    source = clocks[0]
    if len(clocks) > 1 or not isinstance(source, SourceClock):
        raise UnsupportedError(
            f"{_ASKED} in {name!r}: the watermark of a key follows the rows that one source sends "
            "of it, and this takes "
            + ("several inputs" if len(clocks) > 1 else "the panes of a grouping")
            + "; use it in a grouping of bl.stream(...), or leave it out"
        )
    if source.by_part:
        raise UnsupportedError(
            f"{_ASKED} in {name!r}: the input has watermark_by=, and the keys would need none of "
            "its watermarks; leave one of the two out"
        )
    if source.max_jump is not None:
        raise UnsupportedError(
            f"{_ASKED} in {name!r}: the input has max_jump=, which keeps one key from moving the "
            "watermark of others, and here no key does; leave one of the two out"
        )
    return source
