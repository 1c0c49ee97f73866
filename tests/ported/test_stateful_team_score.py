"""A team's score each time that it passes a multiple of a threshold, without any grouping.

Original: ``StatefulTeamScoreTest.java`` of scio-examples (it is Apache Beam's own); spotify/scio at
3b35141.

Where a stateful ``DoFn`` of Beam's has a cell, here is a function from the old state to the new one
and to what comes out. The original looks at values in windows, here every test says all panes:
nothing is grouped, and each score comes out at the time of the event that made it.
"""

from collections.abc import Callable

import pytest
from game import BLUE_ONE, BLUE_TWO, RED_ONE, RED_TWO, GameActionInfo, User

from beamlike.model.time import instant_ms
from beamlike.scio import ScioContext, SCollection
from beamlike.testing import (
    TimestampedValue,
    element,
    emit_exactly,
    expect,
    test_stream_of,
)
from beamlike.testing.assertions.expected import ExpectedPane


def update_team_score(
    threshold: int,
) -> Callable[[int | None, GameActionInfo, int], tuple[int, list[int]]]:
    """The total of a team so far; it comes out when it has passed a multiple of the threshold."""

    def update(old: int | None, info: GameActionInfo, timestamp: int) -> tuple[int, list[int]]:
        total = (old or 0) + info.score
        # No score is negative, so the quotient says whether a multiple lies between the two.
        return total, [total] if (old or 0) // threshold < total // threshold else []

    return update


Event = TimestampedValue[tuple[str, GameActionInfo]]


def event(user: User, score: int, time: str) -> Event:
    at = instant_ms(time, "time")
    return TimestampedValue((user.team, GameActionInfo(user.name, user.team, score, at)), at)


def events(sc: ScioContext, *of: Event) -> SCollection[tuple[str, GameActionInfo]]:
    stream = test_stream_of().advance_watermark_to("00:00:00").add_elements(*of)
    return sc.test_stream(stream.advance_watermark_to_infinity())


SCORES = {
    "of one team": (
        [
            event(RED_TWO, 99, "00:00:10"),
            event(RED_ONE, 1, "00:00:20"),
            event(RED_ONE, 0, "00:00:30"),
            event(RED_TWO, 100, "00:00:40"),
            event(RED_TWO, 201, "00:00:50"),
        ],
        [
            element(("red", 100), "global", timestamp="00:00:20"),
            element(("red", 200), "global", timestamp="00:00:40"),
            element(("red", 401), "global", timestamp="00:00:50"),
        ],
    ),
    "per team": (
        [
            event(RED_ONE, 50, "00:00:10"),
            event(RED_TWO, 50, "00:00:20"),
            event(BLUE_ONE, 70, "00:00:30"),
            event(BLUE_TWO, 80, "00:00:40"),
            event(BLUE_TWO, 50, "00:00:50"),
        ],
        [
            element(("red", 100), "global", timestamp="00:00:20"),
            element(("blue", 150), "global", timestamp="00:00:40"),
            element(("blue", 200), "global", timestamp="00:00:50"),
        ],
    ),
}


@pytest.mark.parametrize(("scored", "output"), SCORES.values(), ids=SCORES)
def test_score_updates(sc: ScioContext, scored: list[Event], output: list[ExpectedPane]) -> None:
    team_scores = events(sc, *scored).apply_per_key(update_team_score(100))
    expect(team_scores).to(emit_exactly(*output))


def test_score_updates_per_window(sc: ScioContext) -> None:
    create_events = events(
        sc,
        event(RED_ONE, 50, "00:01:00"),
        event(RED_TWO, 50, "00:02:00"),
        event(RED_ONE, 50, "00:03:00"),
        event(RED_ONE, 60, "00:06:00"),
        event(RED_TWO, 60, "00:07:00"),
    )
    windowed = create_events.with_fixed_windows("5 minutes")
    expect(windowed.apply_per_key(update_team_score(100))).to(
        emit_exactly(
            element(("red", 100), "00:00:00", "00:05:00", timestamp="00:02:00"),
            element(("red", 120), "00:05:00", "00:10:00", timestamp="00:07:00"),
        )
    )
