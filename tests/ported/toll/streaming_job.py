"""The application on streams. Windows are of ten minutes, those of registrations of two days."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

import attrs

from beamlike import AfterCount, AfterFirst, AfterWatermark, Repeatedly
from beamlike.scio import ScioContext, SCollection, WindowOptions
from toll import booth, vehicle
from toll.common import Diagnostic, aggregate_and_encode_record, to_diagnostic
from toll.registration import (
    VehicleRegistration,
    decode_registration_message,
    decode_registration_record,
    union_history_with_updates,
)
from toll.syntax import context_union_in_global_window, partition

TEN_MINUTES = "10 minutes"
TWO_DAYS = "2 days"

DEFAULT_WINDOW_OPTIONS = WindowOptions(
    trigger=Repeatedly(AfterWatermark()),
    allowed_lateness=0,
    accumulation_mode="discarding",
    on_time_behavior="fire_if_non_empty",
)
STATS_WINDOW_OPTIONS = attrs.evolve(DEFAULT_WINDOW_OPTIONS, allowed_lateness="2 minutes")
DEAD_LETTER_WINDOW_OPTIONS = attrs.evolve(
    DEFAULT_WINDOW_OPTIONS, trigger=Repeatedly(AfterFirst(AfterWatermark(), AfterCount(1_000_000)))
)


def toll_streaming_job(sc: ScioContext, args: Mapping[str, str]) -> None:
    entries, entries_io_diagnostic = _decoded(sc, "entry", booth.decode_entry_message)
    exits, exits_io_diagnostic = _decoded(sc, "exit", booth.decode_exit_message)
    updates, registrations_io_diagnostic = _decoded(
        sc, "vehicle-registration", decode_registration_message
    )

    partition_date = date.fromisoformat(args["effectiveDate"]) - timedelta(days=1)
    history = decode_registration_record(sc.read("vehicle-registration-table"), partition_date)
    registrations = union_history_with_updates(history, updates)

    _calculate_toll_booth_stats(entries)
    _calculate_total_vehicle_times(entries, exits)
    _calculate_vehicles_with_expired_registrations(entries, registrations)

    io_diagnostics = context_union_in_global_window(
        sc,
        "Union IO Diagnostic",
        entries_io_diagnostic,
        exits_io_diagnostic,
        registrations_io_diagnostic,
    )
    aggregate_and_encode_record(io_diagnostics, TEN_MINUTES, DEFAULT_WINDOW_OPTIONS).save_as(
        "io-diagnostic-table"
    )


def _decoded(
    sc: ScioContext, name: str, decode: Any
) -> tuple[SCollection[Any], SCollection[Diagnostic]]:
    """What a subscription's messages mean. What they should mean and do not is saved."""
    subscription = f"{name}-subscription"
    messages, unreadable = partition(sc.read(subscription))
    decoded, dead_letters = decode(messages)
    dead_letters.with_fixed_windows(TEN_MINUTES, options=DEAD_LETTER_WINDOW_OPTIONS).save_as(
        f"{name}-dlq-bucket"
    )
    return decoded, to_diagnostic(unreadable, subscription)


def _calculate_toll_booth_stats(entries: SCollection[booth.TollBoothEntry]) -> None:
    stats = booth.calculate_stats_in_fixed_window(entries, TEN_MINUTES, STATS_WINDOW_OPTIONS)
    booth.encode_stats_record(stats).save_as("entry-stats-table")


def _calculate_total_vehicle_times(
    entries: SCollection[booth.TollBoothEntry], exits: SCollection[booth.TollBoothExit]
) -> None:
    times, diagnostic = vehicle.calculate_times_in_session_window(
        entries, exits, TEN_MINUTES, DEFAULT_WINDOW_OPTIONS
    )
    vehicle.encode_times_record(times).save_as("total-vehicle-times-table")
    aggregate_and_encode_record(diagnostic, TEN_MINUTES, DEFAULT_WINDOW_OPTIONS).save_as(
        "total-vehicle-times-diagnostic-table"
    )


def _calculate_vehicles_with_expired_registrations(
    entries: SCollection[booth.TollBoothEntry], registrations: SCollection[VehicleRegistration]
) -> None:
    vehicles, diagnostic = vehicle.calculate_expired_with_temporal_join(
        entries,
        registrations,
        left_window_duration=TEN_MINUTES,
        right_window_duration=TWO_DAYS,
        window_options=DEFAULT_WINDOW_OPTIONS,
    )
    vehicle.encode_expired_message(vehicles).save_as("vehicles-with-expired-registration-topic")
    vehicle.encode_expired_record(vehicles).save_as("vehicles-with-expired-registration-table")
    aggregate_and_encode_record(diagnostic, TEN_MINUTES, DEFAULT_WINDOW_OPTIONS).save_as(
        "vehicles-with-expired-registration-diagnostic-table"
    )
