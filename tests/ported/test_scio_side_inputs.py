"""Side inputs in windows of a second: each element sees what is in its own.

Original: the tests named "windowed" and "mapping" of ``SCollectionWithSideInputTest.scala`` of
scio-core; spotify/scio at 3b35141.

The original asks something of all pairs, which holds of none as well; so every test of windows also
says how many there are, and that each is where its element was.
"""

from typing import Any

from beamlike.scio import ScioContext, SCollection
from beamlike.testing import (
    contain_single_value,
    element,
    emit_exactly,
    expect,
    for_all,
)

SECOND = 1_000

TIMESTAMPED = [(number, number * SECOND) for number in range(1, 101)]


def windowed(sc: ScioContext, data: list[tuple[int, int]] = TIMESTAMPED) -> SCollection[int]:
    return sc.parallelize_timestamped(data).with_fixed_windows("1 second")


def is_where_its_element_was(s: SCollection[tuple[int, Any]]) -> None:
    """Nothing is missing, and nothing was grouped."""
    expect(s.keys()).to(
        emit_exactly(
            *[element(number, (at, at + SECOND), timestamp=at) for number, at in TIMESTAMPED]
        )
    )


def up_to(number: int) -> range:
    return range(1, number + 1)


def test_a_collection_supports_windowed_as_singleton_side_input(sc: ScioContext) -> None:
    p1 = windowed(sc)
    p2 = windowed(sc).as_singleton_side_input()
    s = p1.with_side_inputs(p2).map(lambda x, context: (x, context(p2))).to_scollection()
    expect(s).to(for_all(lambda t: t[0] == t[1]))
    is_where_its_element_was(s)


def test_it_supports_windowed_as_list_side_input(sc: ScioContext) -> None:
    p1 = windowed(sc)
    p2 = windowed(sc).flat_map(up_to).as_list_side_input()
    s = p1.with_side_inputs(p2).map(lambda x, context: (x, context(p2))).to_scollection()
    expect(s).to(for_all(lambda t: set(up_to(t[0])) == set(t[1])))
    is_where_its_element_was(s)


def test_it_supports_windowed_as_iterable_side_input(sc: ScioContext) -> None:
    p1 = windowed(sc)
    p2 = windowed(sc).flat_map(up_to).as_iterable_side_input()
    s = p1.with_side_inputs(p2).map(lambda x, context: (x, list(context(p2)))).to_scollection()
    expect(s).to(for_all(lambda t: set(up_to(t[0])) == set(t[1])))
    is_where_its_element_was(s)


def test_it_supports_windowed_as_set_singleton_side_input(sc: ScioContext) -> None:
    p1 = windowed(sc)
    p2 = windowed(sc, TIMESTAMPED + TIMESTAMPED).flat_map(up_to).as_set_singleton_side_input()
    s = p1.with_side_inputs(p2).map(lambda x, context: (x, set(context(p2)))).to_scollection()
    expect(s).to(for_all(lambda t: set(up_to(t[0])) == t[1]))
    is_where_its_element_was(s)


def test_it_supports_windowed_as_map_side_input(sc: ScioContext) -> None:
    p1 = windowed(sc)
    p2 = windowed(sc).flat_map(lambda x: [(key, x) for key in up_to(x)]).as_map_side_input()
    s = p1.with_side_inputs(p2).map(lambda x, context: (x, dict(context(p2)))).to_scollection()
    expect(s).to(for_all(lambda t: dict.fromkeys(up_to(t[0]), t[0]) == t[1]))
    is_where_its_element_was(s)


def test_it_supports_windowed_as_multi_map_side_input(sc: ScioContext) -> None:
    p1 = windowed(sc)
    p2 = windowed(sc).flat_map(lambda x: [(x, value) for value in up_to(x)])
    side = p2.as_multi_map_side_input()
    s = p1.with_side_inputs(side).map(lambda x, context: (x, dict(context(side)))).to_scollection()
    expect(s).to(
        for_all(lambda t: {t[0]: set(up_to(t[0]))} == {key: set(of) for key, of in t[1].items()})
    )
    is_where_its_element_was(s)


def test_it_supports_windowed_and_mapped_as_list_side_input(sc: ScioContext) -> None:
    p1 = windowed(sc)
    p2 = windowed(sc).flat_map(up_to).as_list_side_input().map(lambda seq: [x * 2 for x in seq])
    s = p1.with_side_inputs(p2).map(lambda x, context: (x, context(p2))).to_scollection()
    expect(s).to(for_all(lambda t: {x * 2 for x in up_to(t[0])} == set(t[1])))
    is_where_its_element_was(s)


SIDE_DATA = [("a", 1), ("b", 2), ("c", 3)]
DOUBLED = [("a", 2), ("b", 4), ("c", 6)]


def doubled(seq: list[tuple[str, int]]) -> list[tuple[str, int]]:
    return [(k, v * 2) for k, v in seq]


def test_a_side_input_allows_mapping_over_a_singleton(sc: ScioContext) -> None:
    p1 = sc.parallelize([1])
    p2 = sc.parallelize([SIDE_DATA]).as_singleton_side_input()
    p3 = p2.map(doubled)
    s = p1.with_side_inputs(p3).map(lambda i, context: (i, context(p3))).to_scollection()
    expect(s).to(contain_single_value((1, DOUBLED)))


def test_it_allows_mapping_over_a_list(sc: ScioContext) -> None:
    p1 = sc.parallelize([1])
    p2 = sc.parallelize(SIDE_DATA).as_list_side_input()
    p3 = p2.map(lambda seq: set(doubled(seq)))
    s = p1.with_side_inputs(p3).map(lambda i, context: (i, context(p3))).to_scollection()
    expect(s).to(contain_single_value((1, set(DOUBLED))))
