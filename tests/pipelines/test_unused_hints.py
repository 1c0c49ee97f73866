"""Hints of Beam's and Scio's programs that change nothing here are taken, and warned of by name."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError, UnusedHintWarning

AT_ITS_END = "run() returns when all has run; leave it out"


def warned(build: Callable[[], Any]) -> list[str]:
    """What a call warns of; each warning points at the line in this file that brought it about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        build()
    assert {(warning.category, warning.filename) for warning in caught} <= {
        (UnusedHintWarning, __file__)
    }
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    ("build", "hints"),
    [
        (
            lambda: beam.Create([1], reshuffle=False),
            [
                "Create: reshuffle=False has no effect: elements that are created are never spread "
                "anew; leave it out"
            ],
        ),
        (
            lambda: beam.Reshuffle(num_buckets=4),
            [
                "Reshuffle: num_buckets=4 has no effect: elements stay in their tasks, and what "
                "follows is not held to so many of them; leave it out"
            ],
        ),
        (
            lambda: beam.Map(str).with_resource_hints(min_ram="1 GB", cpu_count=2),
            [
                f"with_resource_hints: {hint} has no effect: a host decides what its workers have; "
                "leave it out"
                for hint in ("min_ram='1 GB'", "cpu_count=2")
            ],
        ),
        (
            lambda: beam.runners.DirectRunner(bundle_repeat=3),
            [
                "DirectRunner: bundle_repeat=3 has no effect: a runner only says where a pipeline "
                "runs; leave it out"
            ],
        ),
    ],
)
def test_a_hint_without_an_effect_is_warned_of_by_its_name_and_value(
    build: Callable[[], Any], hints: list[str]
) -> None:
    assert warned(build) == hints


@pytest.mark.parametrize(
    "build",
    [
        lambda: beam.Create([1]),
        lambda: beam.Create([1], reshuffle=True),
        lambda: beam.Reshuffle(),
        beam.runners.DirectRunner,
    ],
)
def test_what_is_done_anyway_is_not_warned_of(build: Callable[[], Any]) -> None:
    assert warned(build) == []


def test_what_happens_when_a_source_is_idle_is_refused_where_it_never_is() -> None:
    class Streaming:
        isStreaming = True

    rows: Any = Streaming()
    with pytest.raises(PipelineError) as refused:
        beam.FromDataFrame(rows, timestamp="at", watermark="0 s", idle="advance")
    assert str(refused.value) == (
        'idle="advance" says what happens after idle_after, which is missing; add '
        'idle_after="5 minutes", or as long as no row may mean nothing'
    )
