"""Progress: facts as lines."""

from collections import Counter

from beamlike.demo.flights import ArrivalFile
from beamlike.demo.report import Screen

NOON = 1_357_059_600_000  # 12:00 in New York on the first of January
FILES = [ArrivalFile(number, 1_000, NOON, NOON + number) for number in range(24)]


def counted(batches: int) -> list[Counter[str]]:
    first = Counter(EARLY=1_000, ON_TIME=34, LATE=5)
    return [first, Counter(EARLY=200, DROPPED=6), *(Counter() for _ in range(batches - 2))]


def test_a_line_comes_when_a_twelfth_of_the_files_has_been_read():
    lines: list[str] = []
    screen = Screen(lines.append, FILES)
    for batches in range(1, 6):
        screen.show(counted(batches)[:batches], NOON)
    screen.show(counted(6), NOON + 1_000)
    assert lines == [
        "rows 2,000 of 24,000, watermark 01 Jan 12:00, early 1,200, on time 34, late 5, dropped 6",
        "rows 4,000 of 24,000, watermark 01 Jan 12:00, early 1,200, on time 34, late 5, dropped 6",
        "rows 6,000 of 24,000, watermark past the end, early 1,200, on time 34, late 5, dropped 6",
    ]
