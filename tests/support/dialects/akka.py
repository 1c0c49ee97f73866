"""Cases of Akka, played by `beamlike.dialects.akka`."""

from beamlike.dialects import akka
from tests.conformance.beamlike_conformance.scenarios import DialectCase
from tests.support.dialects.player import Player, unknown

__all__ = ["play_akka"]


def play_akka(case: DialectCase) -> Player:
    """The case, played to its end."""
    window, overflow = case.document["window"], case.document.get("overflow")
    bound = (
        {}
        if overflow is None
        else {"max_size": overflow["max_elements"], "overflow_strategy": overflow["strategy"]}
    )
    flow = akka.SessionWindow(window["gap_ms"], checked_every=window["checked_every_ms"], **bound)
    run = flow.run()
    player = Player(run)
    for index, step in enumerate(case.steps):
        match step:
            case {"elements": elements}:
                for element in elements:
                    player.note(index, run.push(element["value"], element["key"]))
            case {"advance_processing_time_by_ms": by}:
                player.note(index, run.advance(by))
            case {"end_of_input": True}:
                player.note(index, run.complete())
            case _:
                raise unknown(step)
    return player
