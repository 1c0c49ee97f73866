"""Transforms that let elements pass, and those of texts."""

import logging
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError
from beamlike.model.triggers import AfterCount, AfterProcessingTime, Never, Repeatedly, Trigger
from beamlike.testing import TestStream

MINUTES = beam.WindowInto(beam.FixedWindows("1 minute"))


def values(pcoll: beam.PCollection[Any]) -> list[Any]:
    """Everything that comes out of a collection when its pipeline runs, in order."""
    return [came.element.value for came in pcoll.pipeline.run().out_of(pcoll.edge)]


def tea() -> beam.PCollection[str]:
    return beam.Pipeline() | beam.Create([beam.TimestampedValue("tea", "00:00:10.5")])


def test_elements_are_printed_and_go_on(capsys: pytest.CaptureFixture[str]):
    assert values(tea() | MINUTES | beam.LogElements(prefix="> ")) == ["tea"]
    assert capsys.readouterr().out == "> tea\n"


def test_elements_are_printed_with_their_time_window_and_pane(capsys: pytest.CaptureFixture[str]):
    shown = beam.LogElements("Log", with_timestamp=True, with_window=True)
    _ = values(tea() | MINUTES | shown)
    _ = values(tea() | MINUTES | beam.LogElements(with_timestamp=True, use_epoch_time=True))
    _ = values(tea() | beam.LogElements(with_window=True))
    _ = values(tea() | beam.LogElements(with_pane_info=True))
    assert capsys.readouterr().out.splitlines() == [
        "tea, timestamp='1970-01-01T00:00:10.500000Z', window(start=1970-01-01T00:00:00Z, "
        "end=1970-01-01T00:01:00Z)",
        "tea, timestamp=10",
        "tea, window(start=-infinity, end=end of time)",
        "tea, pane_info=PaneInfo(timing=<Timing.UNKNOWN: 'UNKNOWN'>, index=0, "
        "nonspeculative_index=0, is_first=True, is_last=True)",
    ]


def test_elements_are_logged_at_a_level(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO):
        _ = values(tea() | "Quiet" >> beam.LogElements(level=logging.DEBUG))
        _ = values(tea() | "Loud" >> beam.LogElements(prefix="100% ", level=logging.WARNING))
    assert caplog.record_tuples == [("beamlike.LogElements", logging.WARNING, "100% tea")]
    with pytest.raises(PipelineError, match=r"level must be one such as logging.INFO, got 'info'"):
        beam.LogElements(level="info")  # type: ignore[arg-type]


def test_a_tee_gives_elements_to_others_too():
    def lengths(words: beam.PCollection[str]) -> None:
        sides["lengths"] = words | beam.Map(len)

    sides: dict[str, Any] = {}
    pipeline = beam.Pipeline()
    words = pipeline | beam.Create(["a", "bb"])
    passed = words | beam.Tee(lengths, "Upper" >> beam.Map(str.upper))
    result = pipeline.run()
    assert passed is words
    assert [came.element.value for came in result.out_of(sides["lengths"].edge)] == [1, 2]
    upper = next(node for node in pipeline.nodes if node.label == "Tee/Upper")
    assert [edge.node.label for edge in pipeline.outputs] == [
        "Create",
        "Tee/lengths/Map(len)",
        upper.label,
    ]


def test_a_tee_needs_transforms_or_functions():
    with pytest.raises(PipelineError, match=r"Tee needs transforms such as Map\(f\), .* got 5$"):
        beam.Tee(5)  # type: ignore[arg-type]


def test_an_element_waits_until_the_window_of_another_collection_is_done():
    pipeline = beam.Pipeline()
    two = TestStream().add_elements_at_time("00:00:05", "first")
    two = two.add_elements_at_time("00:01:05", "second")
    one = TestStream().add_elements_at_time("00:00:10", "s").advance_watermark_to("00:01:00")
    words = pipeline | "Words" >> two.advance_watermark_to_infinity() | MINUTES
    saved = pipeline | "Saved" >> one.advance_watermark_to_infinity() | "Minutes" >> MINUTES
    waited = words | beam.WaitOn(saved)
    pipeline.keep(words, saved)
    result = pipeline.run()
    came = {
        name: [(it.step, it.element.value, it.element.timestamp) for it in result.out_of(of.edge)]
        for name, of in (("words", words), ("saved", saved), ("waited", waited))
    }
    assert came == {
        "words": [(0, "first", 5_000), (2, "second", 65_000)],
        "saved": [(1, "s", 10_000)],
        "waited": [(3, "first", 5_000), (5, "second", 65_000)],
    }


