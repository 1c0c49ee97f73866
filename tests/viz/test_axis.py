"""An axis of time with its empty stretches folded away, and the labels along it."""

from datetime import UTC
from zoneinfo import ZoneInfo

from beamlike.viz.axis import FoldedTime, round_instants

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def test_a_long_silence_is_folded_to_the_limit() -> None:
    time = FoldedTime([0, 2 * HOUR, 20 * HOUR], limit_ms=HOUR)
    assert time.folds == [(2 * HOUR + 30 * MINUTE, 19 * HOUR + 30 * MINUTE)]
    shown = [time.position(at * HOUR) / HOUR for at in (0, 2, 3, 19, 20, 21)]
    assert shown == [0, 2, 2.5, 2.5, 3, 4]
    assert [time.shows(at * HOUR) for at in (0, 2, 3, 19, 20)] == [True, True, False, False, True]


def test_a_silence_just_long_enough_to_be_shown_is_not_folded() -> None:
    assert FoldedTime([0, 2 * HOUR], limit_ms=HOUR).folds == []


def test_what_a_window_covers_is_no_silence() -> None:
    window = (0, 10 * HOUR)
    assert FoldedTime([window, 5 * HOUR, 11 * HOUR], limit_ms=HOUR).folds == []
    assert FoldedTime([(0, HOUR), 5 * HOUR, 11 * HOUR], limit_ms=HOUR).folds == [
        (HOUR + 30 * MINUTE, 4 * HOUR + 30 * MINUTE),
        (5 * HOUR + 30 * MINUTE, 10 * HOUR + 30 * MINUTE),
    ]


def test_labels_stand_at_round_instants_of_what_is_shown() -> None:
    time = FoldedTime([0, HOUR, 20 * HOUR], limit_ms=HOUR)
    assert round_instants(time, 0, 20 * HOUR, most=8) == [
        (0, "00:00"),
        (30 * MINUTE, "00:30"),
        (HOUR, "01:00"),
        (HOUR + 30 * MINUTE, "01:30"),
        (19 * HOUR + 30 * MINUTE, "19:30"),
        (20 * HOUR, "20:00"),
    ]


def test_a_date_stands_where_it_is_new_and_alone_where_labels_are_days_apart() -> None:
    night = FoldedTime([(23 * HOUR, 49 * HOUR)], limit_ms=DAY)
    assert round_instants(night, 23 * HOUR, 49 * HOUR, most=4) == [
        (24 * HOUR, "00:00\n1970-01-02"),
        (36 * HOUR, "12:00"),
        (48 * HOUR, "00:00\n1970-01-03"),
    ]
    assert round_instants(FoldedTime([(DAY, 4 * DAY)], limit_ms=DAY), DAY, 4 * DAY, most=4) == [
        (DAY, "1970-01-02"),
        (2 * DAY, "1970-01-03"),
        (3 * DAY, "1970-01-04"),
        (4 * DAY, "1970-01-05"),
    ]


def test_labels_are_in_the_zone_that_is_asked_for() -> None:
    morning = 1_357_038_000_000  # 11:00 UTC on 1 January 2013
    time = FoldedTime([(morning, morning + HOUR)], limit_ms=HOUR)
    labels = round_instants(
        time, morning, morning + HOUR, most=3, zone=ZoneInfo("America/New_York")
    )
    assert labels == [
        (morning, "06:00\n2013-01-01"),
        (morning + 30 * MINUTE, "06:30"),
        (morning + HOUR, "07:00"),
    ]


def test_times_that_no_calendar_has_are_in_no_zone() -> None:
    far = 9 * 10**15
    time = FoldedTime([(far, far + HOUR)], limit_ms=HOUR)
    for zone in (ZoneInfo("America/New_York"), UTC):
        labels = round_instants(time, far, far + HOUR, most=2, zone=zone)
        assert labels == [(far, f"{far} ms"), (far + HOUR, f"{far + HOUR} ms")]


def test_seconds_and_milliseconds_show_where_they_matter() -> None:
    seconds = FoldedTime([(0, 30_000)], limit_ms=HOUR)
    assert [text for _, text in round_instants(seconds, 0, 30_000, most=3)] == [
        "00:00:00",
        "00:00:15",
        "00:00:30",
    ]
    milliseconds = FoldedTime([(0, 10)], limit_ms=HOUR)
    assert [text for _, text in round_instants(milliseconds, 0, 10, most=3)] == [
        "00:00:00",
        "00:00:00.005",
        "00:00:00.010",
    ]
