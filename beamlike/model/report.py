"""What a strategy alone shows, before any data comes: questions, answers, and the fix.

Every answer is a `Finding`: yes or no, and a sentence that says why and which line to change.

A no is certain: no stream brings it about. A yes means that nothing in the strategy rules it
out. (For ``bounded_state_per_key`` it is the other way round.) ``may_lose_data`` is Beam Java's
own rule, and more careful than ``can_finish``.
"""

import textwrap
from functools import partial

import attrs

from beamlike.model.calendar import CalendarWindows
from beamlike.model.combine import CombineFn
from beamlike.model.custom_trigger import CustomTrigger
from beamlike.model.options import AccumulationMode, ClosingBehavior, LateCheck, OnTimeBehavior
from beamlike.model.readable import Readable
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.strategy_arguments import check_strategy
from beamlike.model.trigger_analysis import can_close, can_fire, can_stay_open, closes
from beamlike.model.triggers import Trigger
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn
from beamlike.model.windows import IntervalWindow

_KEPT = {
    LateCheck.ASSIGNED: "whatever comes before its window expires gets into a pane",
    LateCheck.MERGED: "whatever comes before its merged window expires gets into a pane",
    LateCheck.ELEMENT: (
        "whatever comes before the watermark passes its timestamp plus the allowed lateness gets "
        'into a pane; later data is dropped although its window is open (late_check="element")'
    ),
    LateCheck.RETAIN: (
        "whatever comes before its window expires gets into a pane, and into one session with "
        "whatever is less than a gap away from it"
    ),
}


@attrs.frozen
class Finding(metaclass=Readable):
    """The answer to one question, and why. It is true in a condition if the answer is yes."""

    answer: bool
    because: str

    def __bool__(self) -> bool:
        return self.answer

    def __str__(self) -> str:
        return f"{'yes' if self.answer else 'no'}: {self.because}"


