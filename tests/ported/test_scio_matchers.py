"""What the matchers of values say.

Original: ``SCollectionMatchersTest.scala`` of scio-test; spotify/scio at 3b35141. Its tests of
windows and panes are in ``test_scio_pane_matchers.py`` beside this.

The original runs a pipeline for each assertion, and those that must not hold have to raise. Here
all of a test go in one pipeline, and what must not hold is asked with `refused`.

What differs:

* ``not_to(contain_single_value(...))`` and ``not_to(satisfy_single_value(...))`` hold where there
  are several elements; Scio refuses them, for a reason that is not the assertion's. Left out.
* Whether a class can be serialized, and by what, is none of a matcher's business. Left out: the
  test of ``DoesNotSerialize``.
* Numbers are within a tolerance with ``math.isclose``.
"""

from math import isclose
from typing import Any

import attrs
import pytest
from matching import refused, refused_not_to

from beamlike.scio import ScioContext
from beamlike.testing import (
    PaneAssertionError,
    be_empty,
    contain_in_any_order,
    contain_single_value,
    contain_value,
    equal_map_of,
    exist,
    expect,
    for_all,
    have_size,
    run_with_context,
    satisfy,
    satisfy_single_value,
)


@attrs.frozen(eq=False)
class Record:
    """What has an equality of its own."""

    x: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.x == other.x

    def __hash__(self) -> int:
        return self.x


def one_to(last: int) -> list[int]:
    return list(range(1, last + 1))


def test_the_matchers_support_contain_in_any_order(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize(one_to(100))).to(contain_in_any_order(one_to(100)))
    expect(sc.parallelize(one_to(200))).to(refused(contain_in_any_order(one_to(100))))
    expect(sc.parallelize(one_to(100))).to(refused(contain_in_any_order(one_to(200))))

    # should not
    expect(sc.parallelize(one_to(100))).not_to(contain_in_any_order(one_to(10)))
    expect(sc.parallelize(one_to(10))).not_to(contain_in_any_order(one_to(100)))
    expect(sc.parallelize(one_to(100))).to(refused_not_to(contain_in_any_order(one_to(100))))

    # objects of a class
    expect(sc.parallelize([Record(1)])).to(contain_in_any_order([Record(1)]))
    expect(sc.parallelize([Record(1)])).not_to(contain_in_any_order([Record(2)]))
    expect(sc.parallelize([Record(1)])).to(satisfy(lambda records: Record(1) in records))


def test_they_support_contain_in_any_order_with_a_percent_sign() -> None:
    with pytest.raises(PaneAssertionError) as failed, run_with_context() as sc:
        expect(sc.parallelize(["1"])).to(contain_in_any_order(["%1"]))
    said = str(failed.value)
    # expected
    assert "missing" in said
    assert "'%1'" in said
    # actual
    assert "unexpected" in said
    assert "'1'" in said


def test_they_support_contain_single_value(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize([1])).to(contain_single_value(1))
    expect(sc.parallelize([1])).to(refused(contain_single_value(10)))
    expect(sc.parallelize(one_to(10))).to(refused(contain_single_value(1)))
    expect(sc.parallelize([])).to(refused(contain_single_value(1)))

    # should not
    expect(sc.parallelize([10])).not_to(contain_single_value(1))
    expect(sc.parallelize([1])).to(refused_not_to(contain_single_value(1)))
    expect(sc.parallelize([])).to(refused_not_to(contain_single_value(1)))

    # objects of a class
    expect(sc.parallelize([Record(1)])).to(contain_single_value(Record(1)))
    expect(sc.parallelize([Record(1)])).not_to(contain_single_value(Record(2)))


def test_they_support_contain_value(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize([1, 2, 3])).to(contain_value(1))
    expect(sc.parallelize([1])).to(refused(contain_value(10)))

    # should not
    expect(sc.parallelize([1, 2, 3])).not_to(contain_value(4))
    expect(sc.parallelize([1, 2, 3])).should_not(contain_value(4))
    expect(sc.parallelize([1, 2, 3])).to(refused_not_to(contain_value(1)))

    # objects of a class
    expect(sc.parallelize([Record(1), Record(2)])).to(contain_value(Record(1)))
    expect(sc.parallelize([Record(1), Record(2)])).not_to(contain_value(Record(3)))


