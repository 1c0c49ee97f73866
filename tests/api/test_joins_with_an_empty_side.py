"""Joins and look-ups of streams where one side has nothing in a window, or nothing at all."""

from typing import Any

import pytest

import beamlike as bl
from beamlike.testing import QueryTest

Rows = list[tuple[str, int, int]]

SIDES: dict[str, tuple[Rows, Rows]] = {
    "nothing in common": ([("a", 1, 1)], [("b", 2, 2)]),
    "no left in a window": ([("a", 1, 1)], [("a", 2, 2), ("b", 3, 12)]),
    "no right in a window": ([("a", 1, 1), ("b", 2, 12)], [("a", 3, 2)]),
    "no left": ([], [("a", 1, 1), ("b", 2, 12)]),
    "no right": ([("a", 1, 1), ("b", 2, 12)], []),
    "both": ([("a", 1, 1), ("a", 4, 2), ("c", 5, 3)], [("a", 2, 2), ("b", 3, 4), ("b", 6, 4)]),
}
"""Keys, values and seconds of both sides; windows have 10 seconds."""

INPUTS = {"left": "k string, at timestamp, v int", "right": "k string, since timestamp, w int"}


def played(job: Any, sides: str) -> list[dict[str, Any]]:
    query = QueryTest(job, INPUTS)
    for name, time, value, rows in zip(INPUTS, ("at", "since"), "vw", SIDES[sides], strict=True):
        for key, number, at in rows:
            query.send({"k": key, time: f"00:00:{at:02}", value: number}, to=name)
    query.advance_watermark_to_infinity()
    return query.rows


def windows(left: Any, right: Any) -> list[bl.Stream]:
    tens = bl.FixedWindows("10 s")
    return [
        bl.stream(rows, timestamp=time, watermark="20 s").window(tens)
        for rows, time in ((left, "at"), (right, "since"))
    ]


def expected(sides: str, *, left_stays: bool, right_stays: bool) -> list[Any]:
    """The join of lists, window by window."""
    found = []
    for start in (0, 10):
        left, right = (
            [row for row in rows if start <= row[2] < start + 10] for rows in SIDES[sides]
        )
        found += [(k, v, w) for k, v, _ in left for other, w, _ in right if k == other]
        if left_stays:
            found += [(k, v, None) for k, v, _ in left if k not in {it[0] for it in right}]
        if right_stays:
            found += [(k, None, w) for k, w, _ in right if k not in {it[0] for it in left}]
    return sorted(found, key=repr)


def shown(rows: list[dict[str, Any]]) -> list[Any]:
    return sorted(((row["k"], row["v"], row["w"]) for row in rows), key=repr)


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("how", ["inner", "left", "right", "full"])
def test_a_join_gives_what_the_join_of_lists_gives(how: Any, sides: str) -> None:
    rows = played(lambda left, right: bl.join(*windows(left, right), on="k", how=how), sides)
    stays = {"left_stays": how in ("left", "full"), "right_stays": how in ("right", "full")}
    assert shown(rows) == expected(sides, **stays)


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("how", ["inner", "left"])
def test_a_look_up_gives_what_the_join_of_lists_gives(how: Any, sides: str) -> None:
    rows = played(lambda left, right: bl.look_up(*windows(left, right), on="k", how=how), sides)
    assert shown(rows) == expected(sides, left_stays=how == "left", right_stays=False)


@pytest.mark.parametrize("sides", SIDES)
def test_a_group_of_several_has_an_empty_list_for_a_side_without_rows(sides: str) -> None:
    def job(left: Any, right: Any) -> bl.Stream:
        ours, theirs = windows(left, right)
        return bl.co_group({"ours": ours, "theirs": theirs}, "k")

    listed = [
        (row["k"], sorted(it["v"] for it in row["ours"]), sorted(it["w"] for it in row["theirs"]))
        for row in played(job, sides)
    ]
    assert sorted(listed) == sorted(
        (key, [v for k, v, _ in left if k == key], [w for k, w, _ in right if k == key])
        for start in (0, 10)
        for left, right in [
            [[row for row in rows if start <= row[2] < start + 10] for rows in SIDES[sides]]
        ]
        for key in {k for k, _, _ in [*left, *right]}
    )
