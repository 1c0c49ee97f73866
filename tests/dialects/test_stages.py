"""A stage of a dialect, and another host that answers for it."""

import pytest

from beamlike.dialects import kafka
from beamlike.dialects.stages import Row
from beamlike.errors import RecordingError
from beamlike.runtime.script import Run
from tests.support.dialects.stages import answered_by

TABLE = kafka.group_by_key().windowed_by(
    kafka.SessionWindows.of_inactivity_gap_with_no_grace("5 ms")
)
ON_CLOSE = TABLE.emit_strategy(kafka.EmitStrategy.on_window_close()).count()


def two_records(driver: kafka.Driver) -> list[Row]:
    return driver.pipe_input("a", "open", 0) + driver.pipe_input("b", "open", 6)


def test_rows_are_made_of_what_the_other_host_answers() -> None:
    driver = ON_CLOSE.driver()
    rows, run = two_records(driver), driver.machine_run

    with answered_by(run):
        assert two_records(ON_CLOSE.driver()) == rows
    with answered_by(Run(run.script, ())):
        assert two_records(ON_CLOSE.driver()) == []
    assert two_records(ON_CLOSE.driver()) == rows == [Row("value", "a", 1, (0, 0), 0)]


def test_a_script_that_goes_on_otherwise_is_refused() -> None:
    driver = ON_CLOSE.driver()
    two_records(driver)

    with (
        answered_by(driver.machine_run),
        pytest.raises(RecordingError, match=r"step 0 is .*, and the other host was given"),
    ):
        ON_CLOSE.driver().pipe_input("c", "open", 0)
