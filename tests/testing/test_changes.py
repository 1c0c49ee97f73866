"""A retracting run as an upsert stream: what becomes of the rows as sessions grow and merge."""

from typing import Any

import pytest

from beamlike import AfterCount, AfterWatermark, FixedWindows, Sessions
from beamlike.errors import TestStreamError
from beamlike.model.combine import CollectByTimestamp, Count
from beamlike.model.windows import IntervalWindow
from beamlike.testing import Results, TestStream
from beamlike.testing.spelling import read_window
from tests.support.refusals import refusal

BROWSING = (
    TestStream()
    .add_elements_at_time("12:00:00", ("ann", "home"))
    .add_elements_at_time("12:05:00", ("ann", "search"))  # the session grows
    .add_elements_at_time("12:20:00", ("ann", "item"))  # another one begins
    .add_elements_at_time("12:12:00", ("ann", "list"))  # and this makes them one
    .advance_watermark_to_infinity()
)


def retracting(stream: Any, **options: Any) -> Results:
    results: Results = stream.run(
        trigger=AfterWatermark(early=AfterCount(1)),
        accumulation="retracting",
        allowed_lateness="0 s",
        **{"window": Sessions("10 minutes"), "unchanged": "omit"} | options,
    )
    return results


def test_by_session_a_row_stays_while_its_session_grows(host: dict[str, Any]) -> None:
    results = retracting(BROWSING, aggregate=CollectByTimestamp(), **host)

    assert str(results.changes(by="session")) == (
        "  step  key    op      identity              value\n"
        "  0     'ann'  upsert  [12:00:00, 12:10:00)  ['home']\n"
        "  1     'ann'  upsert  [12:00:00, 12:10:00)  ['home', 'search']\n"
        "  2     'ann'  upsert  [12:20:00, 12:30:00)  ['item']\n"
        "  3     'ann'  delete  [12:20:00, 12:30:00)\n"
        "  3     'ann'  upsert  [12:00:00, 12:10:00)  ['home', 'search', 'list', 'item']"
    )


def test_by_window_a_session_that_grew_is_deleted_and_put_anew(host: dict[str, Any]) -> None:
    results = retracting(BROWSING, aggregate=CollectByTimestamp(), **host)

    assert str(results.changes(by="window")) == (
        "  step  key    op      identity              value\n"
        "  0     'ann'  upsert  [12:00:00, 12:10:00)  ['home']\n"
        "  1     'ann'  delete  [12:00:00, 12:10:00)\n"
        "  1     'ann'  upsert  [12:00:00, 12:15:00)  ['home', 'search']\n"
        "  2     'ann'  upsert  [12:20:00, 12:30:00)  ['item']\n"
        "  3     'ann'  delete  [12:00:00, 12:15:00)\n"
        "  3     'ann'  delete  [12:20:00, 12:30:00)\n"
        "  3     'ann'  upsert  [12:00:00, 12:30:00)  ['home', 'search', 'list', 'item']"
    )


@pytest.mark.parametrize("by", ["session", "window"])
def test_rows_that_are_put_and_deleted_leave_the_panes_that_stand(by: Any) -> None:
    table: dict[Any, Any] = {}
    for change in retracting(BROWSING, aggregate=CollectByTimestamp()).changes(by):
        row = (change.key, change.identity)
        if change.op == "upsert":
            table[row] = change.value
        else:
            del table[row]

    assert list(table.values()) == [["home", "search", "list", "item"]]


def test_changes_compare_with_plain_rows_and_each_key_has_its_own() -> None:
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", ("joe", "a"), ("ben", "x"))
        .add_elements_at_time("00:00:20", ("joe", "b"))
        .advance_watermark_to_infinity()
    )
    results = retracting(stream, window=FixedWindows("1 minute"), aggregate=Count())

    minute = read_window(("00:00:00", "00:01:00"), "the test")
    assert results.changes("window") == results.changes("session")
    assert results.changes() == (
        (0, "joe", "upsert", minute, 1),
        (0, "ben", "upsert", minute, 1),
        (1, "joe", "upsert", minute, 2),
    )


def test_a_value_that_is_replaced_by_an_equal_one_is_put_again_unless_it_is_omitted() -> None:
    stream = (
        TestStream().add_elements_at_time("00:00:10", ("joe", "a")).advance_watermark_to_infinity()
    )
    minute = IntervalWindow(0, 60_000)
    first, again = (0, "joe", "upsert", minute, 1), (1, "joe", "upsert", minute, 1)
    fixed = FixedWindows("1 minute")

    omitted = retracting(stream, window=fixed, aggregate=Count(), unchanged="omit")
    assert omitted.changes() == (first,)
    all_said = retracting(stream, window=fixed, aggregate=Count(), unchanged="re_emit")
    assert all_said.changes() == (first, again)


def test_where_nothing_comes_out_nothing_changes() -> None:
    changes = retracting(TestStream().advance_watermark_to_infinity()).changes()

    assert (changes, str(changes)) == ((), "(nothing changed)")


def test_changes_need_panes_that_withdraw_others() -> None:
    accumulating = BROWSING.run(window=Sessions("10 minutes"))
    assert refusal(TestStreamError, accumulating.changes) == (
        "changes are made from panes that withdraw others, but this run is discarding; run it with "
        'accumulation="retracting"'
    )
    with pytest.raises(TestStreamError) as refused:
        retracting(BROWSING).changes(by="key")  # type: ignore[arg-type]
    assert str(refused.value) == "changes: by must be 'window' or 'session', got 'key'"
