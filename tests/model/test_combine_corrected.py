"""Functions that take values back: what stands decides, whatever came and went on the way."""

from collections.abc import Sequence
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamlike import combine_fns
from beamlike.machine.columnar.folds.base import ElementsByWindow
from beamlike.machine.columnar.folds.choice import fold_of
from beamlike.model.combine.corrected import Kept, NetCount, NetCountValues, NetFloats, NetSum
from beamlike.runtime.accumulator_columns import ExactColumns
from beamlike.testing import check_combine_fn

Element = tuple[Any, int]
LEAST = -(2**63)
FLOATS = (0.1, 0.2, 1e300, -1e300, float("nan"), float("inf"), None, 5e-324)
WHOLE = (0, 1, 7, LEAST, 2**63 - 1, None)


def came_and_went(random: Random, values: Sequence[Any], width: int) -> tuple[list[Element], list]:
    """Elements of which some withdraw others, and what stands in the end."""
    stands: list[Element] = []
    elements: list[Element] = []
    for _ in range(random.randrange(1, 30)):
        if stands and random.random() < 0.4:
            value, at = stands.pop(random.randrange(len(stands)))
            elements.append(((*value, True), at))
            continue
        value = tuple(random.choice(values) for _ in range(width))
        stands.append((value, at := random.randrange(5)))
        elements.append(((*value, False), at))
    return elements, stands


def result(fn: combine_fns.CombineFn, elements: Sequence[Element], random: Random) -> Any:
    """What a function makes of elements that come in bundles, some of them merged."""
    whole, part = fn.create(), fn.create()
    for value, at in elements:
        part = fn.add(part, [value], [at])
        if random.random() < 0.3:
            whole, part = fn.merge(whole, part), fn.create()
    return fn.extract(fn.merge(whole, part))


PLAIN = [
    (combine_fns.Max(), False, True),
    (combine_fns.Min(), False, True),
    (combine_fns.CollectSet(), False, True),
    (combine_fns.CountDistinct(), False, True),
    (combine_fns.Top(2), False, False),
    (combine_fns.Sample(100), True, False),
]


@settings(derandomize=True, database=None)
@given(st.randoms(use_true_random=False))
def test_what_stands_decides(random: Random) -> None:
    fn, timed, once = random.choice(PLAIN)
    elements, stands = came_and_went(random, [1, 2, 3, None, "NaN"][:4], 1)
    alone = fn.add(
        fn.create(),
        [value for (value,), _ in stands if value is not None],
        [at for (value,), at in stands if value is not None],
    )
    assert result(Kept(fn, timed=timed, once=once), elements, random) == fn.extract(alone)


@settings(derandomize=True, database=None)
@given(st.randoms(use_true_random=False))
def test_lists_and_the_first_and_last_are_of_what_stands(random: Random) -> None:
    elements, stands = came_and_went(random, ["a", "b", "c"], 1)
    found = result(Kept(combine_fns.Collect()), elements, random)
    assert sorted(found) == sorted(value for (value,), _ in stands)
    for fn, best in ((combine_fns.First(), min), (combine_fns.Latest(), max)):
        found = result(Kept(fn, timed=True), elements, random)
        ends = {at: [value for (value,), time in stands if time == at] for _, at in stands}
        assert found in ends[best(ends)] if ends else found is None
    elements, stands = came_and_went(random, [1, 2, 3], 2)
    ranked = sorted((by for (_, by), _ in stands), reverse=True)[:2]
    found = result(
        Kept(combine_fns.TopBy(2), width=2),
        [((by, by, gone), at) for (_, by, gone), at in elements],
        random,
    )
    assert found == ranked


@settings(derandomize=True, database=None)
@given(st.randoms(use_true_random=False))
def test_floats_leave_no_digit_behind(random: Random) -> None:
    elements, stands = came_and_went(random, FLOATS, 1)
    for mean in (False, True):
        fn = NetFloats(mean)
        alone = fn.extract(
            fn.add(fn.create(), [(*value, False) for value, _ in stands], [0] * len(stands))
        )
        assert repr(result(fn, elements, random)) == repr(alone)
        rested = ExactColumns().encode(
            [fn.add(fn.create(), [it for it, _ in elements], [0] * len(elements))]
        )
        back = ExactColumns().decode([pa.chunked_array([column]) for column in rested])
        assert repr(fn.extract(back[0])) == repr(alone)


def test_a_sum_of_nothing_but_what_was_withdrawn_is_null() -> None:
    fn = NetFloats(mean=False)
    gone = [(0.1, False), (0.2, False), (0.1, True), (0.2, True)]
    assert fn.extract(fn.add(fn.create(), gone, [0] * 4)) is None
    assert fn.extract(fn.add(fn.create(), [(0.0, False)], [0])) == 0.0
    assert NetFloats(mean=True).extract(fn.add(fn.create(), gone, [0] * 4)) is None
    great = [(1e308, False), (1e308, False)]
    assert fn.extract(fn.add(fn.create(), great, [0, 0])) == float("inf")
    assert fn.extract(fn.add(fn.create(), [*great, (1e308, True)], [0] * 3)) == 1e308
    decimals = [(Decimal("0.10"), False), (Decimal("0.20"), False), (Decimal("0.10"), True)]
    net = NetSum()
    assert net.extract(net.add(net.create(), decimals, [0] * 3)) == Decimal("0.20")
    assert net.extract(net.add(net.create(), [(7, False), (7, True)], [0, 0])) is None
    assert net.extract(net.add(net.create(), [(7, False), (5, True)], [0, 0])) == 2
    mean = NetSum(mean_scale=3)
    left = [*decimals, (Decimal("0.05"), False), (None, False), (Decimal("0.07"), False)]
    assert mean.extract(mean.add(mean.create(), left, [0] * 6)) == Decimal("0.107")
    assert mean.extract(mean.add(mean.create(), gone[:0], [])) is None


@settings(derandomize=True, database=None)
@given(st.randoms(use_true_random=False))
def test_folds_say_what_their_functions_do(random: Random) -> None:
    elements, _ = came_and_went(random, WHOLE, 1)
    values = [value for value, _ in elements]
    columns = [
        pa.array([value for value, _ in values], pa.int64()),
        pa.array([gone for _, gone in values], pa.bool_()),
    ]
    kinds = [column.type for column in columns]
    first, counts, at = np.array([0]), np.array([len(values)]), np.zeros(len(values), np.int64)
    for fn, given_columns in (
        (NetCount(), columns[1:]),
        (NetCountValues(), columns),
        (NetSum(), columns),
    ):
        given_values = [gone for _, gone in values] if len(given_columns) == 1 else values
        fold = fold_of(fn, kinds[-len(given_columns) :])
        found = fold.extract(
            fold.of(ElementsByWindow(fold.values_of(given_columns), at, first, counts))
        )
        expected = fn.extract(fn.add(fn.create(), given_values, at.tolist()))
        assert found.to_pylist() == [expected]


@pytest.mark.parametrize(
    "fn",
    [NetCountValues(), NetSum(), Kept(combine_fns.Max(), once=True), Kept(combine_fns.Collect())],
    ids=str,
)
def test_they_are_lawful(fn: combine_fns.CombineFn) -> None:
    check_combine_fn(fn, [(5, False), (7, False), (None, False)])
