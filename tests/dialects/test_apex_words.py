"""Apex's operators: when they fire, what they are in the model, and what is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from beamlike.dialects import apex
from beamlike.dialects.stages import Row
from beamlike.errors import (
    BeamlikeError,
    CombineError,
    TriggerError,
    UnsupportedError,
    WindowError,
    WindowingError,
)

AT_WATERMARK = apex.TriggerOption.at_watermark()
AT_LATE = apex.TriggerOption().with_late_firings_at_every(1)
GLOBAL = apex.WindowOption.global_window()
SECONDS = apex.WindowOption.time_windows("1 second")


def said(kind: Any, value: Any, key: Any = None, start: int = 0) -> Row:
    """A row of a window of one second."""
    return Row(kind, key, value, (start, start + 1000), start)


def watermark(at: int) -> Row:
    return Row("watermark", None, None, None, at)


# -- when windows fire -------------------------------------------------------------------------


def test_an_operator_that_withdraws_only_what_changed() -> None:
    option = AT_WATERMARK.with_early_firings_at_every(1)
    run = apex.WindowedOperator(
        SECONDS,
        apex.Sum(),
        option.accumulating_and_retracting_fired_panes().firing_only_updated_panes(),
    ).run()

    assert run.process(2, 100) == [said("value", 2)]
    assert run.process(0, 200) == []
    assert run.process(3, 300) == [said("retract", 2), said("value", 5)]
    run.process_watermark(1_001)
    assert run.end_batch() == [watermark(1_001)]


def test_what_is_late_can_fire_though_the_end_of_the_window_does_not() -> None:
    late = apex.TriggerOption().with_late_firings_at_every(2).accumulating_fired_panes()
    run = apex.WindowedOperator(SECONDS, apex.Sum(), late, allowed_lateness="1 minute").run()
    assert run.process(1, 100) == []
    run.process_watermark(1_001)
    assert run.end_batch() == [watermark(1_001)]

    # The second and the fourth of its elements; nothing comes when it is forgotten.
    assert run.process(2, 200) == [said("value", 3)]
    assert run.process(4, 300) == []
    assert run.process(8, 300) == [said("value", 15)]
    run.process_watermark(100_000)
    assert run.end_batch() == [watermark(100_000)]


@pytest.mark.parametrize(
    ("window", "option"),
    [
        (SECONDS, AT_LATE.discarding_fired_panes()),
        (SECONDS, AT_LATE.accumulating_and_retracting_fired_panes()),
        (SECONDS, AT_LATE.accumulating_fired_panes().firing_only_updated_panes()),
        (SECONDS, AT_LATE.accumulating_fired_panes().with_late_firings_at_every("1 s")),
        (SECONDS, AT_LATE.accumulating_fired_panes().with_early_firings_at_every("1 s")),
        (apex.WindowOption.session_windows("1 s"), AT_LATE.accumulating_fired_panes()),
    ],
)
def test_where_the_firing_that_is_left_out_would_be_seen_it_has_to_be_asked_for(
    window: apex.WindowOption, option: apex.TriggerOption
) -> None:
    with pytest.raises(UnsupportedError, match="late firings without a firing at the watermark"):
        apex.WindowedOperator(window, apex.Sum(), option, keyed=True)


def test_a_firing_is_of_all_keys_and_says_again_only_what_changed_if_asked() -> None:
    every_two = apex.TriggerOption().with_early_firings_at_every(2)
    retracting = every_two.accumulating_and_retracting_fired_panes()
    again = apex.WindowedOperator(SECONDS, apex.Sum(), retracting, keyed=True).run()
    updated = apex.WindowedOperator(
        SECONDS, apex.Sum(), retracting.firing_only_updated_panes(), keyed=True
    ).run()
    for run in (again, updated):
        assert run.process(1, 0, "a") == []
        assert run.process(2, 0, "b") == [said("value", 1, "a"), said("value", 2, "b")]
        assert run.process(4, 0, "a") == []

    assert again.process(0, 0, "a") == [
        said("retract", 1, "a"),
        said("retract", 2, "b"),
        said("value", 5, "a"),
        said("value", 2, "b"),
    ]
    assert updated.process(0, 0, "a") == [said("retract", 1, "a"), said("value", 5, "a")]
    assert updated.windows() == again.windows() == [said("value", 5, "a"), said("value", 2, "b")]


def test_counts_go_on_over_firings_by_time_and_over_the_end_of_the_window() -> None:
    option = AT_WATERMARK.with_early_firings_at_every(3).with_early_firings_at_every("1 second")
    run = apex.WindowedOperator(
        SECONDS, apex.Count(), option.with_late_firings_at_every(2).accumulating_fired_panes()
    ).run("1 second")
    assert [*run.end_batch(), *run.process(0, 0), *run.process(0, 0)] == []
    assert run.end_batch() == [said("value", 2)]
    assert run.process("the third", 0) == [said("value", 3)]
    assert run.end_batch() == []  # it has fired in this batch
    assert run.end_batch() == [said("value", 3)]
    run.process_watermark(1_001)
    assert run.end_batch() == [said("value", 3), watermark(1_001)]
    assert run.process("the fourth", 0) == [said("value", 4)]
    assert run.process("the fifth", 0) == []


def test_each_window_has_its_own_rhythm_from_its_own_firings() -> None:
    option = apex.TriggerOption().with_early_firings_at_every("1 second").accumulating_fired_panes()
    run = apex.WindowedOperator(SECONDS, apex.Sum(), option).run(400)
    run.process(1, 0)
    rows = [run.end_batch() for _ in range(4)]  # until 1200
    run.process(2, 1_000)
    rows += [run.end_batch() for _ in range(5)]  # until 3200

    # The second one is late enough to fire with the batch that it begins in.
    first, second = said("value", 1), said("value", 2, start=1000)
    assert rows == [[], [], [], [first], [second], [], [first], [second], []]


def test_a_session_keeps_its_rhythm_as_it_grows() -> None:
    option = AT_WATERMARK.with_early_firings_at_every("1 second").accumulating_fired_panes()
    sessions = apex.WindowOption.session_windows("1 second")
    run = apex.WindowedOperator(sessions, apex.Sum(), option, keyed=True).run()
    run.process(1, 0, "a")
    assert [run.end_batch() for _ in range(3)] == [
        [],
        [],
        [Row("value", "a", 1, (0, 1000), 0)],
    ]
    run.process(2, 500, "a")
    assert [run.end_batch() for _ in range(2)] == [[], [Row("value", "a", 3, (0, 1500), 0)]]


def test_times_in_the_words_of_the_model() -> None:
    option = AT_WATERMARK.with_early_firings_at_every("10 seconds").with_early_firings_at_every(2)
    both = apex.WindowedOperator(SECONDS, apex.Sum(), option.with_late_firings_at_every(3))
    in_global = apex.WindowedOperator(
        GLOBAL, apex.Sum(), apex.TriggerOption().with_early_firings_at_every("10 seconds")
    )

    assert [str(both.strategy.trigger), str(in_global.strategy_in_batches(3_000).trigger)] == [
        "AfterWatermark(early=AfterFirst(EveryCount(2), EveryProcessingTime(10s, "
        "since_firing=True, fire_unchanged=True)), late=EveryCount(3))",
        "AfterWatermark(early=EveryProcessingTime(12s, fire_unchanged=True), late=Never())",
    ]
    assert "tick=3s" in str(both.strategy_in_batches(3_000).trigger)


@pytest.mark.parametrize(
    ("option", "window", "all_keys"),
    [
        (apex.TriggerOption(), SECONDS, False),
        (AT_WATERMARK.accumulating_fired_panes(), SECONDS, False),
        (AT_WATERMARK.with_early_firings_at_every(1), SECONDS, False),
        (AT_WATERMARK.with_early_firings_at_every(1).accumulating_fired_panes(), SECONDS, True),
        (AT_WATERMARK.with_early_firings_at_every(2), SECONDS, True),
        (AT_WATERMARK.with_early_firings_at_every("1 second"), SECONDS, True),
        (AT_WATERMARK.with_early_firings_at_every(2), apex.WindowOption.session_windows(5), False),
    ],
)
def test_one_group_holds_all_keys_only_where_that_matters(
    option: apex.TriggerOption, window: apex.WindowOption, all_keys: bool
) -> None:
    assert apex.WindowedOperator(window, apex.Sum(), option, keyed=True).holds_all_keys is all_keys
    if window is SECONDS:
        assert not apex.WindowedOperator(window, apex.Sum(), option).holds_all_keys


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "kind", "said"),
    [
        (
            lambda: apex.WindowOption.sliding_time_windows(10, 3),
            WindowError,
            "got duration=10ms and slide_by=3ms",
        ),
        (
            lambda: GLOBAL.slide_by(10),
            WindowError,
            "slide_by belongs to time_windows(...), and these are GlobalWindows()",
        ),
        (
            lambda: apex.WindowedOperator(
                GLOBAL, apex.Sum(), AT_WATERMARK.firing_only_updated_panes()
            ),
            WindowingError,
            "ask for accumulating_fired_panes()",
        ),
        (
            lambda: AT_WATERMARK.with_early_firings_at_every("0 seconds"),
            TriggerError,
            "with_early_firings_at_every needs a time of more than 0 ms",
        ),
        (
            lambda: AT_WATERMARK.with_late_firings_at_every(0),
            TriggerError,
            "with_late_firings_at_every count must be a whole number of 1 or more, got 0",
        ),
        (
            lambda: apex.WindowedOperator(apex.WindowOption.session_windows(5), apex.Sum()),
            WindowingError,
            "say keyed=True",
        ),
        (
            lambda: apex.WindowedOperator(
                GLOBAL, apex.Sum(), apex.TriggerOption().with_late_firings_at_every(1)
            ),
            UnsupportedError,
            "begin with TriggerOption.at_watermark()",
        ),
        (
            lambda: apex.WindowedOperator(
                apex.WindowOption.session_windows(5),
                apex.Sum(),
                apex.TriggerOption().with_early_firings_at_every(2),
                keyed=True,
            ),
            UnsupportedError,
            "or count 1",
        ),
        (
            lambda: apex.WindowedOperator(
                GLOBAL, apex.Sum(), AT_WATERMARK.with_early_firings_at_every("5 ms")
            ).run(1),
            WindowingError,
            "firings by time need batches of 2 ms or more",
        ),
        (
            lambda: apex.WindowedOperator(GLOBAL, apex.Sum),
            CombineError,
            "write Sum()",
        ),
        (
            lambda: apex.WindowedMergeOperator(
                GLOBAL,
                apex.CoGroup(),
                watermark_generator=apex.FixedDiffProcessingTimeWatermarkGen(5),
            ),
            UnsupportedError,
            "give each stream its own with process_watermark",
        ),
        (
            lambda: apex.WindowedOperator(None, apex.Sum()).run().process(1, 5),
            WindowingError,
            "say windows=[row.window] of the operator before",
        ),
        (
            lambda: apex.WindowedOperator(GLOBAL, apex.Sum(), storages=apex.Storages(data=None)),
            WindowingError,
            "Storages data is None",
        ),
        (
            lambda: apex.WindowedOperator(
                GLOBAL,
                apex.Sum(),
                AT_WATERMARK.accumulating_and_retracting_fired_panes(),
                storages=apex.Storages(),
            ),
            WindowingError,
            "Storages retraction is None",
        ),
    ],
)
def test_a_mistake_is_named_with_what_to_do(
    wrong: Callable[[], object], kind: type[BeamlikeError], said: str
) -> None:
    with pytest.raises(kind) as caught:
        wrong()

    assert said in str(caught.value)
