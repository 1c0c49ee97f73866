"""The two jobs, in Scio's words."""

from dataclasses import dataclass
from typing import Any

import beamlike as bl
from ads.functions import LookupCache, Repeat
from beamlike.beam.utils.timestamp import Duration
from beamlike.scio import SCollection, SideOutput, WindowOptions


@dataclass(frozen=True)
class Publication:
    id: str = "publication id"
    version: str = "version"


@dataclass(frozen=True)
class Screen:
    id: str = "screen id"
    publication_id: str = "publication id"


@dataclass(frozen=True)
class AdEvent:
    id: str = "ad id"
    screen_id: str = "screen id"


HOUR, TEN_MINUTES = Duration(3600), Duration(600)
EACH = WindowOptions(
    trigger=bl.Repeatedly(bl.AfterCount(1)),
    accumulation_mode="discarding",
    timestamp_combiner="latest",
    on_time_behavior="fire_if_non_empty",
    allowed_lateness=0,
)


def enrich_by_publication(
    screens: SCollection[Screen], publications: SCollection[Publication]
) -> tuple[SCollection[tuple[Screen, Publication]], SCollection[Screen]]:
    """Screens with their publication, and those without one."""
    by_publication = screens.with_global_window(EACH).key_by(lambda it: it.publication_id)
    by_id = publications.with_global_window(EACH).key_by(lambda it: it.id)
    return _divided(by_publication.cogroup(by_id).apply_per_key(LookupCache(HOUR)).values())


def enrich_by_screen(
    events: SCollection[AdEvent], screens: SCollection[Screen]
) -> tuple[SCollection[tuple[AdEvent, Screen]], SCollection[AdEvent]]:
    """Events with the screen of their window, which is repeated in the next one, or without."""
    options = WindowOptions(
        trigger=bl.AfterWatermark(late=bl.AfterProcessingTime()),
        accumulation_mode="accumulating",
        allowed_lateness=0,
    )
    by_screen = events.key_by(lambda it: it.screen_id)
    repeated = screens.key_by(lambda it: it.id).apply_per_key(Repeat(TEN_MINUTES, TEN_MINUTES))
    joined = by_screen.with_fixed_windows("10 minutes", options=options).left_outer_join(
        repeated.with_fixed_windows("10 minutes", options=options)
    )
    return _divided(joined.values())


def _divided(joined: SCollection[Any]) -> Any:
    without = SideOutput[Any]()

    def divide(pair: tuple[Any, Any], context: Any) -> list[tuple[Any, Any]]:
        if pair[1] is not None:
            return [pair]
        context.output(without, pair[0])
        return []

    enriched, sides = joined.with_side_outputs(without).flat_map(divide)
    return enriched, sides(without)