@pytest.mark.parametrize(
    "trigger",
    [
        AfterCount(3),
        Repeatedly(AfterCount(3)),
        Repeatedly(AfterProcessingTime("10 s")),
        Never(),
    ],
    ids=str,
)
def test_an_element_waits_for_the_watermark_whatever_the_trigger_of_what_it_waits_for(
    trigger: Trigger,
):
    pipeline = beam.Pipeline()
    two = TestStream().add_elements_at_time("00:00:05", "first")
    two = two.add_elements_at_time("00:01:05", "second")
    one = TestStream().add_elements_at_time("00:00:10", "s").advance_watermark_to("00:01:00")
    words = pipeline | "Words" >> two.advance_watermark_to_infinity() | MINUTES
    fired = beam.WindowInto(
        beam.FixedWindows("1 minute"),
        trigger=trigger,
        accumulation_mode="accumulating",
        allowed_lateness="0 s",
    )
    saved = pipeline | "Saved" >> one.advance_watermark_to_infinity() | "Fired" >> fired

    waited = words | beam.WaitOn(saved)

    assert [
        (it.step, it.element.value, it.element.timestamp)
        for it in pipeline.run().out_of(waited.edge)
    ] == [(3, "first", 5_000), (5, "second", 65_000)]


def test_waiting_needs_collections():
    with pytest.raises(PipelineError, match=r"WaitOn needs collections, got \[1\]"):
        beam.WaitOn([1])  # type: ignore[arg-type]


def test_an_impulse_is_one_element():
    assert values(beam.Pipeline() | beam.Impulse()) == [b""]


def test_elements_as_texts():
    assert [1, None] | beam.ToString.Element() == ["1", "None"]
    assert [("a", 1)] | beam.ToString.Kvs() == ["a,1"]
    assert [[1, 2, 3]] | beam.ToString.Iterables("; ") == ["1; 2; 3"]


LINES = ["tea: 3, milk: 1", "salt"]


@pytest.mark.parametrize(
    ("transform", "found"),
    [
        (beam.Regex.matches(r"\w+"), ["tea", "salt"]),
        (beam.Regex.matches(r"(\w+): (\d)", 2), ["3"]),
        (beam.Regex.matches(r"(?P<what>\w+):", group="what"), ["tea"]),
        (
            beam.Regex.all_matches(r"(\w+)(: \d)?"),
            [["tea: 3", "tea", ": 3"], ["salt", "salt", None]],
        ),
        (beam.Regex.matches_kv(r"(\w+): (\d)", 1, 2), [("tea", "3")]),
        (beam.Regex.matches_kv(r"(\w+): (\d)", 1), [("tea", "tea: 3")]),
        (beam.Regex.find(r"\d"), ["3"]),
        (beam.Regex.find_all(r"\d*", outputEmpty=False), [["3", "1"], []]),
        (
            beam.Regex.find_all(r"(\w+): \d", beam.Regex.ALL),
            [[("tea: 3", "tea"), ("milk: 1", "milk")], []],
        ),
        (beam.Regex.find_kv(r"(\w+): (\d)", 1, 2), [("tea", "3"), ("milk", "1")]),
        (beam.Regex.replace_all(r"\d", "n"), ["tea: n, milk: n", "salt"]),
        (beam.Regex.replace_first(r"\d", "n"), ["tea: n, milk: 1", "salt"]),
        (beam.Regex.split(r"[:, ]"), [["tea", "3", "milk", "1"], ["salt"]]),
        (
            beam.Regex.split(r"[:, ]", outputEmpty=True),
            [["tea", "", "3", "", "milk", "", "1"], ["salt"]],
        ),
    ],
)
def test_regular_expressions(transform: Any, found: Any):
    assert LINES | transform == found


def test_no_regular_expression_is_refused_by_the_transform():
    with pytest.raises(PipelineError) as refusal:
        beam.Regex.find("(")
    assert str(refusal.value) == (
        "Regex.find needs a regular expression, got '(': missing ), unterminated subpattern at "
        "position 0"
    )
