"""What is said of sessions that an event ends."""

import beamlike as bl
from beamlike.testing import TestStream


def test_the_event_is_said_to_end_its_session_and_what_comes_next_to_come_after_it() -> None:
    results = (
        TestStream()
        .add_elements_at_time("00:00:00", ("ann", "click"))
        .add_elements_at_time("00:00:06", ("ann", "logout"))
        .add_elements_at_time("00:00:03", ("ann", "late"))
        .add_elements_at_time("00:00:06.001", ("ann", "next"))
        .advance_watermark_to_infinity()
        .run(
            window=bl.Sessions("10 seconds", ends_with="logout"),
            trigger=bl.Repeatedly(bl.AfterCount(1)),
            accumulation="accumulating",
            allowed_lateness="1 minute",
        )
    )
    said = " ".join(str(results.explain()).split())
    for sentence in (
        "'logout' at 00:00:06 ends the session [00:00:00, 00:00:10) at 00:00:06.001.",
        "Its panes are counted from 0 again, because the session has other bounds.",
        "'late' at 00:00:03 falls into the session [00:00:00, 00:00:06.001).",
        "'next' at 00:00:06.001 opens [00:00:06.001, 00:00:16.001). "
        "It comes after [00:00:00, 00:00:06.001) has ended.",
    ):
        assert sentence in said
