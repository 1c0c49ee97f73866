"""The application on what was recorded in a day: the same domain, in windows of hours and days."""

from collections.abc import Mapping
from datetime import date

from beamlike import AfterWatermark, Repeatedly
from beamlike.scio import ScioContext, WindowOptions
from toll import booth, vehicle
from toll.common import aggregate_and_encode_record
from toll.registration import decode_registration_record

ONE_HOUR = "1 hour"
ONE_DAY = "1 day"
TWO_DAYS = "1 day"  # so in the original, where the registrations are of the same day as the entries

DEFAULT_WINDOW_OPTIONS = WindowOptions(
    trigger=Repeatedly(AfterWatermark()),
    allowed_lateness=0,
    accumulation_mode="discarding",
    on_time_behavior="fire_if_non_empty",
)


def toll_batch_job(sc: ScioContext, args: Mapping[str, str]) -> None:
    effective_date = date.fromisoformat(args["effectiveDate"])
    entries = booth.decode_entry_record(sc.read("entry-table"))
    exits = booth.decode_exit_record(sc.read("exit-table"))
    registrations = decode_registration_record(
        sc.read("vehicle-registration-table"), effective_date
    )

    for name, duration in (("hourly", ONE_HOUR), ("daily", ONE_DAY)):
        stats = booth.calculate_stats_in_fixed_window(entries, duration, DEFAULT_WINDOW_OPTIONS)
        booth.encode_stats_record(stats).save_as(f"entry-stats-{name}-table")

    times, times_diagnostic = vehicle.calculate_times_in_session_window(
        entries, exits, ONE_HOUR, DEFAULT_WINDOW_OPTIONS
    )
    vehicle.encode_times_record(times).save_as("total-vehicle-times-one-hour-gap-table")
    aggregate_and_encode_record(times_diagnostic, ONE_DAY, DEFAULT_WINDOW_OPTIONS).save_as(
        "total-vehicle-times-diagnostic-one-hour-gap-table"
    )

    vehicles, vehicles_diagnostic = vehicle.calculate_expired_with_temporal_join(
        entries,
        registrations,
        left_window_duration=ONE_DAY,
        right_window_duration=TWO_DAYS,
        window_options=DEFAULT_WINDOW_OPTIONS,
    )
    vehicle.encode_expired_record(vehicles).save_as(
        "vehicles-with-expired-registration-daily-table"
    )
    aggregate_and_encode_record(vehicles_diagnostic, ONE_DAY, DEFAULT_WINDOW_OPTIONS).save_as(
        "vehicles-with-expired-registration-diagnostic-daily-table"
    )
