"""Toll booths: what comes in is decoded, and summed up.

Original: ``TollBoothDiagnosticTest``, ``TollBoothEntryTest``, ``TollBoothExitTest`` and
``TollBoothStatsTest`` in ``toll-domain`` of mkuthan/stream-processing, commit ce36cac. For the
application itself, and what is different there, see the package ``toll`` beside this.

What differs: each test also says everything that came out. The text of a decoding error lacks the
``requirement failed:`` that Scala puts before it.
"""

from dataclasses import replace
from decimal import Decimal

from toll.booth import (
    ENTRY_DLQ_COUNTER,
    ENTRY_TIMESTAMP,
    EXIT_DLQ_COUNTER,
    EXIT_TIMESTAMP,
    TollBoothId,
    aggregate_and_encode_booth_diagnostic,
    calculate_stats_in_fixed_window,
    decode_entry_message,
    decode_entry_record,
    decode_exit_message,
    decode_exit_record,
    encode_stats_record,
)
from toll.common import parse
from toll.fixtures import (
    any_toll_booth_diagnostic,
    any_toll_booth_diagnostic_record,
    any_toll_booth_entry,
    any_toll_booth_entry_message,
    any_toll_booth_entry_record,
    any_toll_booth_exit,
    any_toll_booth_exit_message,
    any_toll_booth_exit_record,
    any_toll_booth_stats,
    any_toll_booth_stats_record,
    invalid_toll_booth_entry_message,
    invalid_toll_booth_exit_message,
    toll_booth_entry_decoding_error,
    toll_booth_exit_decoding_error,
)

from beamlike import GLOBAL_WINDOW
from beamlike.scio import ScioContext, WindowOptions
from beamlike.testing import (
    be_empty,
    contain_in_any_order,
    contain_in_any_order_at_time,
    element,
    emit_exactly,
    expect,
    expect_counter,
    expect_error,
    in_late_pane,
    in_on_time_pane,
)
from beamlike.testing import test_stream_of as stream_of

FIVE_MINUTES = "5 minutes"
DEFAULT_WINDOW_OPTIONS = WindowOptions()
WINDOW = ("2014-09-10T12:00:00Z", "2014-09-10T12:05:00Z")

# -- TollBoothDiagnostic ---------------------------------------------------------------------------


def test_toll_booth_diagnostic_should_aggregate_and_encode_into_record(sc: ScioContext):
    toll_booth1, toll_booth2 = TollBoothId("1"), TollBoothId("2")
    reason1, reason2 = "reason 1", "reason 2"

    diagnostic1 = replace(
        any_toll_booth_diagnostic, toll_booth_id=toll_booth1, reason=reason1, count=1
    )
    diagnostic2 = replace(
        any_toll_booth_diagnostic, toll_booth_id=toll_booth2, reason=reason2, count=2
    )

    diagnostics = [
        (diagnostic1, "2014-09-10T12:00:00Z"),
        (diagnostic2, "2014-09-10T12:00:00Z"),
        (diagnostic1, "2014-09-10T12:01:00Z"),
        (diagnostic2, "2014-09-10T12:01:00Z"),
    ]

    results = aggregate_and_encode_booth_diagnostic(
        sc.parallelize_timestamped(diagnostics), FIVE_MINUTES, DEFAULT_WINDOW_OPTIONS
    )

    end_of_window = "2014-09-10T12:04:59.999Z"
    record = replace(any_toll_booth_diagnostic_record, created_at=parse(end_of_window))
    record1 = replace(record, toll_booth_id=toll_booth1.id, reason=reason1, count=1 + 1)
    record2 = replace(record, toll_booth_id=toll_booth2.id, reason=reason2, count=2 + 2)

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "2014-09-10T12:00:00Z",
            "2014-09-10T12:05:00Z",
            contain_in_any_order_at_time(end_of_window, [record1, record2]),
        )
    )

    expect(results).to(
        emit_exactly(
            element(record1, *WINDOW, timing="ON_TIME"),
            element(record2, *WINDOW, timing="ON_TIME"),
        )
    )


# -- TollBoothEntry --------------------------------------------------------------------------------


def test_toll_booth_entry_should_decode_valid_message_into_toll_booth_entry(sc: ScioContext):
    messages = (
        stream_of()
        .add_elements_at_time(
            any_toll_booth_entry_message.attributes[ENTRY_TIMESTAMP], any_toll_booth_entry_message
        )
        .advance_watermark_to_infinity()
    )

    results, dlq = decode_entry_message(sc.test_stream(messages))

    expect(results.with_timestamp()).to(
        contain_in_any_order_at_time(any_toll_booth_entry.entry_time, [any_toll_booth_entry])
    )
    expect(dlq).to(be_empty)

    at = any_toll_booth_entry.entry_time
    expect(results).to(
        emit_exactly(element(any_toll_booth_entry, GLOBAL_WINDOW, timestamp=at, step=0))
    )


