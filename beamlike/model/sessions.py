"""Sessions: windows of activity that end after a silence, with an event, or once they are long or
full enough.

Source: Beam Java, ``Sessions``, ``MergeOverlappingIntervalWindows``; gaps that depend on the
element as Flink's ``EventTimeSessionWindows.withDynamicGap``. Beam has no bounded sessions, and
none that an event ends.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import attrs

from beamlike.errors import TimeError, WindowError
from beamlike.model.copies import own_copy
from beamlike.model.described import ArgumentKind, HasDurations
from beamlike.model.fingerprint import stable_repr
from beamlike.model.options import whole_number
from beamlike.model.resolution import MICROSECONDS, converted
from beamlike.model.session_merging import ENDED, merge_overlapping
from beamlike.model.time import DurationLike, duration_us
from beamlike.model.windowfns import Merge, MergingWindowFn, WindowFn, window_at
from beamlike.model.windows import IntervalWindow
from beamlike.safe_text import short_repr

GapOf = Callable[[Any], DurationLike]
"""From an element's value to the gap after it, more than 0."""


@attrs.frozen(init=False)
class Sessions(HasDurations, MergingWindowFn):
    """Windows that end after a gap without data.

    Each element opens ``[timestamp, timestamp + gap)``; windows of one key that overlap
    merge into their span. Windows that only touch stay apart: elements exactly one gap
    apart are two sessions. With ``merge_touching`` they are one, as in Flink and in Spark's
    ``session_window``; a session still ends one gap after its last element.

    With a function in place of the gap, each element says how long to wait after it. The
    furthest end counts: an element with a short gap never shortens its session.

    With ``max_duration`` no session, its gap at the end included, is longer than that. An
    element that would stretch a session beyond it opens the next session, which may begin
    inside the gap at the end of the one before. In a bundle windows are visited in order of
    ``(start, end)``, and each joins the session before it if the two would merge without the
    bound and together are not too long (exactly ``max_duration`` is not too long). So no two
    open sessions are left that would merge and could be one.

    With ``max_elements`` no session holds more than so many. The windows are visited in the
    same order, and each joins the session before it if both together have few enough elements
    (exactly ``max_elements`` are few enough); if not, it opens the next session. Only the
    session just before it is considered. One thing can make a session too large: elements whose
    windows are equal are not distinguished. Those of one bundle stay together, however many they
    are, and one whose window has exactly the bounds of an open session goes there.

    Sessions that exist are never split. This makes bounded sessions depend on the order of
    arrival in one case: where data without a pause is too long, or too much, and later
    bundles bring elements from earlier times, the cuts may lie elsewhere. Otherwise neither
    bundles nor order decide which elements are together while the sessions are open.

    With ``ends_with`` an event ends its session: an element of that value, or for which that
    function is true. The session ends one tick after it (a millisecond; over a DataFrame a
    microsecond), its pane is due when the watermark
    gets there, and what comes later in event time opens the next session, however soon. Elements
    from before the event belong to the session also if they arrive after it, and do not make it
    longer. A session that has elements from after the event already is not split: it ends where it
    would have ended, and takes in no more that is later. The window of an end event is its own
    tick, so it is `expired` once the watermark has passed that by more than the allowed
    lateness, and its session then ends with a silence.

    Args:
        gap: The silence that ends a session, more than 0: ``"10 minutes"``, a timedelta, or an
            int, which counts milliseconds; or a function from an element's value to it. To save
            and compare the window function, let it be a function at the top of a module.
        max_duration: The longest that a session may be, from its start to its end, at least
            the gap. A longer gap of a single element counts as ``max_duration``. Default
            None: unbounded.
        max_elements: The most elements that a session may hold, at least 1. Default None:
            unbounded.
        merge_touching: Whether windows merge of which one begins as the other ends. Default
            False, as in Beam.
        ends_with: The value of the elements that end a session, or a function from an element's
            value to whether it does, at the top of a module. Over a DataFrame it is compared with
            the column that ``window_input`` names. Default None: none ends it.

    Raises:
        WindowError: The gap is 0, ``max_duration`` is 0 or shorter than the gap,
            ``max_elements`` is no whole number of 1 or more, ``merge_touching`` is no bool, or
            ``ends_with`` can change, or stands beside a gap that is a function or a millisecond.
        TimeError: A duration cannot be read.

    Source: Beam ``Sessions``, Scio ``withSessionWindows``.

    >>> Sessions(lambda page: "30 minutes" if page == "film" else "5 minutes").assign(0, "film")
    (IntervalWindow(start=0, end=1800000),)

    >>> visits = Sessions("30 minutes", ends_with="logout")
    >>> print(*visits.assign(0, "click"), *visits.assign(60_000, "logout"))
    [00:00:00, 00:30:00) [00:01:00, 00:01:00.001)
    """

    arguments: ClassVar[Mapping[str, ArgumentKind]] = {
        "gap": "duration",
        "max_duration": "duration",
        "max_elements": "count",
        "merge_touching": "flag",
        "ends_with": "value",
    }

    gap: int | GapOf
    max_duration: int | None
    max_elements: int | None
    merge_touching: bool
    ends_with: Any

    def __init__(
        self,
        gap: DurationLike | GapOf,
        *,
        max_duration: DurationLike | None = None,
        max_elements: int | None = None,
        merge_touching: bool = False,
        ends_with: Any = None,
    ) -> None:
        self._describe(max_elements, merge_touching, ends_with, gap=gap, max_duration=max_duration)
        if self.gap == 0:
            raise WindowError(
                'Sessions need a gap of more than 0 ms; give one such as "10 minutes"'
            )
        self._check_longest()
        if max_elements is not None:
            whole_number(max_elements, 1, "Sessions max_elements", WindowError)
        if not isinstance(merge_touching, bool):
            raise WindowError(
                f"Sessions merge_touching must be True or False, got {merge_touching!r}"
            )
        if ends_with is not None:
            self._check_end()

    def _check_longest(self) -> None:
        gap, longest, show = self.gap, self.max_duration, self.resolution.show_duration
        if isinstance(gap, int) and longest is not None and longest < gap:
            raise WindowError(
                "Sessions max_duration must not be shorter than the gap, because one element alone "
                f"makes a session that long; got max_duration={show(longest)} and "
                f"a gap of {show(gap)}; give a longer max_duration or a shorter gap"
            )
        if longest == 0:
            raise WindowError(
                "Sessions max_duration must be more than 0 ms, got 0 ms; leave it out for sessions "
                "without a bound"
            )

    def _check_end(self) -> None:
        try:
            hash(self.ends_with)
        except TypeError:
            raise WindowError(
                "Sessions ends_with must be a value that does not change, such as a text, or a "
                f"function of a value, got {self.ends_with!r}"
            ) from None
        if not isinstance(self.gap, int):
            raise WindowError(
                "Sessions ends_with needs one gap for all elements, because a session ends where "
                "its last element stands, and with a function for the gap that is not known; give "
                'a gap such as "10 minutes"'
            )
        if self.gap == 1:
            tick = f"{1 if self.resolution.per_ms == 1 else '0.001'} ms"
            raise WindowError(
                f"Sessions ends_with needs a gap of more than {tick}, which is how long the window "
                'of an end event is; give a gap such as "10 minutes"'
            )

    @property
    def longest_own_window(self) -> int | None:
        """The gap; ``max_duration`` if the gap depends on the element, None without it."""
        return self.gap if isinstance(self.gap, int) else self.max_duration

    def assign(self, timestamp: int, value: Any = None) -> tuple[IntervalWindow, ...]:
        """The window of one gap that starts with the element; of an end event its tick.

        Raises:
            WindowError: The gap function returned no duration, or none of more than 0; what says
                whether an element ends its session said neither True nor False.
        """
        last = self.resolution.end_of_global_window
        start = min(timestamp, last)
        if self.is_end(value):
            return (window_at(start, 1, last),)
        gap = self.gap if isinstance(self.gap, int) else self._ask(self.gap, value)
        return (window_at(start, gap, last),)

    def is_end(self, value: Any) -> bool:
        """Whether an element of this value ends its session.

        Raises:
            WindowError: The function that says so said neither True nor False.
        """
        if self.ends_with is None:
            return False
        if not callable(self.ends_with):
            return bool(value == self.ends_with)
        answer = self.ends_with(own_copy(value))
        if not isinstance(answer, bool):
            raise WindowError(
                f"{stable_repr(self.ends_with)} must say True or False of an element that may end "
                f"a session, but returned {answer!r} for the value {short_repr(value)}"
            )
        return answer

    def _ask(self, gap_of: GapOf, value: Any) -> int:
        answer = gap_of(own_copy(value))
        try:
            gap_us = duration_us(answer, "gap")
        except TimeError:
            gap_us = 0
        if gap_us == 0:
            raise WindowError(
                f"the gap of a session must be a duration of more than 0, but "
                f"{stable_repr(gap_of)} returned {answer!r} for the value {short_repr(value)}; "
                'return one such as "10 minutes" or 600000 (milliseconds)'
            )
        try:
            gap = converted(gap_us, MICROSECONDS, self.resolution, "gap")
        except TimeError as error:
            whose = f"{stable_repr(gap_of)} for the value {short_repr(value)}"
            raise WindowError(f"{error}; it is what {whose} returned") from error
        return gap if self.max_duration is None else min(gap, self.max_duration)

    def merge(self, windows: Iterable[IntervalWindow]) -> tuple[Merge, ...]:
        """As `merge_sized`, of windows that hold one element each."""
        if not self.needs_sizes:
            return merge_overlapping(windows, self.max_duration, touching=self.merge_touching)
        return self.merge_sized({window: self.size_of(window) for window in windows})

    @property
    def needs_sizes(self) -> bool:
        return self.max_elements is not None or self.ends_with is not None

    def size_of(self, window: IntervalWindow) -> int:
        """1; of an end event `ENDED` more: its window is shorter than that of any other element,
        but for those that the end of time cuts short."""
        if self.ends_with is None or not isinstance(self.gap, int):
            return 1
        is_cut = window.end > self.resolution.end_of_global_window
        return 1 if is_cut or window.end - window.start >= self.gap else 1 + ENDED

    def merge_sized(self, sizes: Mapping[IntervalWindow, int]) -> tuple[Merge, ...]:
        if not self.needs_sizes:
            return self.merge(sizes)
        return merge_overlapping(
            sizes,
            self.max_duration,
            sizes,
            self.max_elements,
            touching=self.merge_touching,
            gap=self.gap if isinstance(self.gap, int) else 0,
            last=self.resolution.end_of_global_window,
        )

    def compatible_with(self, other: WindowFn) -> bool:
        """Any two sessions are that merge and are bounded alike; the first one's gap is used,
        as in Beam."""
        return (
            isinstance(other, Sessions)
            and self.max_duration == other.max_duration
            and self.max_elements == other.max_elements
            and self.merge_touching == other.merge_touching
            and self.ends_with == other.ends_with
        )
