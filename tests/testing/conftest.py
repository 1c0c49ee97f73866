"""One run that has everything a matcher can look at."""

import pytest

from beamlike import AfterCount, AfterWatermark, FixedWindows
from beamlike.testing import Results, TestStream


@pytest.fixture
def results() -> Results:
    """Two users in one window, one of them in another one; all timings, and a drop.

    ::

        step  key    window                timing   #  ns  place    value
        1     'ben'  [00:00:00, 00:01:00)  EARLY    0  -1  first    ['x', 'y']
        2     'joe'  [00:00:00, 00:01:00)  EARLY    0  -1  first    ['a', 'b']
        3     'joe'  [00:00:00, 00:01:00)  ON_TIME  1  0            ['a', 'b']
        3     'ben'  [00:00:00, 00:01:00)  ON_TIME  1  0            ['x', 'y']
        4     'joe'  [00:00:00, 00:01:00)  LATE     2  1            ['a', 'b', 'c']
        6     'joe'  [00:00:00, 00:01:00)  DROPPED         expired  'e' (missed by 1ms)
        8     'joe'  [00:03:00, 00:04:00)  ON_TIME  0  0   only     ['d']
    """
    return (
        TestStream()
        .add_elements_at_time("00:00:10", ("joe", "a"))
        .add_elements_at_time("00:00:20", ("ben", "x"), ("ben", "y"))
        .add_elements_at_time("00:00:30", ("joe", "b"))
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:40", ("joe", "c"))  # late
        .advance_watermark_to("00:02:00")
        .add_elements_at_time("00:00:50", ("joe", "e"))  # too late
        .add_elements_at_time("00:03:30", ("joe", "d"))
        .advance_watermark_to_infinity()
        .run(
            window=FixedWindows("1 minute"),
            trigger=AfterWatermark(early=AfterCount(2), late=AfterCount(1)),
            allowed_lateness="1 minute",
            accumulation="accumulating",
        )
    )
