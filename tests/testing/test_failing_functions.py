"""Functions of the user's that raise, on every host: what is dropped, and what is reported."""

import traceback
from typing import Any

import pytest

from beamlike import AfterCount, FixedWindows, Repeatedly, Sessions
from beamlike.errors import UserFunctionError, WindowingError
from beamlike.model.combine import Mean, Sum
from beamlike.testing import Results, TestStream, dropped, early_pane, emit_exactly, on_time_pane
from tests.support.pipelines.files import HOSTS
from tests.support.refusals import refusal
from tests.support.sums import Added

MINUTE = ("00:00:00", "00:01:00")

WITH_A_WORD = (
    TestStream()
    .add_elements_at_time("00:00:10", ("joe", 1), ("joe", "two"), ("ben", 5))
    .add_elements_at_time("00:00:20", ("joe", 4))
    .advance_watermark_to_infinity()
)


def test_an_element_that_cannot_be_added_is_dropped_and_the_others_are_grouped(
    host: dict[str, Any],
) -> None:
    results = WITH_A_WORD.run(
        window=FixedWindows("1 minute"), aggregate=Sum(), on_error="drop", **host
    )

    results.should(
        emit_exactly(
            dropped("joe", "two", at="00:00:10", window=MINUTE, reason="failed", step=0),
            on_time_pane("joe", 5, *MINUTE, is_last=True, step=2),
            on_time_pane("ben", 5, *MINUTE, is_last=True, step=2),
        )
    )
    assert [drop.effect.error for drop in results.drops] == [
        "Sum().add raised TypeError: unsupported operand type(s) for +: 'int' and 'str'"
    ]


def test_logs_of_a_scenario_call_it_as_those_of_a_query_do(caplog: pytest.LogCaptureFixture):
    WITH_A_WORD.run(window=FixedWindows("1 minute"), aggregate=Sum(), on_error="drop", host="local")

    assert [
        record.getMessage().split("\n")[0].partition(", because of ")[0]
        for record in caplog.records
    ] == [
        "beamlike: a micro-batch is stepped key by key",
        "beamlike: Sum().add raised; what it raises for is dropped as failed, and this is said "
        "once:",
    ]


def test_an_element_that_cannot_be_added_is_reported_by_default(host: dict[str, Any]) -> None:
    with pytest.raises(UserFunctionError) as raised:
        WITH_A_WORD.run(window=FixedWindows("1 minute"), aggregate=Sum(), **host)

    assert str(raised.value) == (
        "Sum().add raised TypeError: unsupported operand type(s) for +: 'int' and 'str'; it was "
        "called for the element 'two' at 00:00:10 (10000 ms), window [00:00:00, 00:01:00), key "
        "'joe'; mend the function, or leave out what it cannot take with on_error=\"drop\""
    )


def patience(title: str) -> str:
    """How long to wait after a page. Films have none."""
    if title.startswith("film"):
        raise LookupError(f"no patience for {title}")
    return "5 minutes"


VISITS = (
    TestStream()
    .add_elements_at_time("12:00:00", ("ann", "page: news"))
    .add_elements_at_time("12:02:00", ("ann", "film: Stalker"))
    .add_elements_at_time("12:04:00", ("ann", "page: sports"))
    .advance_watermark_to_infinity()
)


def test_an_element_without_a_gap_is_dropped_without_a_window(host: dict[str, Any]) -> None:
    results = VISITS.run(window=Sessions(patience), on_error="drop", **host)

    results.should(
        emit_exactly(
            dropped("ann", "film: Stalker", at="12:02:00", reason="failed", step=1),
            on_time_pane(
                "ann", ["page: news", "page: sports"], "12:00:00", "12:09:00", is_last=True, step=3
            ),
        )
    )
    assert [drop.effect.error for drop in results.drops] == [
        "Sessions(patience).assign raised LookupError: no patience for film: Stalker"
    ]


def test_an_element_without_a_gap_is_reported_by_default(host: dict[str, Any]) -> None:
    assert refusal(UserFunctionError, lambda: VISITS.run(window=Sessions(patience), **host)) == (
        "Sessions(patience).assign raised LookupError: no patience for film: Stalker; it was "
        "called for the element 'film: Stalker' at 12:02:00 (43320000 ms), key 'ann'; mend the "
        'function, or leave out what it cannot take with on_error="drop"'
    )


class Modest(Mean):
    """A mean that nobody may have if it is more than ten."""

    def extract(self, accumulator: Any) -> Any:
        mean = super().extract(accumulator)
        if mean is not None and mean > 10:
            raise OverflowError("too much")
        return mean


def test_elements_of_a_pane_that_cannot_be_made_are_dropped_by_their_number(host: dict[str, Any]):
    results: Results = (
        TestStream()
        .add_elements_at_time("00:00:10", ("joe", 6.0))
        .add_elements_at_time("00:00:20", ("joe", 24.0))
        .add_elements_at_time("00:00:30", ("joe", 30.0))
        .advance_watermark_to_infinity()
        .run(
            window=FixedWindows("1 minute"),
            trigger=Repeatedly(AfterCount(1)),
            allowed_lateness="0 s",
            accumulation="discarding",
            aggregate=Modest(),
            on_error="drop",
            **host,
        )
    )

    results.should(
        emit_exactly(
            early_pane("joe", 6.0, *MINUTE, is_last=False, step=0),
            # Those that no early pane could take have waited for the last one.
            dropped("joe", None, window=MINUTE, reason="failed", count=2, step=3),
        )
    )


def test_there_is_no_third_choice() -> None:
    assert refusal(
        WindowingError, lambda: WITH_A_WORD.run(window=FixedWindows("1 minute"), on_error="ignore")
    ) == ("on_error must be one of 'fail', 'drop', got 'ignore'")


@HOSTS
def test_a_scenario_drops_all_that_fails_however_much_it_is(host: Any) -> None:
    class Misspelt(Added):
        def add(self, accumulator: int, values: Any, timestamps: Any) -> int:
            return accumulator + sum(valeus)  # type: ignore[name-defined] # noqa: F821

    stream = TestStream().add_elements_at_time("12:01:00", *(("a", n) for n in range(30)))
    stream = stream.advance_watermark_to_infinity()
    options: dict[str, Any] = {"window": FixedWindows("1 hour"), "aggregate": Misspelt()}
    assert len(stream.run(host=host, on_error="drop", **options).drops) == 30
    with pytest.raises(UserFunctionError) as raised:
        stream.run(host=host, **options)
    assert isinstance(raised.value.__cause__, NameError)
    frames = traceback.extract_tb(raised.value.__cause__.__traceback__)
    assert [(frame.filename, frame.name) for frame in frames] == [(__file__, "add")]
