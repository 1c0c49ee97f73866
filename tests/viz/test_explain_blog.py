"""Scenarios of the blog, explained: every text is asserted whole."""

from pathlib import Path

from beamlike.runtime.memory import run_in_memory
from beamlike.testing import load_transcripts
from beamlike.viz.explain import explain
from beamlike.viz.recording import Recording

BLOG = Path(__file__).parents[1] / "conformance" / "cases" / "blog"


def of_blog(file: str, id: str) -> str:
    (scenario,) = (
        load_transcript
        for load_transcript in load_transcripts(BLOG / file)
        if load_transcript.id == id
    )
    run = run_in_memory(scenario.machine(), scenario.script)
    return str(explain(Recording.of(run, scenario.strategy, scenario.combine)))


def text(written: str) -> str:
    return written.strip("\n")


def test_a_gap_of_exactly_ten_minutes_splits_the_session() -> None:
    assert of_blog("blog_session.json", "blog_session_06_interrupted") == text(
        """
Sessions(10m), DefaultTrigger(), discarding, allowed lateness 0ms

key 'joe'
  step 0: an element arrives, before any watermark
    - 'open app' at 00:00:00 opens [00:00:00, 00:10:00).
    - Nothing comes out yet: [00:00:00, 00:10:00) waits for the watermark to reach 00:10:00.
  step 1: an element arrives, before any watermark
    - 'show product' at 00:01:30 stretches the session [00:00:00, 00:10:00) to [00:00:00, 00:11:30):
      1m 30s after its last element, less than the gap of 10m.
    - Nothing comes out yet: [00:00:00, 00:11:30) waits for the watermark to reach 00:11:30.
  step 2: an element arrives, before any watermark
    - 'add to cart' at 00:03:00 stretches the session [00:00:00, 00:11:30) to [00:00:00, 00:13:00):
      1m 30s after its last element, less than the gap of 10m.
    - Nothing comes out yet: [00:00:00, 00:13:00) waits for the watermark to reach 00:13:00.
  step 3: an element arrives, before any watermark
    - 'checkout' at 00:13:00 opens [00:13:00, 00:23:00). It comes exactly one gap, 10m, after the
      last element of [00:00:00, 00:13:00); only less than the gap joins it.
    - Nothing comes out yet: [00:13:00, 00:23:00) waits for the watermark to reach 00:23:00.
  step 4: an element arrives, before any watermark
    - 'close app' at 00:13:10 stretches the session [00:13:00, 00:23:00) to [00:13:00, 00:23:10):
      10s after its last element, less than the gap of 10m.
    - Nothing comes out yet: [00:13:00, 00:23:10) waits for the watermark to reach 00:23:10.
  step 5: the watermark moves to infinity
    - [00:00:00, 00:13:00) emits its last pane, ON_TIME 0: ['open app', 'show product', 'add to
      cart'], by expiry of the window: the watermark has reached 00:13:00, and there is no allowed
      lateness.
    - [00:13:00, 00:23:10) emits its last pane, ON_TIME 0: ['checkout', 'close app'], by expiry of
      the window: the watermark has reached 00:23:10, and there is no allowed lateness.
"""
    )


def test_an_element_is_dropped_although_a_live_session_would_take_it_in() -> None:
    assert of_blog("blog_session.json", "blog_session_07c_late_bridge_dropped") == text(
        """
Sessions(10m), DefaultTrigger(), discarding, allowed lateness 0ms

key 'joe'
  step 0: an element arrives, before any watermark
    - 'open app' at 00:00:00 opens [00:00:00, 00:10:00).
    - Nothing comes out yet: [00:00:00, 00:10:00) waits for the watermark to reach 00:10:00.
  step 1: the watermark moves to 00:13:00
    - [00:00:00, 00:10:00) emits its last pane, ON_TIME 0: ['open app'], by expiry of the window:
      the watermark has reached 00:10:00, and there is no allowed lateness.
  step 2: an element arrives, the watermark at 00:13:00
    - 'checkout' at 00:09:30 opens [00:09:30, 00:19:30).
    - Nothing comes out yet: [00:09:30, 00:19:30) waits for the watermark to reach 00:19:30.
  step 3: an element arrives, the watermark at 00:13:00
    - 'add to cart' at 00:03:00 is dropped: its window [00:03:00, 00:13:00) expired when the
      watermark reached 00:13:00. 1ms more of allowed lateness would have saved it. So would
      late_check="merged": it would have joined [00:09:30, 00:19:30) and made it
      [00:03:00, 00:19:30).
  step 4: the watermark moves to infinity
    - [00:09:30, 00:19:30) emits its last pane, ON_TIME 0: ['checkout'], by expiry of the window:
      the watermark has reached 00:19:30, and there is no allowed lateness.
"""
    )


