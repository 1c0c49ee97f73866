"""Strategies over one stream, side by side: whole texts, and the values behind them."""

from pathlib import Path
from typing import Any

import attrs
import pytest

import beamlike as bl
from beamlike.errors import RecordingError, TestStreamError, WindowingError
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive
from beamlike.testing import FinishedTestStream, TestStream, compare
from beamlike.viz.compare import Comparison
from beamlike.viz.compare import compare as side_by_side
from beamlike.viz.recording import Recording
from tests.support.drawn_pictures import DrawnPicture, frames_of

TEN_MINUTES = bl.Sessions("10 minutes")

JOE = (
    TestStream()
    .add_elements_at_time("00:00:00", ("joe", "open app"))
    .add_elements_at_time("00:01:30", ("joe", "show product"))
    .advance_watermark_to("00:13:00")
    .add_elements_at_time("00:09:30", ("joe", "checkout"))
    .add_elements_at_time("00:03:00", ("joe", "add to cart"))
    .advance_watermark_to_infinity()
)


def text(written: str) -> str:
    return written.strip("\n")


def test_more_allowed_lateness_saves_an_element_and_joins_two_sessions() -> None:
    compared = compare(
        JOE,
        {"none": {}, "5 minutes": {"allowed_lateness": "5 minutes"}},
        window=TEN_MINUTES,
        accumulation="discarding",
    )

    assert str(compared) == text(
        """
none: Sessions(10m), DefaultTrigger(), discarding, allowed lateness 0ms
5 minutes: the same with allowed_lateness=5m

   step  key    window                none                            5 minutes
!  2     'joe'  [00:00:00, 00:11:30)  ON_TIME 0 last: ['open app',    ON_TIME 0: ['open app', 'show
                                      'show product']                 product']
!  4     'joe'  [00:03:00, 00:13:00)  dropped, expired by 1ms: 'add   -
                                      to cart'
!  5     'joe'  [00:09:30, 00:19:30)  ON_TIME 0 last: ['checkout']    -
!  5     'joe'  [00:00:00, 00:19:30)  -                               ON_TIME 0 last: ['checkout',
                                                                      'add to cart']

with 5 minutes: 1 pane elsewhere, 1 pane not the same, 1 drop less
"""
    )


def test_another_late_check() -> None:
    compared = compare(
        JOE, {"assigned": {}, "merged": {"late_check": "merged"}}, window=TEN_MINUTES
    )

    assert str(compared) == text(
        """
assigned: Sessions(10m), DefaultTrigger(), discarding, allowed lateness 0ms
merged: the same with late_check='merged'

   step  key    window                assigned                        merged
   2     'joe'  [00:00:00, 00:11:30)  ON_TIME 0 last: ['open app',    =
                                      'show product']
!  4     'joe'  [00:03:00, 00:13:00)  dropped, expired by 1ms: 'add   -
                                      to cart'
!  5     'joe'  [00:09:30, 00:19:30)  ON_TIME 0 last: ['checkout']    -
!  5     'joe'  [00:03:00, 00:19:30)  -                               ON_TIME 0 last: ['checkout',
                                                                      'add to cart']

with merged: 1 pane elsewhere, 1 drop less
"""
    )


def test_three_modes_stand_below_one_another_where_there_is_no_room() -> None:
    compared = compare(
        JOE,
        {mode: {"accumulation": mode} for mode in ("discarding", "accumulating", "retracting")},
        window=TEN_MINUTES,
        allowed_lateness="5 minutes",
    )

    assert str(compared) == text(
        """
discarding: Sessions(10m), DefaultTrigger(), discarding, allowed lateness 5m
accumulating: the same with accumulation='accumulating'
retracting: the same with accumulation='retracting'

   step  key    window
   2     'joe'  [00:00:00, 00:11:30)
     all: ON_TIME 0: ['open app', 'show product']
!  5     'joe'  [00:00:00, 00:11:30)
       discarding: -
     accumulating: -
       retracting: withdrawn ON_TIME 0: ['open app', 'show product']
!  5     'joe'  [00:00:00, 00:19:30)
       discarding: ON_TIME 0 last: ['checkout', 'add to cart']
     accumulating: ON_TIME 0 last: ['open app', 'show product', 'checkout', 'add to cart']
       retracting: ON_TIME 0 last: ['open app', 'show product', 'checkout', 'add to cart']

with accumulating: 1 pane not the same
with retracting: 1 pane not the same, 1 more withdrawal
"""
    )


