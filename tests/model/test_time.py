"""Reading and writing durations and instants."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from beamlike.errors import TimeError
from beamlike.model.time import (
    END_OF_GLOBAL_WINDOW,
    MAX_TIMESTAMP,
    MIN_TIMESTAMP,
    duration_ms,
    event_time_ms,
    instant_ms,
    show_duration,
    show_instant,
)
from tests.support.refusals import refusal

DURATION_HELP = (
    'write 600000 (milliseconds), timedelta(minutes=10), "10 minutes", "1h 30m" or "00:10:00"'
)
INSTANT_HELP = (
    'write epoch milliseconds, a datetime, "2013-01-01T06:00:00Z", or a time of day such as '
    '"00:01:30"'
)


def test_time_has_the_bounds_of_beam_java():
    assert (MIN_TIMESTAMP, MAX_TIMESTAMP) == (-9223372036854775, 9223372036854775)
    assert END_OF_GLOBAL_WINDOW == 9223371950454775


@pytest.mark.parametrize(
    ("value", "milliseconds"),
    [
        (0, 0),
        (1, 1),
        (timedelta(minutes=10), 600_000),
        (timedelta(days=3, milliseconds=1), 259_200_001),
        ("10 minutes", 600_000),
        ("10minutes", 600_000),
        ("  10  Minutes ", 600_000),
        ("1 min", 60_000),
        ("1h 30m", 5_400_000),
        ("1h30m", 5_400_000),
        ("500 ms", 500),
        ("2 weeks 1 day", 1_296_000_000),
        ("0 s", 0),
        ("00:10:00", 600_000),
        ("00:10", 600_000),
        ("25:00:00", 90_000_000),
        ("00:00:00.5", 500),
        ("00:00:00.050", 50),
    ],
)
def test_durations_that_can_be_read(value, milliseconds):
    assert duration_ms(value, "gap") == milliseconds


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        None,
        1.0,
        0.5,
        float("nan"),
        float("inf"),
        Decimal(5),
        b"10 minutes",
        "",
        "   ",
        "10",
        "minutes",
        "10 minuets",
        "10 Monate",
        "1.5 hours",
        "10 minutes and 5",
        "1h, 30m",
        "00:60:00",
        "00:00:61",
        "1:2:3",
        "\u0661\u0660 minutes",
        "10 µs",
    ],
)
def test_durations_that_cannot_be_read_say_what_can(value):
    with pytest.raises(TimeError) as refused:
        duration_ms(value, "gap")
    assert str(refused.value) == f"gap is not a duration: {value!r}; {DURATION_HELP}"


@pytest.mark.parametrize("value", [-1, timedelta(milliseconds=-1)])
def test_negative_durations_are_refused(value):
    with pytest.raises(TimeError) as refused:
        duration_ms(value, "gap")
    assert str(refused.value) == f"gap must not be negative, got {value!r}; give 0 or more"


def test_a_duration_between_two_milliseconds_is_refused():
    assert refusal(TimeError, lambda: duration_ms(timedelta(microseconds=1_500), "gap")) == (
        "gap must be whole milliseconds, got datetime.timedelta(microseconds=1500); round it first"
    )


@pytest.mark.parametrize(
    ("value", "milliseconds"),
    [
        (0, 0),
        (-1, -1),
        (MIN_TIMESTAMP, MIN_TIMESTAMP),
        (MAX_TIMESTAMP, MAX_TIMESTAMP),
        (datetime(1970, 1, 1, 0, 0, 1), 1_000),
        (datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))), 0),
        (datetime(1970, 1, 1, tzinfo=UTC) - timedelta(microseconds=1_000), -1),
        ("2013-01-01T06:00:00Z", 1_357_020_000_000),
        ("2013-01-01 07:00:00+01:00", 1_357_020_000_000),
        ("2013-01-01", 1_356_998_400_000),
        ("00:01:30", 90_000),
        ("00:10:59.999", 659_999),
        ("00:00", 0),
        (" 00:01:30 ", 90_000),
    ],
)
def test_instants_that_can_be_read(value, milliseconds):
    assert instant_ms(value, "timestamp") == milliseconds


@pytest.mark.parametrize(
    ("value", "cut"),
    [
        (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=1_999), 1),
        (datetime(1970, 1, 1, tzinfo=UTC) - timedelta(microseconds=1), -1),
        ("1970-01-01T00:00:00.001999Z", 1),
    ],
)
def test_of_an_event_time_microseconds_are_cut_and_an_argument_with_some_is_refused(value, cut):
    assert event_time_ms(value, "timestamp") == cut
    assert refusal(TimeError, lambda: instant_ms(value, "timestamp")) == (
        f"timestamp must be whole milliseconds, got {value!r}; round it first"
    )


@pytest.mark.parametrize(
    "value", [True, None, 1.0, float("nan"), "", "noon", "2013-13-01", "10 minutes", b"00:01"]
)
def test_instants_that_cannot_be_read_say_what_can(value):
    with pytest.raises(TimeError) as refused:
        instant_ms(value, "timestamp")
    assert str(refused.value) == f"timestamp is not an instant: {value!r}; {INSTANT_HELP}"


@pytest.mark.parametrize(
    ("value", "instead"),
    [
        ("25:00", "1970-01-02T01:00:00Z"),
        ("24:00:00", "1970-01-02T00:00:00Z"),
        (" 100:00:00.5 ", "1970-01-05T04:00:00.500000Z"),
    ],
)
def test_a_time_of_day_does_not_go_on_into_the_next_day(value, instead):
    assert refusal(TimeError, lambda: instant_ms(value, "timestamp")) == (
        f"timestamp is no time of day: {value.strip()!r}; hours go from 00 to 23. For a day after "
        f'1970-01-01 write its date, too: "{instead}"'
    )
    assert instant_ms(instead, "timestamp") == duration_ms(value, "since then")


@pytest.mark.parametrize(
    "value", ["00:61:00", "12:00:60", "12:5", "1:2:3", "9999:00", "12:00:00.1234567"]
)
def test_a_time_of_day_that_no_clock_shows_is_refused(value):
    assert refusal(TimeError, lambda: instant_ms(value, "timestamp")) == (
        f"timestamp is no time of day: {value!r}; write it as 06:30, 06:30:00 or 06:30:00.250, "
        "with hours up to 23, and minutes and seconds up to 59"
    )


@pytest.mark.parametrize("value", [MIN_TIMESTAMP - 1, MAX_TIMESTAMP + 1])
def test_instants_outside_of_time_are_refused(value):
    assert refusal(TimeError, lambda: instant_ms(value, "timestamp")) == (
        f"timestamp must lie between {MIN_TIMESTAMP} and {MAX_TIMESTAMP} ms, got {value}"
    )


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (0, "00:00:00"),
        (1, "00:00:00.001"),
        (86_399_999, "23:59:59.999"),
        (86_400_000, "1970-01-02 00:00:00"),
        (-1, "1969-12-31 23:59:59.999"),
        (MIN_TIMESTAMP, "-infinity"),
        (MIN_TIMESTAMP + 1, f"{MIN_TIMESTAMP + 1} ms"),
        (END_OF_GLOBAL_WINDOW, "end of time"),
        (END_OF_GLOBAL_WINDOW + 1, "end of time"),
        (MAX_TIMESTAMP, "infinity"),
    ],
)
def test_instants_are_shown_for_people(milliseconds, shown):
    assert show_instant(milliseconds) == shown


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (0, "0ms"),
        (999, "999ms"),
        (1_000, "1s"),
        (3_599_999, "59m 59s 999ms"),
        (90_061_001, "1d 1h 1m 1s 1ms"),
        (-1_500, "-1s 500ms"),
    ],
)
def test_durations_are_shown_for_people(milliseconds, shown):
    assert show_duration(milliseconds) == shown


@pytest.mark.parametrize("milliseconds", [1, 999, 60_000, 5_400_000, 123_456_789])
def test_a_shown_duration_can_be_read_again(milliseconds):
    assert duration_ms(show_duration(milliseconds), "gap") == milliseconds


@pytest.mark.parametrize("given", ["-5 minutes", " -1h 30m", "- 00:10:00"])
def test_a_negative_duration_in_words_is_reported_as_what_it_is(given: str) -> None:
    with pytest.raises(TimeError) as refused:
        duration_ms(given, "size")
    assert str(refused.value) == f"size must not be negative, got {given!r}; give 0 or more"


LONG = "9" * 5_000


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        (2**63, "gap is longer than 64 bits can hold: 9223372036854775808; give "),
        ("20000000000 weeks", "gap is longer than 64 bits can hold: '20000000000 weeks'; give "),
        (10**5_000, "gap is longer than 64 bits can hold: a number of 16,610 bits; give "),
        (-(10**5_000), "gap must not be negative, got a number of 16,610 bits; give 0 or more"),
        (LONG, f"gap is not a duration: '{LONG[:119]}... (5,002 characters); write 600000 "),
        (f"{LONG} ms", f"gap is not a duration: '{LONG[:119]}... (5,005 characters); write "),
    ],
    ids=["bits", "weeks", "large", "below", "digits", "milliseconds"],
)
def test_a_duration_that_no_one_can_count_is_refused_in_few_words(given: int | str, reported: str):
    with pytest.raises(TimeError) as refused:
        duration_ms(given, "gap")

    assert str(refused.value).startswith(reported)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("given", [10**5_000, LONG, f"{LONG}:00"], ids=["large", "long", "clock"])
def test_an_instant_that_no_one_can_read_is_refused_in_few_words(given: int | str) -> None:
    assert len(refusal(TimeError, lambda: instant_ms(given, "timestamp"))) < 300


def test_the_longest_duration_is_that_of_beam_java() -> None:
    assert duration_ms(2**63 - 1, "lateness") == 2**63 - 1


def test_a_year_has_four_digits() -> None:
    assert show_instant(-62_135_596_800_000) == "0001-01-01 00:00:00"
    assert show_instant(-30_673_296_000_000 + 7) == "0998-01-01 00:00:00.007"