def test_toll_booth_entry_should_put_invalid_message_into_dlq(sc: ScioContext):
    messages = (
        stream_of()
        .add_elements_at_time(
            invalid_toll_booth_entry_message.attributes[ENTRY_TIMESTAMP],
            invalid_toll_booth_entry_message,
        )
        .advance_watermark_to_infinity()
    )

    results, dlq = decode_entry_message(sc.test_stream(messages))

    expect(results).to(be_empty)
    expect(dlq.with_timestamp()).to(
        contain_in_any_order_at_time(
            invalid_toll_booth_entry_message.attributes[ENTRY_TIMESTAMP],
            [toll_booth_entry_decoding_error],
        )
    )

    expect_counter(sc, ENTRY_DLQ_COUNTER)(1)

    at = invalid_toll_booth_entry_message.attributes[ENTRY_TIMESTAMP]
    expect(dlq).to(
        emit_exactly(element(toll_booth_entry_decoding_error, GLOBAL_WINDOW, timestamp=at, step=0))
    )


def test_toll_booth_entry_should_decode_valid_record_into_toll_booth_entry(sc: ScioContext):
    records = [any_toll_booth_entry_record]

    results = decode_entry_record(sc.parallelize(records))

    expect(results.with_timestamp()).to(
        contain_in_any_order_at_time(any_toll_booth_entry.entry_time, [any_toll_booth_entry])
    )

    at = any_toll_booth_entry.entry_time
    expect(results).to(emit_exactly(element(any_toll_booth_entry, GLOBAL_WINDOW, timestamp=at)))


def test_toll_booth_entry_should_throw_an_exception_for_invalid_record(sc: ScioContext):
    decode_entry_record(sc.parallelize([replace(any_toll_booth_entry_record, id="")]))

    expect_error(sc, "Toll booth id is empty")


# -- TollBoothExit ---------------------------------------------------------------------------------


def test_toll_booth_exit_should_decode_valid_message_into_toll_booth_exit(sc: ScioContext):
    messages = (
        stream_of()
        .add_elements_at_time(
            any_toll_booth_exit_message.attributes[EXIT_TIMESTAMP], any_toll_booth_exit_message
        )
        .advance_watermark_to_infinity()
    )

    results, dlq = decode_exit_message(sc.test_stream(messages))

    expect(results.with_timestamp()).to(
        contain_in_any_order_at_time(any_toll_booth_exit.exit_time, [any_toll_booth_exit])
    )
    expect(dlq).to(be_empty)

    at = any_toll_booth_exit.exit_time
    expect(results).to(
        emit_exactly(element(any_toll_booth_exit, GLOBAL_WINDOW, timestamp=at, step=0))
    )


def test_toll_booth_exit_should_put_invalid_message_into_dlq(sc: ScioContext):
    messages = (
        stream_of()
        .add_elements_at_time(
            invalid_toll_booth_exit_message.attributes[EXIT_TIMESTAMP],
            invalid_toll_booth_exit_message,
        )
        .advance_watermark_to_infinity()
    )

    results, dlq = decode_exit_message(sc.test_stream(messages))

    expect(results).to(be_empty)
    expect(dlq.with_timestamp()).to(
        contain_in_any_order_at_time(
            invalid_toll_booth_exit_message.attributes[EXIT_TIMESTAMP],
            [toll_booth_exit_decoding_error],
        )
    )

    expect_counter(sc, EXIT_DLQ_COUNTER)(1)

    at = invalid_toll_booth_exit_message.attributes[EXIT_TIMESTAMP]
    expect(dlq).to(
        emit_exactly(element(toll_booth_exit_decoding_error, GLOBAL_WINDOW, timestamp=at, step=0))
    )


def test_toll_booth_exit_should_decode_valid_record_into_toll_booth_exit(sc: ScioContext):
    records = [any_toll_booth_exit_record]

    results = decode_exit_record(sc.parallelize(records))

    expect(results.with_timestamp()).to(
        contain_in_any_order_at_time(any_toll_booth_exit.exit_time, [any_toll_booth_exit])
    )

    at = any_toll_booth_exit.exit_time
    expect(results).to(emit_exactly(element(any_toll_booth_exit, GLOBAL_WINDOW, timestamp=at)))


# -- TollBoothStats --------------------------------------------------------------------------------