def test_another_trigger() -> None:
    compared = compare(
        JOE,
        {"default": {}, "early": {"trigger": bl.AfterWatermark(early=bl.AfterCount(1))}},
        window=bl.FixedWindows("5 minutes"),
        accumulation="discarding",
        allowed_lateness=0,
    )

    assert str(compared) == text(
        """
default: FixedWindows(5m), DefaultTrigger(), discarding, allowed lateness 0ms
early: the same with trigger=AfterWatermark(early=AfterCount(1))

   step  key    window                default                         early
!  0     'joe'  [00:00:00, 00:05:00)  -                               EARLY 0: ['open app']
!  1     'joe'  [00:00:00, 00:05:00)  -                               EARLY 1: ['show product']
!  2     'joe'  [00:00:00, 00:05:00)  ON_TIME 0 last: ['open app',    ON_TIME 2 last: []
                                      'show product']
   3     'joe'  [00:05:00, 00:10:00)  dropped, expired by 3m 1ms:     =
                                      'checkout'
   4     'joe'  [00:00:00, 00:05:00)  dropped, expired by 8m 1ms:     =
                                      'add to cart'

with early: 2 more panes, 1 pane not the same
"""
    )


def test_what_is_the_same_is_reported_once() -> None:
    compared = compare(JOE, {"a": {}, "b": {"closing_behavior": "fire_always"}}, window=TEN_MINUTES)

    assert str(compared) == text(
        """
a: Sessions(10m), DefaultTrigger(), discarding, allowed lateness 0ms
b: the same with closing_behavior='fire_always'

  step  key    window                a                               b
  2     'joe'  [00:00:00, 00:11:30)  ON_TIME 0 last: ['open app',    =
                                     'show product']
  4     'joe'  [00:03:00, 00:13:00)  dropped, expired by 1ms: 'add   =
                                     to cart'
  5     'joe'  [00:09:30, 00:19:30)  ON_TIME 0 last: ['checkout']    =

with b: nothing differs
"""
    )


def test_a_comparison_has_its_rows_as_values() -> None:
    compared = compare(
        JOE, {"assigned": {}, "merged": {"late_check": "merged"}}, window=TEN_MINUTES
    )

    assert list(compared.recordings) == ["assigned", "merged"]
    assert [
        (row.step, row.key, row.window, [cell and cell.value for cell in row.cells], row.differs)
        for row in compared.differences
    ] == [
        (4, "joe", bl.IntervalWindow("00:03:00", "00:13:00"), ["add to cart", None], True),
        (5, "joe", bl.IntervalWindow("00:09:30", "00:19:30"), [["checkout"], None], True),
        (
            5,
            "joe",
            bl.IntervalWindow("00:03:00", "00:19:30"),
            [None, ["checkout", "add to cart"]],
            True,
        ),
    ]
    assert compared.summary == ("with merged: 1 pane elsewhere, 1 drop less",)


@pytest.mark.parametrize(
    ("variants", "common", "message"),
    [
        (
            {"one": {}},
            {},
            "compare needs two strategies or more, each under a name, such as "
            '{"as it is": {}, "an hour more": {"allowed_lateness": "1h"}}; got {\'one\': {}}',
        ),
        (
            {"one": {}, "other": {"lateness": "1h"}},
            {},
            "'other': run has no argument 'lateness'; write allowed_lateness=",
        ),
    ],
)
def test_a_comparison_that_has_no_meaning_is_refused(
    variants: Any, common: dict[str, Any], message: str
) -> None:
    with pytest.raises(TestStreamError) as refused:
        compare(JOE, variants, window=TEN_MINUTES, **common)

    assert str(refused.value) == message


def test_a_strategy_that_run_refuses_is_refused() -> None:
    with pytest.raises(WindowingError, match="late_check must be one of"):
        compare(JOE, {"a": {}, "b": {"late_check": "never"}}, window=TEN_MINUTES)


