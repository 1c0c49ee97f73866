"""What nodes of a pipeline count, and letters with it, without Spark."""

import attrs
import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import StateError
from beamlike.machine.events import Drop, DropReason, Element, Pane, RowProblem
from beamlike.model.combine import Sum
from beamlike.model.resolution import MICROSECONDS, MILLISECONDS
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.accumulator_columns import PlainColumn
from beamlike.runtime.clock import Jump, ShardStatus
from beamlike.runtime.graph.mail import Mail
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.output import OutputTable
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.tally import COUNTED, METRICS, STOOD, Tally, tallies_in, tallies_table
from tests.support.refusals import refusal

FIRST = bl.IntervalWindow(0, 60_000)
LATE = bl.PaneInfo(bl.Timing.LATE, 1, 1, is_first=False, is_last=False)


def counted(tally: Tally) -> dict[str, int | None]:
    """What it says, by name, without what is 0."""
    shown = zip(METRICS, [*tally.counts, *tally.stood], strict=True)
    return {name: count for name, count in shown if count != 0}


def test_panes_and_drops_are_counted_and_one_drop_is_reported() -> None:
    element = Element("milk", 5_000, FIRST)
    dropped = Drop(element, FIRST, DropReason.EXPIRED, missed_by=1)
    drops = [("bob", dropped), ("eva", Drop(element, FIRST, DropReason.CLOSED))]

    tally = Tally.of(MILLISECONDS, 4, drops, [LATE], ShardStatus(7, 120_000, 2, 180_000, None))

    assert counted(tally) == {
        "panes_late": 1,
        "dropped_expired": 1,
        "dropped_closed": 1,
        "elements": 4,
        "merges": 2,
        "windows_open": 7,
        "watermark": 120_000,
        "deadline": 180_000,
        "clock_deadline": None,
        "watermark_jump": None,
        "watermark_held": None,
    }
    assert tally.example == "expired, key='bob', window [00:00:00, 00:01:00), at 00:00:05"


def test_a_drop_of_a_graph_that_counts_microseconds_is_shown_as_any_other() -> None:
    minute = bl.IntervalWindow(0, 60_000_000)
    drop = Drop(Element("milk", 5_000_250, minute), minute, DropReason.EXPIRED, missed_by=1)

    tally = Tally.of(MICROSECONDS, 1, [("bob", drop)])

    assert tally.example == "expired, key='bob', window [00:00:00, 00:01:00), at 00:00:05.000250"


def test_rows_are_counted_where_they_came_out() -> None:
    plan = Plan(
        bl.WindowingStrategy(bl.FixedWindows(60_000)),
        keys={"user": pa.string()},
        values={"v": pa.int64()},
        parts=(Part("total", Sum(), 0, PlainColumn(pa.int64()), pa.int64()),),
        name="totals",
    )
    lost = Drop(Element((3,), 4, FIRST), FIRST, DropReason.EXPIRED, 5, watermark=20)
    late = Pane(FIRST, (2,), 9, LATE)
    early = Pane(FIRST, (1,), 9, bl.PaneInfo(bl.Timing.EARLY, 0, -1, True, False))
    mine = OutputTable(plan).build([(("ann",), it) for it in (early, late, late, lost, lost)])
    # What a grouping before this one has dropped was counted there.
    before = OutputTable(attrs.evolve(plan, name="earlier")).build([(("bob",), lost)])

    status = ShardStatus(7, 120_000, 2, 180_000, None)
    tally = Tally.of_rows(plan, 4, [before, mine, mine.slice(0, 0)], status, None)

    assert counted(tally) == {
        "panes_early": 1,
        "panes_late": 2,
        "dropped_expired": 2,
        "elements": 4,
        "merges": 2,
        "windows_open": 7,
        "watermark": 120_000,
        "deadline": 180_000,
        "clock_deadline": None,
        "watermark_jump": None,
        "watermark_held": None,
    }
    minute = "[1970-01-01T00:00:00+00:00, 1970-01-01T00:01:00+00:00)"
    at = "1970-01-01T00:00:00.004000+00:00"
    assert tally.example == f"expired, user='ann', window {minute}, at {at}"


def test_shards_add_up_and_the_least_of_their_times_counts() -> None:
    jump = Jump(60_000, 120_000, "a row")
    one = Tally.of(MILLISECONDS, 4, [], [], ShardStatus(7, 120_000, 2, 180_000, None), jump)
    other = Tally.of(MILLISECONDS, 1, [], [], ShardStatus(1, MIN_TIMESTAMP, 0, 150_000, 9))
    source = Tally.of(MILLISECONDS, 2, [(None, Drop(None, None, RowProblem.NULL_TIMESTAMP))])

    assert counted(one.with_other(other)) == {
        "elements": 5,
        "merges": 2,
        "windows_open": 8,
        "watermark": 120_000,
        "deadline": 150_000,
        "clock_deadline": 9,
        "watermark_jump": 60_000,
        "watermark_held": None,
    }
    assert one.with_other(other).jump == "from 00:01:00 to 00:02:00 by a row"
    assert counted(source) == {
        "dropped_null_timestamp": 1,
        "elements": 2,
        **dict.fromkeys(STOOD[1:]),
    }
    assert source.example == "null_timestamp"


def test_tallies_are_what_they_were_after_they_were_columns() -> None:
    tallies = {
        3: Tally([1] * len(COUNTED), (2, None, 0, 60_000, None, None, None), "a drop", None),
        5: Tally([0] * len(COUNTED), (None,) * len(STOOD), None, "a jump"),
    }

    assert {
        node: (list(it.counts), tuple(it.stood), it.example, it.jump)
        for node, it in tallies_in(tallies_table(tallies))
    } == {
        node: (list(tally.counts), tally.stood, tally.example, tally.jump)
        for node, tally in tallies.items()
    }


def test_a_letter_of_an_earlier_release_that_waits_in_a_checkpoint_is_refused_by_name() -> None:
    assert refusal(StateError, lambda: Mail.opened([Wire().dumps(([], [], 0))])) == (
        "what an earlier version of beamlike sent into this query waits in its checkpoint, and "
        "this version cannot read it; start the pipeline once with that version, which ends the "
        "micro-batch that had begun, and then with this one"
    )


@pytest.mark.parametrize("blob", [b"", b"bl", b"bl" + bytes(40), b"no batch, however long it is"])
def test_what_is_not_a_batch_is_refused(blob: bytes) -> None:
    with pytest.raises(StateError, match=r"cannot be read: .*; nothing was computed from it"):
        Mail.opened([blob])
