"""Sessions: windows of activity that end after a silence, or once they are long or full enough.

Source: Beam Java, ``Sessions``, ``MergeOverlappingIntervalWindows``; gaps that depend on the
element as Flink's ``EventTimeSessionWindows.withDynamicGap``. Beam has no bounded sessions.
"""

import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from beamlike.errors import TimeError, WindowError
from beamlike.model.fingerprint import stable_repr
from beamlike.model.options import whole_number
from beamlike.model.time import DurationLike, duration_ms, show_duration, without_unit
from beamlike.model.windowfns import Merge, MergingWindowFn, WindowFn, window_at, within_time
from beamlike.model.windows import IntervalWindow, bounds

__all__ = ["GapOf", "Sessions", "merge_overlapping"]

GapOf = Callable[[Any], DurationLike]
"""From an element's value to the silence that it asks for, more than 0."""


@attrs.frozen(init=False)
class Sessions(MergingWindowFn):
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
    session just before it is asked. One thing can make a session too large: elements cannot be
    told apart whose windows are equal. Those of one bundle stay together, however many they
    are, and one whose window has exactly the bounds of an open session goes there.

    Sessions that exist are never split. This makes bounded sessions depend on the order of
    arrival in one case: where data without a pause is too long, or too much, and later
    bundles bring elements from earlier times, the cuts may lie elsewhere. Otherwise neither
    bundles nor order decide which elements are together while the sessions are open.

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

    Raises:
        WindowError: The gap is 0, ``max_duration`` is 0 or shorter than the gap,
            ``max_elements`` is no whole number of 1 or more, or ``merge_touching`` is no bool.
        TimeError: A duration cannot be read.

    Source: Beam ``Sessions``, Scio ``withSessionWindows``.

    >>> Sessions(lambda page: "30 minutes" if page == "film" else "5 minutes").assign(0, "film")
    (IntervalWindow(start=0, end=1800000),)
    """

    gap: int | GapOf
    max_duration: int | None
    max_elements: int | None
    merge_touching: bool
    without_unit: Mapping[str, int] = attrs.field(init=False, eq=False, repr=False)

    def __init__(
        self,
        gap: DurationLike | GapOf,
        *,
        max_duration: DurationLike | None = None,
        max_elements: int | None = None,
        merge_touching: bool = False,
    ) -> None:
        given = gap if callable(gap) else duration_ms(gap, "Sessions gap")
        longest = (
            None if max_duration is None else duration_ms(max_duration, "Sessions max_duration")
        )
        if given == 0:
            raise WindowError(
                'Sessions need a gap of more than 0 ms; give one such as "10 minutes"'
            )
        if longest is not None:
            _check_longest(longest, given)
        if max_elements is not None:
            whole_number(max_elements, 1, "Sessions max_elements", WindowError)
        if not isinstance(merge_touching, bool):
            raise WindowError(
                f"Sessions merge_touching must be True or False, got {merge_touching!r}"
            )
        self.__attrs_init__(given, longest, max_elements, merge_touching)
        object.__setattr__(self, "without_unit", without_unit(gap=gap, max_duration=max_duration))

    @property
    def longest_own_window(self) -> int | None:
        """The gap; ``max_duration`` if the gap depends on the element, None without it."""
        return self.gap if isinstance(self.gap, int) else self.max_duration

    def assign(self, timestamp: int, value: Any = None) -> tuple[IntervalWindow, ...]:
        """The window of one gap that starts with the element.

        Raises:
            WindowError: The gap function returned no duration, or none of more than 0.
        """
        gap = self.gap if isinstance(self.gap, int) else self._ask(self.gap, value)
        return (window_at(within_time(timestamp), gap),)

    def _ask(self, gap_of: GapOf, value: Any) -> int:
        answer = gap_of(value)
        try:
            gap = duration_ms(answer, "gap")
        except TimeError:
            gap = 0
        if gap == 0:
            raise WindowError(
                f"the gap of a session must be a duration of more than 0, but "
                f"{stable_repr(gap_of)} returned {answer!r} for the value {reprlib.repr(value)}; "
                'return one such as "10 minutes" or 600000 (milliseconds)'
            )
        return gap if self.max_duration is None else min(gap, self.max_duration)

    def merge(self, windows: Iterable[IntervalWindow]) -> tuple[Merge, ...]:
        """As `merge_sized`, of windows that hold one element each."""
        if self.max_elements is None:
            return merge_overlapping(windows, self.max_duration, touching=self.merge_touching)
        return self.merge_sized(dict.fromkeys(windows, 1))

    @property
    def needs_sizes(self) -> bool:
        return self.max_elements is not None

    def merge_sized(self, sizes: Mapping[IntervalWindow, int]) -> tuple[Merge, ...]:
        if self.max_elements is None:
            return self.merge(sizes)
        return merge_overlapping(
            sizes, self.max_duration, sizes, self.max_elements, touching=self.merge_touching
        )

    def compatible_with(self, other: WindowFn) -> bool:
        """Any two sessions are that merge and are bounded alike; the first one's gap is used,
        as in Beam."""
        return (
            isinstance(other, Sessions)
            and self.max_duration == other.max_duration
            and self.max_elements == other.max_elements
            and self.merge_touching == other.merge_touching
        )

    def __str__(self) -> str:
        parts = [show_duration(self.gap) if isinstance(self.gap, int) else stable_repr(self.gap)]
        if self.max_duration is not None:
            parts.append(f"max_duration={show_duration(self.max_duration)}")
        if self.max_elements is not None:
            parts.append(f"max_elements={self.max_elements}")
        if self.merge_touching:
            parts.append("merge_touching=True")
        return f"Sessions({', '.join(parts)})"


def _check_longest(longest: int, gap: int | GapOf) -> None:
    if isinstance(gap, int) and longest < gap:
        raise WindowError(
            "Sessions max_duration must not be shorter than the gap, because one element alone "
            f"makes a session that long; got max_duration={show_duration(longest)} and "
            f"a gap of {show_duration(gap)}; give a longer max_duration or a shorter gap"
        )
    if longest == 0:
        raise WindowError(
            "Sessions max_duration must be more than 0 ms, got 0 ms; leave it out for sessions "
            "without a bound"
        )


def merge_overlapping(
    windows: Iterable[IntervalWindow],
    longest: int | None = None,
    sizes: Mapping[IntervalWindow, int] | None = None,
    most: int | None = None,
    *,
    touching: bool = False,
) -> tuple[Merge, ...]:
    """The plan that joins every run of windows that overlap into its span.

    Args:
        windows: In any order.
        longest: No span becomes longer (ms): the window that would make it so begins the next
            run. None: no limit.
        sizes: How many elements each window holds. Needed with ``most``.
        most: No run of several windows gets more elements, likewise.
        touching: A window also belongs to a run that ends where it begins.

    Source: Beam Java, ``MergeOverlappingIntervalWindows``.

    >>> overlapping = [IntervalWindow(20, 30), IntervalWindow(0, 10), IntervalWindow(5, 20)]
    >>> merge_overlapping(overlapping)[0].into
    IntervalWindow(start=0, end=20)
    """
    runs: list[list[IntervalWindow]] = []
    start = reach = held = 0
    for window in sorted(set(windows), key=bounds):
        # Only the last run is asked. A window that would make it too long would make those
        # before it too long as well; and runs that are neighbours have spans of their own,
        # where a window that found room in an earlier run might make two spans equal.
        fits = longest is None or window.end - start <= longest
        size = sizes[window] if sizes is not None else 0
        if most is not None and held + size > most:
            fits = False
        near = window.start <= reach if touching else window.start < reach
        if runs and near and fits:
            runs[-1].append(window)
            reach, held = max(reach, window.end), held + size
        else:
            runs.append([window])
            start, reach, held = window.start, window.end, size
    return tuple(
        Merge(tuple(run), IntervalWindow(run[0].start, max(window.end for window in run)))
        for run in runs
        if len(run) > 1
    )