def test_they_support_be_empty(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize([])).to(be_empty)
    expect(sc.parallelize(one_to(10))).to(refused(be_empty))

    # should not
    expect(sc.parallelize(one_to(10))).not_to(be_empty)
    expect(sc.parallelize(one_to(10))).should_not(be_empty)
    expect(sc.parallelize([])).to(refused_not_to(be_empty))


def test_they_support_have_size(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize([])).to(have_size(0))
    expect(sc.parallelize([1])).to(have_size(1))
    expect(sc.parallelize(one_to(10))).to(have_size(10))
    expect(sc.parallelize([])).to(refused(have_size(1)))
    expect(sc.parallelize([1])).to(refused(have_size(0)))
    expect(sc.parallelize(one_to(10))).to(refused(have_size(20)))

    # should not
    expect(sc.parallelize([])).not_to(have_size(1))
    expect(sc.parallelize([1])).not_to(have_size(0))
    expect(sc.parallelize(one_to(10))).not_to(have_size(100))
    expect(sc.parallelize([])).to(refused_not_to(have_size(0)))
    expect(sc.parallelize([1])).to(refused_not_to(have_size(1)))
    expect(sc.parallelize(one_to(10))).to(refused_not_to(have_size(10)))


def test_they_support_equal_map_of(sc: ScioContext) -> None:
    s = [("a", 1), ("b", 2), ("c", 3)]
    tail = s[1:]
    # should
    expect(sc.parallelize(s)).to(equal_map_of(dict(s)))
    expect(sc.parallelize([])).to(equal_map_of({}))
    expect(sc.parallelize(s)).to(refused(equal_map_of(dict([*s, ("d", 4)]))))
    expect(sc.parallelize([*s, ("d", 4)])).to(refused(equal_map_of(dict(s))))
    expect(sc.parallelize(s)).to(refused(equal_map_of(dict(tail))))
    expect(sc.parallelize(tail)).to(refused(equal_map_of(dict(s))))
    expect(sc.parallelize(s)).to(refused(equal_map_of(dict(s) | {"a": 10})))
    expect(sc.parallelize([*tail, ("a", 10)])).to(refused(equal_map_of(dict(s))))
    expect(sc.parallelize(s)).to(refused(equal_map_of({})))
    expect(sc.parallelize([])).to(refused(equal_map_of(dict(s))))

    # should not
    expect(sc.parallelize(s)).not_to(equal_map_of(dict([*s, ("d", 4)])))
    expect(sc.parallelize(s)).not_to(equal_map_of({}))
    expect(sc.parallelize([])).not_to(equal_map_of(dict(s)))
    expect(sc.parallelize(s)).to(refused_not_to(equal_map_of(dict(s))))
    expect(sc.parallelize([])).to(refused_not_to(equal_map_of({})))

    # objects of a class
    s2 = [("a", Record(1)), ("b", Record(2))]
    expect(sc.parallelize(s2)).to(equal_map_of(dict(s2)))
    expect(sc.parallelize(s2)).not_to(equal_map_of(dict([*s2, ("c", Record(3))])))


def test_they_support_satisfy(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize(one_to(100))).to(satisfy(lambda it: sum(it) == 5050))
    expect(sc.parallelize(one_to(100))).to(refused(satisfy(lambda it: sum(it) == 100)))

    # should not
    expect(sc.parallelize(one_to(100))).not_to(satisfy(lambda it: sum(it) == 100))
    expect(sc.parallelize(one_to(100))).to(refused_not_to(satisfy(lambda it: sum(it) == 5050)))

    # objects of a class
    expect(sc.parallelize([Record(1)])).to(satisfy(lambda it: Record(1) in it))
    expect(sc.parallelize([Record(1)])).not_to(satisfy(lambda it: Record(2) in it))


