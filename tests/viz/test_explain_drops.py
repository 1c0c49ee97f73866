"""What is said of closed sessions, of sessions nearly joined, of windows that are not there."""

from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import RecordingError
from beamlike.model.triggers import Trigger
from beamlike.testing import FinishedTestStream, Results, TestStream
from beamlike.viz.sentences import spoken


def described(results: Results, step: int) -> str:
    """The sentences of one step, on a line."""
    sentences = results.explain().sentences
    return " ".join(sentence.text for sentence in sentences if sentence.step == step)


def a_late_visit() -> FinishedTestStream:
    return (
        TestStream()
        .add_elements_at_time("00:30:00", ("joe", "open"))
        .advance_watermark_to("00:40:30")
        .add_elements_at_time("00:25:00", ("joe", "late"))
        .advance_watermark_to_infinity()
    )


def sessions(stream: FinishedTestStream, **windowing: Any) -> Results:
    strategy = {"accumulation": "accumulating", "allowed_lateness": "1 minute", **windowing}
    return stream.run(window=bl.Sessions("10 minutes"), **strategy)


def test_beside_a_session_whose_trigger_has_finished_another_one_opens() -> None:
    stream = (
        TestStream()
        .add_elements_at_time("00:00:00", ("joe", "a"), ("joe", "b"))
        .add_elements_at_time("00:05:00", ("joe", "c"))
        .advance_watermark_to_infinity()
    )

    results = sessions(stream, trigger=bl.AfterCount(2), allow_unsafe_trigger=True)

    assert described(results, 0).endswith(
        "by AfterCount(2): at least 2 elements have come. The trigger has finished, so nothing "
        "joins it any more: what overlaps it opens another session beside it, and only what has "
        "this very window is dropped."
    )
    assert described(results, 1).startswith(
        "'c' at 00:05:00 opens [00:05:00, 00:15:00). It does not join [00:00:00, 00:10:00), whose "
        "trigger has finished."
    )


def test_what_has_the_very_window_of_a_closed_session_is_dropped() -> None:
    stream = (
        TestStream()
        .add_elements_at_time("00:00:00", ("joe", "a"))
        .add_elements_at_time("00:00:00", ("joe", "b"))
        .advance_watermark_to_infinity()
    )

    results = sessions(stream, trigger=bl.AfterCount(1), allow_unsafe_trigger=True)

    assert [drop.effect.value for drop in results.drops] == ["b"]


def test_the_session_that_a_late_element_nearly_joined_is_the_one_that_is_there() -> None:
    assert described(sessions(a_late_visit()), 2) == (
        "'late' at 00:25:00 is dropped: its window [00:25:00, 00:35:00) expired when the watermark "
        "reached 00:36:00, its end plus the allowed lateness of 1m. 4m 30s 1ms more of allowed "
        "lateness (5m 30s 1ms in all) would have saved it. So would "
        'late_check="merged": it would have joined [00:30:00, 00:40:00) and made it '
        "[00:25:00, 00:40:00)."
    )


def test_a_session_that_a_dropped_element_would_have_made_is_asked_for() -> None:
    with pytest.raises(RecordingError) as raised:
        sessions(a_late_visit()).explain(window=("00:25:00", "00:40:00"))

    assert str(raised.value) == (
        "there is no window [00:25:00, 00:40:00): it would have come to be, had 'late' not been "
        "dropped; the nearest are [00:25:00, 00:35:00), [00:30:00, 00:40:00)"
    )


def test_no_more_lateness_is_advised_than_is_needed() -> None:
    """With a longer lateness the session is still there that the element then joins."""
    stream = (
        TestStream()
        .add_elements_at_time("00:05:00", ("joe", "a"))
        .advance_watermark_to("00:20:00")
        .add_elements_at_time("00:00:00", ("joe", "b"))
        .advance_watermark_to_infinity()
    )

    def run(lateness: str) -> Results:
        late = bl.AfterWatermark(late=bl.AfterCount(1))
        return sessions(stream, late_check="merged", trigger=late, allowed_lateness=lateness)

    assert described(run("0 s"), 2) == (
        "'b' at 00:00:00 is dropped: its window [00:00:00, 00:10:00) expired when the watermark "
        "reached 00:10:00. 5m 1ms more of allowed lateness would have saved it."
    )
    assert [len(run(lateness).drops) for lateness in ("5 m", "301 s")] == [1, 0]


def test_the_window_of_another_key_is_named_with_its_key() -> None:
    stream = (
        TestStream()
        .add_elements_at_time("00:00:00", ("joe", "a"))
        .add_elements_at_time("00:00:30", ("ann", "b"))
        .advance_watermark_to_infinity()
    )

    with pytest.raises(RecordingError) as raised:
        sessions(stream).explain("joe", window=("00:00:30", "00:10:30"))

    assert str(raised.value) == (
        "there is no window [00:00:30, 00:10:30) of key 'joe', but 'ann' has it; the nearest is "
        "[00:00:00, 00:10:00)"
    )


@pytest.mark.parametrize(
    ("window", "shown"),
    [("00:10:00", "'00:10:00'"), (("00:10:00",), "('00:10:00',)"), (600_000, "600000")],
)
def test_what_is_no_window_is_refused(window: Any, shown: str) -> None:
    with pytest.raises(RecordingError) as raised:
        sessions(a_late_visit()).explain(window=window)

    assert str(raised.value) == (
        "window must be a window, or its start and end as a pair such as "
        f'("00:00:00", "00:10:00"), got {shown}'
    )


def test_a_phase_that_is_over_says_so_and_one_that_no_one_wrote_is_left_out() -> None:
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", ("joe", "a"))
        .advance_watermark_to("00:01:00")
        .advance_watermark_to_infinity()
    )

    def at_the_end(trigger: Trigger) -> list[str]:
        results = stream.run(
            window=bl.FixedWindows("1 minute"),
            trigger=trigger,
            accumulation="discarding",
            allowed_lateness="1 hour",
        )
        view = results.recording.moments[1].windows["joe"][0].trigger
        return [f"{node.path} {node.name}: {node.waits_for}" for node in spoken(view).walk()]

    one = "1 more element (0 of 1)"
    late = bl.AfterCount(1)
    assert at_the_end(bl.AfterWatermark(late=late)) == [
        f"AfterWatermark AfterWatermark: {one}",
        f"AfterWatermark.late AfterCount(1): {one}",
    ]
    assert at_the_end(bl.AfterWatermark(early=bl.Repeatedly(bl.AfterCount(3)), late=late)) == [
        f"AfterWatermark AfterWatermark: {one}",
        "AfterWatermark.early Repeatedly: nothing: the early phase is over",
        f"AfterWatermark.late AfterCount(1): {one}",
    ]
