"""What the reference machine remembers about one key. Frozen values with a card per field.

Timers are not here: `beamlike.machine.reference.next_timers` derives them.
"""

from collections.abc import Mapping
from typing import Any

import attrs

from beamlike.machine.events import AdvanceWatermark, Pane
from beamlike.machine.input_clocks import next_output_watermark
from beamlike.model.panes import PaneInfo
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.trigger_base import Tree
from beamlike.model.windows import Window


@attrs.frozen
class TriggerState(Tree):
    """One node of a window's trigger tree.

    ============  ========================  ===========================  =====================
    field         stored                    when windows merge           cleared
    ============  ========================  ===========================  =====================
    ``finished``  fired for the last time   each trigger's `on_merge`    when a parent starts
                                                                         it over
    ``value``     a count of elements, or   each trigger's `on_merge`    at each firing of its
                  a target of a clock                                    node; when its parent
                                                                         clears or restarts it;
                                                                         when the window
                                                                         closes.
                                                                         `EveryProcessingTime`
                                                                         sets its next instant
                                                                         instead, `EveryCount`
                                                                         keeps the remainder
    ``subs``      the same, of children
    ``kept``      the value that a delta    that of the first part       with the window, or
                  is measured from; empty   that has one                 when its trigger
                  if there is none                                       finishes (closed)
    ============  ========================  ===========================  =====================
    """

    finished: bool = False
    value: int | None = None
    subs: tuple["TriggerState", ...] = ()
    kept: tuple[Any, ...] = ()

    def cleared(self) -> "TriggerState":
        """Only the finished bits, of this node and all below it."""
        if self.value is None and not self.subs and not self.kept:
            return self
        return TriggerState(self.finished, None, tuple(sub.cleared() for sub in self.subs))

    def forgotten(self) -> "TriggerState":
        """As at the start, for this node and all below it."""
        return TriggerState(False, None, tuple(sub.forgotten() for sub in self.subs))


@attrs.frozen
class WindowState:
    """Everything remembered about one window of one key.

    =====================  =========================  ====================  ===================
    field                  stored                     when windows merge    cleared
    =====================  =========================  ====================  ===================
    ``trigger``            the trigger tree           the trigger decides   with the window;
                                                                            only the finished
                                                                            root stays (closed)
    ``accumulator``        the elements, combined     combined              each pane if
                                                                            discarding
    ``new_elements``       elements since the pane    added up              each pane
                           before
    ``element_hold``       where new elements hold    end of window: again  each pane
                           the output watermark      for the result;
                                                      else min / max
    ``end_timer_set``      a trigger waits for the    decided again         when the watermark
                           window's end                                     passes the end
    ``processing_timers``  processing-time timers,    those of the result,  each when the clock
                           ascending                  if it was a part;     has passed it; at a
                                                      then its targets      firing, unless stale
                                                                            ones matter
    ``last_pane``          the last emitted pane      kept if the result    with the window
                                                      is one of the parts,
                                                      else none
    ``unretracted_panes``  panes not yet withdrawn    concatenated          each pane replaces
                           (retracting only)                                them by itself
    ``size``               what elements count for    added up              with the window
                           since the window opened;
                           0 unless the window
                           function needs
    =====================  =========================  ====================  ===================

    Beam keeps one more hold, at the instant of expiry. It can never be the smallest: while
    the window lives the input watermark is not past it. So it is not stored.
    """

    trigger: TriggerState
    accumulator: Any
    new_elements: int = 0
    element_hold: int | None = None
    end_timer_set: bool = False
    processing_timers: tuple[int, ...] = ()
    last_pane: PaneInfo | None = None
    unretracted_panes: tuple[Pane, ...] = ()
    size: int = 0

    @property
    def closed(self) -> bool:
        """The trigger finished. The window only waits for its expiry and accepts nothing."""
        return self.trigger.finished


@attrs.frozen
class KeyState:
    """The whole of one key: its windows, and where the clocks stood at the last step.

    ====================  =============================================  ==================
    field                 stored                                         cleared
    ====================  =============================================  ==================
    ``watermark``         the input watermark; with a side input         never, only forward
                          that of the main input
    ``clock``             processing time                                never, only forward
    ``output_watermark``  where the key's output stands: the largest     never, only forward
                          so far of min(watermark, all element holds)
    ``windows``           every window with state, closed ones too       each at its expiry,
                                                                         or later if retained
    ``side_watermark``    the watermark of the side input; None          never, only forward
                          until it is reported apart
    ====================  =============================================  ==================
    """

    watermark: int = MIN_TIMESTAMP
    clock: int = 0
    output_watermark: int = MIN_TIMESTAMP
    windows: Mapping[Window, WindowState] = attrs.field(factory=dict)
    side_watermark: int | None = None

    @classmethod
    def unseen(cls, watermark: int, clock: int, side: int | None = None) -> "KeyState":
        """A key without elements so far. Its output watermark starts at the watermark."""
        return cls(watermark, clock, watermark, side_watermark=side)

    @property
    def side(self) -> int:
        """The watermark of the side input; until it is reported apart, that of all inputs."""
        return self.watermark if self.side_watermark is None else self.side_watermark

    def side_after(self, move: AdvanceWatermark) -> int | None:
        """The watermark of the side input after a move; None until it is reported apart."""
        if move.side is None and self.side_watermark is not None:
            return max(self.side_watermark, move.to)
        return move.side

    def caught_up(self, watermark: int, clock: int, side: int | None = None) -> "KeyState":
        """This key after moves of the clocks that fired no timer of its windows.

        A host that steps a key only when something is due calls this before the step.
        """
        return self.after(watermark, clock, self.windows, side)

    def after(
        self,
        watermark: int,
        clock: int,
        windows: Mapping[Window, WindowState],
        side: int | None = None,
    ) -> "KeyState":
        """This key after a step.

        Args:
            watermark: The watermark at the end of the step (ticks).
            clock: Processing time at the end of the step (ticks).
            windows: The windows that are left.
            side: The watermark of the side input; None: it has not changed.
        """
        output = next_output_watermark(self.output_watermark, watermark, earliest_hold(windows))
        side = self.side_watermark if side is None else side
        return KeyState(watermark, clock, output, windows, side)


def earliest_hold(windows: Mapping[Window, WindowState]) -> int | None:
    """The earliest hold of a key's windows on its output watermark (ticks); None if none holds
    it."""
    held = None
    for window in windows.values():
        hold = window.element_hold
        if hold is not None and (held is None or hold < held):
            held = hold
    return held


def earliest_correction(state: KeyState, lateness: int) -> int | None:
    """The instant (ticks) at which panes that may still be withdrawn hold back the next grouping.

    A pane is withdrawn with its old timestamp, maybe long after: a session that grows has its next
    pane at its new end. The next grouping must then still have the window of the old timestamp. It
    has, until the watermark is past that timestamp plus the allowed lateness. So the watermark that
    this grouping passes on waits there. The timing of the key's own panes does not depend on it.
    """
    held = [
        pane.timestamp + lateness
        for window, remembered in state.windows.items()
        if remembered.unretracted_panes and not remembered.closed
        # An expired session is retained for those that merge with it, and fires no more itself.
        if state.watermark <= window.max_timestamp + lateness
        for pane in remembered.unretracted_panes
    ]
    return min(held, default=None)
