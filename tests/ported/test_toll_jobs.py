"""The toll application as a whole: all inputs, all outputs, and what connects them.

Original: ``TollStreamingJobTest`` and ``TollBatchJobTest`` in ``toll-application`` of
mkuthan/stream-processing, commit ce36cac. For the application itself, and what is different
there, see the package ``toll`` beside this.

What differs: arguments that name tables, topics and folders are left out, because nothing is read
there and nothing written. Each output is asked for its complete panes.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from toll.batch_job import toll_batch_job
from toll.booth import ENTRY_DLQ_COUNTER, ENTRY_TIMESTAMP, EXIT_DLQ_COUNTER, EXIT_TIMESTAMP
from toll.common import parse
from toll.fixtures import (
    any_io_diagnostic_record,
    any_toll_booth_entry_message,
    any_toll_booth_entry_record,
    any_toll_booth_exit_message,
    any_toll_booth_exit_record,
    any_toll_booth_stats_record,
    any_total_vehicle_times_record,
    any_vehicle_registration_message,
    any_vehicle_registration_record,
    any_vehicle_with_expired_registration_message,
    any_vehicle_with_expired_registration_record,
    entry_pubsub_dead_letter,
    exit_pubsub_dead_letter,
    invalid_toll_booth_entry_message,
    invalid_toll_booth_exit_message,
    invalid_vehicle_registration_message,
    registration_pubsub_dead_letter,
    toll_booth_entry_decoding_error,
    toll_booth_exit_decoding_error,
    vehicle_registration_decoding_error,
)
from toll.registration import REGISTRATION_DLQ_COUNTER, REGISTRATION_TIMESTAMP
from toll.streaming_job import toll_streaming_job
from toll.syntax import Left, Right

from beamlike.scio import ScioContext, SCollection
from beamlike.testing import JobTest, element, emit_exactly, expect
from beamlike.testing import test_stream_of as stream_of

Assertion = Callable[[SCollection[Any]], None]

DAY = "2014-09-10T"
TEN_MINUTES = (f"{DAY}12:00:00Z", f"{DAY}12:10:00Z")
TEN_MINUTES_BEFORE = (f"{DAY}11:50:00Z", f"{DAY}12:00:00Z")


def emits(*elements: Any) -> Assertion:
    return lambda results: expect(results).to(emit_exactly(*elements))


def read_at(time: str, message: Any, invalid: Any, dead_letter: Any) -> Any:
    """A message, one that cannot be decoded, and what could not be read at all."""
    stream = stream_of().add_elements_at_time(
        time, Right(message), Right(invalid), Left(dead_letter)
    )
    return stream.advance_watermark_to_infinity()


def diagnostic(subscription: str, dead_letter: Any, created_at: str) -> Any:
    return replace(
        any_io_diagnostic_record,
        created_at=parse(created_at),
        id=subscription,
        reason=dead_letter.error,
    )


def test_toll_job_should_run_in_the_streaming_mode(sc: ScioContext):
    entry_time = any_toll_booth_entry_message.attributes[ENTRY_TIMESTAMP]
    exit_time = any_toll_booth_exit_message.attributes[EXIT_TIMESTAMP]
    registration_time = any_vehicle_registration_message.attributes[REGISTRATION_TIMESTAMP]

    stats = replace(any_toll_booth_stats_record, created_at=parse(f"{DAY}12:09:59.999Z"))
    times = replace(any_total_vehicle_times_record, created_at=parse(f"{DAY}12:12:59.999Z"))
    created_at = parse(entry_time)
    ids = (any_vehicle_registration_message.payload.id, any_vehicle_registration_record.id)
    messages = [any_vehicle_with_expired_registration_message(created_at, it) for it in ids]
    records = [any_vehicle_with_expired_registration_record(created_at, it) for it in ids]
    of_entry = diagnostic("entry-subscription", entry_pubsub_dead_letter, f"{DAY}12:09:59.999Z")
    of_exit = diagnostic("exit-subscription", exit_pubsub_dead_letter, f"{DAY}12:09:59.999Z")
    of_registration = diagnostic(
        "vehicle-registration-subscription", registration_pubsub_dead_letter, f"{DAY}11:59:59.999Z"
    )

    (
        JobTest(toll_streaming_job)
        .args("--effectiveDate=2014-09-10")
        # receive toll booth entries and toll booth exits
        .input_stream(
            "entry-subscription",
            read_at(
                entry_time,
                any_toll_booth_entry_message,
                invalid_toll_booth_entry_message,
                entry_pubsub_dead_letter,
            ),
        )
        .output("entry-dlq-bucket")(
            emits(element(toll_booth_entry_decoding_error, *TEN_MINUTES, timestamp=entry_time))
        )
        .input_stream(
            "exit-subscription",
            read_at(
                exit_time,
                any_toll_booth_exit_message,
                invalid_toll_booth_exit_message,
                exit_pubsub_dead_letter,
            ),
        )
        .output("exit-dlq-bucket")(
            emits(element(toll_booth_exit_decoding_error, *TEN_MINUTES, timestamp=exit_time))
        )
        # receive vehicle registrations
        .input_stream(
            "vehicle-registration-subscription",
            read_at(
                registration_time,
                any_vehicle_registration_message,
                invalid_vehicle_registration_message,
                registration_pubsub_dead_letter,
            ),
        )
        .input("vehicle-registration-table", [any_vehicle_registration_record])
        .output("vehicle-registration-dlq-bucket")(
            emits(
                element(
                    vehicle_registration_decoding_error,
                    *TEN_MINUTES_BEFORE,
                    timestamp=registration_time,
                )
            )
        )
        # calculate toll booth stats
        .output("entry-stats-table")(emits(element(stats, *TEN_MINUTES, timing="ON_TIME")))
        # calculate total vehicle times
        .output("total-vehicle-times-table")(
            emits(element(times, f"{DAY}12:01:00Z", f"{DAY}12:13:00Z", timing="ON_TIME"))
        )
        .output("total-vehicle-times-diagnostic-table")(emits())
        # calculate vehicles with expired registrations
        .output("vehicles-with-expired-registration-topic")(
            emits(*(element(it, *TEN_MINUTES, timestamp=created_at) for it in messages))
        )
        .output("vehicles-with-expired-registration-table")(
            emits(*(element(it, *TEN_MINUTES, timestamp=created_at) for it in records))
        )
        .output("vehicles-with-expired-registration-diagnostic-table")(emits())
        # I/O diagnostic
        .output("io-diagnostic-table")(
            emits(
                element(of_entry, *TEN_MINUTES, timing="ON_TIME"),
                element(of_exit, *TEN_MINUTES, timing="ON_TIME"),
                element(of_registration, *TEN_MINUTES_BEFORE, timing="ON_TIME"),
            )
        )
        .counter(ENTRY_DLQ_COUNTER)(1)
        .counter(EXIT_DLQ_COUNTER)(1)
        .counter(REGISTRATION_DLQ_COUNTER)(1)
        .run_within(sc)
    )


def test_toll_job_should_run_in_the_batch_mode(sc: ScioContext):
    hourly = replace(any_toll_booth_stats_record, created_at=parse(f"{DAY}12:59:59.999Z"))
    daily = replace(any_toll_booth_stats_record, created_at=parse(f"{DAY}23:59:59.999Z"))
    times = replace(any_total_vehicle_times_record, created_at=parse(f"{DAY}13:02:59.999Z"))
    created_at = parse(f"{DAY}12:01:00Z")
    expired = any_vehicle_with_expired_registration_record(
        created_at, any_vehicle_registration_record.id
    )
    one_hour = (f"{DAY}12:00:00Z", f"{DAY}13:00:00Z")
    one_day = (f"{DAY}00:00:00Z", "2014-09-11T00:00:00Z")

    (
        JobTest(toll_batch_job)
        .args("--effectiveDate=2014-09-10")
        # read toll booth entries and toll booth exits
        .input("entry-table", [any_toll_booth_entry_record])
        .input("exit-table", [any_toll_booth_exit_record])
        # read vehicle registrations
        .input("vehicle-registration-table", [any_vehicle_registration_record])
        # calculate toll booth stats
        .output("entry-stats-hourly-table")(emits(element(hourly, *one_hour, timing="ON_TIME")))
        .output("entry-stats-daily-table")(emits(element(daily, *one_day, timing="ON_TIME")))
        # calculate total vehicle times
        .output("total-vehicle-times-one-hour-gap-table")(
            emits(element(times, f"{DAY}12:01:00Z", f"{DAY}13:03:00Z", timing="ON_TIME"))
        )
        .output("total-vehicle-times-diagnostic-one-hour-gap-table")(emits())
        # calculate vehicles with expired registrations
        .output("vehicles-with-expired-registration-daily-table")(
            emits(element(expired, *one_day, timestamp=created_at))
        )
        .output("vehicles-with-expired-registration-diagnostic-daily-table")(emits())
        .run_within(sc)
    )
