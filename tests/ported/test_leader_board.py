"""Scores of teams and users in a game, as they come in.

Original: ``LeaderBoardTest.java`` of scio-examples (it is Apache Beam's own), whose first test is
that of ``LeaderBoardTest.scala``, too; spotify/scio at 3b35141.

The events and steps are those of the original. It asks little of what came out; here every test
says all panes and drops. What is left out tests options of a command line.
"""

from typing import Any

from game import BLUE_ONE, BLUE_TWO, RED_ONE, RED_TWO, GameActionInfo, User

from beamlike import AfterProcessingTime, AfterWatermark, Repeatedly
from beamlike.model.time import instant_ms
from beamlike.scio import ScioContext, SCollection, WindowOptions
from beamlike.testing import (
    TimestampedValue,
    dropped,
    early_pane,
    emit_exactly,
    expect,
    late_pane,
    on_time_pane,
    test_stream_of,
)

WINDOW = ("00:00:00", "00:20:00")


def calculate_team_scores(
    infos: SCollection[GameActionInfo], window_duration: str, allowed_lateness: str
) -> SCollection[tuple[str, int]]:
    """What each team has in each window: soon, when the window is over, and what came later."""
    windowed = infos.with_fixed_windows(
        window_duration,
        options=WindowOptions(
            trigger=AfterWatermark(
                early=AfterProcessingTime("5 minutes"), late=AfterProcessingTime("10 minutes")
            ),
            accumulation_mode="accumulating",
            allowed_lateness=allowed_lateness,
        ),
    )
    return windowed.map(lambda info: (info.team, info.score)).sum_by_key()


def calculate_user_scores(
    infos: SCollection[GameActionInfo], allowed_lateness: str
) -> SCollection[tuple[str, int]]:
    """What each user has up to now, every ten minutes."""
    windowed = infos.with_global_window(
        WindowOptions(
            trigger=Repeatedly(AfterProcessingTime("10 minutes")),
            accumulation_mode="accumulating",
            allowed_lateness=allowed_lateness,
        )
    )
    return windowed.map(lambda info: (info.user, info.score)).sum_by_key()


def event(user: User, score: int, time: str) -> TimestampedValue[GameActionInfo]:
    at = instant_ms(time, "time")
    return TimestampedValue(GameActionInfo(user.name, user.team, score, at), at)


def test_team_scores_on_time(sc: ScioContext) -> None:
    stream = (
        test_stream_of()
        # Start at the epoch.
        .advance_watermark_to("00:00:00")
        # Some elements ahead of the watermark.
        .add_elements(
            event(BLUE_ONE, 3, "00:00:03"),
            event(BLUE_ONE, 2, "00:01:00"),
            event(RED_TWO, 3, "00:00:22"),
            event(BLUE_TWO, 5, "00:03:00"),
        )
        # Not yet past the end of the window.
        .advance_watermark_to("00:03:00")
        .add_elements(event(RED_ONE, 1, "00:04:00"), event(BLUE_ONE, 2, "00:04:30"))
        # The window closes.
        .advance_watermark_to_infinity()
    )
    expect(calculate_team_scores(sc.test_stream(stream), "20 minutes", "1 hour")).to(
        emit_exactly(
            on_time_pane("blue", 12, WINDOW, is_last=True),
            on_time_pane("red", 4, WINDOW, is_last=True),
        )
    )


def test_team_scores_speculative(sc: ScioContext) -> None:
    stream = (
        test_stream_of()
        .advance_watermark_to("00:00:00")
        .add_elements(event(BLUE_ONE, 3, "00:00:03"), event(BLUE_ONE, 2, "00:01:00"))
        # The blue team's score so far comes out.
        .advance_processing_time("10 minutes")
        .add_elements(event(RED_TWO, 5, "00:03:00"))
        # The red team's.
        .advance_processing_time("12 minutes")
        .add_elements(event(BLUE_TWO, 3, "00:00:22"))
        # The blue team's again.
        .advance_processing_time("10 minutes")
        .add_elements(event(RED_ONE, 4, "00:04:00"), event(BLUE_TWO, 2, "00:02:00"))
        # The window closes, with all of it.
        .advance_watermark_to_infinity()
    )
    expect(calculate_team_scores(sc.test_stream(stream), "20 minutes", "1 hour")).to(
        emit_exactly(
            early_pane("blue", 5, WINDOW, is_last=False),
            early_pane("red", 5, WINDOW, is_last=False),
            early_pane("blue", 8, WINDOW, index=1, is_last=False),
            on_time_pane("blue", 10, WINDOW, index=2, is_last=True),
            on_time_pane("red", 9, WINDOW, index=1, is_last=True),
        )
    )


