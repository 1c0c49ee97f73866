"""What a recorded run says of itself: corner cases, one window, any host."""

from random import Random
from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import RecordingError, TestStreamError, TimeError
from beamlike.machine.events import Element
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect, Max, Sum
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Run, with_elements
from beamlike.testing import Results, TestStream, TimestampedValue
from beamlike.testing.streams.results import Origin
from beamlike.viz.explain import Explanation, explain
from beamlike.viz.recording import Recording
from tests.support.generated.scenarios import any_scenario


def recorded(
    strategy: bl.WindowingStrategy, stream: TestStream, combine: bl.CombineFn
) -> Recording:
    """A stream that may still be open, run."""
    script = with_elements(
        stream.steps, lambda _, e: (e.value[0], Element(e.value[1], e.timestamp))
    )
    return Recording.of(run_in_memory(Grouping(strategy, combine), script), strategy, combine)


def described(
    strategy: bl.WindowingStrategy, stream: TestStream, combine: bl.CombineFn | None = None
) -> str:
    return str(explain(recorded(strategy, stream, combine or Collect())))


def text(written: str) -> str:
    return written.strip("\n")


def ten_minutes(value: Any) -> str:
    return "10 minutes"


def test_every_node_says_at_the_end_what_it_still_waits_for() -> None:
    strategy = bl.WindowingStrategy(
        bl.FixedWindows("1m"),
        bl.AfterWatermark(early=bl.AfterCount(3), late=bl.AfterCount(1)),
        "discarding",
        "1m",
    )
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", ("a", 1))
        .advance_watermark_to("00:00:30")
        .advance_processing_time("5s")
        .add_elements_at_time("00:00:20", ("a", 2))
    )

    assert described(strategy, stream) == text(
        """
FixedWindows(1m), AfterWatermark(early=AfterCount(3), late=AfterCount(1)), discarding, allowed
  lateness 1m

key 'a'
  step 0: an element arrives, before any watermark
    - 1 at 00:00:10 opens [00:00:00, 00:01:00).
    - Nothing comes out yet: [00:00:00, 00:01:00) waits for the watermark to reach 00:01:00 or 2
      more elements (1 of 3).
  steps 1 and 2: the watermark moves to 00:00:30, the clock moves to 00:00:05; nothing is due
  step 3: an element arrives, the watermark at 00:00:30
    - 2 at 00:00:20 goes into [00:00:00, 00:01:00).
    - Nothing comes out yet: [00:00:00, 00:01:00) waits for the watermark to reach 00:01:00 or 1
      more element (2 of 3).
  at the end, the watermark at 00:00:30
    - [00:00:00, 00:01:00) is open with 2 elements that no pane has shown, and waits for the
      watermark to reach 00:01:00 or 1 more element (2 of 3).
    - AfterWatermark.early, AfterCount(3), waits for 1 more element (2 of 3).
    - AfterWatermark.late, AfterCount(1), waits for its turn.
"""
    )


def test_a_trigger_that_never_fires_leaves_it_to_the_expiry() -> None:
    strategy = bl.WindowingStrategy(bl.FixedWindows("1m"), bl.Never(), "discarding", "1m")
    stream = (
        TestStream().add_elements_at_time("00:00:10", ("a", 1)).advance_watermark_to("00:00:30")
    )

    assert described(strategy, stream) == text(
        """
FixedWindows(1m), Never(), discarding, allowed lateness 1m

key 'a'
  step 0: an element arrives, before any watermark
    - 1 at 00:00:10 opens [00:00:00, 00:01:00).
    - Nothing comes out yet: [00:00:00, 00:01:00) waits for its expiry, the watermark at 00:02:00,
      because its trigger can never fire.
  step 1: the watermark moves to 00:00:30; nothing is due
  at the end, the watermark at 00:00:30
    - [00:00:00, 00:01:00) is open with 1 element that no pane has shown, and waits for its expiry,
      the watermark at 00:02:00, because its trigger can never fire.
"""
    )


