"""Sessions whose gap depends on the element: a film is watched longer than a page."""

from typing import Any

import beamlike as bl
from beamlike.testing import TestStream, emit_exactly, on_time_pane


def patience(title: str) -> str:
    """How long to wait after a title before the visit is over."""
    return "30 minutes" if title.startswith("film") else "5 minutes"


def test_a_film_keeps_the_visit_open_where_a_page_does_not(host: dict[str, Any]) -> None:
    visits = (
        TestStream()
        .add_elements_at_time("12:00:00", ("ann", "film: Stalker"), ("bob", "page: news"))
        .add_elements_at_time("12:20:00", ("ann", "page: credits"), ("bob", "page: sports"))
        .advance_watermark_to_infinity()
    )

    results = visits.run(window=bl.Sessions(patience), **host)

    results.should(
        emit_exactly(
            on_time_pane(
                "ann", ["film: Stalker", "page: credits"], "12:00:00", "12:30:00", is_last=True
            ),
            on_time_pane("bob", ["page: news"], "12:00:00", "12:05:00", is_last=True),
            on_time_pane("bob", ["page: sports"], "12:20:00", "12:25:00", is_last=True),
        )
    )
