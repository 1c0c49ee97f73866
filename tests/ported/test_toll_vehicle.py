"""Vehicles: entries and exits joined in sessions, entries and registrations by looking them up.

Original: ``TotalVehicleTimesTest`` and ``VehiclesWithExpiredRegistrationTest`` in ``toll-domain``
of mkuthan/stream-processing, commit ce36cac. For the application itself, and what is different
there, see the package ``toll`` beside this.

What differs: each test also says everything that came out.
"""

from dataclasses import replace
from datetime import timedelta

from toll.booth import (
    MISSING_TOLL_BOOTH_EXIT,
    MISSING_VEHICLE_REGISTRATION,
    VEHICLE_REGISTRATION_NOT_EXPIRED,
    LicensePlate,
    TollBoothId,
)
from toll.common import parse
from toll.fixtures import (
    any_toll_booth_diagnostic,
    any_toll_booth_entry,
    any_toll_booth_exit,
    any_total_vehicle_times,
    any_total_vehicle_times_record,
    any_vehicle_registration_history,
    any_vehicle_registration_update,
    any_vehicle_with_expired_registration,
    any_vehicle_with_expired_registration_message,
    any_vehicle_with_expired_registration_record,
)
from toll.vehicle import (
    calculate_expired_with_temporal_join,
    calculate_times_in_session_window,
    encode_expired_message,
    encode_expired_record,
    encode_times_record,
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
    in_on_time_pane,
    in_only_pane,
)
from beamlike.testing import test_stream_of as stream_of

FIVE_MINUTES = "5 minutes"
TWO_DAYS = "2 days"
DEFAULT_WINDOW_OPTIONS = WindowOptions()

# -- TotalVehicleTimes -----------------------------------------------------------------------------


def test_total_vehicle_times_should_be_calculated_using_session_window(sc: ScioContext):
    toll_booth_id = TollBoothId("1")
    license_plate = LicensePlate("AB 123")
    entry_time = parse("2014-09-10T12:03:01Z")
    exit_time = parse("2014-09-10T12:04:03Z")

    toll_booth_entry = replace(
        any_toll_booth_entry,
        id=toll_booth_id,
        license_plate=license_plate,
        entry_time=entry_time,
    )
    toll_booth_exit = replace(
        any_toll_booth_exit, id=toll_booth_id, license_plate=license_plate, exit_time=exit_time
    )

    booth_entries = [(toll_booth_entry, toll_booth_entry.entry_time)]
    booth_exits = [(toll_booth_exit, toll_booth_exit.exit_time)]

    results, diagnostic = calculate_times_in_session_window(
        sc.parallelize_timestamped(booth_entries),
        sc.parallelize_timestamped(booth_exits),
        FIVE_MINUTES,
        DEFAULT_WINDOW_OPTIONS,
    )

    times = replace(
        any_total_vehicle_times,
        toll_booth_id=toll_booth_id,
        license_plate=license_plate,
        entry_time=entry_time,
        exit_time=exit_time,
        duration=timedelta(seconds=62),
    )
    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "2014-09-10T12:03:01Z",
            "2014-09-10T12:09:03Z",
            contain_in_any_order_at_time("2014-09-10T12:09:02.999Z", [times]),
        )
    )

    expect(diagnostic).to(be_empty)

    window = ("2014-09-10T12:03:01Z", "2014-09-10T12:09:03Z")
    expect(results).to(emit_exactly(element(times, *window, timing="ON_TIME")))


