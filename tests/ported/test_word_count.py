"""Words counted in fixed windows: the first part of a series of articles on stream processing.

Original: ``BeamWordCountTest`` and ``BeamWordCount`` in ``word-count/`` of
mkuthan/stream-processing, commit ce36cac; the scenarios are those of the article "Stream
processing, part 1" (2022-01-28), but for the one of the latest timestamp, whose data has changed
since, and the one of the earliest, which is new.

What differs: the originals look at values, or into single panes, and none says what the pane infos
are; here each test says everything that came out and was dropped, step by step.
"""

from typing import Any

import pytest

from beamlike.scio import ScioContext, SCollection, WindowOptions
from beamlike.testing import dropped, emit_exactly, expect, late_pane, on_time_pane
from beamlike.testing import test_stream_of as stream_of

FIRST = ("00:00:00", "00:01:00")
SECOND = ("00:01:00", "00:02:00")
THIRD = ("00:02:00", "00:03:00")


def word_count_in_fixed_window(
    lines: SCollection[str], window_duration: str, options: WindowOptions
) -> SCollection[tuple[str, int]]:
    return (
        lines.flat_map(str.split)
        .with_fixed_windows(window_duration, options=options)
        .count_by_value()
    )


FOO_BAR_BAR = (
    stream_of().add_elements_at_time("00:00:00", "foo bar").add_elements_at_time("00:00:30", "bar")
)
ONE_WINDOW = (
    stream_of()
    .add_elements_at_time("00:00:00", "foo bar")
    .add_elements_at_time("00:00:30", "baz baz")
)
CONSECUTIVE = ONE_WINDOW.add_elements_at_time("00:01:00", "foo bar").add_elements_at_time(
    "00:01:30", "bar foo"
)
NOT_CONSECUTIVE = ONE_WINDOW.add_elements_at_time("00:02:00", "foo bar").add_elements_at_time(
    "00:02:30", "bar foo"
)
LATE = ONE_WINDOW.advance_watermark_to("00:01:00").add_elements_at_time("00:00:40", "foo foo")


def counted(window: tuple[str, str], step: int, **counts: int) -> list[Any]:
    """On-time panes that are the last of their windows."""
    return [on_time_pane(word, n, *window, is_last=True, step=step) for word, n in counts.items()]


def in_time(**counts: int) -> list[Any]:
    """On-time panes of the first window, after which late ones may come."""
    return [on_time_pane(word, n, *FIRST, is_last=False, step=2) for word, n in counts.items()]


TOO_LATE = dropped(
    "foo", "foo", at="00:00:40", window=FIRST, reason="expired", missed_by="1 ms", step=3
)

COUNTS: dict[str, tuple[Any, dict[str, Any], list[Any]]] = {
    "words aggregate should be empty for empty stream": (stream_of(), {}, []),
    "words should be aggregated into single fixed window": (
        ONE_WINDOW,
        {},
        counted(FIRST, 2, foo=1, bar=1, baz=2),
    ),
    "words should be aggregated into single fixed window with the latest timestamp": (
        FOO_BAR_BAR,
        {"timestamp_combiner": "latest"},
        [
            on_time_pane("foo", 1, *FIRST, is_last=True, timestamp="00:00:00", step=2),
            on_time_pane("bar", 2, *FIRST, is_last=True, timestamp="00:00:30", step=2),
        ],
    ),
    "words should be aggregated into single fixed window with the earliest timestamp": (
        FOO_BAR_BAR,
        {"timestamp_combiner": "earliest"},
        [
            on_time_pane("foo", 1, *FIRST, is_last=True, timestamp="00:00:00", step=2),
            on_time_pane("bar", 2, *FIRST, is_last=True, timestamp="00:00:00", step=2),
        ],
    ),
    "words should be aggregated into consecutive fixed windows": (
        CONSECUTIVE,
        {},
        [*counted(FIRST, 4, foo=1, bar=1, baz=2), *counted(SECOND, 4, foo=2, bar=2)],
    ),
    "words should be aggregated into non consecutive fixed windows": (
        NOT_CONSECUTIVE,
        {},
        [*counted(FIRST, 4, foo=1, bar=1, baz=2), *counted(THIRD, 4, foo=2, bar=2)],
    ),
    "late words should be silently dropped": (
        LATE,
        {},
        [*counted(FIRST, 2, foo=1, bar=1, baz=2), TOO_LATE, TOO_LATE],
    ),
    "late words within allowed lateness should be aggregated in late pane": (
        LATE,
        {"allowed_lateness": "30 seconds"},
        [
            *in_time(foo=1, bar=1, baz=2),
            late_pane("foo", 2, *FIRST, index=1, is_last=False, step=3),
        ],
    ),
    "late words within allowed lateness should be aggregated and accumulated in late pane": (
        LATE,
        {"allowed_lateness": "30 seconds", "accumulation_mode": "accumulating"},
        [
            *in_time(foo=1, bar=1, baz=2),
            late_pane("foo", 3, *FIRST, index=1, is_last=False, step=3),
        ],
    ),
}


@pytest.mark.parametrize(("lines", "options", "output"), COUNTS.values(), ids=COUNTS)
def test_word_count(sc: ScioContext, lines: Any, options: dict[str, Any], output: list[Any]):
    defaults = {"allowed_lateness": "0 s", "accumulation_mode": "discarding"}
    results = word_count_in_fixed_window(
        sc.test_stream(lines.advance_watermark_to_infinity()),
        "1 minute",
        WindowOptions(**(defaults | options)),
    )
    expect(results).to(emit_exactly(*output))
