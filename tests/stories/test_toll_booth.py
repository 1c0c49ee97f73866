"""The toll booth application: statistics, diagnostics, and entries that meet their exits.

Scenarios of mkuthan/stream-processing (blog posts of 2023). The originals fold records; here
several combine functions run side by side over the fields of a record.
"""

from typing import Any

from beamlike import FixedWindows, Sessions
from beamlike.model.combine import Collect, Count, Max, Min, Sum, Together
from beamlike.model.time import instant_ms
from beamlike.testing import (
    FinishedTestStream,
    Results,
    TestStream,
    TimestampedValue,
    contain_in_any_order,
    contain_in_any_order_at_time,
    contain_single_value_at_time,
    emit_exactly,
    in_late_pane,
    in_on_time_pane,
    late_pane,
    on_time_pane,
)

Host = dict[str, Any]


def at(time: str) -> int:
    return instant_ms(f"2014-09-10T{time}Z", "time")


NOON = at("12:00:00")
FIVE_PAST = at("12:05:00")
END_OF_FIRST_FIVE_MINUTES = at("12:04:59.999")

TOLL_BOOTH_STATS = Together(
    {
        "count": (Count(), None),
        "total_toll": (Sum(), 0),
        "first_entry": (Min(), 1),
        "last_entry": (Max(), 1),
    }
)


def entry(booth: str, toll: int, time: str) -> TimestampedValue:
    """A vehicle enters a toll booth: the toll that is paid, and when."""
    return TimestampedValue((booth, (toll, at(time))), at(time))


def toll_booth_stats(entries: FinishedTestStream, host: Host, **options: Any) -> Results:
    """Of each booth: count, total toll, first entry, last entry."""
    return entries.run(
        window=FixedWindows("5 minutes"), aggregate=TOLL_BOOTH_STATS, **options, **host
    )


def test_statistics_are_made_for_each_booth(host: Host) -> None:
    entries = (
        TestStream()
        .add_elements(
            entry("1", 2, "12:01:00"), entry("1", 1, "12:01:30"), entry("2", 4, "12:04:00")
        )
        .advance_watermark_to_infinity()
    )

    results = toll_booth_stats(entries, host)

    first = ("1", (2, 3, at("12:01:00"), at("12:01:30")))
    second = ("2", (1, 4, at("12:04:00"), at("12:04:00")))
    results.with_timestamp().should(
        in_on_time_pane(
            NOON,
            FIVE_PAST,
            contain_in_any_order_at_time(END_OF_FIRST_FIVE_MINUTES, [first, second]),
        )
    )
    results.should(
        emit_exactly(
            on_time_pane(*first, NOON, FIVE_PAST, is_last=True, step=1),
            on_time_pane(*second, NOON, FIVE_PAST, is_last=True, step=1),
        )
    )


def test_a_late_entry_has_statistics_of_its_own(host: Host) -> None:
    entries = (
        TestStream()
        .add_elements(entry("1", 2, "12:01:00"))
        .add_elements(entry("1", 3, "12:02:00"))
        .advance_watermark_to(FIVE_PAST)
        .add_elements(entry("1", 1, "12:03:00"))  # late, within allowed lateness
        .advance_watermark_to_infinity()
    )

    results = toll_booth_stats(
        entries, host, allowed_lateness="2 minutes", accumulation="discarding"
    )

    on_time = ("1", (2, 5, at("12:01:00"), at("12:02:00")))
    late = ("1", (1, 1, at("12:03:00"), at("12:03:00")))
    results.with_timestamp().should(
        in_on_time_pane(
            NOON, FIVE_PAST, contain_in_any_order_at_time(END_OF_FIRST_FIVE_MINUTES, [on_time])
        )
    )
    results.with_timestamp().should(
        in_late_pane(
            NOON, FIVE_PAST, contain_in_any_order_at_time(END_OF_FIRST_FIVE_MINUTES, [late])
        )
    )
    results.should(
        emit_exactly(
            on_time_pane(*on_time, NOON, FIVE_PAST, is_last=False, step=2),
            late_pane(*late, NOON, FIVE_PAST, index=1, is_last=False, step=3),
        )
    )


