"""What other systems do, as cases, with the panes and drops that Spark makes of them.

Every stream that can be said is played on Spark, also those that look from time to time whether a
session is over: that is a watermark which moves only then. What comes out is what comes out in
memory, which `tests/conformance/test_dialects.py` holds against each case. What is asked of a
store, of a set of windows or of settings is no stream, and has nothing to run. One stream is left
out here because it is long: with step n of all of them in one micro-batch, the others would wait.
"""

from collections import Counter
from typing import Any

import pytest

from tests.conformance.beamlike_conformance.comparing import row_differences
from tests.conformance.beamlike_conformance.scenarios import DialectCase, load_cases
from tests.support.dialects.on_spark import play_on_spark
from tests.support.dialects.player import CaseRow
from tests.support.dialects.plays import STREAMS, play, stage_of

MOST_STEPS = 20


def steps_of(case: DialectCase) -> int:
    """How many steps a stream is for the machine."""
    return len(stage_of(case).run.script)


PLAYED = {case.id: case for case in STREAMS.values() if steps_of(case) <= MOST_STEPS}


@pytest.fixture(scope="module")
def rows(spark: Any) -> dict[str, list[CaseRow]]:
    """What comes out of each case. Step n of all of them is one micro-batch."""
    return dict(play_on_spark(list(PLAYED.values()), spark))


@pytest.mark.spark
@pytest.mark.parametrize("case", PLAYED.values(), ids=list(PLAYED))
def test_spark_brings_the_rows_that_memory_brings(
    case: DialectCase, rows: dict[str, list[CaseRow]]
) -> None:
    assert row_differences(play(case), rows[case.id], case.any_order) == []


def test_what_is_not_played_on_spark_is_no_stream_or_long() -> None:
    no_streams = Counter(case.kind for case in load_cases() if case.kind != "stream")
    long = [name for name in STREAMS if name not in PLAYED]

    assert no_streams == {
        "assign": 2,
        "combine": 4,
        "merge_windows": 3,
        "storage": 1,
        "store": 7,
        "validation": 5,
        "window_set": 3,
    }
    assert long == ["apex-early-and-late-mix"]
    assert len(PLAYED) == 95
