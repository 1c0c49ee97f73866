# ruff: noqa: B008 (that is how Beam has it)
"""Windows of a user's class that merge: what they say beyond their bounds is kept."""

from random import Random
from threading import Lock
from typing import Any

import apache_beam as beam
import pytest
from apache_beam import coders
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.test_stream import TestStream
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms import trigger, userstate, window

from beamlike.errors import UnsupportedError
from beamlike.runners.beam import BeamlikeRunner
from tests.beam_runner.scenarios.visits import (
    GAP,
    LikeSessions,
    Moments,
    TwentySeconds,
    Visit,
    Visits,
    click_of,
)
from tests.support.examples import examples

EARLY_AND_LATE = trigger.AfterWatermark(early=trigger.AfterCount(1), late=trigger.AfterCount(1))


CLICKS = (
    click_of(1, "phone:a"),
    click_of(1, "tablet:b"),
    click_of(9, "phone:c"),
    click_of(30, "phone:d"),
    click_of(5, "phone:e", "bob"),
    click_of(12, "phone:f"),
)


def clicks(p: Any) -> Any:
    timed = beam.Map(lambda element: element).with_output_types(tuple[str, str])
    return p | beam.Create(CLICKS) | timed | beam.WindowInto(Visits())


def test_visits_of_a_device_merge_and_those_of_two_stay_apart(host: str) -> None:
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        grouped = (
            clicks(p)
            | beam.GroupByKey()
            | beam.Map(
                lambda pair, w=beam.DoFn.WindowParam, t=beam.DoFn.TimestampParam: (
                    pair[0],
                    sorted(pair[1]),
                    repr(w),
                    t == w.max_timestamp(),
                )
            )
        )
        expected = [
            ("ann", ["phone:a", "phone:c", "phone:f"], "phone 1 to 22 in 3", True),
            ("ann", ["tablet:b"], "tablet 1 to 11 in 1", True),
            ("ann", ["phone:d"], "phone 30 to 40 in 1", True),
            ("bob", ["phone:e"], "phone 5 to 15 in 1", True),
        ]
        assert_that(grouped, equal_to(expected))


class Longest(beam.CombineFn):
    """The greatest texts, with a state that changes where it is."""

    def create_accumulator(self) -> list[str]:
        return []

    def add_input(self, accumulator: list[str], element: str) -> list[str]:
        accumulator.append(element)
        return accumulator

    def merge_accumulators(self, accumulators: Any) -> list[str]:
        return [text for accumulator in accumulators for text in accumulator]

    def extract_output(self, accumulator: list[str]) -> str:
        return max(accumulator, default="nothing")


def test_counts_and_combinations_of_visits(host: str) -> None:
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        visits = clicks(p)
        counts = (
            visits
            | beam.combiners.Count.PerKey()
            | "Counts" >> beam.Map(lambda pair, w=beam.DoFn.WindowParam: (*pair, repr(w)))
        )
        greatest = (
            visits
            | beam.CombinePerKey(Longest())
            | "Greatest" >> beam.Map(lambda pair, w=beam.DoFn.WindowParam: (*pair, repr(w)))
        )
        windows = (
            ("ann", "phone 1 to 22 in 3"),
            ("ann", "tablet 1 to 11 in 1"),
            ("ann", "phone 30 to 40 in 1"),
            ("bob", "phone 5 to 15 in 1"),
        )
        counted = [(user, n, w) for (user, w), n in zip(windows, (3, 1, 1, 1), strict=True)]
        latest = "phone:f", "tablet:b", "phone:d", "phone:e"
        best = [(user, text, w) for (user, w), text in zip(windows, latest, strict=True)]
        assert_that(counts, equal_to(counted), label="counts are right")
        assert_that(greatest, equal_to(best), label="the greatest are right")


def test_states_after_the_grouping_are_those_of_a_visit(host: str) -> None:
    class Count(beam.DoFn):
        SEEN = userstate.CombiningValueStateSpec("seen", sum)
        END = userstate.TimerSpec("end", beam.TimeDomain.WATERMARK)

        def process(
            self,
            pair: Any,
            seen: Any = beam.DoFn.StateParam(SEEN),
            end: Any = beam.DoFn.TimerParam(END),
            w: Any = beam.DoFn.WindowParam,
        ) -> None:
            seen.add(len(list(pair[1])))
            end.set(w.max_timestamp())

        @userstate.on_timer(END)
        def at_the_end(
            self,
            key: Any = beam.DoFn.KeyParam,
            seen: Any = beam.DoFn.StateParam(SEEN),
            w: Any = beam.DoFn.WindowParam,
        ) -> Any:
            yield key, seen.read(), repr(w)

    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        counts = clicks(p) | beam.GroupByKey() | beam.ParDo(Count())
        expected = [
            ("ann", 3, "phone 1 to 22 in 3"),
            ("ann", 1, "tablet 1 to 11 in 1"),
            ("ann", 1, "phone 30 to 40 in 1"),
            ("bob", 1, "phone 5 to 15 in 1"),
        ]
        assert_that(counts, equal_to(expected))


