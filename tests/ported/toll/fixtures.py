"""Data of the tests: something of everything, of which a test changes what it is about."""

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from toll import booth, vehicle
from toll.common import EPOCH, DeadLetter, Diagnostic, DiagnosticRecord, Message, parse, written
from toll.registration import (
    REGISTRATION_TIMESTAMP,
    RegistrationRecord,
    VehicleRegistration,
    VehicleRegistrationId,
)

any_toll_booth_diagnostic = Diagnostic("1", reason="any reason", count=1)
any_toll_booth_diagnostic_record = DiagnosticRecord(
    created_at=EPOCH, id="1", reason="any reason", count=1
)

_entry_payload = booth.EntryRecord(
    id="1", entry_time="2014-09-10T12:01:00Z", license_plate="JNB 7001", toll="7"
)
any_toll_booth_entry_message = Message(
    _entry_payload, {booth.ENTRY_TIMESTAMP: _entry_payload.entry_time}
)
invalid_toll_booth_entry_message = replace(
    any_toll_booth_entry_message, payload=replace(_entry_payload, id="")
)
toll_booth_entry_decoding_error = DeadLetter(
    data=invalid_toll_booth_entry_message.payload, error="Toll booth id is empty"
)
any_toll_booth_entry_record = booth.EntryRecord(
    "1", parse(_entry_payload.entry_time), license_plate="JNB 7001", toll=Decimal(7)
)
any_toll_booth_entry = booth.entry_of(any_toll_booth_entry_record)

_exit_payload = booth.ExitRecord(id="1", exit_time="2014-09-10T12:03:00Z", license_plate="JNB 7001")
any_toll_booth_exit_message = Message(
    _exit_payload, {booth.EXIT_TIMESTAMP: _exit_payload.exit_time}
)
invalid_toll_booth_exit_message = replace(
    any_toll_booth_exit_message, payload=replace(_exit_payload, id="")
)
toll_booth_exit_decoding_error = DeadLetter(
    data=invalid_toll_booth_exit_message.payload, error="Toll booth id is empty"
)
any_toll_booth_exit_record = booth.ExitRecord(
    "1", parse(_exit_payload.exit_time), license_plate="JNB 7001"
)
any_toll_booth_exit = booth.exit_of(any_toll_booth_exit_record)

any_toll_booth_stats = booth.TollBoothStats(
    id=booth.TollBoothId("1"),
    total_toll=Decimal(7),
    count=1,
    first_entry_time=parse("2014-09-10T12:01:00.000Z"),
    last_entry_time=parse("2014-09-10T12:01:00.000Z"),
)
any_toll_booth_stats_record = booth.StatsRecord(
    created_at=EPOCH, **vars(any_toll_booth_stats) | {"id": "1"}
)

_registration_payload = RegistrationRecord(id="1", license_plate="JNB 7001", expired="1")
any_vehicle_registration_message = Message(
    _registration_payload, {REGISTRATION_TIMESTAMP: "2014-09-10T11:59:00Z"}
)
invalid_vehicle_registration_message = Message(
    replace(_registration_payload, license_plate=""), any_vehicle_registration_message.attributes
)
vehicle_registration_decoding_error = DeadLetter(
    data=invalid_vehicle_registration_message.payload, error="License plate number is empty"
)
any_vehicle_registration_record = RegistrationRecord(id="2", license_plate="JNB 7001", expired=1)
any_vehicle_registration_update = VehicleRegistration(
    id=VehicleRegistrationId(any_vehicle_registration_message.payload.id),
    registration_time=parse("2014-09-10T11:59:00Z"),  # before the entry
    license_plate=booth.LicensePlate("JNB 7001"),
    expired=True,
)
any_vehicle_registration_history = VehicleRegistration(
    id=VehicleRegistrationId(any_vehicle_registration_record.id),
    registration_time=parse("2014-09-09T00:00:00.000Z"),  # the previous day
    license_plate=booth.LicensePlate("JNB 7001"),
    expired=True,
)

any_total_vehicle_times = vehicle.TotalVehicleTimes(
    toll_booth_id=booth.TollBoothId("1"),
    license_plate=booth.LicensePlate("JNB 7001"),
    entry_time=parse("2014-09-10T12:01:00.000Z"),
    exit_time=parse("2014-09-10T12:03:00.000Z"),
    duration=timedelta(seconds=120),
)
any_total_vehicle_times_record = vehicle.TimesRecord(
    created_at=EPOCH,
    toll_booth_id="1",
    license_plate="JNB 7001",
    entry_time=any_total_vehicle_times.entry_time,
    exit_time=any_total_vehicle_times.exit_time,
    duration_seconds=120,
)

_EXPIRED_ENTRY_TIME = "2014-09-10T12:01:00.000Z"
_REGISTRATION_ID = VehicleRegistrationId("1")


def any_vehicle_with_expired_registration(
    id: VehicleRegistrationId = _REGISTRATION_ID,
) -> vehicle.VehiclesWithExpiredRegistration:
    return vehicle.VehiclesWithExpiredRegistration(
        vehicle_registration_id=id,
        license_plate=booth.LicensePlate("JNB 7001"),
        toll_booth_id=booth.TollBoothId("1"),
        entry_time=parse(_EXPIRED_ENTRY_TIME),
    )


def any_vehicle_with_expired_registration_record(
    created_at: datetime, id: str = "1"
) -> vehicle.ExpiredRecord:
    return vehicle.ExpiredRecord(
        created_at=created_at,
        vehicle_registration_id=id,
        license_plate="JNB 7001",
        toll_booth_id="1",
        entry_time=parse(_EXPIRED_ENTRY_TIME),
    )


def any_vehicle_with_expired_registration_message(
    created_at: datetime, id: str = "1"
) -> Message[vehicle.ExpiredRecord]:
    times = {"created_at": written(created_at), "entry_time": _EXPIRED_ENTRY_TIME}
    record = any_vehicle_with_expired_registration_record(created_at, id)
    return Message(
        vehicle.ExpiredRecord(**vars(record) | times),
        {vehicle.EXPIRED_TIMESTAMP: written(created_at)},
    )


entry_pubsub_dead_letter = DeadLetter(b"any entry payload", "any entry error")
exit_pubsub_dead_letter = DeadLetter(b"any exit payload", "any exit error")
registration_pubsub_dead_letter = DeadLetter(
    b"any vehicle registration", "any vehicle registration error"
)
any_io_diagnostic_record = DiagnosticRecord(
    created_at=EPOCH, id="any id", reason="any reason", count=1
)