def test_late_activity_within_the_allowed_lateness_bridges_what_was_before_and_what_comes() -> None:
    assert of_blog("blog_session.json", "blog_session_08_late_discarding") == text(
        """
Sessions(10m), DefaultTrigger(), discarding, allowed lateness 5m

key 'joe'
  step 0: an element arrives, before any watermark
    - 'open app' at 00:00:00 opens [00:00:00, 00:10:00).
    - Nothing comes out yet: [00:00:00, 00:10:00) waits for the watermark to reach 00:10:00.
  step 1: an element arrives, before any watermark
    - 'show product' at 00:01:30 stretches the session [00:00:00, 00:10:00) to [00:00:00, 00:11:30):
      1m 30s after its last element, less than the gap of 10m.
    - Nothing comes out yet: [00:00:00, 00:11:30) waits for the watermark to reach 00:11:30.
  step 2: the watermark moves to 00:13:00
    - [00:00:00, 00:11:30) emits ON_TIME pane 0: ['open app', 'show product'], by DefaultTrigger:
      the watermark has reached 00:11:30.
  step 3: an element arrives, the watermark at 00:13:00
    - 'add to cart' at 00:03:00 stretches the session [00:00:00, 00:11:30) to [00:00:00, 00:13:00):
      1m 30s after its last element, less than the gap of 10m.
    - [00:00:00, 00:13:00) emits LATE pane 0: ['add to cart'], by DefaultTrigger: an element came,
      and the watermark has reached 00:13:00 already. Its panes are counted from 0 again, because
      the session has grown. It is LATE, although it is the first one after the end, because the
      output watermark had passed the end before.
  step 4: an element arrives, the watermark at 00:13:00
    - 'checkout' at 00:09:30 stretches the session [00:00:00, 00:13:00) to [00:00:00, 00:19:30):
      6m 30s after its last element, less than the gap of 10m.
    - Nothing comes out yet: [00:00:00, 00:19:30) waits for the watermark to reach 00:19:30.
  step 5: an element arrives, the watermark at 00:13:00
    - 'close app' at 00:13:10 stretches the session [00:00:00, 00:19:30) to [00:00:00, 00:23:10):
      3m 40s after its last element, less than the gap of 10m.
    - Nothing comes out yet: [00:00:00, 00:23:10) waits for the watermark to reach 00:23:10.
  step 6: the watermark moves to infinity
    - [00:00:00, 00:23:10) emits its last pane, ON_TIME 0: ['checkout', 'close app'], by expiry of
      the window: the watermark has reached 00:28:10, its end plus the allowed lateness of 5m. Its
      panes are counted from 0 again, because the session has grown.
"""
    )


