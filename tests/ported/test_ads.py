"""Advertisements and screens, enriched by a cache and by a repeated value.

Original: ``ScreenGlobalWindowWithLookupCacheEnricherTest`` and
``AdEventFixedWindowWithRepeaterEnricherTest`` of mkuthan/example-beam. For the jobs, and what is
different there, see the package ``ads`` beside this.

What differs: streams take their steps in turns, so a screen that comes after something of another
stream waits for as many steps.
"""

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
ENRICHED = (SCREEN, PUBLICATION)
FIRST, SECOND = Publication(version="first"), Publication(version="second")


# -- the cache -------------------------------------------------------------------------------


def test_a_screen_is_enriched_by_the_cached_publication(sc: ScioContext):
    screens = stream_of().advance_watermark_to("13:00:00")
    screens = screens.add_elements_at_time("13:00:00", SCREEN).advance_watermark_to_infinity()
    publications = stream_of().add_elements_at_time("12:00:00", PUBLICATION)

    enriched, dlq = enrich_by_publication(
        sc.test_stream(screens), sc.test_stream(publications.advance_watermark_to_infinity())
    )

    expect(enriched.with_timestamp()).to(contain_single_value_at_time("13:00:00", ENRICHED))
    expect(dlq).to(be_empty())


def test_a_late_screen_is_enriched_by_the_cached_publication(sc: ScioContext):
    screens = stream_of().add_elements_at_time("11:59:59", SCREEN)
    publications = stream_of().advance_watermark_to("12:00:00")
    publications = publications.add_elements_at_time("12:00:00", PUBLICATION)

    enriched, dlq = enrich_by_publication(
        sc.test_stream(screens.advance_watermark_to_infinity()),
        sc.test_stream(publications.advance_watermark_to_infinity()),
    )

    expect(enriched.with_timestamp()).to(contain_single_value_at_time("12:00:00", ENRICHED))
    expect(dlq).to(be_empty())


def test_a_screen_that_is_too_late_is_not_enriched(sc: ScioContext):
    screens = stream_of().add_elements_at_time("10:59:59", SCREEN)
    publications = stream_of().advance_watermark_to("12:00:00")
    publications = publications.add_elements_at_time("12:00:00", PUBLICATION)

    enriched, dlq = enrich_by_publication(
        sc.test_stream(screens.advance_watermark_to_infinity()),
        sc.test_stream(publications.advance_watermark_to_infinity()),
    )

    expect(enriched).to(be_empty())
    expect(dlq.with_timestamp()).to(contain_single_value_at_time("10:59:59", SCREEN))


def test_a_publication_that_has_expired_enriches_no_screen(sc: ScioContext):
    screens = stream_of().advance_watermark_to("13:00:00").advance_watermark_to("13:00:01")
    screens = screens.add_elements_at_time("13:00:01", SCREEN).advance_watermark_to_infinity()
    publications = stream_of().add_elements_at_time("12:00:00", PUBLICATION)

    enriched, dlq = enrich_by_publication(
        sc.test_stream(screens), sc.test_stream(publications.advance_watermark_to_infinity())
    )

    expect(enriched).to(be_empty())
    expect(dlq.with_timestamp()).to(contain_single_value_at_time("13:00:01", SCREEN))


def test_a_screen_is_enriched_by_the_last_publication(sc: ScioContext):
    screens = stream_of().advance_watermark_to("13:00:00")
    screens = screens.add_elements_at_time("13:00:00", SCREEN).advance_watermark_to_infinity()
    publications = stream_of().add_elements_at_time("12:00:00", FIRST, SECOND)

    enriched, dlq = enrich_by_publication(
        sc.test_stream(screens), sc.test_stream(publications.advance_watermark_to_infinity())
    )

    expect(enriched.with_timestamp()).to(contain_single_value_at_time("13:00:00", (SCREEN, SECOND)))
    expect(dlq).to(be_empty())


