"""Progress: facts as lines."""

import io
from collections import Counter

from beamlike.demo.job import Progress
from beamlike.demo.pace import ArrivalFile
from beamlike.demo.screen import Screen

NOON = 1_357_059_600_000  # 12:00 in New York on the first of January
FILES = [ArrivalFile(number, 1_000, NOON, NOON + number) for number in range(24)]


def progress(batches: int, watermark: int | None = NOON) -> Progress:
    return Progress(batches, Counter(EARLY=1_200, ON_TIME=34, LATE=5), 6, watermark)


def test_plain_lines_come_now_and_then_and_at_the_end():
    stream = io.StringIO()
    with Screen(stream, FILES) as screen:
        screen.show(progress(1))
        screen.show(progress(2))
        screen.show(progress(3))
        screen.show(progress(4))
        screen.show(progress(5))
        screen.show(progress(5, watermark=NOON + 1_000))
    assert stream.getvalue().splitlines() == [
        "rows 2,000 of 24,000, watermark 01 Jan 12:00, early 1,200, on time 34, late 5, dropped 6",
        "rows 4,000 of 24,000, watermark 01 Jan 12:00, early 1,200, on time 34, late 5, dropped 6",
        "rows 5,000 of 24,000, watermark past the end, early 1,200, on time 34, late 5, dropped 6",
    ]
