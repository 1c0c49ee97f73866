# ruff: noqa: B008 (that is how parameters ask)
"""What becomes of it when a function with states and timers raises: on all hosts the same."""

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.transforms import userstate
from beamlike.beam.transforms.timeutil import TimeDomain
from beamlike.errors import PipelineError, TransformError
from beamlike.hosts.in_process import run_pipeline
from beamlike.hosts.local.nodes import local_worker_of
from beamlike.machine.events import DropReason
from beamlike.model.graph import MAIN, Edge
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.testing import TestStream
from tests.support.pipelines.in_layers import run_in_letters


class Sums(beam.DoFn[Any, Any]):
    """Adds numbers up and shows the sum ten seconds after each, and what it kept at the end.

    The texts among the numbers say what fails, after the states have changed.
    """

    SUM = userstate.ReadModifyWriteStateSpec("sum", beam.coders.VarIntCoder())
    KEPT = userstate.BagStateSpec("kept", beam.coders.PickleCoder())
    SHOW = userstate.TimerSpec("show", TimeDomain.WATERMARK)

    def process(  # type: ignore[override]
        self,
        element: tuple[str, Any],
        at: Any = beam.DoFn.TimestampParam,
        total: Any = beam.DoFn.StateParam(SUM),
        kept: Any = beam.DoFn.StateParam(KEPT),
        show: Any = beam.DoFn.TimerParam(SHOW),
    ) -> Iterable[Any]:
        key, value = element
        yield key, value
        kept.add(value)
        show.set(at + 10)
        if value == "raise":
            total.write(1_000)
            show.clear()
            raise ValueError("no such number")
        if value == "coder":
            total.write("text")
        if value == "timer":
            show.set(at + 100)
        total.write((total.read() or 0) + (value if isinstance(value, int) else 0))

    @userstate.on_timer(SHOW)
    def on_show(
        self,
        key: Any = beam.DoFn.KeyParam,
        total: Any = beam.DoFn.StateParam(SUM),
        kept: Any = beam.DoFn.StateParam(KEPT),
    ) -> Iterable[Any]:
        found = total.read()
        total.write(0)
        if "spoil show" in kept.read():
            raise KeyError("show")
        yield key, "sum", found

    @userstate.on_window_expiration
    def on_end(
        self,
        key: Any = beam.DoFn.KeyParam,
        total: Any = beam.DoFn.StateParam(SUM),
        kept: Any = beam.DoFn.StateParam(KEPT),
    ) -> Iterable[Any]:
        if "spoil end" in kept.read():
            raise KeyError("end")
        yield key, "end", total.read(), kept.read()


def stream(*values: Any) -> TestStream:
    """The values of a key in the first minute, one every second, and the end of time."""
    elements = TestStream()
    for second, value in enumerate(values):
        elements = elements.add_elements_at_time(f"00:00:0{second}", ("k", value))
    return elements.advance_watermark_to("00:00:30").advance_watermark_to_infinity()


def applied(transform: Any, *values: Any) -> tuple[beam.Pipeline, Any]:
    pipeline = beam.Pipeline()
    minutes = pipeline | stream(*values) | beam.WindowInto(beam.window.FixedWindows(60))
    return pipeline, minutes | "Sums" >> transform


def in_layers(nodes: Any) -> PipelineRun:
    wanted = [Edge(node, tag) for node in nodes for tag in (MAIN, "bad")]
    return run_in_letters(nodes, dice=Random(1), wanted=wanted)


Host = Callable[[Any], PipelineRun]
HOSTS = pytest.mark.parametrize(
    "run",
    [run_pipeline, lambda nodes: run_pipeline(nodes, local_worker_of), in_layers],
    ids=["memory", "local", "layers"],
)


def came(run: PipelineRun, pcoll: Any) -> list[Any]:
    return [it.element.value for it in run.out_of(pcoll.edge)]


