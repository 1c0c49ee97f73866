"""What is said of sessions that merge on touch."""

from typing import Any

from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Script
from beamlike.viz.explain import explain
from beamlike.viz.recording import Recording


def shown(strategy: WindowingStrategy, script: Script) -> str:
    run = run_in_memory(Grouping(strategy, Collect()), script)
    return str(explain(Recording.of(run, strategy, Collect())))


def text(written: str) -> str:
    return written.strip("\n")


def ten_minutes(value: Any) -> str:
    return "10m"


def arrive(*minutes: int) -> Arrive:
    return Arrive(tuple(("a", Element(minute, minute * 60_000)) for minute in minutes))


def test_an_element_one_gap_after_the_last_is_no_more_than_the_gap_from_it() -> None:
    strategy = WindowingStrategy(
        Sessions("10m", merge_touching=True), None, "accumulating", late_check="retain"
    )

    assert shown(
        strategy,
        (
            arrive(0),
            arrive(10),
            arrive(30),
            AdvanceWatermark(2_400_000),
            arrive(40),
            AdvanceWatermark(3_000_000),
        ),
    ) == text(
        """
Sessions(10m, merge_touching=True), DefaultTrigger(), accumulating, allowed lateness 0ms, late check
  retain

key 'a'
  step 0: an element arrives, before any watermark
    - 0 at 00:00:00 opens [00:00:00, 00:10:00).
    - Nothing comes out yet: [00:00:00, 00:10:00) waits for the watermark to reach 00:10:00.
  step 1: an element arrives, before any watermark
    - 10 at 00:10:00 stretches the session [00:00:00, 00:10:00) to [00:00:00, 00:20:00): 10m after
      its last element, no more than the gap of 10m.
    - Nothing comes out yet: [00:00:00, 00:20:00) waits for the watermark to reach 00:20:00.
  step 2: an element arrives, before any watermark
    - 30 at 00:30:00 opens [00:30:00, 00:40:00).
    - Nothing comes out yet: [00:30:00, 00:40:00) waits for the watermark to reach 00:40:00.
  step 3: the watermark moves to 00:40:00
    - [00:00:00, 00:20:00) emits its last pane, ON_TIME 0: [0, 10], by expiry of the window: the
      watermark has reached 00:20:00, and there is no allowed lateness.
    - [00:30:00, 00:40:00) emits its last pane, ON_TIME 0: [30], by expiry of the window: the
      watermark has reached 00:40:00, and there is no allowed lateness. It is retained, for what may
      still overlap or touch it (late_check="retain").
  step 4: an element arrives, the watermark at 00:40:00
    - 40 at 00:40:00 stretches the session [00:30:00, 00:40:00) to [00:30:00, 00:50:00): 10m after
      its last element, no more than the gap of 10m.
    - Nothing comes out yet: [00:30:00, 00:50:00) waits for the watermark to reach 00:50:00.
  step 5: the watermark moves to 00:50:00
    - [00:30:00, 00:50:00) emits its last pane, ON_TIME 0: [30, 40], by expiry of the window: the
      watermark has reached 00:50:00, and there is no allowed lateness. Its panes are counted from 0
      again, because the session has grown. It is retained, for what may still overlap or touch it
      (late_check="retain").
  at the end, the watermark at 00:50:00
    - [00:30:00, 00:50:00) has expired and is retained: only an element that overlaps or touches it
      reopens it.
"""
    )


def test_with_a_gap_of_its_own_the_windows_touch() -> None:
    strategy = WindowingStrategy(Sessions(ten_minutes, merge_touching=True))

    assert shown(strategy, (arrive(0, 10), arrive(20), arrive(31))) == text(
        """
Sessions(ten_minutes, merge_touching=True), DefaultTrigger(), discarding, allowed lateness 0ms

key 'a'
  step 0: 2 elements arrive, before any watermark
    - 0 at 00:00:00 and 10 at 00:10:00 make one session, [00:00:00, 00:20:00): their windows touch.
    - Nothing comes out yet: [00:00:00, 00:20:00) waits for the watermark to reach 00:20:00.
  step 1: an element arrives, before any watermark
    - 20 at 00:20:00 stretches the session [00:00:00, 00:20:00) to [00:00:00, 00:30:00): their
      windows touch.
    - Nothing comes out yet: [00:00:00, 00:30:00) waits for the watermark to reach 00:30:00.
  step 2: an element arrives, before any watermark
    - 31 at 00:31:00 opens [00:31:00, 00:41:00).
    - Nothing comes out yet: [00:31:00, 00:41:00) waits for the watermark to reach 00:41:00.
  at the end, before any watermark
    - [00:00:00, 00:30:00) is open with 3 elements that no pane has shown, and waits for the
      watermark to reach 00:30:00.
    - [00:31:00, 00:41:00) is open with 1 element that no pane has shown, and waits for the
      watermark to reach 00:41:00.
"""
    )