def test_an_entry_meets_its_exit_in_one_session(host: Host) -> None:
    # What a left outer join of entries and exits finds together in one pane.
    entry_and_exit = (
        TestStream()
        .add_elements(
            TimestampedValue(("1/AB 123", "entry"), at("12:03:01")),
            TimestampedValue(("1/AB 123", "exit"), at("12:04:03")),
        )
        .advance_watermark_to_infinity()
    )

    results = entry_and_exit.run(window=Sessions("5 minutes"), aggregate=Collect(), **host)

    start, end = at("12:03:01"), at("12:09:03")  # the exit is the later of the two
    results.with_timestamp().should(
        in_on_time_pane(
            start, end, contain_single_value_at_time(end - 1, ("1/AB 123", ["entry", "exit"]))
        )
    )
    results.should(
        emit_exactly(on_time_pane("1/AB 123", ["entry", "exit"], start, end, is_last=True, step=1))
    )


def test_an_exit_after_the_gap_leaves_the_entry_alone(host: Host) -> None:
    entry_and_exit = (
        TestStream()
        .add_elements(
            TimestampedValue(("1/AB 123", "entry"), at("12:03:01")),
            TimestampedValue(("1/AB 123", "exit"), at("12:08:03")),
        )
        .advance_watermark_to_infinity()
    )

    results = entry_and_exit.run(window=Sessions("5 minutes"), aggregate=Collect(), **host)

    entry_end = at("12:08:01")
    results.with_timestamp().should(
        in_on_time_pane(
            at("12:03:01"),
            entry_end,
            contain_single_value_at_time(entry_end - 1, ("1/AB 123", ["entry"])),
        )
    )
    results.should(
        emit_exactly(
            on_time_pane("1/AB 123", ["entry"], at("12:03:01"), entry_end, is_last=True, step=1),
            on_time_pane(
                "1/AB 123", ["exit"], at("12:08:03"), at("12:13:03"), is_last=True, step=1
            ),
        )
    )


def test_diagnostics_are_summed_by_booth_and_reason(host: Host) -> None:
    diagnostics = (
        TestStream()
        .add_elements(
            TimestampedValue((("id1", "reason1"), 1), at("12:00:00")),
            TimestampedValue((("id2", "reason2"), 2), at("12:00:00")),
            TimestampedValue((("id1", "reason1"), 1), at("12:01:00")),
            TimestampedValue((("id2", "reason2"), 2), at("12:01:00")),
        )
        .advance_watermark_to_infinity()
    )

    results = diagnostics.run(window=FixedWindows("5 minutes"), aggregate=Sum(), **host)

    results.with_timestamp().should(
        in_on_time_pane(
            NOON,
            FIVE_PAST,
            contain_in_any_order_at_time(
                END_OF_FIRST_FIVE_MINUTES, [(("id1", "reason1"), 2), (("id2", "reason2"), 4)]
            ),
        )
    )
    results.should(
        emit_exactly(
            on_time_pane(("id1", "reason1"), 2, NOON, FIVE_PAST, is_last=True, step=1),
            on_time_pane(("id2", "reason2"), 4, NOON, FIVE_PAST, is_last=True, step=1),
        )
    )


def test_values_are_summed_by_key_in_each_fixed_window(host: Host) -> None:
    values = (
        TestStream()
        .add_elements(
            TimestampedValue(("k1", 1), "12:00:00"),
            TimestampedValue(("k2", 1), "12:01:00"),
            TimestampedValue(("k1", 1), "12:02:00"),
            TimestampedValue(("k2", 1), "12:10:00"),
        )
        .advance_watermark_to_infinity()
    )

    results = values.run(window=FixedWindows("10 minutes"), aggregate=Sum(), **host)

    results.should(
        in_on_time_pane("12:00:00", "12:10:00", contain_in_any_order([("k1", 2), ("k2", 1)]))
    )
    results.should(in_on_time_pane("12:10:00", "12:20:00", contain_in_any_order([("k2", 1)])))
    results.should(
        emit_exactly(
            on_time_pane("k1", 2, "12:00:00", "12:10:00", is_last=True, step=1),
            on_time_pane("k2", 1, "12:00:00", "12:10:00", is_last=True, step=1),
            on_time_pane("k2", 1, "12:10:00", "12:20:00", is_last=True, step=1),
        )
    )