# -- fail ------------------------------------------------------------------------------------------

MINUTE = "window [00:00:00, 00:01:00)"


@HOSTS
@pytest.mark.parametrize(
    ("value", "problem", "place"),
    [
        (
            "raise",
            "ValueError: no such number in Sums.process",
            "the element ('k', 'raise') at 00:00:01 (1000 ms)",
        ),
        (
            "coder",
            "CoderError: VarIntCoder() of the state 'sum' cannot take 'text': ",
            "the element ('k', 'coder') at 00:00:01 (1000 ms)",
        ),
        (
            "timer",
            "UserStateError: Attempted to set an event-time timer 'show' with a firing timestamp "
            "of 00:01:41 that is after the expiration of window [00:00:00, 00:01:00), ",
            "the element ('k', 'timer') at 00:00:01 (1000 ms)",
        ),
        (
            "spoil show",
            "KeyError: 'show' in Sums.on_show",
            "the timer 'show' at 00:00:11 (11000 ms)",
        ),
        ("spoil end", "KeyError: 'end' in Sums.on_end", "the end of the window"),
    ],
)
def test_what_raises_is_named_with_transform_method_cause_window_and_key(
    run: Host, value: str, problem: str, place: str
) -> None:
    pipeline, _ = applied(beam.ParDo(Sums()), 1, value)
    with pytest.raises(TransformError) as raised:
        run(pipeline.nodes)
    text = str(raised.value)
    assert text.startswith(f"'Sums' raised {problem}")
    assert text.endswith(f" for {place}, {MINUTE}, key 'k'")


# -- drop ------------------------------------------------------------------------------------------


def lost(run: PipelineRun) -> list[Any]:
    return [
        (it.label, it.key, it.drop.reason, str(it.drop.window), it.drop.timestamp, it.drop.error)
        for it in run.lost
    ]


@HOSTS
def test_what_raises_may_be_dropped_and_its_changes_are_undone(run: Host) -> None:
    dropping = beam.ParDo(Sums()).with_on_error("drop")
    pipeline, sums = applied(dropping, 1, "raise", "coder", 2, "timer")
    found = run(pipeline.nodes)
    assert came(found, sums) == [*(("k", 1), ("k", 2)), ("k", "sum", 3), ("k", "end", 0, [1, 2])]
    window = "[00:00:00, 00:01:00)"
    ours = [(*it[:5], it[5].partition(":")[0]) for it in lost(found)]
    place = ("Sums", "k", DropReason.FAILED, window)
    assert ours == [
        (*place, 1_000, "Sums.process raised ValueError"),
        (*place, 2_000, "Sums.process raised CoderError"),
        (*place, 4_000, "Sums.process raised UserStateError"),
    ]


@HOSTS
def test_a_timer_that_raises_has_fired_and_the_end_of_a_window_that_raises_has_come(run: Host):
    dropping = beam.ParDo(Sums()).with_on_error("drop")
    pipeline, sums = applied(dropping, 1, "spoil show", "spoil end")
    found = run(pipeline.nodes)
    assert came(found, sums) == [("k", 1), ("k", "spoil show"), ("k", "spoil end")]
    place = ("Sums", "k", DropReason.FAILED, "[00:00:00, 00:01:00)", None)
    assert lost(found) == [
        (
            *place,
            "Sums.on_show raised KeyError: 'show'; it was called for the timer 'show' at "
            "00:00:12 (12000 ms)",
        ),
        (*place, "Sums.on_end raised KeyError: 'end'; it was called for the end of the window"),
    ]


@HOSTS
def test_a_timer_that_raises_leaves_the_states_as_they_were(run: Host) -> None:
    dropping = beam.ParDo(Sums()).with_on_error("drop")
    pipeline, sums = applied(dropping, 5, "spoil show")
    assert came(run(pipeline.nodes), sums)[-1] == ("k", "end", 5, [5, "spoil show"])


