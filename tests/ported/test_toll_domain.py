"""Toll booths and vehicles: what is late, what has no counterpart, and what cannot be decoded.

Original: ``TollBoothDiagnosticTest``, ``TollBoothEntryTest``, ``TollBoothStatsTest``,
``TotalVehicleTimesTest`` and ``VehiclesWithExpiredRegistrationTest`` in ``toll-domain``, and
``SCollectionOpsTest`` in ``stream-processing-shared`` of mkuthan/stream-processing, commit ce36cac.
For the application itself, and what is different there, see the package ``toll`` beside this.

What differs: each test says everything that came out. What the jobs of ``test_toll_jobs.py`` show,
too, is left out: that messages and records are decoded, that what cannot be is put aside and
counted, and how results are encoded. The elements of the union happen at the minimum timestamp
there, and here in 1970: windows of days and months reach from year 1 to year 9999, see
`beamlike.CalendarDays`.
"""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from toll.booth import (
    MISSING_TOLL_BOOTH_EXIT,
    MISSING_VEHICLE_REGISTRATION,
    VEHICLE_REGISTRATION_NOT_EXPIRED,
    LicensePlate,
    TollBoothId,
    calculate_stats_in_fixed_window,
    decode_entry_record,
)
from toll.common import aggregate_and_encode_record, parse
from toll.fixtures import (
    any_toll_booth_diagnostic,
    any_toll_booth_diagnostic_record,
    any_toll_booth_entry,
    any_toll_booth_entry_record,
    any_toll_booth_exit,
    any_toll_booth_stats,
    any_vehicle_registration_history,
    any_vehicle_registration_update,
    any_vehicle_with_expired_registration,
)
from toll.syntax import union_in_global_window
from toll.vehicle import calculate_expired_with_temporal_join, calculate_times_in_session_window

from beamlike import GLOBAL_WINDOW
from beamlike.scio import ScioContext, WindowOptions
from beamlike.testing import element, emit_exactly, expect, expect_error
from beamlike.testing import test_stream_of as stream_of

FIVE_MINUTES = "5 minutes"
WINDOW = ("2014-09-10T12:00:00Z", "2014-09-10T12:05:00Z")
ENTRY_TIME = any_toll_booth_entry.entry_time


def test_toll_booth_diagnostic_should_aggregate_and_encode_into_record(sc: ScioContext):
    first = replace(any_toll_booth_diagnostic, id="1", reason="reason 1")
    second = replace(any_toll_booth_diagnostic, id="2", reason="reason 2", count=2)
    times = ("2014-09-10T12:00:00Z", "2014-09-10T12:01:00Z")
    diagnostics = [(diagnostic, time) for time in times for diagnostic in (first, second)]

    results = aggregate_and_encode_record(
        sc.parallelize_timestamped(diagnostics), FIVE_MINUTES, WindowOptions()
    )

    record = replace(any_toll_booth_diagnostic_record, created_at=parse("2014-09-10T12:04:59.999Z"))
    record1 = replace(record, id="1", reason="reason 1", count=1 + 1)
    record2 = replace(record, id="2", reason="reason 2", count=2 + 2)
    expect(results).to(
        emit_exactly(
            element(record1, *WINDOW, timing="ON_TIME"), element(record2, *WINDOW, timing="ON_TIME")
        )
    )


def test_toll_booth_entry_should_throw_an_exception_for_invalid_record(sc: ScioContext):
    decode_entry_record(sc.parallelize([replace(any_toll_booth_entry_record, id="")]))

    expect_error(sc, "Toll booth id is empty")


def entry(time: str, toll: int, booth: str = "1") -> Any:
    return replace(
        any_toll_booth_entry, id=TollBoothId(booth), entry_time=parse(time), toll=Decimal(toll)
    )


def stats_of(*entries: Any) -> Any:
    return replace(
        any_toll_booth_stats,
        id=entries[0].id,
        count=len(entries),
        total_toll=sum(it.toll for it in entries),
        first_entry_time=entries[0].entry_time,
        last_entry_time=entries[-1].entry_time,
    )


def test_toll_booth_stats_should_calculate_statistics_in_fixed_window(sc: ScioContext):
    entry1 = entry("2014-09-10T12:01:00Z", 2)
    entry2 = entry("2014-09-10T12:01:30Z", 1)
    entry3 = entry("2014-09-10T12:04:00Z", 4, booth="2")

    results = calculate_stats_in_fixed_window(
        sc.parallelize_timestamped([(it, it.entry_time) for it in (entry1, entry2, entry3)]),
        FIVE_MINUTES,
        WindowOptions(),
    )

    expect(results).to(
        emit_exactly(
            element(stats_of(entry1, entry2), *WINDOW, timing="ON_TIME"),
            element(stats_of(entry3), *WINDOW, timing="ON_TIME"),
        )
    )