def expecting(host: str, stream: Any, mode: Any, lateness: int, expected: list[Any]) -> None:
    """Assert what comes out of visits with early and late panes."""
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        seen = (
            p
            | stream
            | beam.WindowInto(
                Visits(), trigger=EARLY_AND_LATE, accumulation_mode=mode, allowed_lateness=lateness
            )
            | beam.GroupByKey()
            | beam.Map(
                lambda pair, w=beam.DoFn.WindowParam, pane=beam.DoFn.PaneInfoParam: (
                    "".join(sorted(click.partition(":")[2] for click in pair[1])),
                    repr(w),
                    ("EARLY", "ON_TIME", "LATE")[pane.timing],
                )
            )
        )
        assert_that(seen, equal_to(expected))


def clicks_in_time_and_late() -> Any:
    """Clicks that join visits, of which one has ended; one that is late, one that is too late."""
    return (
        TestStream()
        .add_elements([click_of(1, "phone:a")])
        .add_elements([click_of(20, "phone:b")])
        .advance_watermark_to(12)
        .add_elements([click_of(10, "phone:c")])  # joins the visit that has ended
        .add_elements([click_of(11, "phone:d")])  # joins that and the one of b
        .advance_watermark_to(100)
        .add_elements([click_of(29, "phone:e")])  # within the allowed lateness
        .advance_watermark_to(1_000)
        .add_elements([click_of(28, "phone:f")])  # beyond it
        .advance_watermark_to_infinity()
    )


def test_panes_of_visits_that_accumulate(host: str) -> None:
    expected = [
        ("a", "phone 1 to 11 in 1", "EARLY"),
        ("b", "phone 20 to 30 in 1", "EARLY"),
        ("a", "phone 1 to 11 in 1", "ON_TIME"),
        ("ac", "phone 1 to 20 in 2", "EARLY"),
        ("abcd", "phone 1 to 30 in 4", "EARLY"),
        ("abcd", "phone 1 to 30 in 4", "ON_TIME"),
        ("abcde", "phone 1 to 39 in 5", "LATE"),
    ]
    expecting(host, clicks_in_time_and_late(), trigger.AccumulationMode.ACCUMULATING, 200, expected)


def test_panes_of_visits_that_discard(host: str) -> None:
    """An empty pane knows its visit, too."""
    expecting(
        host,
        TestStream()
        .add_elements([click_of(1, "phone:a")])
        .add_elements([click_of(5, "phone:b")])
        .advance_watermark_to(50)
        .advance_watermark_to_infinity(),
        trigger.AccumulationMode.DISCARDING,
        0,
        [
            ("a", "phone 1 to 11 in 1", "EARLY"),
            ("b", "phone 1 to 15 in 2", "EARLY"),
            ("", "phone 1 to 15 in 2", "ON_TIME"),
        ],
    )


def random_stream(seed: int) -> TestStream:
    """Clicks of one device, in bundles between moves of the watermark and of processing time."""
    random, stream, watermark = Random(seed), TestStream(), 0
    for _ in range(12):
        match random.randrange(4):
            case 0:
                watermark += random.randrange(1, 30)
                stream.advance_watermark_to(watermark)
            case 1:
                stream.advance_processing_time(random.randrange(1, 20))
            case _:
                size = random.randrange(1, 4)
                times = [max(0, watermark + random.randrange(-40, 30)) for _ in range(size)]
                users = [random.choice(("ann", "bob")) for _ in times]
                stream.add_elements(
                    [
                        click_of(time, f"phone:{number}", user)
                        for number, (time, user) in enumerate(zip(times, users, strict=True))
                    ]
                )
    return stream.advance_watermark_to_infinity()


TRIGGERS = (
    trigger.DefaultTrigger(),
    EARLY_AND_LATE,
    trigger.Repeatedly(trigger.AfterCount(2)),
    trigger.AfterWatermark(early=trigger.AfterProcessingTime(5)),
    trigger.AfterWatermark(late=trigger.AfterProcessingTime(5)),
    trigger.Repeatedly(trigger.AfterAny(trigger.AfterCount(3), trigger.AfterProcessingTime(7))),
    trigger.AfterEach(trigger.AfterCount(1), trigger.Repeatedly(trigger.AfterCount(2))),
)