def test_they_support_satisfy_single_value(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize([1])).to(satisfy_single_value(lambda it: it == 1))
    expect(sc.parallelize([1])).to(refused(satisfy_single_value(lambda it: it == 10)))
    expect(sc.parallelize(one_to(10))).to(refused(satisfy_single_value(lambda it: it == 1)))
    expect(sc.parallelize([])).to(refused(satisfy_single_value(lambda it: it == 1)))

    # should not
    expect(sc.parallelize([10])).not_to(satisfy_single_value(lambda it: it == 1))
    expect(sc.parallelize([1])).to(refused_not_to(satisfy_single_value(lambda it: it == 1)))
    expect(sc.parallelize([])).to(refused_not_to(satisfy_single_value(lambda it: it == 1)))

    # objects of a class
    expect(sc.parallelize([Record(1)])).to(satisfy_single_value(lambda it: it == Record(1)))
    expect(sc.parallelize([Record(1)])).not_to(satisfy_single_value(lambda it: it == Record(2)))


def test_they_support_for_all(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize(one_to(100))).to(for_all(lambda it: it > 0))
    expect(sc.parallelize(one_to(100))).to(refused(for_all(lambda it: it > 10)))

    # should not
    expect(sc.parallelize(one_to(100))).not_to(for_all(lambda it: it > 10))
    expect(sc.parallelize(one_to(100))).to(refused_not_to(for_all(lambda it: it > 0)))

    # objects of a class
    expect(sc.parallelize([Record(1)])).to(for_all(lambda it: it == Record(1)))
    expect(sc.parallelize([Record(1)])).not_to(for_all(lambda it: it == Record(2)))


def test_they_support_tolerance(sc: ScioContext) -> None:
    def near(number: float, tolerance: float) -> Any:
        # Scio's bounds belong to it, and 1.5 - 1.4 is a little more than 0.1.
        return lambda it: isclose(it, number, rel_tol=0, abs_tol=tolerance + 1e-9)

    def sum_near(number: float, tolerance: float) -> Any:
        return lambda it: near(number, tolerance)(sum(it))

    xs = [1.4, 1.5, 1.6]

    # should
    expect(sc.parallelize(xs)).to(for_all(near(1.5, 0.1)))
    expect(sc.parallelize(xs)).to(exist(near(1.5, 0.1)))
    expect(sc.parallelize(xs)).to(satisfy(sum_near(5.0, 0.5)))
    expect(sc.parallelize(xs)).to(refused(for_all(near(1.4, 0.1))))
    expect(sc.parallelize(xs)).to(refused(exist(near(1.0, 0.1))))
    expect(sc.parallelize(xs)).to(refused(satisfy(sum_near(1.0, 0.5))))

    # should not
    expect(sc.parallelize(xs)).not_to(for_all(near(1.4, 0.1)))
    expect(sc.parallelize(xs)).not_to(exist(near(1.0, 0.1)))
    expect(sc.parallelize(xs)).not_to(satisfy(sum_near(1.0, 0.5)))
    expect(sc.parallelize(xs)).to(refused_not_to(for_all(near(1.5, 0.1))))
    expect(sc.parallelize(xs)).to(refused_not_to(exist(near(1.5, 0.1))))
    expect(sc.parallelize(xs)).to(refused_not_to(satisfy(sum_near(5.0, 0.5))))


def test_they_support_exist(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize(one_to(100))).to(exist(lambda it: it > 99))
    expect(sc.parallelize(one_to(100))).to(refused(exist(lambda it: it > 100)))

    # should not
    expect(sc.parallelize(one_to(100))).not_to(exist(lambda it: it > 100))
    expect(sc.parallelize(one_to(100))).to(refused_not_to(exist(lambda it: it > 99)))

    # objects of a class
    expect(sc.parallelize([Record(1)])).to(exist(lambda it: it == Record(1)))
    expect(sc.parallelize([Record(1)])).not_to(exist(lambda it: it == Record(2)))


def test_they_customize_equality(sc: ScioContext) -> None:
    def always(expected: Any, actual: Any) -> bool:
        return True

    given, wanted = one_to(10), list(range(2, 12))
    expect(sc.parallelize(given)).not_to(contain_in_any_order(wanted))
    expect(sc.parallelize(given)).with_equality(always).to(contain_in_any_order(wanted))
    expect(sc.parallelize([1])).not_to(contain_single_value(2))
    expect(sc.parallelize([1])).with_equality(always).to(contain_single_value(2))
    expect(sc.parallelize([1, 3, 4, 5])).not_to(contain_value(2))
    expect(sc.parallelize([1, 3, 4, 5])).with_equality(always).to(contain_value(2))