def test_a_stream_that_is_still_open_is_refused() -> None:
    with pytest.raises(TestStreamError, match="compare needs a finished stream"):
        compare(TestStream(), {"a": {}, "b": {}}, window=TEN_MINUTES)  # type: ignore[arg-type]


def test_only_runs_of_one_script_can_be_compared() -> None:
    other: FinishedTestStream = TestStream().advance_watermark_to_infinity()
    one, two = (it.run(window=TEN_MINUTES).recording for it in (JOE, other))

    with pytest.raises(RecordingError, match="'b' has another than 'a'"):
        side_by_side({"a": one, "b": two})
    with pytest.raises(RecordingError, match="compare needs two recordings or more, got 1"):
        side_by_side({"a": one})
    assert isinstance(side_by_side({"a": two, "b": two}), Comparison)
    assert str(side_by_side({"a": two, "b": two})) == text(
        """
a: Sessions(10m), DefaultTrigger(), discarding, allowed lateness 0ms
b: the same windowing

(nothing came out, nothing was dropped)

with b: nothing differs
"""
    )


def test_lists_in_another_order_are_no_difference() -> None:
    """Nobody promises the order of what was collected."""
    strategy = bl.WindowingStrategy(bl.FixedWindows("1m"))
    came = Arrive((("a", Element(1, 0)), ("a", Element(2, 0))))
    run = run_in_memory(Grouping(strategy, Collect()), (came, AdvanceWatermark(60_000)))
    (output,) = run.outputs
    turned = attrs.evolve(output, effect=attrs.evolve(output.effect, value=[2, 1]))
    elsewhere = attrs.evolve(run, outputs=(turned,))

    compared = side_by_side(
        {
            "here": Recording.of(run, strategy, Collect()),
            "elsewhere": Recording.of(elsewhere, strategy, Collect()),
        }
    )

    assert compared.differences == ()
    assert compared.summary == ("with elsewhere: nothing differs",)


def test_the_picture_has_the_strategies_side_by_side_with_the_same_scales() -> None:
    variants = {"discarding": {"accumulation": "discarding"}, "all of it": {}}
    compared = compare(JOE, variants, window=TEN_MINUTES, accumulation="accumulating")
    picture = DrawnPicture(compared.figure())
    assert [panel.title for panel in picture.panels] == ["discarding", "all of it"]
    one, other = frames_of(compared.figure())
    assert (one.scene.span, one.scene.rows) == (other.scene.span, other.scene.rows)
    assert (one.top, one.bottom) == (other.top, other.bottom)
    assert one.right < other.left
    assert picture.headings == [
        "key 'joe'",
        "discarding: Sessions(10m), DefaultTrigger(), discarding, allowed lateness 0ms",
        "all of it: the same with accumulation='accumulating'",
    ]
    assert compared.figure().text.endswith(
        "Discarding: Sessions(10m), DefaultTrigger(), discarding, allowed lateness 0ms. "
        "All of it: the same with accumulation='accumulating'."
    )


def test_the_picture_of_several_keys_shows_the_busiest_or_the_one_that_is_named(tmp_path: Path):
    stream = TestStream().add_elements_at_time("00:00:00", ("joe", 1), ("ann", 2), ("ann", 3))
    compared = compare(
        stream.advance_watermark_to_infinity(),
        {"one": {}, "two": {"accumulation": "discarding"}, "three": {}, "four": {}},
        window=TEN_MINUTES,
        accumulation="accumulating",
    )
    headings = DrawnPicture(compared.figure()).headings
    assert headings[0] == "key 'ann'"
    assert headings[-1] == "the busiest of 2 keys; name one to draw another"
    frames = list(frames_of(compared.figure()))
    assert len({frame.left for frame in frames}) == len({frame.top for frame in frames}) == 2
    compared.draw(tmp_path / "joe.png", "joe", dark=True)
    assert (tmp_path / "joe.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(RecordingError) as refusal:
        compared.figure("jim")
    assert str(refusal.value) == "there is no key 'jim'; there are 'joe', 'ann'"