def pane_shown(
    pair: Any,
    name: str,
    w: Any = beam.DoFn.WindowParam,
    t: Any = beam.DoFn.TimestampParam,
    pane: Any = beam.DoFn.PaneInfoParam,
) -> tuple[str, tuple[Any, ...]]:
    """A pane of one of both branches, with all that is known of it."""
    began = w.began if isinstance(w, Visit) else w.start
    place = pane.timing, pane.index, pane.is_first, pane.is_last
    return name, (pair[0], sorted(pair[1]), float(began), float(w.end), float(t), place)


def are_equal(panes: list[Any]) -> None:
    """Assert that both branches have the same panes, and some."""
    sessions, visits = ([pane for name, pane in panes if name == branch] for branch in ("s", "v"))
    assert sessions
    equal_to(sessions)(visits)


STREAMS = {"spark": 1}
"""How many streams there are for each trigger, where a stream takes long."""


@pytest.mark.parametrize("number", range(len(TRIGGERS)))
def test_visits_of_one_device_are_sessions(host: str, number: int) -> None:
    for seed in range(4 * number, 4 * number + STREAMS.get(host, examples(4))):
        panes_are_equal(host, seed)


def panes_are_equal(host: str, seed: int) -> None:
    """Run a random stream through sessions and through visits that are like them."""
    modes = trigger.AccumulationMode
    options = PipelineOptions(["--allow_unsafe_triggers"])
    with beam.Pipeline(runner=BeamlikeRunner(host), options=options) as p:
        stream = p | random_stream(seed)
        branches = [
            stream
            | f"Windows {name}"
            >> beam.WindowInto(
                window_fn,
                trigger=TRIGGERS[seed // 4],
                accumulation_mode=modes.ACCUMULATING if seed % 2 else modes.DISCARDING,
                allowed_lateness=20 * (seed % 3),
            )
            | f"Group {name}" >> beam.GroupByKey()
            | f"Show {name}" >> beam.Map(pane_shown, name)
            | f"All {name}" >> beam.WindowInto(window.GlobalWindows())
            for name, window_fn in (("s", window.Sessions(GAP)), ("v", LikeSessions()))
        ]
        assert_that(branches | beam.Flatten(), are_equal)


def test_windows_that_merge_may_have_no_length(host: str) -> None:
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        grouped = (
            p
            | beam.Create(
                [click_of(1.25, "phone:a"), click_of(1.5, "phone:b"), click_of(2, "phone:c")]
            )
            | beam.Map(lambda element: element)
            | beam.WindowInto(Moments())
            | beam.GroupByKey()
            | beam.Map(lambda pair, w=beam.DoFn.WindowParam: (sorted(pair[1]), repr(w)))
        )
        expected = [
            (["phone:a", "phone:b"], "phone 1.25 to 1.5 in 2"),
            (["phone:c"], "phone 2 to 2 in 1"),
        ]
        assert_that(grouped, equal_to(expected))


class Page:
    """A value that only its own coder takes to another process."""

    def __init__(self, name: str) -> None:
        self.name, self.lock = name, Lock()


class PageCoder(coders.Coder):
    def encode(self, value: Page) -> bytes:
        return value.name.encode()

    def decode(self, encoded: bytes) -> Page:
        return Page(encoded.decode())

    def to_type_hint(self) -> type:
        return Page


@pytest.mark.parametrize("window_fn", [Visits(), TwentySeconds()], ids=["merging", "fixed"])
def test_values_with_a_coder_are_grouped_in_such_windows(host: str, window_fn: Any) -> None:
    coders.registry.register_coder(Page, PageCoder)
    as_pages = beam.MapTuple(lambda user, click: (user, Page(click)))
    with beam.Pipeline(runner=BeamlikeRunner(host)) as p:
        names = (
            p
            | beam.Create([click_of(1, "phone:a"), click_of(2, "phone:b")])
            | beam.Map(lambda element: element).with_output_types(tuple[str, str])
            | beam.WindowInto(window_fn)
            | as_pages.with_output_types(tuple[str, Page])
            | beam.GroupByKey()
            | beam.MapTuple(lambda user, pages: (user, sorted(page.name for page in pages)))
        )
        assert_that(names, equal_to([("ann", ["phone:a", "phone:b"])]))


def test_collections_in_windows_of_different_classes_are_not_flattened(host: str) -> None:
    p = beam.Pipeline(runner=BeamlikeRunner(host))
    visits = clicks(p)
    sessions = visits | "Sessions" >> beam.WindowInto(window.Sessions(GAP))
    (sessions, visits) | "Both" >> beam.Flatten() | beam.Map(lambda element: element)
    with pytest.raises(UnsupportedError, match=r"'Both' flattens .* of Sessions and of Visits"):
        p.run()
