"""Registrations of vehicles: updates and history are decoded, and brought together.

Original: ``VehicleRegistrationTest`` in ``toll-domain`` of mkuthan/stream-processing, commit
ce36cac. For the application itself, and what is different there, see the package ``toll`` beside
this.

What differs: each test also says everything that came out. The text of a decoding error lacks the
``requirement failed:`` that Scala puts before it.
"""

from datetime import date

from toll.fixtures import (
    any_vehicle_registration_history,
    any_vehicle_registration_message,
    any_vehicle_registration_record,
    any_vehicle_registration_update,
    invalid_vehicle_registration_message,
    vehicle_registration_decoding_error,
)
from toll.registration import (
    REGISTRATION_DLQ_COUNTER,
    REGISTRATION_TIMESTAMP,
    decode_registration_message,
    decode_registration_record,
    union_history_with_updates,
)

from beamlike import GLOBAL_WINDOW
from beamlike.scio import ScioContext
from beamlike.testing import (
    be_empty,
    contain_in_any_order,
    element,
    emit_exactly,
    expect,
    expect_counter,
)
from beamlike.testing import test_stream_of as stream_of


def test_vehicle_registration_should_decode_valid_message_into_vehicle_registration(
    sc: ScioContext,
):
    at = any_vehicle_registration_message.attributes[REGISTRATION_TIMESTAMP]
    messages = (
        stream_of()
        .add_elements_at_time(at, any_vehicle_registration_message)
        .advance_watermark_to_infinity()
    )

    results, dlq = decode_registration_message(sc.test_stream(messages))

    expect(results).to(contain_in_any_order([any_vehicle_registration_update]))
    expect(dlq).to(be_empty)

    expect(results).to(
        emit_exactly(element(any_vehicle_registration_update, GLOBAL_WINDOW, timestamp=at, step=0))
    )


def test_vehicle_registration_should_put_invalid_message_into_dlq(sc: ScioContext):
    at = invalid_vehicle_registration_message.attributes[REGISTRATION_TIMESTAMP]
    messages = (
        stream_of()
        .add_elements_at_time(at, invalid_vehicle_registration_message)
        .advance_watermark_to_infinity()
    )

    results, dlq = decode_registration_message(sc.test_stream(messages))

    expect(results).to(be_empty)
    expect(dlq).to(contain_in_any_order([vehicle_registration_decoding_error]))

    expect_counter(sc, REGISTRATION_DLQ_COUNTER)(1)

    expect(dlq).to(
        emit_exactly(
            element(vehicle_registration_decoding_error, GLOBAL_WINDOW, timestamp=at, step=0)
        )
    )


def test_vehicle_registration_should_decode_historical_record_into_vehicle_registration(
    sc: ScioContext,
):
    partition_date = date(2014, 9, 9)

    history = sc.parallelize([any_vehicle_registration_record])

    results = decode_registration_record(history, partition_date)

    expect(results).to(contain_in_any_order([any_vehicle_registration_history]))

    expect(results).to(
        emit_exactly(
            element(
                any_vehicle_registration_history, GLOBAL_WINDOW, timestamp="2014-09-09T00:00:00Z"
            )
        )
    )


def test_vehicle_registration_should_union_history_with_updates(sc: ScioContext):
    history_time = any_vehicle_registration_history.registration_time
    update_time = any_vehicle_registration_update.registration_time

    history = sc.parallelize_timestamped([(any_vehicle_registration_history, history_time)])

    updates = (
        stream_of()
        .add_elements_at_time(update_time, any_vehicle_registration_update)
        .advance_watermark_to_infinity()
    )

    results = union_history_with_updates(history, sc.test_stream(updates))

    expect(results).to(
        contain_in_any_order([any_vehicle_registration_history, any_vehicle_registration_update])
    )

    expect(results).to(
        emit_exactly(
            element(any_vehicle_registration_history, GLOBAL_WINDOW, timestamp=history_time),
            element(any_vehicle_registration_update, GLOBAL_WINDOW, timestamp=update_time),
        )
    )