def test_toll_booth_stats_should_calculate_statistics_in_fixed_window(sc: ScioContext):
    toll_booth_id1, toll_booth_id2 = TollBoothId("1"), TollBoothId("2")

    entry1 = replace(
        any_toll_booth_entry,
        id=toll_booth_id1,
        entry_time=parse("2014-09-10T12:01:00.000Z"),
        toll=Decimal(2),
    )
    entry2 = replace(
        any_toll_booth_entry,
        id=toll_booth_id1,
        entry_time=parse("2014-09-10T12:01:30.000Z"),
        toll=Decimal(1),
    )
    entry3 = replace(
        any_toll_booth_entry,
        id=toll_booth_id2,
        entry_time=parse("2014-09-10T12:04:00.000Z"),
        toll=Decimal(4),
    )

    entries = [(entry, entry.entry_time) for entry in (entry1, entry2, entry3)]

    results = calculate_stats_in_fixed_window(
        sc.parallelize_timestamped(entries), FIVE_MINUTES, DEFAULT_WINDOW_OPTIONS
    )

    stats1 = replace(
        any_toll_booth_stats,
        id=toll_booth_id1,
        count=2,
        total_toll=Decimal(2 + 1),
        first_entry_time=entry1.entry_time,
        last_entry_time=entry2.entry_time,
    )
    stats2 = replace(
        any_toll_booth_stats,
        id=toll_booth_id2,
        count=1,
        total_toll=Decimal(4),
        first_entry_time=entry3.entry_time,
        last_entry_time=entry3.entry_time,
    )

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "2014-09-10T12:00:00Z",
            "2014-09-10T12:05:00Z",
            contain_in_any_order_at_time("2014-09-10T12:04:59.999Z", [stats1, stats2]),
        )
    )

    expect(results).to(
        emit_exactly(
            element(stats1, *WINDOW, timing="ON_TIME"),
            element(stats2, *WINDOW, timing="ON_TIME"),
        )
    )


def test_toll_booth_stats_should_calculate_statistics_in_fixed_window_for_late_entries(
    sc: ScioContext,
):
    on_time_entry1 = replace(
        any_toll_booth_entry, entry_time=parse("2014-09-10T12:01:00Z"), toll=Decimal(2)
    )
    on_time_entry2 = replace(
        any_toll_booth_entry, entry_time=parse("2014-09-10T12:02:00Z"), toll=Decimal(3)
    )
    late_entry = replace(
        any_toll_booth_entry, entry_time=parse("2014-09-10T12:03:00Z"), toll=Decimal(1)
    )

    entries = (
        stream_of()
        .add_elements_at_time(on_time_entry1.entry_time, on_time_entry1)
        .add_elements_at_time(on_time_entry2.entry_time, on_time_entry2)
        .advance_watermark_to("2014-09-10T12:05:00Z")
        .add_elements_at_time(late_entry.entry_time, late_entry)
        .advance_watermark_to_infinity()
    )

    window_options = WindowOptions(allowed_lateness="2 minutes", accumulation_mode="discarding")

    results = calculate_stats_in_fixed_window(sc.test_stream(entries), FIVE_MINUTES, window_options)

    on_time_stats = replace(
        any_toll_booth_stats,
        count=2,
        total_toll=Decimal(2 + 3),
        first_entry_time=on_time_entry1.entry_time,
        last_entry_time=on_time_entry2.entry_time,
    )
    late_stats = replace(
        any_toll_booth_stats,
        count=1,
        total_toll=Decimal(1),
        first_entry_time=late_entry.entry_time,
        last_entry_time=late_entry.entry_time,
    )
    record_timestamp = "2014-09-10T12:04:59.999Z"

    expect(results.with_timestamp()).to(
        in_on_time_pane(*WINDOW, contain_in_any_order_at_time(record_timestamp, [on_time_stats]))
    )

    expect(results.with_timestamp()).to(
        in_late_pane(*WINDOW, contain_in_any_order_at_time(record_timestamp, [late_stats]))
    )

    expect(results).to(
        emit_exactly(
            element(on_time_stats, *WINDOW, timing="ON_TIME", is_last=False, step=2),
            element(late_stats, *WINDOW, timing="LATE", index=1, is_last=False, step=3),
        )
    )


def test_toll_booth_stats_should_encode_into_record(sc: ScioContext):
    record_timestamp = parse("2014-09-10T12:04:59.999Z")
    stats = [(any_toll_booth_stats, record_timestamp)]

    results = encode_stats_record(sc.parallelize_timestamped(stats))

    record = replace(any_toll_booth_stats_record, created_at=record_timestamp)
    expect(results).to(contain_in_any_order([record]))

    expect(results).to(emit_exactly(element(record, GLOBAL_WINDOW, timestamp=record_timestamp)))