@attrs.frozen
class StrategyReport(metaclass=Readable):
    """Answers about one strategy. ``str`` of it is a page for people.

    Attributes:
        can_finish: The trigger can close a window before the window expires.
        may_lose_data: Data that is not too late may be dropped. Beam Java's rule.
        may_emit_empty_on_time: An on-time pane may have nothing new in it.
        may_emit_empty_last: A last pane may have nothing new in it, because of the closing
            behavior.
        fires_unchanged: A pane may come again although nothing has come since, because of the
            trigger.
        never_fires: The trigger never gets ready; content waits for the end of the window's
            life, in the global window for the end of time.
        needs_clock: Panes depend on processing time.
        bounded_state_per_key: However long the stream runs, what is kept for a key does not
            grow with it, even if the aggregation keeps every element. It takes for granted
            that the watermark moves, and the clock if ``needs_clock``.

    >>> from beamlike import AfterCount, FixedWindows
    >>> found = report(WindowingStrategy(FixedWindows("1 hour"), AfterCount(1)))
    >>> bool(found.can_finish), bool(found.may_lose_data)
    (True, True)
    """

    strategy: WindowingStrategy
    can_finish: Finding
    may_lose_data: Finding
    may_emit_empty_on_time: Finding
    may_emit_empty_last: Finding
    fires_unchanged: Finding
    never_fires: Finding
    needs_clock: Finding
    bounded_state_per_key: Finding

    @property
    def may_emit_empty_pane(self) -> bool:
        """Whether a pane without anything new may come out, on time or last."""
        return bool(self.may_emit_empty_on_time or self.may_emit_empty_last)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What its author should know before the first run, worst first."""
        worrying = [finding for finding in (self.may_lose_data, self.never_fires) if finding]
        if not self.bounded_state_per_key:
            worrying.append(self.bounded_state_per_key)
        return tuple(finding.because for finding in worrying)

    def __str__(self) -> str:
        strategy = self.strategy
        questions = (
            ("may lose data", self.may_lose_data),
            ("can finish", self.can_finish),
            ("never fires", self.never_fires),
            ("empty on-time pane", self.may_emit_empty_on_time),
            ("empty last pane", self.may_emit_empty_last),
            # No trigger of Beam's does, so it is listed only for those that do.
            *([("fires unchanged", self.fires_unchanged)] if self.fires_unchanged else []),
            ("needs the clock", self.needs_clock),
            ("bounded state per key", self.bounded_state_per_key),
        )
        fill = partial(textwrap.fill, width=100, break_long_words=False, break_on_hyphens=False)
        lines = [fill(str(strategy), subsequent_indent="  ")]
        for name, finding in questions:
            answer = f"{name:<22}{finding}"
            lines.append(fill(answer, initial_indent="  ", subsequent_indent=" " * 26))
        return "\n".join(lines)


def report(strategy: WindowingStrategy, combine: CombineFn | None = None) -> StrategyReport:
    """All answers about a strategy.

    Args:
        combine: How a pane's elements become its value. With it the answers about empty panes
            state what such a pane shows, and whether Scio would fail there.

    Raises:
        WindowingError: This is no strategy.
        UnsupportedError: The trigger is none of beamlike's.

    >>> from beamlike.model.triggers import AfterCount
    >>> found = report(WindowingStrategy(FixedWindows("1 minute"), AfterCount(5)))
    >>> print(found.may_lose_data.because)  # doctest: +NORMALIZE_WHITESPACE
    AfterCount(5) may finish, and data that arrives afterwards would be dropped;
    write Repeatedly(AfterCount(5))
    """
    check_strategy("report", strategy)
    lost = strategy.may_lose_data
    return StrategyReport(
        strategy,
        can_finish=_can_finish(strategy),
        may_lose_data=Finding(lost is not None, lost or _KEPT[strategy.late_check]),
        may_emit_empty_on_time=_with_value(_empty_on_time(strategy), strategy, combine),
        may_emit_empty_last=_with_value(_empty_last(strategy), strategy, combine),
        fires_unchanged=_fires_unchanged(strategy),
        never_fires=_never_fires(strategy),
        needs_clock=_needs_clock(strategy.trigger),
        bounded_state_per_key=_bounded_state(strategy),
    )


def _with_value(empty: Finding, strategy: WindowingStrategy, combine: CombineFn | None) -> Finding:
    """What an empty pane shows, if there may be one."""
    if not empty or combine is None:
        return empty
    if strategy.accumulates:
        return Finding(True, f"{empty.because}; it shows the value of the pane before again")
    on_empty = combine.on_empty
    shows = f"{empty.because}; it shows {on_empty.value!r}"
    if on_empty.scio_raises:
        shows += f", where {on_empty.scio_operation or 'one of these'} of Scio raises an error"
    return Finding(True, shows)


# -- questions -------------------------------------------------------------------------------


def _can_finish(strategy: WindowingStrategy) -> Finding:
    trigger = strategy.trigger
    if not can_close(trigger, outlives_its_end(strategy)):
        return Finding(False, "the trigger does not finish before its window expires")
    return Finding(
        True,
        "the trigger can fire for the last time while its window could still get data, which is "
        f"then dropped as closed; write Repeatedly({trigger})",
    )


def _never_fires(strategy: WindowingStrategy) -> Finding:
    trigger = strategy.trigger
    in_global = isinstance(strategy.window_fn, GlobalWindows)
    if can_fire(trigger, end_comes=not in_global):
        return Finding(False, "the trigger gets ready by elements, the watermark or the clock")
    if in_global:
        return Finding(
            True,
            f"in the global window nothing comes out of {trigger} before the end of time, which a "
            "stream does not reach; write trigger=Repeatedly(AfterCount(100)), or use FixedWindows",
        )
    lateness = strategy.allowed_lateness
    when = f" plus {strategy.resolution.show_duration(lateness)}" if lateness else ""
    return Finding(
        True,
        f"{trigger} never gets ready, and a window's content comes out once, at its end{when}; "
        "write AfterWatermark(late=AfterCount(1)) for a pane at the end and one for late data",
    )


def _empty_on_time(strategy: WindowingStrategy) -> Finding:
    leaves_out = strategy.on_time_behavior is OnTimeBehavior.FIRE_IF_NON_EMPTY
    comes = can_stay_open(strategy.trigger, end_comes=False)
    before = "the end of the window", "the end the on-time pane"
    return _empty("on_time_behavior", leaves_out, comes, *before)


def _empty_last(strategy: WindowingStrategy) -> Finding:
    leaves_out = strategy.closing_behavior is ClosingBehavior.FIRE_IF_NON_EMPTY
    comes = can_stay_open(strategy.trigger, outlives_its_end(strategy))
    before = "the window expires", "the last one the last one"
    return _empty("closing_behavior", leaves_out, comes, *before)


def _empty(option: str, leaves_out: bool, comes: bool, end: str, pane: str) -> Finding:
    """Whether a pane may be empty, which an option leaves out, if another one comes before."""
    if leaves_out:
        return Finding(False, f'{option}="fire_if_non_empty" leaves them out')
    if not comes:
        return Finding(False, "no pane comes before it and leaves the window open")
    return Finding(
        True,
        f"the trigger can fire before {end}, and when nothing comes between that pane and {pane} "
        f'is still emitted; {option}="fire_if_non_empty" leaves it out',
    )


def _fires_unchanged(strategy: WindowingStrategy) -> Finding:
    insisting = [
        node
        for node in strategy.trigger.walk()
        if isinstance(node, CustomTrigger) and node.fires_unchanged
    ]
    if not insisting:
        return Finding(False, "no part of the trigger fires by itself for what came out before")
    if not strategy.accumulates:
        return Finding(False, "what came out is discarded, and nothing is left to fire")
    change = (
        "leave fire_unchanged out"
        if "fire_unchanged" in insisting[0].arguments
        else "let its fires_unchanged be False"
    )
    return Finding(
        True,
        f"{insisting[0]} fires whether anything is new or not, and the value of the pane before "
        f"comes again; {change} to wait for something new",
    )


def _needs_clock(trigger: Trigger) -> Finding:
    timed = [str(node) for node in trigger.walk() if node.needs_clock and not node.children]
    if timed:
        return Finding(
            True,
            f"processing time has a say in {' and '.join(dict.fromkeys(timed))}; a test has to "
            "move the clock, and a second run over the same data may cut its panes elsewhere",
        )
    return Finding(False, "the same data and watermarks give the same panes at any speed")


def _bounded_state(strategy: WindowingStrategy) -> Finding:
    window_fn, trigger = strategy.window_fn, strategy.trigger
    merged = Finding(True, "a window that a grouping has merged grows no more")
    ends = merged if strategy.already_merged else windows_end(window_fn)
    in_global = isinstance(window_fn, GlobalWindows)
    if strategy.allowed_lateness >= strategy.end_of_global_window and not in_global:
        return Finding(
            False,
            "with this allowed lateness no window ever expires, and something is kept for each; "
            'write a lateness such as allowed_lateness="7 days"',
        )
    if ends:
        return Finding(
            True,
            f"{ends.because}, and is forgotten "
            f"{strategy.resolution.show_duration(_kept_for(strategy))} after its end",
        )
    keeps = f"{ends.because}, and "
    if not trigger.always_fires:
        return Finding(
            False,
            f"{keeps}{trigger} need not let anything out before; add early firings, such as "
            "AfterWatermark(early=AfterCount(100), late=AfterCount(1)), and "
            'accumulation="discarding", or use windows that end, as FixedWindows or Sessions with '
            "max_duration do",
        )
    if strategy.accumulates and not closes(trigger):
        mode = strategy.accumulation.value
        return Finding(
            False,
            f'{keeps}accumulation="{mode}" keeps what has been emitted; write '
            f'accumulation="{AccumulationMode.DISCARDING.value}", aggregate to something small, '
            "or use windows that end, as FixedWindows or Sessions with max_duration do",
        )
    return Finding(True, f"{keeps}the trigger empties it again and again, or closes it")


def _kept_for(strategy: WindowingStrategy) -> int:
    """How long a window is kept after its end, in its ticks."""
    first = IntervalWindow(0, 1)
    return strategy.forgotten(first) - first.max_timestamp


def windows_end(window_fn: WindowFn) -> Finding:
    """Whether every window ends within a span that is known beforehand, whatever data comes.

    With windows that do, the state of a key is bounded. Those of a function of one's own count as
    endless.

    >>> print(windows_end(SlidingWindows("1 hour", "10 minutes")))
    yes: a window is 1h long
    """
    show = window_fn.resolution.show_duration
    match window_fn:
        case FixedWindows() | SlidingWindows():
            return Finding(True, f"a window is {show(window_fn.size)} long")
        case CalendarWindows():
            return Finding(True, f"a window of {window_fn} has its end in the calendar")
        case GlobalWindows():
            return Finding(False, "the global window does not end")
        case Sessions(max_duration=longest, max_elements=most, longest_own_window=own_window):
            spans = [] if longest is None else [longest]
            if most is not None and own_window is not None:
                # Each element makes it longer by no more than its own window is long.
                spans.append(most * own_window)
            if spans:
                return Finding(True, f"a window is at most {show(min(spans))} long")
            stays_open = "stays open while data comes without a longer pause"
            return Finding(False, f"a window of {window_fn} {stays_open}")
    return Finding(False, f"how long a window of {window_fn} can get is not known")


def outlives_its_end(strategy: WindowingStrategy) -> bool:
    """Whether a window lives on after its end. Else both are one event, the expiry."""
    in_global = isinstance(strategy.window_fn, GlobalWindows)
    return strategy.allowed_lateness > 0 and not in_global
