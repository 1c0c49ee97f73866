"""TestStream: every verb, what it writes into the script, and what it refuses."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest

from beamlike import FixedWindows
from beamlike.errors import TestStreamError, TimeError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.script import Arrive
from beamlike.testing import FinishedTestStream, TestStream, TimestampedValue
from tests.support.refusals import refusal

A, B = ("joe", "a"), ("ben", "b")


def test_elements_without_a_time_happen_at_the_watermark() -> None:
    stream = TestStream().add_elements(A).advance_watermark_to("00:01:00").add_elements(B)

    assert stream.steps == (
        Arrive(((None, Element(A, MIN_TIMESTAMP)),)),
        AdvanceWatermark(60_000),
        Arrive(((None, Element(B, 60_000)),)),
    )


def test_elements_at_the_watermark_and_at_the_minimum_time() -> None:
    stream = (
        TestStream()
        .add_elements_at_watermark_time(A, TimestampedValue(B, 5))
        .advance_watermark_to("00:01:00")
        .add_elements_at_watermark_time(A)
        .add_elements_at_minimum_time(B)
    )

    assert stream.steps == (
        Arrive(((None, Element(A, MIN_TIMESTAMP)), (None, Element(B, 5)))),
        AdvanceWatermark(60_000),
        Arrive(((None, Element(A, 60_000)),)),
        Arrive(((None, Element(B, MIN_TIMESTAMP)),)),
    )


def test_elements_of_one_call_are_one_bundle_with_times_of_their_own() -> None:
    stream = TestStream().add_elements(A, TimestampedValue(B, "00:00:01"), TimestampedValue(A, 2))

    assert stream.steps == (
        Arrive(
            ((None, Element(A, MIN_TIMESTAMP)), (None, Element(B, 1_000)), (None, Element(A, 2)))
        ),
    )


def test_elements_at_a_time_may_lie_behind_the_watermark() -> None:
    stream = TestStream().advance_watermark_to("01:00:00").add_elements_at_time("00:00:01", A, B)

    assert stream.steps[1] == Arrive(((None, Element(A, 1_000)), (None, Element(B, 1_000))))


def test_a_timestamped_value_keeps_its_time_in_elements_at_a_time() -> None:
    stream = TestStream().add_elements_at_time("00:00:01", A, TimestampedValue(B, "00:00:02"))

    assert stream.steps == (Arrive(((None, Element(A, 1_000)), (None, Element(B, 2_000)))),)


@pytest.mark.parametrize(
    "instant",
    ["00:01:30", 90_000, datetime(1970, 1, 1, 0, 1, 30, tzinfo=UTC), "1970-01-01T00:01:30Z"],
)
def test_an_instant_can_be_written_in_four_ways(instant: Any) -> None:
    assert TestStream().advance_watermark_to(instant).steps == (AdvanceWatermark(90_000),)


def test_processing_time_moves_on_from_where_it_stands() -> None:
    stream = TestStream().advance_processing_time("1 minute")
    stream = stream.advance_processing_time(timedelta(seconds=30)).advance_processing_time(1)

    assert stream.steps == (AdvanceClock(60_000), AdvanceClock(90_000), AdvanceClock(90_001))


def test_the_watermark_may_stand_still() -> None:
    stream = TestStream().advance_watermark_to("00:01:00").advance_watermark_to("00:01:00")

    assert stream.steps == (AdvanceWatermark(60_000), AdvanceWatermark(60_000))


def test_infinity_finishes_the_stream() -> None:
    stream = TestStream().add_elements_at_time(0, A).advance_watermark_to_infinity()

    assert isinstance(stream, FinishedTestStream)
    assert stream.steps[-1] == AdvanceWatermark(MAX_TIMESTAMP)
    assert not [name for name in dir(stream) if name.startswith(("add_", "advance_"))]


def test_a_shared_prefix_is_not_changed_by_what_is_reported_after_it() -> None:
    prefix = TestStream().add_elements_at_time(0, A)

    prefix.add_elements_at_time(1, B)
    prefix.advance_watermark_to(5)
    prefix.advance_processing_time(5)

    assert prefix == TestStream().add_elements_at_time(0, A)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        prefix.steps = ()  # type: ignore[misc]


def test_the_repr_of_a_stream_is_the_code_that_makes_it() -> None:
    stream = (
        TestStream()
        .add_elements(A)
        .add_elements_at_time("2013-01-01T06:00:00.250Z", A, B)
        .add_elements(TimestampedValue(A, "00:01:30"), TimestampedValue(B, -1))
        .advance_watermark_to("00:13:00")
        .advance_processing_time("1 minute")
        .advance_processing_time("1h 5ms")
        .advance_watermark_to(MAX_TIMESTAMP - 1)
    )

    assert repr(stream) == (
        "TestStream()"
        ".add_elements_at_time(-9223372036854775, ('joe', 'a'))"
        ".add_elements_at_time(\"2013-01-01 06:00:00.250\", ('joe', 'a'), ('ben', 'b'))"
        ".add_elements(TimestampedValue(('joe', 'a'), \"00:01:30\"), "
        "TimestampedValue(('ben', 'b'), \"1969-12-31 23:59:59.999\"))"
        '.advance_watermark_to("00:13:00")'
        '.advance_processing_time("1m")'
        '.advance_processing_time("1h 5ms")'
        ".advance_watermark_to(9223372036854774)"
    )
    assert eval(repr(stream)) == stream
    finished = stream.advance_watermark_to_infinity()
    assert repr(finished) == repr(stream) + ".advance_watermark_to_infinity()"
    assert eval(repr(finished)) == finished


REFUSED: dict[str, tuple[Callable[[TestStream], object], str]] = {
    "nothing to add": (
        lambda stream: stream.add_elements(),
        'no elements to add; write add_elements(("key", "value"))',
    ),
    "an element at the end of time": (
        lambda stream: stream.add_elements_at_time(MAX_TIMESTAMP, A),
        "an element must happen before the end of time, 9223372036854775 ms, "
        "got 9223372036854775 ms for ('joe', 'a')",
    ),
    "a watermark that goes back": (
        lambda stream: stream.advance_watermark_to("00:00:59.999"),
        "the watermark cannot go back: it stands at 00:01:00 (60000 ms), "
        "requested 00:00:59.999 (59999 ms)",
    ),
    "a watermark at the end of time": (
        lambda stream: stream.advance_watermark_to(MAX_TIMESTAMP),
        "the watermark must stay before the end of time, 9223372036854775 ms, asked for "
        "9223372036854775 ms; write advance_watermark_to_infinity()",
    ),
    "a clock that stands still": (
        lambda stream: stream.advance_processing_time("0 s"),
        "advance_processing_time must move the clock by more than 0 ms, got '0 s'",
    ),
    "a run before the end": (
        lambda stream: stream.run(window=None),
        "this stream is still open, and windows that are open would never come out; finish "
        "it with advance_watermark_to_infinity(), then run it",
    ),
}


@pytest.mark.parametrize(("shown", "message"), REFUSED.values(), ids=list(REFUSED))
def test_a_stream_refuses(shown: Callable[[TestStream], object], message: str) -> None:
    stream = TestStream().advance_watermark_to("00:01:00")

    assert refusal(TestStreamError, lambda: shown(stream)) == message
    assert stream.steps == (AdvanceWatermark(60_000),)


PAIRS_ONLY = (
    'write ("joe", "open app") or TimestampedValue(("joe", "open app"), "00:01:00"), or give the '
    "stream to a pipeline"
)


@pytest.mark.parametrize(
    ("element", "message"),
    [
        ("open app", f"has (key, value) pairs, got 'open app'; {PAIRS_ONLY}"),
        (("joe", "a", 1), f"has (key, value) pairs, got ('joe', 'a', 1); {PAIRS_ONLY}"),
        (TimestampedValue("a", "00:01:00"), f"has (key, value) pairs, got 'a'; {PAIRS_ONLY}"),
        (
            (["joe"], "a"),
            "the key of an element must be hashable, got ['joe'] in (['joe'], 'a'); "
            "write a tuple instead of a list",
        ),
    ],
)
def test_a_stream_that_is_run_by_itself_has_pairs_with_keys(element: Any, message: str) -> None:
    stream = TestStream().add_elements(A, element).advance_watermark_to_infinity()

    assert refusal(TestStreamError, lambda: stream.run(window=FixedWindows("1 minute"))).endswith(
        message
    )


@pytest.mark.parametrize(
    ("shown", "message"),
    [
        (lambda: TimestampedValue(A, "noon"), "timestamp is not an instant"),
        (
            lambda: TestStream().add_elements_at_time(MIN_TIMESTAMP - 1, A),
            "add_elements_at_time time must lie between",
        ),
        (
            lambda: TestStream().advance_watermark_to(None),  # type: ignore[arg-type]
            "advance_watermark_to instant is not an instant: None",
        ),
        (
            lambda: TestStream().advance_processing_time(-1),
            "advance_processing_time duration must not be negative, got -1",
        ),
    ],
)
def test_unreadable_times_say_which_argument_is_meant(shown: Callable[[], object], message: str):
    with pytest.raises(TimeError, match=message):
        shown()
