"""Collections that a test makes: where their elements are in time.

Original: ``BoundedTestCollectionTest`` and ``UnboundedTestCollectionTest`` in
``stream-processing-test`` of mkuthan/stream-processing, commit ce36cac. Its ``ScioMatchersTest`` is
left out: `tests/pipelines/test_harness_matchers.py` asks each matcher.

What differs: there bounded collections have a builder like that of streams; here they are those of
Scio, ``sc.parallelize`` and ``sc.parallelize_timestamped``.
"""

from beamlike import GLOBAL_WINDOW
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.scio import ScioContext
from beamlike.testing import element, emit_exactly, expect
from beamlike.testing import test_stream_of as stream_of
from beamlike.testing.assertions.complete import ExpectedPane

ANY_TIME = "2000-01-01T00:00:00.000Z"


def at(time: str | int, *values: str, step: int | None = None) -> list[ExpectedPane]:
    return [element(value, GLOBAL_WINDOW, timestamp=time, step=step) for value in values]


def test_bounded_collection_should_have_elements_at_minimum_and_given_times(sc: ScioContext):
    timestamped = [("third", ANY_TIME), ("fourth", ANY_TIME)]
    collection = sc.parallelize(["first", "second"]).union(sc.parallelize_timestamped(timestamped))

    expect(collection).to(
        emit_exactly(*at(MIN_TIMESTAMP, "first", "second"), *at(ANY_TIME, "third", "fourth"))
    )
    expect(sc.empty()).to(emit_exactly())


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

    expect(sc.test_stream(stream)).to(
        emit_exactly(
            *at(ANY_TIME, "first", "second", "third", step=0),
            *at(ANY_TIME, "fourth", step=1),
            *at(watermark_time1, "fifth", step=3),
            *at(watermark_time2, "sixth", "seventh", step=5),
        )
    )
