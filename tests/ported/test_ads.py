"""Advertisements and screens, enriched by a cache and by a repeated value.

Original: ``ScreenGlobalWindowWithLookupCacheEnricherTest`` and
``AdEventFixedWindowWithRepeaterEnricherTest`` of mkuthan/example-beam. For the jobs, and what is
different there, see the package ``ads`` beside this.

What differs: streams take their steps in turns, so a screen that comes after something of another
stream waits for as many steps.
"""

from typing import Any

import pytest
from ads.enriching import AdEvent, Publication, Screen, enrich_by_publication, enrich_by_screen

from beamlike.scio import ScioContext
from beamlike.testing import (
    be_empty,
    contain_single_value,
    contain_single_value_at_time,
    expect,
    in_on_time_pane,
)
from beamlike.testing import test_stream_of as stream_of

SCREEN, PUBLICATION, EVENT = Screen(), Publication(), AdEvent()
FIRST, SECOND = Publication(version="first"), Publication(version="second")


def screen_at(time: str, *watermarks: str) -> Any:
    stream = stream_of()
    for watermark in watermarks:
        stream = stream.advance_watermark_to(watermark)
    return stream.add_elements_at_time(time, SCREEN)


AT_NOON = stream_of().add_elements_at_time("12:00:00", PUBLICATION)
WITH_WATERMARK = stream_of().advance_watermark_to("12:00:00")
WITH_WATERMARK = WITH_WATERMARK.add_elements_at_time("12:00:00", PUBLICATION)
BOTH_AT_ONCE = stream_of().add_elements_at_time("12:00:00", FIRST, SECOND)
IN_ORDER = stream_of().add_elements_at_time("12:00:00", FIRST)
IN_ORDER = IN_ORDER.add_elements_at_time("12:00:01", SECOND)
OUT_OF_ORDER = stream_of().add_elements_at_time("12:00:01", SECOND)
OUT_OF_ORDER = OUT_OF_ORDER.add_elements_at_time("12:00:00", FIRST)

LOOKED_UP: dict[str, tuple[Any, Any, str, Any]] = {
    "a screen is enriched by the cached publication": (
        screen_at("13:00:00", "13:00:00"),
        AT_NOON,
        "13:00:00",
        PUBLICATION,
    ),
    "a late screen is enriched by the cached publication": (
        screen_at("11:59:59"),
        WITH_WATERMARK,
        "12:00:00",
        PUBLICATION,
    ),
    "a screen that is too late is not enriched": (
        screen_at("10:59:59"),
        WITH_WATERMARK,
        "10:59:59",
        None,
    ),
    "a publication that has expired enriches no screen": (
        screen_at("13:00:01", "13:00:00", "13:00:01"),
        AT_NOON,
        "13:00:01",
        None,
    ),
    "a screen is enriched by the last publication": (
        screen_at("13:00:00", "13:00:00"),
        BOTH_AT_ONCE,
        "13:00:00",
        SECOND,
    ),
    "a screen is enriched by the latest publication in order": (
        screen_at("13:00:00", "12:00:00", "13:00:00"),
        IN_ORDER,
        "13:00:00",
        SECOND,
    ),
    "a screen is enriched by the latest publication out of order": (
        screen_at("13:00:00", "12:00:00", "13:00:00"),
        OUT_OF_ORDER,
        "13:00:00",
        SECOND,
    ),
}


@pytest.mark.parametrize(
    ("screens", "publications", "time", "publication"), LOOKED_UP.values(), ids=LOOKED_UP
)
def test_the_cache(
    sc: ScioContext, screens: Any, publications: Any, time: str, publication: Publication | None
):
    enriched, dlq = enrich_by_publication(
        sc.test_stream(screens.advance_watermark_to_infinity()),
        sc.test_stream(publications.advance_watermark_to_infinity()),
    )

    one, nothing = (enriched, dlq) if publication else (dlq, enriched)
    value = (SCREEN, publication) if publication else SCREEN
    expect(one.with_timestamp()).to(contain_single_value_at_time(time, value))
    expect(nothing).to(be_empty())


REPEATED = {
    "a screen enriches an event of the same window": ("12:01:00", "12:02:00", "12:00", "12:10"),
    "a repeated screen enriches an event of the next window": (
        "12:01:00",
        "12:12:00",
        "12:10",
        "12:20",
    ),
    "a repeated screen enriches a close event of the next window": (
        "12:09:59",
        "12:10:00",
        "12:10",
        "12:20",
    ),
}


@pytest.mark.parametrize(("screen", "event", "start", "end"), REPEATED.values(), ids=REPEATED)
def test_the_repeated_value(sc: ScioContext, screen: str, event: str, start: str, end: str):
    events = stream_of().add_elements_at_time(event, EVENT)

    enriched, dlq = enrich_by_screen(
        sc.test_stream(events.advance_watermark_to_infinity()),
        sc.test_stream(screen_at(screen).advance_watermark_to_infinity()),
    )

    expect(enriched).to(in_on_time_pane(start, end, contain_single_value((EVENT, SCREEN))))
    expect(dlq).to(be_empty())


def test_a_screen_does_not_enrich_an_event_of_a_far_window(sc: ScioContext):
    events = stream_of().advance_watermark_to("12:20:00")
    events = events.add_elements_at_time("12:22:00", EVENT)

    enriched, dlq = enrich_by_screen(
        sc.test_stream(events.advance_watermark_to_infinity()),
        sc.test_stream(screen_at("12:01:00").advance_watermark_to_infinity()),
    )

    expect(enriched).to(be_empty())
    expect(dlq).to(in_on_time_pane("12:20", "12:30", contain_single_value(EVENT)))