def test_the_global_window_waits_for_elements_and_the_clock() -> None:
    strategy = bl.WindowingStrategy(
        bl.GlobalWindows(),
        bl.Repeatedly(bl.AfterAll(bl.AfterCount(3), bl.AfterProcessingTime("1m"))),
        "discarding",
    )
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", ("a", 1))
        .advance_processing_time("61s")
        .add_elements_at_time("00:00:20", ("a", 2))
    )

    assert described(strategy, stream) == text(
        """
GlobalWindows(), Repeatedly(AfterAll(AfterCount(3), AfterProcessingTime(1m))), discarding, allowed
  lateness 0ms

key 'a'
  step 0: an element arrives, before any watermark, the clock at 00:00:00
    - 1 at 00:00:10 opens the global window.
    - Nothing comes out yet: the global window waits for 2 more elements (1 of 3) and the clock to
      pass 00:01:00.
  step 1: the clock moves to 00:01:01; nothing is due
  step 2: an element arrives, before any watermark, the clock at 00:01:01
    - 2 at 00:00:20 goes into the global window.
    - Nothing comes out yet: the global window waits for 1 more element (2 of 3).
  at the end, before any watermark, the clock at 00:01:01
    - The global window is open with 2 elements that no pane has shown, and waits for 1 more element
      (2 of 3).
    - Repeatedly.repeated, AfterAll, waits for 1 more element (2 of 3).
    - Repeatedly.repeated.1, AfterCount(3), waits for 1 more element (2 of 3).
    - Repeatedly.repeated.2, AfterProcessingTime(1m), waits for nothing more: it is ready.
"""
    )


def test_what_comes_after_a_trigger_has_finished_is_saved_by_another_trigger_only() -> None:
    strategy = bl.WindowingStrategy(bl.FixedWindows("1m"), bl.AfterWatermark(), "discarding", "1m")
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", ("a", 1))
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:30", ("a", 3))
        .advance_watermark_to("00:05:00")
        .add_elements_at_time("00:00:31", ("a", 4))
    )

    assert described(strategy, stream) == text(
        """
FixedWindows(1m), AfterWatermark(), discarding, allowed lateness 1m

key 'a'
  step 0: an element arrives, before any watermark
    - 1 at 00:00:10 opens [00:00:00, 00:01:00).
    - Nothing comes out yet: [00:00:00, 00:01:00) waits for the watermark to reach 00:01:00.
  step 1: the watermark moves to 00:01:00
    - [00:00:00, 00:01:00) emits its last pane, ON_TIME 0: [1], by AfterWatermark: the watermark has
      reached 00:01:00. The trigger has finished, so whatever still comes for it is dropped.
  step 2: an element arrives, the watermark at 00:01:00
    - 3 at 00:00:30 is dropped: the trigger of its window [00:00:00, 00:01:00) has finished. No
      lateness would have saved it; AfterWatermark(late=AfterCount(1)) would have.
  step 3: the watermark moves to 00:05:00
    - [00:00:00, 00:01:00) is forgotten: its trigger had finished.
  step 4: an element arrives, the watermark at 00:05:00
    - 4 at 00:00:31 is dropped: its window [00:00:00, 00:01:00) expired when the watermark reached
      00:02:00, its end plus the allowed lateness of 1m. 3m 1ms more of allowed lateness (4m 1ms in
      all) would have saved it, together with AfterWatermark(late=AfterCount(1)), because as it is
      the trigger finishes before.
"""
    )


def test_a_trigger_that_fires_once_wants_to_be_repeated() -> None:
    strategy = bl.WindowingStrategy(bl.FixedWindows("1m"), bl.AfterCount(2), "discarding")
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", ("a", 1), ("a", 2), ("a", 3))
        .add_elements_at_time("00:00:10", ("a", 4))
    )

    assert described(strategy, stream) == text(
        """
FixedWindows(1m), AfterCount(2), discarding, allowed lateness 0ms

key 'a'
  step 0: 3 elements arrive, before any watermark
    - 1 at 00:00:10, 2 at 00:00:10 and 3 at 00:00:10 open [00:00:00, 00:01:00).
    - [00:00:00, 00:01:00) emits its last pane, EARLY 0: [1, 2, 3], by AfterCount(2): at least 2
      elements have come. The trigger has finished, so whatever still comes for it is dropped.
  step 1: an element arrives, before any watermark
    - 4 at 00:00:10 is dropped: the trigger of its window [00:00:00, 00:01:00) has finished. No
      lateness would have saved it; Repeatedly(AfterCount(2)) would have.
  at the end, before any watermark
    - [00:00:00, 00:01:00) is closed: its trigger has finished, and it takes nothing in.
"""
    )


