"""Registrations of vehicles: those of the past, and those that come in."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from beamlike.beam import Metrics
from beamlike.scio import SCollection
from toll.booth import LicensePlate
from toll.common import DeadLetter, Message, decoding, parse
from toll.syntax import partition, union_in_global_window


@dataclass(frozen=True)
class VehicleRegistrationId:
    id: str

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("Vehicle registration id is empty")


@dataclass(frozen=True)
class VehicleRegistration:
    id: VehicleRegistrationId
    registration_time: datetime
    license_plate: LicensePlate
    expired: bool


@dataclass(frozen=True)
class RegistrationRecord:
    id: str
    license_plate: str
    expired: int | str


REGISTRATION_TIMESTAMP = "registration_time"
REGISTRATION_DLQ_COUNTER = Metrics.counter("VehicleRegistration", "dlq")


def decode_registration_message(
    messages: SCollection[Message[RegistrationRecord]],
) -> tuple[SCollection[VehicleRegistration], SCollection[DeadLetter[RegistrationRecord]]]:
    return partition(messages.map(decoding(_of_payload, REGISTRATION_DLQ_COUNTER)))


def decode_registration_record(
    records: SCollection[RegistrationRecord], partition_date: date
) -> SCollection[VehicleRegistration]:
    midnight = datetime.combine(partition_date, time(tzinfo=UTC))
    return records.map(lambda record: _registration_of(record, midnight)).timestamp_by(
        lambda registration: registration.registration_time
    )


def union_history_with_updates(
    history: SCollection[VehicleRegistration], updates: SCollection[VehicleRegistration]
) -> SCollection[VehicleRegistration]:
    return union_in_global_window(history, updates)


def _of_payload(payload: RegistrationRecord, attributes: Mapping[str, str]) -> VehicleRegistration:
    return _registration_of(payload, parse(attributes[REGISTRATION_TIMESTAMP]))


def _registration_of(said: RegistrationRecord, registered: datetime) -> VehicleRegistration:
    return VehicleRegistration(
        id=VehicleRegistrationId(said.id),
        registration_time=registered,
        license_plate=LicensePlate(said.license_plate),
        expired=_is_expired(int(said.expired)),
    )


def _is_expired(expired: int) -> bool:
    if expired < 0:
        raise ValueError(f"Field 'expired' must be positive but was {expired}")
    return expired != 0