def test_total_vehicle_times_should_emit_diagnostic_if_toll_booth_exit_is_after_session_window_gap(
    sc: ScioContext,
):
    toll_booth_id = TollBoothId("1")
    license_plate = LicensePlate("AB 123")
    entry_time = parse("2014-09-10T12:03:01Z")
    exit_time = parse("2014-09-10T12:08:03Z")

    toll_booth_entry = replace(
        any_toll_booth_entry,
        id=toll_booth_id,
        license_plate=license_plate,
        entry_time=entry_time,
    )
    toll_booth_exit = replace(
        any_toll_booth_exit, id=toll_booth_id, license_plate=license_plate, exit_time=exit_time
    )

    booth_entries = [(toll_booth_entry, toll_booth_entry.entry_time)]
    booth_exits = [(toll_booth_exit, toll_booth_exit.exit_time)]

    results, diagnostic = calculate_times_in_session_window(
        sc.parallelize_timestamped(booth_entries),
        sc.parallelize_timestamped(booth_exits),
        FIVE_MINUTES,
        DEFAULT_WINDOW_OPTIONS,
    )

    expect(results).to(be_empty)

    missing_exit = replace(any_toll_booth_diagnostic, reason=MISSING_TOLL_BOOTH_EXIT)
    expect(diagnostic.with_timestamp()).to(
        in_on_time_pane(
            "2014-09-10T12:03:01Z",
            "2014-09-10T12:08:01Z",
            contain_in_any_order_at_time("2014-09-10T12:08:00.999Z", [missing_exit]),
        )
    )

    window = ("2014-09-10T12:03:01Z", "2014-09-10T12:08:01Z")
    expect(diagnostic).to(emit_exactly(element(missing_exit, *window, timing="ON_TIME")))


def test_total_vehicle_times_should_encode_into_record(sc: ScioContext):
    created_at = parse("2014-09-10T12:08:00.999Z")
    times = [(any_total_vehicle_times, created_at)]

    results = encode_times_record(sc.parallelize_timestamped(times))

    record = replace(any_total_vehicle_times_record, created_at=created_at)
    expect(results).to(contain_in_any_order([record]))

    expect(results).to(emit_exactly(element(record, GLOBAL_WINDOW, timestamp=created_at)))


# -- VehiclesWithExpiredRegistration ---------------------------------------------------------------

WINDOW = ("2014-09-10T12:00:00Z", "2014-09-10T12:05:00Z")


def test_expired_vehicle_registration_should_be_calculated(sc: ScioContext):
    booth_entries = [(any_toll_booth_entry, any_toll_booth_entry.entry_time)]

    vehicle_registrations = [
        (
            replace(any_vehicle_registration_history, expired=True),
            any_vehicle_registration_history.registration_time,
        ),
        (
            replace(any_vehicle_registration_update, expired=True),
            any_vehicle_registration_update.registration_time,
        ),
    ]

    results, diagnostics = calculate_expired_with_temporal_join(
        sc.parallelize_timestamped(booth_entries),
        sc.parallelize_timestamped(vehicle_registrations),
        FIVE_MINUTES,
        TWO_DAYS,
        DEFAULT_WINDOW_OPTIONS,
    )

    of_history = any_vehicle_with_expired_registration(any_vehicle_registration_history.id)
    of_update = any_vehicle_with_expired_registration(any_vehicle_registration_update.id)
    expect(results.with_timestamp()).to(
        in_only_pane(
            "2014-09-10T12:00:00Z",
            "2014-09-10T12:05:00Z",
            contain_in_any_order_at_time(any_toll_booth_entry.entry_time, [of_history, of_update]),
        )
    )

    expect(diagnostics).to(be_empty)

    at = any_toll_booth_entry.entry_time
    expect(results).to(
        emit_exactly(
            element(of_history, *WINDOW, timestamp=at), element(of_update, *WINDOW, timestamp=at)
        )
    )


