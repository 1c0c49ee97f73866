# ruff: noqa: B008 (that is how parameters ask)
"""Functions with states and timers as parts of a pipeline."""

from collections.abc import Iterable
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam import DoFn, window
from beamlike.beam.coders import VarIntCoder
from beamlike.beam.testing.test_stream import TestStream
from beamlike.beam.transforms.timeutil import TimeDomain
from beamlike.beam.transforms.userstate import (
    ReadModifyWriteStateSpec,
    TimerSpec,
    on_timer,
    on_window_expiration,
)
from beamlike.errors import PipelineError, TransformError, UserStateError
from beamlike.machine.userstate.call import Call, LiveWindow
from beamlike.machine.userstate.saved import Saved
from beamlike.model.windows import GLOBAL_WINDOW
from beamlike.scio import ScioContext

HOSTS = ["memory", "local"]


def came(pcoll: Any, host: Any) -> list[Any]:
    """Everything that comes out of a collection: the step, the event time, the value."""
    result = pcoll.pipeline.run(host=host)
    return [(it.step, it.element.timestamp, it.element.value) for it in result.out_of(pcoll.edge)]


class Repeater(DoFn):
    """The last value of a key every ten seconds, as long as its window lasts, also if the key is
    silent."""

    LAST = ReadModifyWriteStateSpec("last", VarIntCoder())
    AGAIN = TimerSpec("again", TimeDomain.WATERMARK)

    def process(  # type: ignore[override]
        self,
        element: tuple[str, int],
        at: Any = DoFn.TimestampParam,
        last: Any = DoFn.StateParam(LAST),
        again: Any = DoFn.TimerParam(AGAIN),
    ) -> Iterable[Any]:
        if last.read() is None:
            again.set(at + 10)
        last.write(element[1])
        yield element

    @on_timer(AGAIN)
    def on_again(
        self,
        key: Any = DoFn.KeyParam,
        at: Any = DoFn.TimestampParam,
        last: Any = DoFn.StateParam(LAST),
        again: Any = DoFn.TimerParam(AGAIN),
    ) -> Iterable[Any]:
        yield key, last.read()
        if at + 10 <= again.latest:
            again.set(at + 10)


@pytest.mark.parametrize("host", HOSTS)
def test_a_silent_key_is_heard_again_and_again_until_its_window_ends(host: Any) -> None:
    stream = TestStream().advance_watermark_to(0).add_elements([("k", 1)])
    stream = stream.advance_watermark_to(15).add_elements([("k", 2)]).advance_watermark_to(100)
    windowed = beam.Pipeline() | stream | beam.WindowInto(window.FixedWindows(40))
    assert came(windowed | beam.ParDo(Repeater()), host) == [
        (1, 0, ("k", 1)),
        (2, 10_000, ("k", 1)),
        (3, 15_000, ("k", 2)),
        (4, 20_000, ("k", 2)),
        (4, 30_000, ("k", 2)),
    ]


class Living(DoFn):
    """Notes its life."""

    LAST = Repeater.LAST
    log: list[str] = []  # noqa: RUF012 (all of them share it)

    def setup(self) -> None:
        self.log.append("setup")

    def start_bundle(self) -> None:
        self.log.append("start")

    def process(self, element: Any, last: Any = DoFn.StateParam(LAST)) -> Any:  # type: ignore[override]
        last.write(element[1])
        self.log.append(f"process {element[1]}")

    def finish_bundle(self) -> Iterable[Any]:
        self.log.append("finish")
        return [beam.WindowedValue("finished", 5, [window.GlobalWindow()])]

    def teardown(self) -> None:
        self.log.append("teardown")


@pytest.mark.parametrize("host", HOSTS)
def test_a_function_with_states_has_the_life_of_any_function(host: Any) -> None:
    Living.log.clear()
    stream = TestStream().add_elements([("k", 1), ("l", 2)]).add_elements([("k", 3)])
    found = came(beam.Pipeline() | stream | beam.ParDo(Living()), host)
    assert found == [(0, 5000, "finished"), (1, 5000, "finished")]
    assert Living.log == [
        *("setup", "start", "process 1", "process 2", "finish"),
        *("start", "process 3", "finish", "teardown"),
    ]


