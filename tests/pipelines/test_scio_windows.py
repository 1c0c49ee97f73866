"""Scio's verbs about windows, times and panes."""

import warnings
from typing import Any

import attrs
import pytest

from beamlike import AfterCount, AfterWatermark, FixedWindows, Repeatedly, Sessions
from beamlike.errors import PipelineError, UnwiseStrategyWarning
from beamlike.model.panes import NO_FIRING
from beamlike.model.windows import GLOBAL_WINDOW
from beamlike.scio import ScioContext, SCollection, WindowedValue, WindowOptions
from beamlike.testing import test_stream_of as stream_of
from tests.support.pipelines.results_of_runs import shown_panes


def panes(collection: SCollection[Any]) -> list[tuple[Any, ...]]:
    return shown_panes(collection, "time", "windows")


MINUTE = 60_000


def timed(*pairs: tuple[Any, str]) -> SCollection[Any]:
    return ScioContext().parallelize_timestamped(pairs)


def windows_of(collection: SCollection[Any]) -> list[str]:
    return [str(window) for (_, window), _, _ in panes(collection.with_window())]


# -- windows ---------------------------------------------------------------------------------------


def test_fixed_windows():
    events = timed(("a", "00:00:59.999"), ("b", "00:01:00"))
    assert panes(events.with_fixed_windows("1 minute")) == [
        ("a", "00:00:59.999", "[00:00:00, 00:01:00)"),
        ("b", "00:01:00", "[00:01:00, 00:02:00)"),
    ]


def test_fixed_windows_with_an_offset():
    assert windows_of(timed(("a", "00:00:10")).with_fixed_windows("1 minute", "10 s")) == [
        "[00:00:10, 00:01:10)"
    ]


def test_sliding_windows_start_every_minute_if_they_are_longer_than_that():
    assert sorted(windows_of(timed(("a", "00:02:30")).with_sliding_windows("2 minutes"))) == [
        "[00:01:00, 00:03:00)",
        "[00:02:00, 00:04:00)",
    ]


def test_elements_between_sliding_windows_vanish():
    events = timed(("a", "00:00:05"), ("b", "00:00:15"))
    assert windows_of(events.with_sliding_windows("10 s", period="20 s")) == [
        "[00:00:00, 00:00:10)"
    ]


def test_sliding_windows_may_be_further_apart_than_they_are_long_from_any_offset_on():
    """Scio's issue 2745."""
    events = timed(("a", "1970-01-01T00:00:00Z"))
    assert windows_of(events.with_sliding_windows("24 hours", "25 hours", offset="23 hours")) == [
        "[1969-12-31 22:00:00, 22:00:00)"
    ]


def test_sessions_merge_where_they_are_grouped():
    events = timed(("a", "00:00:00"), ("b", "00:09:59"), ("c", "00:30:00"))
    assert panes(events.with_session_windows("10 minutes").group_by(lambda _: "joe")) == [
        (("joe", ["a", "b"]), "00:19:58.999", "[00:00:00, 00:19:59)"),
        (("joe", ["c"]), "00:39:59.999", "[00:30:00, 00:40:00)"),
    ]


def test_the_global_window_takes_the_place_of_others():
    events = timed(("a", "00:00:00")).with_fixed_windows("1 minute").with_global_window()
    assert windows_of(events) == ["global"]


@pytest.mark.parametrize(
    ("verb", "window"),
    [
        ("window_by_days", "[2024-02-29 00:00:00, 2024-03-01 00:00:00)"),
        ("window_by_weeks", "[2024-02-26 00:00:00, 2024-03-04 00:00:00)"),
        ("window_by_months", "[2024-02-01 00:00:00, 2024-03-01 00:00:00)"),
        ("window_by_years", "[2024-01-01 00:00:00, 2025-01-01 00:00:00)"),
    ],
)
def test_calendar_windows(verb: str, window: str):
    assert windows_of(getattr(timed(("a", "2024-02-29T12:00:00Z")), verb)(1)) == [window]


def test_weeks_begin_on_the_day_that_is_said():
    events = timed(("a", "2024-02-29T12:00:00Z")).window_by_weeks(1, start_day_of_week=7)
    assert windows_of(events) == ["[2024-02-25 00:00:00, 2024-03-03 00:00:00)"]


def test_any_window_function():
    events = timed(("a", "00:00:00")).with_window_fn(FixedWindows("2 minutes"))
    assert windows_of(events) == ["[00:00:00, 00:02:00)"]


# -- options ---------------------------------------------------------------------------------------


