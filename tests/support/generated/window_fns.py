"""Window functions as users write them."""

from random import Random

import attrs

from beamlike.model.sessions import Sessions
from beamlike.model.windowfns import FixedWindows, Merge, MergingWindowFn, WindowFn
from beamlike.model.windows import GLOBAL_WINDOW, IntervalWindow
from tests.support.generated.strategies import gap_of_number


@attrs.frozen
class Shifts(WindowFn):
    """Not merging: by its value an element is in no window, in one, in two, or in all of time."""

    length: int

    def assign(self, timestamp, value=None):
        (shift,) = FixedWindows(self.length).assign(timestamp)
        long = IntervalWindow(shift.start, shift.end + 3)
        return ((), (shift,), (shift, long), (long, GLOBAL_WINDOW))[value % 4]


@attrs.frozen
class Touching(MergingWindowFn):
    """Merging: sessions as in Flink, where windows that only touch are one."""

    gap: int

    def assign(self, timestamp, value=None):
        return (IntervalWindow(timestamp, timestamp + self.gap),)

    def merge(self, windows):
        runs = []
        for window in sorted(windows):
            if runs and window.start <= max(one.end for one in runs[-1]):
                runs[-1].append(window)
            else:
                runs.append([window])
        return tuple(
            Merge(tuple(run), IntervalWindow(run[0].start, max(one.end for one in run)))
            for run in runs
            if len(run) > 1
        )


@attrs.frozen
class Absorbing(MergingWindowFn):
    """Merging: a large window, once it is there, takes in the small ones that lie inside it."""

    large: int

    def assign(self, timestamp, value=None):
        return FixedWindows(1 if value % 3 else self.large).assign(timestamp)

    def merge(self, windows):
        inside = {}
        for window in sorted(windows):
            inside.setdefault(FixedWindows(self.large).assign(window.start)[0], []).append(window)
        return tuple(
            Merge(tuple(parts), large)
            for large, parts in inside.items()
            if large in parts and len(parts) > 1
        )


def any_user_fn(random: Random) -> WindowFn:
    """A window function that a user wrote, or sessions with a function for the gap or a bound."""
    length = random.randint(2, 12)
    kinds: tuple[WindowFn, ...] = (
        Shifts(length),
        Touching(length),
        Absorbing(length),
        Sessions(gap_of_number),
        Sessions(length, max_duration=length + random.randint(0, 15)),
        Sessions(gap_of_number, max_duration=random.randint(1, 15)),
    )
    return kinds[random.randrange(len(kinds))]