class Unprepared(Sums):
    def start_bundle(self) -> None:
        raise OSError("no connection")


@HOSTS
def test_a_bundle_that_cannot_begin_fails_the_run_whatever_the_choice(run: Host) -> None:
    pipeline, _ = applied(beam.ParDo(Unprepared()).with_on_error("drop"), 1, 2)
    with pytest.raises(TransformError, match="OSError: no connection"):
        run(pipeline.nodes)


def test_the_choice_is_one_of_two_and_of_functions_with_states():
    with pytest.raises(PipelineError, match='takes "fail" or "drop", got \'skip\''):
        beam.ParDo(Sums()).with_on_error("skip")  # type: ignore[arg-type]
    words = beam.Pipeline() | beam.Create(["a"])
    with pytest.raises(PipelineError, match="'Size': with_on_error is for a function with states"):
        _ = words | "Size" >> beam.ParDo(lambda word: [len(word)]).with_on_error("drop")


def test_a_choice_leaves_the_transform_that_it_was_made_of_as_it_was():
    sums = beam.ParDo(Sums())
    assert sums.with_on_error("drop").with_on_error("fail").drops_failures is False
    assert (sums.with_on_error("drop").drops_failures, sums.drops_failures) == (True, False)


# -- an output of their own ------------------------------------------------------------------------

MEANT = {"allow_unsafe_userstate_in_process": True}


@HOSTS
def test_elements_that_raise_may_be_an_output_and_their_changes_are_undone(run: Host) -> None:
    handling = beam.ParDo(Sums()).with_exception_handling(**MEANT)
    pipeline, outputs = applied(handling, 1, "raise", 2, "coder")
    found = run(pipeline.nodes)
    assert came(found, outputs.good) == [
        *(("k", 1), ("k", 2)),
        ("k", "sum", 3),
        ("k", "end", 0, [1, 2]),
    ]
    bad = [it.element for it in found.out_of(outputs.bad.edge)]
    assert [(it.value[0], it.value[1][0].__name__, it.timestamp) for it in bad] == [
        (("k", "raise"), "ValueError", 1_000),
        (("k", "coder"), "CoderError", 3_000),
    ]
    assert found.lost == ()


@HOSTS
def test_what_timers_raise_has_no_element_and_is_dropped_or_fails(run: Host) -> None:
    failing = beam.ParDo(Sums()).with_exception_handling(**MEANT)
    with pytest.raises(TransformError, match=r"KeyError: 'show' in Sums\.on_show"):
        run(applied(failing, 1, "spoil show")[0].nodes)
    dropping = beam.ParDo(Sums()).with_on_error("drop").with_exception_handling(**MEANT)
    pipeline, outputs = applied(dropping, 1, "raise", "spoil show")
    found = run(pipeline.nodes)
    assert came(found, outputs.good)[-1] == ("k", "end", 1, [1, "spoil show"])
    assert [value for value, _ in came(found, outputs.bad)] == [("k", "raise")]
    assert [it[5].partition(";")[0] for it in lost(found)] == [
        "Sums.on_show raised KeyError: 'show'"
    ]


@HOSTS
def test_only_what_is_to_be_caught_is_an_output(run: Host) -> None:
    pipeline, _ = applied(
        beam.ParDo(Sums()).with_exception_handling(exc_class=KeyError, **MEANT), "raise"
    )
    with pytest.raises(TransformError, match="ValueError: no such number"):
        run(pipeline.nodes)


def test_a_function_with_states_handles_exceptions_only_if_that_is_meant():
    with pytest.raises(PipelineError) as refused:
        applied(beam.ParDo(Sums()).with_exception_handling())
    assert str(refused.value) == (
        "'ParDo(Sums)': with_exception_handling of a function with states and timers needs "
        "allow_unsafe_userstate_in_process=True, as in Beam, where what it has changed before it "
        "raised stays; here that is undone. Or write with_on_error('drop')"
    )
