"""Vehicles: how long they took, and which should not have been on the road."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from beamlike.scio import SCollection, WindowOptions
from toll import booth
from toll.common import Diagnostic, Message, instant, written
from toll.registration import VehicleRegistration, VehicleRegistrationId
from toll.syntax import Either, Left, Right, map_with_timestamp, partition

# -- times -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TotalVehicleTimes:
    license_plate: booth.LicensePlate
    toll_booth_id: booth.TollBoothId
    entry_time: datetime
    exit_time: datetime
    duration: timedelta


@dataclass(frozen=True)
class TimesRecord:
    created_at: datetime
    license_plate: str
    toll_booth_id: str
    entry_time: datetime
    exit_time: datetime
    duration_seconds: int


def calculate_times_in_session_window(
    booth_entries: SCollection[booth.TollBoothEntry],
    booth_exits: SCollection[booth.TollBoothExit],
    gap_duration: str,
    window_options: WindowOptions,
) -> tuple[SCollection[TotalVehicleTimes], SCollection[Diagnostic]]:
    def joined(
        entries: SCollection[booth.TollBoothEntry],
    ) -> SCollection[Either[Diagnostic, TotalVehicleTimes]]:
        entries_by_id = entries.key_by(
            lambda entry: (entry.id.id, entry.license_plate.number)
        ).with_session_windows(gap_duration, window_options)
        exits_by_id = booth_exits.key_by(
            lambda booth_exit: (booth_exit.id.id, booth_exit.license_plate.number)
        ).with_session_windows(gap_duration, window_options)
        return entries_by_id.left_outer_join(exits_by_id).values().map(_times_of)

    return partition(booth_entries.transform("TotalVehicleTimes", joined))


def encode_times_record(times: SCollection[TotalVehicleTimes]) -> SCollection[TimesRecord]:
    def record(total_vehicle_times: TotalVehicleTimes, timestamp: int) -> TimesRecord:
        return TimesRecord(
            created_at=instant(timestamp),
            license_plate=total_vehicle_times.license_plate.number,
            toll_booth_id=total_vehicle_times.toll_booth_id.id,
            entry_time=total_vehicle_times.entry_time,
            exit_time=total_vehicle_times.exit_time,
            duration_seconds=total_vehicle_times.duration // timedelta(seconds=1),
        )

    return map_with_timestamp(times, record)


def _times_of(
    both: tuple[booth.TollBoothEntry, booth.TollBoothExit | None],
) -> Either[Diagnostic, TotalVehicleTimes]:
    entry, booth_exit = both
    if booth_exit is None:
        return Left(Diagnostic(entry.id.id, booth.MISSING_TOLL_BOOTH_EXIT))
    return Right(
        TotalVehicleTimes(
            license_plate=entry.license_plate,
            toll_booth_id=entry.id,
            entry_time=entry.entry_time,
            exit_time=booth_exit.exit_time,
            duration=booth_exit.exit_time - entry.entry_time,
        )
    )


# -- expired registrations -------------------------------------------------------------------------


@dataclass(frozen=True)
class VehiclesWithExpiredRegistration:
    vehicle_registration_id: VehicleRegistrationId
    toll_booth_id: booth.TollBoothId
    entry_time: datetime
    license_plate: booth.LicensePlate


@dataclass(frozen=True)
class ExpiredRecord:
    created_at: datetime | str
    vehicle_registration_id: str
    toll_booth_id: str
    entry_time: datetime | str
    license_plate: str


EXPIRED_TIMESTAMP = "created_at"


def calculate_expired_with_temporal_join(
    booth_entries: SCollection[booth.TollBoothEntry],
    vehicle_registrations: SCollection[VehicleRegistration],
    left_window_duration: str,
    right_window_duration: str,
    window_options: WindowOptions,
) -> tuple[SCollection[VehiclesWithExpiredRegistration], SCollection[Diagnostic]]:
    def joined(
        entries: SCollection[booth.TollBoothEntry],
    ) -> SCollection[Either[Diagnostic, VehiclesWithExpiredRegistration]]:
        entries_by_plate = entries.key_by(
            lambda entry: entry.license_plate.number
        ).with_fixed_windows(left_window_duration, options=window_options)
        registrations_by_plate = vehicle_registrations.key_by(
            lambda registration: registration.license_plate.number
        ).with_fixed_windows(right_window_duration, options=window_options)
        return entries_by_plate.hash_left_outer_join(registrations_by_plate).values().map(_expired)

    return partition(booth_entries.transform("VehiclesWithExpiredRegistration", joined))


def encode_expired_message(
    vehicles: SCollection[VehiclesWithExpiredRegistration],
) -> SCollection[Message[ExpiredRecord]]:
    def message(record: ExpiredRecord) -> Message[ExpiredRecord]:
        times = {"created_at": written(record.created_at), "entry_time": written(record.entry_time)}
        payload = ExpiredRecord(**vars(record) | times)
        return Message(payload, {EXPIRED_TIMESTAMP: payload.created_at})

    return encode_expired_record(vehicles).map(message)


def encode_expired_record(
    vehicles: SCollection[VehiclesWithExpiredRegistration],
) -> SCollection[ExpiredRecord]:
    def record(vehicle: VehiclesWithExpiredRegistration, timestamp: int) -> ExpiredRecord:
        return ExpiredRecord(
            created_at=instant(timestamp),
            vehicle_registration_id=vehicle.vehicle_registration_id.id,
            toll_booth_id=vehicle.toll_booth_id.id,
            entry_time=vehicle.entry_time,
            license_plate=vehicle.license_plate.number,
        )

    return map_with_timestamp(vehicles, record)


def _expired(
    both: tuple[booth.TollBoothEntry, VehicleRegistration | None],
) -> Either[Diagnostic, VehiclesWithExpiredRegistration]:
    entry, registration = both
    if registration is None:
        return Left(Diagnostic(entry.id.id, booth.MISSING_VEHICLE_REGISTRATION))
    if not registration.expired:
        return Left(Diagnostic(entry.id.id, booth.VEHICLE_REGISTRATION_NOT_EXPIRED))
    return Right(
        VehiclesWithExpiredRegistration(
            vehicle_registration_id=registration.id,
            toll_booth_id=entry.id,
            entry_time=entry.entry_time,
            license_plate=entry.license_plate,
        )
    )
