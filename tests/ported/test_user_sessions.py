"""Activities of users in session windows: the second part of a series of articles.

Original: ``BeamUserSessions`` and ``BeamUserSessionsTest`` in ``user-sessions/`` of
mkuthan/stream-processing, commit ce36cac, whose order and names of tests this has; the scenarios
are those of the article "Stream processing, part 2" (2022-03-08).

What differs: the originals look into one window at a time, and would not notice other panes; here
each test says everything that came out and was dropped, step by step.
"""

from typing import Any

import pytest

from beamlike import AfterCount, AfterProcessingTime, AfterWatermark
from beamlike.scio import ScioContext, SCollection, WindowOptions
from beamlike.testing import dropped, early_pane, emit_exactly, expect, late_pane, on_time_pane
from beamlike.testing import test_stream_of as stream_of

User = str
Activity = str


def activities_in_session_window(
    activities: SCollection[tuple[User, Activity]], gap_duration: str, options: WindowOptions
) -> SCollection[tuple[User, list[Activity]]]:
    return (
        activities.with_timestamp()
        .map(with_time_beside_activity)
        .with_session_windows(gap_duration, options)
        .group_by_key()
        .map_values(sort_by_timestamp)
        .map_values(without_timestamp)
    )


def with_time_beside_activity(
    stamped: tuple[tuple[User, Activity], int],
) -> tuple[User, tuple[Activity, int]]:
    (user, activity), timestamp = stamped
    return user, (activity, timestamp)


def sort_by_timestamp(activities: list[tuple[Activity, int]]) -> list[tuple[Activity, int]]:
    return sorted(activities, key=lambda activity: activity[1])


def without_timestamp(activities: list[tuple[Activity, int]]) -> list[Activity]:
    return [activity for activity, _ in activities]


OPEN, SHOW, ADD, PAY, CLOSE = "open app", "show product", "add to cart", "checkout", "close app"

IN_ORDER = (
    stream_of()
    .add_elements_at_time("00:00:00", ("joe", OPEN))
    .add_elements_at_time("00:01:00", ("joe", CLOSE))
)
OUT_OF_ORDER = (
    stream_of()
    .add_elements_at_time("00:01:00", ("joe", CLOSE))
    .add_elements_at_time("00:00:00", ("joe", OPEN))
)
TWO_CLIENTS = (
    stream_of()
    .add_elements_at_time("00:00:00", ("joe", OPEN))
    .add_elements_at_time("00:00:00", ("ben", OPEN))
    .add_elements_at_time("00:01:00", ("joe", CLOSE))
    .add_elements_at_time("00:01:30", ("ben", CLOSE))
)
CONTINUOUS = (
    stream_of()
    .add_elements_at_time("00:00:00", ("joe", OPEN))
    .add_elements_at_time("00:01:30", ("joe", SHOW))
    .add_elements_at_time("00:03:00", ("joe", ADD))
    .add_elements_at_time("00:09:30", ("joe", PAY))
    .add_elements_at_time("00:13:10", ("joe", CLOSE))
)
INTERRUPTED = (
    stream_of()
    .add_elements_at_time("00:00:00", ("joe", OPEN))
    .add_elements_at_time("00:01:30", ("joe", SHOW))
    .add_elements_at_time("00:03:00", ("joe", ADD))
    .add_elements_at_time("00:13:00", ("joe", PAY))
    .add_elements_at_time("00:13:10", ("joe", CLOSE))
)
LATE = (
    stream_of()
    .add_elements_at_time("00:00:00", ("joe", OPEN))
    .add_elements_at_time("00:01:30", ("joe", SHOW))
    .advance_watermark_to("00:13:00")
    .add_elements_at_time("00:03:00", ("joe", ADD))  # late activity
    .add_elements_at_time("00:09:30", ("joe", PAY))
    .add_elements_at_time("00:13:10", ("joe", CLOSE))
)
EACH_MINUTE = stream_of()
for minute in range(6):
    EACH_MINUTE = EACH_MINUTE.add_elements_at_time(
        f"00:0{minute}:00", ("joe", str(minute))
    ).advance_processing_time("1 minute")
EACH_MINUTE = (
    EACH_MINUTE.advance_watermark_to("00:20:00")  # more than 00:05:00 + 10 minutes of gap
    .add_elements_at_time("00:06:00", ("joe", "6"))  # late activity within allowed lateness
    .add_elements_at_time("00:07:00", ("joe", "7"))  # late activity within allowed lateness
)


def up_to(last: int) -> list[Activity]:
    return [str(number) for number in range(last + 1)]