def test_early_panes_count_from_0_as_the_session_grows_and_the_clock_must_pass_its_target() -> None:
    assert of_blog("blog_session.json", "blog_session_10_speculative") == text(
        """
Sessions(10m), AfterWatermark(early=AfterProcessingTime(1m), late=AfterCount(1)), accumulating,
  allowed lateness 10m

key 'joe'
  step 0: an element arrives, before any watermark, the clock at 00:00:00
    - '0' at 00:00:00 opens [00:00:00, 00:10:00).
    - Nothing comes out yet: [00:00:00, 00:10:00) waits for the watermark to reach 00:10:00 or the
      clock to pass 00:01:00.
  step 1: the clock moves to 00:01:00; nothing is due, because the clock is at 00:01:00 and has to
    pass it
  step 2: an element arrives, before any watermark, the clock at 00:01:00
    - '1' at 00:01:00 stretches the session [00:00:00, 00:10:00) to [00:00:00, 00:11:00): 1m after
      its last element, less than the gap of 10m.
    - Nothing comes out yet: [00:00:00, 00:11:00) waits for the watermark to reach 00:11:00 or the
      clock to pass 00:01:00.
  step 3: the clock moves to 00:02:00
    - [00:00:00, 00:11:00) emits EARLY pane 0: ['0', '1'], by
      AfterWatermark.early[AfterProcessingTime(1m)]: the clock has passed 00:01:00.
  step 4: an element arrives, before any watermark, the clock at 00:02:00
    - '2' at 00:02:00 stretches the session [00:00:00, 00:11:00) to [00:00:00, 00:12:00): 1m after
      its last element, less than the gap of 10m.
    - Nothing comes out yet: [00:00:00, 00:12:00) waits for the watermark to reach 00:12:00 or the
      clock to pass 00:03:00.
  step 5: the clock moves to 00:03:00; nothing is due, because the clock is at 00:03:00 and has to
    pass it
  step 6: an element arrives, before any watermark, the clock at 00:03:00
    - '3' at 00:03:00 stretches the session [00:00:00, 00:12:00) to [00:00:00, 00:13:00): 1m after
      its last element, less than the gap of 10m.
    - Nothing comes out yet: [00:00:00, 00:13:00) waits for the watermark to reach 00:13:00 or the
      clock to pass 00:03:00.
  step 7: the clock moves to 00:04:00
    - [00:00:00, 00:13:00) emits EARLY pane 0: ['0', '1', '2', '3'], by
      AfterWatermark.early[AfterProcessingTime(1m)]: the clock has passed 00:03:00. Its panes are
      counted from 0 again, because the session has grown.
  step 8: an element arrives, before any watermark, the clock at 00:04:00
    - '4' at 00:04:00 stretches the session [00:00:00, 00:13:00) to [00:00:00, 00:14:00): 1m after
      its last element, less than the gap of 10m.
    - Nothing comes out yet: [00:00:00, 00:14:00) waits for the watermark to reach 00:14:00 or the
      clock to pass 00:05:00.
  step 9: the clock moves to 00:05:00; nothing is due, because the clock is at 00:05:00 and has to
    pass it
  step 10: an element arrives, before any watermark, the clock at 00:05:00
    - '5' at 00:05:00 stretches the session [00:00:00, 00:14:00) to [00:00:00, 00:15:00): 1m after
      its last element, less than the gap of 10m.
    - Nothing comes out yet: [00:00:00, 00:15:00) waits for the watermark to reach 00:15:00 or the
      clock to pass 00:05:00.
  step 11: the clock moves to 00:06:00
    - [00:00:00, 00:15:00) emits EARLY pane 0: ['0', '1', '2', '3', '4', '5'], by
      AfterWatermark.early[AfterProcessingTime(1m)]: the clock has passed 00:05:00. Its panes are
      counted from 0 again, because the session has grown.
  step 12: the watermark moves to 00:20:00
    - [00:00:00, 00:15:00) emits ON_TIME pane 1: ['0', '1', '2', '3', '4', '5'], by
      AfterWatermark[end of window]: the watermark has reached 00:15:00. Nothing came since its last
      pane; it comes out all the same because of on_time_behavior="fire_always".
  step 13: an element arrives, the watermark at 00:20:00, the clock at 00:06:00
    - '6' at 00:06:00 stretches the session [00:00:00, 00:15:00) to [00:00:00, 00:16:00): 1m after
      its last element, less than the gap of 10m.
    - [00:00:00, 00:16:00) emits LATE pane 0: ['0', '1', '2', '3', '4', '5', '6'], by
      AfterWatermark.late[AfterCount(1)]: an element came. Its panes are counted from 0 again,
      because the session has grown. It is LATE, although it is the first one after the end, because
      the output watermark had passed the end before.
  step 14: an element arrives, the watermark at 00:20:00, the clock at 00:06:00
    - '7' at 00:07:00 stretches the session [00:00:00, 00:16:00) to [00:00:00, 00:17:00): 1m after
      its last element, less than the gap of 10m.
    - [00:00:00, 00:17:00) emits LATE pane 0: ['0', '1', '2', '3', '4', '5', '6', '7'], by
      AfterWatermark.late[AfterCount(1)]: an element came. Its panes are counted from 0 again,
      because the session has grown. It is LATE, although it is the first one after the end, because
      the output watermark had passed the end before.
  step 15: the watermark moves to infinity
    - [00:00:00, 00:17:00) expires without a pane: nothing came since its last pane
      (closing_behavior="fire_if_non_empty").
"""
    )


