"""Apex's operators: when they fire, what they are in the model, watermarks, two streams, inherited
windows and checkpoints."""

import pickle
from typing import Any

import pytest

from beamlike.dialects import apex
from beamlike.dialects.stages import Row
from beamlike.errors import StateError, UnsupportedError

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
    assert [run.end_batch() for _ in range(3)] == [[], [], [Row("value", "a", 1, (0, 1000), 0)]]
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


# -- watermarks --------------------------------------------------------------------------------


def test_a_watermark_that_goes_back_changes_nothing() -> None:
    run = apex.WindowedOperator(GLOBAL, apex.Sum()).run()
    run.process_watermark(10)
    assert run.end_batch() == [watermark(10)]
    run.process_watermark(9)
    assert run.end_batch() == []
    assert run.end_batch() == []


def test_of_a_watermark_that_is_given_and_one_that_is_made_the_greater_counts() -> None:
    run = apex.WindowedOperator(
        GLOBAL, apex.Sum(), watermark_generator=apex.FixedDiffEventTimeWatermarkGen(5)
    ).run()
    run.process(1, 20)
    run.process_watermark(10)
    assert run.end_batch() == [watermark(15)]
    run.process_watermark(18)
    assert run.end_batch() == [watermark(18)]


def test_each_of_two_streams_tells_its_own_time() -> None:
    run = apex.WindowedMergeOperator(
        SECONDS,
        apex.LeftOuterJoin(),
        AT_WATERMARK,
        keyed=True,
        timestamp_extractor=lambda text: len(text) * 100,
        timestamp_extractor2=int,
    ).run()
    run.process("four", key="a")
    run.process("five!", key="b")
    run.process2("700", key="a")
    run.process2("1700", key="b")
    run.process_watermark(5_000)
    run.process_watermark2(2_000)

    assert run.end_batch() == [
        said("value", [["four", "700"]], "a"),
        said("value", [["five!", None]], "b"),
        watermark(2_000),
    ]
    run.process_watermark2(2_001)
    assert run.end_batch() == [said("value", [], "b", 1000), watermark(2_001)]


# -- windows that come with elements -----------------------------------------------------------


def test_an_operator_without_a_window_option_goes_on_with_the_windows_of_the_one_before() -> None:
    counts = apex.WindowedOperator(
        apex.WindowOption.sliding_time_windows("2 seconds", "1 second"), apex.Count(), AT_WATERMARK
    ).run()
    most = apex.WindowedOperator(None, apex.Max(), AT_WATERMARK, allowed_lateness=0).run()
    for at in (0, 1_000, 1_500, 2_500):
        counts.process("any", at)
    counts.process_watermark(3_001)
    passed_on = counts.end_batch()
    assert passed_on == [
        Row("value", None, 1, (-1000, 1000), -1000),
        Row("value", None, 3, (0, 2000), 0),
        Row("value", None, 3, (1000, 3000), 1000),
        watermark(3_001),
    ]
    for row in passed_on:
        if row.kind == "watermark":
            most.process_watermark(row.timestamp)
        else:
            assert most.process(row.value, row.timestamp, windows=[row.window]) == []

    assert most.end_batch() == passed_on
    assert counts.process("late", 1_600) == []


def test_a_late_pane_is_too_late_for_the_next_operator_because_it_has_the_begin_as_its_time():
    run = apex.WindowedOperator(None, apex.Sum(), AT_WATERMARK, allowed_lateness=0).run()
    run.process_watermark(900)
    run.end_batch()

    assert run.process(1, 0, windows=[(0, 1000)]) == [
        Row("dropped", None, 1, None, 0, "element_behind_horizon")
    ]
    assert run.process(2, 950, windows=["global", (0, 1000)]) == []
    assert run.windows() == [Row("value", None, 2, "global", 0), said("value", 2)]


def test_an_element_in_a_window_that_is_forgotten_is_dropped() -> None:
    run = apex.WindowedOperator(
        None,
        apex.Sum(),
        AT_WATERMARK.with_early_firings_at_every(2),
        allowed_lateness=0,
        keyed=True,
    ).run()
    run.process_watermark(1_002)
    run.end_batch()

    assert run.process(1, 1_500, "a", windows=[(0, 1000)]) == [
        Row("dropped", "a", 1, (0, 1000), 1_500, "expired_window")
    ]


def test_with_a_window_option_the_windows_that_elements_come_in_are_left_aside() -> None:
    run = apex.WindowedOperator(SECONDS, apex.Sum()).run()
    run.process(1, 1_500, windows=[(0, 1000)])

    assert run.windows() == [said("value", 1, start=1000)]


# -- checkpoints -------------------------------------------------------------------------------


def everything(run: apex.OperatorRun) -> list[Row]:
    rows = [*run.process(3, 400, "a"), *run.process(4, 500, "b"), *run.end_batch()]
    run.process_watermark(1_001)
    rows += [row for _ in range(3) for row in run.end_batch()]
    return [*rows, *run.process(5, 0, "a"), *run.windows()]


def test_what_comes_after_a_checkpoint_comes_again_after_a_recovery() -> None:
    option = AT_WATERMARK.with_early_firings_at_every(3).with_late_firings_at_every("1 second")
    operator = apex.WindowedOperator(
        SECONDS, apex.Sum(), option.accumulating_fired_panes(), keyed=True
    )
    run = operator.run()
    run.process(1, 100, "a")
    run.process(2, 200, "b")
    run.process_watermark(200)
    run.end_batch()
    checkpoint = pickle.loads(pickle.dumps(run.checkpoint()))
    before = everything(run)

    assert before == [
        said("value", 4, "a"),
        said("value", 2, "b"),
        said("value", 4, "a"),
        said("value", 6, "b"),
        watermark(1_001),
        # A second after the end was noticed.
        said("value", 4, "a"),
        said("value", 6, "b"),
        said("value", 9, "a"),
        said("value", 6, "b"),
    ]
    assert everything(operator.recover(checkpoint)) == before


def test_two_streams_recover_with_both_watermarks() -> None:
    operator = apex.WindowedMergeOperator(GLOBAL, apex.CoGroup())
    run = operator.run()
    run.process_watermark(7)
    recovered = operator.recover(run.checkpoint())
    recovered.process_watermark2(9)

    assert recovered.end_batch() == [watermark(7)]


@pytest.mark.parametrize(
    ("checkpoint", "said"),
    [
        (b"any", "needs what checkpoint() of a run returned"),
        (apex.WindowedOperator(GLOBAL, apex.Count()).run().checkpoint(), "of another operator"),
    ],
)
def test_what_is_no_checkpoint_of_the_operator_is_refused(checkpoint: Any, said: str) -> None:
    with pytest.raises(StateError) as caught:
        apex.WindowedOperator(GLOBAL, apex.Sum()).recover(checkpoint)

    assert said in str(caught.value)
