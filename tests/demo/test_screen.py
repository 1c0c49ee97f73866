"""Progress: the same facts as plain lines and as a live panel."""

import io
from collections import Counter

from beamlike.demo.job import Progress
from beamlike.demo.pace import ArrivalFile
from beamlike.demo.screen import PlainScreen, RichScreen, screen_for

NOON = 1_357_059_600_000  # 12:00 in New York on the first of January
FILES = [ArrivalFile(number, 1_000, NOON, NOON + number) for number in range(24)]


def progress(batches: int, watermark: int | None = NOON) -> Progress:
    return Progress(batches, Counter(EARLY=1_200, ON_TIME=34, LATE=5), 6, watermark)


def test_plain_lines_come_now_and_then_and_at_the_end():
    stream = io.StringIO()
    with screen_for(stream, FILES) as screen:
        assert isinstance(screen, PlainScreen)
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


def test_a_terminal_gets_a_panel():
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    with screen_for(stream, FILES) as screen:
        assert isinstance(screen, RichScreen)
        screen.show(progress(3, watermark=None))
    for fact in ("3,000 of 24,000", "none yet", "1,200", "34"):
        assert fact in stream.getvalue()
