"""Toll booths: who comes in, who goes out, and what that amounts to."""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from beamlike.beam import Metrics
from beamlike.scio import SCollection, WindowOptions
from toll.common import DeadLetter, Message, decoding, instant, parse
from toll.syntax import map_with_timestamp, partition, sum_by_key_in_fixed_window


@dataclass(frozen=True)
class TollBoothId:
    id: str

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("Toll booth id is empty")


@dataclass(frozen=True)
class LicensePlate:
    number: str

    def __post_init__(self) -> None:
        if not self.number:
            raise ValueError("License plate number is empty")


# -- entries ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TollBoothEntry:
    id: TollBoothId
    entry_time: datetime
    license_plate: LicensePlate
    toll: Decimal


@dataclass(frozen=True)
class EntryRecord:
    id: str
    entry_time: datetime | str
    license_plate: str
    toll: Decimal | str


ENTRY_TIMESTAMP = "entry_time"
ENTRY_DLQ_COUNTER = Metrics.counter("TollBoothEntry", "dlq")


def decode_entry_message(
    messages: SCollection[Message[EntryRecord]],
) -> tuple[SCollection[TollBoothEntry], SCollection[DeadLetter[EntryRecord]]]:
    return partition(messages.map(decoding(entry_of, ENTRY_DLQ_COUNTER)))


def decode_entry_record(records: SCollection[EntryRecord]) -> SCollection[TollBoothEntry]:
    return records.map(entry_of).timestamp_by(lambda entry: entry.entry_time)


def entry_of(said: EntryRecord, attributes: Any = None) -> TollBoothEntry:
    return TollBoothEntry(
        id=TollBoothId(said.id),
        entry_time=parse(said.entry_time),
        license_plate=LicensePlate(said.license_plate),
        toll=Decimal(said.toll),
    )


# -- exits -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TollBoothExit:
    id: TollBoothId
    exit_time: datetime
    license_plate: LicensePlate


@dataclass(frozen=True)
class ExitRecord:
    id: str
    exit_time: datetime | str
    license_plate: str


EXIT_TIMESTAMP = "exit_time"
EXIT_DLQ_COUNTER = Metrics.counter("TollBoothExit", "dlq")


def decode_exit_message(
    messages: SCollection[Message[ExitRecord]],
) -> tuple[SCollection[TollBoothExit], SCollection[DeadLetter[ExitRecord]]]:
    return partition(messages.map(decoding(exit_of, EXIT_DLQ_COUNTER)))


def decode_exit_record(records: SCollection[ExitRecord]) -> SCollection[TollBoothExit]:
    return records.map(exit_of).timestamp_by(lambda booth_exit: booth_exit.exit_time)


def exit_of(said: ExitRecord, attributes: Any = None) -> TollBoothExit:
    return TollBoothExit(
        id=TollBoothId(said.id),
        exit_time=parse(said.exit_time),
        license_plate=LicensePlate(said.license_plate),
    )


# -- statistics ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TollBoothStats:
    id: TollBoothId
    count: int
    total_toll: Decimal
    first_entry_time: datetime
    last_entry_time: datetime

    @property
    def key(self) -> str:
        return self.id.id

    def __add__(self, other: "TollBoothStats") -> "TollBoothStats":
        return replace(
            self,
            count=self.count + other.count,
            total_toll=self.total_toll + other.total_toll,
            first_entry_time=min(self.first_entry_time, other.first_entry_time),
            last_entry_time=max(self.last_entry_time, other.last_entry_time),
        )


@dataclass(frozen=True)
class StatsRecord:
    created_at: datetime
    id: str
    count: int
    total_toll: Decimal
    first_entry_time: datetime
    last_entry_time: datetime


def calculate_stats_in_fixed_window(
    entries: SCollection[TollBoothEntry], window_duration: str, window_options: WindowOptions
) -> SCollection[TollBoothStats]:
    return sum_by_key_in_fixed_window(entries.map(_stats_of_entry), window_duration, window_options)


def encode_stats_record(stats: SCollection[TollBoothStats]) -> SCollection[StatsRecord]:
    def record(toll_booth_stats: TollBoothStats, timestamp: int) -> StatsRecord:
        plain = vars(toll_booth_stats) | {"id": toll_booth_stats.id.id}
        return StatsRecord(created_at=instant(timestamp), **plain)

    return map_with_timestamp(stats, record)


def _stats_of_entry(entry: TollBoothEntry) -> TollBoothStats:
    return TollBoothStats(
        id=entry.id,
        count=1,
        total_toll=entry.toll,
        first_entry_time=entry.entry_time,
        last_entry_time=entry.entry_time,
    )


# -- diagnostics -----------------------------------------------------------------------------------

MISSING_TOLL_BOOTH_EXIT = "Missing TollBoothExit to calculate TotalVehicleTimes"
VEHICLE_REGISTRATION_NOT_EXPIRED = "Vehicle registration is not expired"
MISSING_VEHICLE_REGISTRATION = "Missing vehicle registration"