def test_panes_are_withdrawn_and_one_that_says_nothing_new_is_left_out() -> None:
    strategy = bl.WindowingStrategy(
        bl.FixedWindows("1m"),
        None,
        "retracting",
        "1m",
        closing_behavior="fire_always",
        late_check="element",
        unchanged="omit",
    )
    stream = (
        TestStream()
        .add_elements_at_time("00:00:20", ("a", 2))
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:30", ("a", 3))
        .add_elements_at_time("00:00:40", ("a", 1))
        .advance_watermark_to("00:01:50")
        .add_elements_at_time("00:00:31", ("a", 4))
        .advance_watermark_to("00:05:00")
    )

    assert described(strategy, stream, Max()) == text(
        """
FixedWindows(1m), DefaultTrigger(), retracting, allowed lateness 1m, closing behavior fire_always,
  late check element, unchanged panes omitted

key 'a'
  step 0: an element arrives, before any watermark
    - 2 at 00:00:20 opens [00:00:00, 00:01:00).
    - Nothing comes out yet: [00:00:00, 00:01:00) waits for the watermark to reach 00:01:00.
  step 1: the watermark moves to 00:01:00
    - [00:00:00, 00:01:00) emits ON_TIME pane 0: 2, by DefaultTrigger: the watermark has reached
      00:01:00.
  step 2: an element arrives, the watermark at 00:01:00
    - 3 at 00:00:30 goes into [00:00:00, 00:01:00).
    - [00:00:00, 00:01:00) withdraws its ON_TIME pane 0: 2.
    - [00:00:00, 00:01:00) emits LATE pane 1: 3, by DefaultTrigger: an element came, and the
      watermark has reached 00:01:00 already.
  step 3: an element arrives, the watermark at 00:01:00
    - 1 at 00:00:40 goes into [00:00:00, 00:01:00).
    - [00:00:00, 00:01:00) fires without a pane by DefaultTrigger: its value is what it was, and
      unchanged="omit" leaves such a pane out.
  step 4: the watermark moves to 00:01:50; nothing is due
  step 5: an element arrives, the watermark at 00:01:50
    - 4 at 00:00:31 is dropped: by late_check="element" its time plus the allowed lateness of 1m was
      over when the watermark reached 00:01:31.001. 19s more of allowed lateness (1m 19s in all)
      would have saved it. So would late_check="assigned".
  step 6: the watermark moves to 00:05:00
    - [00:00:00, 00:01:00) expires without a pane: nothing came since its last pane, so its value is
      what it was.
"""
    )


def test_sessions_withdraw_the_panes_of_those_that_they_grew_from() -> None:
    strategy = bl.WindowingStrategy(
        bl.Sessions("10m"),
        bl.AfterWatermark(early=bl.AfterCount(1)),
        "retracting",
        on_time_behavior="fire_if_non_empty",
    )
    stream = (
        TestStream()
        .add_elements_at_time("00:00:00", ("a", 1))
        .add_elements_at_time("00:12:00", ("a", 2))
        .add_elements_at_time("00:06:00", ("a", 3))
        .advance_watermark_to("00:22:00")
    )

    assert described(strategy, stream) == text(
        """
Sessions(10m), AfterWatermark(early=AfterCount(1)), retracting, allowed lateness 0ms, on-time
  behavior fire_if_non_empty

key 'a'
  step 0: an element arrives, before any watermark
    - 1 at 00:00:00 opens [00:00:00, 00:10:00).
    - [00:00:00, 00:10:00) emits EARLY pane 0: [1], by AfterWatermark.early[AfterCount(1)]: an
      element came.
  step 1: an element arrives, before any watermark
    - 2 at 00:12:00 opens [00:12:00, 00:22:00).
    - [00:12:00, 00:22:00) emits EARLY pane 0: [2], by AfterWatermark.early[AfterCount(1)]: an
      element came.
  step 2: an element arrives, before any watermark
    - 3 at 00:06:00 bridges [00:00:00, 00:10:00) and [00:12:00, 00:22:00) into [00:00:00, 00:22:00):
      6m after the last element of [00:00:00, 00:10:00) and 6m before [00:12:00, 00:22:00) begins,
      each less than the gap of 10m.
    - [00:00:00, 00:22:00) withdraws EARLY pane 0 of [00:00:00, 00:10:00), which it grew from: [1].
    - [00:00:00, 00:22:00) withdraws EARLY pane 0 of [00:12:00, 00:22:00), which it grew from: [2].
    - [00:00:00, 00:22:00) emits EARLY pane 0: [1, 2, 3], by AfterWatermark.early[AfterCount(1)]: an
      element came. Its panes are counted from 0 again, because the session has grown.
  step 3: the watermark moves to 00:22:00
    - [00:00:00, 00:22:00) expires without a pane: nothing came since its last pane
      (closing_behavior="fire_if_non_empty").
"""
    )


