"""How often a query is woken that waits on processing time while no data comes."""

from collections.abc import Iterable
from typing import Final

from beamlike.model.time import duration_ms
from beamlike.runtime.options import WAKE_EVERY

_USUAL_MS: Final = duration_ms(WAKE_EVERY, "wake_every")
_LONGEST_MS: Final = 60_000
_PART: Final = 4


def pace_ms(wake_every_ms: int, *, by_trigger: bool, idle_after_ms: Iterable[int]) -> int:
    """How long it takes from one call to wake up to the next.

    Each call is a micro-batch, for as long as the query lasts. Where only the silence of an input
    is waited for, most of them find nothing. So by default there are four of them in
    that silence, and one each minute at least.

    Args:
        wake_every_ms: As requested; the default stands for what is best.
        by_trigger: Whether a trigger or a timer waits, too.
        idle_after_ms: After how much silence each input that can be idle is so.

    >>> pace_ms(5_000, by_trigger=False, idle_after_ms=[60_000])
    15000
    """
    silences = list(idle_after_ms)
    if by_trigger or not silences or wake_every_ms != _USUAL_MS:
        return wake_every_ms
    return max(wake_every_ms, min(min(silences) // _PART, _LONGEST_MS))
