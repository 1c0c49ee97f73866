"""`Timestamp` and `Duration`, as Beam Python has them."""

import pickle
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from beamlike.beam.utils.timestamp import MAX_TIMESTAMP, MIN_TIMESTAMP, Duration, Timestamp
from beamlike.errors import UnsupportedError


def test_they_are_reckoned_with_and_numbers_count_seconds() -> None:
    reckoned: list[tuple[Any, Any]] = [
        (Timestamp(123) + 456, Timestamp(579)),
        (456 + Timestamp(123), Timestamp(579)),
        (Timestamp(123) + Duration(456), Timestamp(579)),
        (Duration(456) + Timestamp(123), Timestamp(579)),
        (Timestamp(123) - 0.5, Timestamp(122.5)),
        (Timestamp(123) - Duration(456), Timestamp(-333)),
        (Timestamp(123) - Timestamp(100), Duration(23)),
        (Timestamp(1230) % 456, Duration(318)),
        (Duration(123) + 456, Duration(579)),
        (456 - Duration(123), Duration(333)),
        (-Duration(123), Duration(-123)),
        (Duration(123) * 2, Duration(246)),
        (2 * Duration(123), Duration(246)),
        (Duration(10) % 3, Duration(1)),
    ]
    for found, wanted in reckoned:
        assert (type(found), found) == (type(wanted), wanted)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Timestamp(1) * 2,
        lambda: 2 - Timestamp(1),
        lambda: Duration(2) - Timestamp(1),
        lambda: -Timestamp(1),
        lambda: 2 % Timestamp(1),
        lambda: Timestamp(1) + "1 s",
        lambda: Timestamp(1) < "1",
        lambda: Timestamp("1"),
        lambda: Timestamp.of(Duration(1)),
        lambda: Duration.of(Timestamp(1)),
        lambda: Duration.of("1 s"),
    ],
)
def test_what_has_no_meaning_is_a_type_error(wrong: Any) -> None:
    with pytest.raises(TypeError):
        wrong()


def test_they_are_compared_with_each_other_and_with_numbers() -> None:
    assert sorted([9, Timestamp(-3), Duration(2), 500, Timestamp(292.3)], key=float) == [
        Timestamp(-3),
        Duration(2),
        9,
        Timestamp(292.3),
        500,
    ]
    for less in (Timestamp(1), Duration(1), 1, 1.1, np.int64(1)):
        for more in (Timestamp(123), Duration(123), 123, 123.4):
            assert less < more
            assert less <= more
            assert more > less
            assert more >= less
            assert less != more
    assert Timestamp(1) != "1"
    assert Timestamp(1) < float("inf")
    assert Timestamp(1) != float("nan")
    assert {Timestamp(1): "a"}[Timestamp(0, 1_000_000)] == "a"
    assert hash(Timestamp(1)) == hash(Duration(1))


def test_numbers_are_kept_exactly() -> None:
    assert Timestamp(10000000) % 0.1 == 0
    assert repr(Timestamp(-1.5)) == "Timestamp(-1.500000)"
    assert str(Timestamp(90)) == "Timestamp(90)"
    assert repr(Duration(1.234567)) == "Duration(1.234567)"
    assert Timestamp(-1.5).seconds() == -2
    assert (int(Timestamp(1.5)), float(Timestamp(1.5)), float(Duration(0.5))) == (1, 1.5, 0.5)
    assert Timestamp(0, micros=5).micros == 5
    assert Timestamp(0).predecessor() == Timestamp(0, micros=-1)
    assert Timestamp(0).successor().micros == 1


def test_they_are_read_from_texts_and_datetimes_and_written_as_them() -> None:
    noon = Timestamp.from_rfc3339("2020-01-01T12:00:00.5Z")
    assert noon == Timestamp(1_577_880_000.5)
    assert Timestamp.from_rfc3339("2020-01-01T14:00:00.5+02:00") == noon
    assert noon.to_rfc3339() == "2020-01-01T12:00:00.500000Z"
    assert noon.to_utc_datetime() == datetime(2020, 1, 1, 12, 0, 0, 500_000)
    assert noon.to_utc_datetime(has_tz=True) == datetime(2020, 1, 1, 12, 0, 0, 500_000, UTC)
    assert Timestamp.from_utc_datetime(noon.to_utc_datetime(has_tz=True)) == noon
    fine = Timestamp.from_rfc3339("2020-01-01T12:00:00.123456789Z")
    assert fine.to_rfc3339() == "2020-01-01T12:00:00.123456Z"
    with pytest.raises(ValueError, match="Could not parse RFC 3339 string 'noon'"):
        Timestamp.from_rfc3339("noon")
    with pytest.raises(ValueError, match="dt has no timezone info"):
        Timestamp.from_utc_datetime(datetime(2020, 1, 1))
    with pytest.raises(ValueError, match="dt not in UTC"):
        Timestamp.from_utc_datetime(datetime(2020, 1, 1, tzinfo=timezone(timedelta(hours=1))))


def test_all_of_time_lies_between_two_ends() -> None:
    assert MIN_TIMESTAMP.micros == -9_223_372_036_854_775_000
    assert MAX_TIMESTAMP.micros == 9_223_372_036_854_775_000
    assert MIN_TIMESTAMP < Timestamp.now() < MAX_TIMESTAMP


def test_they_can_be_pickled() -> None:
    for value in (Timestamp(1.5), Timestamp(1, 5), Duration(1.5)):
        again = pickle.loads(pickle.dumps(value))
        assert (repr(again), again) == (repr(value), value)


def test_an_instant_of_an_earlier_version_is_read() -> None:
    old = Timestamp(0)
    old.__setstate__((1_123_456_789, 9))
    assert old == Timestamp(1, 123_456)


def test_the_nanoseconds_of_beams_sdk_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"^Timestamp.to_precision is for Beam's own SDK"):
        Timestamp(1).to_precision(9)
    with pytest.raises(TypeError, match="'precision'"):
        Timestamp(1, 5, precision=9)  # type: ignore[call-arg]