def test_sessions_that_are_too_long_stay_apart_and_one_that_has_expired_rests() -> None:
    strategy = bl.WindowingStrategy(
        bl.Sessions("10m", max_duration="20m"), None, "accumulating", late_check="retain"
    )
    stream = (
        TestStream()
        .add_elements_at_time("00:00:00", ("a", 1))
        .add_elements_at_time("00:08:00", ("a", 2))
        .add_elements_at_time("00:16:00", ("a", 3))
        .add_elements_at_time("00:04:00", ("a", 4))
        .advance_watermark_to("00:30:00")
        .add_elements_at_time("00:24:00", ("a", 5))
        .advance_watermark_to("00:40:00")
    )

    assert described(strategy, stream) == text(
        """
Sessions(10m, max_duration=20m), DefaultTrigger(), accumulating, allowed lateness 0ms, late check
  retain

key 'a'
  step 0: an element arrives, before any watermark
    - 1 at 00:00:00 opens [00:00:00, 00:10:00).
    - Nothing comes out yet: [00:00:00, 00:10:00) waits for the watermark to reach 00:10:00.
  step 1: an element arrives, before any watermark
    - 2 at 00:08:00 stretches the session [00:00:00, 00:10:00) to [00:00:00, 00:18:00): 8m after its
      last element, less than the gap of 10m.
    - Nothing comes out yet: [00:00:00, 00:18:00) waits for the watermark to reach 00:18:00.
  step 2: an element arrives, before any watermark
    - 3 at 00:16:00 opens [00:16:00, 00:26:00). It does not join [00:00:00, 00:18:00): together they
      would be too long or too full.
    - Nothing comes out yet: [00:16:00, 00:26:00) waits for the watermark to reach 00:26:00.
  step 3: an element arrives, before any watermark
    - 4 at 00:04:00 falls into the session [00:00:00, 00:18:00), between its elements.
    - Nothing comes out yet: [00:00:00, 00:18:00) waits for the watermark to reach 00:18:00.
  step 4: the watermark moves to 00:30:00
    - [00:00:00, 00:18:00) emits its last pane, ON_TIME 0: [1, 2, 4], by expiry of the window: the
      watermark has reached 00:18:00, and there is no allowed lateness.
    - [00:16:00, 00:26:00) emits its last pane, ON_TIME 0: [3], by expiry of the window: the
      watermark has reached 00:26:00, and there is no allowed lateness. It is retained, for what may
      still overlap it (late_check="retain").
  step 5: an element arrives, the watermark at 00:30:00
    - 5 at 00:24:00 stretches the session [00:16:00, 00:26:00) to [00:16:00, 00:34:00): 8m after its
      last element, less than the gap of 10m.
    - Nothing comes out yet: [00:16:00, 00:34:00) waits for the watermark to reach 00:34:00.
  step 6: the watermark moves to 00:40:00
    - [00:16:00, 00:34:00) emits its last pane, ON_TIME 0: [3, 5], by expiry of the window: the
      watermark has reached 00:34:00, and there is no allowed lateness. Its panes are counted from 0
      again, because the session has grown. It is retained, for what may still overlap it
      (late_check="retain").
  at the end, the watermark at 00:40:00
    - [00:16:00, 00:34:00) has expired and is retained: only an element that overlaps it reopens it.
"""
    )


