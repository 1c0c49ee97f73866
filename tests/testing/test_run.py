"""Running a stream: the options, the checks of a pipeline, and the hosts."""

from typing import Any

import pytest

from beamlike import AfterCount, AfterWatermark, FixedWindows, GlobalWindows, Repeatedly, Sessions
from beamlike.errors import TestStreamError, UnsafeTriggerError, WindowingError
from beamlike.model.combine import Count
from beamlike.testing import TestStream, dropped, early_pane, emit_exactly, on_time_pane
from tests.support.refusals import refusal

TWO_WORDS = (
    TestStream()
    .add_elements_at_time("00:00:10", ("joe", "a"))
    .add_elements_at_time("00:00:20", ("joe", "b"))
    .advance_watermark_to_infinity()
)


def test_values_are_collected_and_discarded_by_default() -> None:
    results = TWO_WORDS.run(window=FixedWindows("1 minute"))

    results.should(
        emit_exactly(on_time_pane("joe", ["a", "b"], "00:00:00", "00:01:00", is_last=True, step=2))
    )
    assert len(results.panes) == 1
    assert results.drops == ()


def test_an_aggregate_makes_the_values() -> None:
    results = TWO_WORDS.run(window=FixedWindows("1 minute"), aggregate=Count())

    results.should(emit_exactly(on_time_pane("joe", 2, "00:00:00", "00:01:00", is_last=True)))


def test_every_option_reaches_the_windowing() -> None:
    results = TWO_WORDS.run(
        window=FixedWindows("1 minute"),
        trigger=Repeatedly(AfterCount(1)),
        accumulation="accumulating",
        allowed_lateness="1 minute",
        timestamp_combiner="earliest",
        closing_behavior="fire_always",
        on_time_behavior="fire_if_non_empty",
    )

    results.should(
        emit_exactly(
            early_pane(
                "joe", ["a"], "00:00:00", "00:01:00", timestamp="00:00:10", is_last=False, step=0
            ),
            early_pane(
                "joe",
                ["a", "b"],
                "00:00:00",
                "00:01:00",
                index=1,
                timestamp="00:00:20",
                is_last=False,
                step=1,
            ),
            # Nothing new, but the closing pane was asked for.
            on_time_pane("joe", ["a", "b"], "00:00:00", "00:01:00", index=2, is_last=True, step=2),
        )
    )


def test_a_stream_is_checked_as_a_pipeline_is() -> None:
    with pytest.raises(WindowingError, match="requires that the allowed lateness be specified"):
        TWO_WORDS.run(window=FixedWindows("1 minute"), trigger=Repeatedly(AfterCount(1)))
    with pytest.raises(WindowingError, match="requires that the accumulation mode be specified"):
        TWO_WORDS.run(window=Sessions("1 minute"), allowed_lateness="1 minute")
    with pytest.raises(WindowingError, match="a stream in the global window"):
        TWO_WORDS.run(window=GlobalWindows())


FINISHES: dict[str, Any] = {
    "window": FixedWindows("1 minute"),
    "trigger": AfterWatermark(),
    "allowed_lateness": "1 minute",
    "accumulation": "discarding",
}


def test_an_unsafe_trigger_is_refused_unless_it_is_allowed() -> None:
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", ("joe", "a"))
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:20", ("joe", "b"))
        .advance_watermark_to_infinity()
    )

    with pytest.raises(UnsafeTriggerError):
        stream.run(**FINISHES)
    results = stream.run(**FINISHES, allow_unsafe_trigger=True)

    results.should(
        emit_exactly(
            on_time_pane("joe", ["a"], "00:00:00", "00:01:00", is_last=True, step=1),
            dropped(
                "joe", "b", at="00:00:20", window=("00:00:00", "00:01:00"), reason="closed", step=2
            ),
        )
    )


def test_an_unchecked_strategy_has_the_same_defaults() -> None:
    checked = TWO_WORDS.run(window=Sessions("1 minute"))
    unchecked = TWO_WORDS.run(window=Sessions("1 minute"), allow_unsafe_trigger=True)

    assert unchecked == checked


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"aggregate": Count},
            "aggregate must be a combine function such as Count() of beamlike.combine_fns, "
            f"got {Count!r}; write Count()",
        ),
        (
            {"aggregate": sum},
            "aggregate must be a combine function such as Count() of beamlike.combine_fns, got ",
        ),
        ({"host": "flink"}, 'host must be "memory", "local" or "spark", got \'flink\''),
        (
            {"spark": object()},
            'a Spark session was given, but the host is "memory"; add host="spark"',
        ),
        (
            {"spark": object(), "host": "local"},
            'a Spark session was given, but the host is "local"; add host="spark"',
        ),
    ],
)
def test_a_run_refuses_what_it_cannot_use(options: dict[str, Any], message: str) -> None:
    assert refusal(
        TestStreamError, lambda: TWO_WORDS.run(window=Sessions("1 minute"), **options)
    ).startswith(message)


@pytest.mark.parametrize(
    ("positional", "options", "message"),
    [
        (
            (),
            {"window": Sessions("1 minute"), "triger": None},
            "run has no argument 'triger'; write trigger=",
        ),
        ((), {"windw": None}, "run has no argument 'windw'; write window="),
        (
            (),
            {"xyz": 1},
            "run has no argument 'xyz'; it takes window, strategy, on_error, aggregate, host, "
            "spark, allow_unsafe_trigger, trigger, accumulation, allowed_lateness, "
            "timestamp_combiner, closing_behavior, on_time_behavior, late_check, unchanged",
        ),
        ((), {}, "run needs window; give window=FixedWindows(...)"),
        ((5, 6), {}, "run: 5 has no name; write window=..."),
    ],
)
def test_arguments_of_a_run_have_their_names(
    positional: tuple[Any, ...], options: dict[str, Any], message: str
) -> None:
    assert refusal(TestStreamError, lambda: TWO_WORDS.run(*positional, **options)) == message


def test_printed_results_are_the_table_of_everything() -> None:
    assert str(TWO_WORDS.run(window=FixedWindows("1 minute"))) == (
        "  step  key    window                timing   #  ns  place  timestamp     value\n"
        "  2     'joe'  [00:00:00, 00:01:00)  ON_TIME  0  0   only   00:00:59.999  ['a', 'b']"
    )
