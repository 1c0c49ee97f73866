"""What the parts of the toll application share: verbs, and diagnostics of input and output.

Original: ``SCollectionSumByKeyOpsTest``, ``SCollectionEitherOpsTest``, ``SCollectionOpsTest``,
``ScioContextOpsTest`` and ``DiagnosticTest`` in ``stream-processing-shared`` of
mkuthan/stream-processing, commit ce36cac. For the application itself, and what is different
there, see the package ``toll`` beside this.

What differs: each test also says everything that came out. The elements of the two unions happen
at the minimum timestamp there, and here in 1970: windows of days and months reach from year 1 to
year 9999, see `beamlike.CalendarDays`.
"""

from dataclasses import dataclass, replace

from toll.common import aggregate_and_encode_record, instant, parse, written
from toll.fixtures import any_diagnostic, any_diagnostic_record
from toll.syntax import (
    Left,
    Right,
    context_union_in_global_window,
    map_with_timestamp,
    partition,
    sum_by_key_in_fixed_window,
    union_in_global_window,
)

from beamlike import GLOBAL_WINDOW
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.scio import ScioContext, WindowOptions
from beamlike.testing import (
    contain_in_any_order,
    contain_in_any_order_at_time,
    contain_single_value,
    element,
    emit_exactly,
    expect,
    in_on_time_pane,
)

# -- SCollectionSumByKey syntax --------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    key: str
    count: int = 1

    def __add__(self, other: "Sample") -> "Sample":
        return replace(self, count=self.count + other.count)


def test_it_should_sum_by_key_in_fixed_window(sc: ScioContext):
    sample1 = Sample(key="k1")
    sample2 = Sample(key="k2")

    collection = [
        (sample1, "12:00:00"),
        (sample2, "12:01:00"),
        (sample1, "12:02:00"),
        (sample2, "12:10:00"),
    ]

    results = sum_by_key_in_fixed_window(sc.parallelize_timestamped(collection), "10 minutes")

    expect(results).to(
        in_on_time_pane(
            "12:00:00",
            "12:10:00",
            contain_in_any_order([replace(sample1, count=2), replace(sample2, count=1)]),
        )
    )

    expect(results).to(
        in_on_time_pane("12:10:00", "12:20:00", contain_in_any_order([replace(sample2, count=1)]))
    )

    first, second = ("12:00:00", "12:10:00"), ("12:10:00", "12:20:00")
    expect(results).to(
        emit_exactly(
            element(Sample("k1", 2), *first, timing="ON_TIME"),
            element(Sample("k2", 1), *first, timing="ON_TIME"),
            element(Sample("k2", 1), *second, timing="ON_TIME"),
        )
    )


# -- SCollectionEither syntax ----------------------------------------------------------------------


def test_it_should_unzip_either(sc: ScioContext):
    collection = [Right("r1"), Left("l1"), Right("r2"), Left("l2"), Right("r3")]

    right, left = partition(sc.parallelize(collection))

    expect(right).to(contain_in_any_order(["r1", "r2", "r3"]))
    expect(left).to(contain_in_any_order(["l1", "l2"]))

    for side, values in ((right, ["r1", "r2", "r3"]), (left, ["l1", "l2"])):
        expect(side).to(
            emit_exactly(
                *(element(value, GLOBAL_WINDOW, timestamp=MIN_TIMESTAMP) for value in values)
            )
        )


# -- SCollection syntax ----------------------------------------------------------------------------


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

    expect(results).to(contain_in_any_order(["one", "two", "three"]))

    expect(results).to(
        emit_exactly(
            element("one", GLOBAL_WINDOW, timestamp=at),
            element("two", GLOBAL_WINDOW, timestamp=at),
            element("three", GLOBAL_WINDOW, timestamp=at),
        )
    )


def test_it_should_map_with_timestamp(sc: ScioContext):
    at, value = "2023-09-15T18:19:00.000Z", "any element"
    collection = [(value, at)]

    results = map_with_timestamp(
        sc.parallelize_timestamped(collection), lambda it, time: it + written(instant(time))
    )

    expect(results).to(contain_single_value(f"{value}{at}"))

    expect(results).to(emit_exactly(element(f"{value}{at}", GLOBAL_WINDOW, timestamp=at)))


# -- ScioContext syntax ----------------------------------------------------------------------------


def test_a_context_should_union_in_global_window(sc: ScioContext):
    at = "1970-01-01T00:00:00Z"
    collection1 = sc.parallelize_timestamped([("one", at)])
    collection2 = sc.parallelize_timestamped([("two", at), ("three", at)])
    collection3 = sc.parallelize_timestamped([])

    results = context_union_in_global_window(
        sc,
        "any name",
        collection1.with_global_window(),
        collection2.window_by_days(1),
        collection3.window_by_months(1),
    )

    expect(results).to(contain_in_any_order(["one", "two", "three"]))

    expect(results).to(
        emit_exactly(
            element("one", GLOBAL_WINDOW, timestamp=at),
            element("two", GLOBAL_WINDOW, timestamp=at),
            element("three", GLOBAL_WINDOW, timestamp=at),
        )
    )


# -- Diagnostic ------------------------------------------------------------------------------------


def test_diagnostic_should_aggregate_and_encode_into_record(sc: ScioContext):
    id1, id2 = "id1", "id2"
    reason1, reason2 = "reason1", "reason2"

    diagnostic1 = replace(any_diagnostic, id=id1, reason=reason1, count=1)
    diagnostic2 = replace(any_diagnostic, id=id2, reason=reason2, count=2)

    diagnostics = [
        (diagnostic1, "2014-09-10T12:00:00Z"),
        (diagnostic2, "2014-09-10T12:00:00Z"),
        (diagnostic1, "2014-09-10T12:01:00Z"),
        (diagnostic2, "2014-09-10T12:01:00Z"),
    ]

    results = aggregate_and_encode_record(
        sc.parallelize_timestamped(diagnostics), "5 minutes", WindowOptions()
    )

    end_of_window = "2014-09-10T12:04:59.999Z"
    record = replace(any_diagnostic_record, created_at=parse(end_of_window))
    record1 = replace(record, id=id1, reason=reason1, count=1 + 1)
    record2 = replace(record, id=id2, reason=reason2, count=2 + 2)

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "2014-09-10T12:00:00Z",
            "2014-09-10T12:05:00Z",
            contain_in_any_order_at_time(end_of_window, [record1, record2]),
        )
    )

    window = ("2014-09-10T12:00:00Z", "2014-09-10T12:05:00Z")
    expect(results).to(
        emit_exactly(
            element(record1, *window, timing="ON_TIME"),
            element(record2, *window, timing="ON_TIME"),
        )
    )