def test_a_session_whose_trigger_has_finished_merges_with_nothing() -> None:
    strategy = bl.WindowingStrategy(bl.Sessions("10m"), bl.AfterCount(1), "accumulating")
    stream = (
        TestStream()
        .add_elements_at_time("00:00:00", ("a", 1))
        .add_elements_at_time("00:08:00", ("a", 2))
        .advance_watermark_to("00:30:00")
    )

    assert described(strategy, stream) == text(
        """
Sessions(10m), AfterCount(1), accumulating, allowed lateness 0ms

key 'a'
  step 0: an element arrives, before any watermark
    - 1 at 00:00:00 opens [00:00:00, 00:10:00).
    - [00:00:00, 00:10:00) emits its last pane, EARLY 0: [1], by AfterCount(1): an element came. The
      trigger has finished, so nothing joins it any more: what overlaps it opens another session
      beside it, and only what has this very window is dropped.
  step 1: an element arrives, before any watermark
    - 2 at 00:08:00 opens [00:08:00, 00:18:00). It does not join [00:00:00, 00:10:00), whose trigger
      has finished.
    - [00:08:00, 00:18:00) emits its last pane, EARLY 0: [2], by AfterCount(1): an element came. The
      trigger has finished, so nothing joins it any more: what overlaps it opens another session
      beside it, and only what has this very window is dropped.
  step 2: the watermark moves to 00:30:00
    - [00:00:00, 00:10:00) is forgotten: its trigger had finished.
    - [00:08:00, 00:18:00) is forgotten: its trigger had finished.
"""
    )


def test_elements_of_one_bundle_make_a_session_and_overlaps_stand_for_gaps_of_a_function() -> None:
    strategy = bl.WindowingStrategy(bl.Sessions(ten_minutes), None, "accumulating")
    stream = (
        TestStream()
        .add_elements(
            TimestampedValue(("a", 1), "00:00:00"),
            TimestampedValue(("a", 2), "00:05:00"),
            TimestampedValue(("a", 3), "00:02:00"),
        )
        .add_elements_at_time("00:20:00", ("a", 4))
        .add_elements_at_time("00:12:00", ("a", 5))
    )

    assert described(strategy, stream) == text(
        """
Sessions(ten_minutes), DefaultTrigger(), accumulating, allowed lateness 0ms

key 'a'
  step 0: 3 elements arrive, before any watermark
    - 1 at 00:00:00, 3 at 00:02:00 and 2 at 00:05:00 make one session, [00:00:00, 00:15:00): their
      windows overlap by 8m and 7m.
    - Nothing comes out yet: [00:00:00, 00:15:00) waits for the watermark to reach 00:15:00.
  step 1: an element arrives, before any watermark
    - 4 at 00:20:00 opens [00:20:00, 00:30:00).
    - Nothing comes out yet: [00:20:00, 00:30:00) waits for the watermark to reach 00:30:00.
  step 2: an element arrives, before any watermark
    - 5 at 00:12:00 bridges [00:00:00, 00:15:00) and [00:20:00, 00:30:00) into [00:00:00, 00:30:00):
      their windows overlap by 3m and 2m.
    - Nothing comes out yet: [00:00:00, 00:30:00) waits for the watermark to reach 00:30:00.
  at the end, before any watermark
    - [00:00:00, 00:30:00) is open with 5 elements that no pane has shown, and waits for the
      watermark to reach 00:30:00.
"""
    )


def test_an_element_that_a_function_raised_for_was_left_out() -> None:
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", ("a", 1), ("a", "one"))
        .advance_watermark_to_infinity()
    )
    results = stream.run(window=bl.FixedWindows("1m"), aggregate=Sum(), on_error="drop")

    assert [s.text for s in results.explain().sentences if s.topic == "dropped"] == [
        "'one' at 00:00:10 is dropped because Sum().add raised TypeError: unsupported operand "
        "type(s) for +: 'int' and 'str'. It was left out because on_error=\"drop\"; mend the "
        "function to keep it."
    ]


# -- one key, one window -------------------------------------------------------------------------


