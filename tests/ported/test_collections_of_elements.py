"""Collections that a test makes: where their elements are in time, and what matches them.

Original: ``BoundedTestCollectionTest``, ``UnboundedTestCollectionTest`` and ``ScioMatchersTest`` in
``stream-processing-test`` of mkuthan/stream-processing, commit ce36cac.

What differs: there bounded collections have a builder like that of streams; here they are those of
Scio, ``sc.parallelize`` and ``sc.parallelize_timestamped``. Each test also says everything that
came out.
"""

from beamlike import GLOBAL_WINDOW
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.scio import ScioContext
from beamlike.testing import (
    be_empty,
    contain_in_any_order,
    contain_in_any_order_at_time,
    contain_single_value,
    contain_single_value_at_time,
    element,
    emit_exactly,
    expect,
    have_size,
)
from beamlike.testing import test_stream_of as stream_of
from beamlike.testing.assertions.expected import ExpectedPane

ANY_TIME = "2000-01-01T00:00:00.000Z"


def at(time: str | int, *values: str, step: int | None = None) -> list[ExpectedPane]:
    return [element(value, GLOBAL_WINDOW, timestamp=time, step=step) for value in values]


# -- BoundedTestCollection -------------------------------------------------------------------------


def test_bounded_collection_should_have_elements_at_minimum_and_given_times(sc: ScioContext):
    collection = sc.parallelize(["first", "second", "third"]).union(
        sc.parallelize_timestamped(
            [
                ("fourth", ANY_TIME),
                ("fifth", ANY_TIME),
                ("sixth", ANY_TIME),
                ("seventh", ANY_TIME),
            ]
        )
    )

    expect(collection.with_timestamp()).to(
        contain_in_any_order_at_time(
            [
                (MIN_TIMESTAMP, "first"),
                (MIN_TIMESTAMP, "second"),
                (MIN_TIMESTAMP, "third"),
                (ANY_TIME, "fourth"),
                (ANY_TIME, "fifth"),
                (ANY_TIME, "sixth"),
                (ANY_TIME, "seventh"),
            ]
        )
    )

    expect(collection).to(
        emit_exactly(
            *at(MIN_TIMESTAMP, "first", "second", "third"),
            *at(ANY_TIME, "fourth", "fifth", "sixth", "seventh"),
        )
    )


# -- UnboundedTestCollection -----------------------------------------------------------------------


def test_unbounded_collection_should_have_elements_at_given_and_watermark_times(sc: ScioContext):
    watermark_time1 = "2000-01-01T01:00:00.000Z"
    watermark_time2 = "2000-01-01T02:00:00.000Z"

    stream = (
        stream_of()
        .add_elements_at_time(ANY_TIME, "first", "second", "third")
        .add_elements_at_time(ANY_TIME, "fourth")
        .advance_watermark_to(watermark_time1)
        .add_elements_at_watermark_time("fifth")
        .advance_watermark_to(watermark_time2)
        .add_elements_at_watermark_time("sixth", "seventh")
        .advance_watermark_to_infinity()
    )

    results = sc.test_stream(stream)

    expect(results.with_timestamp()).to(
        contain_in_any_order_at_time(
            [
                (ANY_TIME, "first"),
                (ANY_TIME, "second"),
                (ANY_TIME, "third"),
                (ANY_TIME, "fourth"),
                (watermark_time1, "fifth"),
                (watermark_time2, "sixth"),
                (watermark_time2, "seventh"),
            ]
        )
    )

    expect(results).to(
        emit_exactly(
            *at(ANY_TIME, "first", "second", "third", step=0),
            *at(ANY_TIME, "fourth", step=1),
            *at(watermark_time1, "fifth", step=3),
            *at(watermark_time2, "sixth", "seventh", step=5),
        )
    )


# -- ScioMatchers ----------------------------------------------------------------------------------


def test_it_should_match_single_element(sc: ScioContext):
    results = sc.parallelize(["first"])

    expect(results).to(contain_in_any_order(["first"]))
    expect(results).to(contain_single_value("first"))

    expect(results).to(emit_exactly(*at(MIN_TIMESTAMP, "first")))


def test_it_should_match_single_element_at_time(sc: ScioContext):
    results = sc.parallelize_timestamped([("first", ANY_TIME)])

    expect(results.with_timestamp()).to(contain_in_any_order_at_time(ANY_TIME, ["first"]))
    expect(results.with_timestamp()).to(contain_single_value_at_time(ANY_TIME, "first"))

    expect(results).to(emit_exactly(*at(ANY_TIME, "first")))


def test_it_should_match_many_elements(sc: ScioContext):
    results = sc.parallelize(["first", "second", "third"])

    expect(results).to(contain_in_any_order(["first", "second", "third"]))
    expect(results).to(contain_in_any_order(["third", "second", "first"]))

    expect(results).to(emit_exactly(*at(MIN_TIMESTAMP, "first", "second", "third")))


def test_it_should_match_many_elements_at_time(sc: ScioContext):
    results = sc.parallelize_timestamped(
        [("first", ANY_TIME), ("second", ANY_TIME), ("third", ANY_TIME)]
    )

    stamped = results.with_timestamp()
    expect(stamped).to(contain_in_any_order_at_time(ANY_TIME, ["first", "second", "third"]))
    expect(stamped).to(contain_in_any_order_at_time(ANY_TIME, ["third", "second", "first"]))

    expect(results).to(emit_exactly(*at(ANY_TIME, "first", "second", "third")))


def test_it_should_match_many_elements_at_different_times(sc: ScioContext):
    time1 = "2000-01-01T00:00:00.000Z"
    time2 = "2000-01-02T00:00:00.000Z"

    results = sc.parallelize_timestamped(
        [
            ("first", time1),
            ("second", time1),
            ("third", time1),
            ("fourth", time2),
            ("fifth", time2),
        ]
    )

    expect(results.with_timestamp()).to(
        contain_in_any_order_at_time(
            [
                (time1, "first"),
                (time1, "second"),
                (time1, "third"),
                (time2, "fourth"),
                (time2, "fifth"),
            ]
        )
    )

    expect(results).to(
        emit_exactly(*at(time1, "first", "second", "third"), *at(time2, "fourth", "fifth"))
    )


def test_it_should_match_empty_collection(sc: ScioContext):
    results = sc.empty()

    expect(results).to(be_empty)

    expect(results).to(emit_exactly())


def test_it_should_match_collection_size(sc: ScioContext):
    results = sc.parallelize(["first"])

    expect(results).to(have_size(1))

    expect(results).to(emit_exactly(*at(MIN_TIMESTAMP, "first")))