def test_options_that_are_not_said_are_as_before():
    first = timed(("a", "00:00:00")).with_fixed_windows(
        "1 minute",
        options=WindowOptions(
            trigger=AfterWatermark(early=AfterCount(1), late=AfterCount(1)),
            accumulation_mode="accumulating",
            allowed_lateness="1 hour",
            closing_behavior="fire_always",
            timestamp_combiner="latest",
            on_time_behavior="fire_if_non_empty",
        ),
    )
    second = first.with_session_windows("10 minutes")
    assert second.windowing == first.windowing.configured(second.windowing.window_fn)


def test_the_allowed_lateness_never_shrinks():
    options = WindowOptions(allowed_lateness="1 hour", accumulation_mode="discarding")
    events = timed(("a", "00:00:00")).with_fixed_windows("1 minute", options=options)
    shorter = events.with_global_window(WindowOptions(allowed_lateness="1 minute"))
    assert shorter.windowing.allowed_lateness == 60 * MINUTE


def test_a_closing_behavior_without_an_allowed_lateness_is_ignored_and_warned_of():
    with pytest.warns(UnwiseStrategyWarning) as caught:
        events = timed(("a", "00:00:00")).with_fixed_windows(
            "1 minute", options=WindowOptions(closing_behavior="fire_always")
        )
    assert [str(warning.message) for warning in caught] == [
        "'with_fixed_windows': the closing behavior 'fire_always' is ignored, because it counts "
        "only together with an allowed lateness; add allowed_lateness, or leave closing_behavior "
        "out"
    ]
    assert caught[0].filename == __file__
    assert events.windowing.closing_behavior.value == "fire_if_non_empty"


def test_a_closing_behavior_with_an_allowed_lateness_counts():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        events = timed(("a", "00:00:00")).with_fixed_windows(
            "1 minute",
            options=WindowOptions(
                closing_behavior="fire_always",
                allowed_lateness="1 minute",
                accumulation_mode="discarding",
            ),
        )
    assert events.windowing.closing_behavior.value == "fire_always"


REFUSED = [
    (WindowOptions(trigger=Repeatedly(AfterCount(1))), "requires that the allowed lateness be"),
    (WindowOptions(allowed_lateness="1 minute"), "requires that the accumulation mode be"),
    (WindowOptions(accumulation_mode="retracting"), "Unsupported accumulation mode 'retracting'"),
    ({"allowed_lateness": 0}, "takes WindowOptions, got {'allowed_lateness': 0}"),
]


@pytest.mark.parametrize(("options", "reason"), REFUSED)
def test_options_that_do_not_go_together_are_refused_with_the_name_of_the_verb(
    options: Any, reason: str
):
    events = timed(("a", "00:00:00"))
    with pytest.raises(PipelineError, match=r"^'with_fixed_windows'.*" + reason):
        events.with_fixed_windows("1 minute", options=options)


def test_windows_that_are_none_are_refused_with_the_name_of_the_verb():
    events = timed(("a", "00:00:00"))
    with pytest.raises(PipelineError, match=r"^'with_fixed_windows': FixedWindows must have 0 <="):
        events.with_fixed_windows("0 s")
    with pytest.raises(PipelineError, match=r"^'with_session_windows': Sessions need a gap"):
        events.with_session_windows(0)
    with pytest.raises(PipelineError, match=r"^'window_by_days': CalendarDays number"):
        events.window_by_days(0)


def test_a_stream_in_the_global_window_is_refused_where_it_is_grouped():
    stream = stream_of().add_elements("a").advance_watermark_to_infinity()
    with pytest.raises(PipelineError, match=r"^'count_by_value/Combine': .* in the global"):
        ScioContext().test_stream(stream).count_by_value()


# -- times, windows and panes as values ------------------------------------------------------------


def test_elements_with_their_times_windows_and_panes():
    events = timed(("a", "00:00:10")).with_fixed_windows("1 minute")
    window = FixedWindows("1 minute").assign(0)[0]
    assert panes(events.with_timestamp())[0][0] == ("a", 10_000)
    assert panes(events.with_window())[0][0] == ("a", window)
    assert panes(events.with_pane_info())[0][0] == ("a", NO_FIRING)
    assert panes(events.key_by(len).with_timestamped_values())[0][0] == (1, ("a", 10_000))


def test_a_pane_that_was_grouped_says_so():
    stream = (
        stream_of()
        .add_elements_at_time("00:00:00", "a")
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:30", "a")
        .advance_watermark_to_infinity()
    )
    options = WindowOptions(allowed_lateness="1 hour", accumulation_mode="accumulating")
    counts = (
        ScioContext()
        .test_stream(stream)
        .with_fixed_windows("1 minute", options=options)
        .count_by_value()
        .with_pane_info()
    )
    assert [
        (value, pane.timing.value, pane.index, pane.is_last)
        for (value, pane), _, _ in panes(counts)
    ] == [(("a", 1), "ON_TIME", 0, False), (("a", 2), "LATE", 1, False)]


