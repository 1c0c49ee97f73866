"""A stream of words that are counted, with panes of all timings and a drop: to be asked about."""

from beamlike.api.pipelines.elements import FlatMap, Map
from beamlike.api.pipelines.groups import CombinePerKey
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.windowing import WindowInto
from beamlike.model.combine import Count
from beamlike.model.triggers import AfterCount, AfterWatermark
from beamlike.model.windowfns import FixedWindows
from beamlike.testing.streams.stream import test_stream_of

WORDS = (
    test_stream_of()
    .add_elements_at_time("00:00:00", "foo bar")
    .add_elements_at_time("00:00:30", "foo")
    .advance_watermark_to("00:01:00")
    .add_elements_at_time("00:00:40", "bar")  # late
    .advance_watermark_to("00:02:00")
    .add_elements_at_time("00:00:50", "foo")  # too late
    .advance_watermark_to_infinity()
)


def windowed_words(pipeline: Pipeline) -> PCollection[str]:
    """The words in windows of a minute, with early and late panes."""
    return (
        pipeline
        | "Words" >> WORDS
        | "Split" >> FlatMap(str.split)
        | "Minutes"
        >> WindowInto(
            FixedWindows("1 minute"),
            trigger=AfterWatermark(early=AfterCount(2), late=AfterCount(1)),
            allowed_lateness="30 s",
            accumulation_mode="accumulating",
        )
    )


def word_counts(pipeline: Pipeline) -> PCollection[tuple[str, int]]:
    """Panes of all timings, and a drop::

    step  key    window                timing   #  ns  place    timestamp     value
    1     'foo'  [00:00:00, 00:01:00)  EARLY    0  -1  first    00:00:59.999  2
    2     'foo'  [00:00:00, 00:01:00)  ON_TIME  1  0            00:00:59.999  2
    2     'bar'  [00:00:00, 00:01:00)  ON_TIME  0  0   first    00:00:59.999  1
    3     'bar'  [00:00:00, 00:01:00)  LATE     1  1            00:00:59.999  2
    5     'foo'  [00:00:00, 00:01:00)  DROPPED         expired  00:00:50      'foo' (...)
    """
    words = windowed_words(pipeline) | "Pair" >> Map(lambda word: (word, word))
    return words | "Count" >> CombinePerKey(Count())