def three_sessions() -> Recording:
    stream = (
        TestStream()
        .add_elements_at_time("00:00:00", ("joe", 1), ("ann", 5))
        .add_elements_at_time("00:12:00", ("joe", 2))
        .add_elements_at_time("00:06:00", ("joe", 3))
        .add_elements_at_time("01:00:00", ("joe", 4))
        .advance_watermark_to("00:22:00")
    )
    return recorded(bl.WindowingStrategy(bl.Sessions("10m")), stream, Collect())


def test_a_window_is_explained_with_those_that_it_grew_from() -> None:
    assert str(explain(three_sessions(), "joe", ("00:00:00", "00:22:00"))) == text(
        """
Sessions(10m), DefaultTrigger(), discarding, allowed lateness 0ms

key 'joe'
  step 0: an element arrives, before any watermark
    - 1 at 00:00:00 opens [00:00:00, 00:10:00).
    - Nothing comes out yet: [00:00:00, 00:10:00) waits for the watermark to reach 00:10:00.
  step 1: an element arrives, before any watermark
    - 2 at 00:12:00 opens [00:12:00, 00:22:00).
    - Nothing comes out yet: [00:12:00, 00:22:00) waits for the watermark to reach 00:22:00.
  step 2: an element arrives, before any watermark
    - 3 at 00:06:00 bridges [00:00:00, 00:10:00) and [00:12:00, 00:22:00) into [00:00:00, 00:22:00):
      6m after the last element of [00:00:00, 00:10:00) and 6m before [00:12:00, 00:22:00) begins,
      each less than the gap of 10m.
    - Nothing comes out yet: [00:00:00, 00:22:00) waits for the watermark to reach 00:22:00.
  step 4: the watermark moves to 00:22:00
    - [00:00:00, 00:22:00) emits its last pane, ON_TIME 0: [1, 2, 3], by expiry of the window: the
      watermark has reached 00:22:00, and there is no allowed lateness.
"""
    )


def test_a_window_that_was_merged_away_tells_what_it_became() -> None:
    assert str(explain(three_sessions(), window=bl.IntervalWindow("00:12:00", "00:22:00"))) == text(
        """
Sessions(10m), DefaultTrigger(), discarding, allowed lateness 0ms

key 'joe'
  step 1: an element arrives, before any watermark
    - 2 at 00:12:00 opens [00:12:00, 00:22:00).
    - Nothing comes out yet: [00:12:00, 00:22:00) waits for the watermark to reach 00:22:00.
  step 2: an element arrives, before any watermark
    - 3 at 00:06:00 bridges [00:00:00, 00:10:00) and [00:12:00, 00:22:00) into [00:00:00, 00:22:00):
      6m after the last element of [00:00:00, 00:10:00) and 6m before [00:12:00, 00:22:00) begins,
      each less than the gap of 10m.
"""
    )


@pytest.mark.parametrize(
    ("key", "window", "message"),
    [
        ("jo", None, "there is no key 'jo'; the nearest is 'joe'"),
        (
            "joe",
            ("00:11:00", "00:21:00"),
            "there is no window [00:11:00, 00:21:00) of key 'joe'; the nearest are "
            "[00:12:00, 00:22:00), [00:06:00, 00:16:00), [00:00:00, 00:22:00)",
        ),
        (
            "ann",
            ("00:11:00", "00:21:00"),
            "there is no window [00:11:00, 00:21:00) of key 'ann'; the nearest is "
            "[00:00:00, 00:10:00)",
        ),
        (
            None,
            bl.GLOBAL_WINDOW,
            "there is no window global; the nearest are [00:00:00, 00:22:00), "
            "[00:00:00, 00:10:00), [00:06:00, 00:16:00)",
        ),
    ],
)
def test_what_is_not_there_is_refused_with_the_nearest(key: Any, window: Any, message: str) -> None:
    with pytest.raises(RecordingError) as refused:
        explain(three_sessions(), key, window)

    assert str(refused.value) == message


def test_a_bound_that_is_no_time_is_refused() -> None:
    with pytest.raises(TimeError, match="window start is not an instant: 'noon'"):
        explain(three_sessions(), "joe", ("noon", "00:10:00"))


# -- results and hosts -----------------------------------------------------------------------