def test_timestamp_by_moves_elements_to_later_times():
    events = ScioContext().parallelize(["00:00:10", "00:01:10"]).timestamp_by(lambda it: it)
    assert panes(events.with_fixed_windows("1 minute")) == [
        ("00:00:10", "00:00:10", "[00:00:00, 00:01:00)"),
        ("00:01:10", "00:01:10", "[00:01:00, 00:02:00)"),
    ]


def test_timestamp_by_moves_elements_back_as_far_as_is_allowed():
    events = timed(("a", "00:01:00"))
    back = events.timestamp_by(lambda _: "00:00:30", allowed_timestamp_skew="30 s")
    assert panes(back) == [("a", "00:00:30", "global")]
    too_far = events.timestamp_by(lambda _: "00:00:29.999", allowed_timestamp_skew="30 s")
    with pytest.raises(PipelineError, match=r"Cannot output with timestamp 00:00:29.999\. "):
        panes(too_far)


# -- to_windowed -----------------------------------------------------------------------------------


def test_functions_of_a_windowed_collection_see_everything():
    seen: list[WindowedValue[str]] = []

    def look(windowed_value: WindowedValue[str]) -> WindowedValue[str]:
        seen.append(windowed_value)
        return windowed_value.with_value(windowed_value.value.upper())

    events = timed(("a", "00:00:10")).with_fixed_windows("1 minute")
    assert panes(events.to_windowed().map(look).to_scollection()) == [
        ("A", "00:00:10", "[00:00:00, 00:01:00)")
    ]
    assert seen == [WindowedValue("a", 10_000, FixedWindows("1 minute").assign(0)[0], NO_FIRING)]


def test_of_what_they_return_only_element_and_time_count():
    def elsewhere(windowed_value: WindowedValue[str]) -> WindowedValue[str]:
        return attrs.evolve(windowed_value.with_timestamp("00:00:20"), window=GLOBAL_WINDOW)

    events = timed(("a", "00:00:10")).with_fixed_windows("1 minute")
    assert panes(events.to_windowed().map(elsewhere).to_scollection()) == [
        ("a", "00:00:20", "[00:00:00, 00:01:00)")
    ]


def test_a_windowed_collection_filters_lists_and_keys():
    events = (
        timed(("a", "00:00:10"), ("b", "00:01:10")).with_fixed_windows("1 minute").to_windowed()
    )
    early = events.filter(lambda it: it.timestamp < MINUTE).to_scollection()
    twice = events.flat_map(lambda it: [it, it.with_value(it.value * 2)]).to_scollection()
    keyed = events.key_by(lambda it: str(it.window)).to_scollection()
    assert [pane[0] for pane in panes(early)] == ["a"]
    assert [pane[0] for pane in panes(twice)] == ["a", "aa", "b", "bb"]
    assert [pane[0] for pane in panes(keyed)] == [
        ("[00:00:00, 00:01:00)", "a"),
        ("[00:01:00, 00:02:00)", "b"),
    ]


def test_an_earlier_time_fails():
    events = timed(("a", "00:00:10")).to_windowed().map(lambda it: it.with_timestamp(0))
    with pytest.raises(PipelineError, match=r"^'map\(<lambda>\)'.* Cannot output with timestamp"):
        panes(events.to_scollection())


def test_a_function_that_returns_a_bare_element_fails():
    events: Any = timed(("a", "00:00:10")).to_windowed()
    with pytest.raises(PipelineError, match=r"returned 'a', .*; write it\.with_value"):
        panes(events.map(lambda it: it.value).to_scollection())


def test_options_and_window_functions_in_the_place_of_a_duration_are_sent_to_their_own():
    words = ScioContext().parallelize(["a"])
    options = (
        r"'with_fixed_windows' needs a duration and got WindowOptions.*options=WindowOptions\("
    )
    with pytest.raises(PipelineError, match=options):
        words.with_fixed_windows("1 minute", WindowOptions())  # type: ignore[arg-type]
    with pytest.raises(PipelineError, match=r"got Sessions\(1m\); write with_window_fn\("):
        words.with_session_windows(Sessions("1 minute"))  # type: ignore[arg-type]
    with pytest.raises(
        PipelineError, match=r"'with_sliding_windows' needs a duration and got Wind"
    ):
        words.with_sliding_windows("1 minute", None, WindowOptions())  # type: ignore[arg-type]
