"""Activities of users in session windows, and the two forms in which tests ask for them.

Original: ``BeamUserSessions`` in ``user-sessions/`` of mkuthan/stream-processing, commit ce36cac.
"""

from collections.abc import Callable
from typing import Any

import pytest

from beamlike import DefaultTrigger
from beamlike.model.triggers import Trigger
from beamlike.scio import SCollection, WindowOptions
from beamlike.testing import contain_in_any_order_at_time, contain_single_value_at_time

__all__ = ["ExactlyAtTime", "activities_in_session_window", "in_both_forms"]

User = str
Activity = str


def activities_in_session_window(
    activities: SCollection[tuple[User, Activity]],
    gap_duration: str,
    allowed_lateness: str = "0 s",
    accumulation_mode: str = "discarding",
    trigger: Trigger | None = None,
) -> SCollection[tuple[User, list[Activity]]]:
    options = WindowOptions(
        allowed_lateness=allowed_lateness,
        accumulation_mode=accumulation_mode,
        trigger=DefaultTrigger() if trigger is None else trigger,
    )
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


def contain_elements_at_time(time: str, *elements: Any) -> Any:
    return contain_in_any_order_at_time(time, elements)


ExactlyAtTime = Callable[[str, Any], Any]

in_both_forms = pytest.mark.parametrize(
    "exactly_at_time",
    [
        pytest.param(contain_single_value_at_time, id="article"),
        pytest.param(contain_elements_at_time, id="repository"),
    ],
)