def test_non_expired_vehicle_registration_should_emit_diagnostic(sc: ScioContext):
    booth_entries = [(any_toll_booth_entry, any_toll_booth_entry.entry_time)]

    vehicle_registrations = [
        (
            replace(any_vehicle_registration_history, expired=True),
            any_vehicle_registration_history.registration_time,
        ),
        (
            replace(any_vehicle_registration_update, expired=False),
            any_vehicle_registration_update.registration_time,
        ),
    ]

    results, diagnostics = calculate_expired_with_temporal_join(
        sc.parallelize_timestamped(booth_entries),
        sc.parallelize_timestamped(vehicle_registrations),
        FIVE_MINUTES,
        TWO_DAYS,
        DEFAULT_WINDOW_OPTIONS,
    )

    of_history = any_vehicle_with_expired_registration(any_vehicle_registration_history.id)
    expect(results.with_timestamp()).to(
        in_only_pane(
            "2014-09-10T12:00:00Z",
            "2014-09-10T12:05:00Z",
            contain_in_any_order_at_time(any_toll_booth_entry.entry_time, [of_history]),
        )
    )

    not_expired = replace(any_toll_booth_diagnostic, reason=VEHICLE_REGISTRATION_NOT_EXPIRED)
    expect(diagnostics.with_timestamp()).to(
        in_only_pane(
            "2014-09-10T12:00:00Z",
            "2014-09-10T12:05:00Z",
            contain_in_any_order_at_time(any_toll_booth_entry.entry_time, [not_expired]),
        )
    )

    at = any_toll_booth_entry.entry_time
    expect(results).to(emit_exactly(element(of_history, *WINDOW, timestamp=at)))
    expect(diagnostics).to(emit_exactly(element(not_expired, *WINDOW, timestamp=at)))


def test_missing_vehicle_registration_should_emit_diagnostic(sc: ScioContext):
    unknown_license_plate = LicensePlate("Unknown License Plate")

    booth_entries = [(any_toll_booth_entry, any_toll_booth_entry.entry_time)]

    vehicle_registrations = [
        (
            replace(any_vehicle_registration_history, license_plate=unknown_license_plate),
            any_vehicle_registration_history.registration_time,
        ),
        (
            replace(any_vehicle_registration_update, license_plate=unknown_license_plate),
            any_vehicle_registration_update.registration_time,
        ),
    ]

    results, diagnostics = calculate_expired_with_temporal_join(
        sc.parallelize_timestamped(booth_entries),
        sc.parallelize_timestamped(vehicle_registrations),
        FIVE_MINUTES,
        TWO_DAYS,
        DEFAULT_WINDOW_OPTIONS,
    )

    expect(results).to(be_empty)

    missing = replace(any_toll_booth_diagnostic, reason=MISSING_VEHICLE_REGISTRATION)
    expect(diagnostics.with_timestamp()).to(
        in_only_pane(
            "2014-09-10T12:00:00Z",
            "2014-09-10T12:05:00Z",
            contain_in_any_order_at_time(any_toll_booth_entry.entry_time, [missing]),
        )
    )

    at = any_toll_booth_entry.entry_time
    expect(diagnostics).to(emit_exactly(element(missing, *WINDOW, timestamp=at)))


def test_vehicles_with_expired_registration_should_encode_into_message(sc: ScioContext):
    created_at = parse("2014-09-10T12:09:59.999Z")

    vehicles = (
        stream_of()
        .add_elements_at_time(created_at, any_vehicle_with_expired_registration())
        .advance_watermark_to_infinity()
    )

    results = encode_expired_message(sc.test_stream(vehicles))

    message = any_vehicle_with_expired_registration_message(created_at)
    expect(results).to(contain_in_any_order([message]))

    expect(results).to(emit_exactly(element(message, GLOBAL_WINDOW, timestamp=created_at, step=0)))


def test_vehicles_with_expired_registration_should_encode_into_record(sc: ScioContext):
    created_at = parse("2014-09-10T23:59:59.999Z")

    vehicles = [(any_vehicle_with_expired_registration(), created_at)]

    results = encode_expired_record(sc.parallelize_timestamped(vehicles))

    record = any_vehicle_with_expired_registration_record(created_at)
    expect(results).to(contain_in_any_order([record]))

    expect(results).to(emit_exactly(element(record, GLOBAL_WINDOW, timestamp=created_at)))