def test_toll_booth_stats_should_calculate_statistics_in_fixed_window_for_late_entries(
    sc: ScioContext,
):
    entry1 = entry("2014-09-10T12:01:00Z", 2)
    entry2 = entry("2014-09-10T12:02:00Z", 3)
    late_entry = entry("2014-09-10T12:03:00Z", 1)
    entries = (
        stream_of()
        .add_elements_at_time(entry1.entry_time, entry1)
        .add_elements_at_time(entry2.entry_time, entry2)
        .advance_watermark_to("2014-09-10T12:05:00Z")
        .add_elements_at_time(late_entry.entry_time, late_entry)
        .advance_watermark_to_infinity()
    )

    results = calculate_stats_in_fixed_window(
        sc.test_stream(entries),
        FIVE_MINUTES,
        WindowOptions(allowed_lateness="2 minutes", accumulation_mode="discarding"),
    )

    on_time, late = stats_of(entry1, entry2), stats_of(late_entry)
    expect(results).to(
        emit_exactly(
            element(on_time, *WINDOW, timing="ON_TIME", is_last=False, step=2),
            element(late, *WINDOW, timing="LATE", index=1, is_last=False, step=3),
        )
    )


def test_total_vehicle_times_should_emit_diagnostic_if_toll_booth_exit_is_after_session_window_gap(
    sc: ScioContext,
):
    booth_entry = replace(any_toll_booth_entry, entry_time=parse("2014-09-10T12:03:01Z"))
    booth_exit = replace(any_toll_booth_exit, exit_time=parse("2014-09-10T12:08:03Z"))

    results, diagnostic = calculate_times_in_session_window(
        sc.parallelize_timestamped([(booth_entry, booth_entry.entry_time)]),
        sc.parallelize_timestamped([(booth_exit, booth_exit.exit_time)]),
        FIVE_MINUTES,
        WindowOptions(),
    )

    missing_exit = replace(any_toll_booth_diagnostic, reason=MISSING_TOLL_BOOTH_EXIT)
    session = ("2014-09-10T12:03:01Z", "2014-09-10T12:08:01Z")
    expect(results).to(emit_exactly())
    expect(diagnostic).to(emit_exactly(element(missing_exit, *session, timing="ON_TIME")))


HISTORY, UPDATE = any_vehicle_registration_history, any_vehicle_registration_update
UNKNOWN = {"license_plate": LicensePlate("Unknown License Plate")}


@pytest.mark.parametrize(
    ("registrations", "expired", "reasons"),
    [
        ([HISTORY, UPDATE], [HISTORY, UPDATE], []),
        ([HISTORY, replace(UPDATE, expired=False)], [HISTORY], [VEHICLE_REGISTRATION_NOT_EXPIRED]),
        (
            [replace(HISTORY, **UNKNOWN), replace(UPDATE, **UNKNOWN)],
            [],
            [MISSING_VEHICLE_REGISTRATION],
        ),
    ],
    ids=["expired", "not expired", "missing"],
)
def test_vehicles_with_expired_registration_should_be_calculated_and_others_emit_diagnostic(
    sc: ScioContext, registrations: list[Any], expired: list[Any], reasons: list[str]
):
    results, diagnostics = calculate_expired_with_temporal_join(
        sc.parallelize_timestamped([(any_toll_booth_entry, ENTRY_TIME)]),
        sc.parallelize_timestamped([(it, it.registration_time) for it in registrations]),
        FIVE_MINUTES,
        "2 days",
        WindowOptions(),
    )

    vehicles = [any_vehicle_with_expired_registration(it.id) for it in expired]
    missed = [replace(any_toll_booth_diagnostic, reason=reason) for reason in reasons]
    for collection, values in ((results, vehicles), (diagnostics, missed)):
        expect(collection).to(
            emit_exactly(*(element(it, *WINDOW, timestamp=ENTRY_TIME) for it in values))
        )


def test_it_should_union_in_global_window(sc: ScioContext):
    at = "1970-01-01T00:00:00Z"
    collection1 = sc.parallelize_timestamped([("one", at)])
    collection2 = sc.parallelize_timestamped([("two", at), ("three", at)])
    collection3 = sc.parallelize_timestamped([])

    results = union_in_global_window(
        collection1.with_global_window(),
        collection2.window_by_days(1),
        collection3.window_by_months(1),
    )

    expect(results).to(
        emit_exactly(*(element(it, GLOBAL_WINDOW, timestamp=at) for it in ("one", "two", "three")))
    )