class Failing(DoFn):
    TIMER = TimerSpec("late", TimeDomain.WATERMARK)

    def process(self, element: Any, timer: Any = DoFn.TimerParam(TIMER)) -> None:  # type: ignore[override]
        timer.set(10, dynamic_timer_tag=element[0])

    @on_timer(TIMER)
    def on_late(self) -> None:
        raise ZeroDivisionError("no")


@pytest.mark.parametrize("host", HOSTS)
def test_what_raises_in_a_timer_is_named_with_its_key_window_and_timer(host: Any) -> None:
    stream = TestStream().add_elements([window.TimestampedValue(("k", 1), 3)])
    windowed = beam.Pipeline() | stream | beam.WindowInto(window.FixedWindows(60))
    failing = windowed | "Fails" >> beam.ParDo(Failing())
    with pytest.raises(TransformError) as raised:
        came(failing, host)
    assert str(raised.value) == (
        "'Fails' raised ZeroDivisionError: no in Failing.on_late for the timer 'late' ('k') at "
        "00:00:10 (10000 ms), window [00:00:00, 00:01:00), key 'k'"
    )


def test_a_callback_that_asks_for_an_element_is_refused() -> None:
    class Asking(DoFn):
        TIMER = TimerSpec("late", TimeDomain.WATERMARK)

        def process(self, element: Any, timer: Any = DoFn.TimerParam(TIMER)) -> None:  # type: ignore[override]
            timer.set(10)

        @on_timer(TIMER)
        def on_late(self, value: Any = DoFn.WindowedValueParam) -> None:
            """Nothing."""

    with pytest.raises(PipelineError) as refused:
        beam.Pipeline() | beam.Create([("k", 1)]) | "Asks" >> beam.ParDo(Asking())
    assert str(refused.value).endswith(
        "Asking.on_late asks for DoFn.WindowedValueParam in its parameter 'value', and is called "
        "without an element; keep what it needs in a state"
    )


def test_two_states_of_one_name_and_two_last_words_are_refused() -> None:
    class Twice(DoFn):
        ONE, TWO = (ReadModifyWriteStateSpec("one", VarIntCoder()) for _ in range(2))
        TIMER = TimerSpec("timer", TimeDomain.WATERMARK)

        def process(  # type: ignore[override]
            self, element: Any, one: Any = DoFn.StateParam(ONE), timer: Any = DoFn.TimerParam(TIMER)
        ) -> None:
            """Nothing."""

        @on_timer(TIMER)
        def on_fired(self, two: Any = DoFn.StateParam(TWO)) -> None:
            """Nothing."""

    class Ending(Living):
        @on_window_expiration
        def one(self) -> None:
            """Nothing."""

        @on_window_expiration
        def two(self) -> None:
            """Nothing."""

    pairs = beam.Pipeline() | beam.Create([("k", 1)])
    with pytest.raises(PipelineError, match="multiple StateSpecs with the same name: one"):
        pairs | beam.ParDo(Twice())
    with pytest.raises(PipelineError, match="several methods under @on_window_expiration: one, t"):
        pairs | beam.ParDo(Ending())


def test_a_state_or_a_timer_that_is_not_declared_is_refused() -> None:
    from beamlike.api.pipelines.stateful_doing import StatefulDoing

    fn = StatefulDoing(Repeater(), (), {}, frozenset(), "F")
    live = LiveWindow(fn, GLOBAL_WINDOW, 0, Saved("k", {}, {}), lambda *_: None)
    call = Call(live, 0, 0, 0)
    with pytest.raises(UserStateError, match=r"the state 'x' is not declared; .* declares: 'last'"):
        call.state(ReadModifyWriteStateSpec("x", VarIntCoder()))
    with pytest.raises(
        UserStateError, match=r"the timer 'x' is not declared; .* declares: 'again'"
    ):
        call.timer(TimerSpec("x", TimeDomain.WATERMARK))


def test_scio_s_verb_takes_a_function_with_states_and_timers() -> None:
    context = ScioContext()
    pairs = context.parallelize_timestamped([(("k", 1), 0), (("k", 2), 3000)])
    found = pairs.with_fixed_windows("30 s").apply_per_key(Repeater())
    result = context.run().outputs
    assert [it.element.value for it in result.out_of(found.edge)] == [
        *(("k", 1), ("k", 2)),
        *(("k", 2), ("k", 2)),
    ]
