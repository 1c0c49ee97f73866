"""Where the watermarks of a saved grouping come from, as text: inputs, their parts, keys."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from beamlike.inspect.state.key_clocks import KeyOfState
from beamlike.inspect.state.stage import SavedStage
from beamlike.machine.clocks import PartState
from beamlike.model.fingerprint import how_many
from beamlike.model.time import show_instant

_PARTS_SHOWN: Final = 3


def inputs_of(stage: SavedStage) -> Iterator[str]:
    """The watermark of each input, of a grouping whose inputs have watermarks of their own."""
    for at in range(max(len(shard.at.inputs) for shard in stage.shards)):
        states = [shard.at.inputs[at] for shard in stage.shards if at < len(shard.at.inputs)]
        updates = instant(max(it.active_at for it in states))
        if states[0].shards:
            by_shard = zip(*(it.shards for it in states), strict=True)
            watermarks = [max(of_shard) for of_shard in by_shard]
            least = min(watermarks)
            yield (
                f"{instant(least)}, of a grouping (its shard {watermarks.index(least)}), "
                f"updated at {updates}"
            )
            continue
        greatest = max((it.greatest for it in states if it.greatest is not None), default=None)
        if greatest is None:
            yield "a source that has delivered nothing yet"
        else:
            parts = _parts({part.part: part for state in states for part in state.parts}.values())
            yield (
                f"a source whose latest event is of {instant(greatest)}, updated at {updates}"
                f"{parts}"
            )


def _parts(parts: Collection[PartState]) -> str:
    """The parts of a source that have watermarks of their own, those that are behind first."""
    if not parts:
        return ""
    slowest = sorted(parts, key=lambda part: part.greatest)
    shown = (
        f"{it.part!r} at {instant(it.greatest)}, updated at {instant(it.active_at)}"
        for it in slowest[:_PARTS_SHOWN]
    )
    return f"; {how_many(len(slowest), 'part')}, the last {'; '.join(shown)}"


def keys_of(clocks: Sequence[KeyOfState]) -> str:
    """The watermarks of keys that have each its own, those that are behind first."""
    slowest = sorted(clocks, key=lambda clock: clock.clock.watermark)
    shown = (
        f"{escaped(it.key)} at {instant(it.clock.watermark)}, "
        f"updated at {instant(it.clock.active_at)}"
        for it in slowest[:_PARTS_SHOWN]
    )
    return f"{how_many(len(slowest), 'key')}, the last {'; '.join(shown)}"


def instant(at: int | None) -> str:
    """An instant (ms) for a person."""
    return "-" if at is None else show_instant(at)


def escaped(text: str) -> str:
    """A text of the checkpoint, which may have any, on one line that moves no cursor."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()