def test_team_scores_unobservably_late(sc: ScioContext) -> None:
    stream = (
        test_stream_of()
        .advance_watermark_to("00:00:00")
        .add_elements(
            event(BLUE_ONE, 3, "00:00:03"),
            event(BLUE_TWO, 5, "00:08:00"),
            event(RED_ONE, 4, "00:02:00"),
            event(BLUE_ONE, 3, "00:05:00"),
        )
        .advance_watermark_to("00:19:00")
        # These are late, but their window is not over.
        .add_elements(
            event(RED_TWO, 2, "00:00:00"),
            event(RED_TWO, 5, "00:01:00"),
            event(BLUE_TWO, 2, "00:01:30"),
            event(RED_TWO, 3, "00:03:00"),
        )
        .advance_watermark_to("00:21:00")
        .advance_watermark_to_infinity()
    )
    expect(calculate_team_scores(sc.test_stream(stream), "20 minutes", "1 hour")).to(
        emit_exactly(
            on_time_pane("blue", 13, WINDOW, is_last=False),
            on_time_pane("red", 14, WINDOW, is_last=False),
        )
    )


def test_team_scores_observably_late(sc: ScioContext) -> None:
    stream = (
        test_stream_of()
        .advance_watermark_to("00:00:00")
        .add_elements(event(BLUE_ONE, 3, "00:00:03"), event(BLUE_TWO, 5, "00:08:00"))
        .advance_processing_time("10 minutes")
        .advance_watermark_to("00:03:00")
        .add_elements(
            event(RED_ONE, 3, "00:01:00"),
            event(RED_ONE, 4, "00:02:00"),
            event(BLUE_ONE, 3, "00:05:00"),
        )
        # A minute before the window expires.
        .advance_watermark_to("01:19:00")
        # These are late, and come out in a late pane.
        .add_elements(
            event(RED_TWO, 2, "00:00:00"),
            event(RED_TWO, 5, "00:01:00"),
            event(RED_TWO, 3, "00:03:00"),
        )
        # It comes out because of the clock; the watermark stands where it stood.
        .advance_processing_time("12 minutes")
        # These come out in the last pane.
        .add_elements(event(RED_TWO, 9, "00:01:00"), event(RED_TWO, 1, "00:03:00"))
        .advance_watermark_to_infinity()
    )
    expect(calculate_team_scores(sc.test_stream(stream), "20 minutes", "1 hour")).to(
        emit_exactly(
            early_pane("blue", 8, WINDOW, is_last=False),
            on_time_pane("blue", 11, WINDOW, index=1, is_last=False),
            on_time_pane("red", 7, WINDOW, is_last=False),
            late_pane("red", 17, WINDOW, index=1, is_last=False),
            late_pane("red", 27, WINDOW, index=2, is_last=True),
        )
    )


def test_team_scores_droppably_late(sc: ScioContext) -> None:
    stream = (
        test_stream_of()
        .add_elements(event(BLUE_ONE, 12, "00:00:00"), event(RED_ONE, 3, "00:00:00"))
        # The last millisecond of the window.
        .advance_watermark_to("00:19:59.999")
        .add_elements(
            event(RED_ONE, 4, "00:02:00"),
            event(BLUE_TWO, 3, "00:00:00"),
            event(BLUE_ONE, 3, "00:03:00"),
        )
        # The window is over.
        .advance_watermark_to("00:20:00")
        # It has expired.
        .advance_watermark_to("01:21:00")
        # Too late: these do not come out.
        .add_elements(event(BLUE_TWO, 3, "00:19:55"), event(RED_ONE, 7, "00:04:00"))
        .advance_watermark_to_infinity()
    )
    team_scores = calculate_team_scores(sc.test_stream(stream), "20 minutes", "1 hour")

    too_late: dict[str, Any] = {"window": WINDOW, "reason": "expired", "missed_by": "60001 ms"}
    expect(team_scores).to(
        emit_exactly(
            on_time_pane("blue", 18, WINDOW, is_last=False),
            on_time_pane("red", 7, WINDOW, is_last=False),
            dropped("blue", 3, at="00:19:55", **too_late),
            dropped("red", 7, at="00:04:00", **too_late),
        )
    )


def test_user_score(sc: ScioContext) -> None:
    stream = (
        test_stream_of()
        .add_elements(event(BLUE_ONE, 12, "00:00:00"), event(RED_ONE, 3, "00:00:00"))
        .advance_processing_time("7 minutes")
        .add_elements(
            event(RED_ONE, 4, "00:02:00"),
            event(BLUE_TWO, 3, "00:00:00"),
            event(BLUE_ONE, 3, "00:03:00"),
        )
        .advance_processing_time("5 minutes")
        .advance_watermark_to("13:00:00")
        # Nothing is too late for the global window, which is open as long as the stream is.
        .add_elements(event(RED_ONE, 3, "00:07:00"), event(RED_ONE, 2, "14:00:00"))
        .advance_processing_time("6 minutes")
        .add_elements(event(BLUE_TWO, 5, "00:12:00"))
        .advance_processing_time("20 minutes")
        .advance_watermark_to_infinity()
    )
    expect(calculate_user_scores(sc.test_stream(stream), "1 hour")).to(
        emit_exactly(
            early_pane("navy", 15, "global", is_last=False),
            early_pane("scarlet", 7, "global", is_last=False),
            early_pane("sky", 3, "global", is_last=False),
            early_pane("scarlet", 12, "global", index=1, is_last=False),
            early_pane("sky", 8, "global", index=1, is_last=False),
            on_time_pane("navy", 15, "global", index=1, is_last=True),
            on_time_pane("scarlet", 12, "global", index=2, is_last=True),
            on_time_pane("sky", 8, "global", index=2, is_last=True),
        )
    )