SESSIONS: dict[str, tuple[Any, dict[str, Any], list[Any]]] = {
    "no activities should create empty session": (stream_of(), {}, []),
    "activities should be aggregated into single session": (
        IN_ORDER,
        {},
        [on_time_pane("joe", [OPEN, CLOSE], "00:00:00", "00:11:00", is_last=True, step=2)],
    ),
    "out of order activities should be aggregated into single session": (
        OUT_OF_ORDER,
        {},
        [on_time_pane("joe", [OPEN, CLOSE], "00:00:00", "00:11:00", is_last=True, step=2)],
    ),
    "activities from two clients should be aggregated into two simultaneous sessions": (
        TWO_CLIENTS,
        {},
        [
            on_time_pane("joe", [OPEN, CLOSE], "00:00:00", "00:11:00", is_last=True, step=4),
            on_time_pane("ben", [OPEN, CLOSE], "00:00:00", "00:11:30", is_last=True, step=4),
        ],
    ),
    "continuous activities should be aggregated into single session": (
        CONTINUOUS,
        {},
        [
            on_time_pane(
                "joe", [OPEN, SHOW, ADD, PAY, CLOSE], "00:00:00", "00:23:10", is_last=True, step=5
            )
        ],
    ),
    "interrupted activities should be aggregated into two sessions": (
        INTERRUPTED,
        {},
        [
            on_time_pane("joe", [OPEN, SHOW, ADD], "00:00:00", "00:13:00", is_last=True, step=5),
            on_time_pane("joe", [PAY, CLOSE], "00:13:00", "00:23:10", is_last=True, step=5),
        ],
    ),
    "late activity should be silently discarded": (
        LATE,
        {},
        [
            on_time_pane("joe", [OPEN, SHOW], "00:00:00", "00:11:30", is_last=True, step=2),
            dropped(
                "joe",
                (ADD, 180_000),
                at="00:03:00",
                window=("00:03:00", "00:13:00"),
                reason="expired",
                missed_by="1 ms",
                step=3,
            ),
            on_time_pane("joe", [PAY, CLOSE], "00:09:30", "00:23:10", is_last=True, step=6),
        ],
    ),
    "late activity within allowed lateness should be aggregated into late pane": (
        LATE,
        {"allowed_lateness": "5 minutes"},
        [
            on_time_pane("joe", [OPEN, SHOW], "00:00:00", "00:11:30", is_last=False, step=2),
            late_pane("joe", [ADD], "00:00:00", "00:13:00", is_last=False, step=3),
            on_time_pane("joe", [PAY, CLOSE], "00:00:00", "00:23:10", is_last=True, step=6),
        ],
    ),
    "late activity within allowed lateness should be aggregated and accumulated into late pane": (
        LATE,
        {"allowed_lateness": "5 minutes", "accumulation_mode": "accumulating"},
        [
            on_time_pane("joe", [OPEN, SHOW], "00:00:00", "00:11:30", is_last=False, step=2),
            late_pane("joe", [OPEN, SHOW, ADD], "00:00:00", "00:13:00", is_last=False, step=3),
            on_time_pane(
                "joe", [OPEN, SHOW, ADD, PAY, CLOSE], "00:00:00", "00:23:10", is_last=True, step=6
            ),
        ],
    ),
    "activities should be aggregated speculatively on every minute, on time, and finally on every "
    "late activity": (
        EACH_MINUTE,
        {
            "accumulation_mode": "accumulating",
            "allowed_lateness": "10 minutes",
            "trigger": AfterWatermark(early=AfterProcessingTime("1 minute"), late=AfterCount(1)),
        },
        [
            # With each minute that is over, and not with each second one.
            early_pane("joe", up_to(1), "00:00:00", "00:11:00", is_last=False, step=3),
            early_pane("joe", up_to(3), "00:00:00", "00:13:00", is_last=False, step=7),
            early_pane("joe", up_to(5), "00:00:00", "00:15:00", is_last=False, step=11),
            on_time_pane("joe", up_to(5), "00:00:00", "00:15:00", index=1, is_last=False, step=12),
            late_pane("joe", up_to(6), "00:00:00", "00:16:00", is_last=False, step=13),
            late_pane("joe", up_to(7), "00:00:00", "00:17:00", is_last=False, step=14),
        ],
    ),
}


@pytest.mark.parametrize(("activities", "options", "output"), SESSIONS.values(), ids=SESSIONS)
def test_user_sessions(
    sc: ScioContext, activities: Any, options: dict[str, Any], output: list[Any]
) -> None:
    defaults = {"allowed_lateness": "0 s", "accumulation_mode": "discarding"}
    results = activities_in_session_window(
        sc.test_stream(activities.advance_watermark_to_infinity()),
        "10 minutes",
        WindowOptions(**(defaults | options)),
    )
    expect(results).to(emit_exactly(*output))