def test_a_screen_is_enriched_by_the_latest_publication_in_order(sc: ScioContext):
    screens = stream_of().advance_watermark_to("12:00:00").advance_watermark_to("13:00:00")
    screens = screens.add_elements_at_time("13:00:00", SCREEN).advance_watermark_to_infinity()
    publications = stream_of().add_elements_at_time("12:00:00", FIRST)
    publications = publications.add_elements_at_time("12:00:01", SECOND)

    enriched, dlq = enrich_by_publication(
        sc.test_stream(screens), sc.test_stream(publications.advance_watermark_to_infinity())
    )

    expect(enriched.with_timestamp()).to(contain_single_value_at_time("13:00:00", (SCREEN, SECOND)))
    expect(dlq).to(be_empty())


def test_a_screen_is_enriched_by_the_latest_publication_out_of_order(sc: ScioContext):
    screens = stream_of().advance_watermark_to("12:00:00").advance_watermark_to("13:00:00")
    screens = screens.add_elements_at_time("13:00:00", SCREEN).advance_watermark_to_infinity()
    publications = stream_of().add_elements_at_time("12:00:01", SECOND)
    publications = publications.add_elements_at_time("12:00:00", FIRST)

    enriched, dlq = enrich_by_publication(
        sc.test_stream(screens), sc.test_stream(publications.advance_watermark_to_infinity())
    )

    expect(enriched.with_timestamp()).to(contain_single_value_at_time("13:00:00", (SCREEN, SECOND)))
    expect(dlq).to(be_empty())


# -- the repeated value ----------------------------------------------------------------------


def test_a_screen_enriches_an_event_of_the_same_window(sc: ScioContext):
    events = stream_of().add_elements_at_time("12:02:00", EVENT)
    screens = stream_of().add_elements_at_time("12:01:00", SCREEN)

    enriched, dlq = enrich_by_screen(
        sc.test_stream(events.advance_watermark_to_infinity()),
        sc.test_stream(screens.advance_watermark_to_infinity()),
    )

    expect(enriched).to(in_on_time_pane("12:00", "12:10", contain_single_value((EVENT, SCREEN))))
    expect(dlq).to(be_empty())


def test_a_repeated_screen_enriches_an_event_of_the_next_window(sc: ScioContext):
    events = stream_of().add_elements_at_time("12:12:00", EVENT)
    screens = stream_of().add_elements_at_time("12:01:00", SCREEN)

    enriched, dlq = enrich_by_screen(
        sc.test_stream(events.advance_watermark_to_infinity()),
        sc.test_stream(screens.advance_watermark_to_infinity()),
    )

    expect(enriched).to(in_on_time_pane("12:10", "12:20", contain_single_value((EVENT, SCREEN))))
    expect(dlq).to(be_empty())


def test_a_repeated_screen_enriches_a_close_event_of_the_next_window(sc: ScioContext):
    events = stream_of().add_elements_at_time("12:10:00", EVENT)
    screens = stream_of().add_elements_at_time("12:09:59", SCREEN)

    enriched, dlq = enrich_by_screen(
        sc.test_stream(events.advance_watermark_to_infinity()),
        sc.test_stream(screens.advance_watermark_to_infinity()),
    )

    expect(enriched).to(in_on_time_pane("12:10", "12:20", contain_single_value((EVENT, SCREEN))))
    expect(dlq).to(be_empty())


def test_a_screen_does_not_enrich_an_event_of_a_far_window(sc: ScioContext):
    events = stream_of().advance_watermark_to("12:20:00")
    events = events.add_elements_at_time("12:22:00", EVENT)
    screens = stream_of().add_elements_at_time("12:01:00", SCREEN)

    enriched, dlq = enrich_by_screen(
        sc.test_stream(events.advance_watermark_to_infinity()),
        sc.test_stream(screens.advance_watermark_to_infinity()),
    )

    expect(enriched).to(be_empty())
    expect(dlq).to(in_on_time_pane("12:20", "12:30", contain_single_value(EVENT)))