def test_late_words_within_the_allowed_lateness() -> None:
    assert of_blog("blog_fixed.json", "blog_fixed_07_late_discarding") == text(
        """
FixedWindows(1m), DefaultTrigger(), discarding, allowed lateness 30s

key 'foo'
  step 0: an element arrives, before any watermark
    - 'foo' at 00:00:00 opens [00:00:00, 00:01:00).
    - Nothing comes out yet: [00:00:00, 00:01:00) waits for the watermark to reach 00:01:00.
  step 2: the watermark moves to 00:01:00
    - [00:00:00, 00:01:00) emits ON_TIME pane 0: 1, by DefaultTrigger: the watermark has reached
      00:01:00.
  step 3: 2 elements arrive, the watermark at 00:01:00
    - 'foo' at 00:00:40 and 'foo' at 00:00:40 go into [00:00:00, 00:01:00).
    - [00:00:00, 00:01:00) emits LATE pane 1: 2, by DefaultTrigger: an element came, and the
      watermark has reached 00:01:00 already.
  step 4: the watermark moves to infinity
    - [00:00:00, 00:01:00) expires without a pane: nothing came since its last pane
      (closing_behavior="fire_if_non_empty").

key 'bar'
  step 0: an element arrives, before any watermark
    - 'bar' at 00:00:00 opens [00:00:00, 00:01:00).
    - Nothing comes out yet: [00:00:00, 00:01:00) waits for the watermark to reach 00:01:00.
  step 2: the watermark moves to 00:01:00
    - [00:00:00, 00:01:00) emits ON_TIME pane 0: 1, by DefaultTrigger: the watermark has reached
      00:01:00.
  step 4: the watermark moves to infinity
    - [00:00:00, 00:01:00) expires without a pane: nothing came since its last pane
      (closing_behavior="fire_if_non_empty").

key 'baz'
  step 1: 2 elements arrive, before any watermark
    - 'baz' at 00:00:30 and 'baz' at 00:00:30 open [00:00:00, 00:01:00).
    - Nothing comes out yet: [00:00:00, 00:01:00) waits for the watermark to reach 00:01:00.
  step 2: the watermark moves to 00:01:00
    - [00:00:00, 00:01:00) emits ON_TIME pane 0: 2, by DefaultTrigger: the watermark has reached
      00:01:00.
  step 4: the watermark moves to infinity
    - [00:00:00, 00:01:00) expires without a pane: nothing came since its last pane
      (closing_behavior="fire_if_non_empty").
"""
    )


def test_a_stream_without_elements() -> None:
    assert of_blog("blog_fixed.json", "blog_fixed_01_no_input") == text(
        """
FixedWindows(1m), DefaultTrigger(), discarding, allowed lateness 0ms

Nothing happened: no element came.
"""
    )


def test_elements_that_are_not_grouped_come_out_at_once() -> None:
    assert of_blog("blog_misc.json", "blog_testkit_unbounded_builder") == text(
        """
GlobalWindows(), not grouped

no key
  step 0: 3 elements arrive, before any watermark
    - 'first' at 2000-01-01 00:00:00 comes out at once, in the global window: nothing is grouped.
    - 'second' at 2000-01-01 00:00:00 comes out at once, in the global window: nothing is grouped.
    - 'third' at 2000-01-01 00:00:00 comes out at once, in the global window: nothing is grouped.
  step 1: an element arrives, before any watermark
    - 'fourth' at 2000-01-01 00:00:00 comes out at once, in the global window: nothing is grouped.
  step 2: the watermark moves to 2000-01-01 01:00:00; nothing is due
  step 3: an element arrives, the watermark at 2000-01-01 01:00:00
    - 'fifth' at 2000-01-01 01:00:00 comes out at once, in the global window: nothing is grouped.
  step 4: the watermark moves to 2000-01-01 02:00:00; nothing is due
  step 5: 2 elements arrive, the watermark at 2000-01-01 02:00:00
    - 'sixth' at 2000-01-01 02:00:00 comes out at once, in the global window: nothing is grouped.
    - 'seventh' at 2000-01-01 02:00:00 comes out at once, in the global window: nothing is grouped.
  step 6: the watermark moves to infinity; nothing is due
"""
    )