FINISHED = (
    TestStream()
    .add_elements_at_time("00:00:00", ("joe", "open app"))
    .advance_watermark_to("00:13:00")
    .add_elements_at_time("00:09:30", ("joe", "checkout"))
    .add_elements_at_time("00:03:00", ("joe", "add to cart"))
    .advance_watermark_to_infinity()
)


def test_results_explain_themselves() -> None:
    results = FINISHED.run(window=bl.Sessions("10 minutes"))

    explanation = results.explain("joe", ("00:03:00", "00:13:00"))

    assert isinstance(explanation, Explanation)
    assert [(s.step, s.topic, s.windows) for s in explanation.sentences] == [
        (3, "dropped", (bl.IntervalWindow("00:03:00", "00:13:00"),))
    ]
    assert results.recording.keys == ("joe",)


def test_a_collection_of_which_no_grouping_is_known_is_not_told() -> None:
    results = Results(
        Run((), ()), bl.WindowingStrategy(bl.GlobalWindows()), origin=Origin("sums", str)
    )

    with pytest.raises(TestStreamError, match="elements of sums are not known to come from one"):
        results.explain()


def test_elements_between_two_windows_are_reported_of_although_nothing_else_does() -> None:
    stream = (
        TestStream()
        .add_elements_at_time("12:01:00", ("k", "a"), ("k", "b"))
        .add_elements_at_time("12:00:10", ("k", "c"))
    )
    assert described(
        bl.WindowingStrategy(bl.SlidingWindows("1 minute", "5 minutes")), stream
    ) == text(
        """
SlidingWindows(1m, period=5m), DefaultTrigger(), discarding, allowed lateness 0ms

key 'k'
  step 0: 2 elements arrive, before any watermark
    - 'a' at 12:01:00 and 'b' at 12:01:00 are in no window: SlidingWindows(1m, period=5m) has none
      there. As in Beam, no pane and no drop reports them.
  step 1: an element arrives, before any watermark
    - 'c' at 12:00:10 opens [12:00:00, 12:01:00).
    - Nothing comes out yet: [12:00:00, 12:01:00) waits for the watermark to reach 12:01:00.
  at the end, before any watermark
    - [12:00:00, 12:01:00) is open with 1 element that no pane has shown, and waits for the
      watermark to reach 12:01:00.
"""
    )


class Printer:
    """What IPython hands to those that show themselves."""

    def __init__(self) -> None:
        self.shown = ""

    def text(self, text: str) -> None:
        self.shown += text


def test_a_notebook_shows_the_words() -> None:
    printer = Printer()
    explanation = explain(three_sessions(), "ann")

    explanation._repr_pretty_(printer, cycle=False)

    assert printer.shown == str(explanation)


@pytest.mark.spark
def test_a_run_on_spark_is_explained_as_one_in_memory(spark: Any) -> None:
    window = bl.Sessions("10 minutes")
    on_spark = FINISHED.run(window=window, host="spark", spark=spark)

    assert on_spark.run.trace == ()
    assert str(on_spark.explain()) == str(FINISHED.run(window=window).explain())


# -- for any scenario ----------------------------------------------------------------------------


def test_every_pane_drop_and_withdrawal_of_any_scenario_is_reported_in_lines_of_100_columns():
    mentioned: dict[str, int] = {}
    for seed in range(200):
        scenario = any_scenario(Random(f"explain:{seed}"))
        run = run_in_memory(Grouping(scenario.strategy, Collect()), scenario.script)
        explanation = explain(Recording.of(run, scenario.strategy, Collect()))

        kinds = [sentence.topic for sentence in explanation.sentences]
        assert kinds.count("dropped") == len(run.drops)
        assert kinds.count("withdrawn") == sum(o.effect.retraction for o in run.panes)
        assert kinds.count("fired") == sum(not o.effect.retraction for o in run.panes)
        assert max(map(len, str(explanation).splitlines())) <= 100
        for kind in kinds:
            mentioned[kind] = mentioned.get(kind, 0) + 1
    wanted = {"arrived", "merged", "fired", "withdrawn", "suppressed", "dropped", "forgotten"}
    assert {kind for kind, count in mentioned.items() if count > 20} == wanted | {
        *("homeless", "quiet", "waiting")
    }
